"""Softmax and its logarithm. Their rules read only the output, and serve every order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.autograd.sums import BLAS_DTYPES
from minigrad.ops._numerics import SMALL, row_sums, spread_total, total
from minigrad.ops._parallel import ALONE, in_passes

__all__ = ["log_softmax", "softmax"]


LOWEST = {np.dtype(t): np.finfo(t).min for t in (np.float16, np.float32, np.float64)}
"""The lowest finite number of each dtype: subtracting it instead of -inf gives no NaN."""

_ONE = {dtype: np.ones((), dtype) for dtype in LOWEST}
"""As arrays, which NumPy handles faster than Python numbers."""


def _shifted(x: np.ndarray, axis: int) -> np.ndarray:
    """`x` minus its maximum along an axis, which changes neither function."""
    if not x.size:
        return x.copy()
    top = np.maximum.reduce(x, axis, keepdims=True, initial=LOWEST[x.dtype])
    return np.asarray(x - top)


@primitive(float_inputs=True, axes=("axis",))
def softmax(x: Any, axis: int = -1) -> Any:
    """Compute weights that sum to 1 along an axis, ``exp(x) / sum(exp(x))``, without overflow.

    A row of -inf only becomes zeros.

    Raises:
        ValueError: The axis does not exist.
    """
    return _by_rows(_softmax, x, axis)


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    if x.ndim and 0 < x.size <= SMALL and axis in (-1, x.ndim - 1) and x.dtype in BLAS_DTYPES:
        weights, top, sums = exponentials(x, sums=spread_total)
        if isinstance(top, np.ndarray):
            sums[sums == 0] = 1  # rows of -inf only
        weights /= sums
        return weights
    out = _shifted(x, axis)
    np.exp(out, out=out)
    # The sum is at least exp(0) = 1, except for a row of -inf, where it is 0.
    sums = total(out, axis)
    out /= np.maximum(sums, _ONE[sums.dtype])
    return out


LARGE = 40
"""Exponentials of scores up to this, and their sums, do not overflow in float32 and float64."""
_LEAST = math.exp(-LARGE)


def exponentials(
    scores: np.ndarray,
    out: np.ndarray | None = None,
    sums: Callable[[np.ndarray], np.ndarray] = row_sums,
) -> tuple[np.ndarray, Any, Any]:
    """exp(score - top), with the top and the total of each row, of shape (..., rows, 1).

    The top of a row is its largest score, or 0 if that is between -LARGE and LARGE. It is usually 0
    for all rows, which is found without computing each maximum. As it depends on its row only, the
    rest of a block does not influence a row, not even its rounding. `out` may be `scores`: then
    these may be written to.
    """
    if scores.size and scores.item(scores.argmax()) < LARGE:  # argmax is faster than max
        known = np.exp(scores)
        total = sums(known)
        if total.item(total.argmin()) > _LEAST * scores.shape[-1]:
            return known, 0, total
    top = scores.max(axis=-1, keepdims=True, initial=LOWEST[scores.dtype])
    top[np.absolute(top) < LARGE] = 0
    scores = np.subtract(scores, top, out=out)
    np.exp(scores, out=scores)
    return scores, top, sums(scores)


def zero_if_masked(top: Any, total: np.ndarray) -> None:
    """Where all scores were -inf, set the total to 1 and the top to +inf: weights are 0 then."""
    if isinstance(top, np.ndarray):
        nowhere = total == 0
        if nowhere.any():
            total[nowhere] = 1
            top[nowhere] = np.inf


@primitive(float_inputs=True, axes=("axis",))
def log_softmax(x: Any, axis: int = -1) -> Any:
    """Compute the logarithm of softmax along an axis, exact also where softmax rounds to 0 or 1.

    Raises:
        ValueError: The axis does not exist.
    """
    return _by_rows(_log_softmax, x, axis)


def _log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    out = _shifted(x, axis)
    sums = total(np.exp(out), axis)
    out -= np.log(np.maximum(sums, _ONE[sums.dtype]))  # as in softmax
    return out


def _by_rows(kernel: Callable[..., np.ndarray], x: np.ndarray, axis: int) -> np.ndarray:
    """Run a kernel on blocks of rows along the last axis."""
    if x.size <= ALONE or axis not in (-1, x.ndim - 1):
        return kernel(x, axis)
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty(rows.shape, x.dtype)

    def work(start: int, stop: int) -> None:
        out[start:stop] = kernel(rows[start:stop], 1)

    in_passes(len(rows), rows.shape[1], work)
    return out.reshape(x.shape)


softmax.defvjp(x=lambda g, out, axis: out * (g - spread_total(g * out, axis)))
log_softmax.defvjp(x=lambda g, out, axis: g - np.exp(out) * spread_total(g, axis))
softmax.defformula(out="exp(x) / sum(exp(x), axis)  # 0 where all of x is −∞")
log_softmax.defformula(out="x - log(sum(exp(x), axis))")
