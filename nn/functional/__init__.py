"""The layers without state, as functions of tensors; usually imported as F."""

from minigrad.nn.functional.activation import (
    gelu,
    log_softmax,
    relu,
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
    l1_loss,
    mse_loss,
    nll_loss,
)
from minigrad.nn.functional.masks import create_causal_mask, create_padding_mask
from minigrad.nn.functional.normalization import layer_norm, rms_norm
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
    "add_positional_encoding",
    "additive_attention",
    "alibi_bias",
    "apply_attention_mask",
    "attention_weights",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "compute_attention_scores",
    "cosine_similarity",
    "create_causal_mask",
    "create_padding_mask",
    "cross_entropy",
    "dropout",
    "embedding",
    "feed_forward",
    "gelu",
    "huber_loss",
    "l1_loss",
    "layer_norm",
    "learned_positional_encoding",
    "linear",
    "log_softmax",
    "merge_heads",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "rms_norm",
    "rotary_pos_embedding",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "sinusoidal_encoding",
    "sinusoidal_pos_embedding",
    "softmax",
    "softplus",
    "split_heads",
    "stack_encoder_blocks",
    "tanh",
]
