"""Normalization layers: LayerNorm, RMSNorm, BatchNorm, GroupNorm and InstanceNorm."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.events import effect
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_divisible, check_size
from minigrad.tensors.creation import ones, zeros
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm",
]  # fmt: skip


class _Normalization(Module):
    """A normalization with a learned scale and shift; either may be None."""

    weight: Parameter | None
    bias: Parameter | None

    def reset_parameters(self) -> None:
        """Set the scale to ones and the shift to zeros."""
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            parameter = getattr(self, name, None)
            if parameter is not None:
                init.constant(parameter, value)


class _LastAxes(_Normalization):
    """A normalization of the last axes."""

    repr_sizes = ("normalized_shape",)
    eps: Any

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        owner, shape = type(self).__name__, normalized_shape
        sizes = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
        name = "each size in normalized_shape"
        self.normalized_shape = tuple(check_size(owner, name, size) for size in sizes)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(ones(self.normalized_shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(self.normalized_shape)) if elementwise_affine and bias else None
        self.to(dtype=dtype, device=device)


class LayerNorm(_LastAxes):
    r"""Layer normalization :math:`\gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    Mean and (biased) variance are taken over the last axes, separately for each position.

    Args:
        normalized_shape: The sizes of those axes; an int for the last axis.
        eps: Added to the variance, against division by zero.
        elementwise_affine: Whether to learn γ and β.
        bias: Whether to learn β.

    Attributes:
        weight: γ, of shape `normalized_shape`, initialized to ones; or None.
        bias: β, of the same shape, initialized to zeros; or None.

    Example:
        >>> from minigrad import nn, tensor
        >>> y = nn.LayerNorm(3)(tensor([[1.0, 2.0, 3.0]]))
        >>> [round(v, 3) for v in y[0].tolist()]
        [-1.225, 0.0, 1.225]
    """

    repr_fields = ("eps", "elementwise_affine", "bias")

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(..., *normalized_shape)``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_LastAxes):
    r"""Root-mean-square normalization :math:`\gamma x / \sqrt{\overline{x^2} + \epsilon}`.

    Arguments and attributes are those of `LayerNorm`; by default eps is the machine epsilon of the
    input's dtype, as in PyTorch.

    The mean is taken over the last axes, separately for each position. Unlike `LayerNorm` it does
    not subtract the mean and has no shift.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.RMSNorm(2)(tensor([[1.0, 7.0]]))[0].tolist()
        [0.2, 1.4]
    """

    repr_fields = ("eps", "elementwise_affine")

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None,
        elementwise_affine: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(normalized_shape, 0.0, elementwise_affine, False, device, dtype)
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(..., *normalized_shape)``."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


@effect
def weight_of_batch(count: Tensor | None, momentum: float | None) -> float:
    """Count a batch, if `count` is given; the weight of its statistics in the running ones."""
    if count is not None:
        assign(count, count._data + 1)
        if momentum is None:  # the mean of all batches so far
            return 1.0 / int(count)
    return 0.0 if momentum is None else momentum


class _NormBase(_Normalization):
    """What batch and instance normalization share: parameters and running statistics."""

    repr_sizes = ("num_features",)
    repr_fields = ("eps", "momentum", "affine", "bias", "track_running_stats")

    _version = 2
    layouts: tuple[str, ...]
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = size = check_size(type(self).__name__, "num_features", num_features)
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = Parameter(ones(size)) if affine else None
        self.bias = Parameter(zeros(size)) if affine and bias else None
        self.register_buffer("running_mean", zeros(size) if track_running_stats else None)
        self.register_buffer("running_var", ones(size) if track_running_stats else None)
        count = np.zeros((), np.int64) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.to(dtype=dtype, device=device)

    def reset_parameters(self) -> None:
        """Set the scale to ones, the shift to zeros, and reset the running statistics."""
        super().reset_parameters()
        self.reset_running_stats()

    def reset_running_stats(self) -> None:
        """Reset the running mean to 0 and the running variance to 1."""
        values = (self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)
        for buffer, value in values:
            if buffer is not None:
                buffer.mul_(0).add_(value)

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Accept states without a batch count, as of Lucid and PyTorch before 0.4.1."""
        if self.num_batches_tracked is not None and "running_mean" in state:
            state.setdefault("num_batches_tracked", self.num_batches_tracked)
        return state

    def _check_layout(self, input: Tensor) -> None:
        axes = {layout.count(",") + 1: layout for layout in self.layouts}
        layout = axes.get(input.ndim, "")
        other = bool(layout) and input.shape[layout.startswith("(N")] != self.num_features
        unused = self.weight is None and self.running_mean is None
        wanted = f"an input of shape {' or '.join(self.layouts)} with C = {self.num_features}"
        refuse_shapes(not layout or (other and not unused), type(self).__name__, wanted, input)
        if other:
            told = "the input has other channels than num_features, which is not used here"
            warnings.warn(f"{type(self).__name__}: {told}", stacklevel=4)


class _BatchNorm(_NormBase):
    """Batch normalization of inputs of certain layouts."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalize: by the batch statistics in training, by the running ones in evaluation."""
        self._check_layout(input)
        kept: tuple[Tensor | None, Tensor | None] = self.running_mean, self.running_var
        count, momentum = None, 0.0
        if self.training and not self.track_running_stats:  # also if that was set later
            kept = None, None
        elif 0 not in input.shape:
            count = self.num_batches_tracked if self.training else None
            momentum = weight_of_batch(count, self.momentum)
        by_batch = self.training or kept[0] is None
        return F.batch_norm(input, *kept, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    r"""Batch normalization :math:`\gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    In training, mean and (biased) variance of each feature are taken over the batch; in evaluation
    mode the running averages are used. Within `minigrad.autograd.checkpoint` each batch counts
    twice in them, since the layer runs twice.

    Args:
        num_features: C, the size of axis 1 of the input.
        eps: Added to the variance, against division by zero.
        momentum: The weight of a new batch in the running statistics; None for the mean of all
            batches.
        affine: Whether to learn γ and β.
        track_running_stats: Whether to keep running statistics; otherwise those of the batch are
            always used.

    Attributes:
        weight: γ, of shape (C,), initialized to ones; or None.
        bias: β, of shape (C,), initialized to zeros; or None.
        running_mean: A buffer of shape (C,), or None.
        running_var: A buffer of shape (C,), or None.
        num_batches_tracked: A buffer, the number of batches seen in training; or None.

    Example:
        >>> from minigrad import nn, tensor
        >>> norm = nn.BatchNorm1d(1, eps=0.0)
        >>> norm(tensor([[1.0], [3.0]])).tolist()
        [[-1.0], [1.0]]
        >>> [round(x, 2) for x in (norm.running_mean.item(), norm.running_var.item())]
        [0.2, 1.1]
    """

    layouts = ("(N, C)", "(N, C, L)")


class BatchNorm2d(_BatchNorm):
    """Batch normalization of images, with the arguments and attributes of `BatchNorm1d`.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.BatchNorm2d(8)(randn(2, 8, 5, 5)).shape
        minigrad.Size([2, 8, 5, 5])
    """

    layouts = ("(N, C, H, W)",)


class GroupNorm(_Normalization):
    r"""Group normalization :math:`\gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta`.

    `num_channels` is C, the size of axis 1 of the input; `affine` says whether to learn γ and β,
    the weight and the bias, of shape (C,).

    Mean and (biased) variance are taken over each group of channels of each sample; scale and shift
    are per channel.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.GroupNorm(2, 4, eps=0.0)(tensor([[1.0, 3.0, 10.0, 30.0]])).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """

    repr_sizes = ("num_groups", "num_channels")
    repr_fields = ("eps", "affine", "bias")

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_groups = check_size("GroupNorm", "num_groups", num_groups)
        self.num_channels = check_size("GroupNorm", "num_channels", num_channels)
        check_divisible("GroupNorm", num_channels=num_channels, num_groups=num_groups)
        self.eps = eps
        self.affine = affine
        self.weight = Parameter(ones(num_channels)) if affine else None
        self.bias = Parameter(zeros(num_channels)) if affine and bias else None
        self.to(dtype=dtype, device=device)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape (N, num_channels, ...)."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


@layer_of(F.local_response_norm)
class LocalResponseNorm(UnaryLayer):
    """Each element divided by a power of the squares of its neighbours in other channels.

    See `functional.local_response_norm`.

    Source: Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional
    neural networks", 2012.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.LocalResponseNorm(2, alpha=2.0, beta=1.0)(ones((1, 1, 2))).tolist()
        [[[0.5, 0.5]]]
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    repr_sizes = ("size",)


class _InstanceNorm(_NormBase):
    """Instance normalization of inputs of certain layouts."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = False, track_running_stats: bool = False, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        options = eps, momentum, affine, track_running_stats, device, dtype
        super().__init__(num_features, *options, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize: by the statistics of the input, or in evaluation by running ones if kept."""
        self._check_layout(input)
        single = input.ndim == len(self.layouts[1].split(","))
        by_input = self.training or not self.track_running_stats
        out = F.instance_norm(
            input[None] if single else input, self.running_mean, self.running_var, self.weight,
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
        minigrad.Size([2, 8, 5, 5])
    """

    layouts = ("(N, C, H, W)", "(C, H, W)")


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let batch normalizations keep no running statistics, in place, and return the module.

    Within `minigrad.func.vmap` a module may not write to its buffers.

    Args:
        root: The module; its parts are changed too.

    Example:
        >>> from minigrad import func, nn
        >>> model = func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(3)))
        >>> [name for name, _ in model.named_buffers()]
        []
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
