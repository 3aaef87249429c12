"""`torch.utils.data`: minigrad's data sets and loaders, which give PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from minigrad import data as ours
from minigrad import random
from minigrad.data import ConcatDataset as ConcatDataset
from minigrad.data import Dataset as Dataset
from minigrad.data import IterableDataset as IterableDataset
from minigrad.data import Sampler as Sampler
from minigrad.data import SequentialSampler as SequentialSampler
from minigrad.data import Subset as Subset
from minigrad.data import TensorDataset as TensorDataset
from minigrad.data import WeightedRandomSampler as WeightedRandomSampler
from minigrad.data import random_split as random_split
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import adopt

__getattr__ = _missing(__name__)
__path__: list[str] = []


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


def get_worker_info() -> None:
    """None: there are no worker processes."""


class SubsetRandomSampler(Sampler):
    """Some indices in random order."""

    def __init__(self, indices: Any, generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[Any]:
        draw = self.generator if self.generator is not None else random.generator()
        return (self.indices[i] for i in draw.permutation(len(self.indices)))

    def __len__(self) -> int:
        return len(self.indices)


class ChainDataset(IterableDataset):
    """Streams one after the other."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.datasets)


class StackDataset(Dataset):
    """Samples of several data sets side by side."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.datasets: Any = kwargs or args

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self) -> int:
        return len(
            next(iter(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets))
        )


class RandomSampler(ours.RandomSampler):
    """The samples in random order; very many of them are drawn as they are needed."""

    def __iter__(self) -> Iterator[int]:
        if not self.lazy:
            return super().__iter__()
        draw, n = self.generator or random.generator(), len(self.data_source)
        blocks = (draw.integers(n, size=32).tolist() for _ in range(self.num_samples // 32 + 1))
        return islice(chain.from_iterable(blocks), self.num_samples)

    @property
    def lazy(self) -> bool:
        """Whether it draws so many that they are not drawn at once."""
        return self.replacement and self.num_samples > 2**20


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


class DataLoader(ours.DataLoader):
    """Batches of a data set, as PyTorch's tensors; workers are threads that read ahead."""

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if batch_size is None:
            raise NotImplementedError(
                "DataLoader: batch_size=None is not here: give batch_sampler="
            )
        super().__init__(
            dataset, batch_size, bool(shuffle), sampler=sampler, drop_last=drop_last,
            collate_fn=collate_fn, generator=generator, num_workers=num_workers,
        )  # fmt: skip
        self.batch_sampler = batch_sampler

    def __iter__(self) -> Iterator[Any]:
        chosen = self.batch_sampler
        if chosen is None and getattr(self.sampler, "lazy", False):
            chosen = BatchSampler(self.sampler, self.batch_size, self.drop_last)
        if chosen is None:
            return map(_of_batch, super().__iter__())
        batches = ([self.dataset[i] for i in batch] for batch in chosen)
        return (_of_batch(self.collate_fn(batch)) for batch in batches)

    def __len__(self) -> int:
        return super().__len__() if self.batch_sampler is None else len(self.batch_sampler)
