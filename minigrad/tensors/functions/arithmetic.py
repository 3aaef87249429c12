"""Functions of each element, of one tensor or of several that broadcast."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtype_class import printed_as
from minigrad.autograd.dtypes import promote
from minigrad.autograd.node import Variable, data_of
from minigrad.autograd.typing import Tensor

__all__ = [
    "add", "addcdiv", "addcmul", "angle", "clamp_max", "clamp_min", "clone", "div", "divide",
    "equal", "float_power", "frac", "frexp", "heaviside", "isneginf", "isposinf", "isreal", "ldexp",
    "lerp", "logaddexp2", "mvlgamma", "nan_to_num", "positive", "pow", "rsub", "square", "sub",
    "subtract",
]  # fmt: skip


def square(input: Any) -> Tensor:
    """Compute the square of each element; of bools, as integers.

    Example:
        >>> import minigrad
        >>> minigrad.square(minigrad.tensor([2.0, -3.0])).tolist()
        [4.0, 9.0]
    """
    of_bools = isinstance(input, Variable) and input._data.dtype.kind == "b"
    return ops.square(ops.astype(input, np.int64) if of_bools else input)


def angle(input: Any) -> Tensor:
    """Compute the angle of a real number: 0, or π below 0.

    Example:
        >>> import minigrad
        >>> minigrad.angle(minigrad.tensor([1.0, -1.0]))
        tensor([0.0000, 3.1416])
    """
    sign = ops.sign(input)
    return sign * (sign * (math.pi / 2) - math.pi / 2) + 0.0


def _old_order(
    owner: str, name: str, keyword: float, number: Any, *tensors: Any
) -> tuple[Any, ...]:  # fmt: skip
    """The arguments in PyTorch's old order: the number, then the tensors."""
    if keyword != 1 or np.ndim(number):
        raise TypeError(f"{owner}: a number expected before the last tensor, or {name}= alone")
    return number, *tensors


def add(input: Any, other: Any, old: Any = None, *, alpha: float = 1) -> Tensor:
    """Compute input + alpha * other; `add(input, alpha, other)` is PyTorch's old order.

    Example:
        >>> import minigrad
        >>> minigrad.add(minigrad.tensor([1.0]), minigrad.tensor([2.0]), alpha=10).item()
        21.0
    """
    alpha, other = (alpha, other) if old is None else _old_order("add", "alpha", alpha, other, old)
    return ops.add(input, other if alpha == 1 else alpha * other)


def sub(input: Any, other: Any, old: Any = None, *, alpha: float = 1) -> Tensor:
    """Compute input - alpha * other; `sub(input, alpha, other)` is PyTorch's old order.

    Example:
        >>> import minigrad
        >>> minigrad.sub(minigrad.tensor([1.0]), minigrad.tensor([2.0])).item()
        -1.0
    """
    alpha, other = (alpha, other) if old is None else _old_order("sub", "alpha", alpha, other, old)
    return ops.subtract(input, other if alpha == 1 else alpha * other)


subtract = sub


def rsub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """Compute other - alpha * input.

    Example:
        >>> import minigrad
        >>> minigrad.rsub(minigrad.tensor([1.0]), 5).item()
        4.0
    """
    return ops.subtract(other, input if alpha == 1 else alpha * input)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide one by the other; with `rounding_mode`, round to "floor" or, towards 0, "trunc".

    Raises:
        RuntimeError: It is another mode.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([-7.0])
        >>> [minigrad.div(x, 2, rounding_mode=mode).item() for mode in (None, "floor", "trunc")]
        [-3.5, -4.0, -3.0]
    """
    if rounding_mode is None:
        return ops.divide(input, other)
    if rounding_mode == "floor":
        return ops.floor_divide(input, other)
    if rounding_mode != "trunc":
        raise RuntimeError(f'div: rounding_mode None, "floor" or "trunc", got {rounding_mode!r}')
    floor = ops.floor_divide(input, other)
    if floor.dtype.kind == "f":
        return ops.trunc(ops.divide(input, other))
    return floor + ((floor < 0) & (floor * other != input))


divide = div


def addcdiv(input: Any, tensor1: Any, tensor2: Any, old: Any = None, *, value: float = 1) -> Tensor:
    """Compute input + value * tensor1 / tensor2.

    `addcdiv(input, value, tensor1, tensor2)` is PyTorch's old order.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0])
        >>> minigrad.addcdiv(x, x, x, value=10).tolist()
        [11.0, 12.0]
    """
    if old is not None:
        value, tensor1, tensor2 = _old_order("addcdiv", "value", value, tensor1, tensor2, old)
    return input + value * ops.divide(tensor1, tensor2)


def addcmul(input: Any, tensor1: Any, tensor2: Any, old: Any = None, *, value: float = 1) -> Tensor:
    """Compute input + value * tensor1 * tensor2.

    `addcmul(input, value, tensor1, tensor2)` is PyTorch's old order.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0])
        >>> minigrad.addcmul(x, x, x, value=10).tolist()
        [11.0, 42.0]
    """
    if old is not None:
        value, tensor1, tensor2 = _old_order("addcmul", "value", value, tensor1, tensor2, old)
    return input + value * ops.multiply(tensor1, tensor2)


def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """Interpolate as input + weight * (end - input).

    Example:
        >>> import minigrad
        >>> minigrad.lerp(minigrad.tensor([0.0]), minigrad.tensor([10.0]), 0.25).item()
        2.5
    """
    return input + weight * (end - input)


def pow(input: Any, exponent: Any) -> Tensor:
    """Compute input ** exponent.

    Example:
        >>> import minigrad
        >>> minigrad.pow(minigrad.tensor([1.0, 3.0]), 2).tolist()
        [1.0, 9.0]
    """
    return ops.power(input, exponent)


def float_power(input: Any, exponent: Any) -> Tensor:
    """Compute input ** exponent in float64.

    Example:
        >>> import minigrad
        >>> minigrad.float_power(minigrad.tensor([1, 3]), 2)
        tensor([1., 9.], dtype=minigrad.float64)
    """
    return ops.power(ops.astype(input, np.float64), ops.astype(exponent, np.float64))


def ldexp(input: Any, other: Any) -> Tensor:
    """Compute input * 2 ** other.

    Example:
        >>> import minigrad
        >>> minigrad.ldexp(minigrad.tensor([1.0]), minigrad.tensor([3])).item()
        8.0
    """
    input, other = _floats(input, other)
    return ops.multiply(input, ops.exp2(other))


def _floats(*values: Any) -> list[Any]:
    """Operands, of which the tensors have the float dtype of the result."""
    common = np.result_type(*promote([data_of(x) for x in values], floats_only=True))
    return [ops.astype(x, common) if isinstance(x, Variable) else x for x in values]


@printed_as("frexp")
class Frexp(NamedTuple):
    """What `frexp` returns."""

    mantissa: Tensor
    exponent: Tensor


def frexp(input: Any) -> Frexp:
    """Write numbers as mantissa * 2 ** exponent.

    Example:
        >>> import minigrad
        >>> [part.item() for part in minigrad.frexp(minigrad.tensor(6.0))]
        [0.75, 3]
    """
    mantissa, exponent = ops.frexp(input)
    return Frexp(mantissa, exponent.detach())


def frac(input: Any) -> Tensor:
    """Compute the part behind the point, with the sign of the number.

    Example:
        >>> import minigrad
        >>> minigrad.frac(minigrad.tensor([1.5, -2.25])).tolist()
        [0.5, -0.25]
    """
    return input - ops.trunc(input)


def positive(input: Tensor) -> Tensor:
    """Return the tensor itself: +input.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.positive(x) is x
        True
    """
    return input


def clone(input: Any, *, memory_format: Any = None) -> Tensor:
    """Copy a tensor; the copy is a part of the graph.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2, requires_grad=True)
        >>> minigrad.clone(x)
        tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    return ops.clone(input)


def clamp_min(input: Any, min: Any) -> Tensor:
    """Limit numbers from below.

    Example:
        >>> import minigrad
        >>> minigrad.clamp_min(minigrad.tensor([-1.0, 2.0]), 0).tolist()
        [0.0, 2.0]
    """
    return ops.clip(input, min)


def clamp_max(input: Any, max: Any) -> Tensor:
    """Limit numbers from above.

    Example:
        >>> import minigrad
        >>> minigrad.clamp_max(minigrad.tensor([-1.0, 2.0]), 0).tolist()
        [-1.0, 0.0]
    """
    return ops.clip(input, None, max)


def nan_to_num(
    input: Any, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN, and infinities by the ends of the dtype or by numbers.

    Example:
        >>> import minigrad
        >>> minigrad.nan_to_num(minigrad.tensor([1.0, minigrad.nan]), 5.0).tolist()
        [1.0, 5.0]
    """
    return ops.nan_to_num(input, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def logaddexp2(input: Any, other: Any) -> Tensor:
    """Compute log2(2 ** input + 2 ** other), without overflow.

    Example:
        >>> import minigrad
        >>> minigrad.logaddexp2(minigrad.tensor(3.0), minigrad.tensor(3.0)).item()
        4.0
    """
    two = math.log(2)
    input, other = _floats(input, other)
    return ops.logaddexp(input * two, other * two) / two


def mvlgamma(input: Any, p: int) -> Tensor:
    """Compute the logarithm of the multivariate gamma function of order p.

    Example:
        >>> import minigrad
        >>> minigrad.mvlgamma(minigrad.tensor(2.0), 1).item()
        0.0
    """
    terms = ops.stack([ops.lgamma(input - i / 2) for i in range(p)])
    return ops.sum(terms, 0) + p * (p - 1) / 4 * math.log(math.pi)


def heaviside(input: Any, values: Any) -> Tensor:
    """Compute the step function: 0 below 0 and at NaN, 1 above, `values` at 0.

    Example:
        >>> import minigrad
        >>> minigrad.heaviside(minigrad.tensor([-1.0, 0.0, 2.0]), minigrad.tensor(0.5)).tolist()
        [0.0, 0.5, 1.0]
    """
    step = ops.astype(ops.greater(input, 0), input.dtype)
    return ops.where(ops.equal(input, 0), values, step)


# Comparisons


def equal(input: Any, other: Any) -> bool:
    """Tell whether two tensors have one shape and the same elements; `eq` compares each.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.equal(x, minigrad.ones(2)), minigrad.equal(x, minigrad.ones(1))
        (True, False)
    """
    return bool(np.shape(input) == np.shape(other) and ops.all(ops.equal(input, other)).item())


def isneginf(input: Any) -> Tensor:
    """Tell which elements are -inf.

    Example:
        >>> import minigrad
        >>> minigrad.isneginf(minigrad.tensor([1.0, -minigrad.inf])).tolist()
        [False, True]
    """
    return ops.equal(input, -math.inf)


def isposinf(input: Any) -> Tensor:
    """Tell which elements are +inf.

    Example:
        >>> import minigrad
        >>> minigrad.isposinf(minigrad.tensor([1.0, minigrad.inf])).tolist()
        [False, True]
    """
    return ops.equal(input, math.inf)


def isreal(input: Any) -> Tensor:
    """Tell which elements are real: all of them.

    Example:
        >>> import minigrad
        >>> minigrad.isreal(minigrad.ones(2)).tolist()
        [True, True]
    """
    return wrap(np.ones(input.shape, bool))
