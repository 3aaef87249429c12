"""How an op is called: tensors to arrays, the forward function, and a node if one is wanted.

`_any_signature` is the general path. The others do the same, written out for the commonest
signatures: for a small op the call costs more than the arithmetic.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.dtypes import checked, is_unknown, operand, promote, to_array
from minigrad.autograd.errors import without_underflow
from minigrad.autograd.events import Call, tell
from minigrad.autograd.lending import held, lent
from minigrad.autograd.mode import changed, located, state
from minigrad.autograd.mutation import rewritten, update, view_of
from minigrad.autograd.node import Edge, Node, Variable, clock, node_of
from minigrad.autograd.scope import FunctionCall
from minigrad.support.signatures import call_error, into
from minigrad.support.tree import mapped

if TYPE_CHECKING:
    from minigrad.autograd.primitives import Primitive
    from minigrad.autograd.scope import Frame

__all__ = [
    "call_path", "leaf_of", "record_outputs", "rounded_once", "tell_ran", "with_history", "wrap",
]  # fmt: skip

_new = object.__new__  # without `__init__`, which checks and copies: a result needs neither
_ndarray = np.ndarray
_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)
_MISSING = Parameter.empty


def call_path(op: Primitive, asks: bool = False) -> Callable[..., Any]:
    """The leanest function on tensors that runs `op`; one that `asks` leaves unknown objects."""
    general: Any = _any_signature(op)
    general.__signature__ = op.signature
    if not op.special and op.arrays == 1:
        return _one_array(op, general)
    if not op.special and op.arrays == 2 == len(op.params):
        return _two_arrays(op, asks)
    return general


def _otherwise(op: Primitive, call: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call with a dtype or an `out`, or one that does not fit."""
    if "out" in keywords:
        return into(call, args, keywords)
    rest = {key: value for key, value in keywords.items() if key != "dtype"}
    values = op.bind(args, rest) if op.casts and len(rest) < len(keywords) else None
    if values is None:
        raise call_error(op.name, call, args, keywords)
    if keywords["dtype"] is None:
        return call(*values)
    dtype, x = checked(keywords["dtype"], op.name), values[0]
    if op.float_inputs and dtype.kind != "f":
        raise TypeError(f"{op.name}: dtype must be a float, got {dtype}; write .astype({dtype})")
    tensor: Any = x if isinstance(x, Variable) else wrap(to_array(x, name=op.name))
    return call(tensor.astype(dtype), *values[1:]).astype(dtype)


def _unconverted(op: Primitive) -> str:
    """The dtypes, as characters of NumPy, that an op computes as they are; "" for all."""
    if op.float_inputs:
        return "fd" if op.float16_in else "efd"
    return "?bBhHiIlLqQfd" if op.float16_in else ""


def _one_array(op: Primitive, general: Callable[..., Any]) -> Callable[..., Any]:
    forward, defaults, unconverted = op.forward, op.defaults[1:], _unconverted(op)
    needed, most = max(op.required - 1, 0), len(defaults)

    def call(x: Any = _MISSING, /, *static: Any, **keywords: Any) -> Any:
        if most or static or keywords or x is _MISSING:
            if keywords or x is _MISSING or not needed <= len(static) <= most:
                given = static if x is _MISSING else (x, *static)
                values = op.bind(given, keywords)
                if values is None:
                    return _otherwise(op, call, given, keywords)
                x, static = values[0], tuple(values[1:])
            elif len(static) < most:
                static += defaults[len(static) :]
            for value in static:
                if isinstance(value, Variable) or value.__class__ is list:
                    return general(x, *static)
        if rewritten:
            update((x,))
        if isinstance(x, Variable):
            array, source = x._data, x._node
        else:
            array, source = to_array(x, name=op.name), None
        if unconverted and array.dtype.char not in unconverted:
            (array,) = promote((array,), op.float_inputs)
            if array.dtype.char not in unconverted:
                return _rounded(op, call, (x, *static), (array, *static))
        try:
            out = forward(array, *static) if static else forward(array)
        except Exception as error:  # noqa: BLE001  # raised again
            out = without_underflow(op, (array, *static), error)
        now = state.get()
        if source is None or not now.recording:
            result = wrap(out)
        else:
            known = (array, *static, out) if static else (array, out)
            result = record(op, _FIRST, (source,), known, out, now.frame)
        if result._data.base is not None or out is array:
            view_of(result, x)
        if now.observers:
            tell_ran(op, (x, *static), (array, *static), (result,))
        return result

    return call


def _two_arrays(op: Primitive, asks: bool) -> Callable[..., Any]:
    forward, unconverted = op.forward, _unconverted(op)

    def call(a: Any = _MISSING, b: Any = _MISSING, /, **keywords: Any) -> Any:
        if keywords or b is _MISSING:
            given = tuple([value for value in (a, b) if value is not _MISSING])
            values = op.bind(given, keywords)
            if values is None:
                return _otherwise(op, call, given, keywords)
            a, b = values
        if rewritten:
            update((a, b))
        try:
            if isinstance(a, Variable):
                x, p = a._data, a._node
            else:
                x, p = operand(a, op.name), None
            if isinstance(b, Variable):
                y, q = b._data, b._node
            elif asks and (b is None or b.__class__ is str):  # the commonest, at once
                return NotImplemented
            else:
                y, q = operand(b, op.name), None
        except TypeError:
            if asks and (is_unknown(a) or is_unknown(b)):
                return NotImplemented
            raise
        try:
            alike = x.__class__ is y.__class__ is _ndarray and x.dtype is y.dtype
            if not alike or (unconverted and x.dtype.char not in unconverted):
                x, y = promote((x, y), op.float_inputs, op.compares)
                if op.float16_in and np.float16 in (getattr(x, "dtype", 0), getattr(y, "dtype", 0)):
                    return _rounded(op, call, (a, b), (x, y))
            out = forward(x, y)
        except Exception as error:  # noqa: BLE001  # raised again
            out = without_underflow(op, (x, y), error)
        now = state.get()
        if p is q is None or not now.recording:
            result = wrap(out)
        elif p is None or q is None:
            slots, source = (_FIRST, p) if q is None else (_SECOND, q)
            if op.differentiable and (a.__class__ is _ndarray or b.__class__ is _ndarray):
                x, y = _kept_apart(op, slots, a, b, x, y)
            result = record(op, slots, (source,), (x, y, out), out, now.frame)
        else:
            result = record(op, _BOTH, (p, q), (x, y, out), out, now.frame)
        if result._data.base is not None or out is x or out is y:
            view_of(result, a)
            view_of(result, b)
        if now.observers:
            tell_ran(op, (a, b), (x, y), (result,))
        return result

    return call


def _kept_apart(op: Primitive, slots: tuple[int, ...], a: Any, b: Any, x: Any, y: Any) -> Any:
    """Both arrays; of a caller's array that is saved a copy, since the caller may write to it."""
    first, second = op.plan(slots).arguments_saved
    return x.copy() if first and x is a else x, y.copy() if second and y is b else y


def _rounded(op: Primitive, call: Any, given: Sequence[Any], values: Sequence[Any]) -> Any:
    """The result of an op that computes float16 in a wider dtype."""
    tensors = [v if isinstance(v, Variable) else w for v, w in zip(given, values, strict=True)]
    return rounded_once(call, tensors, (), op.float16_in)


def _any_signature(op: Primitive) -> Callable[..., Any]:
    several = op.multiple_outputs

    def call(*args: Any, **kwargs: Any) -> Any:
        if rewritten:
            update((*args, *kwargs.values()))
        values = op.bind(args, kwargs)
        if values is None:
            return _otherwise(op, call, args, kwargs)
        tensors = values[0] if op.variadic else values
        if op.decomposition is not None and _is_decomposed(op, tensors):
            return _run_decomposition(op, values)
        slots, sources = _take_arrays(op, tensors)
        try:
            _convert(op, tensors, slots)
            if op.variadic:
                values[0] = tuple(tensors)
            out = op.call_with(op.forward, values)
        except Exception as error:  # noqa: BLE001  # raised again
            out = without_underflow(op, tuple(values), error)
        out, *residuals = out if op.residuals else (out,)
        now = state.get()
        if not sources or not now.recording:
            result = tuple(map(wrap, out)) if several else wrap(out)
        else:
            make = record_outputs if several else record
            result = make(op, slots, sources, (*values, out, *residuals), out, now.frame)
        results = result if several else (result,)
        _note_views(results, (*args, *kwargs.values()))
        if now.observers:
            tell_ran(op, op.bind(args, kwargs), values, results, tuple(residuals))
        return result

    return call


def _is_decomposed(op: Primitive, values: Sequence[Any]) -> bool:
    """Whether a fused op runs as its parts: an observer looks into it, or `vmap` differentiates."""
    current = state.get()
    if current.observers and any(op in one.opened for one in current.observers):
        return True
    return (
        current.sampled and current.recording
        and any(isinstance(x, Variable) and x._node is not None for x in values)
    )  # fmt: skip


def _run_decomposition(op: Primitive, values: Sequence[Any]) -> Any:
    """Run the parts of a fused op, in a frame of its name."""
    frame = FunctionCall(op.name, next(clock), state.get().frame, fused=True)
    with changed(frame=frame):
        result = op.call_with(op.decomposition, mapped(wrap, values, _ndarray))
    tell("decomposed", op, values, result, frame)
    return result


# Results --------------------------------------------------------------------------------------


def _note_views(results: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Note which results view the memory of an argument, or of another result."""
    for i, result in enumerate(results):
        array = result._data
        for value in (*arguments, *results[:i]):
            if isinstance(value, Variable) and (array.base is not None or array is value._data):
                view_of(result, value)


def tell_ran(
    op: Primitive, given: Any, values: Any, outputs: tuple[Any, ...], residuals: Any = ()
) -> None:
    """Tell observers of a call of an op."""
    node = node_of(outputs[0]._node) if outputs else None
    own = node if isinstance(node, Node) and node.plan.op is op else None
    tell("ran", Call(op, given, values, outputs, residuals, own, state.get().frame))


def rounded_once(
    function: Callable[..., Any], arrays: Sequence[Any], static: Sequence[Any], dtype: Any
) -> Any:
    """Compute float16 in a wider dtype, forward and backward, and round the result once."""
    wide = [part.astype(dtype) if hasattr(part, "astype") else part for part in arrays]
    return function(*wide, *static).astype(np.float16)


def wrap(out: Any) -> Any:
    """A result without a history."""
    tensor = _new(Variable.result_class)
    tensor._data = out if out.__class__ is _ndarray else np.asarray(out)
    return tensor


def with_history(array: Any, source: Edge | None) -> Any:
    """A result in the place of `source` in its graph."""
    tensor = wrap(array)
    tensor._node = source
    return tensor


def leaf_of(array: Any, requires_grad: bool) -> Any:
    """A leaf that takes over an array that nothing else refers to."""
    tensor: Any = _new(Variable.result_class)
    tensor._data = np.asarray(array)
    if requires_grad:
        tensor.requires_grad = requires_grad
    if state.get().observers:
        tell("created", tensor)
    return tensor


def record(
    op: Primitive, slots: tuple[int, ...], sources: Any, known: Sequence[Any], out: Any,
    frame: Frame | None,
) -> Any:  # fmt: skip
    """The result of a recorded call, with a new node behind it if the op has rules.

    `known` is what rules may read: the arguments, the output, and residuals.
    """
    if not op.differentiable:
        return wrap(out)
    plan = op._plans.get(slots) or op.plan(slots)
    saved = plan.save(*known)
    if out.__class__ is not _ndarray:
        out = np.asarray(out)
    node = _new(Node)
    node.plan = plan
    node.edges = sources
    node.saved = held(saved) if lent else saved
    node.shape = out.shape
    node.dtype = out.dtype
    node.stamp = next(clock)
    node.frame = frame
    tensor = _new(Variable.result_class)
    tensor._data = out
    tensor._node = node
    return tensor


def record_outputs(
    op: Primitive, slots: tuple[int, ...], sources: Any, known: Sequence[Any], outputs: Any,
    frame: Frame | None,
) -> tuple[Any, ...]:  # fmt: skip
    """The results of an op with several outputs, with one new node behind them."""
    if not op.differentiable:
        return tuple(map(wrap, outputs))
    arrays = [np.asarray(output) for output in outputs]
    node = record(op, slots, sources, known, arrays[0], frame)._node
    node.types = tuple([(array.shape, array.dtype) for array in arrays])
    return tuple(map(with_history, arrays, node.outputs))


def _take_arrays(op: Primitive, values: list[Any]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Put arrays in the place of tensors; the slots of those with a history, and their nodes."""
    slots, sources = [], []
    for i, value in enumerate(values):
        if isinstance(value, Variable):
            values[i] = value._data
            if value._node is None:
                continue
            slots.append(i)  # the plan refuses an argument without a rule
            sources.append(value._node)
        elif value is None:
            continue
        elif i in op.promote and not isinstance(value, np.ndarray):
            values[i] = operand(value, op.name)
        elif op.variadic or i < op.arrays:
            values[i] = to_array(value, name=op.name)  # a copy: the caller may write to it
        elif value.__class__ is list:
            values[i] = list(value)  # a copy, for the same reason
    return tuple(slots), tuple(sources)


def _convert(op: Primitive, values: list[Any], slots: tuple[int, ...]) -> None:
    """Bring the arrays among the arguments to the dtypes in which the op computes."""
    if op.variadic:
        values[:] = promote(values, op.float_inputs)
    elif op.promote:
        _promote_some(op, values, slots)
    elif op.float_inputs:
        for i, value in enumerate(values[: op.arrays]):
            if isinstance(value, np.ndarray) and value.dtype.kind != "f":
                (values[i],) = promote((value,), True)


def _promote_some(op: Primitive, values: list[Any], slots: tuple[int, ...]) -> None:
    """Bring the arguments that the op promotes to a common dtype; mostly they have one."""
    first = None
    for i in op.promote:
        if values[i] is not None:
            dtype = getattr(values[i], "dtype", None)
            if dtype is None or dtype is not (first or dtype):
                break
            first = dtype
    else:
        if first is None or first.kind == "f":
            return
    places = [i for i in op.promote if values[i] is not None]
    given = [values[i] for i in places]
    wide = first == np.float64 and op.promote[0] not in slots  # the data, before the weights
    if wide and state.get().scope and np.float32 in [getattr(v, "dtype", None) for v in given]:
        _warn_of_float64()
    for i, value in zip(places, promote(given, op.float_inputs, op.compares), strict=True):
        values[i] = value


@functools.cache  # a loop would only repeat it
def _warn_of_float64() -> None:
    """Warn of float64 data in a float32 module."""
    message = (
        "the input is float64 and the parameters are float32, so this and all that follows is "
        "computed in float64, which takes about twice the time; convert the data: "
        "minigrad.tensor(data, dtype=minigrad.float32), or the model: model.double()"
    )
    warnings.warn(located(message), stacklevel=5)
