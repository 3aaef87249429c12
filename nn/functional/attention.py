"""Attention: each query takes a weighted mean of the values, weighted by how well the keys fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad._tensor import Tensor
from minigrad.nn.attention.masks import Mask, MaskLike, combine
from minigrad.nn.module.checks import check_probability


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: MaskLike = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    output_weight: bool = False,
) -> Any:
    r"""Attend: :math:`\operatorname{softmax}(Q K^\top / \sqrt{E} + M)\, V`.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Args:
        query: Q, a tensor of shape (..., L, E).
        key: K, a tensor of shape (..., S, E).
        value: V, a tensor of shape (..., S, E_v).
        attn_mask: Which pairs count. Bool: True = may attend. Float: added to the scores, with a
            gradient if it requires one. Each axis has its size or 1, the last its size: (L|1, S),
            or all axes of the scores; for scores of shape (N, H, L, S) also (N|1, L|1, S).
        dropout_p: The probability with which a weight is dropped. This function always drops; a
            module passes 0 in evaluation mode.
        is_causal: Query i may attend to keys 0 to i only.
        scale: The factor on the scores, 1/√E by default.
        output_weight: Return the weights too.

    Returns:
        A tensor of shape (..., L, E_v); with `output_weight` also the weights before dropout, of
        shape (..., L, S). A query that may attend nowhere gets zeros.

    Raises:
        TypeError: A mask is neither bool nor float.
        ValueError: Shapes do not fit.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> x = minigrad.randn(2, 4, 10, 16)  # (N, H, L, E)
        >>> output, weights = F.scaled_dot_product_attention(x, x, x, output_weight=True)
        >>> output.shape, weights.shape
        ((2, 4, 10, 16), (2, 4, 10, 10))
    """
    dropout_p = check_probability("scaled_dot_product_attention", "dropout_p", dropout_p)
    mask = Mask(causal=is_causal)
    scores = _scores_shape(query.shape, key.shape, value.shape)
    if attn_mask is not None and scores is not None:
        mask = combine(scores, query.dtype, attn_mask, is_causal=is_causal)
    output, weights = attend(query, key, value, mask, dropout_p, scale, output_weight)
    return output if weights is None else (output, weights)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask,
    dropout_p: float = 0.0,
    scale: float | None = None,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention under a mask that is checked already: the one way every module takes.

    Args:
        query: A tensor of shape (..., L, E).
        key: A tensor of shape (..., S, E).
        value: A tensor of shape (..., S, E_v).
        mask: What `masks.combine` made.
        dropout_p: The probability with which a weight is dropped.
        scale: The factor on the scores, 1/√E by default.
        need_weights: Whether to return the weights, which then are all in memory at once.

    Returns:
        The output of shape (..., L, E_v), and None or the weights before dropout.
    """
    if not need_weights:
        output = ops.attention(
            query, key, value, mask.bias, mask.keep, causal=mask.causal, scale=scale,
            dropout=dropout_p, dropout_key=random.key() if dropout_p else None,
        )  # fmt: skip
        return output, None
    weights = ops.attention_weights(
        query, key, mask.bias, mask.keep, causal=mask.causal, scale=scale
    )
    kept = ops.dropout(weights, dropout_p, random.key()) if dropout_p else weights
    return ops.matmul(kept, value), weights


def _scores_shape(
    query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The shape (..., L, S) of the scores; None where there is none, which the op explains."""
    try:
        lead = np.broadcast_shapes(query[:-2], key[:-2], value[:-2])
        return (*lead, query[-2], key[-2])
    except (IndexError, ValueError):
        return None
