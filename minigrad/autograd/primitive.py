"""The op: a forward function on arrays, and a table of rules.

    @primitive(np.multiply)
    def multiply(a, b):
        return np.multiply(a, b)

    multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)

`primitive` turns the forward function into a plain function that takes tensors, calls the forward
on their arrays, and, when a gradient may be wanted, leaves a `Node`. There are three call paths
that do the same: for one argument, for two, and for any signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NoReturn,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

import numpy as np

from minigrad.autograd.dtypes import operand, promote, to_array
from minigrad.autograd.errors import explained
from minigrad.autograd.mode import Scope, state
from minigrad.autograd.node import Node, Variable, clock
from minigrad.autograd.plan import Plan, Rule

if TYPE_CHECKING:  # for type checkers only: nothing below _tensor.py imports it
    from minigrad._tensor import Tensor

__all__ = ["Op", "Primitive", "by_numpy", "primitive", "registry", "wrap"]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
Forward = Callable[Concatenate[Any, P], Any]
_new = object.__new__
_ndarray = np.ndarray
_REQUIRED = inspect.Parameter.empty
_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)

registry: dict[str, Primitive] = {}
"""Every primitive that has been defined, by name."""

by_numpy: dict[Any, Callable[..., Any]] = {}
"""The op that answers for a NumPy function."""


class Primitive:
    """The record of an op: its forward function, its rules, and one plan per use.

    Attributes:
        name: The name of the forward function.
        forward: The function on arrays.
        params: The names of its parameters; the first is the tensors of a variadic op.
        arrays: How many of them, from the first, are arrays; the others are static.
        variadic: Whether it takes ``*tensors``.
        residuals: Names of what the forward returns besides the output.
        several: Whether the output is a tuple of arrays.
        rules: The rule of each differentiable argument.
        joint: One rule for all of them, for fused ops.
        meaning: The same function composed of primitives, for higher orders and drawings.
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
        several: bool = False,
        floating: bool = False,
        promotes: tuple[str, ...] = (),
        complain: Callable[..., str | None] | None = None,
    ) -> None:
        signature = inspect.signature(forward)
        parameters = list(signature.parameters.values())
        self.name = forward.__name__.strip("_")
        self.forward = forward
        self.signature = signature
        self.params = tuple(parameter.name for parameter in parameters)
        if not parameters or {"g", "out", "needed"} & set(self.params):
            raise TypeError(
                f"{self.name}: an op has at least one argument, and none named g, out or needed"
            )
        self.variadic = parameters[0].kind is inspect.Parameter.VAR_POSITIONAL
        self.defaults = tuple(parameter.default for parameter in parameters)
        self.positional = sum(p.kind is not inspect.Parameter.KEYWORD_ONLY for p in parameters)
        required = sum(default is inspect.Parameter.empty for default in self.defaults)
        self.arrays = required if arrays is None else arrays
        self.residuals = residuals
        self.several = several
        self.floating = floating
        self.promotes = tuple(self.params.index(name) for name in promotes)
        self.complain = complain
        self.rules: dict[str, Rule] = {}
        self.joint: Rule | None = None
        self.joint_slots: tuple[int, ...] = ()
        self.meaning: Callable[..., Any] | None = None
        self.records = False
        self._plans: dict[tuple[int, ...], Plan] = {}

    def plan(self, slots: tuple[int, ...]) -> Plan:
        """The plan for the case that the arguments in `slots` need gradients."""
        plan = self._plans.get(slots)
        if plan is None:
            plan = self._plans[slots] = Plan(self, slots)
        return plan

    def defvjp(self, **rules: Callable[..., Any]) -> None:
        """Define the vector-Jacobian product of one or more arguments.

        Args:
            **rules: For an argument, a function of the cotangent ``g`` of the output and of
                whatever it names: arguments, ``out``, residuals, ``<argument>_shape``. It must
                use operations that NumPy arrays and tensors share; then every order is right.

        Raises:
            TypeError: A name is not an argument, or a rule asks for something unknown.
        """
        for name, rule in rules.items():
            self._slot(name)
            self.rules[name] = Rule(self, rule)
        self.records = True
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
            self.records = True
            self._plans.clear()
            return rule

        return define

    def defmeaning(self, meaning: F) -> F:
        """Define what a fused op means: the same function, composed of primitives.

        A pass with ``create_graph=True`` differentiates the meaning, so a fused op's own rule
        may use kernels that only know arrays.

        Args:
            meaning: A function with the op's own signature.

        Returns:
            The function, unchanged.
        """
        self.meaning = meaning
        self._plans.clear()
        return meaning

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
        values += self.defaults[len(values) :]
        given = 1 if self.variadic else len(args)
        for name, value in kwargs.items():
            if name not in self.params[given:]:
                self._refuse(args, kwargs)
            values[self.params.index(name)] = value
        if given > self.positional or any(value is _REQUIRED for value in values):
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

    def __repr__(self) -> str:
        return f"Primitive({self.name}{self.signature})"


class Op(Protocol, Generic[P]):
    """What `primitive` makes of a forward function: callable, and usable as a method."""

    op: Primitive
    __name__: str

    def defvjp(self, **rules: Callable[..., Any]) -> None: ...
    def defjoint(self, *names: str) -> Callable[[F], F]: ...
    def defmeaning(self, meaning: F) -> F: ...
    def __call__(self, first: Any, /, *args: P.args, **kwargs: P.kwargs) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Op[P]: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> Callable[P, Tensor]: ...


@overload
def primitive(
    first: np.ufunc, /, *numpy_functions: Any, **options: Any
) -> Callable[[Forward[P]], Op[P]]: ...
@overload
def primitive(forward: Forward[P], /) -> Op[P]: ...
@overload
def primitive(*numpy_functions: Any, **options: Any) -> Callable[[Forward[P]], Op[P]]: ...
def primitive(*numpy_functions: Any, **options: Any) -> Any:
    """Make a differentiable op of a function on arrays.

    Used bare (``@primitive``) or with arguments (``@primitive(np.exp, floating=True)``). The
    function gets NumPy arrays (Python scalars stay scalars) and returns an array, or, with
    `residuals`, the output followed by them. Its rules are then given by ``defvjp`` on the result;
    an op without rules records nothing.

    Args:
        *numpy_functions: NumPy functions that the op answers for when they meet a Tensor.
        **options: ``arrays``: how many arguments, from the first, are arrays (by default those that
            have no default; the others are handed through as they are). ``residuals``: names of
            further values that the forward returns for its rules. ``several``: whether the output
            is a tuple; then the rules get a tuple ``g``, with zeros for outputs that nothing used.
            ``floating``: whether integers
            become the default float first. ``promotes``: names of arguments that are brought to a
            common dtype, where there are more than two (ops of two arrays always do it).
            ``complain``: called with the arguments when the forward raised; what it returns
            becomes the message of the error, after the op's name.

    Returns:
        The op: a plain function with ``defvjp``, ``defjoint``, ``defmeaning``, and ``op``.

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
        Tensor(12., dtype=float32)
    """
    if len(numpy_functions) == 1 and not options and type(numpy_functions[0]) is FunctionType:
        return _make(numpy_functions[0], (), {})
    return lambda forward: _make(forward, numpy_functions, options)


def _make(
    forward: Callable[..., Any], numpy_functions: Sequence[Any], options: dict[str, Any]
) -> Any:
    op = Primitive(forward, **options)
    plain = not (op.variadic or op.residuals or op.several) and op.positional == len(op.params)
    if plain and op.arrays == 1:
        call = _one_array(op)
    elif plain and op.arrays == 2 == len(op.params) and not op.promotes:
        call = _two_arrays(op)
    else:
        call = _any_signature(op)
    functools.update_wrapper(call, forward)
    call.__signature__ = op.signature  # type: ignore[attr-defined]
    call.__name__ = op.name
    for name in ("defvjp", "defjoint", "defmeaning"):
        setattr(call, name, getattr(op, name))
    call.op = op  # type: ignore[attr-defined]
    registry[op.name] = op
    for function in numpy_functions:
        by_numpy[function] = call
    return call


def _one_array(op: Primitive) -> Callable[..., Any]:
    forward, floating, defaults = op.forward, op.floating, op.defaults[1:]
    needed, most = sum(default is _REQUIRED for default in defaults), len(defaults)

    def call(x: Any, *static: Any, **keywords: Any) -> Any:
        if isinstance(x, Variable):
            array, source = x._data, x._node
        else:
            array, source = to_array(x, name=op.name), None
        given = len(static)
        if keywords or not needed <= given <= most:
            static = tuple(op.bind((x, *static), keywords)[1:])
        elif given < most:
            static += defaults[given:]
        for value in static:
            if isinstance(value, Variable):
                static = tuple([_static(op, value) for value in static])
                break
        if floating and array.dtype.kind != "f":
            (array,) = promote((array,), floating)
        try:
            out = forward(array, *static)
        except Exception as error:
            raise explained(op, (array, *static), error) from None
        recording, scope = state.get()
        if source is None or not recording or not op.records:
            return wrap(out)
        plan = op.plan(_FIRST)
        return record(plan, (source,), plan.save(array, *static, out), out, scope)

    return call


def _two_arrays(op: Primitive) -> Callable[..., Any]:
    forward, floating = op.forward, op.floating

    def call(a: Any, b: Any) -> Any:
        if isinstance(a, Variable):
            x, p = a._data, a._node
        else:
            x, p = operand(a, op.name), None
        if isinstance(b, Variable):
            y, q = b._data, b._node
        else:
            y, q = operand(b, op.name), None
        try:
            if (
                x.__class__ is not _ndarray
                or y.__class__ is not _ndarray
                or x.dtype is not y.dtype
                or (floating and x.dtype.kind != "f")
            ):
                x, y = promote((x, y), floating)
            out = forward(x, y)
        except Exception as error:
            raise explained(op, (x, y), error) from None
        recording, scope = state.get()
        sources: tuple[Any, ...]
        if (p is None and q is None) or not recording or not op.records:
            return wrap(out)
        if q is None:
            plan, sources = op.plan(_FIRST), (p,)
            if plan.arguments_saved[1] and y is b and y.__class__ is _ndarray:
                y = y.copy()  # the caller may write to it before the backward pass
        elif p is None:
            plan, sources = op.plan(_SECOND), (q,)
            if plan.arguments_saved[0] and x is a and x.__class__ is _ndarray:
                x = x.copy()
        else:
            plan, sources = op.plan(_BOTH), (p, q)
        return record(plan, sources, plan.save(x, y, out), out, scope)

    return call


def _any_signature(op: Primitive) -> Callable[..., Any]:
    forward, residuals = op.forward, op.residuals

    def call(*args: Any, **kwargs: Any) -> Any:
        values = op.bind(args, kwargs)
        tensors = values[0] if op.variadic else values
        slots, sources = _take_arrays(op, tensors)
        try:
            if op.variadic:
                values[0] = tuple(promote(tensors, op.floating))
            elif op.promotes:
                _promote_some(op, values)
            out = op.call_with(forward, values)
        except Exception as error:
            raise explained(op, tuple(values), error) from None
        extra: tuple[Any, ...] = ()
        if residuals:
            out, *extra = out
        recording, scope = state.get()
        if not sources or not recording:
            return tuple([wrap(part) for part in out]) if op.several else wrap(out)
        plan = op.plan(slots)
        saved = plan.save(*values, out, *extra)
        make = record_several if op.several else record
        return make(plan, sources, saved, out, scope)

    return call


def _static(op: Primitive, value: Any) -> Any:
    """A static argument: numbers may come as tensors, but not with a history."""
    if not isinstance(value, Variable):
        return value
    if value._node is not None and state.get().recording:
        raise TypeError(
            f"{op.name}: a static argument has no derivative, and the tensor given for it requires "
            f"a gradient; pass .detach()"
        )
    return value._data


def _take_arrays(op: Primitive, values: list[Any]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Put arrays in the place of tensors, and tell which of them have a history.

    Returns:
        The slots of the arguments that need gradients, and their nodes.
    """
    slots, sources = [], []
    for i, value in enumerate(values):
        if isinstance(value, Variable):
            values[i] = value._data
            if value._node is None:
                continue
            if op.records:  # the plan refuses an argument without a rule
                slots.append(i)
                sources.append(value._node)
        elif value is None:
            continue
        elif i in op.promotes and not isinstance(value, np.ndarray):
            values[i] = operand(value, op.name)
        elif op.variadic or i < op.arrays:
            values[i] = to_array(value, name=op.name)  # a copy: the caller may write to it
    return tuple(slots), tuple(sources)


def _promote_some(op: Primitive, values: list[Any]) -> None:
    present = [i for i in op.promotes if values[i] is not None]
    common = promote([values[i] for i in present], op.floating)
    for i, value in zip(present, common, strict=True):
        values[i] = value


def wrap(out: Any) -> Any:
    """A result that has no history."""
    tensor = _new(Variable.result_class)
    tensor._data = out if out.__class__ is _ndarray else np.asarray(out)
    return tensor


def record(
    plan: Plan, sources: Any, saved: tuple[Any, ...], out: Any, scope: Scope | None
) -> Any:
    """A result with a new node behind it."""
    if out.__class__ is not _ndarray:
        out = np.asarray(out)
    node = _new(Node)
    node.plan = plan
    node.edges = sources
    node.saved = saved
    node.shape = out.shape
    node.dtype = out.dtype
    node.stamp = next(clock)
    node.scope = scope
    tensor = _new(Variable.result_class)
    tensor._data = out
    tensor._node = node
    return tensor


@primitive(arrays=1)
def pick(outputs: Any, index: int) -> Any:
    """One output of an op that has several: the node between it and theirs."""
    return outputs[index]


def record_several(
    plan: Plan, sources: Any, saved: tuple[Any, ...], outputs: Any, scope: Scope | None
) -> tuple[Any, ...]:
    """The outputs of an op that has several: one node for the bundle, and a pick for each."""
    arrays = [np.asarray(output) for output in outputs]
    bundle: Any = record(plan, sources, saved, arrays[0], scope)._node
    bundle.shape = tuple(array.shape for array in arrays)
    bundle.dtype = tuple(array.dtype for array in arrays)
    return tuple(picked(bundle, index, array) for index, array in enumerate(arrays))


def picked(bundle: Node, index: int, array: np.ndarray) -> Any:
    """The tensor of one output of a bundle."""
    return record(pick.op.plan(_FIRST), (bundle,), (index,), array, bundle.scope)
