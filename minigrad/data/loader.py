"""DataLoader: iterates over a dataset in batches, optionally shuffled."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

import numpy as np

from minigrad import random
from minigrad._checks import check_flag
from minigrad._tensor import Tensor
from minigrad.data.collate import default_collate
from minigrad.data.datasets import Subset, TensorDataset, check_dataset, seeded
from minigrad.data.prefetch import Prefetched

B = TypeVar("B")  # a batch
Collate = Callable[[list[Any]], Any]
Seed = np.random.Generator | int | None


class _Progress:
    """An epoch: the order of its samples, its source, and the number of batches returned."""

    def __init__(self, order: np.ndarray, drawn_from: Any, position: int = 0) -> None:
        self.order = order
        self.drawn_from = drawn_from
        self.position = position


class DataLoader(Generic[B]):
    """Iterate over a dataset in batches; each ``for`` loop is one independent epoch.

    An epoch can be interrupted and resumed in another process, with `state_dict`.

    Args:
        dataset: Anything with ``len`` and whole-number indices.
        batch_size: The number of samples in a batch; the last may have fewer.
        shuffle: Draw a new random order at the start of each epoch.
        drop_last: Skip the last batch if it is smaller.
        collate_fn: A function that makes a batch from a list of samples; `default_collate` if None.
        generator: A NumPy generator or a seed for the order; `minigrad.random` if None.
        prefetch: The number of batches that a thread prepares in advance; 0 for no thread. With a
            thread, the dataset's draws from `minigrad.random` happen earlier.

    Attributes:
        dataset: The dataset.
        batch_size: The number of samples in a batch.

    Raises:
        TypeError: The dataset has no ``len`` or no indices, or `collate_fn` is not a function.
        ValueError: `batch_size` or `prefetch` is not a whole number, or too small.

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
        shuffle: bool = False, *, drop_last: bool = False, collate_fn: None = None,
        generator: Seed = None, prefetch: int = 0,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[B], dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        drop_last: bool = False, collate_fn: Callable[[list[Any]], B], generator: Seed = None,
        prefetch: int = 0,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[Any], dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        drop_last: bool = False, collate_fn: None = None, generator: Seed = None, prefetch: int = 0,
    ) -> None: ...  # fmt: skip
    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        drop_last: bool = False,
        collate_fn: Collate | None = None,
        generator: Seed = None,
        prefetch: int = 0,
    ) -> None:
        check_dataset("DataLoader", dataset)
        check_flag("DataLoader", "shuffle", shuffle)
        check_flag("DataLoader", "drop_last", drop_last)
        for name, value, least in (("batch_size", batch_size, 1), ("prefetch", prefetch, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"DataLoader: {name} is a whole number from {least} on, got {value!r}"
                )
        if collate_fn is not None and not callable(collate_fn):
            raise TypeError(
                f"DataLoader: collate_fn must be a function of a list of samples, "
                f"got {collate_fn!r}"
            )
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = bool(shuffle)
        self.drop_last = bool(drop_last)
        self.collate_fn = collate_fn
        self.generator = None if generator is None else seeded("DataLoader", generator)
        self.prefetch = prefetch
        self._latest: _Progress | None = None
        self._loaded: _Progress | None = None

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[B]:
        """Start an epoch, or resume the one whose state was loaded."""
        if self._loaded is None:
            drawn_from = None
            if self.shuffle:
                generator = random.generator() if self.generator is None else self.generator
                drawn_from = generator.bit_generator.state
                order = generator.permutation(len(self.dataset))
            else:
                order = np.arange(len(self.dataset))
            progress = _Progress(order, drawn_from)
        else:
            progress, self._loaded = self._loaded, None
        self._latest = progress
        return _Epoch(self, progress)

    def _batches(self, order: np.ndarray, position: int) -> Iterator[Any]:
        for i in range(position, len(self)):
            indices = order[i * self.batch_size : (i + 1) * self.batch_size]
            yield _batch(self.dataset, indices, self.collate_fn)

    def state_dict(self) -> dict[str, Any]:
        """The progress of the latest epoch, as plain values.

        Returns:
            "position": the number of batches returned. "generator": the state from which the order
            of the epoch was drawn. It is None if the loader does not shuffle, or if no epoch was
            started; in the latter case, without a generator of its own, the loader draws from
            `minigrad.random`, whose state must be saved too. The other entries are options that
            must be the same in the loader that loads the state.

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
        progress = self._loaded or self._latest
        if progress is not None:
            position, drawn_from = progress.position, progress.drawn_from
        else:
            position, drawn_from = 0, None
            if self.shuffle and self.generator is not None:
                drawn_from = self.generator.bit_generator.state
        return {"position": position, "generator": copy.deepcopy(drawn_from), **self._kind()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Make the next epoch resume a saved one at the next batch.

        Args:
            state_dict: The result of `state_dict` of a loader with the same options.

        Raises:
            ValueError: The options differ; nothing was changed.
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
        if not isinstance(position, int) or not 0 <= position <= len(self):
            raise ValueError(f"DataLoader: position {position!r} of {len(self)} batches")
        if not self.shuffle:
            self._loaded = _Progress(np.arange(len(self.dataset)), None, position)
        elif drawn_from is not None:
            own = np.random.default_rng() if self.generator is None else self.generator
            own.bit_generator.state = copy.deepcopy(drawn_from)
            order = own.permutation(len(self.dataset))
            self._loaded = _Progress(order, copy.deepcopy(drawn_from), position)
        elif position == 0:
            self._loaded = None
        else:
            raise ValueError("DataLoader: the state lacks the generator state of its order")
        self._latest = None

    def _kind(self) -> dict[str, Any]:
        return {
            "samples": len(self.dataset),
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
        }


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


def _batch(dataset: Any, indices: np.ndarray, collate_fn: Collate | None) -> Any:
    """Make a batch of some samples; a TensorDataset is indexed once for all."""
    if collate_fn is None:
        access = getattr(type(dataset), "__getitem__", None)
        if access is Subset.__getitem__:
            return _batch(dataset.dataset, dataset.indices[indices], None)
        if access is TensorDataset.__getitem__:
            return dataset[indices]
    samples = [dataset[int(i)] for i in indices]
    return default_collate(samples) if collate_fn is None else collate_fn(samples)
