"""The dropout layer."""

from __future__ import annotations

from minigrad._checks import check_probability
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.module.base import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """Zero each element with probability p in training, and scale the others by 1 / (1 - p).

    In evaluation mode it returns the input unchanged.

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting",
    2014.

    Args:
        p: The probability, from 0 to 1.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, ones
        >>> drop = nn.Dropout(0.5)
        >>> sorted(set(drop(ones(1000)).tolist()))
        [0.0, 2.0]
        >>> set(drop.eval()(ones(1000)).tolist())
        {1.0}
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = check_probability("Dropout", "p", p)
        self.inplace = inplace

    def forward(self, input_: Tensor) -> Tensor:
        """Apply dropout in training mode.

        Args:
            input_: A tensor of any shape.

        Returns:
            A tensor of the same shape; in evaluation mode, or in place, the same tensor.
        """
        return F.dropout(input_, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace=True" if self.inplace else f"p={self.p}"
