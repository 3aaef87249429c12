"""Datasets: objects with a length, and samples by index; or streams of samples."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.dtypes import to_array
from minigrad.support.checks import check_number
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor


def check_dataset(owner: str, dataset: Any) -> None:
    """Check that an object has ``len`` and whole-number indices."""
    kind = type(dataset).__name__
    if isinstance(dataset, IterableDataset):
        raise TypeError(f"{owner}: {kind} is a stream, which has no samples by index")
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise TypeError(f"{owner}: a dataset has len() and whole-number indices, {kind} does not")


def seeded(owner: str, generator: Any) -> np.random.Generator | None:
    """Return a NumPy generator, given itself or its seed; None for the common one."""
    try:
        return None if generator is None else np.random.default_rng(generator)
    except (TypeError, ValueError) as error:
        wanted = "a NumPy generator or a seed, a whole number from 0 on"
        raise type(error)(f"{owner}: generator must be {wanted}, got {generator!r}") from None


class Dataset:
    """The base class of datasets: a subclass defines ``__len__`` and ``__getitem__``.

    A loader also accepts any other object with ``len`` and integer indices, such as a list. This
    class adds the concatenation ``a + b``.

    Example:
        >>> from minigrad.data import Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return index, index**2
        >>> (Squares() + Squares())[5]
        (1, 1)
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__(index)")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """The base class of streams: a subclass defines ``__iter__`` over samples.

    A loader batches the samples in their order. It has a length if the dataset defines ``len``.
    ``a + b`` is a `ChainDataset`.

    Example:
        >>> from minigrad.data import DataLoader, IterableDataset
        >>> class Halves(IterableDataset):
        ...     def __iter__(self):
        ...         number = 16
        ...         while number > 1:
        ...             number //= 2
        ...             yield number
        >>> [batch.tolist() for batch in DataLoader(Halves(), batch_size=3)]
        [[8, 4, 2], [1]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__()")

    def __add__(self, other: Any) -> ChainDataset:  # type: ignore[override]  # of streams
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Streams, one after the other.

    Args:
        datasets: Streams.

    Example:
        >>> from minigrad.data import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> [*ChainDataset([Count(), Count()])]
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                came = f"{type(dataset).__name__}; ConcatDataset is for samples by index"
                raise TypeError(f"ChainDataset: streams expected, got {came}")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class TensorDataset(Dataset):
    """Tensors of equal length: a sample is a tuple of one element of each.

    A loader reads a whole batch with a single index.

    Args:
        *tensors: Tensors, or arrays (copied), all of the same length.

    Example:
        >>> import minigrad
        >>> from minigrad.data import TensorDataset
        >>> dataset = TensorDataset(minigrad.arange(6).reshape(3, 2), [7, 8, 9])
        >>> dataset[1]
        (tensor([2, 3]), tensor(8))
    """

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(
            t if isinstance(t, Tensor) else tensor(to_array(t, name="TensorDataset"))
            for t in tensors
        )
        shapes = [tuple(tensor.shape) for tensor in self.tensors]
        if not shapes or () in shapes or len({shape[0] for shape in shapes}) > 1:
            raise ValueError(f"TensorDataset: tensors of equal length expected, got {shapes}")

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some samples of a dataset.

    Args:
        indices: The indices of the samples in it; they may repeat.

    Attributes:
        indices: The indices, as a list.

    Example:
        >>> from minigrad.data import Subset
        >>> [*Subset("abcdef", [4, 0, -1])]
        ['e', 'a', 'f']
    """

    def __init__(self, dataset: Any, indices: Iterable[int]) -> None:
        check_dataset("Subset", dataset)
        numbers = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices))
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise TypeError(f"Subset: whole numbers expected, got {numbers.dtype} {numbers.shape}")
        n = len(dataset)
        if numbers.size and not (-n <= numbers.min() and numbers.max() < n):
            wrong = numbers.min() if numbers.min() < -n else numbers.max()
            raise IndexError(f"Subset: there is no sample {wrong} in a dataset of {n}")
        self.dataset = dataset
        self.indices: list[int] = numbers.tolist()

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class StackDataset(Dataset):
    """Datasets of equal length side by side: a sample is a tuple, or a dict, of one of each.

    Args:
        *args: The datasets, for tuples.
        **kwargs: The datasets by name instead, for dicts.

    Example:
        >>> from minigrad.data import StackDataset
        >>> StackDataset("abc", range(3))[1]
        ('b', 1)
        >>> StackDataset(letter="abc", number=range(3))[1]
        {'letter': 'b', 'number': 1}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: datasets expected, either in order or by name")
        self.datasets: Any = args or kwargs
        lengths = [len(dataset) for dataset in args or kwargs.values()]
        if len({*lengths}) > 1:
            raise ValueError(f"StackDataset: datasets of equal length expected, got {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset):
    """The concatenation of datasets, at least one.

    Attributes:
        cumulative_sizes: The index after the last sample of each dataset.

    Example:
        >>> from minigrad.data import ConcatDataset
        >>> [*ConcatDataset(["abc", "de"])]
        ['a', 'b', 'c', 'd', 'e']
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: there is no dataset")
        for dataset in self.datasets:
            check_dataset("ConcatDataset", dataset)
        self.cumulative_sizes = [*accumulate(len(dataset) for dataset in self.datasets)]

    def __getitem__(self, index: int) -> Any:
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"ConcatDataset: there is no sample {index} in a dataset of {n}")
        index %= n
        which = bisect_right(self.cumulative_sizes, index)
        begin = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - begin]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def random_split(
    dataset: Any, lengths: Sequence[float], generator: np.random.Generator | int | None = None,
    *, seed: int | None = None,
) -> list[Subset]:  # fmt: skip
    """Split a dataset at random.

    Args:
        dataset: The dataset.
        lengths: The number of samples in each part, or fractions that add up to 1. Samples left
            over by rounding go to the first parts, one to each.
        generator: A NumPy generator or a seed; `minigrad.random` if None.
        seed: The same as a seed given as `generator`, in Lucid's words.

    Example:
        >>> from minigrad.data import random_split
        >>> learned, held_out = random_split(range(10), [0.75, 0.25], seed=0)
        >>> len(learned), len(held_out)
        (8, 2)
        >>> sorted([*learned, *held_out]) == [*range(10)]
        True
    """
    check_dataset("random_split", dataset)
    if seed is not None and generator is not None:
        raise TypeError("random_split: generator and seed were given; give one of them")
    generator = seed if generator is None else generator
    n, lengths = len(dataset), list(lengths)
    for length in lengths:
        check_number("random_split", "each of lengths", length, 0.0)
    whole = all(isinstance(length, (int, np.integer)) for length in lengths)
    counts = [int(length) if whole else math.floor(length * n) for length in lengths]
    if whole and sum(counts) != n:
        raise ValueError(f"random_split: lengths of {sum(counts)} samples, the dataset has {n}")
    if not whole and not math.isclose(sum(lengths), 1.0):
        raise ValueError(f"random_split: integers, or fractions of sum 1, expected, got {lengths}")
    for i in range(n - sum(counts)):
        counts[i % len(counts)] += 1
    draw = seeded("random_split", generator) or random.generator()
    parts = np.split(draw.permutation(n), np.cumsum(counts)[:-1])
    return [Subset(dataset, part) for part in parts[: len(counts)]]
