"""`torch.nn.functional`: minigrad's functions with PyTorch's names, order and defaults."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.call import wrap
from minigrad.nn import functional as ours
from minigrad.tensors.functions import pdist
from minigrad.torch.build import made
from minigrad.torch.helpers import as_dtype, refused
from minigrad.torch.modules import missing

__getattr__ = missing(__name__)

LINES = """
adaptive_avg_pool1d(input, output_size) => F.adaptive_avg_pool1d(input, output_size)
adaptive_avg_pool2d(input, output_size) => F.adaptive_avg_pool2d(input, output_size)
adaptive_max_pool1d(input, output_size, return_indices=False) => largest_of_parts(input, output_size, 1) if return_indices else F.adaptive_max_pool1d(input, output_size)
adaptive_max_pool2d(input, output_size, return_indices=False) => largest_of_parts(input, output_size, 2) if return_indices else F.adaptive_max_pool2d(input, output_size)
affine_grid(theta, size, align_corners=None) => F.affine_grid(theta, size, bool(align_corners))
alpha_dropout(input, p=0.5, training=False, inplace=False) => alpha_dropped(input, p) if training and p else input
avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) => F.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) => F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad) if divisor_override is None else divided(input, kernel_size, stride, padding, ceil_mode, divisor_override)
batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05) => F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
bilinear(input1, input2, weight, bias=None) => F.bilinear(input1, input2, weight, bias)
binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean") => F.binary_cross_entropy(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction))
binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None) => F.binary_cross_entropy_with_logits(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), pos_weight=pos_weight)
celu(input, alpha=1.0, inplace=False) => F.celu(input, alpha, inplace)
celu_(input, alpha=1.0) => F.celu(input, alpha, True)
channel_shuffle(input, groups) => ops.reshape(ops.swapaxes(ops.reshape(input, (input.shape[0], groups, input.shape[1] // groups, *input.shape[2:])), 1, 2), input.shape)
conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) => F.conv1d(input, weight, bias, stride, padding, dilation, groups)
conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) => F.conv2d(input, weight, bias, stride, padding, dilation, groups)
conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) => F.conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation)
conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) => F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean") => F.cosine_embedding_loss(input1, input2, target, margin, reduced(size_average, reduce, reduction))
cosine_similarity(x1, x2, dim=1, eps=1e-08) => F.cosine_similarity(x1, x2, dim, eps)
cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0) => F.cross_entropy(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), ignore_index=ignore_index, label_smoothing=label_smoothing)
dropout(input, p=0.5, training=True, inplace=False) => F.dropout(input, p, training, inplace)
dropout1d(input, p=0.5, training=True, inplace=False) => F.dropout1d(input, p, training, inplace)
dropout2d(input, p=0.5, training=True, inplace=False) => F.dropout(input, p, training, inplace) if input.ndim == 2 else F.dropout2d(input, p, training, inplace)
elu(input, alpha=1.0, inplace=False) => F.elu(input, alpha, inplace)
elu_(input, alpha=1.0) => F.elu(input, alpha, True)
embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False) => dense(scale_grad_by_freq) or F.embedding(input, weight, padding_idx, max_norm, norm_type)
embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None) => dense(scale_grad_by_freq) or F.embedding_bag(input, weight, offsets, max_norm, norm_type, mode=mode, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, padding_idx=padding_idx)
fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) => F.fold(input, output_size, kernel_size, dilation, padding, stride)
gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean") => F.gaussian_nll_loss(input, target, var, full, eps, reduction)
gelu(input, approximate="none") => F.gelu(input, approximate)
glu(input, dim=-1) => F.glu(input, dim)
grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None) => F.grid_sample(input, grid, mode, padding_mode, bool(align_corners))
group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) => F.group_norm(input, num_groups, weight, bias, eps)
gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1) => F.gumbel_softmax(logits, tau, hard, axis=dim)
hardshrink(input, lambd=0.5) => ops.where(ops.abs(input) > lambd, input, 0)
hardsigmoid(input, inplace=False) => F.hardsigmoid(input, inplace)
hardswish(input, inplace=False) => F.hardswish(input, inplace)
hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False) => F.hardtanh(input, min_val, max_val, inplace)
hardtanh_(input, min_val=-1.0, max_val=1.0) => F.hardtanh(input, min_val, max_val, True)
hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean") => total(ops.where(target != 1, ops.clip(margin - input, 0), 0) + ops.where(target != -1, input, 0), reduced(size_average, reduce, reduction))
huber_loss(input, target, reduction="mean", delta=1.0, weight=None) => unweighted(weight) or F.huber_loss(input, target, delta, reduction)
instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05) => F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False) => not_smoothed(antialias) or F.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)
kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False) => F.kl_div(input, target, reduction=reduced(size_average, reduce, reduction), log_target=log_target)
l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) => unweighted(weight) or F.l1_loss(input, target, reduced(size_average, reduce, reduction))
layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05) => F.layer_norm(input, normalized_shape, weight, bias, eps)
leaky_relu(input, negative_slope=0.01, inplace=False) => F.leaky_relu(input, negative_slope, inplace)
leaky_relu_(input, negative_slope=0.01) => F.leaky_relu(input, negative_slope, True)
linear(input, weight, bias=None) => F.linear(input, weight, bias)
local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0) => input / (alpha * near_channels(input * input, size) + k) ** beta
log_softmax(input, dim=None, _stacklevel=3, dtype=None) => F.log_softmax(as_dtype(input, dtype), softmax_axis(input, dim))
logsigmoid(input) => F.logsigmoid(input)
lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False) => power_mean(F.avg_pool1d(input ** norm_type, kernel_size, stride, 0, ceil_mode), norm_type, kernel_size, 1)
lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False) => power_mean(F.avg_pool2d(input ** norm_type, kernel_size, stride, 0, ceil_mode), norm_type, kernel_size, 2)
margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean") => F.margin_ranking_loss(input1, input2, target, margin, reduced(size_average, reduce, reduction))
max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) => F.max_pool1d(input, kernel_size, stride, padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) => F.max_pool2d(input, kernel_size, stride, padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None) => F.max_unpool1d(input, indices, kernel_size, stride, padding, output_size)
max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None) => F.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)
mish(input, inplace=False) => F.mish(input, inplace)
mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) => unweighted(weight) or F.mse_loss(input, target, reduced(size_average, reduce, reduction))
multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean") => total(margins(input, target, p, margin, weight), reduced(size_average, reduce, reduction))
multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean") => total(-ops.mean((target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input)) * (1 if weight is None else weight), -1), reduced(size_average, reduce, reduction))
nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean") => F.nll_loss(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), ignore_index=ignore_index)
normalize(input, p=2.0, dim=1, eps=1e-12) => F.normalize(input, p, dim, eps)
one_hot(tensor, num_classes=-1) => F.one_hot(tensor, num_classes)
pad(input, pad, mode="constant", value=None) => F.pad(input, pad, mode, **({} if value is None else {"value": value}))
pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False) => F.pairwise_distance(x1, x2, p, eps, keepdim)
pdist(input, p=2) => pdist(input, p)
pixel_shuffle(input, upscale_factor) => F.pixel_shuffle(input, upscale_factor)
pixel_unshuffle(input, downscale_factor) => unshuffled(input, downscale_factor)
poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean") => total(ops.exp(input) - target * input + stirling(target, full) if log_input else input - target * ops.log(input + eps) + stirling(target, full), reduced(size_average, reduce, reduction))
prelu(input, weight) => F.prelu(input, weight)
relu(input, inplace=False) => F.relu(input, inplace)
relu6(input, inplace=False) => F.relu6(input, inplace)
relu_(input) => F.relu(input, True)
rms_norm(input, normalized_shape, weight=None, eps=None) => F.rms_norm(input, normalized_shape, weight, eps)
rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False) => ops.where(input >= 0, input, input * (random.uniform(lower, upper, input.shape, input.dtype) if training else (lower + upper) / 2))
scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False) => F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa=enable_gqa)
selu(input, inplace=False) => F.selu(input, inplace)
selu_(input) => F.selu(input, True)
sigmoid(input) => F.sigmoid(input)
silu(input, inplace=False) => F.silu(input, inplace)
smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0) => F.smooth_l1_loss(input, target, beta, reduced(size_average, reduce, reduction))
soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean") => total(F.softplus(-target * input), reduced(size_average, reduce, reduction))
softmax(input, dim=None, _stacklevel=3, dtype=None) => F.softmax(as_dtype(input, dtype), softmax_axis(input, dim))
softmin(input, dim=None, _stacklevel=3, dtype=None) => F.softmax(-as_dtype(input, dtype), softmax_axis(input, dim))
softplus(input, beta=1, threshold=20) => linear_above(input, F.softplus(input, beta), beta, threshold)
softshrink(input, lambd=0.5) => ops.where(ops.abs(input) > lambd, input - lambd * ops.sign(input), 0)
softsign(input) => F.softsign(input)
tanh(input) => F.tanh(input)
tanhshrink(input) => input - F.tanh(input)
threshold(input, threshold, value, inplace=False) => ops.where(input > threshold, input, value)
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean") => F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduced(size_average, reduce, reduction))
triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean") => total(triplets(distance_function or F.pairwise_distance, anchor, positive, negative, margin, swap), reduction)
unfold(input, kernel_size, dilation=1, padding=0, stride=1) => F.unfold(input, kernel_size, dilation, padding, stride)
upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None) => F.interpolate(input, size, scale_factor, mode, align_corners)
upsample_bilinear(input, size=None, scale_factor=None) => F.interpolate(input, size, scale_factor, "bilinear", True)
upsample_nearest(input, size=None, scale_factor=None) => F.interpolate(input, size, scale_factor)
"""


def reduced(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction, which the old `size_average` and `reduce` overrule."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def softmax_axis(x: Any, dim: int | None) -> int:
    """The axis of a softmax; PyTorch's old choice where none is named."""
    return (0 if x.ndim in (0, 1, 3) else 1) if dim is None else dim


def linear_above(x: Any, soft: Any, beta: float, threshold: float) -> Any:
    """A softplus that is x itself where beta times x is above a threshold; by 20 nothing differs."""
    return soft if threshold >= 20 else ops.where(x * beta > threshold, x, soft)


def total(losses: Any, reduction: str) -> Any:
    """The mean or the sum of losses, or all of them."""
    if reduction == "none":
        return losses
    return ops.sum(losses) if reduction == "sum" else ops.mean(losses)


def alpha_dropped(x: Any, p: float) -> Any:
    """A dropout that keeps mean and variance after a selu."""
    low, kept = -1.7580993408473766, random.uniform(0.0, 1.0, x.shape, x.dtype) >= p
    scale = ((1 - p) * (1 + p * low * low)) ** -0.5
    return (ops.where(kept, x, low) - low * p) * scale


def near_channels(x: Any, size: int) -> Any:
    """The mean of so many neighbouring channels; those beyond the ends are 0."""
    around = ((0, 0), (size // 2, (size - 1) // 2), *((0, 0),) * (x.ndim - 2))
    return ops.mean(ops.unfold(ops.pad(x, around), 1, size, 1), -1)


def power_mean(means: Any, p: float, kernel: Any, axes: int) -> Any:
    """The p-norm of windows, from the means of their powers."""
    count = math.prod(kernel) if isinstance(kernel, (tuple, list)) else kernel**axes
    return (ops.sign(means) * ops.relu(ops.abs(means)) * count) ** (1.0 / p)


def margins(x: Any, target: Any, p: int, margin: float, weight: Any) -> Any:
    """How far the other classes come within a margin of the right one."""
    rows = ops.reshape(x, (-1, x.shape[-1]))
    right = ops.reshape(target, (-1, 1))
    others = np.arange(x.shape[-1]) != right._data
    within = ops.clip(margin - ops.take_along_axis(rows, right, 1) + rows, 0) ** p
    if weight is not None:
        within = within * ops.take(weight, right)
    losses = ops.sum(ops.where(others, within, 0), -1) / x.shape[-1]
    return losses if x.ndim > 1 else losses[0]


def unshuffled(x: Any, factor: int) -> Any:
    """Blocks of pixels as channels."""
    *batch, c, h, w = x.shape
    small = ops.reshape(x, (*batch, c, h // factor, factor, w // factor, factor))
    first = len(batch)
    order = (*range(first), *(first + i for i in (0, 2, 4, 1, 3)))
    shape = (*batch, c * factor * factor, h // factor, w // factor)
    return ops.reshape(ops.transpose(small, order), shape)


def stirling(target: Any, full: bool) -> Any:
    """Stirling's approximation of the logarithm of a factorial, for targets above 1."""
    if not full:
        return 0
    safe = ops.where(target > 1, target, 1)
    approximate = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
    return ops.where(target > 1, approximate, 0)


def triplets(
    distance: Any, anchor: Any, positive: Any, negative: Any, margin: float, swap: bool
) -> Any:
    """How far each negative is not farther than the positive by a margin."""
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return ops.clip(margin + near - far, 0)


def divided(x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, divisor: int) -> Any:
    """Sums of windows, divided by a number."""
    if ceil_mode:
        refused("nn.functional.avg_pool2d", "divisor_override= with ceil_mode=True is not here")
    count = math.prod(kernel) if isinstance(kernel, (tuple, list)) else kernel**2
    return ours.avg_pool2d(x, kernel, stride, padding) * (count / divisor)


def largest_of_parts(x: Any, output_size: Any, axes: int) -> tuple[Any, Any]:
    """The largest elements of parts that are nearly equal, and their places."""
    sizes = x.shape[-axes:]
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * axes
    counts = [n if count is None else count for n, count in zip(sizes, given, strict=True)]
    data, numbers = x._data, np.arange(math.prod(sizes)).reshape(sizes)
    places = np.empty((*x.shape[:-axes], *counts), np.int64)
    for part in np.ndindex(*counts):
        region = tuple([
            slice(i * n // count, -(-(i + 1) * n // count))
            for i, n, count in zip(part, sizes, counts, strict=True)
        ])  # fmt: skip
        inside = data[(..., *region)]
        best = inside.reshape(*inside.shape[:-axes], -1).argmax(-1)
        places[(..., *part)] = numbers[region].reshape(-1)[best]
    flat = ops.reshape(x, (*x.shape[:-axes], -1))
    chosen = ops.take_along_axis(flat, places.reshape(*x.shape[:-axes], -1), -1)
    return ops.reshape(chosen, places.shape), wrap(places)


def _refuse(given: Any, what: str) -> None:
    if given not in (None, False):
        raise NotImplementedError(f"torch.nn.functional: {what}")


_NAMES = {
    "F": ours,
    "as_dtype": as_dtype,
    "linear_above": linear_above,
    "reduced": reduced,
    "softmax_axis": softmax_axis,
    **{
        f.__name__: f
        for f in (
            alpha_dropped,
            divided,
            largest_of_parts,
            margins,
            near_channels,
            pdist,
            power_mean,
            stirling,
            total,
            triplets,
            unshuffled,
        )
    },
    "ops": ops,
    "random": random,
    "dense": lambda given: _refuse(given, "scale_grad_by_freq=True is not here"),
    "unweighted": lambda given: _refuse(given, "weight= of a loss of distances is not here"),
    "not_smoothed": lambda given: _refuse(given, "antialias=True is not here"),
}
"""The names in the lines: a check gives None, so ``check(x) or value`` is the value."""

for _line in LINES.strip().splitlines():
    _function = made(_line, _NAMES, "minigrad.torch.nn.functional")
    globals()[_function.__name__] = _function
