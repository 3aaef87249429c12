"""The transformer blocks of the source documents: one pre-norm, one post-norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.nn import functional as F
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.ops._numerics import array_of
from minigrad.support.checks import check_divisible, check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["TransformerBlock", "TransformerEncoderBlock"]

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
        linear1, linear2: The layers of the feed-forward network.
        norm1, norm2: The `LayerNorm` before the attention, and that before the network.

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


class TransformerBlock(Module):
    r"""A post-norm transformer block without an activation.

    Source document: the attention concept.

    .. math::

        Q, K, V = \operatorname{Linear}(x), \qquad a = \operatorname{MultiHeadAttention}(Q, K, V)

    .. math::

        y = \operatorname{LayerNorm}(\operatorname{Linear}(a) + x), \qquad
        z = \operatorname{LayerNorm}(\operatorname{Linear}(y) + y)

    Q, K and V come from three linear maps. The first sum needs hidden_dim = input_dim, the second
    output_dim = hidden_dim; anything else is an error. The only nonlinear parts
    are the attention and the normalization.

    Args:
        input_dim: The width of the input x.
        hidden_dim: The width of Q, K, V, a and y.
        num_heads: The number of attention heads; it divides hidden_dim.
        output_dim: The width of the output z.

    Attributes:
        query, key, value: The `Linear` layers that make Q, K and V.
        attention: The `MultiHeadAttention`, without biases.
        linear1, norm1: The `Linear` and the `LayerNorm` of y.
        linear2, norm2: Those of z.

    Example:
        >>> from minigrad import nn, randn
        >>> block = nn.TransformerBlock(input_dim=16, hidden_dim=16, num_heads=4, output_dim=16)
        >>> block(randn(10, 16)).shape
        minigrad.Size([10, 16])
        >>> block(randn(2, 10, 16), is_causal=True).shape
        minigrad.Size([2, 10, 16])
    """

    repr_fields = ("input_dim", "hidden_dim", "num_heads", "output_dim")

    def __init__(self, input_dim: int, hidden_dim: int, num_heads: int, output_dim: int) -> None:
        super().__init__()
        owner = "TransformerBlock"
        self.input_dim = check_size(owner, "input_dim", input_dim)
        self.hidden_dim = check_size(owner, "hidden_dim", hidden_dim)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.output_dim = check_size(owner, "output_dim", output_dim)
        check_divisible(owner, hidden_dim=hidden_dim, num_heads=num_heads)
        if not input_dim == hidden_dim == output_dim:
            sizes = f"{input_dim}, {hidden_dim} and {output_dim}"
            wanted = "its residual sums need equal input_dim, hidden_dim and output_dim"
            raise ValueError(f"{owner}: {wanted}, got {sizes}")
        self.query = Linear(input_dim, hidden_dim)
        self.key = Linear(input_dim, hidden_dim)
        self.value = Linear(input_dim, hidden_dim)
        self.attention = MultiHeadAttention(hidden_dim, num_heads, bias=False)
        self.linear1 = Linear(hidden_dim, hidden_dim)
        self.norm1 = LayerNorm(hidden_dim)
        self.linear2 = Linear(hidden_dim, output_dim)
        self.norm2 = LayerNorm(output_dim)

    def forward(
        self, input: Tensor, key_padding_mask: MaskLike = None, attn_mask: MaskLike = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence, or a batch of them.

        Args:
            input: A tensor of shape (L, input_dim) or (N, L, input_dim).
            key_padding_mask: A bool mask of shape (N, L): True = padding, ignored. For a single
                sequence N is 1.
            attn_mask: A mask of shape (L|1, L), (N|1, L|1, L) or (N|1, H|1, L|1, L). Bool: True =
                may attend. Float: added to the scores, with a gradient if it requires one.
            is_causal: Each position attends to itself and those before it only.
        """
        x = ops.expand_dims(input, 0) if input.ndim == 2 else input  # (N, L, input_dim)
        masks = (key_padding_mask, attn_mask, is_causal)
        attended = self.attention(self.query(x), self.key(x), self.value(x), *masks)
        x = self.norm1(self.linear1(attended) + x)
        x = self.norm2(self.linear2(x) + x)
        return ops.squeeze(x, 0) if input.ndim == 2 else x
