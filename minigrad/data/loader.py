"""DataLoader: iterates over a dataset in batches, optionally shuffled."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar, overload

import numpy as np

from minigrad import random
from minigrad.data.collate import default_collate
from minigrad.data.datasets import IterableDataset, Subset, TensorDataset, check_dataset, seeded
from minigrad.data.prefetch import Prefetched
from minigrad.data.samplers import (
    RandomSampler,
    Seed,
    SequentialSampler,
    batched,
    batches_in,
    order_of,
)
from minigrad.support.checks import check_flag, check_size
from minigrad.tensors.tensor import Tensor

B = TypeVar("B")  # a batch
Collate = Callable[[Any], Any]


class _Progress:
    """An epoch: the order of its samples, its source, and the number of batches returned.

    The order is None if it is not known in advance: of a stream, and of a sampler without a length.
    """

    def __init__(self, order: Any, drawn_from: Any, position: int = 0) -> None:
        self.order = order
        self.drawn_from = drawn_from
        self.position = position


class DataLoader(Generic[B]):
    """A loop over a dataset in batches; each ``for`` loop is one independent epoch.

    An epoch can be interrupted and resumed in another process, with `state_dict`.

    Args:
        dataset: Anything with ``len`` and whole-number indices, or an `IterableDataset`.
        batch_size: The number of samples in a batch; the last may have fewer.
        shuffle: Draw a new random order at the start of each epoch.
        sampler: An iterable of the indices of an epoch, instead of `shuffle`. It is read at the
            start of the epoch; one without ``len``, during the epoch.
        drop_last: Skip the last batch if it is smaller.
        collate_fn: A function that makes a batch from a list of samples; `default_collate` if None.
        generator: A NumPy generator or a seed for the order; `minigrad.random` if None.
        prefetch: The number of batches that a thread prepares in advance; 0 for no thread. With a
            thread, the dataset's draws from `minigrad.random` happen earlier.
        num_workers: PyTorch's option. Here one thread prepares ``2 * num_workers`` batches in
            advance, unless `prefetch` is given.
        pin_memory: PyTorch's option; it has no effect, because there is no GPU.

    Attributes:
        sampler: The iterable of indices; None for a stream.

    Example:
        >>> import minigrad
        >>> from minigrad.data import DataLoader, TensorDataset
        >>> dataset = TensorDataset(minigrad.randn(10, 3), range(10))
        >>> for x, y in DataLoader(dataset, batch_size=4):
        ...     x.shape, y.tolist()
        ((4, 3), [0, 1, 2, 3])
        ((4, 3), [4, 5, 6, 7])
        ((2, 3), [8, 9])
    """

    @overload
    def __init__(
        self: DataLoader[tuple[Tensor, ...]], dataset: TensorDataset, batch_size: int = 1,
        shuffle: bool = False, *, sampler: Iterable[Any] | None = None, drop_last: bool = False,
        collate_fn: None = None, generator: Seed = None, prefetch: int = 0, num_workers: int = 0,
        pin_memory: bool = False,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[B], dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        sampler: Iterable[Any] | None = None, drop_last: bool = False,
        collate_fn: Callable[[Any], B], generator: Seed = None, prefetch: int = 0,
        num_workers: int = 0, pin_memory: bool = False,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[Any], dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        sampler: Iterable[Any] | None = None, drop_last: bool = False, collate_fn: None = None,
        generator: Seed = None, prefetch: int = 0, num_workers: int = 0, pin_memory: bool = False,
    ) -> None: ...  # fmt: skip
    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        sampler: Iterable[Any] | None = None, drop_last: bool = False,
        collate_fn: Collate | None = None, generator: Seed = None, prefetch: int = 0,
        num_workers: int = 0, pin_memory: bool = False,
    ) -> None:  # fmt: skip
        flags = {"shuffle": shuffle, "drop_last": drop_last, "pin_memory": pin_memory}
        for name, flag in flags.items():
            check_flag("DataLoader", name, flag)
        check_size("DataLoader", "batch_size", batch_size)
        check_size("DataLoader", "prefetch", prefetch, 0)
        check_size("DataLoader", "num_workers", num_workers, 0)
        if collate_fn is not None and not callable(collate_fn):
            raise TypeError(
                f"DataLoader: collate_fn must be a function of a list of samples, "
                f"got {collate_fn!r}"
            )
        self.dataset, self.sampler, self.batch_size = dataset, sampler, batch_size
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)
        self.generator = None if generator is None else seeded("DataLoader", generator)
        self._check_order()
        if not self._streams and sampler is None:
            shuffled = RandomSampler(dataset, generator=self.generator)
            self.sampler = shuffled if shuffle else SequentialSampler(dataset)
        self.collate_fn = default_collate if collate_fn is None else collate_fn
        self.prefetch = prefetch or 2 * num_workers
        self._latest: _Progress | None = None
        self._loaded: _Progress | None = None

    def _check_order(self) -> None:
        """Refuse what is not a dataset, and options that contradict each other."""
        given = self.sampler is not None
        if given and not isinstance(self.sampler, Iterable):
            raise TypeError(f"DataLoader: sampler must be iterable, got {self.sampler!r}")
        if self._streams and (given or self.shuffle):
            name = "sampler" if given else "shuffle"
            raise ValueError(
                f"DataLoader: {name} chooses samples; a stream says their order itself"
            )
        if not self._streams and not (given and hasattr(self.dataset, "__getitem__")):
            check_dataset("DataLoader", self.dataset)
        if given and self.shuffle:
            raise ValueError("DataLoader: sampler says the order; leave shuffle out")

    @property
    def _streams(self) -> bool:
        return isinstance(self.dataset, IterableDataset)

    @property
    def _source(self) -> Any:
        """The indices or samples to iterate over."""
        return self.dataset if self._streams else self.sampler

    def __len__(self) -> int:
        """The number of batches in an epoch, if the sampler or the stream has a length."""
        return batches_in(len(self._source), self.batch_size, self.drop_last)

    def __iter__(self) -> Iterator[B]:
        """Start an epoch, or resume the one whose state was loaded."""
        if self._loaded is None:
            progress = self._begin(self._own_generator() or random.generator())
        else:
            progress, self._loaded = self._loaded, None
        self._latest = progress
        return _Epoch(self, progress)

    def _begin(self, generator: np.random.Generator, position: int = 0) -> _Progress:
        """An epoch whose order is drawn from a generator, if it is drawn."""
        if not self._draws:
            in_order = None if self._streams else np.arange(len(self._source))
            return _Progress(in_order, None, position)
        drawn_from = copy.deepcopy(generator.bit_generator.state)
        if _length(self._source) is None:
            return _Progress(None, drawn_from, position)
        with random.drawing_from(generator):
            return _Progress(_indices(order_of(self._source)), drawn_from, position)

    @property
    def _draws(self) -> bool:
        """Whether the order may depend on random numbers."""
        return not (self._streams or isinstance(self._source, SequentialSampler))

    def _own_generator(self) -> np.random.Generator | None:
        """The generator of the sampler, or that of the loader."""
        generator = getattr(self._source, "generator", None)
        return generator if isinstance(generator, np.random.Generator) else self.generator

    def _batches(self, order: Any, position: int) -> Iterator[Any]:
        """The batches from number `position` on."""
        size = self.batch_size
        if isinstance(order, np.ndarray):
            for i in range(position, batches_in(len(order), size, self.drop_last)):
                yield self._fetched(order[i * size : (i + 1) * size])
            return
        items = iter(self._source if order is None else order)
        for batch in islice(batched(items, size, self.drop_last), position, None):
            yield self.collate_fn(batch) if self._streams else self._fetched(batch)

    def _fetched(self, chosen: Any) -> Any:
        """The batch of some indices; of tensors with one index for all."""
        indices = _indices(chosen)
        if self.collate_fn is default_collate and isinstance(indices, np.ndarray):
            dataset, within = self.dataset, indices
            while getattr(type(dataset), "__getitem__", None) is Subset.__getitem__:
                dataset, within = dataset.dataset, dataset.indices[within]
            if getattr(type(dataset), "__getitem__", None) is TensorDataset.__getitem__:
                return dataset[within]
        keys = indices.tolist() if isinstance(indices, np.ndarray) else indices
        return self.collate_fn([self.dataset[key] for key in keys])

    def state_dict(self) -> dict[str, Any]:
        """Return the progress of the latest epoch, as plain values.

        When the state is loaded, the stream or sampler is read again up to the saved position, and
        must give the same items. A sampler of your own can draw from `minigrad.random`, or from a
        NumPy generator in its attribute `generator`: its state is saved.

        "position" is the number of batches returned, "generator" the state from which the order of
        the epoch was drawn: None if it is not random, or if no epoch was started. In the latter
        case, a loader without a generator of its own draws from `minigrad.random`: save its state
        too. The other entries are options that must be the same in the loader that loads the state.

        Raises:
            TypeError: The sampler has no ``len``: its order is not known in advance.

        Example:
            >>> from minigrad.data import DataLoader
            >>> loader = DataLoader(range(6), batch_size=2, shuffle=True, generator=0)
            >>> batches = iter(loader)
            >>> first = next(batches)
            >>> state = loader.state_dict()
            >>> other = DataLoader(range(6), batch_size=2, shuffle=True, generator=1)
            >>> other.load_state_dict(state)
            >>> [(a == b).all().item() for a, b in zip(batches, other, strict=True)]
            [True, True]
        """
        if not self._streams and _length(self._source) is None:
            raise TypeError(
                f"DataLoader: {type(self._source).__name__} has no len(), so that the order of an "
                f"epoch is not known and cannot be saved; define __len__"
            )
        progress = self._loaded or self._latest
        if progress is not None:
            position, drawn_from = progress.position, progress.drawn_from
        else:
            position, drawn_from = 0, None
            own = self._own_generator()
            if self._draws and own is not None:
                drawn_from = own.bit_generator.state
        return {"position": position, "generator": copy.deepcopy(drawn_from), **self._kind()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Make the next epoch resume a saved one at the next batch.

        The state is of a loader with the same options; if they differ, nothing is changed.
        """
        kind = self._kind()
        expected = {"position", "generator", *kind}
        if not isinstance(state_dict, Mapping) or state_dict.keys() != expected:
            raise ValueError(f"DataLoader: a state has the keys {sorted(expected)}")
        for name, value in kind.items():
            if state_dict[name] != value:
                raise ValueError(
                    f"DataLoader: the state is of a loader with {name}={state_dict[name]}, this "
                    f"one has {value}"
                )
        position, drawn_from = state_dict["position"], state_dict["generator"]
        batches = position if _length(self._source) is None else len(self)
        if not isinstance(position, int) or not 0 <= position <= batches:
            raise ValueError(f"DataLoader: position {position!r} of {batches} batches")
        if not self._draws or drawn_from is not None:
            own = self._own_generator() or np.random.default_rng()
            if drawn_from is not None:
                own.bit_generator.state = copy.deepcopy(drawn_from)
            self._loaded = self._begin(own, position)
        elif position == 0:
            self._loaded = None
        else:
            raise ValueError("DataLoader: the state lacks the generator state of its order")
        self._latest = None

    def _kind(self) -> dict[str, Any]:
        kind: dict[str, Any] = {
            "samples": _length(self.dataset),
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
        }
        if not self.shuffle and self._draws:
            kind["sampler"] = type(self._source).__name__
        return kind


class _Epoch(Iterator[Any]):
    """The rest of an epoch."""

    def __init__(self, loader: DataLoader, progress: _Progress) -> None:
        self._loader, self._progress = loader, progress
        self._rest = loader._batches(progress.order, progress.position)
        if loader.prefetch:
            self._rest = Prefetched(self._rest, loader.prefetch)

    def __next__(self) -> Any:
        try:
            batch = next(self._rest)
        except StopIteration:
            if self._loader._latest is self._progress:
                self._loader._latest = None
            raise
        self._progress.position += 1
        return batch


def _length(source: Any) -> int | None:
    """Their number, or None if it is not known."""
    try:
        return len(source)
    except (NotImplementedError, TypeError):
        return None


def _indices(values: Any) -> Any:
    """Whole numbers as an array; keys of other kinds as they are."""
    if isinstance(values, np.ndarray):
        return values
    if not all(hasattr(value, "__index__") and not np.ndim(value) for value in values):
        return values
    return np.array([operator.index(value) for value in values], np.int64)
