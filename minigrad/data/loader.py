"""DataLoader: iterates over a dataset in batches, optionally shuffled."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad import random
from minigrad.data import samplers
from minigrad.data.collate import default_collate, default_convert
from minigrad.data.datasets import IterableDataset, Subset, TensorDataset, check_dataset, seeded
from minigrad.support.checks import check_flag, check_number, check_size

B = TypeVar("B")  # a batch
Collate = Callable[[Any], Any]


def get_worker_info() -> None:
    """Return None: there are no worker processes, which would share a stream among them.

    Example:
        >>> from minigrad.data import get_worker_info
        >>> get_worker_info() is None
        True
    """


@dataclass
class _Progress:
    """An epoch: the order of its samples, its source, and the number of batches returned.

    The order is None if it is not known in advance: of a stream, and of a sampler without a length.
    """

    order: Any
    drawn_from: Any
    position: int = 0


class _Epoch(Iterator[B]):
    """The batches of an epoch, one after the other; its length is that of a whole epoch."""

    def __init__(self, batches: Generator[B, None, None], loader: DataLoader[B]) -> None:
        self._batches, self._loader = batches, loader

    def __next__(self) -> B:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)

    def close(self) -> None:
        """End the epoch here."""
        self._batches.close()


class DataLoader(Generic[B]):
    """A loop over a dataset in batches; each ``for`` loop is one independent epoch.

    An epoch can be interrupted and resumed in another process, with `state_dict`.

    Args:
        dataset: Anything with ``len`` and whole-number indices, or an `IterableDataset`. If it has
            ``__getitems__``, that gets the list of the indices of a batch.
        batch_size: The number of samples in a batch; the last may have fewer. None for single
            samples, without a batch.
        shuffle: Draw a new random order at the start of each epoch.
        sampler: An iterable of the indices of an epoch, instead of `shuffle`. It is read at the
            start of the epoch; one without ``len``, during the epoch.
        batch_sampler: An iterable of lists of indices, one for each batch, instead of the other
            options of order and size.
        collate_fn: A function that makes a batch from a list of samples; if None,
            `default_collate`, or `default_convert` for single samples.
        drop_last: Skip the last batch if it is smaller.
        generator: A NumPy generator or a seed for the order; `minigrad.random` if None.
        num_workers, prefetch_factor, pin_memory, timeout, worker_init_fn: Without effect, as there
            are no worker processes and no GPU.
        multiprocessing_context, persistent_workers, pin_memory_device, in_order: The same.

    Attributes:
        sampler: The iterable of indices; None for a stream, and beside `batch_sampler`.
        batch_sampler: The iterable of lists of indices; None for a stream and for single samples.

    Example:
        >>> import minigrad
        >>> from minigrad.data import DataLoader, TensorDataset
        >>> dataset = TensorDataset(minigrad.randn(10, 3), range(10))
        >>> for x, y in DataLoader(dataset, batch_size=4):
        ...     len(x), y.tolist()
        (4, [0, 1, 2, 3])
        (4, [4, 5, 6, 7])
        (2, [8, 9])
    """

    def __init__(
        self: DataLoader[Any], dataset: Any, batch_size: int | None = 1,
        shuffle: bool | None = None, sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None, num_workers: int = 0,
        collate_fn: Collate | None = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: samplers.Seed = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        self.shuffle = check_flag("DataLoader", "shuffle", False if shuffle is None else shuffle)
        self.drop_last = check_flag("DataLoader", "drop_last", drop_last)
        check_number("DataLoader", "timeout", timeout, 0.0)
        if batch_size is not None:
            check_size("DataLoader", "batch_size", batch_size)
        check_size("DataLoader", "num_workers", num_workers, 0)
        if prefetch_factor is not None:
            check_size("DataLoader", "prefetch_factor", prefetch_factor)
            if not num_workers:
                raise ValueError("DataLoader: prefetch_factor is for each worker: give num_workers")
        self.dataset, self.sampler, self.batch_size = dataset, sampler, batch_size
        self.batch_sampler, self.num_workers = batch_sampler, num_workers
        self.prefetch_factor, self.pin_memory, self.timeout = prefetch_factor, pin_memory, timeout
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        self.multiprocessing_context = multiprocessing_context
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.generator = seeded("DataLoader", generator)
        self._streams = isinstance(dataset, IterableDataset)
        self._check_order()
        if batch_sampler is not None:
            self.batch_size = None
        elif not self._streams:
            if sampler is None:
                shuffled = samplers.RandomSampler(dataset, generator=self.generator)
                sampler = shuffled if shuffle else samplers.SequentialSampler(dataset)
            self.sampler = sampler
            if batch_size is not None:
                self.batch_sampler = samplers.BatchSampler(sampler, batch_size, self.drop_last)
        self._single = batch_size is None and batch_sampler is None
        default = default_convert if self._single else default_collate
        self.collate_fn: Collate = default if collate_fn is None else collate_fn
        self._latest: _Progress | None = None
        self._loaded: _Progress | None = None

    def _check_order(self) -> None:
        """Refuse what is not a dataset, and options that contradict each other."""
        given, batched = self.sampler is not None, self.batch_sampler is not None
        for name in ("sampler", "batch_sampler"):
            order = getattr(self, name)
            if order is not None and not isinstance(order, Iterable):
                raise TypeError(f"DataLoader: {name} must be iterable, got {order!r}")
        own = self.batch_size != 1 or self.shuffle or given or self.drop_last
        chosen = "sampler" if given else "shuffle" if self.shuffle else "batch_sampler"
        for wrong, why in (
            (batched and own, "batch_sampler says the batches; leave batch_size, shuffle, sampler "
                              "and drop_last out"),
            (self._streams and (given or self.shuffle or batched),
             f"{chosen} chooses samples; a stream says their order itself"),
            (given and self.shuffle, "sampler says the order; leave shuffle out"),
            (self.batch_size is None and self.drop_last,
             "batch_size=None gives single samples; leave drop_last out"),
        ):  # fmt: skip
            if wrong:
                raise ValueError(f"DataLoader: {why}")
        if not self._streams and not ((given or batched) and hasattr(self.dataset, "__getitem__")):
            check_dataset("DataLoader", self.dataset)

    @property
    def _source(self) -> Any:
        """The indices, batches of them or samples to iterate over."""
        if self._streams:
            return self.dataset
        return self.batch_sampler if self.batch_size is None and not self._single else self.sampler

    @property
    def _drawn_by(self) -> Any:
        """What draws the indices: the sampler, also of a batch sampler that has one."""
        source = self._source
        batched = isinstance(source, samplers.BatchSampler)
        return getattr(source, "sampler", source) if batched else source

    def __len__(self) -> int:
        """The number of batches in an epoch, if the sampler or the stream has a length."""
        count, size = len(self._source), self.batch_size
        return count if size is None else samplers.batches_in(count, size, self.drop_last)

    def __iter__(self) -> Iterator[B]:
        """Start an epoch, or resume the one whose state was loaded."""
        if self._loaded is None:
            progress = self._begin(self._own_generator() or random.generator())
        else:
            progress, self._loaded = self._loaded, None
        self._latest = progress
        return _Epoch(self._batches(progress), self)

    def _begin(self, generator: np.random.Generator, position: int = 0) -> _Progress:
        """An epoch whose order is drawn from a generator, if it is drawn."""
        if not self._draws:
            in_order = None if self._streams else np.arange(len(self._source))
            return _Progress(in_order, None, position)
        drawn_from = copy.deepcopy(generator.bit_generator.state)
        if self._unforeseen():
            return _Progress(None, drawn_from, position)
        with random.drawing_from(generator):
            return _Progress(_indices(samplers.order_of(self._source)), drawn_from, position)

    def _unforeseen(self) -> str:
        """Why the order is not known before the epoch; "" if it is."""
        name = type(self._source).__name__
        if _length(self._source) is None:
            return f"{name} has no len()"
        return f"{name} draws as it is read" if getattr(self._drawn_by, "lazy", False) else ""

    @property
    def _draws(self) -> bool:
        """Whether the order may depend on random numbers."""
        return not (self._streams or isinstance(self._source, samplers.SequentialSampler))

    def _own_generator(self) -> np.random.Generator | None:
        """The generator of the sampler, or that of the loader."""
        generator = getattr(self._drawn_by, "generator", None)
        return generator if isinstance(generator, np.random.Generator) else self.generator

    def _batches(self, progress: _Progress) -> Generator[Any, None, None]:
        """The rest of an epoch."""
        size, order = self.batch_size, progress.order
        items = self._source if order is None else order
        groups: Iterator[Any]
        if size is None:
            groups = iter(items)
        elif isinstance(order, np.ndarray):
            count = samplers.batches_in(len(order), size, self.drop_last)
            groups = (order[i * size : (i + 1) * size] for i in range(count))
        else:
            groups = samplers.batched(iter(items), size, self.drop_last)
        for group in islice(groups, progress.position, None):
            batch = self.collate_fn(group) if self._streams else self._fetched(group)
            progress.position += 1
            yield batch
        if self._latest is progress:
            self._latest = None

    def _fetched(self, chosen: Any) -> Any:
        """The batch of some indices, of tensors with one index for all; or a single sample."""
        if self._single:
            key = int(chosen) if isinstance(chosen, np.integer) else chosen
            return self.collate_fn(self.dataset[key])
        indices = _indices(chosen)
        if self.collate_fn is default_collate and isinstance(indices, np.ndarray):
            dataset, within = self.dataset, indices
            while getattr(type(dataset), "__getitem__", None) is Subset.__getitem__:
                places = [dataset.indices[i] for i in within]
                dataset, within = dataset.dataset, np.array(places, np.int64)
            if getattr(type(dataset), "__getitem__", None) is TensorDataset.__getitem__:
                return [*dataset[within]]
        keys = indices.tolist() if isinstance(indices, np.ndarray) else indices
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(keys))
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
            TypeError: The sampler has no ``len``, or draws as it is read: its order is not known in
                advance.

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
        if not self._streams and (reason := self._unforeseen()):
            remedy = "; define __len__" if reason.endswith("len()") else ""
            what = "so that the order of an epoch is not known and cannot be saved"
            raise TypeError(f"DataLoader: {reason}, {what}{remedy}")
        epoch = self._loaded or self._latest
        if epoch is not None:
            position, drawn_from = epoch.position, epoch.drawn_from
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
                other = f"{name}={state_dict[name]}, this one has {value}"
                raise ValueError(f"DataLoader: the state is of a loader with {other}")
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
