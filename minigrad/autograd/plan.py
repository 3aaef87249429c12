"""What one op saves and runs, for one choice of arguments that need gradients.

The parameters of a rule name what it needs. A plan reads the names once and makes two one-line
functions of them, which `print(plan)` shows. For ``a * b``, both differentiable:

    save = lambda a, b, out: (b, a)
    pull = lambda g, b, a: (vjp_a(g, b), vjp_b(g, a))

So an op saves exactly what its rules read, and a backward step costs one call.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.autograd.primitive import Primitive

__all__ = ["Plan", "Rule"]


class Rule:
    """A vector-Jacobian product and the names of what it reads.

    Args:
        op: The op that the rule belongs to.
        function: ``rule(g, ...)``; a joint rule, for several arguments, ``rule(g, needed, ...)``.
        joint: Whether it is a joint rule.

    Raises:
        TypeError: A parameter names nothing that the op has.
    """

    __slots__ = ("function", "needs")

    def __init__(self, op: Primitive, function: Callable[..., Any], joint: bool = False) -> None:
        names = list(inspect.signature(function).parameters)
        first = ["g", "needed"] if joint else ["g"]
        if names[: len(first)] != first:
            raise TypeError(f"{op.name}: a rule's parameters begin with {', '.join(first)}")
        self.function = function
        self.needs = tuple(names[len(first) :])
        known = [*op.params, *(f"{name}_shape" for name in op.params), "out", *op.residuals]
        for name in self.needs:
            if name not in known:
                raise TypeError(
                    f"{op.name}: a rule asks for {name!r}; it can have {', '.join(known)}"
                )


class Plan:
    """What to save and what to run when the arguments in `slots` need gradients.

    Attributes:
        op: The primitive.
        slots: Which arguments the node's edges feed: positions in the op's parameters, or, for a
            variadic op, positions among its tensors.
        saved_names: What stands in `Node.saved`, in order.
        save: From ``(*arguments, out, *residuals)`` to the saved tuple.
        pull: From the cotangent of the output and what was saved to those of the edges.
    """

    __slots__ = (
        "_joint", "_narrow", "_source", "arguments_saved", "op", "pull", "save", "saved_names",
        "slots",
    )  # fmt: skip

    def __init__(
        self, op: Primitive, slots: tuple[int, ...], wanted: tuple[bool, ...] | None = None
    ) -> None:
        self.op = op
        self.slots = slots
        self._narrow: dict[tuple[bool, ...], Plan] = {}
        self.saved_names = self._names_to_save()
        # Which array arguments are kept: a caller's ndarray among them must be copied first.
        self.arguments_saved = tuple(name in self.saved_names for name in op.params)

        inputs = ", ".join((*op.params, "out", *op.residuals))
        kept = ", ".join(self._read(name) for name in self.saved_names)
        save = f"lambda {inputs}: ({kept}{',' if kept else ''})"
        calls, rules = self._calls(wanted or (True,) * len(slots))
        given = ("g", "needed") if op.variadic else ("g",)
        pull = f"lambda {', '.join((*given, *self.saved_names))}: {calls}"
        self._source = f"{op.name}\n    save = {save}\n    pull = {pull}"
        self.save: Callable[..., tuple[Any, ...]] = eval(save)
        self.pull: Callable[..., Any] = eval(pull, rules)
        self._joint = self.pull

    def of_tensors(self, slots: tuple[int, ...], wanted: Iterable[bool] = repeat(True)) -> Plan:
        """The plan of a variadic op for the tensors in `slots`: this one with another `pull`."""
        rule, needed = self._joint, [False] * (slots[-1] + 1)
        for slot, want in zip(slots, wanted, strict=False):
            needed[slot] = want
        flags, plan = tuple(needed), copy.copy(self)

        def pull(g: Any, *saved: Any) -> list[Any]:
            parts = rule(g, flags, *saved)
            return [parts[slot] for slot in slots]

        plan.slots, plan.pull = slots, pull
        return plan

    @property
    def slot_names(self) -> tuple[str, ...]:
        """What the arguments in `slots` are called."""
        op = self.op
        if op.variadic:
            return tuple([f"{op.params[0]}[{slot}]" for slot in self.slots])
        return tuple([op.params[slot] for slot in self.slots])

    def narrow(self, wanted: tuple[bool, ...]) -> Plan:
        """The same plan with a pull that computes only the wanted edges, None for the others."""
        if self.op.variadic:
            return self if all(wanted) else self.of_tensors(self.slots, wanted)
        if wanted not in self._narrow:
            self._narrow[wanted] = Plan(self.op, self.slots, wanted)
        return self._narrow[wanted]

    def _rules(self) -> list[Rule]:
        op = self.op
        ruled = op.rules if op.joint is None else [op.params[slot] for slot in op.joint_slots]
        names = [op.params[slot] for slot in self.slots]
        for name in names:
            if name not in ruled:
                raise TypeError(
                    f"{op.name} has no derivative with respect to {name!r}, which requires a "
                    f"gradient; pass {name}.detach()"
                )
        return [op.rules[name] for name in names] if op.joint is None else [op.joint]

    def _names_to_save(self) -> tuple[str, ...]:
        needs = [name for rule in self._rules() for name in rule.needs]
        if self.op.decomposition is not None:
            needs += self.op.params  # higher orders run the decomposition on the same arguments
        return tuple(dict.fromkeys(needs))

    def _read(self, name: str) -> str:
        """The expression for `name` within the parameters of `save`."""
        op = self.op
        argument = name.removesuffix("_shape")
        if name in (*op.params, *op.residuals) or argument not in op.params:
            return name
        if op.variadic and argument == op.params[0]:
            return f"(*[x.shape for x in {argument}],)"
        return f"{argument}.shape"

    def _calls(self, wanted: tuple[bool, ...]) -> tuple[str, dict[str, Any]]:
        """The expression that `pull` evaluates, and the functions that it names."""
        op, functions = self.op, {}

        def call(name: str, function: Callable[..., Any], *arguments: str) -> str:
            while name in self.saved_names or name in functions:
                name += "_"
            functions[name] = function
            return f"{name}({', '.join(arguments)})"

        edges = list(zip(self.slots, wanted, strict=True))
        if op.joint is None:
            rules = [(name, op.rules[name]) for name in self.slot_names]
            calls = [
                call(f"vjp_{name}", rule.function, "g", *rule.needs) if want else "None"
                for (name, rule), want in zip(rules, wanted, strict=True)
            ]
            return f"({', '.join(calls)},)", functions
        if op.variadic:
            return call("vjp", op.joint.function, "g", "needed", *op.joint.needs), functions
        flags = tuple((slot, True) in edges for slot in op.joint_slots)
        parts = call("vjp", op.joint.function, "g", repr(flags), *op.joint.needs)
        places = [op.joint_slots.index(slot) for slot in self.slots]
        return call("edges", lambda parts: [parts[i] for i in places], parts), functions

    def __repr__(self) -> str:
        return self._source
