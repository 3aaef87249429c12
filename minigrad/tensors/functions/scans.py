"""Running sums and products, differences, areas, and windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.typing import Tensor
from minigrad.ops.argument_errors import checked
from minigrad.ops.sorting import ValuesAndIndices
from minigrad.tensors import return_types
from minigrad.tensors.creation import tensor
from minigrad.tensors.functions.arguments import computed, of_numbers, part, signed

__all__ = [
    "bartlett_window", "blackman_window", "cummax", "cummin", "cumprod", "cumsum",
    "cumulative_trapezoid", "diff", "hamming_window", "hann_window", "log_softmax", "logcumsumexp",
    "softmax", "trapezoid", "trapz",
]  # fmt: skip


@of_numbers
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Tensor:
    """Compute the running sum along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.cumsum(minigrad.tensor([1, 2, 3]), 0).tolist()
        [1, 3, 6]
    """
    return computed(ops.cumsum, dtype, signed(input), dim)


@of_numbers
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Tensor:
    """Compute the running product along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.cumprod(minigrad.tensor([2, 3, 4]), 0).tolist()
        [2, 6, 24]
    """
    return computed(ops.cumprod, dtype, signed(input), dim)


@of_numbers
def cummax(input: Any, dim: int) -> ValuesAndIndices:
    """Compute the running maximum along an axis, and where it is.

    Example:
        >>> import minigrad
        >>> minigrad.cummax(minigrad.tensor([1, 3, 2]), 0).values.tolist()
        [1, 3, 3]
    """
    return return_types.cummax(*ops.cummax(input, dim))


@of_numbers
def cummin(input: Any, dim: int) -> ValuesAndIndices:
    """Compute the running minimum along an axis, and where it is.

    Example:
        >>> import minigrad
        >>> minigrad.cummin(minigrad.tensor([3, 1, 2]), 0).values.tolist()
        [3, 1, 1]
    """
    return return_types.cummin(*ops.cummin(input, dim))


@of_numbers
def logcumsumexp(input: Any, dim: int) -> Tensor:
    """Compute the logarithm of the running sum of exponentials along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.logcumsumexp(minigrad.tensor([0.0, 0.0]), 0)
        tensor([0.0000, 0.6931])
    """
    return ops.logcumsumexp(input, dim)


@checked
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Compute the n-th differences of neighbours along an axis.

    Example:
        >>> import minigrad
        >>> minigrad.diff(minigrad.tensor([1, 4, 9])).tolist()
        [3, 5]
    """
    return ops.diff(input, n, dim, prepend, append) if n else ops.clone(input)


def _trapezoids(y: Any, x: Any, dx: float, dim: int) -> Any:
    """The areas between neighbours along an axis."""
    n = y.shape[dim]
    both = part(y, dim, slice(1, n)) + part(y, dim, slice(0, n - 1))
    if x is None:
        return both * (dx / 2)
    along = dim if x.ndim > 1 else -1
    if not x.ndim or x.shape[along] != n:
        raise ValueError(f"one x for each of {n} samples expected, got shape {tuple(x.shape)}")
    width = ops.diff(x, 1, along)
    if x.ndim == 1:
        width = ops.reshape(width, (-1,) + (1,) * (y.ndim - 1 - dim % y.ndim))
    return both * width / 2


@checked
def trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrate along an axis by the trapezoid rule.

    Example:
        >>> import minigrad
        >>> minigrad.trapezoid(minigrad.tensor([0.0, 1.0, 2.0])).item()
        2.0
    """
    return ops.sum(_trapezoids(y, x, dx, dim), dim)


trapz = trapezoid


@checked
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Compute the running integral along an axis by the trapezoid rule.

    Example:
        >>> import minigrad
        >>> minigrad.cumulative_trapezoid(minigrad.tensor([0.0, 1.0, 2.0])).tolist()
        [0.5, 2.0]
    """
    return ops.cumsum(_trapezoids(y, x, dx, dim), dim)


# Normalised exponentials


def _softmax_dim(name: str, x: Any) -> int:
    """The axis that is meant without one."""
    axes = np.ndim(x)
    if axes not in (1, 2):
        raise ValueError(f"{name}: dim must be given for {axes} axes: PyTorch and Lucid differ")
    return -1


@checked
def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Compute exp(input) divided by its sum along an axis.

    Args:
        input: Tensor, array or number.
        dim: The axis; may be left out for 1 and 2 axes, where it is the last.
        dtype: The dtype to which `input` is cast first.

    Raises:
        ValueError: `dim` is left out of a tensor with other numbers of axes.

    Example:
        >>> import minigrad
        >>> minigrad.softmax(minigrad.tensor([0.0, 0.0]), 0).tolist()
        [0.5, 0.5]
    """
    x = input if dtype is None else ops.astype(input, dtype)
    return ops.softmax(x, _softmax_dim("softmax", x) if dim is None else dim)


@checked
def log_softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Tensor:
    """Compute the logarithm of `softmax`, without overflow; arguments as there.

    Example:
        >>> import minigrad
        >>> minigrad.log_softmax(minigrad.tensor([0.0, 0.0]), 0)
        tensor([-0.6931, -0.6931])
    """
    x = input if dtype is None else ops.astype(input, dtype)
    return ops.log_softmax(x, _softmax_dim("log_softmax", x) if dim is None else dim)


# Windows


def _cosines(length: int, periodic: bool, options: dict[str, Any], *weights: float) -> Tensor:
    """A window that is a sum of cosines, of alternating sign."""
    angle = 2 * math.pi * np.arange(length) / max(length - (not periodic), 1)
    waves = [(-1) ** k * weight * np.cos(k * angle) for k, weight in enumerate(weights)]
    return _window(sum(waves), options)


def _window(values: Any, options: dict[str, Any]) -> Tensor:
    window = tensor(values, **{"dtype": get_default_dtype()} | options)
    if window.dtype.kind != "f":
        raise TypeError(f"window: dtype must be a float, got {window.dtype}")
    return window


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Make a Hann window, 0.5 - 0.5 cos; `options` are those of `tensor`.

    Example:
        >>> import minigrad
        >>> minigrad.hann_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    return _cosines(window_length, periodic, options, 0.5, 0.5)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46,
    **options: Any,
) -> Tensor:  # fmt: skip
    """Make a Hamming window, alpha - beta cos; `options` are those of `tensor`.

    Example:
        >>> import minigrad
        >>> minigrad.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _cosines(window_length, periodic, options, alpha, beta)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Make a Blackman window, of two cosines; `options` are those of `tensor`.

    Example:
        >>> import minigrad
        >>> minigrad.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines(window_length, periodic, options, 0.42, 0.5, 0.08)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Make a Bartlett window, a triangle; `options` are those of `tensor`.

    Example:
        >>> import minigrad
        >>> minigrad.bartlett_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    ramp = 2 * np.arange(window_length) / max(window_length - (not periodic), 1)
    return _window(1 - np.abs(ramp - 1), options)
