"""Find the wrong rule: each op of a function is checked by itself, at the values that it had."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.events import Call, Observer
from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive
from minigrad.checking.op_checks import held_back, of_one_triangle, with_one_argument, without_row
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

    If there is none, but one that reads a triangle for a symmetric matrix, or gives a row no
    gradient by definition, that is what differs.
    `agrees` tells whether the derivative of a function of one tensor agrees with differences.
    """
    new: Any = Variable.result_class
    explained = ""
    with _Calls() as seen, enable_grad():
        function(*given)
    for op, arguments, place in seen.calls:
        for slot, value in enumerate(arguments[0] if op.variadic else arguments):
            if not isinstance(value, Variable) or value._node is None:
                continue
            function = with_one_argument(op, arguments, slot)
            x = new(value._data, requires_grad=True, dtype=value._data.dtype)
            if agrees(function, x):
                continue
            argument = f"{op.params[0]}[{slot}]" if op.variadic else op.params[slot]
            row = held_back(op, arguments, slot)
            if row is not None and agrees(without_row(function, value._data, row), x):
                explained = explained or (
                    f"; {op.name} gives row {row} of {argument} no gradient ({op.holds_back}), "
                    f"called at {place}"
                )
                continue
            mirrored = of_one_triangle(function, value._data)
            if mirrored is None or not agrees(mirrored, x):
                wrong = f"the rule of {op.name} for {argument} is wrong by itself"
                return f"; {wrong}, called at {place}"
            explained = explained or (
                f"; {op.name} reads one triangle of {argument} for a symmetric matrix, and its "
                f"gradient is that of symmetric matrices, called at {place}: check the function of "
                f"a symmetric matrix, lambda x: function((x + x.mT) / 2)"
            )
    return explained
