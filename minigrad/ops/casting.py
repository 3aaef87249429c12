"""Copies and casts to another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor

__all__ = ["astype", "clone"]


@primitive(numpy=(np.copy, np.positive), arrays=1)
def clone(x: Any) -> Any:
    """Return a copy; gradients pass through it."""
    return x.copy()


@primitive(arrays=1)
def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


@primitive(arrays=1)
def _to_integer(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def astype(x: Any, dtype: Any) -> Tensor:
    """Convert to another dtype; the gradient comes back in the dtype of `x`.

    Args:
        x: Tensor or array.
        dtype: A bool, integer or float dtype. Casts to bool and integer are not differentiable.

    Returns:
        A new tensor; `x` itself if it is a tensor that has the dtype.

    Raises:
        TypeError: Tensors cannot have the dtype.

    Example:
        >>> import minigrad
        >>> minigrad.astype(minigrad.tensor([1.7, -1.7]), minigrad.int64)
        tensor([ 1, -1])
    """
    chosen = checked(dtype, "astype")
    if isinstance(x, Variable) and x._data.dtype == chosen:
        return x  # type: ignore[return-value]
    if not isinstance(x, Variable) and chosen.kind == "f":
        x = to_array(x, chosen, name="astype")  # not by way of the default dtype
    return _astype(x, chosen) if chosen.kind == "f" else _to_integer(x, chosen)


def as_tensor(x: Any) -> Tensor:
    """Return a tensor unchanged; copy anything else into a tensor."""
    return x if isinstance(x, Variable) else clone(x)  # type: ignore[return-value]


def floating(x: Any) -> Tensor:
    """Return a tensor of floats: integers and bools are cast to the default dtype.

    A difference of unsigned integers would wrap around.
    """
    x = as_tensor(x)
    return x if x.dtype.kind == "f" else astype(x, get_default_dtype())


clone.defvjp(x=lambda g: g)
_astype.defvjp(x=lambda g: g)
