"""How an op is defined: a forward function on arrays, and a table of rules.

    @primitive(numpy=np.multiply)
    def multiply(a, b):
        return np.multiply(a, b)

    multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)

`primitive` makes an `OpFunction` of it: a plain function that takes tensors (call.py). The record
of the op, all that is known of it, is the `Primitive` ``multiply.op``.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, overload

from minigrad.autograd.call import call_path
from minigrad.autograd.node import Variable
from minigrad.autograd.plan import Plan, Rule
from minigrad.autograd.typing import ExplainError, F, Forward, OpFunction, P
from minigrad.support.checks import module_of
from minigrad.support.memory import keep_by_default

__all__ = ["REQUIRED", "OpFunction", "Primitive", "by_numpy", "of_numpy", "primitive", "registry"]

REQUIRED = inspect.Parameter.empty
KEPT, LONGEST = 256, 64
"""The most plans that a variadic op keeps for later calls, and the most tensors of such a plan."""

registry: dict[str, Primitive] = {}
"""The library's own ops, by name. What a program defines is known by its object alone."""

by_numpy: dict[Any, Callable[..., Any]] = {}
"""The op that answers for a NumPy function."""


SPELLINGS = (
    ("input", "x"), ("input", "a"), ("A", "x"), ("dim", "axis"), ("dims", "axes"),
    ("keepdim", "keepdims"), ("other", "b"), ("other", "y"),
)  # fmt: skip
"""PyTorch's names of arguments, which a call by keywords may use, and those of minigrad's ops."""


@dataclass(eq=False, kw_only=True)
class Options:
    """The options of an op, as `primitive` takes them and its record has them.

    Attributes:
        arrays: How many arguments, from the first, are arrays; the others are static. By default
            those that have no default value.
        residuals: Names of further values that the forward returns for its rules.
        multiple_outputs: Whether the output is a tuple. Then the rules get a tuple ``g``, with
            zeros for outputs that nothing used.
        float_inputs: Whether integers become the default float first. NumPy makes float64 of them.
        promote: Names of arguments that are brought to a common dtype; in the record their places.
            An op whose only arguments are two arrays always does it.
        axes: Names of static arguments that are axes; in the record their places. A list of axes
            becomes a tuple, and a tensor that has axes itself is refused.
        random_keys: Names of static arguments that are keys of random numbers, which drawings
            leave out, and `vmap` may draw for each sample. A rule passes them to an op.
        side_effects: Whether the forward or a rule does more than compute, such as to exchange
            messages with other ranks. Tools that measure an op do not run such an op again.
        holds_back: Name of a static argument, a row of the differentiable ones that gets no
            gradient by definition, or None.
        explain_error: Called with the arguments when the forward raised. What it returns becomes
            the message of the error, after the op's name.
        compares: Whether it compares two arrays, or their truth: integers stay what they are.
        casts: Whether the last parameter of a function of one array is a keyword ``dtype``: the
            array is cast to it first, and the result at the end. The function never gets it.
        float16_in: For a function of floats, of one array or two, the dtype in which float16 is
            computed, forward and backward; the result is rounded once.
        computed_by: The function that computes it, if the decorated one only declares its name, its
            arguments and its docstring.
    """

    arrays: Any = None
    residuals: tuple[str, ...] = ()
    multiple_outputs: bool = False
    float_inputs: bool = False
    promote: tuple[Any, ...] = ()
    axes: tuple[Any, ...] = ()
    random_keys: tuple[str, ...] = ()
    side_effects: bool = False
    holds_back: str = ""
    explain_error: ExplainError | None = None
    compares: bool = False
    casts: bool = False
    float16_in: Any = None
    computed_by: Callable[..., Any] | None = None


class Primitive(Options):
    """The record of an op: its forward function, its rules, its decomposition.

    Args:
        declared: The function on arrays, or, with ``computed_by``, one that only declares it.
            `primitive` explains the options.

    Attributes:
        forward: The function on arrays.
        name: The name of the declared function.
        module: The name of its module.
        signature: Its signature.
        params: The names of its parameters; the first is the tensors of a variadic op.
        places: The position of each parameter.
        defaults: Their defaults, `REQUIRED` for those that have none.
        positional: How many of them may be given by position.
        required: Index just past the last parameter without a default.
        variadic: Whether it takes ``*tensors``.
        rules: The rule of each differentiable argument.
        joint: One rule for all of them, for fused ops.
        decomposition: The same function composed of primitives, for higher orders and drawings.
        formulas: For an argument its rule, and the formula that was written for that rule.
        differentiable: Whether it has any rule: an op without one leaves no node.

    Example:
        >>> from minigrad.ops import multiply
        >>> multiply.op.name, multiply.op.params
        ('multiply', ('a', 'b'))
        >>> multiply.op.plan((0,)).saved_names  # what is kept when only a needs a gradient
        ('b',)
    """

    def __init__(self, declared: Callable[..., Any], **options: Any) -> None:
        super().__init__(**options)
        self.forward = self.computed_by or declared
        self.name, self.module = _name_of(declared).strip("_"), module_of(declared)
        self.signature = _signature_of(declared, self.name)
        parameters = list(self.signature.parameters.values())[: -1 if self.casts else None]
        self.params = tuple(parameter.name for parameter in parameters)
        names = ("g", "out", "needed", *self.params, *self.residuals)
        if not parameters or len({*names}) < len(names):
            raise TypeError(
                f"{self.name}: an op has at least one argument; arguments and residuals have names "
                f"of their own, and none is named g, out or needed"
            )
        for name in (*self.promote, *self.axes, *self.random_keys):
            if name not in self.params:
                raise TypeError(f"{self.name} has no argument {name!r}; it has {self.params}")
        self.variadic = parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        self.defaults = tuple(parameter.default for parameter in parameters)
        self.positional = sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in parameters)
        needed = [i for i, default in enumerate(self.defaults) if default is REQUIRED]
        self.required = needed[-1] + 1 if needed else 0
        self.special = bool(  # it has no leaner path: see call.py
            self.variadic or self.residuals or self.multiple_outputs or self.promote
            or self.positional < len(parameters)
        )  # fmt: skip
        self.places = {name: i for i, name in enumerate(self.params)}
        self.spelling: dict[str, str] = {}  # PyTorch's names of its parameters
        for theirs, own in SPELLINGS if self.module.startswith("minigrad.") else ():
            if own in self.params and theirs not in self.places:
                self.places[theirs] = self.places[own]
                self.spelling.setdefault(own, theirs)
        self.arrays = len(needed) if self.arrays is None else self.arrays
        self.promote = tuple(self.places[name] for name in self.promote)
        self.axes = tuple(self.places[name] for name in self.axes)
        self.rules: dict[str, Rule] = {}
        self.joint: Rule | None = None
        self.joint_slots: tuple[int, ...] = ()
        self.decomposition: Callable[..., Any] | None = None
        self.formulas: dict[str, tuple[Rule | None, str, str]] = {}
        self.differentiable = False
        self._plans: dict[tuple[int, ...], Plan] = {}

    def plan(self, slots: tuple[int, ...]) -> Plan:
        """Return the plan for the case that the arguments in `slots` need gradients."""
        plan = self._plans.get(slots)
        if plan is None:
            keep_by_default()
            plan = Plan(self, slots)
            if slots[-1] < LONGEST and len(self._plans) < KEPT:
                self._plans[slots] = plan
        return plan

    @property
    def ruled(self) -> tuple[str, ...]:
        """The arguments that have a rule."""
        slots = {*self.joint_slots, *map(self.params.index, self.rules)}
        return tuple([self.params[slot] for slot in sorted(slots)])

    def rule(self, name: str) -> Rule:
        """Return the rule of an argument, its own or the joint one; a TypeError if it has none."""
        rule = self.rules.get(name)
        if self.joint is not None:
            rule = self.joint if self.places.get(name) in self.joint_slots else None
        if rule is None:
            raise TypeError(
                f"{self.name}: no derivative with respect to {name!r}: define its rule, or "
                f"pass {name}.detach()"
            )
        return rule

    def defvjp(self, /, **rules: Callable[..., Any]) -> None:
        """Define the vector-Jacobian product of one or more arguments.

        Args:
            **rules: For an argument, a function of the cotangent ``g`` of the output and of
                whatever it names: arguments, ``out``, residuals, ``<argument>_shape``. It uses
                operations that NumPy arrays and tensors share; then every order is right.

        Raises:
            TypeError: A name is unknown, or the op is variadic and needs `defjoint`.
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

        The rule, ``rule(g, needed, ...)``, is told by a bool per name which are needed. For a
        variadic op, `needed` and the returned sequence run over its tensors.

        Args:
            *names: The differentiable arguments, in the order of the returned cotangents.
        """

        def define(rule: F) -> F:
            self.joint = Rule(self, rule, joint=True)
            self.joint_slots = tuple(self._slot(name) for name in names)
            self.differentiable = True
            self._plans.clear()
            return rule

        return define

    def defdecomposition(self, decomposition: F) -> F:
        """Define a fused op again, with its signature, composed of primitives (a decorator).

        A pass with ``create_graph=True`` differentiates it, so the op's rule may be a kernel.
        """
        self.decomposition = decomposition
        self._plans.clear()
        return decomposition

    def defformula(self, shared: str = "", /, **formulas: str) -> None:
        """Write down, for readers, what a kernel computes; see `viz.formulas`.

        Args:
            shared: Lines of Python that define what several of the formulas name.
            **formulas: For an argument, ``out`` or a residual, lines of Python of which the last is
                the formula. They name what a rule can name, ``g_x`` for what the rule gives to
                ``x``, and ``i`` for the place of a variadic op's tensor. Comments are notes.

        Raises:
            TypeError: An argument has no rule.

        Example:
            >>> from minigrad import viz
            >>> from minigrad.ops import linear
            >>> linear.op.formulas["weight"][-1], viz.formulas(linear)["weight"].text
            ('g.mT @ x', 'ḡᵀ x')
        """
        for name, text in formulas.items():
            forward = name == "out" or name in self.residuals
            self.formulas[name] = (None if forward else self.rule(name), shared, text)

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

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """Return all arguments in the order of `params`, or None; variadic tensors as a list."""
        values: list[Any] = [list(args)] if self.variadic else list(args)
        given = 1 if self.variadic else len(args)
        values += self.defaults[given:]
        for name, value in kwargs.items():
            place = self.places.get(name, -1)
            if place < given:
                return None
            values[place] = value
        if len(kwargs) > 1 and len({self.places[name] for name in kwargs}) < len(kwargs):
            return None  # one argument under two names
        for place in self.axes:
            if values[place].__class__ is list:
                values[place] = tuple(values[place])
            elif isinstance(values[place], Variable) and values[place].ndim:
                return None  # no axis: perhaps another library's call
        missing = given < self.required and any(v is REQUIRED for v in values[given:])
        return None if missing or given > self.positional else values

    def call_with(self, function: Any, values: Sequence[Any]) -> Any:
        """Call the forward or the decomposition with the values of `params`."""
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


@overload
def primitive(forward: Forward[P], /) -> OpFunction[P]: ...
@overload
def primitive(*, numpy: Any = ..., **options: Any) -> Callable[[Forward[P]], OpFunction[P]]: ...
def primitive(forward: Any = None, /, *, numpy: Any = (), **options: Any) -> Any:
    """Make a differentiable op of a function on arrays.

    Used bare (``@primitive``) or with options (``@primitive(numpy=np.exp, float_inputs=True)``).
    The function gets NumPy arrays (Python scalars stay scalars) and returns an array, or, with
    `residuals`, the output followed by them. An op without rules records nothing. An op named as
    one of minigrad does not replace it; its own name gets the module's too, ``__main__.tanh``.

    Args:
        forward: The function, if there are no options: any callable with a signature.
        numpy: The NumPy function that the op answers for when it meets a Tensor, or a tuple of
            them.
        **options: See `Options`.

    Returns:
        The op: a plain function with ``op``, its record, and the methods that give it rules:
        ``defvjp``, ``defjoint``, ``defdecomposition``, ``defformula``.

    Raises:
        TypeError: It is not one function with named arguments.

    Example:
        >>> from minigrad import Tensor
        >>> from minigrad.autograd import primitive
        >>> @primitive
        ... def cube(x):
        ...     return x**3
        >>> cube.defvjp(x=lambda g, x: 3 * g * x**2)
        >>> x = Tensor(2.0, requires_grad=True)
        >>> cube(x).backward()
        >>> x.grad
        tensor(12.)
    """
    functions = numpy if isinstance(numpy, tuple) else (numpy,)

    def make(forward: Callable[..., Any]) -> Any:
        op = Primitive(forward, **options)
        function = isinstance(forward, FunctionType | MethodType)
        own = functools.WRAPPER_UPDATES if function else ()  # not the fields of a callable object
        call: Any = functools.update_wrapper(call_path(op), forward, updated=own)
        call.__name__, call.op = op.name, op
        call.__signature__, call.__doc__ = _shown(op, forward.__doc__)
        call.defvjp, call.defjoint = op.defvjp, op.defjoint
        call.defdecomposition, call.defformula = op.defdecomposition, op.defformula
        _register(op)
        by_numpy.update(dict.fromkeys(functions, call))
        return call

    return make if forward is None else make(forward)


def of_numpy(*functions: Any, **options: Any) -> Callable[[Forward[P]], OpFunction[P]]:
    """Make an op of a function of NumPy, which computes it (a decorator).

    The function below the decorator has no body: it declares the op's name, its arguments, in
    NumPy's order, and its docstring.

    Args:
        *functions: The function of NumPy, and others for which the op answers too.
        **options: See `Options`.

    Example:
        >>> from minigrad.ops import sin
        >>> sin.op.forward
        <ufunc 'sin'>
    """
    return primitive(numpy=functions, computed_by=functions[0], **options)


def _name_of(forward: Any) -> str:
    """The name of a callable: of the function of a partial one, of the class of an object."""
    while isinstance(forward, functools.partial):
        forward = forward.func
    return getattr(forward, "__name__", None) or type(forward).__name__


def _signature_of(forward: Any, name: str) -> inspect.Signature:
    """The signature of a forward function; a TypeError if it cannot be one."""
    signature = inspect.signature(forward)
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD or (
            place and parameter.kind is parameter.VAR_POSITIONAL
        ):
            raise TypeError(
                f"{name}: the arguments of an op have names: {parameter} is possible only as the "
                f"first one, *tensors"
            )
    return signature


_NAMES_IN_DOC = re.compile(r"``?[^`]+``?|^ +\w+(?=: )", re.MULTILINE)
_NAME = re.compile(r"(?<![\w.])[a-z]+(?![\w(])")


def _shown(op: Primitive, text: str | None) -> tuple[inspect.Signature, str | None]:
    """The signature and the docstring of an op, in which its tensors have PyTorch's names.

    An op along an axis keeps NumPy's: for it there is a function with PyTorch's arguments.
    """
    own, new = op.signature, op.spelling
    if not new or new.keys() & {"axis", "axes"}:
        return own, text

    def respelled(found: re.Match[str]) -> str:
        return _NAME.sub(lambda name: new.get(name[0], name[0]), found[0])

    parameters = [p.replace(name=new.get(p.name, p.name)) for p in own.parameters.values()]
    return own.replace(parameters=parameters), text and _NAMES_IN_DOC.sub(respelled, text)


def _register(op: Primitive) -> None:
    """Register an op of the library; another of that name is told apart by its module."""
    known = registry.get(op.name)
    if not op.module.startswith("minigrad."):
        op.name = op.name if known is None else f"{op.module or '__main__'}.{op.name}"
    elif known is not None and known.module != op.module:  # otherwise it was reloaded
        raise TypeError(f"{op.name}: {known.module} has an op of that name")
    else:
        registry[op.name] = op
