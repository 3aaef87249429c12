"""Softmax, its logarithm, and draws from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.errors import type_error
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import values_of
from minigrad.ops.casting import floating
from minigrad.support.checks import check_number
from minigrad.tensors.functions.arguments import spelled
from minigrad.tensors.tensor import Tensor

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


@spelled
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute weights that sum to 1 along an axis, ``exp(x) / sum(exp(x))``, without overflow.

    Args:
        input: x, a tensor of any shape; a row of -inf becomes zeros.
        dim: The axis. It may be left out for one and two axes: then it is the last one.
        _stacklevel: Not used.
        dtype: The dtype of the result, to which x is converted first; that of x by default.

    Raises:
        TypeError: There are more than two axes, and `dim` is missing.
        ValueError: The axis does not exist.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softmax(tensor([1000.0, 1000.0, 0.0]), dim=-1).tolist()
        [0.5, 0.5, 0.0]
    """
    return ops.softmax(_converted(input, dtype), _axis("softmax", input, dim))


@spelled
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute the logarithm of `softmax`, without overflow; the arguments are the same.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.log_softmax(tensor([1000.0, 0.0]), dim=-1).tolist()
        [0.0, -1000.0]
    """
    return ops.log_softmax(_converted(input, dtype), _axis("log_softmax", input, dim))


@spelled
@framed
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute the `softmax` of -x; the arguments are the same.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softmin(tensor([0.0, 0.0, 1000.0]), dim=-1).tolist()
        [0.5, 0.5, 0.0]
    """
    return ops.softmax(-floating(_converted(input, dtype)), _axis("softmin", input, dim))


def _axis(owner: str, x: Tensor, dim: int | None) -> int:
    """The axis; where none is named, the last one of at most two, on which PyTorch agrees."""
    if dim is not None:
        return dim
    if np.ndim(x) > 2:
        raise type_error(
            f"{owner}: an input of shape {tuple(x.shape)} has more than two axes: write dim=-1 for "
            f"the last one (PyTorch takes the {'first' if x.ndim == 3 else 'second'} where none is "
            f"named)"
        )
    return -1


def _converted(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None else ops.astype(x, dtype)


@spelled
@framed
def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    r"""Draw from the Gumbel-softmax distribution, :math:`\mathrm{softmax}((x + g) / \tau)`.

    Source: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017.

    Args:
        logits: x, unnormalized log-probabilities, a tensor of any shape.
        tau: The temperature τ; positive.
        hard: Whether to return one-hot vectors, with the gradient of the soft ones.
        eps: Not used, as in PyTorch.
        dim: The axis of the classes.

    Example:
        >>> from minigrad import nn, zeros
        >>> nn.functional.gumbel_softmax(zeros(2, 5), hard=True).sum(1).tolist()
        [1.0, 1.0]
    """
    check_number("gumbel_softmax", "tau", tau, above=0.0)
    check_number("gumbel_softmax", "eps", eps)
    noise = random.generator().gumbel(size=logits.shape)
    soft = ops.softmax((logits + noise.astype(logits.dtype)) / tau, dim)
    if not hard:
        return soft
    chosen = np.zeros(soft.shape, soft.dtype)
    if chosen.size:
        np.put_along_axis(chosen, values_of(soft).argmax(dim, keepdims=True), 1, dim)
    return soft - soft.detach() + chosen
