"""`torch.nn.MultiheadAttention`: attention with PyTorch's contract."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.linear import Linear
from minigrad.nn.module.parameter import Parameter
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["MultiheadAttention"]

_WEIGHTS = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection: a `Linear` under PyTorch's name of the class."""


class MultiheadAttention(MultiHeadAttention):
    """`MultiHeadAttention` with PyTorch's arguments, masks and results.

    The arguments are those of `MultiHeadAttention`, and `batch_first`: whether the shapes are
    (N, L, E) and not (L, N, E).

    Its parameters are PyTorch's: `in_proj_weight`, `in_proj_bias`, or `q_proj_weight` and so on.
    Sequences come first unless ``batch_first=True``; a bool `attn_mask` is True where attention is
    **not** allowed; the result is a pair of output and weights; input without a batch axis is
    accepted. A query that may attend nowhere gets weights of zero, where PyTorch gives NaN.

    Example:
        >>> from minigrad import torch
        >>> attention = torch.nn.MultiheadAttention(8, 2)
        >>> memory = torch.ones(7, 1, 8)
        >>> output, weights = attention(torch.ones(5, 1, 8), memory, memory)
        >>> output.shape, weights.shape
        (minigrad.Size([5, 1, 8]), minigrad.Size([1, 5, 7]))
    """

    in_proj_weight: Parameter
    in_proj_bias: Parameter | None

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
        vdim: int | None = None, batch_first: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim
        )
        self.batch_first = batch_first
        self.out_proj.__class__ = NonDynamicallyQuantizableLinear
        self.to(dtype=dtype, device=device)

    def _make_projections(self, width: int, bias: bool) -> None:
        widths = self.embed_dim, self.kdim, self.vdim
        packed = self._qkv_same_embed_dim = len({*widths}) == 1
        shapes: list[Any] = [(width, each) for each in widths]
        shapes = [(3 * width, width), None, None, None] if packed else [None, *shapes]
        for name, shape in zip(_WEIGHTS, shapes, strict=True):
            self.register_parameter(name, shape and Parameter(empty(shape)))
        self.register_parameter("in_proj_bias", Parameter(empty(3 * width)) if bias else None)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        width, bias = self.embed_dim, self.in_proj_bias
        weights = [getattr(self, name) for name in _WEIGHTS[1:]]
        if self._qkv_same_embed_dim:
            weights = [*self.in_proj_weight.split(width)]
        biases = [None] * 3 if bias is None else bias.split(width)
        inputs = query, key, value
        return [F.linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]

    def reset_parameters(self) -> None:
        """Initialize all parameters again."""
        self.out_proj.reset_parameters()
        for name, parameter in self.named_parameters():
            if name in _WEIGHTS:
                init.xavier_uniform(parameter)
            elif name in ("bias_k", "bias_v"):
                init.xavier_normal(parameter)
            elif name in ("in_proj_bias", "out_proj.bias"):
                init.zeros_(parameter)

    def extra_repr(self) -> str:
        return ""

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state: it has PyTorch's names."""
        return state

    def forward(  # type: ignore[override]
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        need_weights: bool = True, attn_mask: MaskLike = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """Apply attention.

        Args:
            query: A tensor of shape (L, N, E), (N, L, E) if `batch_first`, or (L, E).
            key: A tensor of shape (S, N, kdim), (N, S, kdim) or (S, kdim).
            value: A tensor of shape (S, N, vdim), (N, S, vdim) or (S, vdim).
            key_padding_mask: A mask of shape (N, S), or (S,). Bool: True = ignored. Float: added
                to the scores.
            need_weights: Whether to return the weights; otherwise None is in their place.
            attn_mask: A mask of shape (L, S) or (N · H, L, S). Bool: True = **not** allowed. Float:
                added to the scores.
            average_attn_weights: Whether the weights are averaged over the heads.
            is_causal: Query i may attend to keys 0 to i only.

        Returns:
            The output, of the shape of `query`, and the weights, of shape (N, L, S), or
            (N, H, L, S) where they are not averaged.
        """
        batched = query.ndim == 3
        q, k, v = (batch_first(x, self.batch_first) for x in (query, key, value))
        allowed = allowed_pairs(attn_mask, key_padding_mask, q.shape[0])
        padding = None if is_float(key_padding_mask) else with_batch(key_padding_mask)
        result = super().forward(q, k, v, padding, allowed, is_causal, need_weights=need_weights)
        output, weights = result if need_weights else (result, None)
        if weights is not None and average_attn_weights:
            weights = ops.mean(weights, 1)
        if weights is not None and not batched:
            weights = weights[0]
        return as_given(output, self.batch_first, batched), weights


def batch_first(x: Tensor, already: bool) -> Tensor:
    """A sequence of shape (L, N, E), (N, L, E) or (L, E) as (N, L, E)."""
    if x.ndim == 2:
        return x[None]
    return x if already else x.swapaxes(0, 1)


def as_given(x: Tensor, batch_first: bool, batched: bool) -> Tensor:
    """A result of shape (N, L, E) in the layout of the input."""
    if not batched:
        return x[0]
    return x if batch_first else x.swapaxes(0, 1)


def is_float(mask: MaskLike) -> bool:
    """Whether a mask is added to the scores."""
    return mask is not None and mask.dtype.kind == "f"


def with_batch(mask: MaskLike) -> MaskLike:
    """A padding mask of shape (N, S)."""
    return mask if mask is None or mask.ndim == 2 else mask[None]


def allowed_pairs(attn_mask: MaskLike, key_padding_mask: MaskLike, batch: int) -> MaskLike:
    """PyTorch's masks as our `attn_mask`: bool, True = may attend, or float."""
    mask: Any = attn_mask
    if mask is not None and mask.ndim == 3:  # (N · H, L, S)
        mask = mask.reshape(batch, mask.shape[0] // batch, *mask.shape[1:])
    if mask is not None and mask.dtype == np.bool_:
        mask = ~mask
        mask = mask[None, None] if mask.ndim == 2 else mask
    if not is_float(key_padding_mask):
        return mask
    added: Any = with_batch(key_padding_mask)
    added = added[:, None, None, :]
    if mask is None:
        return added
    if mask.dtype == np.bool_:
        return ops.where(mask, added, -np.inf)
    return mask + added
