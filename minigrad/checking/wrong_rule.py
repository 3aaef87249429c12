"""Find the wrong rule: each op of a function is checked by itself, at the values that it had."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.call import call_path, wrap
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive
from minigrad.tracing.lines import user_line


class _Calls(Observer):
    """The calls of ops, with their arguments and the lines of the user's program."""

    def __init__(self) -> None:
        self.calls: list[tuple[Primitive, Sequence[Any], str]] = []

    def ran(self, call: Call) -> None:
        if call.op.differentiable:
            self.calls.append((call.op, call.arguments, located(user_line())))


def op_at_fault(
    agrees: Callable[[Callable[[Any], Any], Any], bool],
    function: Callable[..., Any],
    given: Sequence[Any],
) -> str:
    """Name the first op with a wrong rule, for the end of an error; empty if every op agrees.

    If there is none, but one that reads a triangle for a symmetric matrix, that is what differs.
    `agrees` tells whether the derivative of a function of one tensor agrees with differences.
    """
    new: Any = Variable.result_class
    symmetric = ""
    with _Calls() as seen, enable_grad():
        function(*given)
    for op, arguments, place in seen.calls:
        for slot, value in enumerate(arguments[0] if op.variadic else arguments):
            if not isinstance(value, Variable) or value._node is None:
                continue
            function = _with_one_argument(op, arguments, slot)
            x = new(value._data, requires_grad=True, dtype=value._data.dtype)
            if agrees(function, x):
                continue
            argument = f"{op.params[0]}[{slot}]" if op.variadic else op.params[slot]
            mirrored = _with_triangle_mirrored(function, value._data)
            if mirrored is None or not agrees(mirrored, x):
                wrong = f"the rule of {op.name} for {argument} is wrong by itself"
                return f"; {wrong}, called at {place}"
            symmetric = symmetric or (
                f"; {op.name} reads one triangle of {argument} for a symmetric matrix, and its "
                f"gradient is that of symmetric matrices, called at {place}: check the function of "
                f"a symmetric matrix, lambda x: function((x + x.mT) / 2)"
            )
    return symmetric


def _with_triangle_mirrored(
    function: Callable[[Any], Any], x: np.ndarray
) -> Callable[[Any], Any] | None:
    """If a function reads only one triangle of its matrices: the same with that one as the other.

    It is a function of symmetric matrices, with the same value.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return None
    upper = np.triu(np.ones(x.shape[-2:], bool), 1)
    expected = _arrays_of(function, x)
    unread = [
        all(map(np.array_equal, expected, _arrays_of(function, np.where(part, x + 1, x))))
        for part in (upper, upper.T)
    ]
    if unread == [True, False]:
        return lambda y: function(ops.tril(y) + ops.tril(y, -1).mT)
    if unread == [False, True]:
        return lambda y: function(ops.triu(y) + ops.triu(y, 1).mT)
    return None


def _arrays_of(function: Callable[[Any], Any], x: np.ndarray) -> list[Any]:
    """The results of a function for an array, as arrays; none if it refuses it."""
    try:
        found = function(wrap(x))
    except (ValueError, np.linalg.LinAlgError):
        return [None]
    return [y._data for y in (found if isinstance(found, tuple) else (found,))]


def _with_one_argument(op: Primitive, arguments: Sequence[Any], slot: int) -> Callable[[Any], Any]:
    """An op as a function of the argument in `slot`, the others held fixed."""
    tensors, rest = (arguments[0], arguments[1:]) if op.variadic else (arguments, ())
    values = [wrap(v._data) if isinstance(v, Variable) else v for v in tensors]
    run = call_path(op)

    def function(x: Any) -> Any:
        now = [*values[:slot], x, *values[slot + 1 :]]
        return op.call_with(run, [now, *rest] if op.variadic else now)

    return function
