"""Causal self-attention with one fused projection to queries, keys and values."""

from __future__ import annotations

import math
from typing import Any

from minigrad.autograd.errors import value_error
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.layers.linear import Linear
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_divisible, check_probability, check_size, optional_package
from minigrad.tensors.tensor import Tensor

__all__ = ["CausalSelfAttention"]


class CausalSelfAttention(Module):
    r"""Causal multi-head self-attention with a fused projection.

    .. math::

        (Q \mid K \mid V) = x W_{qkv}^\top + b_{qkv}, \qquad
        A_h = \operatorname{softmax}\Big(\frac{Q_h K_h^\top}{\sqrt{d_k}} + M\Big) V_h, \qquad
        \text{Output} = (A_1 \mid \dots \mid A_H)\, W_o^\top + b_o,

    where M is 0 on and below the diagonal and -∞ above it. The fused axis is ordered
    ``(o head d_k)``: all of Q, then all of K, then all of V, head by head in each, as in PyTorch's
    ``in_proj_weight``. Each of the three projections is initialized as by
    `init.xavier_uniform`; biases are zero. With equal weights it equals `MultiHeadAttention` with
    ``is_causal=True``, but takes any number of batch axes.

    It needs the package einops.

    Source: Vaswani et al., "Attention is all you need", 2017; the notes on causal self-attention
    (docs/source_documents.md).

    Args:
        d_model: The width of input and output.
        num_heads: H, the number of heads; it divides d_model, and d_k = d_model / H.
        bias: Whether the projections have a bias.
        dropout: The dropout probability of the attention weights in training.

    Attributes:
        qkv_weights: The fused projection, weight of shape (3 · d_model, d_model).
        o_weight: The projection of the concatenated heads, weight of shape (d_model, d_model).

    Raises:
        ImportError: einops is not installed.
        ValueError: num_heads does not divide d_model, or an argument is out of its range.

    Example:
        >>> from minigrad import nn, randn
        >>> attention = nn.CausalSelfAttention(d_model=16, num_heads=4)
        >>> attention(randn(2, 10, 16)).shape  # (batch, seq_len, d_model)
        minigrad.Size([2, 10, 16])
        >>> output, weights = attention(randn(10, 16), need_weights=True)
        >>> output.shape, weights.shape
        (minigrad.Size([10, 16]), minigrad.Size([4, 10, 10]))
    """

    repr_fields = ("d_model", "num_heads", "dropout")

    def __init__(
        self, d_model: int, num_heads: int, *, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        owner = "CausalSelfAttention"
        optional_package(owner, "einops")
        self.d_model = check_size(owner, "d_model", d_model)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.dropout = check_probability(owner, "dropout", dropout)
        check_divisible(owner, d_model=d_model, num_heads=num_heads)
        self.qkv_weights = Linear(d_model, 3 * d_model, bias)
        self.o_weight = Linear(d_model, d_model, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize all projections again."""
        # The bound of xavier_uniform for a matrix (d_model, d_model): each of Q, K, V is one.
        bound = math.sqrt(6 / (self.d_model + self.d_model))
        init.uniform(self.qkv_weights.weight, -bound, bound)
        init.xavier_uniform(self.o_weight.weight)
        for projection in (self.qkv_weights, self.o_weight):
            if projection.bias is not None:
                init.constant(projection.bias, 0.0)

    def forward(self, x: Tensor, *, need_weights: bool = False) -> Any:
        """Apply attention of each position to itself and earlier ones.

        Args:
            x: A tensor of shape (..., seq_len, d_model), with any number of batch axes.
            need_weights: Whether to also return the weights of every head.

        Returns:
            A tensor of the shape of `x`; with `need_weights` also the weights before dropout, of
            shape (..., H, seq_len, seq_len).
        """
        if x.ndim < 2 or x.shape[-1] != self.d_model:
            raise value_error(
                f"CausalSelfAttention: x must have shape (..., seq_len, {self.d_model}), "
                f"got {tuple(x.shape)}"
            )
        rearrange = optional_package("CausalSelfAttention", "einops").rearrange
        q, k, v = rearrange(  # (..., seq_len, 3 · d_model) -> thrice (..., H, seq_len, d_k)
            self.qkv_weights(x),
            "... seq_len (o head d_k) -> o ... head seq_len d_k", o=3, head=self.num_heads,
        )  # fmt: skip
        dropout = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, output_weight=need_weights
        )
        heads, weights = attended if need_weights else (attended, None)
        output = self.o_weight(rearrange(heads, "... head seq_len d_k -> ... seq_len (head d_k)"))
        return (output, weights) if need_weights else output
