"""The messages of `DistributedDataParallel`: gradients, and the buffers of rank 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.mode import located, state
from minigrad.autograd.mutation import uniquely_owned, written_since
from minigrad.autograd.node import clock
from minigrad.distributed.communicators import Call, Communicator
from minigrad.nn import Module, Parameter
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor


class Bucket:
    """Gradients that are reduced together: one array, and the place of each parameter in it."""

    def __init__(self, dtype: np.dtype[Any], buffers: int) -> None:
        self.buffers = buffers  # how many of them are told of in it
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

    def clear(self, changed: list[bool]) -> None:
        """Expect all gradients anew, in an array that no gradient of the last pass looks into.

        The array ends with the numbers of ranks that used each parameter and changed each buffer.
        """
        self.missing = {*range(len(self.places))}
        end = self.size + len(self.places)
        if not self._arrays or not uniquely_owned(self._arrays, 0):
            self._arrays[0] = np.empty(end + self.buffers, self.dtype)
        self._arrays[0][self.size : end] = 0
        self._arrays[0][end:] = changed[: self.buffers]

    @property
    def changed(self) -> np.ndarray:
        """Which buffers some rank has changed."""
        return self._arrays[0][self.size + len(self.places) :] > 0

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


class Reducer:
    """Averages the gradients of parameters over the ranks, bucket by bucket, in one order."""

    def __init__(
        self, parameters: list[Parameter], buffers: Buffers, comm: Communicator, limit: int
    ) -> None:
        self.parameters, self.buffers, self.comm, self.limit = parameters, buffers, comm, limit
        self.pass_: list[Any] | None = None  # the backward pass that runs
        self.started = 0
        self.call: Call
        self.order: list[int] | None = []  # in which gradients arrive in the first pass
        self._arrange([*range(len(parameters))][::-1])
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self.arrived)

    def _arrange(self, order: list[int]) -> None:
        """Divide the parameters among buckets."""
        self.buckets: list[Bucket] = []
        self.places: dict[int, tuple[Bucket, int, int]] = {}
        last: dict[np.dtype[Any], Bucket] = {}
        for i in order:
            parameter = self.parameters[i]
            dtype = parameter._data.dtype
            bucket = last.get(dtype)
            size = parameter._data.size + (bucket.size if bucket else 0)
            if bucket is None or size * bucket.dtype.itemsize > self.limit:
                bucket = last[dtype] = self._new_bucket(dtype)
            self.places[id(parameter)] = bucket, bucket.add(parameter), i
        if not self.buckets:  # nothing is trained; buffers may change all the same
            self._new_bucket(np.dtype(np.float32))

    def _new_bucket(self, dtype: np.dtype[Any]) -> Bucket:
        """One more bucket; the first tells of the buffers too."""
        bucket = Bucket(dtype, 0 if self.buckets else len(self.buffers.places))
        self.buckets.append(bucket)
        return bucket

    def begin(self, number: int, _g: Any) -> None:
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
        self.request, self.found = self.comm.exchange(self.call)
        changed = self.buffers.changed()
        for bucket in self.buckets:
            bucket.clear(changed)

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
        """At the end of the pass: unused parameters count as zeros; write the averages."""
        for bucket in self.buckets:
            for number in list(bucket.missing):
                bucket.put(number, self.comm.size)
        self.start_full()
        self.comm.wait(self.call, self.request)
        self.comm.compare(self.found, self.call)
        for bucket in self.buckets:
            self.comm.wait(self.call, bucket.request)
            bucket.give_back()
        self.buffers.take_those_of_root(self.buckets[0].changed, self.call)
        self.pass_ = None
        if self.order is not None:  # from now on, what arrives first is in the first bucket
            order = self.comm.broadcast_object(self.call, self.order)
            self._arrange([*dict.fromkeys([*order, *range(len(self.parameters))])])
            self.order = None


class Buffers:
    """The buffers of a module: those that its calls change become those of rank 0.

    Args:
        module: The module.
        comm: The ranks.
    """

    def __init__(self, module: Module, comm: Communicator) -> None:
        self.comm = comm
        self.paths = [path for path, _ in module.named_buffers()]
        places = [path.rpartition(".") for path in self.paths]
        self.places = [(module.get_submodule(parent), name) for parent, _, name in places]
        self._note()

    def _tensors(self) -> list[Any]:
        return [getattr(owner, name, None) for owner, name in self.places]

    def _note(self) -> None:
        self.known, self.stamp = self._tensors(), next(clock)

    def changed(self) -> list[bool]:
        """Which buffers were written or replaced since the ranks had them alike."""
        return [
            now is not known or (now is not None and written_since(now._data, self.stamp))
            for now, known in zip(self._tensors(), self.known, strict=True)
        ]

    def take_those_of_root(self, changed: np.ndarray, call: Call) -> None:
        """Give all ranks the buffers of rank 0, where they were changed on any rank."""
        if not changed.any():
            return
        tensors = self._tensors()
        chosen = [i for i in np.flatnonzero(changed) if tensors[i] is not None]
        arrays = self.comm.broadcast_object(call, {i: tensors[i]._data for i in chosen})
        for i, array in arrays.items():
            tensor = tensors[i]
            if tensor is None or tensor.shape != array.shape:
                here = getattr(tensor, "shape", None)
                raise RuntimeError(
                    f"DistributedDataParallel: the buffer {self.paths[i]} has shape {array.shape} "
                    f"on rank 0 and {here} on rank {self.comm.rank}; with broadcast_buffers=False "
                    f"each rank keeps its own"
                )
            if self.comm.rank:
                assign(tensor, array.astype(tensor.dtype, copy=False))
        self._note()
