"""`torch.utils.data`: minigrad's data sets and loaders, which give PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrad import data as ours
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
from minigrad.torch.tensor import adopt


def _of_batch(batch: Any) -> Any:
    if isinstance(batch, dict):
        for value in batch.values():
            _of_batch(value)
    elif isinstance(batch, (tuple, list)):
        for value in batch:
            _of_batch(value)
    else:
        adopt(batch)
    return batch


def default_collate(batch: Any) -> Any:
    """Samples as one batch of tensors."""
    return _of_batch(ours.default_collate(batch))


class DataLoader(ours.DataLoader):
    """Batches of a data set, as PyTorch's tensors."""

    def __iter__(self) -> Iterator[Any]:
        return map(_of_batch, super().__iter__())
