"""Batch normalization: each channel gets mean 0 and variance 1 over the batch.

The kernel processes channels in blocks that stay in the cache, and are divided among threads: x
(N, C, S).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import channel_sums, widened
from minigrad.ops._parallel import for_rows
from minigrad.ops.norm import misfit

__all__ = ["batch_norm"]


def _cannot_normalize(x: Any, weight: Any, bias: Any) -> str | None:
    if x.ndim < 2:
        return f"the input needs a batch and channels, (N, C, ...), got shape {x.shape}"
    return misfit(x, x.shape[1:2], weight=weight, bias=bias)


@primitive(
    arrays=3,
    residuals=("mean", "std"),
    multiple_outputs=True,
    float_inputs=True,
    promote=("x", "weight", "bias"),
)
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
    if reason := _cannot_normalize(x, weight, bias):
        raise ArgumentError(reason)
    count = max(1, len(x) * math.prod(x.shape[2:]))
    rows = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    out = np.empty(rows.shape, x.dtype)
    mean, var, std = np.empty((3, x.shape[1]), widened(x[:0]).dtype)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        block = widened(rows[:, part])
        mean[part] = channel_sums(block) / count
        centred = block - mean[part, None]
        # The rounding error of the mean matters where x is far from zero.
        rest = channel_sums(centred) / count
        centred -= rest[:, None]
        mean[part] += rest
        var[part] = np.vecdot(centred, centred).sum(axis=0) / count
        std[part] = np.sqrt(var[part] + eps)
        centred *= _scale(weight, std, part)
        if bias is None:
            out[:, part] = centred
        else:
            np.add(centred, bias[part, None], out=out[:, part])

    for_rows(x.shape[1], _block(x), rows.size, work, inner=rows.shape[2])
    results = (out.reshape(x.shape), mean, var)
    with np.errstate(over="ignore"):  # a variance that float16 cannot hold is inf
        return tuple(part.astype(x.dtype, copy=False) for part in results), mean, std


def _block(x: np.ndarray) -> int:
    """The number of channels in a block of about 512 KiB, which stays in the cache."""
    return max(131_072 * x.shape[1] // max(x.size, 1), 1)


def _scale(weight: Any, std: Any, part: slice) -> Any:
    """The factor of each channel, of shape (C, 1)."""
    scale = 1 / std[part]
    return (scale if weight is None else scale * weight[part])[:, None]


@batch_norm.defjoint("x", "weight", "bias")
def _batch_norm_pull(
    g: Any, needed: tuple[bool, bool, bool], x: Any, weight: Any, mean: Any, std: Any, eps: float
) -> tuple[Any, Any, Any]:
    g_out, g_mean, g_var = map(widened, g)
    shape = (*x.shape[:2], math.prod(x.shape[2:]))
    rows, pulls, count = x.reshape(shape), g_out.reshape(shape), max(1, len(x) * shape[2])
    if any(isinstance(part, Variable) for part in (g_out, x, weight)):
        mean = channel_sums(x) / count  # again, so that they have derivatives
        mean = mean + channel_sums(rows - mean[:, None]) / count
        rest = rows - mean[:, None]
        std = np.sqrt(channel_sums(rest * rest) / count + eps)
        grads = _gradients((pulls, g_mean, g_var), rows, weight, mean, std, count)
        return grads[0].reshape(x.shape), *grads[1:]
    grad_x = np.empty(shape, x.dtype)
    grad_weight, grad_bias = np.empty((2, shape[1]), std.dtype)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        gs = (pulls[:, part], g_mean[part], g_var[part])
        scale = weight if weight is None else weight[part]
        found = _gradients(gs, rows[:, part], scale, mean[part], std[part], count)
        grad_x[:, part], grad_weight[part], grad_bias[part] = found

    for_rows(shape[1], _block(x), 2 * x.size, work, inner=shape[2])
    return (
        grad_x.reshape(x.shape) if needed[0] else None,
        grad_weight if needed[1] else None,
        grad_bias if needed[2] else None,
    )


def _gradients(
    g: tuple[Any, Any, Any], x: Any, weight: Any, mean: Any, std: Any, count: int
) -> tuple[Any, Any, Any]:
    """The gradients of some channels, as arrays or as tensors: x (N, C, S), all others (C,)."""
    g_out, g_mean, g_var = g
    centred = x - mean[:, None]
    grad_weight, grad_bias = np.vecdot(g_out, centred).sum(axis=0) / std, channel_sums(g_out)
    scale = 1 / std if weight is None else weight / std
    by_mean = (g_mean - scale * grad_bias) / count
    by_centred = (2 * g_var - scale * grad_weight / std) / count
    grad_x = g_out * scale[:, None] + (centred * by_centred[:, None] + by_mean[:, None])
    return grad_x, grad_weight, grad_bias


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
