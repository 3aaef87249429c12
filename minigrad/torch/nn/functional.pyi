# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Sequence
from typing import Any, Literal, overload

from numpy.typing import DTypeLike

from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.tensor import Tensor

LINES: str

def _refuse(given: Any, what: str) -> None: ...
def adaptive_avg_pool1d(input: _AnyTensor, output_size: int | Sequence[int | None]) -> Tensor: ...
def adaptive_avg_pool2d(input: _AnyTensor, output_size: int | Sequence[int | None]) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: _AnyTensor,
    output_size: int | Sequence[int | None],
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: _AnyTensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(
    input: _AnyTensor,
    output_size: int | Sequence[int | None],
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def adaptive_max_pool2d(
    input: _AnyTensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> tuple[Tensor, Tensor]: ...
def affine_grid(
    theta: _AnyTensor, size: int | Sequence[int], align_corners: Any = None
) -> Tensor: ...
def alpha_dropout(
    input: _AnyTensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor: ...
def alpha_dropped(x: _AnyTensor, p: float) -> Tensor: ...
def avg_pool1d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor: ...
def avg_pool2d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Tensor: ...
def batch_norm(
    input: _AnyTensor,
    running_mean: _AnyTensor,
    running_var: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    bias: _AnyTensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def bilinear(
    input1: _AnyTensor,
    input2: _AnyTensor,
    weight: _AnyTensor | float,
    bias: _AnyTensor | None = None,
) -> Tensor: ...
def binary_cross_entropy(
    input: _AnyTensor,
    target: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: _AnyTensor,
    target: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
    pos_weight: _AnyTensor | None = None,
) -> Tensor: ...
def celu(input: _AnyTensor, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def celu_(input: _AnyTensor, alpha: float = 1.0) -> Tensor: ...
def channel_shuffle(input: _AnyTensor, groups: Any) -> Tensor: ...
def conv1d(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    bias: _AnyTensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor: ...
def conv2d(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    bias: _AnyTensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor: ...
def conv_transpose1d(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    bias: _AnyTensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor: ...
def conv_transpose2d(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    bias: _AnyTensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor: ...
def cosine_embedding_loss(
    input1: _AnyTensor,
    input2: _AnyTensor,
    target: _AnyTensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def cosine_similarity(
    x1: _AnyTensor, x2: _AnyTensor, dim: int = 1, eps: float = 1e-08
) -> Tensor: ...
def cross_entropy(
    input: _AnyTensor,
    target: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: str | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor: ...
def divided(
    x: _AnyTensor,
    kernel: Any,
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    ceil_mode: bool,
    divisor: int,
) -> Tensor: ...
def dropout(
    input: _AnyTensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor: ...
def dropout1d(
    input: _AnyTensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor: ...
def dropout2d(
    input: _AnyTensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor: ...
def elu(input: _AnyTensor, alpha: float = 1.0, inplace: bool = False) -> Tensor: ...
def elu_(input: _AnyTensor, alpha: float = 1.0) -> Tensor: ...
def embedding(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor: ...
def embedding_bag(
    input: _AnyTensor,
    weight: _AnyTensor | float,
    offsets: _AnyTensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: _AnyTensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor: ...
def fold(
    input: _AnyTensor,
    output_size: int | Sequence[int | None],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor: ...
def gaussian_nll_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor: ...
def gelu(input: _AnyTensor, approximate: str = "none") -> Tensor: ...
def glu(input: _AnyTensor, dim: int = -1) -> Tensor: ...
def grid_sample(
    input: _AnyTensor,
    grid: _AnyTensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Any = None,
) -> Tensor: ...
def group_norm(
    input: _AnyTensor,
    num_groups: int,
    weight: _AnyTensor | float | None = None,
    bias: _AnyTensor | None = None,
    eps: float = 1e-05,
) -> Tensor: ...
def gumbel_softmax(
    logits: _AnyTensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor: ...
def hardshrink(input: _AnyTensor, lambd: float = 0.5) -> Tensor: ...
def hardsigmoid(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def hardswish(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def hardtanh(
    input: _AnyTensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor: ...
def hardtanh_(input: _AnyTensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor: ...
def hinge_embedding_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def huber_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: _AnyTensor | float | None = None,
) -> Tensor: ...
def instance_norm(
    input: _AnyTensor,
    running_mean: _AnyTensor | None = None,
    running_var: _AnyTensor | None = None,
    weight: _AnyTensor | float | None = None,
    bias: _AnyTensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def interpolate(
    input: _AnyTensor,
    size: int | Sequence[int] | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: bool = False,
) -> Tensor: ...
def kl_div(
    input: _AnyTensor,
    target: _AnyTensor,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor: ...
def l1_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
    weight: _AnyTensor | float | None = None,
) -> Tensor: ...
def largest_of_parts(
    x: _AnyTensor, output_size: int | Sequence[int | None], axes: int
) -> tuple[Any, Any]: ...
def layer_norm(
    input: _AnyTensor,
    normalized_shape: int | Sequence[int],
    weight: _AnyTensor | float | None = None,
    bias: _AnyTensor | None = None,
    eps: float = 1e-05,
) -> Tensor: ...
def leaky_relu(
    input: _AnyTensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor: ...
def leaky_relu_(input: _AnyTensor, negative_slope: float = 0.01) -> Tensor: ...
def linear(
    input: _AnyTensor, weight: _AnyTensor | float, bias: _AnyTensor | None = None
) -> Tensor: ...
def linear_above(x: _AnyTensor, soft: Any, beta: float, threshold: float) -> Tensor: ...
def local_response_norm(
    input: _AnyTensor,
    size: int | Sequence[int],
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: int | float = 1.0,
) -> Tensor: ...
def log_softmax(
    input: _AnyTensor,
    dim: int | Sequence[int] | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
def logsigmoid(input: _AnyTensor) -> Tensor: ...
def lp_pool1d(
    input: _AnyTensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor: ...
def lp_pool2d(
    input: _AnyTensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor: ...
def margin_ranking_loss(
    input1: _AnyTensor,
    input2: _AnyTensor,
    target: _AnyTensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def margins(
    x: _AnyTensor, target: _AnyTensor, p: int, margin: float, weight: _AnyTensor | float
) -> Tensor: ...
@overload
def max_pool1d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool1d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_unpool1d(
    input: _AnyTensor,
    indices: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int | None] | None = None,
) -> Tensor: ...
def max_unpool2d(
    input: _AnyTensor,
    indices: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int | None] | None = None,
) -> Tensor: ...
def mish(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def mse_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
    weight: _AnyTensor | float | None = None,
) -> Tensor: ...
def multi_margin_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    p: float = 1,
    margin: float = 1.0,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def multilabel_soft_margin_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def near_channels(x: _AnyTensor, size: int) -> Tensor: ...
def nll_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    weight: _AnyTensor | float | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def normalize(input: _AnyTensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor: ...
def one_hot(tensor: _AnyTensor, num_classes: int = -1) -> Tensor: ...
def pad(
    input: _AnyTensor,
    pad: int | Sequence[int],
    mode: str = "constant",
    value: _AnyTensor | float | None = None,
) -> Tensor: ...
def pairwise_distance(
    x1: _AnyTensor, x2: _AnyTensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor: ...
def pixel_shuffle(input: _AnyTensor, upscale_factor: int) -> Tensor: ...
def pixel_unshuffle(input: _AnyTensor, downscale_factor: Any) -> Tensor: ...
def poisson_nll_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-08,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def power_mean(means: Any, p: float, kernel: Any, axes: int) -> Any: ...
def prelu(input: _AnyTensor, weight: _AnyTensor | float) -> Tensor: ...
def reduced(size_average: Any, reduce: str, reduction: str) -> str: ...
def relu(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def relu6(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def relu_(input: _AnyTensor) -> Tensor: ...
def rms_norm(
    input: _AnyTensor,
    normalized_shape: int | Sequence[int],
    weight: _AnyTensor | float | None = None,
    eps: float | None = None,
) -> Tensor: ...
def rrelu(
    input: _AnyTensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor: ...
def scaled_dot_product_attention(
    query: _AnyTensor,
    key: _AnyTensor,
    value: _AnyTensor | float,
    attn_mask: _AnyTensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Tensor: ...
def selu(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def selu_(input: _AnyTensor) -> Tensor: ...
def sigmoid(input: _AnyTensor) -> Tensor: ...
def silu(input: _AnyTensor, inplace: bool = False) -> Tensor: ...
def smooth_l1_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor: ...
def soft_margin_loss(
    input: _AnyTensor,
    target: _AnyTensor,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def softmax(
    input: _AnyTensor,
    dim: int | Sequence[int] | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
def softmax_axis(x: _AnyTensor, dim: int | None) -> int: ...
def softmin(
    input: _AnyTensor,
    dim: int | Sequence[int] | None = None,
    _stacklevel: int = 3,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
def softplus(input: _AnyTensor, beta: float = 1, threshold: float = 20) -> Tensor: ...
def softshrink(input: _AnyTensor, lambd: float = 0.5) -> Tensor: ...
def softsign(input: _AnyTensor) -> Tensor: ...
def stirling(target: _AnyTensor, full: bool) -> Tensor: ...
def tanh(input: _AnyTensor) -> Tensor: ...
def tanhshrink(input: _AnyTensor) -> Tensor: ...
def threshold(
    input: _AnyTensor, threshold: float, value: _AnyTensor | float, inplace: bool = False
) -> Tensor: ...
def total(losses: Any, reduction: str) -> Any: ...
def triplet_margin_loss(
    anchor: _AnyTensor,
    positive: _AnyTensor,
    negative: _AnyTensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: Any = None,
    reduce: str | None = None,
    reduction: str = "mean",
) -> Tensor: ...
def triplet_margin_with_distance_loss(
    anchor: _AnyTensor,
    positive: _AnyTensor,
    negative: _AnyTensor,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor: ...
def triplets(
    distance: Any,
    anchor: _AnyTensor,
    positive: _AnyTensor,
    negative: _AnyTensor,
    margin: float,
    swap: bool,
) -> Tensor: ...
def unfold(
    input: _AnyTensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor: ...
def unshuffled(x: _AnyTensor, factor: int) -> Tensor: ...
def upsample(
    input: _AnyTensor,
    size: int | Sequence[int] | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Any = None,
) -> Tensor: ...
def upsample_bilinear(
    input: _AnyTensor, size: int | Sequence[int] | None = None, scale_factor: Any = None
) -> Tensor: ...
def upsample_nearest(
    input: _AnyTensor, size: int | Sequence[int] | None = None, scale_factor: Any = None
) -> Tensor: ...
