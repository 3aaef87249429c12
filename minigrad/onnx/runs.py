"""The record of one run of a model: every op, its arguments and its results.

Values are numbered in the order of their first use. So two runs of the same ops give the same
numbers to corresponding values, even if the shapes differ.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad._grad_mode import no_grad
from minigrad.autograd import events
from minigrad.autograd.call import wrap
from minigrad.autograd.mode import State, located, state
from minigrad.autograd.mutation import written_since
from minigrad.autograd.node import Variable, clock
from minigrad.autograd.primitive import Primitive, registry
from minigrad.onnx.traced import Comparison, TracedNumber, Untraced, release, trace


class Ref(NamedTuple):
    """A reference to a value, in place of an array or a tensor."""

    number: int


class Call(NamedTuple):
    """One call of an op."""

    op: Primitive  # its `Primitive`
    arguments: tuple[Any, ...]  # its arguments in the order of `op.params`, with `Ref` for arrays
    outputs: tuple[Ref, ...]  # its results
    path: str  # the module call in which it happened


class Run(events.Observer):
    """Records a run.

    An op that is not in `exported` is replaced by its decomposition, if it has one.
    """

    def __init__(self, sizes: Mapping[str, int], exported: Container[Primitive]) -> None:
        self.sizes = dict(sizes)
        self.arrays: list[np.ndarray] = []  # the value of each number
        self.calls: list[Call] = []  # in order
        self.names: dict[int, str] = {}  # of parameters and buffers, by number
        self.inputs: dict[str, int] = {}  # their numbers, by name
        self.outputs: dict[str, Ref] = {}  # by name
        self.sources: list[frozenset[int]] = []  # of each number, the inputs and constants
        self.unsettled: set[int] = set()  # whose shape may depend on other values
        self.noted: dict[Comparison | Untraced, None] = {}  # uses of sizes in Python, in order
        self.watching = True  # whether the run is being recorded
        self.refused: NotImplementedError | None = None  # why the model is refused
        self._exported = exported
        self._by_object: dict[int, int] = {}
        self._by_memory: dict[Any, int] = {}
        self._stamps: list[int] = []
        self._held: list[Any] = []  # keeps objects alive, so that no id and no memory is reused

    def ran(self, call: events.Call) -> None:
        """Record an op, or its decomposition."""
        op, arguments, outputs = call.op, call.arguments, call.outputs
        noted = tuple(self._noted(argument) for argument in arguments)
        held = op in self._exported
        if not held and op.decomposition is not None:
            meant = self._meant(op, arguments)
            for output, ref in zip(outputs, meant, strict=True):
                self.know(output, ref.number)
            return
        sources = frozenset().union(*(self.sources[n] for n in numbers(noted)))
        refs = tuple(self._new(output, sources) for output in outputs)
        if not held or self._depends_on_values(op, noted):
            self.unsettled.update(ref.number for ref in refs)
        scope = state.get().scope
        self.calls.append(Call(op, noted, refs, "" if scope is None else scope.path))

    def wrote(self, tensor: Any, result: Any) -> None:
        """Record that a tensor now has the value of an in-place op's result."""
        number = self.ref(result).number
        self._stamps[number] = next(clock)
        self.know(tensor, number)
        self._by_memory[_memory(tensor._data)] = number

    def _depends_on_values(self, op: Primitive, arguments: tuple[Any, ...]) -> bool:
        """Whether the shape of an exported op's result may depend on values."""
        chosen = [self.arrays[number] for number in numbers(arguments[1:])]
        return (
            (op is registry["getitem"] and any(array.dtype == np.bool_ for array in chosen))
            or (op is registry["repeat"] and bool(chosen))
            or not self.unsettled.isdisjoint(numbers(arguments))
        )

    def _meant(self, op: Primitive, arguments: Sequence[Any]) -> tuple[Ref, ...]:
        """Run the decomposition of a fused op, and record its ops instead."""
        values = [wrap(v) if isinstance(v, np.ndarray) else v for v in arguments]
        outer = state.get()
        try:
            state.set(State(False, outer.scope, (self,)))
            result = op.call_with(op.decomposition, values)
        finally:
            state.set(outer)
        return tuple(self.ref(r) for r in (result if isinstance(result, tuple) else (result,)))

    def _noted(self, argument: Any) -> Any:
        if isinstance(argument, (Variable, np.ndarray)):
            return self.ref(argument)
        if isinstance(argument, (tuple, list)):
            return tuple(self._noted(part) for part in argument)
        if isinstance(argument, slice):
            return slice(*map(self._noted, (argument.start, argument.stop, argument.step)))
        if isinstance(argument, np.generic):
            return argument.item()
        if isinstance(argument, (int, float)) and not isinstance(argument, bool):
            return argument.real  # the plain number
        return argument

    def ref(self, value: Any) -> Ref:
        """The number of a tensor or an array, found by its identity or memory, or a new one."""
        array = _array(value)
        number = self._by_object.get(id(value))
        if number is None:
            number = self._by_memory.get(_memory(array))
        if number is None:
            return self._new(value)
        if written_since(array, self._stamps[number]):
            self.refuse(
                "a tensor is written in place after it was used, which a graph of values cannot "
                "say; write x = x + y for x += y"
            )
        return Ref(number)

    def refuse(self, why: str) -> NoReturn:
        """Raise an error now and again at the end, because the model may catch the first one."""
        self.refused = NotImplementedError(located(f"onnx.export: {why}"))
        raise self.refused

    @property
    def given(self) -> dict[str, np.ndarray]:
        """The inputs by name."""
        return {name: self.arrays[number] for name, number in self.inputs.items()}

    def entitle(self, name: str, tensor: Any) -> None:
        """Name a tensor that an op has read."""
        number = self._by_object.get(id(tensor), self._by_memory.get(_memory(tensor._data)))
        if number is not None:
            self.names.setdefault(number, name)

    def end(self) -> None:
        """Stop recording; traced tensors that the model kept become ordinary ones."""
        self.watching = False
        for value in self._held:
            release(value)

    def _new(self, value: Any, sources: frozenset[int] | None = None) -> Ref:
        number = len(self.arrays)
        self.arrays.append(_array(value))
        self.sources.append(frozenset([number]) if sources is None else sources)
        self._stamps.append(next(clock))
        self.know(value, number, sources is not None)
        return Ref(number)

    def know(self, value: Any, number: int, traced: bool = True) -> None:
        """Register the number of a tensor or array; `traced` if its uses must be traced."""
        array = _array(value)
        if traced:
            trace(value, self, number)
        self._held += [value, array]
        self._by_object[id(value)] = number
        self._by_memory.setdefault(_memory(array), number)


def watch(
    model: Any, args: Any, inputs: Mapping[str, Any], sizes: Mapping[str, int],
    exported: Container[Primitive],
) -> Run:  # fmt: skip
    """Run a model with bound arguments, among them the inputs as tensors, and record its ops."""
    run = Run(sizes, exported)
    for name, tensor in inputs.items():
        number = len(run.arrays)
        run.inputs[name] = run._new(tensor, frozenset([number])).number
    try:
        with no_grad(), run:
            result = model(*args.args, **args.kwargs)
    finally:
        run.end()
        if run.refused is not None:
            raise run.refused
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        run.entitle(name, tensor)
    for name, output in flat(result):
        if not isinstance(output, Variable):
            kind = "int" if isinstance(output, TracedNumber) else type(output).__name__
            raise TypeError(
                f"onnx.export: the model's {name} is a {kind}; a tensor, or a "
                f"tuple, list or dict of tensors expected"
            )
        run.outputs[name] = run.ref(output)
    return run


def numbers(arguments: Any) -> list[int]:
    """The numbers of all values among some arguments."""
    if isinstance(arguments, Ref):
        return [arguments.number]
    if isinstance(arguments, tuple):
        return [number for part in arguments for number in numbers(part)]
    return []


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
    """A key that is equal for arrays with the same elements at the same memory addresses."""
    place = array.__array_interface__["data"][0]
    return place, array.shape, array.strides, array.dtype.str
