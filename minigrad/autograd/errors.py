"""The messages of ops' errors: the op, what came, what was expected, and in which module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.mode import located
from minigrad.support.checks import common_shape

if TYPE_CHECKING:
    from minigrad.autograd.primitives import Primitive

__all__ = [
    "ArgumentError", "explained", "refuse_dtypes", "refuse_shapes", "type_error", "value_error",
    "without_underflow",
]  # fmt: skip


class ArgumentError(ValueError):
    """Arguments that do not fit, in words of the op's own: nothing is added but where it was."""


def explained(op: Primitive, values: tuple[Any, ...], error: Exception) -> Exception:
    """The error of a forward function, with the op, what came, and the module that called it.

    An error that is not about the arguments, such as a warning made an error, stays unchanged.
    """
    expected = (IndexError, OverflowError, TypeError, ValueError)
    if not isinstance(error, expected if op.explain_error is None else (*expected, AttributeError)):
        error.add_note(located(f"in the forward of {op.name}"))
        return error
    message = str(error) if isinstance(error, ArgumentError) else None
    if message is None and op.explain_error is not None:
        message = op.explain_error(*values)
    if message is None:
        message = str(error).strip()
        if not isinstance(error, IndexError):
            message = _shapes_that_clash(values) or message
            message += _what_came(values) if " got " not in message else ""
    if not message.startswith(f"{op.name}:"):
        message = f"{op.name}: {message}"
    kinds = (IndexError, ValueError, np.linalg.LinAlgError)
    kind = type(error) if type(error) in kinds else ValueError
    if isinstance(error, TypeError):  # NumPy has its own, such as that of a ufunc without a loop
        kind = TypeError
    return kind(located(message))


def without_underflow(op: Primitive, values: tuple[Any, ...], error: Exception) -> Any:
    """Run a forward function again if all that failed is ``np.seterr(under="raise")``.

    A number too small for its dtype is 0, on purpose: `softmax` and `sigmoid` have many of them.

    Raises:
        Exception: It was another error; see `explained`.
    """
    if isinstance(error, FloatingPointError) and "underflow" in str(error):
        with np.errstate(under="ignore"):
            return op.call_with(op.forward, list(values))
    raise explained(op, values, error) from None


def _what_came(values: tuple[Any, ...]) -> str:
    """The dtypes and shapes of the arrays among the arguments of an op, for its error."""
    flat = [part for v in values for part in (v if isinstance(v, tuple) else (v,))]
    shapes = [f"{v.dtype} {v.shape}" for v in flat if isinstance(v, np.ndarray)]
    return f"; got {', '.join(shapes)}" if shapes else ""


def _shapes_that_clash(values: tuple[Any, ...]) -> str | None:
    """An error's message if two arrays do not broadcast together."""
    shapes = [value.shape for value in values if isinstance(value, np.ndarray)]
    if len(values) == len(shapes) == 2 and common_shape(*shapes) is None:
        return f"shapes {shapes[0]} and {shapes[1]} do not broadcast together"
    return None


def type_error(message: str) -> TypeError:
    """A TypeError whose message names the module call: see `located`."""
    return TypeError(located(message))


def value_error(message: str) -> ValueError:
    """A ValueError whose message names the module call: see `located`."""
    return ValueError(located(message))


def refuse_shapes(wrong: Any, owner: str, wanted: str, *came: Any) -> None:
    """Raise a ValueError that says which shapes are expected and which came, if they are wrong."""
    if wrong:
        shapes = " and ".join(str(tuple(np.shape(x))) for x in came)
        raise value_error(f"{owner}: {wanted} expected, got {shapes}")


def refuse_dtypes(wrong: Any, owner: str, wanted: str, *came: Any) -> None:
    """Raise a TypeError that says which dtypes are expected and which came, if they are wrong."""
    if wrong:
        dtypes = " and ".join(np.dtype(x.dtype).name for x in came)
        raise type_error(f"{owner}: {wanted} expected, got {dtypes}")
