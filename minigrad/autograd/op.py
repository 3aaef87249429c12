"""The record of an op: its forward function, its rules, its meaning, and a plan per use.

`minigrad.autograd.primitive` makes one of a function; everything that the engine, the checks and
the drawings know of an op, they read here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from minigrad.autograd.plan import Plan, Rule, VariadicPlan

__all__ = ["REQUIRED", "Primitive"]

F = TypeVar("F", bound=Callable[..., Any])
REQUIRED = inspect.Parameter.empty

KEPT, LONGEST = 256, 64
"""How many plans of a variadic op are kept for later calls, and of how many tensors at most."""


class Primitive:
    """What is known of an op.

    Attributes:
        name: The name of the forward function.
        forward: The function on arrays.
        params: The names of its parameters; the first is the tensors of a variadic op.
        places: The position of each of them.
        positional: How many of them may be given by position.
        required: How many of them, from the first, must be looked at for one that is missing.
        arrays: How many of them, from the first, are arrays; the others are static.
        variadic: Whether it takes ``*tensors``.
        residuals: Names of what the forward returns besides the output.
        multiple_outputs: Whether the output is a tuple of arrays.
        rules: The rule of each differentiable argument.
        joint: One rule for all of them, for fused ops.
        decomposition: The same function composed of primitives, for higher orders and drawings.
        formulas: For an argument its rule, and the formula that was written for that rule.
        records: Whether it has any rule: an op without one leaves no node.

    Example:
        >>> from minigrad.ops import multiply
        >>> multiply.op.name, multiply.op.params
        ('multiply', ('a', 'b'))
        >>> multiply.op.plan((0,)).saved_names  # what is kept when only a needs a gradient
        ('b',)
    """

    def __init__(
        self,
        forward: Callable[..., Any],
        *,
        arrays: int | None = None,
        residuals: tuple[str, ...] = (),
        multiple_outputs: bool = False,
        float_inputs: bool = False,
        promote: tuple[str, ...] = (),
        explain_error: Callable[..., str | None] | None = None,
    ) -> None:
        signature = inspect.signature(forward)
        parameters = list(signature.parameters.values())
        self.name = forward.__name__.strip("_")
        self.forward = forward
        self.signature = signature
        self.params = tuple(parameter.name for parameter in parameters)
        names = ("g", "out", "needed", *self.params, *residuals)
        if not parameters or len({*names}) < len(names):
            raise TypeError(
                f"{self.name}: an op has at least one argument; arguments and residuals have names "
                f"of their own, and none is named g, out or needed"
            )
        self.variadic = parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        self.defaults = tuple(parameter.default for parameter in parameters)
        self.positional = sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in parameters)
        needed = [i for i, default in enumerate(self.defaults) if default is REQUIRED]
        self.required = needed[-1] + 1 if needed else 0
        self.places = {name: i for i, name in enumerate(self.params)}
        self.arrays = len(needed) if arrays is None else arrays
        self.residuals = residuals
        self.multiple_outputs = multiple_outputs
        self.float_inputs = float_inputs
        self.promote = tuple(self.params.index(name) for name in promote)
        self.explain_error = explain_error
        self.rules: dict[str, Rule] = {}
        self.joint: Rule | None = None
        self.joint_slots: tuple[int, ...] = ()
        self.decomposition: Callable[..., Any] | None = None
        self.formulas: dict[str, tuple[Rule, str, str]] = {}
        self.differentiable = False
        self._plans: dict[tuple[int, ...], Plan] = {}

    def plan(self, slots: tuple[int, ...]) -> Plan:
        """The plan for the case that the arguments in `slots` need gradients."""
        plan = self._plans.get(slots)
        if plan is None:
            if not self.variadic or not slots:
                plan = self._plans[slots] = Plan(self, slots)
            else:
                plan = VariadicPlan(self.plan(()), slots)
                if slots[-1] < LONGEST and len(self._plans) < KEPT:
                    self._plans[slots] = plan
        return plan

    def defvjp(self, /, **rules: Callable[..., Any]) -> None:
        """Define the vector-Jacobian product of one or more arguments.

        Args:
            **rules: For an argument, a function of the cotangent ``g`` of the output and of
                whatever it names: arguments, ``out``, residuals, ``<argument>_shape``. It must
                use operations that NumPy arrays and tensors share; then every order is right.

        Raises:
            TypeError: A name is not an argument, or a rule asks for something unknown; or the op is
                variadic: then one rule answers for all of its tensors, see `defjoint`.
        """
        if self.variadic:
            raise TypeError(f"{self.name}: a variadic op has one rule for all: use defjoint")
        for name, rule in rules.items():
            self._slot(name)
            self.rules[name] = Rule(self, rule)
        self.differentiable = True
        self._plans.clear()

    def defjoint(self, *names: str) -> Callable[[F], F]:
        """Define one rule that returns the cotangents of all `names` at once (a decorator).

        The rule is told which are needed: ``rule(g, needed, ...)`` with a bool per name; what it
        returns in the place of the others is ignored. For a variadic op, `needed` and the
        returned sequence run over its tensors.

        Args:
            *names: The differentiable arguments, in the order of the returned cotangents.

        Returns:
            The decorator.
        """

        def define(rule: F) -> F:
            self.joint = Rule(self, rule, joint=True)
            self.joint_slots = tuple(self._slot(name) for name in names)
            self.differentiable = True
            self._plans.clear()
            return rule

        return define

    def defdecomposition(self, decomposition: F) -> F:
        """Define what a fused op means: the same function, composed of primitives.

        A pass with ``create_graph=True`` differentiates the meaning, so a fused op's own rule
        may use kernels that only know arrays.

        Args:
            decomposition: A function with the op's own signature.

        Returns:
            The function, unchanged.
        """
        self.decomposition = decomposition
        self._plans.clear()
        return decomposition

    def defformula(self, shared: str = "", /, **formulas: str) -> None:
        """Write down, for readers, what the rule of an argument computes; see `viz.formulas`.

        A formula is read off a rule by itself. Write one where the rule is a kernel. It goes when
        the rule is replaced.

        Args:
            shared: Lines of Python that define what several of the formulas name.
            **formulas: For an argument, lines of Python of which the last is the formula. They name
                what a rule can name; ``g_x`` is what the rule itself gives to ``x``, and ``i`` the
                position of a variadic op's tensor. A definition with a comment is explained by the
                comment; any other comment is a note.

        Raises:
            TypeError: An argument has no rule.

        Example:
            >>> from minigrad import viz
            >>> from minigrad.ops import linear
            >>> linear.op.formulas["weight"][-1], viz.formulas(linear)["weight"].text
            ('g.mT @ x', 'ḡᵀ x')
        """
        joint = {self.params[slot]: self.joint for slot in self.joint_slots}
        for name, text in formulas.items():
            rule = self.rules.get(name) or joint.get(name)
            if rule is None:
                known = ", ".join({**self.rules, **joint}) or "none"
                raise TypeError(
                    f"{self.name}: a formula stands for a rule, and {name!r} has none (arguments "
                    f"with a rule: {known}); define the rule first"
                )
            self.formulas[name] = (rule, shared, text)

    def _slot(self, name: str) -> int:
        """The position of an argument that can have a rule."""
        if name not in self.params:
            raise TypeError(f"{self.name} has no argument {name!r}; it has {self.params}")
        slot = self.params.index(name)
        if slot >= self.arrays and not self.variadic:
            raise TypeError(
                f"{self.name}: {name!r} has a default, so it is static and can have no rule; "
                f"write @primitive(arrays={slot + 1})"
            )
        return slot

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """All arguments in the order of `params`; a variadic op's tensors as one list."""
        values = [list(args)] if self.variadic else list(args)
        given = 1 if self.variadic else len(args)
        values += self.defaults[given:]
        for name, value in kwargs.items():
            place = self.places.get(name, -1)
            if place < given:
                self._refuse(args, kwargs)
            values[place] = value
        missing = given < self.required and any(
            v is REQUIRED for v in values[given : self.required]
        )
        if missing or given > self.positional:
            self._refuse(args, kwargs)
        return values

    def _refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        """Say why a call does not fit the signature."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}; it takes {', '.join(self.params)}") from None
        raise TypeError(f"{self.name}: it takes {', '.join(self.params)}")

    def call_with(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Call the forward or the meaning with the values of `params`."""
        if self.variadic:
            return function(*values[0], **dict(zip(self.params[1:], values[1:], strict=True)))
        n = self.positional
        if n == len(values):
            return function(*values)
        return function(*values[:n], **dict(zip(self.params[n:], values[n:], strict=True)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Primitive:
        return self  # a copy would be another op

    def __repr__(self) -> str:
        return f"Primitive({self.name}{self.signature})"
