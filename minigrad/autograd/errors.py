"""What the error of an op says: the op, what came, what was expected, and in which module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.mode import located
from minigrad.support.checks import shapes_that_clash, what_came

if TYPE_CHECKING:
    from minigrad.autograd.primitive import Primitive

__all__ = ["ArgumentError", "explained"]


class ArgumentError(ValueError):
    """Arguments that do not fit, in words of the op's own: nothing is added but where it was."""


def explained(op: Primitive, values: tuple[Any, ...], error: Exception) -> Exception:
    """The error of a forward function, with the op, what came, and the module that called it.

    What is not about the arguments (a warning that was made an error, say) stays what it is.
    """
    expected = (IndexError, OverflowError, TypeError, ValueError)
    if not isinstance(error, expected if op.explain_error is None else (*expected, AttributeError)):
        error.add_note(located(f"in the forward of {op.name}"))
        return error
    message = str(error) if isinstance(error, ArgumentError) else None
    if message is None and isinstance(error, TypeError):
        message = _wrong_kind(op, values, error)
    if message is None and op.explain_error is not None:
        message = op.explain_error(*values)
    if message is None:
        message = shapes_that_clash(values) or str(error).strip()
        if " got " not in message and not isinstance(error, IndexError):
            message += what_came(values)
    if not message.startswith(f"{op.name}:"):
        message = f"{op.name}: {message}"
    kinds = (IndexError, ValueError, np.linalg.LinAlgError)
    kind = type(error) if type(error) in kinds else ValueError
    if isinstance(error, TypeError):  # NumPy has its own, such as that of a ufunc without a loop
        kind = TypeError
    return kind(located(message))


def _wrong_kind(op: Primitive, values: tuple[Any, ...], error: TypeError) -> str | None:
    """What is said of an axis that is a text, and of dtypes for which NumPy has no function."""
    for place in op.axes:
        if place < len(values) and isinstance(values[place], str):
            name = op.params[place]
            return f"{name} must be an int, a tuple of ints or None, got {values[place]!r}"
    if not str(error).startswith("ufunc "):
        return None
    kinds = {value.dtype.kind for value in values if isinstance(value, np.ndarray)}
    came = what_came(values)
    if "f" in kinds:
        return f"bools or integers expected; a comparison, such as x > 0, gives bools{came}"
    if kinds == {"b"}:
        return f"numbers expected, not bools; convert them with .astype(int){came}"
    return None


def type_error(message: str) -> TypeError:
    """A TypeError whose message names the module call: see `located`."""
    return TypeError(located(message))


def value_error(message: str) -> ValueError:
    """A ValueError whose message names the module call: see `located`."""
    return ValueError(located(message))
