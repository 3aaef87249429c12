# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, no-redef, overload-overlap, override"
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, overload

import numpy.random

import minigrad.data.datasets
import minigrad.data.loader
from minigrad.data import ConcatDataset as ConcatDataset
from minigrad.data import Dataset as Dataset
from minigrad.data import IterableDataset as IterableDataset
from minigrad.data import RandomSampler as RandomSampler
from minigrad.data import Sampler as Sampler
from minigrad.data import SequentialSampler as SequentialSampler
from minigrad.data import Subset as Subset
from minigrad.data import TensorDataset as TensorDataset
from minigrad.data import WeightedRandomSampler as WeightedRandomSampler
from minigrad.data import random_split as random_split
from minigrad.torch.tensor import Tensor

_T = TypeVar("_T")

class DataLoader(minigrad.data.loader.DataLoader[_T]):
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor, ...]],
        dataset: minigrad.data.datasets.TensorDataset,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        sampler: Iterable[Any] | None = None,
        drop_last: bool = False,
        collate_fn: None = None,
        generator: numpy.random.Generator | int | None = None,
        prefetch: int = 0,
        num_workers: int = 0,
        pin_memory: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        sampler: Iterable[Any] | None = None,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        generator: numpy.random.Generator | int | None = None,
        prefetch: int = 0,
        num_workers: int = 0,
        pin_memory: bool = False,
    ) -> None: ...
    def __iter__(self) -> Iterator[_T]: ...

def _of_batch(batch: Any) -> Any: ...
def default_collate(batch: Any) -> Any: ...
