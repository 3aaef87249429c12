"""Helpers for rules. All of them accept arrays and tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from minigrad.autograd.engine import detach
from minigrad.autograd.events import tell
from minigrad.autograd.mode import state
from minigrad.autograd.node import Variable
from minigrad.autograd.sums import BLAS_DTYPES, BLAS_LIMIT, ones

Axis = int | tuple[int, ...] | None
F = TypeVar("F", bound=Callable[..., Any])


def formula(text: str) -> Callable[[F], F]:
    """Attach a formula, for display, to a rule or a helper of rules; see `defformula`."""

    def attach(function: F) -> F:
        function.formula = text  # type: ignore[attr-defined]
        return function

    return attach


def moves(function: F) -> F:
    """Declare a helper of formulas that only moves entries: a page of steps computes it so."""
    function.moves = True  # type: ignore[attr-defined]
    return function


@formula("x")
def array_of(x: Any) -> Any:
    """The array of a tensor; anything else unchanged."""
    if not isinstance(x, Variable):
        return x
    if state.get().sampled:  # the other samples hold other values
        tell("left", x, "NumPy")
    return x._data


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a tensor, an array or a number."""
    return np.shape(x._data if isinstance(x, Variable) else x)


@formula("x")
def constant(x: Any) -> Any:
    """A value that a rule reads and does not differentiate: an array, or a tensor without history.

    It is a tensor where one sample runs for many, whose other samples hold other values.
    """
    if not isinstance(x, Variable):
        return x
    return detach(x) if state.get().sampled else x._data


def values_of(x: Any) -> Any:
    """The same for a function that is not an op and decides by the values: observers are told."""
    if isinstance(x, Variable):
        tell("left", x, "a choice by the values of a tensor")
        return x._data
    return x


@formula("op(*args)")
def within_rule(op: Any, *args: Any) -> Any:
    """Call an op from within a rule: its forward on arrays, the recorded op on tensors."""
    for arg in args:
        if isinstance(arg, Variable):
            return op(*args)
    return op.op.forward(*args)


def row_sums(x: np.ndarray) -> np.ndarray:
    """Sums over the last axis, kept with length 1; computed as a product with ones."""
    if x.size > BLAS_LIMIT:
        return np.vecdot(x, np.ones(x.shape[-1], x.dtype))[..., None]  # small products
    column = ones((x.shape[-1], 1), x.dtype)
    if x.ndim == 2:
        return x.dot(column)
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return rows.dot(column).reshape(*x.shape[:-1], 1)


@formula("x == chosen")
def attains(x: Any, chosen: Any) -> Any:
    """Which elements equal the ones that a reduction chose; NaN is chosen where there is any."""
    found = x == chosen
    if not all_finite(chosen):
        found = found | (np.isnan(x) & np.isnan(chosen))
    return found if isinstance(found, Variable) else np.asarray(found)


def all_finite(values: Any) -> bool:
    """Whether all is known to be finite: of the samples in a tensor of `vmap`, nothing is."""
    return not isinstance(values, Variable) and math.isfinite(np.vdot(values, values))


@formula("slope  # 0 where ḡ is 0 and the slope is infinite")
def zero_safe(slope: Any, g: Any) -> Any:
    """`slope`, but 0 where it is not finite and the cotangent is 0.

    So ``where(x > 0, sqrt(x), 0)`` has gradient 0 at 0, not NaN. Only these entries are masked:
    elsewhere second derivatives need the slope, also where `g` is 0.
    """
    return slope if all_finite(constant(slope)) else _guarded(slope, g, told=True)


@formula("slope  # a slope is 0 where it is infinite and its factor is 0")
def finite(slope: Any, factor: Any) -> Any:
    """`slope`, but 0 where it is not finite and the factor that it is multiplied with is 0."""
    return slope if all_finite(constant(slope)) else _guarded(slope, factor)


def _guarded(slope: Any, factor: Any, told: bool = False) -> Any:
    """A slope that is 0 where it is not finite and its factor is 0; observers may be told."""
    kept = np.isfinite(constant(slope)) | (constant(factor) != 0)
    outer = state.get()
    if told and outer.observers and not isinstance(kept, Variable) and not np.all(kept):
        tell("guarded", outer.within, ~kept)
    return np.where(kept, slope, 0)


@formula("g  # 0 where the slope is 0, whatever ḡ is")
def stopped(g: Any, slope: Any) -> Any:
    """`g`, but 0 where it is not finite and the slope is 0 by definition."""
    return g if all_finite(constant(g)) else _guarded(g, slope)


SMALL = 1000
"""Below this number of elements, the simple way is faster."""

_INTEGERS: Any = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}
_ONE = np.ones((), np.int8)


@functools.cache
def zero(dtype: Any) -> np.ndarray:
    """0 as an array, which is faster than a Python number; do not write to it."""
    array = np.zeros((), dtype)
    array.flags.writeable = False
    return array


@formula("where(mask, 0, g)")
def zeroed(g: Any, mask: Any) -> Any:
    """`g`, but exactly 0 where the mask is True, even if `g` is not finite there.

    This is the cotangent of a branch that was not taken. Multiplying by 0 instead would turn an
    infinite `g` into NaN.
    """
    if g.__class__ is not np.ndarray:
        return np.where(mask, 0, g)
    if g.size <= SMALL:
        if mask.shape != g.shape:
            return np.where(mask, zero(g.dtype), g)
        kept = g.copy()
        kept[mask] = 0
        return kept
    # Bit masks: all bits of a number are kept or cleared. np.where is many times slower.
    return _with_bits(g, mask.view(np.int8) - _ONE)


def kept_only(x: np.ndarray, kept: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write `x` to `out`, but exactly 0 where it is not kept, as `zeroed` does.

    The arrays have one shape, and `out` has the dtype of `x`.
    """
    return _with_bits(x, np.negative(kept.view(np.int8)), out)


def _with_bits(x: np.ndarray, bits: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The numbers of `x` where `bits`, of int8, are -1, and 0 where they are 0."""
    integers = _INTEGERS[x.itemsize]
    into = None if out is None else out.view(integers)
    return np.bitwise_and(x.view(integers), bits.astype(integers), out=into).view(x.dtype)


@formula("0")
def zero_gradient(g: Any) -> Any:
    """The cotangent through a constant function: zeros, even where `g` is infinite."""
    return np.where(False, g, 0)


@formula("g * sign(x)")
def times_sign(g: Any, x: Any) -> Any:
    """`g` times the sign of `x`; 0 where `x` is 0 or NaN, for any `g`."""
    product = g * np.sign(x)
    values = constant(product)
    if all_finite(values):
        return product
    return zeroed(product, ~(np.absolute(constant(x)) > 0))


@formula("divisor  # where the divisor is 0, the quotient is 0")
def inf_where_zero(divisor: Any) -> Any:
    """`divisor` with 0 replaced by inf: a quotient and all its derivatives are 0 there.

    So the gradient of a norm or a standard deviation is 0 where its value is 0.
    """
    return np.where(constant(divisor) == 0, np.inf, divisor)


@formula("x")
def widened(x: Any) -> Any:
    """Convert float16 to float32 for accumulation; anything else, also None, is unchanged."""
    return x if x is None or x.dtype != np.float16 else x.astype(np.float32)


def reduced_axes(ndim: int, axis: Axis) -> set[int]:
    """The axes of a reduction as non-negative numbers."""
    if axis is None or not ndim:
        return set(range(ndim))
    return {a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))}


@formula(
    """
    n = float(reduced_size(shape, axis))  # how many elements are reduced to one
    n
    """
)
def reduced_size(shape: tuple[int, ...], axis: Axis) -> int:
    """The number of elements that a reduction over `axis` combines into one."""
    return math.prod(shape[a] for a in reduced_axes(len(shape), axis))


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The shape after a reduction over `axis` with ``keepdims=True``."""
    gone = reduced_axes(len(shape), axis)
    return tuple([1 if i in gone else n for i, n in enumerate(shape)])


@formula("spread(g, shape, axis)")
def undo_reduction(g: Any, shape: tuple[int, ...], axis: Axis) -> Any:
    """Undo a reduction over `axis` from shape `shape`: repeat its cotangent along the axes."""
    g = g.reshape(kept_shape(shape, axis))
    if isinstance(g, Variable):
        return np.broadcast_to(g, shape)  # type: ignore[call-overload]
    full = np.empty(shape, g.dtype)  # np.broadcast_to is slower, and its result is read-only
    full[...] = g
    return full


_sum: Any = np.add.reduce  # np.sum without its overhead


def add_up(x: Any, axis: Axis, keepdims: bool) -> Any:
    """Sum an array over axes; float16 is accumulated in float32."""
    return _sum(x, axis, np.float32 if x.dtype == np.float16 else None, None, keepdims)


@formula("sum(x, axis)")
def total(x: Any, axis: Axis) -> Any:
    """Sum over axes, kept with length 1; the sum of float16 is float32."""
    if isinstance(x, Variable):
        return np.sum(widened(x), axis=axis, keepdims=True)
    along_rows = x.ndim and (axis == -1 or axis == x.ndim - 1) and x.shape[-1] <= SHORT
    if along_rows and x.dtype in BLAS_DTYPES:
        return row_sums(x)
    return add_up(x, axis, True)


LEAST = {np.dtype(t): float(np.finfo(t).tiny / np.finfo(t).eps ** 2) for t in "fd"}
"""The least sum of squares of which no digit is lost to squares that underflow."""


@np.errstate(over="ignore", invalid="ignore")
def root_of_squares(x: np.ndarray, axis: Axis, count: float = 1) -> np.ndarray:
    """The root of the sum of squares, divided by `count`, over axes that are kept with length 1.

    `x` is float32 or float64. Where squares overflow or underflow, they are scaled by the largest
    element.
    """
    squares = total(x * x, axis)
    large = np.count_nonzero(squares >= LEAST[x.dtype]) == squares.size
    if large and math.isfinite(np.vdot(squares, squares)):
        return np.asarray(np.sqrt(squares if count == 1 else squares / count))
    scale = extent(np.absolute(x).max(axis=axis, keepdims=True, initial=0))
    return np.asarray(np.sqrt(total((x / scale) ** 2, axis) / count) * scale)


def extent(largest: np.ndarray) -> np.ndarray:
    """The divisor that makes the largest element 1; 1 if it is 0 or not finite."""
    return np.asarray(np.where((largest == 0) | ~np.isfinite(largest), 1, largest))


@formula("total(x, axis)")
def spread_total(x: Any, axis: Axis = -1) -> Any:
    """The same, for arithmetic with `x`: of a small matrix with short rows, repeated along them.

    NumPy computes with two small arrays of one shape twice as fast as with an array and a column.
    """
    if x.__class__ is np.ndarray and x.ndim == 2 and (axis == -1 or axis == 1):
        n = x.shape[1]
        if n <= 32 and x.size <= SMALL and x.dtype in BLAS_DTYPES:
            return x.dot(ones((n, n), x.dtype))
    return total(x, axis)


SHORT = 1024
"""The maximum row length at which a sum is as accurate as NumPy's pairwise sum."""


@formula(
    """
    axes = (0, *range(2, g.ndim))  # all but that of the channels
    sum(g, axes)
    """
)
def channel_sums(g: Any) -> Any:
    """Sum each channel over all other axes, (N, C, ...) -> (C,); float16 in float32."""
    rows = widened(g.reshape(g.shape[0], g.shape[1], math.prod(g.shape[2:])))
    return (rows if isinstance(g, Variable) else row_sums(rows)).sum(axis=(0, 2))


# Minimax and Chebyshev fits of the error function, computed with 40 digits. float32, |x| < 3.92: x
# P(x^2) / Q(x^2), relative error 4e-7 as evaluated.
_P32 = (1.1283791392694789, 0.19354621268506686, 0.05310190124901057, 0.0038833937712553094,
        0.00028456708580147763, 1.9867746280503155e-06)  # fmt: skip
_Q32 = (1.0, 0.5048584202947105, 0.11535047846533014, 0.015207351345205773,
        0.0011855833022793834, 3.7420156363511e-05)  # fmt: skip
# float64, |x| < 1: x P(x^2), relative error 5e-16.
_P64 = (1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
        0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707,
        -1.492473690741966e-05, 1.6447424703317362e-06, -1.6208483801871705e-07,
        1.3720064546777686e-08, -7.795898827002142e-10)  # fmt: skip
# float64, 1 < |x| < 6: 1 - exp(-x^2) R(t) with t = (|x| - 3) / (|x| + 3).
_R64 = (0.17900115118138923, -0.3262335600430453, 0.245603801712746, -0.15011593649899332,
        0.07166583715916637, -0.024392499445713273, 0.004269137639708936,
        0.0007077505681312548, -0.0005970811395660003, 4.5188608658010266e-05,
        6.417089032921638e-05, -1.2340282011259606e-05, -8.038912582338107e-06,
        5.299013187569616e-07)  # fmt: skip
_A = 0.147  # of Winitzki's approximation of erfinv
# float64, x > 0.5: erfc(x) = exp(-x^2) R(t) / (x + 3.75) with t = (x - 3.75) / (x + 3.75).
_C64 = (1.091922909562789, -0.9587415766529095, 0.7363189252217588, -0.4904702912076908,
        0.2790620490333791, -0.13195540117782392, 0.04911877862422101, -0.012535880056735043,
        0.000986337979106032, 0.0007948232748695264, -0.0003486462055956764,
        1.059286410633838e-05, 3.7469164228625914e-05, -8.89953496906104e-06,
        -3.283234963839732e-06, 1.6453226189314832e-06, 2.705786784980295e-07,
        -2.477690982691347e-07, -1.8988072941203143e-08, 2.678623344920029e-08)  # fmt: skip


def erf_array(x: np.ndarray) -> np.ndarray:
    """The error function of a float array, accurate to the precision of its dtype."""
    if x.dtype == np.float64:
        size = np.abs(x)
        far = np.minimum(size, 6.0)
        tail = 1.0 - np.exp(-far * far) * horner(_R64, (far - 3.0) / (far + 3.0))
        near = np.minimum(size, 1.0)
        series = near * horner(_P64, near * near)
        return np.asarray(np.copysign(np.where(size < 1.0, series, tail), x))
    y: np.ndarray = np.asarray(np.clip(x, -4, 4), np.float32)
    s = y * y
    y *= horner(_P32, s)
    y /= horner(_Q32, s)
    return np.asarray(np.clip(y, -1.0, 1.0, out=y).astype(x.dtype, copy=False))


def erfc_array(x: np.ndarray) -> np.ndarray:
    """``1 - erf(x)`` of a float array, as exact where it is small; computed in float64."""
    y: np.ndarray = np.asarray(x, np.float64)
    far = np.clip(y, 0.5, 30.0)
    top = far.astype(np.float32).astype(np.float64)  # its square is exact
    power = np.exp(-top * top) * np.exp((top - far) * (top + far))
    tail = power * horner(_C64, (far - 3.75) / (far + 3.75)) / (far + 3.75)
    return np.asarray(np.where(y < 0.5, 1.0 - erf_array(y), tail).astype(x.dtype, copy=False))


def erfinv_array(x: np.ndarray) -> np.ndarray:
    """The inverse of the error function of a float array; computed in float64.

    Winitzki's approximation, right to 0.2 %, and two steps of Halley's method.
    """
    size = np.abs(np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        log = np.log1p(-size * size) / _A
        mean = 2 / (math.pi * _A) + log * (_A / 2)
        root = np.sqrt(-log / (np.sqrt(mean * mean - log) + mean))
        for _ in range(2):
            # Near 1, solve for the distance to 1: it has more digits.
            error = np.where(size < 0.5, erf_array(root) - size, (1 - size) - erfc_array(root))
            step = error * (math.sqrt(math.pi) / 2) * np.exp(root * root)
            root = root - step / (1 + root * step)
        root = np.where(size == 1, np.inf, root)
    return np.asarray(np.copysign(root, x).astype(x.dtype, copy=False))


def horner(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """A polynomial of an array; the coefficients begin with the constant one."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value *= x
        value += coefficient
    return value
