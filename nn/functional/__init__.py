"""The layers without state, as functions of tensors; usually imported as F."""

from minigrad.nn.functional.activation import (
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from minigrad.nn.functional.attention import scaled_dot_product_attention
from minigrad.nn.functional.attention_steps import (
    additive_attention,
    apply_attention_mask,
    attention_weights,
    compute_attention_scores,
)
from minigrad.nn.functional.channel_norm import batch_norm, group_norm
from minigrad.nn.functional.convolution import (
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
)
from minigrad.nn.functional.dropout import dropout
from minigrad.nn.functional.embedding import embedding, one_hot
from minigrad.nn.functional.encoder_block import feed_forward, stack_encoder_blocks
from minigrad.nn.functional.heads import merge_heads, split_heads
from minigrad.nn.functional.linear import linear
from minigrad.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from minigrad.nn.functional.masks import create_causal_mask, create_padding_mask
from minigrad.nn.functional.normalization import layer_norm, rms_norm
from minigrad.nn.functional.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from minigrad.nn.functional.positional import (
    alibi_bias,
    rotary_pos_embedding,
    sinusoidal_pos_embedding,
)
from minigrad.nn.functional.positional_encoding import (
    add_positional_encoding,
    learned_positional_encoding,
    sinusoidal_encoding,
)
from minigrad.nn.functional.similarity import cosine_similarity

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "add_positional_encoding",
    "additive_attention",
    "alibi_bias",
    "apply_attention_mask",
    "attention_weights",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "compute_attention_scores",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
    "cosine_similarity",
    "create_causal_mask",
    "create_padding_mask",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "feed_forward",
    "gelu",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "learned_positional_encoding",
    "linear",
    "log_softmax",
    "max_pool1d",
    "max_pool2d",
    "merge_heads",
    "mish",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "relu6",
    "rms_norm",
    "rotary_pos_embedding",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "sinusoidal_encoding",
    "sinusoidal_pos_embedding",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "split_heads",
    "stack_encoder_blocks",
    "tanh",
]
