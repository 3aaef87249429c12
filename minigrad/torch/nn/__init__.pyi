# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from builtins import float as _float
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

import minigrad.nn.attention.cache
import minigrad.nn.attention.multi_head
import minigrad.nn.layers.activation
import minigrad.nn.layers.blocks
import minigrad.nn.layers.convolution
import minigrad.nn.layers.dropout
import minigrad.nn.layers.einops_layers
import minigrad.nn.layers.embedding
import minigrad.nn.layers.flatten
import minigrad.nn.layers.lazy
import minigrad.nn.layers.linear
import minigrad.nn.layers.loss
import minigrad.nn.layers.normalization
import minigrad.nn.layers.padding
import minigrad.nn.layers.pooling
import minigrad.nn.layers.positional
import minigrad.nn.layers.recurrence
import minigrad.nn.layers.recurrent_cells
import minigrad.nn.layers.resampling
import minigrad.nn.module.base
import minigrad.nn.module.containers
import minigrad.nn.module.parameter_containers
import minigrad.nn.source_documents.additive_attention
import minigrad.nn.source_documents.causal_self_attention
import minigrad.nn.source_documents.dot_product_attention
import minigrad.nn.source_documents.encoder_block
import minigrad.nn.source_documents.transformer_block
import minigrad.nn.transformers.feed_forward
import minigrad.nn.utils.rnn
import minigrad.tensors.creation
import minigrad.torch.nn.multihead
import minigrad.torch.nn.transformers
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.nn import attention as attention
from minigrad.torch.nn import common_types as common_types
from minigrad.torch.nn import functional as functional
from minigrad.torch.nn import init as init
from minigrad.torch.nn import modules as modules
from minigrad.torch.nn import parallel as parallel
from minigrad.torch.nn import parameter as parameter
from minigrad.torch.nn import utils as utils
from minigrad.torch.nn.classes import Buffer as Buffer
from minigrad.torch.nn.classes import Module as Module
from minigrad.torch.nn.classes import Parameter as Parameter
from minigrad.torch.nn.layers import DataParallel as DataParallel
from minigrad.torch.nn.layers import DistributedDataParallel as DistributedDataParallel
from minigrad.torch.tensor import Tensor

_T = TypeVar("_T")

class AdaptiveAvgPool1d(minigrad.nn.layers.pooling.AdaptiveAvgPool1d, _AdaptiveAvgPoolNd):
    def __init__(self, output_size: int) -> None: ...

class AdaptiveAvgPool2d(minigrad.nn.layers.pooling.AdaptiveAvgPool2d, _AdaptiveAvgPoolNd):
    def __init__(self, output_size: int | Sequence[int | None] | None) -> None: ...

class AdaptiveAvgPool3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class AdaptiveMaxPool1d(minigrad.nn.layers.pooling.AdaptiveMaxPool1d, _AdaptiveAvgPoolNd):
    def __init__(
        self,
        output_size: int,
        return_indices: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class AdaptiveMaxPool2d(minigrad.nn.layers.pooling.AdaptiveMaxPool2d, _AdaptiveAvgPoolNd):
    def __init__(
        self,
        output_size: int | Sequence[int | None] | None,
        return_indices: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class AdaptiveMaxPool3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class AdditiveAttention(minigrad.nn.source_documents.additive_attention.AdditiveAttention, Module):
    v: Parameter
    def __init__(self, d_q: int, d_k: int, d_attn: int) -> None: ...
    def forward(
        self,
        query: _AnyTensor,
        key: _AnyTensor,
        value: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
        *,
        need_weights: bool = False,
    ) -> Tensor: ...

class AlphaDropout(Module):
    def __init__(self, p: _float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class AvgPool1d(minigrad.nn.layers.pooling.AvgPool1d, _AvgPoolNd): ...

class AvgPool2d(minigrad.nn.layers.pooling.AvgPool2d, _AvgPoolNd):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class AvgPool3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class BCELoss(minigrad.nn.layers.loss.BCELoss, Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class BCEWithLogitsLoss(minigrad.nn.layers.loss.BCEWithLogitsLoss, Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        pos_weight: _AnyTensor | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class BatchNorm1d(minigrad.nn.layers.normalization.BatchNorm1d, _BatchNorm):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any

class BatchNorm2d(minigrad.nn.layers.normalization.BatchNorm2d, _BatchNorm):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any

class BatchNorm3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Bilinear(minigrad.nn.layers.linear.Bilinear, Module):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input1: _AnyTensor, input2: _AnyTensor) -> Tensor: ...

class CELU(minigrad.nn.layers.activation.CELU, Module):
    def __init__(self, alpha: _float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class CTCLoss(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CausalSelfAttention(
    minigrad.nn.source_documents.causal_self_attention.CausalSelfAttention, Module
):
    def __init__(
        self, d_model: int, num_heads: int, *, bias: bool = True, dropout: _float = 0.0
    ) -> None: ...
    def forward(self, x: _AnyTensor, *, need_weights: bool = False) -> Tensor: ...

class ChannelShuffle(Module):
    def __init__(self, groups: Any) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class CircularPad1d(minigrad.nn.layers.padding.CircularPad1d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class CircularPad2d(minigrad.nn.layers.padding.CircularPad2d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ConstantPad1d(minigrad.nn.layers.padding.ConstantPad1d, Module):
    def __init__(self, padding: int | Sequence[int], value: _float) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ConstantPad2d(minigrad.nn.layers.padding.ConstantPad2d, Module):
    def __init__(self, padding: int | Sequence[int], value: _float) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Conv1d(minigrad.nn.layers.convolution.Conv1d, _ConvNd):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Conv2d(minigrad.nn.layers.convolution.Conv2d, _ConvNd):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Conv3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ConvBNReLU1d(minigrad.nn.layers.blocks.ConvBNReLU1d, Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        conv_bias: bool = True,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        bn_affine: bool = True,
        track_running_stats: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ConvBNReLU2d(minigrad.nn.layers.blocks.ConvBNReLU2d, Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        conv_bias: bool = True,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        bn_affine: bool = True,
        track_running_stats: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ConvTranspose1d(minigrad.nn.layers.convolution.ConvTranspose1d, _ConvTransposeNd):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class ConvTranspose2d(minigrad.nn.layers.convolution.ConvTranspose2d, _ConvTransposeNd):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class ConvTranspose3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class CosineEmbeddingLoss(minigrad.nn.layers.loss.CosineEmbeddingLoss, Module):
    def __init__(
        self,
        margin: _float = 0.0,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input1: _AnyTensor, input2: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class CosineSimilarity(minigrad.nn.layers.loss.CosineSimilarity, Module):
    def __init__(
        self,
        dim: int = 1,
        eps: _float = 1e-08,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, x1: _AnyTensor, x2: _AnyTensor) -> Tensor: ...

class CrossEntropyLoss(minigrad.nn.layers.loss.CrossEntropyLoss, Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        ignore_index: int | None = -100,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        label_smoothing: _float = 0.0,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class DepthSeparableConv1d(minigrad.nn.layers.blocks.DepthSeparableConv1d, Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class DepthSeparableConv2d(minigrad.nn.layers.blocks.DepthSeparableConv2d, Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class DotProductAttention(
    minigrad.nn.source_documents.dot_product_attention.DotProductAttention, Module
):
    key_proj: Parameter
    query_proj: Parameter
    value_proj: Parameter
    def __init__(
        self, query_size: int, key_size: int, value_size: int, hidden_size: int
    ) -> None: ...
    def forward(
        self,
        query: _AnyTensor,
        key: _AnyTensor,
        value: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
        *,
        need_weights: bool = False,
    ) -> Tensor: ...

class DropPath(minigrad.nn.layers.dropout.DropPath, Module):
    def __init__(self, drop_prob: _float = 0.1, scale_by_keep: bool = True) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Dropout(minigrad.nn.layers.dropout.Dropout, Module):
    def __init__(self, p: _float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Dropout1d(minigrad.nn.layers.dropout.Dropout1d, Dropout): ...

class Dropout2d(minigrad.nn.layers.dropout.Dropout2d, Dropout):
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Dropout3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ELU(minigrad.nn.layers.activation.ELU, Module):
    def __init__(self, alpha: _float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class EinMix(minigrad.nn.layers.einops_layers.EinMix, Module):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self, pattern: str, weight_shape: str, bias_shape: str | None = None, **axes_lengths: int
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Embedding(minigrad.nn.layers.embedding.Embedding, Module):
    weight: Parameter
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: _float | None = None,
        norm_type: _float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor | np.ndarray) -> Tensor: ...

class EmbeddingBag(minigrad.nn.layers.embedding.EmbeddingBag, Embedding):
    weight: Parameter
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: _float | None = None,
        norm_type: _float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: Literal["sum", "mean", "max"] = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        input: _AnyTensor | np.ndarray,
        offsets: _AnyTensor | np.ndarray | None = None,
        per_sample_weights: _AnyTensor | None = None,
    ) -> Tensor: ...

class Flatten(minigrad.nn.layers.flatten.Flatten, Module):
    def __init__(
        self,
        start_dim: int = 1,
        end_dim: int = -1,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Fold(minigrad.nn.layers.resampling.Fold, Module):
    def __init__(
        self,
        output_size: int | Sequence[int],
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class GELU(minigrad.nn.layers.activation.GELU, Module):
    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class GLU(minigrad.nn.layers.activation.GLU, Module):
    def __init__(
        self,
        dim: int = -1,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class GRU(minigrad.nn.layers.recurrence.GRU, RNNBase):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: _float = 0.0,
        bidirectional: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self, input: _AnyTensor | minigrad.nn.utils.rnn.PackedSequence, hx: _AnyTensor | None = None
    ) -> tuple[Any, Tensor]: ...
    def __call__(self, input: _T, hx: _AnyTensor | None = None) -> tuple[_T, Tensor]: ...

class GRUCell(minigrad.nn.layers.recurrent_cells.GRUCell, RNNCellBase):
    bias_hh: Parameter | Any
    bias_ih: Parameter | Any
    weight_hh: Parameter
    weight_ih: Parameter
    def forward(self, input: _AnyTensor, hx: _AnyTensor | None = None) -> Tensor: ...

class GaussianNLLLoss(minigrad.nn.layers.loss.GaussianNLLLoss, Module):
    def __init__(
        self,
        *,
        full: bool = False,
        eps: _float = 1e-06,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor, var: Any) -> Tensor: ...

class GroupNorm(minigrad.nn.layers.normalization.GroupNorm, Module):
    bias: Parameter | Any
    weight: Parameter | Any
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: _float = 1e-05,
        affine: bool = True,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class HardSigmoid(minigrad.nn.layers.activation.HardSigmoid, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class HardSwish(minigrad.nn.layers.activation.HardSwish, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Hardshrink(Module):
    def __init__(self, lambd: _float = 0.5) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

Hardsigmoid = HardSigmoid
Hardswish = HardSwish

class Hardtanh(minigrad.nn.layers.activation.Hardtanh, Module):
    def __init__(
        self,
        min_val: _float = -1.0,
        max_val: _float = 1.0,
        inplace: bool = False,
        min_value: Any = None,
        max_value: Any = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class HingeEmbeddingLoss(Module):
    def __init__(
        self,
        margin: _float = 1.0,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class HuberLoss(minigrad.nn.layers.loss.HuberLoss, Module):
    def __init__(
        self, reduction: Literal["mean", "sum", "none"] | None = "mean", delta: _float = 1.0
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class Identity(minigrad.nn.layers.linear.Identity, Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class InstanceNorm1d(minigrad.nn.layers.normalization.InstanceNorm1d, _InstanceNorm):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any

class InstanceNorm2d(minigrad.nn.layers.normalization.InstanceNorm2d, _InstanceNorm):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any

class InstanceNorm3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class KLDivLoss(minigrad.nn.layers.loss.KLDivLoss, Module):
    def __init__(
        self,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | Literal["batchmean"] | None = "mean",
        log_target: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class L1Loss(minigrad.nn.layers.loss.L1Loss, Module):
    def __init__(
        self,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class LPPool1d(Module):
    def __init__(
        self,
        norm_type: _float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class LPPool2d(Module):
    def __init__(
        self,
        norm_type: _float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class LSTM(minigrad.nn.layers.recurrence.LSTM, RNNBase):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: _float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        input: _AnyTensor | minigrad.nn.utils.rnn.PackedSequence,
        hx: tuple[_AnyTensor, _AnyTensor] | None = None,
    ) -> tuple[Any, tuple[Tensor, Tensor]]: ...
    def __call__(
        self, input: _T, hx: tuple[_AnyTensor, _AnyTensor] | None = None
    ) -> tuple[_T, tuple[Tensor, Tensor]]: ...

class LSTMCell(minigrad.nn.layers.recurrent_cells.LSTMCell, RNNCellBase):
    bias_hh: Parameter | Any
    bias_ih: Parameter | Any
    weight_hh: Parameter
    weight_ih: Parameter
    def forward(
        self, input: _AnyTensor, hx: tuple[_AnyTensor, _AnyTensor] | None = None
    ) -> tuple[Tensor, Tensor]: ...

class LayerNorm(minigrad.nn.layers.normalization.LayerNorm, Module):
    bias: Parameter | Any
    weight: Parameter | Any
    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: _float = 1e-05,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LazyBatchNorm1d(minigrad.nn.layers.lazy.LazyBatchNorm1d, BatchNorm1d):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any
    def __init__(
        self,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LazyBatchNorm2d(minigrad.nn.layers.lazy.LazyBatchNorm2d, BatchNorm2d):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any
    def __init__(
        self,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LazyConv1d(minigrad.nn.layers.lazy.LazyConv1d, Conv1d):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LazyConv2d(minigrad.nn.layers.lazy.LazyConv2d, Conv2d):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: Literal["zeros", "reflect", "replicate", "circular"] = "zeros",
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LazyLinear(minigrad.nn.layers.lazy.LazyLinear, Linear):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LeakyReLU(minigrad.nn.layers.activation.LeakyReLU, Module):
    def __init__(self, negative_slope: _float = 0.01, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LearnedPosEmbedding(minigrad.nn.layers.positional.LearnedPosEmbedding, Module):
    def __init__(self, max_len: int, embed_dim: int) -> None: ...
    def forward(
        self, input: _AnyTensor, offset: int = 0, *, position_ids: Any = None
    ) -> Tensor: ...

class Linear(minigrad.nn.layers.linear.Linear, Module):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LocalResponseNorm(Module):
    def __init__(
        self,
        size: int | Sequence[int],
        alpha: _float = 0.0001,
        beta: _float = 0.75,
        k: int | _float = 1.0,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class LogSigmoid(minigrad.nn.layers.activation.LogSigmoid, Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class LogSoftmax(minigrad.nn.layers.activation.LogSoftmax, Module):
    def __init__(
        self,
        dim: int | Sequence[int] | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class MSELoss(minigrad.nn.layers.loss.MSELoss, Module):
    def __init__(
        self,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class MarginRankingLoss(minigrad.nn.layers.loss.MarginRankingLoss, Module):
    def __init__(
        self,
        margin: _float = 0.0,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input1: _AnyTensor, input2: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class MaxPool1d(minigrad.nn.layers.pooling.MaxPool1d, _MaxPoolNd):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class MaxPool2d(minigrad.nn.layers.pooling.MaxPool2d, _MaxPoolNd):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...

class MaxPool3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class MaxUnpool1d(minigrad.nn.layers.pooling.MaxUnpool1d, Module):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
    ) -> None: ...
    def forward(
        self, input: _AnyTensor, indices: _AnyTensor, output_size: Sequence[int] | None = None
    ) -> Tensor: ...

class MaxUnpool2d(minigrad.nn.layers.pooling.MaxUnpool2d, Module):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
    ) -> None: ...
    def forward(
        self, input: _AnyTensor, indices: _AnyTensor, output_size: Sequence[int] | None = None
    ) -> Tensor: ...

class MaxUnpool3d(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Mish(minigrad.nn.layers.activation.Mish, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ModuleDict(minigrad.nn.module.containers.ModuleDict, Module):
    def __init__(
        self,
        modules: Mapping[str, minigrad.nn.module.base.Module]
        | Iterable[tuple[str, minigrad.nn.module.base.Module]]
        | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def __getitem__(self, key: str) -> Module: ...
    def __setitem__(self, key: str, module: minigrad.nn.module.base.Module) -> None: ...
    def add_module(self, name: str, module: minigrad.nn.module.base.Module | None) -> None: ...
    def named_children(self) -> Iterator[tuple[str, Module]]: ...

class ModuleList(minigrad.nn.module.containers.ModuleList, Module):
    def __init__(
        self,
        modules: Iterable[minigrad.nn.module.base.Module] | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def __getitem__(self, index: int | slice) -> Module | Self: ...
    def __iter__(self) -> Iterator[Module]: ...
    def add_module(self, name: str, module: minigrad.nn.module.base.Module | None) -> None: ...
    def append(self, value: minigrad.nn.module.base.Module) -> Self: ...
    def extend(self, values: Iterable[minigrad.nn.module.base.Module]) -> Self: ...
    def insert(self, index: int, value: minigrad.nn.module.base.Module) -> None: ...
    def named_children(self) -> Iterator[tuple[str, Module]]: ...

class MultiHeadAttention(minigrad.nn.attention.multi_head.MultiHeadAttention, Module):
    bias_k: Parameter | Any
    bias_v: Parameter | Any
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: _float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        *,
        num_kv_heads: int | None = None,
        rope: minigrad.nn.layers.positional.RotaryPosEmbedding | None = None,
    ) -> None: ...
    def forward(
        self,
        query: _AnyTensor,
        key: _AnyTensor,
        value: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
        kv_cache: minigrad.nn.attention.cache.KVCache | None = None,
        use_cache: bool = False,
        cache_position: Any = None,
        cache_layer_idx: int | None = None,
        *,
        need_weights: bool = False,
        query_offset: int | None = None,
    ) -> Tensor: ...

class MultiHeadDotProductAttention(
    minigrad.nn.source_documents.dot_product_attention.MultiHeadDotProductAttention, Module
):
    def __init__(
        self, query_size: int, key_size: int, value_size: int, hidden_size: int, num_heads: int
    ) -> None: ...
    def forward(
        self,
        query: _AnyTensor,
        key: _AnyTensor,
        value: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
        *,
        need_weights: bool = False,
    ) -> Tensor: ...

class MultiLabelSoftMarginLoss(Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class MultiMarginLoss(Module):
    def __init__(
        self,
        p: _float = 1,
        margin: _float = 1.0,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class MultiheadAttention(minigrad.torch.nn.multihead.MultiheadAttention, MultiHeadAttention):
    bias_k: Parameter | Any
    bias_v: Parameter | Any
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: _float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        query: _AnyTensor,
        key: _AnyTensor,
        value: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        need_weights: bool = True,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]: ...

class NLLLoss(minigrad.nn.layers.loss.NLLLoss, Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        ignore_index: int | None = -100,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class PReLU(minigrad.nn.layers.activation.PReLU, Module):
    weight: Parameter
    def __init__(
        self,
        num_parameters: int = 1,
        init: _float = 0.25,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class PairwiseDistance(Module):
    def __init__(self, p: _float = 2.0, eps: _float = 1e-06, keepdim: bool = False) -> None: ...
    def forward(self, x1: _AnyTensor, x2: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class ParameterDict(minigrad.nn.module.parameter_containers.ParameterDict, Module):
    def __init__(
        self, parameters: Mapping[str, _AnyTensor] | Iterable[tuple[str, _AnyTensor]] = ()
    ) -> None: ...
    def __getitem__(self, key: str) -> Parameter: ...

class ParameterList(minigrad.nn.module.parameter_containers.ParameterList, Module):
    def __init__(self, values: Iterable[_AnyTensor] = ()) -> None: ...
    def __getitem__(self, index: int | slice) -> Parameter | ParameterList: ...
    def __iter__(self) -> Iterator[Parameter]: ...

class PixelShuffle(minigrad.nn.layers.resampling.PixelShuffle, Module):
    def __init__(self, upscale_factor: int) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class PixelUnshuffle(Module):
    def __init__(self, downscale_factor: Any) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class PoissonNLLLoss(Module):
    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: _float = 1e-08,
        reduce: str | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, log_input_: Any, target: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class RMSNorm(minigrad.nn.layers.normalization.RMSNorm, Module):
    bias: Parameter | Any
    weight: Parameter | Any
    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: _float | None = None,
        elementwise_affine: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class RNN(minigrad.nn.layers.recurrence.RNN, RNNBase):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Literal["tanh", "relu"] = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: _float = 0.0,
        bidirectional: bool = False,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self, input: _AnyTensor | minigrad.nn.utils.rnn.PackedSequence, hx: _AnyTensor | None = None
    ) -> tuple[Any, Tensor]: ...
    def __call__(self, input: _T, hx: _AnyTensor | None = None) -> tuple[_T, Tensor]: ...

class RNNBase(minigrad.nn.layers.recurrence._Recurrent, Module):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: _float = 0.0,
        bidirectional: bool = False,
    ) -> None: ...

class RNNCell(minigrad.nn.layers.recurrent_cells.RNNCell, RNNCellBase):
    bias_hh: Parameter | Any
    bias_ih: Parameter | Any
    weight_hh: Parameter
    weight_ih: Parameter
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Literal["tanh", "relu"] = "tanh",
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, hx: _AnyTensor | None = None) -> Tensor: ...

class RNNCellBase(minigrad.nn.layers.recurrent_cells._Cell, Module):
    bias_hh: Parameter | Any
    bias_ih: Parameter | Any
    weight_hh: Parameter
    weight_ih: Parameter
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None: ...

class RReLU(Module):
    def __init__(
        self, lower: _float = 0.125, upper: _float = 0.3333333333333333, inplace: bool = False
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class ReLU(minigrad.nn.layers.activation.ReLU, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ReLU6(minigrad.nn.layers.activation.ReLU6, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Rearrange(minigrad.nn.layers.einops_layers.Rearrange, Module):
    def __init__(self, pattern: str, **shapes: int) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Reduce(minigrad.nn.layers.einops_layers.Reduce, Module):
    def __init__(
        self, pattern: str, reduction: str | Callable[[Any, Any], Any], **shapes: int
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ReflectionPad1d(minigrad.nn.layers.padding.ReflectionPad1d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ReflectionPad2d(minigrad.nn.layers.padding.ReflectionPad2d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ReplicationPad1d(minigrad.nn.layers.padding.ReplicationPad1d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ReplicationPad2d(minigrad.nn.layers.padding.ReplicationPad2d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class RotaryPosEmbedding(minigrad.nn.layers.positional.RotaryPosEmbedding, Module):
    def __init__(
        self,
        embed_dim: int | None = None,
        max_seq_len: int | None = None,
        interleaved: bool = True,
        *,
        base: _float = 10000.0,
    ) -> None: ...
    def forward(
        self, input: _AnyTensor, position_ids: Any = None, *, offset: int = 0
    ) -> Tensor: ...

class SELU(minigrad.nn.layers.activation.SELU, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class SEModule(minigrad.nn.layers.blocks.SEModule, Module):
    def __init__(self, in_channels: int, reduction: int = 16) -> None: ...
    def forward(self, x: _AnyTensor) -> Tensor: ...

class ScaledDotProductAttention(minigrad.nn.attention.multi_head.ScaledDotProductAttention, Module):
    def __init__(
        self,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        dropout_p: _float = 0.0,
        is_causal: bool = False,
        scale: _float | None = None,
    ) -> None: ...
    def forward(self, query: _AnyTensor, key: _AnyTensor, value: _AnyTensor) -> Tensor: ...

class SelectiveKernel(minigrad.nn.layers.blocks.SelectiveKernel, Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_sizes: Sequence[int],
        stride: int = 1,
        padding: int | Sequence[int] | Literal["same", "valid"] | None = None,
        groups: int = 1,
        reduction: int = 16,
    ) -> None: ...
    def forward(self, x: _AnyTensor) -> Tensor: ...

class Sequential(minigrad.nn.module.containers.Sequential, Module):
    def __init__(
        self,
        *modules: minigrad.nn.module.base.Module | Mapping[str, minigrad.nn.module.base.Module],
    ) -> None: ...
    def __getitem__(self, index: int | slice) -> Module | Self: ...
    def __iter__(self) -> Iterator[Module]: ...
    def add_module(self, name: str, module: minigrad.nn.module.base.Module | None) -> None: ...
    def append(self, value: minigrad.nn.module.base.Module) -> Self: ...
    def extend(self, values: Iterable[minigrad.nn.module.base.Module]) -> Self: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    def insert(self, index: int, value: minigrad.nn.module.base.Module) -> None: ...
    def named_children(self) -> Iterator[tuple[str, Module]]: ...

class SiLU(minigrad.nn.layers.activation.SiLU, Module):
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Sigmoid(minigrad.nn.layers.activation.Sigmoid, Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class SinusoidalPosEmbedding(minigrad.nn.layers.positional.SinusoidalPosEmbedding, Module):
    table: Tensor | Any
    def __init__(self, seq_len: int | None = None, embed_dim: int | None = None) -> None: ...
    def forward(
        self, input: _AnyTensor, *, offset: int = 0, position_ids: Any = None
    ) -> Tensor: ...

class SmoothL1Loss(minigrad.nn.layers.loss.SmoothL1Loss, Module):
    def __init__(
        self,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        beta: _float = 1.0,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...

class SoftMarginLoss(Module):
    def __init__(
        self, size_average: Any = None, reduce: str | None = None, reduction: str = "mean"
    ) -> None: ...
    def forward(self, input: _AnyTensor, target: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Softmax(minigrad.nn.layers.activation.Softmax, Module):
    def __init__(
        self,
        dim: int | Sequence[int] | None = None,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Softmax2d(Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Softmin(Module):
    def __init__(self, dim: int | Sequence[int] | None = None) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Softplus(minigrad.nn.layers.activation.Softplus, Module):
    def __init__(
        self,
        beta: _float = 1.0,
        threshold: _float = 20.0,
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Softshrink(Module):
    def __init__(self, lambd: _float = 0.5) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Softsign(minigrad.nn.layers.activation.Softsign, Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class SwiGLU(minigrad.nn.transformers.feed_forward.SwiGLU, Module):
    def __init__(self, d_model: int, d_ff: int | None = None, bias: bool = False) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

Swish = SiLU

class SyncBatchNorm(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Tanh(minigrad.nn.layers.activation.Tanh, Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Tanhshrink(Module):
    def __init__(self) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Threshold(Module):
    def __init__(
        self, threshold: _float, value: _AnyTensor | _float, inplace: bool = False
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Transformer(minigrad.torch.nn.transformers.Transformer, Module):
    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: _float = 0.1,
        activation: str | Callable[[Tensor], _AnyTensor] = ...,
        custom_encoder: minigrad.nn.module.base.Module | None = None,
        custom_decoder: minigrad.nn.module.base.Module | None = None,
        layer_norm_eps: _float = 1e-05,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        src: _AnyTensor,
        tgt: _AnyTensor,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerBlock(minigrad.nn.source_documents.transformer_block.TransformerBlock, Module):
    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        num_heads: int,
        output_dim: int,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        input: _AnyTensor,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        attn_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
    ) -> Tensor: ...

class TransformerDecoder(minigrad.torch.nn.transformers.TransformerDecoder, Module):
    def __init__(
        self,
        decoder_layer: minigrad.nn.module.base.Module,
        num_layers: int,
        norm: minigrad.nn.module.base.Module | None = None,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        tgt: _AnyTensor,
        memory: _AnyTensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerDecoderLayer(minigrad.torch.nn.transformers.TransformerDecoderLayer, Module):
    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: _float = 0.1,
        activation: str | Callable[[Tensor], _AnyTensor] = ...,
        layer_norm_eps: _float = 1e-05,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        tgt: _AnyTensor,
        memory: _AnyTensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor: ...

class TransformerEncoder(minigrad.torch.nn.transformers.TransformerEncoder, Module):
    def __init__(
        self,
        encoder_layer: minigrad.nn.module.base.Module,
        num_layers: int,
        norm: minigrad.nn.module.base.Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        src: _AnyTensor,
        mask: _AnyTensor | None = None,
        src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Tensor: ...

class TransformerEncoderBlock(
    minigrad.nn.source_documents.encoder_block.TransformerEncoderBlock, Module
):
    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int | None = None,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        x: _AnyTensor,
        mask: _AnyTensor | np.ndarray | None = None,
        *,
        key_padding_mask: _AnyTensor | np.ndarray | None = None,
        is_causal: bool = False,
    ) -> Tensor: ...

class TransformerEncoderLayer(minigrad.torch.nn.transformers.TransformerEncoderLayer, Module):
    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: _float = 0.1,
        activation: str | Callable[[Tensor], _AnyTensor] = ...,
        layer_norm_eps: _float = 1e-05,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(
        self,
        src: _AnyTensor,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Tensor: ...

class TripletMarginLoss(minigrad.nn.layers.loss.TripletMarginLoss, Module):
    def __init__(
        self,
        margin: _float = 1.0,
        p: _float = 2.0,
        eps: _float = 1e-06,
        swap: bool = False,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: Literal["mean", "sum", "none"] | None = "mean",
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, anchor: _AnyTensor, positive: _AnyTensor, negative: _AnyTensor) -> Tensor: ...

class TripletMarginWithDistanceLoss(Module):
    def __init__(
        self,
        *,
        distance_function: Any = None,
        margin: _float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, anchor: _AnyTensor, positive: _AnyTensor, negative: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class Unflatten(minigrad.nn.layers.flatten.Unflatten, Module):
    def __init__(
        self,
        dim: int,
        unflattened_size: Sequence[int],
        device: str | minigrad.tensors.creation.Device | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Unfold(minigrad.nn.layers.resampling.Unfold, Module):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class Upsample(minigrad.nn.layers.resampling.Upsample, Module):
    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: _float | Sequence[_float] | None = None,
        mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "area"] = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class UpsamplingBilinear2d(Module):
    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: Any = None
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class UpsamplingNearest2d(Module):
    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: Any = None
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...
    repr_fields: Any

class ZeroPad1d(minigrad.nn.layers.padding.ZeroPad1d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class ZeroPad2d(minigrad.nn.layers.padding.ZeroPad2d, Module):
    def __init__(self, padding: int | Sequence[int]) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class _AdaptiveAvgPoolNd(minigrad.nn.layers.pooling._Adaptive, Module):
    def forward(self, input: _AnyTensor) -> Tensor: ...

class _AvgPoolNd(minigrad.nn.layers.pooling._AvgPool, Module):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class _BatchNorm(minigrad.nn.layers.normalization._BatchNorm, Module):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any
    def __init__(
        self,
        num_features: int,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class _ConvNd(minigrad.nn.layers.convolution._Kernels, Module):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int],
        dilation: int | Sequence[int],
        groups: int,
        bias: bool,
        transposed: bool,
    ) -> None: ...

class _ConvTransposeNd(minigrad.nn.layers.convolution._Transposed, _ConvNd):
    bias: Parameter | Any
    weight: Parameter
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

_DropoutNd = Dropout

class _InstanceNorm(minigrad.nn.layers.normalization._InstanceNorm, _BatchNorm):
    bias: Parameter | Any
    num_batches_tracked: Tensor | Any
    running_mean: Tensor | Any
    running_var: Tensor | Any
    weight: Parameter | Any
    def __init__(
        self,
        num_features: int,
        eps: _float = 1e-05,
        momentum: _float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        *,
        bias: bool = True,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

class _Loss(Module):
    def __init__(
        self, size_average: Any = None, reduce: str | None = None, reduction: str = "mean"
    ) -> None: ...
    def forward(self, *args: Any) -> Tensor: ...
    repr_fields: Any

class _MaxPoolNd(minigrad.nn.layers.pooling._MaxPool, Module):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        *,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> None: ...
    def forward(self, input: _AnyTensor) -> Tensor: ...

_NormBase = _BatchNorm

class _WeightedLoss(Module):
    def __init__(
        self,
        weight: _AnyTensor | _float | None = None,
        size_average: Any = None,
        reduce: str | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, *args: Any) -> Tensor: ...
    repr_fields: Any
