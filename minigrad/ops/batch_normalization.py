"""Batch normalization: each channel gets mean 0 and variance 1 over the batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import all_finite, channel_sums, constant, root_of_squares, widened
from minigrad.ops._parallel import for_rows, passes, shared
from minigrad.ops.normalization import check_parameters, in_range

__all__ = ["batch_norm"]


@primitive(
    arrays=3, residuals=("mean", "std"), multiple_outputs=True, float_inputs=True,
    promote=("x", "weight", "bias"),
)  # fmt: skip
def batch_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """Normalize each channel over all other axes, then scale and shift it.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the population variance.

    Args:
        x: Shape (N, C, ...).
        weight: Scale of shape (C,), None for 1.
        bias: Shift of shape (C,), None for 0.
        eps: Added to the variance.

    Returns:
        The normalized input, of the shape of `x`; the mean and the variance of each channel, both
        of shape (C,), zeros for an empty batch.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Ioffe and Szegedy 2015, arXiv:1502.03167.

    Example:
        >>> import minigrad
        >>> y, mean, var = minigrad.ops.batch_norm(minigrad.tensor([[1.0], [5.0]]), eps=0.0)
        >>> y.tolist(), mean.item(), var.item()
        ([[-1.0], [1.0]], 3.0, 4.0)
    """
    if x.ndim < 2:
        raise ArgumentError(
            f"the input needs a batch and channels, (N, C, ...), got shape {x.shape}"
        )
    check_parameters(x, x.shape[1:2], weight=weight, bias=bias)
    rows = _as_rows(widened(x))
    out = np.empty(rows.shape, rows.dtype)
    mean, var, std = statistics = np.empty((3, x.shape[1]), rows.dtype)

    def work(channels: slice) -> None:
        scale, shift = (None if each is None else each[channels] for each in (weight, bias))
        parts = out[:, channels], statistics[:, channels]
        _normalize(rows[:, channels], scale, shift, eps, *parts)

    _for_channels(rows, work)
    with np.errstate(over="ignore"):  # of a variance that float16 cannot hold
        results = [part.astype(x.dtype, copy=False) for part in (out.reshape(x.shape), mean, var)]
    return tuple(results), mean, std


def _as_rows(x: Any) -> Any:
    """Shape (N, C, ...) -> (N, C, S)."""
    return x.reshape(len(x), x.shape[1], math.prod(x.shape[2:]))


def _for_channels(rows: np.ndarray, work: Callable[[slice], None]) -> None:
    """Call a function for channels, in several threads if that is worthwhile."""
    effort, channels = passes(rows.size), rows.shape[1]
    block = shared(channels, channels, effort)
    for_rows(channels, block, effort, lambda *ends: work(slice(*ends)), inner=rows.shape[2])


@np.errstate(over="ignore")
def _normalize(
    rows: Any, weight: Any, bias: Any, eps: float, out: np.ndarray, statistics: np.ndarray
) -> None:
    """Fill `out` (N, C, S) and the mean, the variance and the deviation (3, C) of some channels."""
    count = max(1, len(rows) * rows.shape[2])
    mean = channel_sums(rows) / count
    np.subtract(rows, mean[:, None], out=out)
    rest = channel_sums(out) / count
    var = np.vecdot(out, out).sum(axis=0) / count
    # The rounding error of the mean matters where x is far from zero.
    rest[rest * rest < np.finfo(rest.dtype).eps ** 2 * var] = 0
    if rest.any():
        out -= rest[:, None]
        var = np.vecdot(out, out).sum(axis=0) / count
    std = np.sqrt(var + eps)
    if not math.isfinite(np.vdot(std, std)):  # perhaps a sum of squares overflowed
        std = np.where(np.isinf(std), root_of_squares(out, (0, 2), count).ravel(), std)
    scale = 1 / std
    if weight is not None:
        scale = scale * weight
    out *= scale[:, None]
    if bias is not None:
        out += bias[:, None]
    statistics[:] = mean + rest, var, std


@batch_norm.defjoint("x", "weight", "bias")
def _batch_norm_pull(
    g: Any, needed: tuple[bool, bool, bool], x: Any, weight: Any, mean: Any, std: Any, eps: float
) -> tuple[Any, Any, Any]:
    if isinstance(g[0], Variable):
        return _gradients(g, needed, x, weight, mean, std, eps)
    rows, pulls = _as_rows(x), _as_rows(g[0])
    grad_x, sums = np.empty(rows.shape, std.dtype), np.empty((2, x.shape[1]), std.dtype)

    def work(channels: slice) -> None:
        own = None if weight is None else weight[channels]
        pull = (pulls[:, channels], g[1][channels], g[2][channels])
        known = (mean[channels], std[channels])
        found = _gradients(pull, needed, rows[:, channels], own, *known, eps, grad_x[:, channels])
        for total, part in zip(sums, found[1:], strict=True):
            if part is not None:
                total[channels] = part

    _for_channels(rows, work)
    grads = (grad_x.reshape(x.shape), *sums)
    return tuple([grad if need else None for grad, need in zip(grads, needed, strict=True)])  # type: ignore[return-value]


def _gradients(
    g: Any, needed: tuple[bool, bool, bool], x: Any, weight: Any, mean: Any, std: Any, eps: float,
    into: np.ndarray | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The cotangents of x, weight and bias; `into` takes that of x."""
    g_out, g_mean, g_var = map(widened, g)
    column, axes = (x.shape[1], *(1,) * (x.ndim - 2)), (0, *range(2, x.ndim))
    count = max(1, len(x) * math.prod(x.shape[2:]))
    if isinstance(x, Variable):  # gives them derivatives
        mean = channel_sums(x) / count
        mean = mean + channel_sums(x - mean.reshape(column)) / count
        rest, least, size = in_range(x - mean.reshape(column), axes, eps)
        var = channel_sums(rest * rest).reshape(column) / count
        std = ((var + least).sqrt() * size).reshape(-1)
    grad_x = grad_weight = grad_bias = None
    if needed[0] or needed[2]:
        grad_bias = channel_sums(g_out)
    if needed[0] or needed[1]:
        centred = np.subtract(x, mean.reshape(column), out=into)
        grad_weight = _channel_dots(g_out, centred) / std
    if needed[0]:
        scale = 1 / std if weight is None else weight / std
        by_mean = (g_mean - scale * grad_bias) / count
        values = constant(std)
        if all_finite(values):
            by_centred = (2 * g_var - scale * grad_weight / std) / count
        else:  # the square of the scale would be lost
            by_centred = (2 * g_var * std - scale * grad_weight) / count
            centred = np.divide(centred, std.reshape(column), out=into)
        grad_x = np.multiply(centred, by_centred.reshape(column), out=into)
        grad_x = np.add(grad_x, by_mean.reshape(column), out=into)
        grad_x = np.add(grad_x, g_out * scale.reshape(column), out=into)
    return grad_x, grad_weight if needed[1] else None, grad_bias if needed[2] else None


def _channel_dots(a: Any, b: Any) -> Any:
    """The sums of ``a * b`` over each channel, for arrays without the product in memory."""
    shape = (len(a), a.shape[1], math.prod(a.shape[2:]))
    return np.vecdot(a.reshape(shape), b.reshape(shape)).sum(axis=0)


batch_norm.defformula(
    """
    # ḡ comes in three parts, as y
    g_y, g_mean, g_var = g
    n = float(max(1, x.size // max(1, x.shape[1])))  # how many numbers a channel has
    axes = (0, *range(2, x.ndim))  # all but that of the channels
    weight = 1 if weight is None else weight.reshape(-1, *(1,) * (x.ndim - 2))  # 1 if there is none
    g_mean = g_mean.reshape(-1, *(1,) * (x.ndim - 2))  #
    g_var = g_var.reshape(-1, *(1,) * (x.ndim - 2))  #
    mean = mean.reshape(-1, *(1,) * (x.ndim - 2))  #
    std = std.reshape(-1, *(1,) * (x.ndim - 2))  #
    u = g_y * weight
    z = (x - mean) / std
    """,
    x="""
        by_output = u - mean(u, axes) - z * mean(u * z, axes)
        by_output / std + (g_mean + 2 * (x - mean) * g_var) / n
    """,
    weight="sum(g_y * z, axes)",
    bias="sum(g_y, axes)",
)
