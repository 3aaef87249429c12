"""The pre-norm encoder block that `minigrad.nn.by_hand` differentiates by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.nn import functional as F
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.ops._numerics import array_of
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["TransformerEncoderBlock"]

BY_HAND = {
    "W_Q": "attention.q_proj.weight", "W_K": "attention.k_proj.weight",
    "W_V": "attention.v_proj.weight", "W_O": "attention.out_proj.weight",
    "W1": "linear1.weight", "b1": "linear1.bias", "W2": "linear2.weight", "b2": "linear2.bias",
    "gamma1": "norm1.weight", "beta1": "norm1.bias", "gamma2": "norm2.weight",
    "beta2": "norm2.bias",
}  # fmt: skip
"""The names in `by_hand.TransformerEncoderBlock`, whose weights have shape (in, out)."""


class TransformerEncoderBlock(Module):
    r"""A pre-norm encoder block: self-attention and a feed-forward network.

    .. math::

        y = x + \operatorname{Attention}(\operatorname{LayerNorm}(x)), \qquad
        z = y + W_2 \max(W_1 \operatorname{LayerNorm}(y) + b_1, 0) + b_2

    Source document: the Stage 15 specification. The attention has no bias, ε is 1e-6, and there is
    no dropout. With equal weights it equals `by_hand.TransformerEncoderBlock`; `load_state_dict`
    accepts its ``get_params()``.

    Source: Vaswani et al., "Attention is all you need", 2017; pre-norm: Xiong et al., "On layer
    normalization in the transformer architecture", 2020.

    Args:
        d_model: The width of input and output.
        num_heads: The number of attention heads; it divides d_model.
        d_ff: The hidden width of the feed-forward network, 4 · d_model by default.

    Attributes:
        attention: The `MultiHeadAttention`.
        linear1: The first layer of the feed-forward network.
        linear2: The second.
        norm1: The `LayerNorm` before the attention.
        norm2: The one before the feed-forward network.

    Example:
        >>> from minigrad import nn, randn
        >>> block = nn.TransformerEncoderBlock(d_model=16, num_heads=4)
        >>> lengths = nn.functional.create_padding_mask([10, 7], max_length=10)
        >>> block(randn(2, 10, 16), key_padding_mask=~lengths, is_causal=True).shape
        minigrad.Size([2, 10, 16])
        >>> loaded = block.load_state_dict(nn.by_hand.TransformerEncoderBlock(16, 4).get_params())
    """

    repr_fields = ("d_model", "num_heads", "d_ff")

    def __init__(self, d_model: int, num_heads: int, d_ff: int | None = None) -> None:
        super().__init__()
        owner = "TransformerEncoderBlock"
        self.d_model = check_size(owner, "d_model", d_model)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.d_ff = 4 * d_model if d_ff is None else check_size(owner, "d_ff", d_ff)
        self.norm1 = LayerNorm(d_model, eps=1e-6)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.norm2 = LayerNorm(d_model, eps=1e-6)
        self.linear1 = Linear(d_model, self.d_ff)
        self.linear2 = Linear(self.d_ff, d_model)

    def forward(
        self, x: Tensor, mask: MaskLike = None, *, key_padding_mask: MaskLike = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a batch of sequences.

        Args:
            x: A tensor of shape (N, L, d_model).
            mask: As `attn_mask` everywhere, of shape (L|1, L), (N|1, L|1, L) or
                (N|1, H|1, L|1, L). Bool: True = may attend. Float: added to the scores.
            key_padding_mask: A bool mask of shape (N, L): True = padding, ignored.
            is_causal: Each position attends to itself and those before it only.
        """
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, normed, key_padding_mask, mask, is_causal)
        hidden = F.relu(self.linear1(self.norm2(x)))
        return x + self.linear2(hidden)

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Translate the parameters of `by_hand`, whose weights are transposed."""
        return {
            BY_HAND.get(name, name): np.asarray(array_of(value)).T if name in BY_HAND else value
            for name, value in state.items()
        }
