"""Logic: bools and bits combined elementwise, and bools reduced over axes.

None of these is differentiable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitives import OpFunction, primitive
from minigrad.ops._numerics import Axis
from minigrad.ops._ufuncs import binary, unary

__all__ = [
    "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor", "count_nonzero", "invert",
    "left_shift", "logical_and", "logical_not", "logical_or", "logical_xor", "right_shift",
]  # fmt: skip


def _connective(function: Any, meaning: str, result: str) -> OpFunction[[Any]]:
    logical = function.__name__.startswith("logical")
    description = f"{meaning}, element by element."
    more = "Not differentiable." if logical else "Floats are a TypeError. Not differentiable."
    example = f"[True, False], True -> {result}"
    return binary(function, description, example, more, compares=logical)


bitwise_and = _connective(
    np.bitwise_and, "Compute the logical and (bitwise for integers)", "[ True, False]"
)
bitwise_or = _connective(
    np.bitwise_or, "Compute the logical or (bitwise for integers)", "[True, True]"
)
bitwise_xor = _connective(
    np.bitwise_xor, "Compute the exclusive or (bitwise for integers)", "[False,  True]"
)
left_shift = binary(
    np.left_shift, "Move the bits of integers to the left, ``a << b``: times ``2 ** b``.",
    "[1, 5], 2 -> [ 4, 20]", "Floats are a TypeError. Not differentiable.",
)  # fmt: skip
right_shift = binary(
    np.right_shift, "Move the bits of integers to the right, ``a >> b``: ``a // 2 ** b``.",
    "[4, 21], 2 -> [1, 5]", "Floats are a TypeError. Not differentiable.",
)  # fmt: skip
logical_and = _connective(np.logical_and, "Test whether both are nonzero", "[ True, False]")
logical_or = _connective(np.logical_or, "Test whether either is nonzero", "[True, True]")
logical_xor = _connective(
    np.logical_xor, "Test whether one of the two is nonzero", "[False,  True]"
)
invert = unary(
    np.invert,
    "Compute the logical not of bools and the bitwise not of integers. Not differentiable.\n\n"
    "Raises:\n    TypeError: They are floats.",
    "[True, False] -> [False,  True]", float_inputs=False,
)  # fmt: skip
logical_not = unary(
    np.logical_not,
    "Test which elements are 0. Not differentiable.",
    "[0.0, 2.0] -> [ True, False]",
    float_inputs=False,
)


@primitive(numpy=np.any, arrays=1, axes=("axis",))
def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether any element over axes is nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives False. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.any(minigrad.tensor([[0.0, 2.0], [0.0, 0.0]]), axis=1)
        tensor([ True, False])
    """
    return x.any(axis=axis, keepdims=keepdims)


@primitive(numpy=np.all, arrays=1, axes=("axis",))
def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Test whether all elements over axes are nonzero; arguments and errors as for `sum`.

    NaN counts as nonzero; an empty axis gives True. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.all(minigrad.tensor([[1.0, 2.0], [3.0, 0.0]]), axis=1)
        tensor([ True, False])
    """
    return x.all(axis=axis, keepdims=keepdims)


@primitive(numpy=np.count_nonzero, arrays=1, axes=("axis",))
def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Count the nonzero elements over axes (int64); arguments and errors as for `sum`.

    NaN counts as nonzero. Not differentiable.

    Example:
        >>> import minigrad
        >>> minigrad.count_nonzero(minigrad.tensor([[0.0, 2.0], [3.0, 4.0]]), axis=1)
        tensor([1, 2])
    """
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)
