"""Similarity of vectors."""

from __future__ import annotations

import numpy as np

from minigrad import ops
from minigrad._checks import check_number
from minigrad._spelling import spelled
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located

__all__ = ["cosine_similarity"]


@spelled
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    r"""Compute the cosine of the angle between vectors: :math:`x_1 \cdot x_2 / (\|x_1\| \|x_2\|)`.

    Args:
        x1: A tensor.
        x2: A tensor that broadcasts with it.
        axis: The axis along which the vectors lie; the second by default, as in PyTorch.
        eps: The lower bound of each norm; a zero vector has similarity 0.

    Returns:
        A tensor without that axis; numbers from -1 to 1.

    Raises:
        ValueError: The shapes do not broadcast, or the axis does not exist.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([3.0, 4.0]), tensor([4.0, 3.0])
        >>> round(nn.functional.cosine_similarity(x, y, axis=0).item(), 4)
        0.96
    """
    try:
        shape = np.broadcast_shapes(x1.shape, x2.shape)
    except ValueError:
        raise ValueError(
            located(f"cosine_similarity: x1 {x1.shape} and x2 {x2.shape} do not broadcast")
        ) from None
    check_number("cosine_similarity", "eps", eps, 0.0)
    directions = (_direction(ops.broadcast_to(x, shape), axis, eps) for x in (x1, x2))
    return ops.sum(ops.multiply(*directions), axis=axis)


def _direction(x: Tensor, axis: int, eps: float) -> Tensor:
    """Normalize the vectors to length 1."""
    return x / ops.maximum(ops.norm(x, axis=axis, keepdims=True), eps)
