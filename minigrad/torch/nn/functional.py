"""`torch.nn.functional`: minigrad's functions with PyTorch's names, order and defaults."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.nn import functional as ours
from minigrad.torch.build import made
from minigrad.torch.helpers import as_dtype

LINES = """
affine_grid(theta, size, align_corners=None) => F.affine_grid(theta, size, bool(align_corners))
adaptive_avg_pool1d(input, output_size) => F.adaptive_avg_pool1d(input, output_size)
adaptive_avg_pool2d(input, output_size) => F.adaptive_avg_pool2d(input, output_size)
adaptive_max_pool1d(input, output_size, return_indices=False) => without_indices(return_indices) or F.adaptive_max_pool1d(input, output_size)
adaptive_max_pool2d(input, output_size, return_indices=False) => without_indices(return_indices) or F.adaptive_max_pool2d(input, output_size)
avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) => F.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) => divided_by_window(divisor_override) or F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05) => F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
bilinear(input1, input2, weight, bias=None) => F.bilinear(input1, input2, weight, bias)
binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean") => F.binary_cross_entropy(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction))
binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None) => F.binary_cross_entropy_with_logits(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), pos_weight=pos_weight)
celu(input, alpha=1.0, inplace=False) => F.celu(input, alpha, inplace)
conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) => F.conv1d(input, weight, bias, stride, padding, dilation, groups)
conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) => F.conv2d(input, weight, bias, stride, padding, dilation, groups)
conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) => F.conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation)
conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) => F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean") => F.cosine_embedding_loss(input1, input2, target, margin, reduced(size_average, reduce, reduction))
cosine_similarity(x1, x2, dim=1, eps=1e-08) => F.cosine_similarity(x1, x2, dim, eps)
cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0) => F.cross_entropy(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), ignore_index=ignore_index, label_smoothing=label_smoothing)
dropout(input, p=0.5, training=True, inplace=False) => F.dropout(input, p, training, inplace)
dropout1d(input, p=0.5, training=True, inplace=False) => F.dropout1d(input, p, training, inplace)
dropout2d(input, p=0.5, training=True, inplace=False) => F.dropout2d(input, p, training, inplace)
elu(input, alpha=1.0, inplace=False) => F.elu(input, alpha, inplace)
embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False) => dense(scale_grad_by_freq) or F.embedding(input, weight, padding_idx, max_norm, norm_type)
embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None) => dense(scale_grad_by_freq) or F.embedding_bag(input, weight, offsets, max_norm, norm_type, mode=mode, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, padding_idx=padding_idx)
fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) => F.fold(input, output_size, kernel_size, dilation, padding, stride)
gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean") => F.gaussian_nll_loss(input, target, var, full, eps, reduction)
gelu(input, approximate="none") => F.gelu(input, approximate)
glu(input, dim=-1) => F.glu(input, dim)
grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None) => F.grid_sample(input, grid, mode, padding_mode, bool(align_corners))
group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) => F.group_norm(input, num_groups, weight, bias, eps)
gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1) => F.gumbel_softmax(logits, tau, hard, axis=dim)
hardsigmoid(input, inplace=False) => F.hardsigmoid(input, inplace)
hardswish(input, inplace=False) => F.hardswish(input, inplace)
hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False) => F.hardtanh(input, min_val, max_val, inplace)
huber_loss(input, target, reduction="mean", delta=1.0, weight=None) => unweighted(weight) or F.huber_loss(input, target, delta, reduction)
instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05) => F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False) => not_smoothed(antialias) or F.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)
kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False) => F.kl_div(input, target, reduction=reduced(size_average, reduce, reduction), log_target=log_target)
l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) => unweighted(weight) or F.l1_loss(input, target, reduced(size_average, reduce, reduction))
layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05) => F.layer_norm(input, normalized_shape, weight, bias, eps)
leaky_relu(input, negative_slope=0.01, inplace=False) => F.leaky_relu(input, negative_slope, inplace)
linear(input, weight, bias=None) => F.linear(input, weight, bias)
log_softmax(input, dim=None, _stacklevel=3, dtype=None) => F.log_softmax(as_dtype(input, dtype), softmax_axis(input, dim))
logsigmoid(input) => F.logsigmoid(input)
margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean") => F.margin_ranking_loss(input1, input2, target, margin, reduced(size_average, reduce, reduction))
max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) => F.max_pool1d(input, kernel_size, stride, padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) => F.max_pool2d(input, kernel_size, stride, padding, dilation=dilation, ceil_mode=ceil_mode, return_indices=return_indices)
max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None) => F.max_unpool1d(input, indices, kernel_size, stride, padding, output_size)
max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None) => F.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)
mish(input, inplace=False) => F.mish(input, inplace)
mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None) => unweighted(weight) or F.mse_loss(input, target, reduced(size_average, reduce, reduction))
nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean") => F.nll_loss(input, target, weight=weight, reduction=reduced(size_average, reduce, reduction), ignore_index=ignore_index)
normalize(input, p=2.0, dim=1, eps=1e-12) => F.normalize(input, p, dim, eps)
one_hot(tensor, num_classes=-1) => F.one_hot(tensor, num_classes)
pad(input, pad, mode="constant", value=None) => F.pad(input, pad, mode, **({} if value is None else {"value": value}))
pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False) => F.pairwise_distance(x1, x2, p, eps, keepdim)
pixel_shuffle(input, upscale_factor) => F.pixel_shuffle(input, upscale_factor)
prelu(input, weight) => F.prelu(input, weight)
relu(input, inplace=False) => F.relu(input, inplace)
relu6(input, inplace=False) => F.relu6(input, inplace)
rms_norm(input, normalized_shape, weight=None, eps=None) => F.rms_norm(input, normalized_shape, weight, eps)
scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False) => F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa=enable_gqa)
selu(input, inplace=False) => F.selu(input, inplace)
sigmoid(input) => F.sigmoid(input)
silu(input, inplace=False) => F.silu(input, inplace)
smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0) => F.smooth_l1_loss(input, target, beta, reduced(size_average, reduce, reduction))
softmax(input, dim=None, _stacklevel=3, dtype=None) => F.softmax(as_dtype(input, dtype), softmax_axis(input, dim))
softmin(input, dim=None, _stacklevel=3, dtype=None) => F.softmax(-as_dtype(input, dtype), softmax_axis(input, dim))
softplus(input, beta=1, threshold=20) => linear_above(input, F.softplus(input, beta), beta, threshold)
softsign(input) => F.softsign(input)
tanh(input) => F.tanh(input)
tanhshrink(input) => input - F.tanh(input)
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean") => F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduced(size_average, reduce, reduction))
unfold(input, kernel_size, dilation=1, padding=0, stride=1) => F.unfold(input, kernel_size, dilation, padding, stride)
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


def _refuse(given: Any, what: str) -> None:
    if given not in (None, False):
        raise NotImplementedError(f"torch.nn.functional: {what}")


_NAMES = {
    "F": ours,
    "as_dtype": as_dtype,
    "linear_above": linear_above,
    "reduced": reduced,
    "softmax_axis": softmax_axis,
    "without_indices": lambda given: _refuse(given, "return_indices=True is not here"),
    "divided_by_window": lambda given: _refuse(given, "divisor_override= is not here"),
    "dense": lambda given: _refuse(given, "scale_grad_by_freq=True is not here"),
    "unweighted": lambda given: _refuse(given, "weight= of a loss of distances is not here"),
    "not_smoothed": lambda given: _refuse(given, "antialias=True is not here"),
}
"""What lines compute with: a check gives None, so ``check(x) or value`` is the value."""

for _line in LINES.strip().splitlines():
    _function = made(_line, _NAMES, "minigrad.torch.nn.functional")
    globals()[_function.__name__] = _function
