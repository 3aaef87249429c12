"""Samplers: the order of the samples of a dataset, and their batches."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad import random
from minigrad.autograd.dtypes import to_array
from minigrad.data.datasets import seeded
from minigrad.support.checks import check_flag, check_size
from minigrad.tensors.creation import tensor

T = TypeVar("T", covariant=True)  # an index
Seed = np.random.Generator | int | None
AT_ONCE = 2**20
"""The most indices with replacement that are drawn at once."""


class Sampler(Generic[T]):
    """The base class of samplers: a subclass defines ``__iter__`` over indices, and ``__len__``.

    A loader also accepts any other iterable.

    Example:
        >>> from minigrad.data import DataLoader, Sampler
        >>> class ByLength(Sampler[int]):
        ...     def __init__(self, texts):
        ...         self.texts = texts
        ...     def __len__(self):
        ...         return len(self.texts)
        ...     def __iter__(self):
        ...         return iter(sorted(range(len(self)), key=lambda i: len(self.texts[i])))
        >>> texts = ["ccc", "a", "bb"]
        >>> [*DataLoader(texts, batch_size=2, sampler=ByLength(texts))]
        [['a', 'bb'], ['ccc']]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__()")


class SequentialSampler(Sampler[int]):
    """The samples from the first to the last.

    Example:
        >>> from minigrad.data import SequentialSampler
        >>> [*SequentialSampler("abc")]
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return len(self.data_source)


class _Drawn(Sampler[int]):
    """A sampler that draws an array of indices at once."""

    generator: np.random.Generator | None

    def _draw(self, generator: np.random.Generator) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not define _draw()")

    def _source(self) -> np.random.Generator:
        return random.generator() if self.generator is None else self.generator

    def __iter__(self) -> Iterator[int]:
        return iter(self._draw(self._source()).tolist())


class RandomSampler(_Drawn):
    """The samples in random order.

    Args:
        replacement: Whether to draw each from all samples, so that samples can repeat.
        num_samples: The number of draws; by default the number of samples. Without replacement, no
            sample repeats before all samples were drawn. With replacement, more than a million of
            them are drawn as they are needed.
        generator: A NumPy generator or a seed; `minigrad.random` if None.

    Example:
        >>> from minigrad.data import RandomSampler
        >>> sorted(RandomSampler("abc", generator=0))
        [0, 1, 2]
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
        generator: Seed = None,
    ) -> None:  # fmt: skip
        self.data_source = data_source
        self.replacement = check_flag("RandomSampler", "replacement", replacement)
        self._num_samples = num_samples
        if num_samples is not None:
            check_size("RandomSampler", "num_samples", num_samples)
        self.generator = seeded("RandomSampler", generator)

    @property
    def num_samples(self) -> int:
        """The number of draws."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    @property
    def lazy(self) -> bool:
        """Whether there are so many indices that they are drawn as they are needed."""
        return self.replacement and self.num_samples > AT_ONCE

    def __iter__(self) -> Iterator[int]:
        return self._one_by_one() if self.lazy else super().__iter__()

    def _one_by_one(self) -> Iterator[int]:
        draw, n = self._source(), len(self)
        for start in range(0, n, 1024):
            size = min(1024, n - start)
            yield from draw.integers(len(self.data_source), size=size).tolist()

    def _draw(self, generator: np.random.Generator) -> np.ndarray:
        n, wanted = len(self.data_source), self.num_samples
        if n == 0:
            return np.arange(0)
        if self.replacement:
            return generator.integers(n, size=wanted)
        rounds = [generator.permutation(n) for _ in range(-(-wanted // n))]
        return np.concatenate(rounds)[:wanted]

    def __len__(self) -> int:
        return self.num_samples if len(self.data_source) else 0


class SubsetRandomSampler(_Drawn):
    """Some indices in random order, each once.

    Args:
        indices: The indices.
        generator: As in `RandomSampler`.

    Example:
        >>> from minigrad.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([7, 2, 5], generator=0))
        [2, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Seed = None) -> None:
        self.indices = indices
        self.generator = seeded("SubsetRandomSampler", generator)

    def _draw(self, generator: np.random.Generator) -> np.ndarray:
        order = generator.permutation(len(self.indices))
        return np.array([operator.index(self.indices[i]) for i in order], np.int64)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Drawn):
    """Samples drawn with given probabilities, for example to balance classes.

    Args:
        weights: The unnormalized probability of each sample, shape (n,).
        num_samples: The number of draws.
        replacement: Whether samples can repeat.
        generator: As in `RandomSampler`.

    Example:
        >>> from minigrad.data import WeightedRandomSampler
        >>> [*WeightedRandomSampler([0.0, 1.0, 0.0], num_samples=3)]
        [1, 1, 1]
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Seed = None
    ) -> None:
        name = "WeightedRandomSampler"
        self.num_samples = check_size(name, "num_samples", num_samples)
        self.replacement = check_flag(name, "replacement", replacement)
        self.weights = tensor(to_array(weights, np.float64, name=name))
        if self.weights.ndim != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(f"{name}: weights of shape (n,) expected, got {shape}")
        self.generator = seeded(name, generator)
        self._draw(np.random.default_rng(0))  # refuse wrong weights here

    def _draw(self, generator: np.random.Generator) -> np.ndarray:
        return random.choices(
            type(self).__name__, generator, self.weights._data, self.num_samples, self.replacement
        )

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists.

    Args:
        sampler: A sampler, or another iterable of indices.
        batch_size: The number of indices in a list; the last may have fewer.
        drop_last: Whether the last list is left out if it is shorter.

    Example:
        >>> from minigrad.data import BatchSampler
        >>> [*BatchSampler(range(5), batch_size=2, drop_last=False)]
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        self.sampler = sampler
        self.batch_size = check_size("BatchSampler", "batch_size", batch_size)
        self.drop_last = check_flag("BatchSampler", "drop_last", drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        return batched(iter(self.sampler), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]  # it may have none: an error says so
        return batches_in(count, self.batch_size, self.drop_last)


def order_of(sampler: Iterable[Any]) -> Any:
    """The items of a sampler: an array if it draws one, else a list."""
    own = (_Drawn.__iter__, RandomSampler.__iter__)
    if isinstance(sampler, _Drawn) and type(sampler).__iter__ in own:
        return sampler._draw(sampler._source())
    return list(sampler)


def batched(items: Iterator[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Items in lists of `size`; the last may have fewer, or is skipped then."""
    while batch := list(islice(items, size)):
        if len(batch) < size and drop_last:
            return
        yield batch


def batches_in(n: int, size: int, drop_last: bool) -> int:
    """The number of batches of `n` samples."""
    whole, rest = divmod(n, size)
    return whole + (rest > 0 and not drop_last)
