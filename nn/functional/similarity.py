"""Similarity and distance of vectors."""

from __future__ import annotations

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.linalg import vector_norm
from minigrad.nn.functional.framing import framed
from minigrad.ops.casting import floating
from minigrad.support.checks import check_number
from minigrad.tensors import functions
from minigrad.tensors.functions.arguments import spelled
from minigrad.tensors.tensor import Tensor

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


@spelled
@framed
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    r"""Compute the cosine of the angle between vectors: :math:`x_1 \cdot x_2 / (\|x_1\| \|x_2\|)`.

    Args:
        x1: A tensor.
        x2: A tensor that broadcasts with it.
        dim: The axis along which the vectors lie; the second by default.
        eps: The lower bound of each norm; a zero vector has similarity 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([3.0, 4.0]), tensor([4.0, 3.0])
        >>> round(nn.functional.cosine_similarity(x, y, dim=0).item(), 4)
        0.96
    """
    shape = _common_shape("cosine_similarity", x1, x2)
    check_number("cosine_similarity", "eps", eps, 0.0)
    directions = (_direction(ops.broadcast_to(x, shape), dim, eps) for x in (x1, x2))
    return ops.sum(ops.multiply(*directions), axis=dim)


@spelled
@framed
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    r"""Compute the distance of vectors along the last axis: :math:`\|x_1 - x_2 + \epsilon\|_p`.

    Args:
        x1: A tensor of shape (..., D).
        x2: A tensor that broadcasts with it.
        p: The p of the p-norm; inf for the largest absolute value.
        eps: Added to each difference.
        keepdim: Whether to keep the last axis, with size 1.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[1.0, 2.0]]), tensor([[4.0, 6.0]])
        >>> nn.functional.pairwise_distance(x, y, eps=0.0).tolist()
        [5.0]
    """
    _common_shape("pairwise_distance", x1, x2)
    check_number("pairwise_distance", "p", p, above=0.0, infinite=True)
    check_number("pairwise_distance", "eps", eps, 0.0)
    return vector_norm(floating(x1) - x2 + eps, ord=p, dim=-1, keepdim=keepdim)


@framed
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Compute the distance of each row to each later one, as one row of n · (n - 1) / 2 numbers.

    Args:
        input: n vectors, of shape (n, D).
        p: The p of the p-norm; inf for the largest absolute value.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pdist(tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()
        [5.0, 1.0, 4.242640495300293]
    """
    return functions.pdist(input, p)


def _common_shape(owner: str, x1: Tensor, x2: Tensor) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(x1.shape, x2.shape)
    except ValueError:
        raise value_error(
            f"{owner}: x1 {tuple(x1.shape)} and x2 {tuple(x2.shape)} do not broadcast"
        ) from None


def _direction(x: Tensor, axis: int, eps: float) -> Tensor:
    """Normalize the vectors to length 1."""
    return x / ops.maximum(ops.norm(x, axis=axis, keepdims=True), eps)
