"""The op: a forward function on arrays, and a table of rules.

    @primitive(np.multiply)
    def multiply(a, b):
        return np.multiply(a, b)

    multiply.defvjp(a=lambda g, b: g * b, b=lambda g, a: g * a)

`primitive` turns the forward function into a plain function that takes tensors, calls the forward
on their arrays, and, when a gradient may be wanted, leaves a `Node`. What is known of the op stands
in its record, `multiply.op` (op.py); how a call goes stands in calls.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

import numpy as np

from minigrad._typing import Tensor
from minigrad.autograd.call import call_path
from minigrad.autograd.op import Primitive

__all__ = ["Op", "by_numpy", "primitive", "registry"]

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
Forward = Callable[Concatenate[Any, P], Any]

registry: dict[str, Primitive] = {}
"""The library's own ops, by name. What a program defines is known by its object alone."""

by_numpy: dict[Any, Callable[..., Any]] = {}
"""The op that answers for a NumPy function."""


class Op(Protocol, Generic[P]):
    """What `primitive` makes of a forward function: callable, and usable as a method."""

    op: Primitive
    __name__: str

    def defvjp(self, /, **rules: Callable[..., Any]) -> None: ...
    def defjoint(self, *names: str) -> Callable[[F], F]: ...
    def defdecomposition(self, decomposition: F) -> F: ...
    def defformula(self, shared: str = "", /, **formulas: str) -> None: ...
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

    Used bare (``@primitive``) or with arguments (``@primitive(np.exp, float_inputs=True)``). The
    function gets NumPy arrays (Python scalars stay scalars) and returns an array, or, with
    `residuals`, the output followed by them. Its rules are then given by ``defvjp`` on the result;
    an op without rules records nothing. An op is known by its object: one that has the name of an
    op of minigrad replaces nothing, and is called by its module's name too, ``__main__.tanh``.

    Args:
        *numpy_functions: NumPy functions that the op answers for when they meet a Tensor.
        **options: ``arrays``: how many arguments, from the first, are arrays (by default those that
            have no default; the others are handed through as they are). ``residuals``: names of
            further values that the forward returns for its rules. ``multiple_outputs``: whether
            the output is a tuple; then the rules get a tuple ``g``, with zeros for outputs that
            nothing used. ``float_inputs``: whether integers become the default float first.
            ``promote``: names of arguments that are brought to a common dtype, where there are more
            than two (ops of two arrays always do it).
            ``explain_error``: called with the arguments when the forward raised; what it returns
            becomes the message of the error, after the op's name.

    Returns:
        The op: a plain function with ``defvjp``, ``defjoint``, ``defdecomposition``,
        ``defformula``, and ``op``.

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
    call = call_path(op)
    functools.update_wrapper(call, forward)
    call.__signature__ = op.signature  # type: ignore[attr-defined]
    call.__name__ = op.name
    _name(op)
    for name in ("defvjp", "defjoint", "defdecomposition", "defformula"):
        setattr(call, name, getattr(op, name))
    call.op = op  # type: ignore[attr-defined]
    for function in numpy_functions:
        by_numpy[function] = call
    return call


def _name(op: Primitive) -> None:
    """Enter an op of the library; one of a program that has its name is told apart by its module.

    Raises:
        TypeError: The library has two ops of one name.
    """
    module = str(op.forward.__module__)
    known = registry.get(op.name)
    if not module.startswith("minigrad."):
        op.name = op.name if known is None else f"{module}.{op.name}"
    elif known is not None and known.forward.__module__ != module:  # otherwise it was reloaded
        raise TypeError(f"{op.name}: {known.forward.__module__} has an op of that name")
    else:
        registry[op.name] = op
