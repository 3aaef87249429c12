"""Data parallelism: each rank has the whole model and its part of the data.

`DistributedDataParallel` averages the gradients over the ranks, so that they all take the step that
one process would take with all the data. Gradients are reduced in buckets, while the backward pass
still runs: a bucket starts as soon as its last gradient is in.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.call import wrap
from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.autograd.mode import located, state
from minigrad.autograd.mutation import uniquely_owned
from minigrad.data import Sampler
from minigrad.distributed.collectives import all_reduce, copy_from_root
from minigrad.distributed.communicators import Call, Communicator, world
from minigrad.nn import Module, Parameter
from minigrad.nn.functional.normalization import update_running
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d, _BatchNorm, weight_of_batch
from minigrad.nn.module.module_paths import replaced
from minigrad.ops.joining import concatenate
from minigrad.tensors.tensor import Tensor
from minigrad.transforms.structure import mapped


class DistributedDataParallel(Module):
    """A model of which every rank has a copy, and whose gradients are averaged over the ranks.

    Parameters and buffers are those of rank 0 at the start. A backward pass averages all gradients,
    also those that were accumulated within `no_sync`. A parameter that this rank did not use counts
    as zeros, one that no rank used has no gradient. With equal shares of the data and a mean loss,
    the gradients are those of one process with all the data; for unequal shares see
    {doc}`/distributed`. Dropout differs between the ranks; all other random numbers are the same on
    all ranks, if the seed is.

    Args:
        module: The model, of the same structure on all ranks.
        comm: The ranks that take part; all if None.
        bucket_size: How many MiB of gradients are reduced together.

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

    def __init__(
        self, module: Module, comm: Communicator | None = None, bucket_size: float = 25.0
    ) -> None:
        super().__init__()
        self.module = module
        comm = comm or world()
        self.comm = Communicator(comm.mpi, comm.timeout)  # its messages run beside all others
        self._reduces, self._forwards = True, 0
        if self.comm.size > 1:
            self._start_alike()
            learned = [p for p in module.parameters() if p.requires_grad]
            self._reducer = _Reducer(learned, self.comm, int(bucket_size * 2**20))

    def _start_alike(self) -> None:
        """Take the values of rank 0, and a stream of one's own for dropout."""
        tensors = [*self.module.named_parameters(), *self.module.named_buffers()]
        shapes = [(name, t.shape, str(t.dtype), t.requires_grad) for name, t in tensors]
        code = zlib.crc32(repr(shapes).encode())
        kind = type(self.module).__name__
        self.comm.agree(f"DistributedDataParallel({kind}, {len(shapes)} tensors, code {code:x})")
        copy_from_root([t for _, t in tensors], self.comm)
        random.set_stream(self.comm.rank)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model on this rank's data."""
        output = self.module(*args, **kwargs)
        if self.comm.size == 1 or not self._reduces or not is_grad_enabled():
            return output
        self._forwards += 1
        number = self._forwards

        def begin(g: Any) -> None:
            self._reducer.begin(number)

        def watch(leaf: Any) -> Any:
            if isinstance(leaf, Tensor) and leaf.requires_grad:
                leaf.register_hook(begin)
            return leaf

        return mapped(watch, output)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Calls of the model within accumulate gradients on this rank, without averaging them.

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


class _Bucket:
    """Gradients that are reduced together: one array, and the place of each parameter in it."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
        self.parameters: list[Parameter] = []
        self.places: list[slice] = []
        self.size = 0
        self.missing: set[int] = set()
        self.request: Any = None
        self._arrays: dict[int, np.ndarray] = {}

    def add(self, parameter: Parameter) -> int:
        """Give a parameter a place; its number."""
        self.parameters.append(parameter)
        self.places.append(slice(self.size, self.size + parameter._data.size))
        self.size += parameter._data.size
        return len(self.places) - 1

    def clear(self) -> None:
        """Expect all gradients anew, in an array that no gradient of the last pass looks into."""
        self.missing = {*range(len(self.places))}
        if not self._arrays or not uniquely_owned(self._arrays, 0):
            self._arrays[0] = np.empty(self.size + len(self.places), self.dtype)
        self._arrays[0][self.size :] = 0  # how many ranks used each parameter

    def put(self, number: int, ranks: int) -> None:
        """Take the gradient of a parameter: its part of the mean."""
        parameter, array = self.parameters[number], self._arrays[0]
        gradient, place = parameter._grad, self.places[number]
        if gradient is None:
            array[place] = 0
        else:
            np.divide(gradient._data.reshape(-1), ranks, out=array[place], casting="same_kind")
            array[self.size + number] = 1
            parameter._grad = None
        self.missing.discard(number)

    def give_back(self) -> None:
        """Give each parameter its mean gradient, unless no rank used it."""
        array = self._arrays[0]
        for number, (parameter, place) in enumerate(zip(self.parameters, self.places, strict=True)):
            if array[self.size + number]:
                mean = array[place].reshape(parameter.shape)
                parameter._grad = wrap(mean.astype(parameter.dtype, copy=False))


class _Reducer:
    """Averages the gradients of parameters over the ranks, bucket by bucket, in one order."""

    def __init__(self, parameters: list[Parameter], comm: Communicator, limit: int) -> None:
        self.parameters, self.comm, self.limit = parameters, comm, limit
        self.pass_: list[Any] | None = None  # the backward pass that runs
        self.started = 0
        self.call: Call
        self.order: list[int] | None = []  # in which gradients arrive in the first pass
        self._arrange([*range(len(parameters))][::-1])
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self.arrived)

    def _arrange(self, order: list[int]) -> None:
        """Divide the parameters among buckets."""
        self.buckets: list[_Bucket] = []
        self.places: dict[int, tuple[_Bucket, int, int]] = {}
        last: dict[np.dtype[Any], _Bucket] = {}
        for i in order:
            parameter = self.parameters[i]
            bucket = last.get(parameter.dtype)
            size = (
                0
                if bucket is None
                else (bucket.size + parameter._data.size) * bucket.dtype.itemsize
            )
            if bucket is None or size > self.limit:
                bucket = last[parameter.dtype] = _Bucket(parameter.dtype)
                self.buckets.append(bucket)
            self.places[id(parameter)] = bucket, bucket.add(parameter), i

    def begin(self, number: int) -> None:
        """A backward pass has reached an output of the model, in its call `number`."""
        at_end = state.get().at_end
        if at_end is None or at_end is self.pass_:  # None: `grad` writes no gradients
            return
        if self.pass_ is not None:
            raise RuntimeError(
                "DistributedDataParallel: the last backward pass was not finished, so the ranks no "
                "longer agree; start the program again from what it saved"
            )
        self.pass_, self.started = at_end, 0
        at_end.append(self.finish)
        what = f"the backward pass of call {number} of DistributedDataParallel"
        self.call = self.comm._call(what)
        self.request, self.found = self.comm._exchange(self.call)
        for bucket in self.buckets:
            bucket.clear()

    def arrived(self, parameter: Tensor) -> None:
        """The gradient of a parameter is complete."""
        if self.pass_ is None or self.pass_ is not state.get().at_end:
            return
        gradient = parameter._grad
        if gradient is not None and gradient._node is not None:
            raise RuntimeError(
                located(
                    "DistributedDataParallel: gradients that are differentiated again "
                    "(create_graph=True) are not averaged; take them of model.module with "
                    "autograd.grad, and use distributed.all_reduce"
                )
            )
        bucket, number, i = self.places[id(parameter)]
        bucket.put(number, self.comm.size)
        if self.order is not None:
            self.order.append(i)
        for started in self.buckets[: self.started]:
            started.request.Test()  # MPI works on a message when it is called
        self.start_full()

    def start_full(self) -> None:
        """Start the buckets that are full, in the same order on all ranks."""
        from mpi4py import MPI

        while self.started < len(self.buckets) and not self.buckets[self.started].missing:
            bucket = self.buckets[self.started]
            bucket.request = self.comm._own.Iallreduce(MPI.IN_PLACE, bucket._arrays[0])
            self.started += 1

    def finish(self) -> None:
        """At the end of the pass: what is unused counts as zeros; write the averages."""
        for bucket in self.buckets:
            for number in list(bucket.missing):
                bucket.put(number, self.comm.size)
        self.start_full()
        self.comm.wait(self.request, self.call)
        self.comm.compare(self.found, self.call)
        for bucket in self.buckets:
            self.comm.wait(bucket.request, self.call)
            bucket.give_back()
        self.pass_ = None
        if self.order is not None:  # from now on, what arrives first stands in the first bucket
            order = self.comm._own.bcast(self.order)
            self._arrange([*dict.fromkeys([*order, *range(len(self.parameters))])])
            self.order = None


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
        """The epoch and the seed, for `save_training`."""
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


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all ranks together; they may differ in size.

    Args and attributes are those of `nn.BatchNorm1d`. Inputs have shape (N, C), (N, C, L) or
    (N, C, H, W).

    Example:
        >>> from minigrad import distributed, nn, tensor
        >>> norm = distributed.SyncBatchNorm(1, eps=0.0)
        >>> norm(tensor([[1.0], [3.0]])).tolist()
        [[-1.0], [1.0]]
    """

    layouts = ("(N, C)", "(N, C, L)", "(N, C, H, W)")
    comm: Communicator | None = None

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, comm: Communicator | None = None) -> Module:
        """Replace the batch normalizations of a model by ones over all ranks, in place.

        Args:
            module: The model, or a batch normalization itself.
            comm: The ranks that take part; all if None.

        Returns:
            The model; for a batch normalization, what replaces it.

        Example:
            >>> from minigrad import distributed, nn
            >>> model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
            >>> type(distributed.SyncBatchNorm.convert_sync_batchnorm(model)[1]).__name__
            'SyncBatchNorm'
        """
        parts: dict[int, Module] = {}
        for old in module.modules():
            if isinstance(old, BatchNorm1d | BatchNorm2d):
                parts[id(old)] = made = cls(old.num_features, old.eps, old.momentum)
                made.__dict__.update(copy.copy(old).__dict__)
                made.comm = comm
        return replaced(module, parts)

    def forward(self, input_: Tensor) -> Tensor:
        """Normalize: by the statistics of all batches in training, else by the running ones."""
        if not self.training and self.running_mean is not None:
            return super().forward(input_)
        self._check_layout(input_)
        axes = (0, *range(2, input_.ndim))
        shape = (1, -1) + (1,) * (input_.ndim - 2)
        count = Tensor([input_._data.size / self.num_features], dtype=input_.dtype)
        sums = all_reduce(concatenate([input_.sum(axis=axes), count]), comm=self.comm)
        total = sums[-1].detach()
        mean = sums[:-1] / total
        centred = input_ - mean.reshape(shape)
        var = all_reduce((centred * centred).sum(axis=axes), comm=self.comm) / total
        if self.training:
            momentum = weight_of_batch(self.num_batches_tracked, self.momentum)
            update_running(self.running_mean, mean.detach(), momentum)
            update_running(self.running_var, var.detach() * (total / (total - 1)), momentum)
        out = centred / (var + self.eps).sqrt().reshape(shape)
        if self.weight is not None and self.bias is not None:
            out = out * self.weight.reshape(shape) + self.bias.reshape(shape)
        return out
