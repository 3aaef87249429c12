"""One run of a model, watched: every op, what it was given, and what came out.

A value of a run is known by a number, given in the order in which values turn up. So two runs that
do the same ops give the same numbers to the same values, whatever their shapes are.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.mode import State, located, no_grad, state
from minigrad.autograd.mutation import written_since
from minigrad.autograd.node import Variable, clock
from minigrad.autograd.observer import Observer
from minigrad.autograd.op import Primitive
from minigrad.autograd.results import wrap

__all__ = ["Call", "Ref", "Run", "flat", "watch"]


class Ref(NamedTuple):
    """A value, in the place where an array or a tensor stood."""

    number: int


class Call(NamedTuple):
    """One call of an op.

    Attributes:
        op: Its record.
        arguments: What it was given, in the order of ``op.params``, with `Ref` for arrays.
        outputs: What came out.
        path: The module call in which it happened.
    """

    op: Primitive
    arguments: tuple[Any, ...]
    outputs: tuple[Ref, ...]
    path: str


class Run(Observer):
    """What is noted while a model runs.

    An op that is not among `exported` but has a meaning is replaced by it, op by op.

    Args:
        sizes: The size of each symbol in this run.
        exported: The names of the ops that the file can hold.

    Attributes:
        arrays: The value of each number.
        calls: The ops, in their order.
        names: What parameters and buffers are called, by number.
        inputs: The numbers of the inputs, by name.
        outputs: The outputs, by name.
    """

    def __init__(self, sizes: Mapping[str, int], exported: Container[str]) -> None:
        self.sizes = dict(sizes)
        self.arrays: list[np.ndarray] = []
        self.calls: list[Call] = []
        self.names: dict[int, str] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, Ref] = {}
        self._exported = exported
        self._by_object: dict[int, int] = {}
        self._by_memory: dict[Any, int] = {}
        self._stamps: list[int] = []
        self._held: list[Any] = []  # so that no id and no memory is used twice

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Note an op, or what it means."""
        noted = tuple(self._noted(argument) for argument in arguments)
        outputs = result if isinstance(result, tuple) else (result,)
        if op.name not in self._exported and op.meaning is not None:
            meant = self._meant(op, arguments)
            for output, ref in zip(outputs, meant, strict=True):
                self._know(output, ref.number)
            return
        refs = tuple(self._new(output) for output in outputs)
        scope = state.get().scope
        self.calls.append(Call(op, noted, refs, "" if scope is None else scope.path))

    def _meant(self, op: Primitive, arguments: Sequence[Any]) -> tuple[Ref, ...]:
        """Run what a fused op means, and note its ops in the place of the op."""
        values = [wrap(v) if isinstance(v, np.ndarray) else v for v in arguments]
        outer = state.get()
        try:
            state.set(State(False, outer.scope, (self,)))
            result = op.call_with(op.meaning, values)  # type: ignore[arg-type]
        finally:
            state.set(outer)
        return tuple(self.ref(r) for r in (result if isinstance(result, tuple) else (result,)))

    def _noted(self, argument: Any) -> Any:
        if isinstance(argument, (Variable, np.ndarray)):
            return self.ref(argument)
        if isinstance(argument, (tuple, list)):
            return tuple(self._noted(part) for part in argument)
        return argument.item() if isinstance(argument, np.generic) else argument

    def ref(self, value: Any) -> Ref:
        """The number of a tensor or an array: known as an object, by its memory, or new."""
        array = _array(value)
        number = self._by_object.get(id(value))
        if number is None:
            number = self._by_memory.get(_memory(array))
        if number is None:
            return self._new(value)
        if written_since(array, self._stamps[number]):
            raise NotImplementedError(
                located(
                    "onnx.export: a tensor is written in place after it was used, which a graph of "
                    "values cannot say; write x = x + y for x += y"
                )
            )
        return Ref(number)

    def entitle(self, name: str, tensor: Any) -> None:
        """Say what a tensor is called, if an op has read it."""
        number = self._by_object.get(id(tensor), self._by_memory.get(_memory(tensor._data)))
        if number is not None:
            self.names.setdefault(number, name)

    def _new(self, value: Any) -> Ref:
        number = len(self.arrays)
        self.arrays.append(_array(value))
        self._stamps.append(next(clock))
        self._know(value, number)
        return Ref(number)

    def _know(self, value: Any, number: int) -> None:
        array = _array(value)
        self._held += [value, array]
        self._by_object[id(value)] = number
        self._by_memory.setdefault(_memory(array), number)


def watch(
    model: Any, args: Any, inputs: Mapping[str, Any], sizes: Mapping[str, int],
    exported: Container[str],
) -> Run:  # fmt: skip
    """Run a model, and note what it does.

    Args:
        model: A module in evaluation mode.
        args: The bound arguments of its forward, with the inputs as tensors.
        inputs: Those tensors, by name.
        sizes: The size of each symbol.
        exported: The names of the ops that the file can hold.

    Returns:
        The run.

    Raises:
        TypeError: An output is no tensor.
    """
    run = Run(sizes, exported)
    for name, tensor in inputs.items():
        run.inputs[name] = run._new(tensor).number
    with no_grad(), run:
        result = model(*args.args, **args.kwargs)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        run.entitle(name, tensor)
    for name, output in flat(result):
        if not isinstance(output, Variable):
            raise TypeError(
                f"onnx.export: the model's {name} is a {type(output).__name__}; a tensor, or a "
                f"tuple, list or dict of tensors expected"
            )
        run.outputs[name] = run.ref(output)
    return run


def flat(result: Any, name: str = "output") -> Iterator[tuple[str, Any]]:
    """The tensors of a nested result, each with a name: output_0, output_1 for a pair."""
    if isinstance(result, (tuple, list)):
        for i, part in enumerate(result):
            yield from flat(part, f"{name}_{i}")
    elif isinstance(result, Mapping):
        for key, part in result.items():
            yield from flat(part, f"{name}_{key}")
    else:
        yield name, result


def _array(value: Any) -> np.ndarray:
    array: np.ndarray = value._data if isinstance(value, Variable) else value
    return array


def _memory(array: np.ndarray) -> tuple[Any, ...]:
    """What two arrays share that have the same elements in the same places of memory."""
    place = array.__array_interface__["data"][0]
    return place, array.shape, array.strides, array.dtype.str
