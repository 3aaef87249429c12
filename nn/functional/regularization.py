"""Regularization: dropout of elements, of channels and of residual branches."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from minigrad import ops, random
from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.mode import located
from minigrad.nn.functional.activation import SELU_ALPHA, SELU_SCALE
from minigrad.nn.functional.framing import framed
from minigrad.support.checks import check_flag, check_probability
from minigrad.tensors.inplace import overwritten
from minigrad.tensors.tensor import Tensor

__all__ = ["alpha_dropout", "drop_path", "dropout", "dropout1d", "dropout2d"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p, and scale the others by 1 / (1 - p).

    The mask comes from a key drawn from `minigrad.random`. Without `training` the input is returned
    unchanged; `inplace` overwrites it with the result.

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting",
    2014.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.functional.dropout(ones(1000), 0.75).tolist()))
        [0.0, 4.0]
    """
    p = check_probability("dropout", "p", p)
    if not (training is True or check_flag("dropout", "training", training)) or p == 0.0:
        return input
    key = random.key()
    if inplace and check_flag("dropout", "inplace", inplace):
        return overwritten(input, ops.dropout, p, key)
    return ops.dropout(input, p, key)


@framed
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set each element with probability p to the lowest value of `selu`, and scale and shift all.

    Mean 0 and variance 1 stay what they are. The arguments are those of `dropout`, but by default
    the input is returned unchanged.

    Source: Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> from minigrad import nn, zeros
        >>> y = nn.functional.alpha_dropout(zeros(1000), 0.5, training=True)
        >>> sorted({round(x, 4) for x in y.tolist()})
        [-0.7792, 0.7792]
    """
    p = check_probability("alpha_dropout", "p", p)
    if not training or p == 0.0:
        return input
    if inplace:
        return overwritten(input, alpha_dropout, p, True)
    if p == 1.0:
        return input * 0.0
    low = -SELU_SCALE * SELU_ALPHA
    scale = ((1 - p) * (1 + p * low * low)) ** -0.5
    kept = _kept_places(input, input.ndim, p)
    return (ops.where(kept, input, low) - low * p) * scale


@framed
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of a sequence with probability p, and scale the others by 1 / (1 - p).

    The input has shape (N, C, L), or (C, L); the other arguments are those of `dropout`.

    Source: Tompson et al., "Efficient object localization using convolutional networks", 2015.

    Example:
        >>> from minigrad import nn, ones
        >>> y = nn.functional.dropout1d(ones(1, 100, 3))
        >>> sorted(set(y.sum(dim=2)[0].tolist()))
        [0.0, 6.0]
    """
    leading, shapes = input.ndim - 1, "(N, C, L) or (C, L)"
    return _channel_dropout(dropout1d, shapes, (2, 3), leading, input, p, training, inplace)


@framed
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of images with probability p, and scale the others by 1 / (1 - p).

    The input has shape (N, C, H, W); three axes are read as (N, C, L), with a warning, and of two
    axes each element is a channel. The other arguments are those of `dropout`.

    Example:
        >>> from minigrad import nn, ones
        >>> y = nn.functional.dropout2d(ones(1, 100, 3, 2), 0.75)
        >>> sorted(set(y.sum(dim=(2, 3))[0].tolist()))
        [0.0, 24.0]
    """
    if input.ndim == 3:
        remedy = "call dropout1d for sequences, and give one image a batch axis: x[None]"
        what = f"dropout2d: an input of shape {tuple(input.shape)} is read as (N, C, L); {remedy}"
        warnings.warn(located(what), stacklevel=2)
    return _channel_dropout(dropout2d, "(N, C, H, W)", (2, 3, 4), 2, input, p, training, inplace)


@framed
def drop_path(
    input: Tensor, p: float = 0.1, scale_by_keep: bool = True, training: bool = True
) -> Tensor:
    """Zero whole samples with probability p: stochastic depth, for the branch of a residual block.

    The input has shape (N, ...). With `scale_by_keep` the other samples are scaled by 1 / (1 - p).
    Without `training` the input is returned unchanged.

    Source: Huang et al., "Deep networks with stochastic depth", 2016.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.functional.drop_path(ones(100, 3), 0.5).sum(dim=1).tolist()))
        [0.0, 6.0]
    """
    p = check_probability("drop_path", "p", p)
    refuse_shapes(not input.ndim, "drop_path", "an input of shape (N, ...)", input)
    if not training or p == 0.0:
        return input
    return _dropped(input, 1, p, scale_by_keep)


def _channel_dropout(
    function: Callable[..., Tensor], shapes: str, axes: tuple[int, ...], leading: int,
    input: Tensor, p: float, training: bool, inplace: bool,
) -> Tensor:  # fmt: skip
    owner = function.__name__
    p = check_probability(owner, "p", p)
    refuse_shapes(input.ndim not in axes, owner, f"an input of shape {shapes}", input)
    if not training or p == 0.0:
        return input
    if inplace:
        return overwritten(input, function, p)
    return _dropped(input, leading, p)


def _dropped(x: Tensor, leading: int, p: float, scale: bool = True) -> Tensor:
    """Zero everything at some places of the leading axes."""
    kept = _kept_places(x, leading, p)
    return ops.where(kept, x * (1 / (1 - p)) if scale and p < 1 else x, 0.0)


def _kept_places(x: Tensor, leading: int, p: float) -> Tensor:
    """True at the places of the leading axes that dropout keeps, with axes of length 1 behind."""
    kept = ops.dropout(np.ones(x.shape[:leading], np.float32), p, random.key()) != 0
    return ops.reshape(kept, (*kept.shape, *(1,) * (x.ndim - leading)))
