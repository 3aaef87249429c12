"""Layer and root-mean-square normalization: for each, kernel and rule, then its meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive

__all__ = ["layer_norm", "rms_norm"]


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
        grad_weight = g * normal  # summed over the leading axes by the engine
    if needed[2]:
        grad_bias = g
    return grad_x, grad_weight, grad_bias


@layer_norm.defmeaning
def _layer_norm_meaning(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    axes = tuple(range(-ndim, 0))
    centred = x - x.mean(axis=axes, keepdims=True)
    centred = centred - centred.mean(axis=axes, keepdims=True)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    out = centred / (variance + eps).sqrt()
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out


def _cannot_scale(x: Any, weight: Any, ndim: int, eps: float) -> str | None:
    return _cannot_normalize(x, weight, None, ndim, eps)


@primitive(
    arrays=2,
    residuals=("rstd",),
    floating=True,
    promotes=("x", "weight"),
    complain=_cannot_scale,
)
def rms_norm(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
    """Divide by the root mean square of the last axes, then scale.

    ``x / sqrt(mean(x²) + eps) * weight``.

    Args:
        x: Shape (..., *normalized).
        weight: Scale of shape `normalized`, None for 1.
        ndim: How many of the last axes are normalized.
        eps: Added to the mean square.

    Returns:
        Shape of `x`.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Zhang and Sennrich 2019, arXiv:1910.07467.

    Example:
        >>> import minigrad
        >>> minigrad.ops.rms_norm(minigrad.tensor([[1.0, 7.0]]), eps=0.0)
        Tensor([[0.2, 1.4]], dtype=float32)
    """
    if _cannot_scale(x, weight, ndim, eps):
        raise ValueError("shapes")
    wide = x.astype(_wide(x), copy=False)
    square = (wide * wide).mean(axis=tuple(range(-ndim, 0)), keepdims=True)
    rstd = (1 / np.sqrt(square + eps)).astype(x.dtype, copy=False)
    out = x * rstd
    if weight is not None:
        out *= weight
    return out, rstd


@rms_norm.defjoint("x", "weight")
def _rms_norm_pull(
    g: np.ndarray,
    needed: tuple[bool, bool],
    x: np.ndarray,
    weight: np.ndarray | None,
    rstd: np.ndarray,
    ndim: int,
) -> tuple[Any, Any]:
    normal = x * rstd
    grad_x = grad_weight = None
    if needed[0]:
        inner = g if weight is None else g * weight
        along = (inner * normal).mean(axis=tuple(range(-ndim, 0)), keepdims=True)
        grad_x = inner - normal * along
        grad_x *= rstd
    if needed[1]:
        grad_weight = g * normal  # summed over the leading axes by the engine
    return grad_x, grad_weight


@rms_norm.defmeaning
def _rms_norm_meaning(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
    out = x / ((x * x).mean(axis=tuple(range(-ndim, 0)), keepdims=True) + eps).sqrt()
    return out if weight is None else out * weight
