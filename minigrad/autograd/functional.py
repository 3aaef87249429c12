"""Function transforms: from a function to the function that computes its gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad.autograd import gradients
from minigrad.autograd.graph import alias
from minigrad.autograd.mode import enable_grad
from minigrad.autograd.node import Variable

__all__ = ["grad"]


def grad(function: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that computes the gradient of a scalar function.

    Transforms nest: ``grad(grad(f))`` is the second derivative.

    Args:
        function: Takes tensors, returns a tensor with one element.
        argnums: Which positional arguments to differentiate.

    Returns:
        A function of the same arguments. It returns a tensor, or a tuple if `argnums` is one.

    Raises:
        RuntimeError: The function does not return one number, or does not use an argument.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import grad
        >>> second = grad(grad(lambda x: x**3))
        >>> second(minigrad.tensor(2.0))
        Tensor(12., dtype=float32, op=multiply)
    """
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        with enable_grad():
            for i in places:
                values[i] = _independent(values[i])
            output = function(*values, **kwargs)
            found = gradients.grad(output, [values[i] for i in places], create_graph=True)
        return found[0] if isinstance(argnums, int) else found

    return gradient


def _independent(value: Any) -> Any:
    """The argument as a variable of its own, still tied to the history that it may have."""
    if isinstance(value, Variable) and value._node is not None:
        return alias(value)
    return Variable.result_class(value, requires_grad=True)  # type: ignore[call-arg]
