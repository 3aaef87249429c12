"""Data parallelism: each rank has the whole model and its part of the data.

`DistributedDataParallel` averages the gradients over the ranks, so that they all take the step that
one process would take with all the data. Gradients are reduced in buckets, while the backward pass
still runs: a bucket starts as soon as its last gradient is in.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.data import Sampler
from minigrad.distributed.collectives import copy_from_root
from minigrad.distributed.communicators import Communicator, takes_part, world
from minigrad.distributed.reducer import Buffers, Reducer
from minigrad.distributed.replicas import Replicas, structure
from minigrad.nn import Module
from minigrad.support.checks import check_number
from minigrad.tensors.tensor import Tensor


class DistributedDataParallel(Module):
    """A model of which every rank has a copy, and whose gradients are averaged over the ranks.

    Parameters and buffers are those of rank 0 at the start. A backward pass averages all gradients,
    also those that were accumulated within `no_sync`, and gives all ranks the buffers of rank 0,
    such as running statistics, where the model has changed them. A parameter that this rank did not
    use counts as zeros, one that no rank used has no gradient. With equal shares of the data and a
    mean loss, the gradients are those of one process with all the data; for unequal shares see
    {doc}`/distributed`. Dropout differs between the ranks; all other random numbers are the same on
    all ranks, if the seed is.

    Before the first step, after steps 1, 10, 100, ..., and when they are saved, the ranks compare
    the weights and the options of their optimizers. A difference is an error that names it; at the
    end of the program it is a warning. A step is a call of `module` in training.

    A deep copy of it does the same for its own model, from its first training step on.

    Args:
        module: The model, of the same structure on all ranks.
        comm: The ranks that take part; all if None.
        bucket_size: How many MiB of gradients are reduced together.
        broadcast_buffers: Whether the ranks take the buffers of rank 0.
        compare: Whether the ranks compare their weights. Weights of machines whose processors round
            differently drift apart by rounding errors; then it has to be False.

    Raises:
        RuntimeError: The models differ, or a backward pass does not run on all ranks.

    Source: Li et al. 2020, arXiv:2006.15704.

    Example:
        >>> from minigrad import distributed, nn, ones
        >>> model = distributed.DistributedDataParallel(nn.Linear(2, 1))
        >>> model(ones(4, 2)).mean().backward()
        >>> model.module.weight.grad.tolist()
        [[1.0, 1.0]]
    """

    _reducer: Reducer | None = None

    def __init__(
        self, module: Module, comm: Communicator | None = None, bucket_size: float = 25.0, *,
        broadcast_buffers: bool = True, compare: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(module, Module):
            raise TypeError(
                f"DistributedDataParallel: a module expected, got {type(module).__name__}"
            )
        self.module = module
        self.comm = comm or world()
        self.bucket_size = check_number(
            "DistributedDataParallel", "bucket_size", bucket_size, above=0
        )
        self.broadcast_buffers, self.compare = broadcast_buffers, compare
        self._reduces, self._forwards = True, 0
        if self.comm.size > 1:
            self._start()
            random.set_stream(self.comm.rank)  # for dropout

    def _start(self) -> None:
        """Take the values of rank 0, and average gradients from now on."""
        self.comm = Communicator(self.comm.mpi, self.comm.timeout)  # runs beside all others
        name = f"DistributedDataParallel({type(self.module).__name__})"
        self.comm.agree(name, entries=structure(self.module))
        copy_from_root([*self.module.parameters(), *self.module.buffers()], self.comm)
        buffers = Buffers(self.module if self.broadcast_buffers else Module(), self.comm)
        trained = [param for param in self.module.parameters() if param.requires_grad]
        self._reducer = Reducer(trained, buffers, self.comm, int(self.bucket_size * 2**20))
        if self.compare:
            name, ids = "DistributedDataParallel", {*map(id, trained)}
            Replicas(name, self.module, self.comm, averaged=ids)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model on this rank's data."""
        if self.comm.size == 1 or not self._reduces or not is_grad_enabled():
            return self.module(*args, **kwargs)
        takes_part()
        if self._reducer is None:
            self._start()
        reducer = self._reducer
        assert reducer is not None
        output = self.module(*args, **kwargs)
        self._forwards += 1
        begin = partial(reducer.begin, self._forwards)
        for tensor in tensors_within(output):
            if tensor.requires_grad:
                tensor.register_hook(begin)
        return output

    def __deepcopy__(self, memo: dict[int, Any]) -> DistributedDataParallel:
        """A copy that makes its own communicator when it is trained; nothing is sent before."""
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.module = copy.deepcopy(self.module, memo)
        twin._reducer, twin._forwards = None, 0
        return twin

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate the gradients of calls in this block on this rank, without averaging them.

        The next backward pass of a call outside averages their sum.

        Example:
            >>> from minigrad import distributed, nn, ones
            >>> model = distributed.DistributedDataParallel(nn.Linear(2, 1))
            >>> with model.no_sync():
            ...     model(ones(4, 2)).mean().backward()
            >>> model(ones(4, 2)).mean().backward()
            >>> model.module.weight.grad.tolist()
            [[2.0, 2.0]]
        """
        before, self._reduces = self._reduces, False
        try:
            yield
        finally:
            self._reduces = before


def tensors_within(value: Any, seen: set[int] | None = None) -> Iterator[Tensor]:
    """The tensors in a structure: of tuples, lists, dicts, and of objects with attributes."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    parts: Iterable[Any] = ()
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (tuple, list, set, frozenset)):
        parts = value
    elif not isinstance(value, (Module, type, ModuleType, np.ndarray, str, bytes)):
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        parts = [*getattr(value, "__dict__", {}).values()]
        parts += [getattr(value, name, None) for name in slots]
    for part in parts:
        yield from tensors_within(part, seen)


class DistributedSampler(Sampler[int]):
    """This rank's part of the samples: every n-th of an order that all ranks have in common.

    So batch i of all ranks together is batch i of one process, if that takes n times as many
    samples. All ranks get equally many: the first samples are repeated, or the last left out.

    Args:
        dataset: What has a length.
        num_replicas: The number of ranks; by default that of `comm`.
        rank: The number of this rank; by default that of `comm`.
        shuffle: Whether to draw a new order for each epoch.
        seed: Chooses the orders; the same on all ranks.
        drop_last: Whether to leave samples out, rather than to repeat some.
        comm: The ranks that take part; all if None.

    Example:
        >>> from minigrad.distributed import DistributedSampler
        >>> [*DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False)]
        [1, 3, 0]
    """

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = True, seed: int = 0, drop_last: bool = False,
        comm: Communicator | None = None,
    ) -> None:  # fmt: skip
        self.dataset, self.shuffle, self.seed, self.drop_last = dataset, shuffle, seed, drop_last
        self.num_replicas = (comm or world()).size if num_replicas is None else num_replicas
        self.rank = (comm or world()).rank if rank is None else rank
        self.epoch = 0
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"DistributedSampler: rank must be from 0 to {self.num_replicas - 1}, got {rank}"
            )

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch, on which the order depends; call it before each epoch."""
        self.epoch = epoch

    def state_dict(self) -> dict[str, int]:
        """Return the epoch and the seed, for `save_training`."""
        return {"epoch": self.epoch, "seed": self.seed}

    def load_state_dict(self, state_dict: Mapping[str, int]) -> None:
        """Take the epoch and the seed."""
        self.epoch, self.seed = state_dict["epoch"], state_dict["seed"]

    def __len__(self) -> int:
        whole, rest = divmod(len(self.dataset), self.num_replicas)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[int]:
        n, total = len(self.dataset), len(self) * self.num_replicas
        order = np.random.default_rng((self.seed, self.epoch)).permutation(n)
        indices = np.resize(order if self.shuffle else np.arange(n), total)
        return iter(indices[self.rank :: self.num_replicas].tolist())
