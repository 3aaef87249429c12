"""One run of a model as a trace: its values, and those that left the graph.

Values are numbered in the order of their first use. So two runs of the same ops give the same
numbers to corresponding values, even if the shapes differ.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.events import Call
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.mode import changed, located
from minigrad.autograd.mutation import written_since
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, registry
from minigrad.support.tree import leaves, mapped, paths
from minigrad.tracing import Step, Trace, Value

PRINTED = "repr()"
"""The door through which values may leave: a text that is printed changes no graph."""


class Run(Trace):
    """The trace of a run.

    An op that is not in `exported` is replaced by its decomposition, if it has one.

    Attributes:
        sizes: The sizes of the inputs in this run, by symbol.
        inputs: The number of each input, by name.
        outputs: The number of each output, by name.
        names: The names of parameters and buffers, by the number of their value.
        changed: The numbers of those to which the model writes.
        unsettled: The numbers of values whose shape may depend on the values of others.
    """

    def __init__(
        self, model: Any, sizes: Mapping[str, int], exported: Container[Primitive | None]
    ) -> None:
        self._state: dict[int, str] = {}
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            self._state.setdefault(id(tensor), name)
        super().__init__(keep=False, lines=True)
        self.sizes = dict(sizes)
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.changed: set[int] = set()
        self.unsettled: set[int] = set()
        self._exported = exported

    def ran(self, call: Call) -> None:
        """Write down an op, or its decomposition."""
        op = call.op
        if op not in self._exported:
            self.arguments(call)  # they and their conversions are known from now on
        if op not in self._exported and op.decomposition is not None:
            given = mapped(wrap, _used(call.arguments, call.values), np.ndarray)
            with changed(recording=False, observers=(self,)):
                result = op.call_with(op.decomposition, given)
            results = result if isinstance(result, tuple) else (result,)
            for output, meant in zip(call.outputs, results, strict=True):
                self._know(output, self.value(meant))
        elif op in self._exported or not all(map(self._is_known, call.outputs)):
            super().ran(call)
            step = self.steps[-1]
            if op not in self._exported or self._depends_on_values(step):
                self.unsettled.update(value.number for value in step.outputs if value)

    def end(self) -> None:
        """End the run: find the names of parameters, and to which the model has written."""
        for value in self.outside:
            name = self._state.get(id(value.tensor))
            if name is not None and name not in self.names.values():
                self.names[value.number] = name
                if written_since(value.array, value.stamp):
                    self.changed.add(value.number)

    def refuse_what_left(self) -> None:
        """Raise if values that depend on an input left the graph."""
        dependent = {*self.inputs.values()}
        for step in self.steps:
            if dependent.isdisjoint(value.number for value in step.reads):
                continue
            if step.phase == "left" and step.what != PRINTED:
                why = (
                    f"onnx.export: {step.what} takes values that depend on an input out of the "
                    f"graph, and the file would have those of the example for ever; compute with "
                    f"ops on tensors, as minigrad.where does for a choice ({step.line})"
                )
                raise NotImplementedError(located(why, step.scope))
            dependent.update(value.number for value in step.outputs if value)

    @property
    def computed(self) -> list[Step]:
        """The steps that make values of others, also those of a backward pass."""
        return [step for step in self.steps if step.phase in ("forward", "write", "backward")]

    def array(self, number: int) -> np.ndarray:
        """The array of a value, or one of its shape and dtype."""
        value = self.values[number]
        if value.array is None:
            return np.broadcast_to(np.zeros((), value.dtype), value.shape)
        array: np.ndarray = value.array
        return array

    @property
    def given(self) -> dict[str, np.ndarray]:
        """The inputs by name."""
        return {name: self.values[number].array for name, number in self.inputs.items()}

    def _depends_on_values(self, step: Step) -> bool:
        """Whether the shape of an exported op's result may depend on values."""
        chosen = [*leaves([*step.arguments.values()][1:], Value)]
        masked = any(value.dtype == np.bool_ for value in chosen)
        return (step.op is registry["getitem"] and masked) or (
            step.op is registry["repeat"] and bool(chosen)
        )

    def _is_known(self, output: Variable) -> bool:
        """Whether an output is a value that is known already, as of a detached tensor."""
        known, writes = self._identity.find(output)
        return known is not None and not writes

    def _argument(self, given: Any, value: Any) -> Any:
        if isinstance(given, (int, float)):
            return given  # a number may be a size: it is not the array that was made of it
        return super()._argument(given, value)

    def _new(self, step: Step | None, thing: Any) -> Value:
        """A new value, which has an array if it is an input or a constant."""
        value = super()._new(step, thing)
        if step is None or step.phase == "effect":
            array = thing._data if isinstance(thing, Variable) else np.asarray(thing)
            # The model may write to it later; of a large array, `end` notices that.
            value.array = array if step is None and id(thing) in self._state else array.copy()
        return value


def watch(
    model: Any, args: Any, inputs: Mapping[str, Any], sizes: Mapping[str, int],
    exported: Container[Primitive | None],
) -> Run:  # fmt: skip
    """Run a model with bound arguments, among them the inputs as tensors, and record its ops."""
    run = Run(model, sizes, exported)
    run.inputs = {name: run.value(tensor).number for name, tensor in inputs.items()}
    with no_grad(), run:
        result = model(*args.args, **args.kwargs)
    run.end()
    run.refuse_what_left()
    for name, output in flat(result):
        if not isinstance(output, Variable):
            raise TypeError(
                f"onnx.export: the model's {name} is a {type(output).__name__}; a tensor, or a "
                f"tuple, list or dict of tensors expected"
            )
        run.outputs[name] = run.value(output).number
    return run


def flat(result: Any) -> Iterator[tuple[str, Any]]:
    """The tensors of a nested result, each with a name: output_0, output_1 for a pair."""
    for keys, leaf in paths(result):
        yield "_".join(["output", *map(str, keys)]), leaf


def _used(given: Any, values: Any) -> Any:
    """The arguments of an op, as the tensors that it was given where it used these."""
    if isinstance(given, Variable):
        return given if given._data is values else values
    if isinstance(given, (tuple, list)) and isinstance(values, (tuple, list)):
        return [_used(*pair) for pair in zip(given, values, strict=True)]
    return values if isinstance(values, np.ndarray) else given
