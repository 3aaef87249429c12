"""Layer and root-mean-square normalisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minigrad import ops
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn.module.checks import check_number


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
    sizes = _sizes("layer_norm", input_, normalized_shape)
    check_number("layer_norm", "eps", eps, 0.0)
    return ops.layer_norm(input_, weight, bias, ndim=len(sizes), eps=eps)


def rms_norm(
    input_: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    r"""Divide by the root mean square of the last axes, then scale by `weight`.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019.

    Args:
        input_: A tensor of shape ``(..., *normalized_shape)``.
        normalized_shape: The sizes of the axes that are normalised; an int for the last one.
        weight: A tensor of shape `normalized_shape`, or None for 1.
        eps: Added to the mean square; by default the gap between 1 and the next number of the
            dtype, as in PyTorch.

    Returns:
        A tensor of the shape of `input_`.

    Raises:
        ValueError: The last axes have other sizes.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> F.rms_norm(minigrad.tensor([[1.0, 7.0]]), 2, eps=0.0)
        Tensor([[0.2, 1.4]], dtype=float32)
    """
    sizes = _sizes("rms_norm", input_, normalized_shape)
    if eps is None and input_.dtype.kind == "f":
        eps = float(np.finfo(input_.dtype).eps)
    eps = 0.0 if eps is None else check_number("rms_norm", "eps", eps, 0.0)
    return ops.rms_norm(input_, weight, ndim=len(sizes), eps=eps)


def _sizes(owner: str, input_: Tensor, normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    shape = normalized_shape
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    if not sizes or tuple(input_.shape[-len(sizes) :]) != sizes:
        raise ValueError(
            located(f"{owner}: the input has shape {input_.shape}, its last axes must be {sizes}")
        )
    return sizes
