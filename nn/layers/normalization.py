"""LayerNorm and RMSNorm: each position brought to one size."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad._creation import ones, zeros
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.module.base import Module
from minigrad.nn.module.checks import check_number, check_size
from minigrad.nn.module.parameter import Parameter


class LayerNorm(Module):
    r"""Layer normalisation :math:`\gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    Mean and (biased) variance are taken over the last axes, for each position by itself.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.

    Args:
        normalized_shape: The sizes of those axes; an int for the last one.
        eps: Keeps a constant position from a division by zero.
        elementwise_affine: Whether γ, and β, are learned.
        bias: Whether β is.

    Attributes:
        weight: γ, of shape `normalized_shape`, ones at first; or None.
        bias: β, of the same shape, zeros at first; or None.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> y = nn.LayerNorm(3)(minigrad.tensor([[1.0, 2.0, 3.0]]))
        >>> [round(v, 3) for v in y[0].tolist()]
        [-1.225, 0.0, 1.225]
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.normalized_shape = _checked_shape("LayerNorm", normalized_shape)
        self.eps = check_number("LayerNorm", "eps", eps, 0.0)
        self.weight = Parameter(ones(self.normalized_shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(self.normalized_shape)) if elementwise_affine and bias else None

    def reset_parameters(self) -> None:
        """Make γ ones and β zeros."""
        if self.weight is not None:
            init.constant(self.weight, 1.0)
        if self.bias is not None:
            init.constant(self.bias, 0.0)

    def forward(self, input_: Tensor) -> Tensor:
        """Normalise.

        Args:
            input_: A tensor of shape ``(..., *normalized_shape)``.

        Returns:
            A tensor of the same shape.
        """
        return F.layer_norm(input_, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.weight is not None}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    r"""Root-mean-square normalisation :math:`\gamma x / \sqrt{\overline{x^2} + \epsilon}`.

    The mean is taken over the last axes, for each position by itself. Unlike `LayerNorm` it does
    not centre, and adds nothing.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019.

    Args:
        normalized_shape: The sizes of those axes; an int for the last one.
        eps: Keeps a position of zeros from a division by zero. By default the gap between 1 and
            the next number of the input's dtype, as in PyTorch.
        elementwise_affine: Whether γ is learned.

    Attributes:
        weight: γ, of shape `normalized_shape`, ones at first; or None.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> nn.RMSNorm(2)(minigrad.tensor([[1.0, 7.0]]))[0].tolist()
        [0.2, 1.4]
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
    ) -> None:
        super().__init__()
        self.normalized_shape = _checked_shape("RMSNorm", normalized_shape)
        self.eps = None if eps is None else check_number("RMSNorm", "eps", eps, 0.0)
        self.weight = Parameter(ones(self.normalized_shape)) if elementwise_affine else None

    def reset_parameters(self) -> None:
        """Make γ ones."""
        if self.weight is not None:
            init.constant(self.weight, 1.0)

    def forward(self, input_: Tensor) -> Tensor:
        """Normalise.

        Args:
            input_: A tensor of shape ``(..., *normalized_shape)``.

        Returns:
            A tensor of the same shape.
        """
        return F.rms_norm(input_, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


def _checked_shape(owner: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    return tuple(check_size(owner, "each size in normalized_shape", size) for size in sizes)
