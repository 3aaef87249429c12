"""Instance normalization layers."""

from __future__ import annotations

from minigrad._tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.layers.normalization import _BatchNorm
from minigrad.nn.module.argument_checks import Count, NonNegative, Probability

__all__ = ["InstanceNorm1d", "InstanceNorm2d"]


class _InstanceNorm(_BatchNorm):
    """Instance normalization of inputs of certain layouts."""

    def __init__(
        self, num_features: Count, eps: NonNegative = 1e-5, momentum: Probability | None = 0.1,
        affine: bool = False, track_running_stats: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, input_: Tensor) -> Tensor:
        """Normalize: by the statistics of the input, or in evaluation by running ones if kept."""
        self._check_layout(input_)
        single = input_.ndim == len(self.layouts[1].split(","))
        by_input = self.training or not self.track_running_stats
        out = F.instance_norm(
            input_[None] if single else input_, self.running_mean, self.running_var, self.weight,
            self.bias, by_input, self.momentum or 0.0, self.eps,
        )  # fmt: skip
        return out[0] if single else out


class InstanceNorm1d(_InstanceNorm):
    r"""Instance normalization :math:`\gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    Arguments and attributes are those of `BatchNorm1d`, but no batches are counted, and with
    momentum None the running statistics stay as they are. See `functional.instance_norm`.

    Mean and (biased) variance are taken over each channel of each sample.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.InstanceNorm1d(2, eps=0.0)(tensor([[[1.0, 3.0], [10.0, 30.0]]])).tolist()
        [[[-1.0, 1.0], [-1.0, 1.0]]]
    """

    layouts = ("(N, C, L)", "(C, L)")


class InstanceNorm2d(_InstanceNorm):
    """Instance normalization of images, with the arguments and attributes of `InstanceNorm1d`.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.InstanceNorm2d(8)(randn(2, 8, 5, 5)).shape
        (2, 8, 5, 5)
    """

    layouts = ("(N, C, H, W)", "(C, H, W)")
