# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Iterator, Sized
from typing import Any, TypeVar, overload

import numpy.random

import minigrad.data.datasets
import minigrad.data.loader
import minigrad.data.samplers
from minigrad.data import ConcatDataset as ConcatDataset
from minigrad.data import Dataset as Dataset
from minigrad.data import IterableDataset as IterableDataset
from minigrad.data import Sampler as Sampler
from minigrad.data import SequentialSampler as SequentialSampler
from minigrad.data import Subset as Subset
from minigrad.data import TensorDataset as TensorDataset
from minigrad.data import WeightedRandomSampler as WeightedRandomSampler
from minigrad.data import random_split as random_split
from minigrad.torch.tensor import Tensor
from minigrad.torch.utils.data import dataloader as dataloader
from minigrad.torch.utils.data import dataset as dataset
from minigrad.torch.utils.data import sampler as sampler

_T = TypeVar("_T")

class BatchSampler(minigrad.data.samplers.Sampler[Any]):
    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None: ...
    def __iter__(self) -> Iterator[list[int]]: ...
    def __len__(self) -> int: ...

class ChainDataset(minigrad.data.datasets.IterableDataset):
    datasets: Any
    def __init__(self, datasets: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...

class DataLoader(minigrad.data.loader.DataLoader[_T]):
    batch_sampler: Any
    @overload
    def __init__(
        self: DataLoader[tuple[Tensor, ...]],
        dataset: minigrad.data.datasets.TensorDataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None: ...
    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Any = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None: ...
    def __iter__(self) -> Iterator[_T]: ...
    def __len__(self) -> int: ...

class RandomSampler(minigrad.data.samplers.RandomSampler):
    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: numpy.random.Generator | int | None = None,
    ) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    @property
    def lazy(self) -> bool: ...

class StackDataset(minigrad.data.datasets.Dataset):
    datasets: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __len__(self) -> int: ...

class SubsetRandomSampler(minigrad.data.samplers.Sampler[Any]):
    def __init__(self, indices: Any, generator: Any = None) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...

def _of_batch(batch: Any) -> Any: ...
def default_collate(batch: Any) -> Any: ...
def get_worker_info() -> None: ...
