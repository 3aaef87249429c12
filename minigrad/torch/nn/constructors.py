"""PyTorch's constructors where minigrad's differ, a line each.

On the left is the call with PyTorch's names, order and defaults; on the right the arguments of
minigrad's constructor, and after ``;`` comes the next action. `device` and `dtype` are in all of them.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

from minigrad.nn.functional.loss import reduction_of
from minigrad.torch.nn import functional

__all__ = ["methods", "reduced"]

reduced = partial(reduction_of, "torch.nn")

_LINES = """
AdaptiveMaxPool1d(output_size, return_indices=False) => output_size, **only(return_indices=return_indices)
AdaptiveMaxPool2d(output_size, return_indices=False) => output_size, **only(return_indices=return_indices)
AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) => kernel_size, stride, padding, ceil_mode, count_include_pad, **only(divisor_override=divisor_override)
BCELoss(weight=None, size_average=None, reduce=None, reduction="mean") => weight, reduced(size_average, reduce, reduction)
BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None) => weight, reduced(size_average, reduce, reduction), pos_weight=pos_weight
Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros") => in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros") => in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros") => in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, **only(padding_mode=padding_mode != "zeros" and padding_mode)
ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros") => in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, **only(padding_mode=padding_mode != "zeros" and padding_mode)
CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean") => margin, reduced(size_average, reduce, reduction)
CosineSimilarity(dim=1, eps=1e-08) => dim, eps
CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0) => weight, reduced(size_average, reduce, reduction), ignore_index=ignore_index, label_smoothing=label_smoothing
Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False) => num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, **only(scale_grad_by_freq=scale_grad_by_freq); given(self, _weight, _freeze)
EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None) => num_embeddings, embedding_dim, max_norm, norm_type, mode=mode, include_last_offset=include_last_offset, padding_idx=padding_idx, **only(scale_grad_by_freq=scale_grad_by_freq); given(self, _weight, False)
Flatten(start_dim=1, end_dim=-1) => start_dim, end_dim
GLU(dim=-1) => dim
GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False) => input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
Hardtanh(min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None) => min_val if min_value is None else min_value, max_val if max_value is None else max_value, inplace
GroupNorm(num_groups, num_channels, eps=1e-05, affine=True) => num_groups, num_channels, eps, affine
Identity(*args, **kwargs) =>
KLDivLoss(size_average=None, reduce=None, reduction="mean", log_target=False) => reduced(size_average, reduce, reduction), log_target
L1Loss(size_average=None, reduce=None, reduction="mean") => reduced(size_average, reduce, reduction)
LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0) => input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, **only(proj_size=proj_size or None)
LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True, bias=True) => normalized_shape, eps, elementwise_affine, bias=bias
Linear(in_features, out_features, bias=True) => in_features, out_features, bias
LogSoftmax(dim=None) => -1 if dim is None else dim; self.axis = dim
MSELoss(size_average=None, reduce=None, reduction="mean") => reduced(size_average, reduce, reduction)
MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean") => margin, reduced(size_average, reduce, reduction)
MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=return_indices
MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=return_indices
ModuleDict(modules=None) => modules or ()
ModuleList(modules=None) => modules or ()
NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean") => weight, reduced(size_average, reduce, reduction), ignore_index=ignore_index
RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False) => input_size, hidden_size, num_layers, nonlinearity, bias, batch_first, dropout, bidirectional
SmoothL1Loss(size_average=None, reduce=None, reduction="mean", beta=1.0) => reduced(size_average, reduce, reduction), beta
Softmax(dim=None) => -1 if dim is None else dim; self.axis = dim
Softplus(beta=1.0, threshold=20.0) => beta; self.threshold = threshold
TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean") => margin, p, eps, swap, reduced(size_average, reduce, reduction)
Unflatten(dim, unflattened_size) => dim, unflattened_size
"""
F: Any = functional
_FORWARDS: dict[str, Any] = {
    "Dropout2d": lambda self, input: F.dropout2d(input, self.p, self.training),
    "LogSoftmax": lambda self, input: F.log_softmax(input, self.axis),
    "Softmax": lambda self, input: F.softmax(input, self.axis),
    "Softplus": lambda self, input: F.softplus(input, self.beta, self.threshold),
}


def _only(**options: Any) -> dict[str, Any]:
    """Nothing: options that are not here, which must be left out."""
    for name, value in options.items():
        if value not in (None, False):
            raise NotImplementedError(f"torch.nn: {name}={value!r} is not here")
    return {}


def _given(layer: Any, weight: Any, frozen: bool) -> None:
    """Take a weight that the caller has."""
    if weight is not None:
        layer.weight.data = weight.detach()
    layer.weight.requires_grad_(not frozen)


_THEIRS = {"input_": "input", "h_0": "hx"}
_LINE = {line.partition("(")[0]: line for line in _LINES.strip().splitlines()}


def methods(kind: Any) -> dict[str, Any]:
    """The parts that make one of minigrad's layers PyTorch's: its constructor, its `forward`."""
    name, own = kind.__name__, dict[str, Any]()
    if name in _LINE:
        call, _, given = _LINE[name].partition(" =>")
        given, _, then = given.partition(";")
        parameters = call.partition("(")[2].removesuffix(")")
        parameters += ", device=None, dtype=None" if "**kwargs" not in parameters else ""
        names: dict[str, Any] = {
            "init": kind.__init__, "given": _given, "only": _only, "reduced": reduced,
        }  # fmt: skip
        placed = "device=device, dtype=dtype" if "device" in parameters else ""
        body = f"init(self, {', '.join(filter(None, (given.strip(), placed)))}); {then or 'None'}"
        exec(f"def __init__(self, {parameters}):\n    {body}", names, own)
        own["__init__"].__qualname__ = f"{name}.__init__"
    forward = vars(kind).get("forward")
    if name in _FORWARDS:
        own["forward"] = _FORWARDS[name]
    elif forward is not None and _THEIRS.keys() & {*forward.__code__.co_varnames}:
        own["forward"] = _with_input(forward)
    return own


def _with_input(forward: Any) -> Any:
    """A layer's `forward`, whose arguments are called as PyTorch's; no call is added."""
    code = forward.__code__
    names = tuple(_THEIRS.get(name, name) for name in code.co_varnames)
    named = FunctionType(
        code.replace(co_varnames=names), forward.__globals__, forward.__name__,
        forward.__defaults__, forward.__closure__,
    )  # fmt: skip
    named.__doc__, named.__kwdefaults__ = forward.__doc__, forward.__kwdefaults__
    named.__annotations__, named.__qualname__ = forward.__annotations__, forward.__qualname__
    return named
