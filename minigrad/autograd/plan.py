"""The plan of an op: what it saves and runs for one choice of arguments that need gradients.

The parameters of a rule name what it needs. A plan reads the names once and makes two one-line
functions of them, which `print(plan)` shows. For ``a * b``, both differentiable:

    save = lambda a, b, out: (b, a)
    pull = lambda g, b, a: (vjp_a(g, b), vjp_b(g, a))

So an op saves exactly what its rules read, and a backward step costs one call.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.autograd.primitives import Primitive

__all__ = ["Plan", "Rule", "is_plain"]


class Rule:
    """A vector-Jacobian product and the names of what it reads.

    Args:
        op: The op that the rule belongs to.
        function: ``rule(g, ...)``; a joint rule, for several arguments, ``rule(g, needed, ...)``.
        joint: Whether it is a joint rule.

    Raises:
        TypeError: A parameter names nothing that the op has.
    """

    def __init__(self, op: Primitive, function: Callable[..., Any], joint: bool = False) -> None:
        names = parameter_names(function)
        first = ["g", "needed"] if joint else ["g"]
        if names[: len(first)] != first:
            raise TypeError(f"{op.name}: a rule's parameters begin with {', '.join(first)}")
        self.function, self.needs = function, tuple(names[len(first) :])
        known = [*op.params, *(f"{name}_shape" for name in op.params), "out", *op.residuals]
        for name in self.needs:
            if name not in known:
                raise TypeError(f"{op.name}: a rule asks for {name!r}; known: {', '.join(known)}")


_SIGNED = {"__signature__", "__wrapped__"}


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters; of a plain function without `inspect`, which takes a while."""
    if isinstance(function, FunctionType) and not function.__dict__.keys() & _SIGNED:
        code = function.__code__
        if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return list(inspect.signature(function).parameters)


class Plan:
    """The values to save and the rules to run when the arguments in `slots` need gradients.

    Args:
        op: The primitive.
        slots: Which arguments the node's edges feed: positions in the op's parameters, or, for a
            variadic op, positions among its tensors.
        wanted: Which of their cotangents `pull` computes, all by default; the others are None.

    Attributes:
        saved_names: The names of the values in `Node.saved`, in order.
        keeps: Whether it saves more than shapes and axes: only then a pass frees the node.
        static: Whether it saves no array of the op: a pass leaves plain numbers in place then.
        save: From ``(*arguments, out, *residuals)`` to the saved tuple.
        pull: From the cotangent of the output and the saved values to the cotangents of the edges.
    """

    def __init__(
        self, op: Primitive, slots: tuple[int, ...], wanted: tuple[bool, ...] | None = None
    ) -> None:
        self.op, self.slots = op, slots
        self._narrow: dict[tuple[bool, ...], Plan] = {}
        wanted = wanted or (True,) * len(slots)
        rules = [op.rule(name) for name in (op.params[:1] if op.variadic else self.slot_names)]
        names = [name for rule in rules for name in rule.needs]
        if op.decomposition is not None:
            names += op.params  # higher orders run the decomposition on the same arguments
        self.saved_names = tuple(dict.fromkeys(names))
        small = {f"{name}_shape" for name in op.params} | {op.params[place] for place in op.axes}
        self.keeps = not small.issuperset(self.saved_names)
        static = op.params[1 if op.variadic else op.arrays :]
        self.static = small.union(static).issuperset(self.saved_names)
        # Which array arguments are kept: a caller's ndarray among them must be copied first.
        self.arguments_saved = tuple(name in self.saved_names for name in op.params)

        inputs = ", ".join((*op.params, "out", *op.residuals))
        kept = " ".join([f"{self._read(name)}," for name in self.saved_names])
        save = f"lambda {inputs}: ({kept})"
        self.save: Callable[..., tuple[Any, ...]] = _compiled(save)
        self.pull: Callable[..., Any]
        make = self._pull_each if op.joint is None else self._pull_jointly
        self.pull, pull = make(rules, wanted)
        self._source = f"{op.name}\n    save = {save}\n    pull = {pull}"

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The names of the arguments in `slots`."""
        op = self.op
        if op.variadic:
            return tuple([f"{op.params[0]}[{slot}]" for slot in self.slots])
        return tuple([op.params[slot] for slot in self.slots])

    def narrow(self, wanted: tuple[bool, ...]) -> Plan:
        """The same plan with a pull that computes only the wanted edges, None for the others."""
        if self.op.variadic:  # too many patterns to keep a plan for each
            return self if all(wanted) else Plan(self.op, self.slots, wanted)
        if wanted not in self._narrow:
            self._narrow[wanted] = Plan(self.op, self.slots, wanted)
        return self._narrow[wanted]

    def _read(self, name: str) -> str:
        """The expression for `name` within the parameters of `save`."""
        op = self.op
        argument = name.removesuffix("_shape")
        if name in (*op.params, *op.residuals) or argument not in op.params:
            return name
        if op.variadic and argument == op.params[0]:
            return f"(*[x.shape for x in {argument}],)"
        return f"{argument}.shape"

    def _pull_each(self, rules: list[Rule], wanted: tuple[bool, ...]) -> tuple[Any, str]:
        """A function that calls the rule of each argument, and its source."""
        prefix = "vjp_"
        while any(name.startswith(prefix) for name in self.saved_names):
            prefix += "_"
        functions = {prefix + n: r.function for n, r in zip(self.slot_names, rules, strict=True)}
        calls = [
            f"{name}({', '.join(('g', *rule.needs))})," if want else "None,"
            for name, rule, want in zip(functions, rules, wanted, strict=True)
        ]
        source = f"lambda {', '.join(('g', *self.saved_names))}: ({' '.join(calls)})"
        return eval(source, {"__name__": __name__, **functions}), source

    def _pull_jointly(self, rules: list[Rule], wanted: tuple[bool, ...]) -> tuple[Any, str]:
        """A function that calls the joint rule and picks the edges, and its source."""
        op, rule, read = self.op, rules[0].function, len(rules[0].needs)
        size = self.slots[-1] + 1 if op.variadic else len(op.joint_slots)
        places = [slot if op.variadic else op.joint_slots.index(slot) for slot in self.slots]
        chosen = {place for place, want in zip(places, wanted, strict=True) if want}
        needed = tuple([place in chosen for place in range(size)])

        def pull(g: Any, *saved: Any) -> list[Any]:
            parts = rule(g, needed, *saved[:read])  # `saved` begins with what the rule reads
            return [parts[place] for place in places]

        return pull, f"joint rule for {', '.join(self.slot_names)}"

    def __repr__(self) -> str:
        return self._source


def is_plain(saved: Any) -> bool:
    """Whether static arguments are numbers, slices and words, which cost nothing to keep."""
    if isinstance(saved, tuple):
        return all(map(is_plain, saved))
    return saved is None or saved is Ellipsis or isinstance(saved, (int, slice, str))


_compiled = functools.lru_cache(maxsize=1024)(eval)
