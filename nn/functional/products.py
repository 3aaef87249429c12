"""Linear maps of one input and of two."""

from __future__ import annotations

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn.functional.framing import framed
from minigrad.tensors.tensor import Tensor

__all__ = ["bilinear", "linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply an affine map to the last axis: ``input @ weight.T + bias``.

    Args:
        input: A tensor of shape (..., I).
        weight: Shape (O, I); or (I,) without a bias, for a result without the last axis.
        bias: Shape (O,), or None.

    Returns:
        Shape (..., O), or (...).

    Raises:
        ValueError: The shapes do not fit.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.linear(ones(2, 3), ones(4, 3), ones(4)).tolist()
        [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]
        >>> nn.functional.linear(ones(2, 3), ones(3)).tolist()
        [3.0, 3.0]
    """
    if bias is None and weight.ndim == 1:
        return ops.matmul(input, weight)
    return ops.linear(input, weight, bias)


@framed
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Apply the bilinear map :math:`y_o = x_1^\top W_o\, x_2 + b_o` to the last axes.

    Args:
        input1: A tensor of shape (..., I).
        input2: A tensor of shape (..., J), with the same leading axes.
        weight: W, of shape (O, I, J).
        bias: b, of shape (O,), or None.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.bilinear(ones((5, 4)), ones((5, 3)), ones((2, 4, 3))).shape
        minigrad.Size([5, 2])
    """
    first, second = tuple(input1.shape), tuple(input2.shape)
    if (
        not first or not second or first[:-1] != second[:-1]
        or weight.ndim != 3 or weight.shape[1:] != (first[-1], second[-1])
    ):  # fmt: skip
        raise value_error(
            f"bilinear: inputs of shapes (..., I) and (..., J) with equal leading axes, and a "
            f"weight of shape (O, I, J) expected, got {first}, {second} and {tuple(weight.shape)}"
        )
    out: Tensor = ops.einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias
