"""A trace as a program: each step is computed again from the values that it read."""

from typing import Any

import numpy as np

from minigrad import Tensor
from minigrad.autograd.engine import Update, unbroadcast
from minigrad.tracing import Step, Trace, Value


class Copied(Trace):
    """A trace whose values are copies: later writes do not change them."""

    def _new(self, step: Any, thing: Any) -> Value:
        value = super()._new(step, thing)
        if isinstance(value.array, np.ndarray):
            value.array = value.array.copy()
        return value


def filled(thing: Any, known: dict[Value, Any]) -> Any:
    """An argument with arrays in the place of values."""
    if isinstance(thing, Value):
        return known[thing]
    if isinstance(thing, (tuple, list)):
        return type(thing)(filled(part, known) for part in thing)
    if isinstance(thing, dict):
        return {name: filled(part, known) for name, part in thing.items()}
    if isinstance(thing, slice):
        return slice(*(filled(part, known) for part in (thing.start, thing.stop, thing.step)))
    return thing


def executed(trace: Copied) -> dict[Value, Any]:
    """The values of a trace, computed from those that were there before."""
    known: dict[Value, Any] = {value: value.array for value in trace.outside}
    for step in trace.steps:
        results = results_of(step, filled(step.arguments, known))
        pairs = zip(step.outputs, results, strict=False)
        known |= {
            value: np.asarray(result) if isinstance(result, np.generic) else result
            for value, result in pairs
            if value is not None
        }
    return known


def results_of(step: Step, arguments: dict[str, Any]) -> Any:
    if step.phase == "left":
        return []
    if step.phase == "effect":
        return [value and value.array for value in step.outputs]
    if step.phase == "backward":
        return backward(step, arguments)
    if step.op is None:
        (made,) = step.outputs
        assert made is not None
        whole = np.empty(made.shape, made.dtype)
        whole[...] = arguments["values"]
        return [whole]
    op = step.op
    assert op is not None
    values = [arguments[name] for name in op.params if name in arguments]
    if op.variadic:
        found = op.forward(*values[0], **dict(zip(op.params[1:], values[1:], strict=False)))
    else:
        found = op.call_with(op.forward, values) if len(values) == len(op.params) else (
            op.forward(*values)
        )  # fmt: skip
    if op.residuals and not isinstance(found, np.ndarray):
        out, *residuals = found
        return [*(out if op.multiple_outputs else [out]), *residuals]
    return found if op.multiple_outputs else [np.asarray(found)]


def backward(step: Step, arguments: dict[str, Any]) -> Any:
    if step.op is None:
        total, part = arguments.values()
        if isinstance(part, Update):
            total = np.array(total)
            part.add_to(total)
            return [total]
        return [total + part]
    node = step.node
    assert node is not None
    g = arguments.pop("g")
    wanted = tuple(value is not None for value in step.outputs)
    parts = node.plan.narrow(wanted).pull(g, *arguments.values())
    return [fitted(*pair) for pair in zip(parts, step.outputs, strict=True)]


def fitted(part: Any, value: Value | None) -> Any:
    if part is None or value is None:
        return None
    if isinstance(part, Update):
        if isinstance(value.array, Update):
            return part
        whole = np.zeros(value.shape, value.dtype)
        part.add_to(whole)
        return whole
    return unbroadcast(part, value.shape).astype(value.dtype)


def held(trace: Copied) -> int:
    """Compare each value that is computed again with the one that was seen; how many there are."""
    count = 0
    for value, array in executed(trace).items():
        if isinstance(value.array, np.ndarray):
            assert (array.shape, array.dtype) == (value.array.shape, value.array.dtype), value.step
            np.testing.assert_array_equal(array, value.array, err_msg=repr(value.step))
            count += 1
    return count


def data_of(tensor: Tensor) -> np.ndarray:
    return tensor._data
