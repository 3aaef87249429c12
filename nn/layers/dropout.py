"""Dropout layers."""

from __future__ import annotations

from collections.abc import Callable

from minigrad._checks import check_probability
from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.module.base import Module

__all__ = ["DropPath", "Dropout", "Dropout1d", "Dropout2d"]


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

    function: Callable[..., Tensor] = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = check_probability(type(self).__name__, "p", p)
        self.inplace = inplace

    def forward(self, input_: Tensor) -> Tensor:
        """Apply dropout in training mode.

        Args:
            input_: A tensor of a shape that the function takes.

        Returns:
            A tensor of the same shape; in evaluation mode, or in place, the same tensor.
        """
        return self.function(input_, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace=True" if self.inplace else f"p={self.p}"


class Dropout1d(Dropout):
    """Zero whole channels of sequences (N, C, L) in training: see `functional.dropout1d`.

    Args:
        p: The probability, from 0 to 1.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.Dropout1d(0.5)(ones(1, 100, 3)).sum(axis=2)[0].tolist()))
        [0.0, 6.0]
    """

    function = staticmethod(F.dropout1d)


class Dropout2d(Dropout):
    """Zero whole channels of images (N, C, H, W) in training: see `functional.dropout2d`.

    Args:
        p: The probability, from 0 to 1.
        inplace: Whether to overwrite the input with the result.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.Dropout2d(0.5)(ones(1, 100, 2, 2)).sum(axis=(2, 3))[0].tolist()))
        [0.0, 8.0]
    """

    function = staticmethod(F.dropout2d)


class DropPath(Module):
    """Zero whole samples in training: stochastic depth, for the branch of a residual block.

    Source: Huang et al., "Deep networks with stochastic depth", 2016.

    Args:
        drop_prob: The probability, from 0 to 1.
        scale_by_keep: Whether to scale the other samples by 1 / (1 - p).

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.DropPath(0.5)(ones(100, 3)).sum(axis=1).tolist()))
        [0.0, 6.0]
    """

    repr_fields = ("drop_prob",)

    def __init__(self, drop_prob: float = 0.1, scale_by_keep: bool = True) -> None:
        super().__init__()
        self.drop_prob = check_probability("DropPath", "drop_prob", drop_prob)
        self.scale_by_keep = scale_by_keep

    def forward(self, input_: Tensor) -> Tensor:
        """Drop samples of an input of shape (N, ...) in training mode."""
        return F.drop_path(input_, self.drop_prob, self.scale_by_keep, self.training)
