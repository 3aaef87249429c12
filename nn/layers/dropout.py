"""Dropout layers."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.layers.function_layer import FunctionLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

__all__ = ["AlphaDropout", "DropPath", "Dropout", "Dropout1d", "Dropout2d"]


@layer_of(F.dropout)
class _DropoutNd(FunctionLayer):
    """A dropout of elements or channels in training mode."""

    p: float = 0.5
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout in training mode."""
        return self._result(input, training=self.training)

    extra_repr = Module.extra_repr


@layer_of(F.dropout)
class Dropout(_DropoutNd):
    """Dropout: in training zeros with probability p, and the other elements times 1 / (1 - p).

    In evaluation mode it returns the input unchanged. See `functional.dropout`.

    Example:
        >>> from minigrad import nn, ones
        >>> drop = nn.Dropout(0.5)
        >>> sorted(set(drop(ones(1000)).tolist()))
        [0.0, 2.0]
        >>> set(drop.eval()(ones(1000)).tolist())
        {1.0}
    """


@layer_of(F.dropout1d)
class Dropout1d(_DropoutNd):
    """Dropout of whole channels of sequences (N, C, L): see `functional.dropout1d`."""


@layer_of(F.dropout2d)
class Dropout2d(_DropoutNd):
    """Dropout of whole channels of images (N, C, H, W): see `functional.dropout2d`.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.Dropout2d(0.5)(ones(1, 100, 2, 2)).sum(dim=(2, 3))[0].tolist()))
        [0.0, 8.0]
    """


@layer_of(F.alpha_dropout)
class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance after a `SELU`: see `functional.alpha_dropout`."""


class DropPath(Module):
    """Dropout of whole samples, for residual branches: see `functional.drop_path`.

    `drop_prob` is its p.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.DropPath(0.5)(ones(100, 3)).sum(dim=1).tolist()))
        [0.0, 6.0]
    """

    repr_fields = ("drop_prob",)

    def __init__(self, drop_prob: float = 0.1, scale_by_keep: bool = True) -> None:
        super().__init__()
        self.drop_prob = drop_prob
        self.scale_by_keep = scale_by_keep

    def forward(self, input: Tensor) -> Tensor:
        """Drop samples of an input of shape (N, ...) in training mode."""
        return F.drop_path(input, self.drop_prob, self.scale_by_keep, self.training)
