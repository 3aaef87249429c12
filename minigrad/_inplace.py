"""In-place writes to a tensor: ``x[i] = v``, ``x += y`` and the methods with a trailing underscore.

A write that is not recorded goes into the memory, and every view sees it. A recorded one (the
tensor or the value has a history, and grad mode is on) changes what the tensor stands for in the
graph, so nothing else may look at that memory: then it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.dtypes import operand, to_array
from minigrad.autograd.hooks import rebind
from minigrad.autograd.mode import is_grad_enabled, no_grad
from minigrad.autograd.mutation import alone, wrote
from minigrad.autograd.node import Leaf, Variable
from minigrad.ops.indexing import normalized, write

if TYPE_CHECKING:
    from minigrad._tensor import Tensor

__all__ = ["assign", "inplace", "set_item"]


def set_item(tensor: Any, index: Any, value: Any) -> None:
    """Write ``tensor[index] = value``.

    Raises:
        IndexError: The index does not fit.
        OverflowError: An integer tensor has no room for the value.
        RuntimeError: The tensor is a leaf that requires grad, or its memory is shared.
        ValueError: The value does not broadcast.
    """
    index = normalized(index)
    recorded = _prepare("setitem", tensor, value)
    try:
        if recorded:
            result = write(tensor, index, value)
            rebind(tensor, result._node)
        else:
            data = tensor._data
            if isinstance(value, Variable):
                data[index] = value._data
            elif data.dtype.kind in "iu" and not isinstance(value, np.ndarray):
                data[index] = to_array(value, data.dtype, name="setitem")  # if it has room for them
            else:
                data[index] = operand(value, "setitem")
    except (IndexError, ValueError) as error:
        message = str(error)
        shown = getattr(value, "shape", ())
        raise type(error)(
            message if message.startswith("setitem:") else
            f"setitem: a value of shape {shown} into shape {tensor.shape}: {message}"
        ) from None  # fmt: skip
    wrote(tensor._data)


def inplace(op: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The in-place form of an op whose result has the shape of its first argument.

    Args:
        op: The op.
        name: The name of the method, such as ``add_``.

    Returns:
        A method that changes its tensor and returns it.
    """

    def method(self: Tensor, *args: Any) -> Tensor:
        recorded = _prepare(name, self, *args)
        with np.errstate(all="ignore"):
            result = op(self, *args) if recorded else _unrecorded(op, self, args)
        if result.shape != self.shape:
            raise ValueError(f"{name}: a result of shape {result.shape} into shape {self.shape}")
        if recorded:
            result = result.astype(self.dtype)
            self._data = result._data
            rebind(self, result._node)
        elif not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise TypeError(f"{name}: a {result.dtype} result into a tensor of {self.dtype}")
        else:
            np.copyto(self._data, result._data, casting="same_kind")
            wrote(self._data)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In place: `{op.__name__}`, written into this tensor, which is returned."
    return method


def _unrecorded(op: Callable[..., Any], tensor: Any, args: tuple[Any, ...]) -> Any:
    with no_grad():
        return op(tensor, *args)


def assign(tensor: Any, values: Any) -> None:
    """Overwrite all elements of a tensor outside of the graph, leaf or not.

    Args:
        tensor: A tensor.
        values: What to write; an array or tensor that broadcasts to its shape.

    Raises:
        ValueError: The values do not broadcast.
    """
    np.copyto(tensor._data, values._data if isinstance(values, Variable) else values,
              casting="same_kind")  # fmt: skip
    wrote(tensor._data)


def _prepare(name: str, tensor: Any, *values: Any) -> bool:
    """Whether the write will be recorded; refuse it if it cannot be right."""
    if not tensor._data.flags.writeable:
        raise RuntimeError(
            f"{name}: this tensor is a read-only view of another one (detach, broadcast_to); "
            f"write to a copy: .clone()"
        )
    if not is_grad_enabled():
        return False
    if isinstance(tensor._node, Leaf):
        raise RuntimeError(
            f"{name}: a leaf that requires grad cannot be written in place while ops are "
            f"recorded; use minigrad.no_grad(), or write to a copy: .clone()"
        )
    has_history = any(isinstance(v, Variable) and v._node is not None for v in values)
    if tensor._node is None and not has_history:
        return False
    if tensor._data.dtype.kind != "f":
        raise TypeError(f"{name}: a {tensor.dtype} tensor cannot take a value that requires grad")
    if not alone(tensor):
        raise RuntimeError(
            f"{name}: the memory of this tensor is also seen by a view or was saved for the "
            f"backward pass, so a recorded in-place write would make gradients wrong; write to a "
            f"copy (.clone()), or compute a new tensor"
        )
    return True
