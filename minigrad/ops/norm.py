"""Layer normalization: kernel and rule above, meaning below."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive

__all__ = ["layer_norm"]


def _cannot_normalize(x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> str | None:
    if x.ndim < ndim:
        return f"the input has shape {x.shape}, at least {ndim} axes are normalized"
    for name, array in (("weight", weight), ("bias", bias)):
        if array is not None and array.shape != x.shape[x.ndim - ndim :]:
            return (
                f"the input has shape {x.shape}, so {name} must have shape "
                f"{x.shape[x.ndim - ndim :]}, got {array.shape}"
            )
    return None


@primitive(
    arrays=3,
    residuals=("mean", "rstd"),
    floating=True,
    promotes=("x", "weight", "bias"),
    complain=_cannot_normalize,
)
def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    """Normalize the last axes to mean 0 and variance 1, then scale and shift.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the population variance.

    Args:
        x: Shape (..., *normalized).
        weight: Scale of shape `normalized`, None for 1.
        bias: Shift of shape `normalized`, None for 0.
        ndim: How many of the last axes are normalized.
        eps: Added to the variance.

    Returns:
        Shape of `x`.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    Example:
        >>> import minigrad
        >>> minigrad.ops.layer_norm(minigrad.tensor([[1.0, 3.0]]), eps=0.0)
        Tensor([[-1.,  1.]], dtype=float32)
    """
    if _cannot_normalize(x, weight, bias, ndim, eps):
        raise ValueError("shapes")
    axes = tuple(range(-ndim, 0))
    mean = x.mean(axis=axes, keepdims=True, dtype=_wide(x))
    out = x - mean.astype(x.dtype, copy=False)
    # What rounding the mean left behind matters where x is far from zero.
    rest = out.mean(axis=axes, keepdims=True, dtype=_wide(x)).astype(x.dtype, copy=False)
    out -= rest
    variance = (out * out).mean(axis=axes, keepdims=True, dtype=_wide(x))
    rstd = (1 / np.sqrt(variance + eps)).astype(x.dtype, copy=False)
    out *= rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    # The mean as two numbers, since x - mean must be repeatable to rounding.
    return out, (mean.astype(x.dtype, copy=False), rest), rstd


def _wide(x: np.ndarray) -> Any:
    return np.float32 if x.dtype == np.float16 else x.dtype


@layer_norm.defjoint("x", "weight", "bias")
def _layer_norm_pull(
    g: np.ndarray,
    needed: tuple[bool, bool, bool],
    x: np.ndarray,
    weight: np.ndarray | None,
    mean: tuple[np.ndarray, np.ndarray],
    rstd: np.ndarray,
    ndim: int,
) -> tuple[Any, Any, Any]:
    axes = tuple(range(-ndim, 0))
    leading = tuple(range(x.ndim - ndim))
    normal = x - mean[0]
    normal -= mean[1]
    normal *= rstd
    grad_x = grad_weight = grad_bias = None
    if needed[0]:
        inner = g if weight is None else g * weight
        along = (inner * normal).mean(axis=axes, keepdims=True)
        grad_x = inner - inner.mean(axis=axes, keepdims=True)
        grad_x -= normal * along
        grad_x *= rstd
    if needed[1]:
        grad_weight = (g * normal).sum(axis=leading)
    if needed[2]:
        grad_bias = g.sum(axis=leading)
    return grad_x, grad_weight, grad_bias


@layer_norm.defmeaning
def _layer_norm_meaning(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    axes = tuple(range(-ndim, 0))
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    out = centred / (variance + eps).sqrt()
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out
