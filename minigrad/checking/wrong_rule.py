"""Find the wrong rule: each op of a function is checked by itself, at the values that it had."""

from collections.abc import Callable, Sequence
from typing import Any

from minigrad._grad_mode import enable_grad
from minigrad.autograd.call import call_path, wrap
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import Primitive
from minigrad.trace.lines import user_line


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

    `agrees` tells whether the derivative of a function of one tensor agrees with differences.
    """
    new: Any = Variable.result_class
    with _Calls() as seen, enable_grad():
        function(*given)
    for op, arguments, place in seen.calls:
        for slot, value in enumerate(arguments[0] if op.variadic else arguments):
            if not isinstance(value, Variable) or value._node is None:
                continue
            if not agrees(
                _with_one_argument(op, arguments, slot), new(value._data, requires_grad=True)
            ):
                argument = f"{op.params[0]}[{slot}]" if op.variadic else op.params[slot]
                wrong = f"the rule of {op.name} for {argument} is wrong by itself"
                return f"; {wrong}, called at {place}"
    return ""


def _with_one_argument(op: Primitive, arguments: Sequence[Any], slot: int) -> Callable[[Any], Any]:
    """An op as a function of the argument in `slot`, the others held fixed."""
    tensors, rest = (arguments[0], arguments[1:]) if op.variadic else (arguments, ())
    values = [wrap(v._data) if isinstance(v, Variable) else v for v in tensors]
    run = call_path(op)

    def function(x: Any) -> Any:
        now = [*values[:slot], x, *values[slot + 1 :]]
        return op.call_with(run, [now, *rest] if op.variadic else now)

    return function
