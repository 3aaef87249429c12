"""PyTorch's layers that are a function and its arguments: a line each; and names of base classes.

On the left are the constructor and the inputs, on the right the computation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minigrad.torch.helpers import refused
from minigrad.torch.nn import functional
from minigrad.torch.nn.classes import CLASSES, Module
from minigrad.torch.nn.constructors import reduced

__all__ = ["HELPERS", "LAYERS"]

_LOSS = 'size_average=None, reduce=None, reduction="mean"'
_LINES = f"""
AlphaDropout(p=0.5, inplace=False) input => F.alpha_dropout(input, self.p, self.training)
ChannelShuffle(groups) input => F.channel_shuffle(input, self.groups)
Hardshrink(lambd=0.5) input => F.hardshrink(input, self.lambd)
HingeEmbeddingLoss(margin=1.0, {_LOSS}) input, target => F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)
LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False) input => F.lp_pool1d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False) input => F.lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0) input => F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)
MultiLabelSoftMarginLoss(weight=None, {_LOSS}) input, target => F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)
MultiMarginLoss(p=1, margin=1.0, weight=None, {_LOSS}) input, target => F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)
PairwiseDistance(p=2.0, eps=1e-06, keepdim=False) x1, x2 => F.pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)
PixelUnshuffle(downscale_factor) input => F.pixel_unshuffle(input, self.downscale_factor)
PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean") log_input_, target => F.poisson_nll_loss(log_input_, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)
RReLU(lower=0.125, upper=0.3333333333333333, inplace=False) input => F.rrelu(input, self.lower, self.upper, self.training)
SoftMarginLoss({_LOSS}) input, target => F.soft_margin_loss(input, target, reduction=self.reduction)
Softmax2d() input => F.softmax(input, -3)
Softmin(dim=None) input => F.softmin(input, self.dim)
Softshrink(lambd=0.5) input => F.softshrink(input, self.lambd)
Tanhshrink() input => F.tanhshrink(input)
Threshold(threshold, value, inplace=False) input => F.threshold(input, self.threshold, self.value)
TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0, swap=False, reduction="mean") anchor, positive, negative => F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap, reduction=self.reduction)
UpsamplingBilinear2d(size=None, scale_factor=None) input => F.interpolate(input, self.size, self.scale_factor, "bilinear", True)
UpsamplingNearest2d(size=None, scale_factor=None) input => F.interpolate(input, self.size, self.scale_factor)
_Loss({_LOSS}) *args => refused("nn.modules.loss._Loss", "a subclass defines forward")
_WeightedLoss(weight=None, {_LOSS}) *args => refused("nn.modules.loss._WeightedLoss", "a subclass defines forward")
"""
_BASES = """
RNNBase LSTM _Recurrent
RNNCellBase LSTMCell _Cell
_AdaptiveAvgPoolNd AdaptiveAvgPool2d _Adaptive
_AvgPoolNd AvgPool2d _AvgPool
_BatchNorm BatchNorm2d _BatchNorm
_ConvNd Conv2d _Kernels
_ConvTransposeNd ConvTranspose2d _Transposed
_DropoutNd Dropout2d Dropout
_InstanceNorm InstanceNorm2d _InstanceNorm
_MaxPoolNd MaxPool2d _MaxPool
_NormBase BatchNorm2d _BatchNorm
"""
"""PyTorch's base classes, a class of each, and what the base class is called in minigrad."""

LAYERS: dict[str, type] = {}
"""The classes by name."""


def _made(line: str) -> type:
    call, _, value = line.partition(" => ")
    call, _, inputs = call.rpartition(") ")
    name, _, parameters = call.partition("(")
    names = [part.partition("=")[0] for part in parameters.split(", ") if part not in ("", "*")]
    own: dict[str, Any] = {}
    body = ["Module.__init__(self)", *(f"self.{name} = {name}" for name in names)]
    if "size_average" in names:
        body.append("self.reduction = reduced(size_average, reduce, reduction)")
    if "weight" in names:
        body = [part for part in body if part != "self.weight = weight"]
        body.append('self.register_buffer("weight", weight)')
    shown = [each for each in names if each not in ("size_average", "reduce", "weight")]
    text = f"def __init__({', '.join(filter(None, ('self', parameters)))}):\n    " + "\n    ".join(
        body
    )
    text += f"\ndef forward(self, {inputs}):\n    return {value}\n"
    exec(text, {"F": functional, "Module": Module, "reduced": reduced, "refused": refused}, own)
    own |= {"__doc__": f"As PyTorch's: ``{value}``.", "repr_fields": tuple(shown)}
    return type(name, (Module,), {**own, "__module__": "minigrad.torch.nn"})


for _line in _LINES.strip().splitlines():
    _kind = _made(_line)
    LAYERS[_kind.__name__] = _kind
for _line in _BASES.strip().splitlines():
    _name, _of, _base = _line.split()
    LAYERS[_name] = next(
        kind for kind in CLASSES[_of].__mro__
        if kind.__name__ == _base and issubclass(kind, Module)
    )  # fmt: skip


class DataParallel(Module):
    """A module that calls another one: there is one device."""

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The result of the module."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """An error: a model runs in one process."""

    def __init__(self, module: Any, *args: Any, **options: Any) -> None:
        refused("nn.parallel.DistributedDataParallel", "a model runs in one process")


LAYERS |= {"DataParallel": DataParallel, "DistributedDataParallel": DistributedDataParallel}


def _tuple(count: int) -> Any:
    def repeated(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * count

    return repeated


HELPERS = {
    "_single": _tuple(1), "_pair": _tuple(2), "_triple": _tuple(3), "_quadruple": _tuple(4),
    "_ntuple": _tuple, "_size_1_t": Any, "_size_2_t": Any,
}  # fmt: skip
"""The names of `torch.nn.modules.utils`."""


def _conv_forward(self: Any, input: Any, weight: Any, bias: Any) -> Any:
    """The convolution of the layer with another weight."""
    F: Any = functional
    padding, kind = self.padding, f"conv{self.axes}d"
    if self.padding_mode != "zeros":
        ends = [n for pair in reversed(self._pairs) for n in pair]
        input, padding = F.pad(input, ends, self.padding_mode), 0
    convolved = getattr(F, kind)
    return convolved(input, weight, bias, self.stride, padding, self.dilation, self.groups)


for _name in ("Conv1d", "Conv2d"):
    setattr(CLASSES[_name], "_conv_forward", _conv_forward)  # noqa: B010
