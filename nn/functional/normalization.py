"""Layer normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad import ops
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located


def layer_norm(
    input_: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Bring the last axes to mean 0 and variance 1, then scale by `weight` and shift by `bias`.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.

    Args:
        input_: A tensor of shape ``(..., *normalized_shape)``.
        normalized_shape: The sizes of the axes that are normalised; an int for the last one.
        weight: A tensor of shape `normalized_shape`, or None for 1.
        bias: A tensor of shape `normalized_shape`, or None for 0.
        eps: Added to the variance.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The last axes have other sizes.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.layer_norm(minigrad.tensor([[1.0, 3.0]]), 2, eps=0.0).tolist()
        [[-1.0, 1.0]]
    """
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not sizes or tuple(input_.shape[-len(sizes) :]) != sizes:
        raise ValueError(
            located(
                f"layer_norm: the input has shape {input_.shape}, its last axes must be {sizes}"
            )
        )
    return ops.layer_norm(input_, weight, bias, ndim=len(sizes), eps=eps)
