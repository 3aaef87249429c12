"""Attention layers: scaled dot-product attention, and multi-head attention with its projections."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad._creation import empty, zeros
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.checks import check_probability, check_size
from minigrad.nn.functional.attention import attend
from minigrad.nn.linear import Linear
from minigrad.nn.masks import MaskLike, combine
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter


class ScaledDotProductAttention(Module):
    r"""Attention without parameters: :math:`\operatorname{softmax}(Q K^\top / \sqrt{E} + M)\, V`.

    Args:
        attn_mask: Which pairs count; bool: True = may attend; float: added to the scores.
        dropout_p: The probability with which a weight is dropped while training.
        is_causal: Query i may attend to keys 0 to i only.
        scale: The factor on the scores, 1/√E by default.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> x = minigrad.randn(2, 10, 16)
        >>> nn.ScaledDotProductAttention(is_causal=True)(x, x, x).shape
        (2, 10, 16)
    """

    def __init__(
        self,
        attn_mask: MaskLike = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        self.attn_mask = attn_mask
        self.dropout_p = check_probability("ScaledDotProductAttention", "dropout_p", dropout_p)
        self.is_causal = is_causal
        self.scale = scale

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Attend.

        Args:
            query: A tensor of shape (..., L, E).
            key: A tensor of shape (..., S, E).
            value: A tensor of shape (..., S, E_v).

        Returns:
            A tensor of shape (..., L, E_v).
        """
        dropout_p = self.dropout_p if self.training else 0.0
        output: Tensor = F.scaled_dot_product_attention(
            query, key, value, self.attn_mask, dropout_p, self.is_causal, self.scale
        )
        return output

    def extra_repr(self) -> str:
        return f"dropout_p={self.dropout_p}, is_causal={self.is_causal}, scale={self.scale}"


class MultiHeadAttention(Module):
    r"""Multi-head attention: several attentions side by side, each on a projection of its own.

    .. math::

        A_i = \operatorname{softmax}\Big(\frac{Q_i K_i^\top}{\sqrt{d_h}} + M\Big) V_i,
        \qquad \text{Output} = \operatorname{Concat}(A_1, \dots, A_H)\, W^O,

    where :math:`Q_i, K_i, V_i` are the i-th of H slices, each :math:`d_h` = embed_dim / H wide, of
    the projected query, key and value.

    Projection weights are drawn by `init.xavier_uniform`, each matrix by itself; biases are zero.
    PyTorch's state dicts load, the packed `in_proj_weight` included.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Args:
        embed_dim: The width of query and output.
        num_heads: H, the number of heads; it divides embed_dim.
        dropout: The probability with which an attention weight is dropped while training.
        bias: Whether the projections add a bias.
        add_bias_kv: Whether a learned key and value is put behind those given.
        add_zero_attn: Whether a key and value of zeros is put behind them.
        kdim: The width of the key, embed_dim by default.
        vdim: The width of the value, embed_dim by default.

    Attributes:
        q_proj: The projection of queries, weight of shape (embed_dim, embed_dim).
        k_proj: The projection of keys, weight of shape (embed_dim, kdim).
        v_proj: The projection of values, weight of shape (embed_dim, vdim).
        out_proj: The projection of the concatenated heads.
        bias_k: The learned key, of shape (1, 1, embed_dim), or None.
        bias_v: The learned value, of the same shape, or None.

    Raises:
        ValueError: num_heads does not divide embed_dim, or a size is not positive.

    Example:
        >>> import minigrad.nn as nn
        >>> from minigrad import Tensor
        >>> mha = nn.MultiHeadAttention(embed_dim=512, num_heads=8)
        >>> query = Tensor.randn(16, 10, 512)  # (batch, seq_len, embed_dim)
        >>> key = Tensor.randn(16, 12, 512)
        >>> value = Tensor.randn(16, 12, 512)
        >>> mha(query, key, value).shape
        (16, 10, 512)
        >>> output, weights = mha(query, key, value, need_weights=True)
        >>> weights.shape
        (16, 8, 10, 12)
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        super().__init__()
        owner = "MultiHeadAttention"
        self.embed_dim = check_size(owner, "embed_dim", embed_dim)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.kdim = embed_dim if kdim is None else check_size(owner, "kdim", kdim)
        self.vdim = embed_dim if vdim is None else check_size(owner, "vdim", vdim)
        self.dropout = check_probability(owner, "dropout", dropout)
        self.add_zero_attn = add_zero_attn
        if embed_dim % num_heads:
            raise ValueError(
                f"{owner}: embed_dim must be divisible by num_heads, got {embed_dim}, {num_heads}"
            )
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, bias)
        self.k_proj = Linear(self.kdim, embed_dim, bias)
        self.v_proj = Linear(self.vdim, embed_dim, bias)
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.bias_k = Parameter(empty((1, 1, embed_dim))) if add_bias_kv else None
        self.bias_v = Parameter(empty((1, 1, embed_dim))) if add_bias_kv else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all projections anew."""
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            init.xavier_uniform(projection.weight)
            if projection.bias is not None:
                init.constant(projection.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None,
        is_causal: bool = False,
        *,
        need_weights: bool = False,
    ) -> Any:
        """Attend from each query to the keys.

        Args:
            query: A tensor of shape (N, L, embed_dim).
            key: A tensor of shape (N, S, kdim).
            value: A tensor of shape (N, S, vdim).
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored.
            attn_mask: A mask of shape (L|1, S), (N|1, L|1, S) or (N|1, H|1, L|1, S). Bool:
                True = may attend. Float: added to the scores, with a gradient if it requires one.
            is_causal: Query i may attend to keys 0 to i only, besides what the masks say.
            need_weights: Return the weights of every head too.

        Returns:
            A tensor of shape (N, L, embed_dim); with `need_weights` also the weights before
            dropout, of shape (N, H, L, S + extra keys). A query that may attend nowhere gets
            weights of zero, and the output projection's bias as output.

        Raises:
            TypeError: A mask has the wrong dtype.
            ValueError: Shapes do not fit.
        """
        self._check_inputs(query, key, value)
        n, length, _ = query.shape
        q = self.q_proj(query)  # (N, L, E)
        k, v, extra_keys = self._with_extra_keys(self.k_proj(key), self.v_proj(value))  # (N, S', E)
        mask = combine(
            (n, self.num_heads, length, key.shape[1]), q.dtype,
            attn_mask, key_padding_mask, is_causal, extra_keys,
        )  # fmt: skip
        q, k, v = self._split(q), self._split(k), self._split(v)  # (N, H, L or S', d)
        dropout = self.dropout if self.training else 0.0
        heads, weights = attend(q, k, v, mask, dropout, need_weights=need_weights)
        merged = heads.swapaxes(1, 2).reshape(n, length, self.embed_dim)  # (N, L, E)
        output = self.out_proj(merged)
        return (output, weights) if need_weights else output

    def _with_extra_keys(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, int]:
        """Put the learned key and value, and those of zeros, behind the given ones."""
        keys, values = [k], [v]
        one = (k.shape[0], 1, self.embed_dim)
        if self.bias_k is not None and self.bias_v is not None:
            keys.append(ops.broadcast_to(self.bias_k, one))
            values.append(ops.broadcast_to(self.bias_v, one))
        if self.add_zero_attn:
            keys.append(zeros(one, dtype=k.dtype))
            values.append(zeros(one, dtype=v.dtype))
        if len(keys) == 1:
            return k, v, 0
        return ops.concatenate(keys, axis=1), ops.concatenate(values, axis=1), len(keys) - 1

    def _split(self, x: Tensor) -> Tensor:
        """(N, L, E) -> (N, H, L, d)."""
        n, length, _ = x.shape
        return x.reshape(n, length, self.num_heads, self.head_dim).swapaxes(1, 2)

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        inputs = {"query": query, "key": key, "value": value}
        widths = (self.embed_dim, self.kdim, self.vdim)
        for (name, tensor), width in zip(inputs.items(), widths, strict=True):
            if tensor.ndim != 3 or tensor.shape[2] != width:
                axis = "L" if name == "query" else "S"
                hint = "; add the batch axis with .expand_dims(0)" if tensor.ndim == 2 else ""
                raise ValueError(
                    located(
                        f"MultiHeadAttention: {name} must have shape (N, {axis}, {width}), "
                        f"got {tensor.shape}{hint}"
                    )
                )
        if not query.shape[0] == key.shape[0] == value.shape[0] or key.shape[1] != value.shape[1]:
            raise ValueError(
                located(
                    f"MultiHeadAttention: query {query.shape}, key {key.shape} and value "
                    f"{value.shape} need the same batch size, key and value the same length"
                )
            )

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Unpack what PyTorch keeps as in_proj_weight and in_proj_bias, or q_proj_weight and so on.

        Args:
            state: The values of this module and those below it, by path from here.

        Returns:
            The same under the names q_proj.weight, q_proj.bias and so on.
        """
        projections = ("q_proj", "k_proj", "v_proj")
        for kind in ("weight", "bias"):
            packed = state.pop(f"in_proj_{kind}", None)
            for i, name in enumerate(projections):
                alone = state.pop(f"{name}_{kind}", None)
                if alone is not None:
                    state[f"{name}.{kind}"] = alone
                if packed is not None:  # what is too long or short shows in the last third
                    end = None if i == 2 else (i + 1) * self.embed_dim
                    state[f"{name}.{kind}"] = packed[i * self.embed_dim : end]
        return state

    def extra_repr(self) -> str:
        parts = [f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}"]
        parts += ["add_bias_kv=True"] * (self.bias_k is not None)
        parts += ["add_zero_attn=True"] * self.add_zero_attn
        return ", ".join(parts)
