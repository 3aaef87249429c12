"""Helpers of the ops on matrices: transposing, checks, and dtypes for LAPACK."""

import sys
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.ops._numerics import shape_of, widened

FLAGS = sys.platform != "emscripten"
"""Whether NumPy sees that LAPACK failed: by a floating-point flag, which no browser has."""


def mT(x: Any) -> Any:
    """Exchange the last two axes."""
    return x.swapaxes(-1, -2)


def no_matrix(x: Any, *_: Any) -> str | None:
    """The message if `x` is not a matrix or a stack of matrices."""
    if len(shape_of(x)) < 2:
        return f"a matrix or a stack of matrices expected, got shape {shape_of(x)}"
    return None


def no_square(x: Any) -> str | None:
    """The message if `x` is not a square matrix or a stack of them."""
    shape = shape_of(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return f"a square matrix or a stack of them expected, got shape {shape}"
    return None


def not_finite(x: Any) -> str | None:
    """The message if a matrix, or one of a stack, holds NaN or infinity."""
    bad = ~np.isfinite(x).all((-2, -1))
    return f"{which(bad)} holds NaN or infinity" if bad.any() else None


def recorded(x: Any) -> bool:
    """Whether a gradient of what is computed with `x` can be asked for."""
    return isinstance(x, Variable) and history(x) is not None and is_grad_enabled()


def which(bad: Any) -> str:
    """A description of the first matrix of a stack for which `bad` is true."""
    found = np.argwhere(bad)
    if not len(found) or not np.ndim(bad):
        return "the matrix"
    return f"matrix {tuple(found[0].tolist())} of the stack"


def holds_nan(x: np.ndarray) -> Any:
    """Which matrices hold NaN; LAPACK reports some of them as singular."""
    return np.isnan(x).any((-2, -1))


def singular(x: np.ndarray) -> Any:
    """Which matrices are singular, so that `np.linalg.inv` refuses them."""
    with np.errstate(invalid="ignore"):
        return (np.linalg.slogdet(widened(x))[0] == 0) & ~holds_nan(x)


def computed(found: Any) -> Any:
    """The result that LAPACK `found`; a LinAlgError if it failed, which NaN shows."""
    if not FLAGS:
        for part in found if isinstance(found, tuple) else (found,):
            if np.isnan(part).any():
                raise np.linalg.LinAlgError("LAPACK failed")
    return found


def resolution(values: Any, size: int) -> Any:
    """The smallest gap at which singular values or eigenvalues (..., k) count as different.

    It has shape (..., 1), and depends on the longer side of the matrix, `size`.
    """
    reduce = np.max if values.shape[-1] else np.sum  # there is no largest of no values
    greatest = reduce(np.abs(values), axis=-1, keepdims=True)
    return greatest * (size * float(np.finfo(values.dtype).eps))


def unless(found: Any, bad: Any, message: str) -> Any:
    """The matrices that were `found`, and a LinAlgError if one of them is `bad`.

    ``{which}`` in the message names the matrix. Where one sample runs for many, nobody knows which
    matrices are bad: they become NaN.
    """
    if isinstance(bad, Variable):
        return np.where(bad[..., None, None], np.nan, found)  # type: ignore[index]
    if np.any(bad):
        raise np.linalg.LinAlgError(message.format(which=which(bad)))
    return found
