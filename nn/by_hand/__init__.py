"""Attention and the transformer encoder in NumPy alone, every backward pass derived by hand.

What autograd does in the rest of minigrad is written out here: each forward function stands beside
its derivative, and the derivation stands in the docstring. Read it beside the engine, or use it as
a second opinion: with equal weights both give the same outputs and the same gradients.

The conventions, in every file:

- Arrays go in, arrays come out. Sequences are batch first, weights have shape (in, out).
- `grad_x` stands for ∂L/∂x, the derivative of one number L, the loss, and has the shape of x.
- A mask is bool and says True where a query attends. What it masks gets the score -1e9, so a query
  without any key attends to all of them alike.

These modules import nothing but NumPy and one another.
"""

from minigrad.nn.by_hand.attention_core import (
    additive_attention,
    additive_attention_backward,
    apply_attention_mask,
    attention_weights,
    attention_weights_backward,
    compute_attention_scores,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from minigrad.nn.by_hand.multi_head import (
    MultiHeadAttention,
    merge_heads,
    multi_head_attention_backward,
    multi_head_attention_forward,
    split_heads,
)
from minigrad.nn.by_hand.positional import (
    add_positional_encoding,
    create_causal_mask,
    create_padding_mask,
    learned_positional_encoding,
    sinusoidal_encoding,
)
from minigrad.nn.by_hand.transformer_block import (
    TransformerEncoderBlock,
    feed_forward,
    feed_forward_backward,
    layer_norm,
    layer_norm_backward,
    stack_encoder_blocks,
)

__all__ = [
    "MultiHeadAttention",
    "TransformerEncoderBlock",
    "add_positional_encoding",
    "additive_attention",
    "additive_attention_backward",
    "apply_attention_mask",
    "attention_weights",
    "attention_weights_backward",
    "compute_attention_scores",
    "create_causal_mask",
    "create_padding_mask",
    "feed_forward",
    "feed_forward_backward",
    "layer_norm",
    "layer_norm_backward",
    "learned_positional_encoding",
    "merge_heads",
    "multi_head_attention_backward",
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "sinusoidal_encoding",
    "split_heads",
    "stack_encoder_blocks",
]
