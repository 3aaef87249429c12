"""Attention, and the other parts of an encoder block, as functions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.errors import refuse_shapes, type_error, value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.masks import Mask, MaskLike, broadcast, combine
from minigrad.ops.argument_errors import checked
from minigrad.support.checks import check_probability
from minigrad.tensors.tensor import Tensor

__all__ = [
    "additive_attention", "apply_attention_mask", "attention_weights", "compute_attention_scores",
    "feed_forward", "merge_heads", "scaled_dot_product_attention", "split_heads",
    "stack_encoder_blocks",
]  # fmt: skip


@framed
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: MaskLike = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, *, enable_gqa: bool = False,
    output_weight: bool = False,
) -> Any:  # fmt: skip
    r"""Compute attention :math:`\operatorname{softmax}(Q K^\top / \sqrt{E} + M)\, V`.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Args:
        query: Q, a tensor of shape (..., L, E).
        key: K, a tensor of shape (..., S, E).
        value: V, a tensor of shape (..., S, E_v).
        attn_mask: Bool: True = may attend. Float: added to the scores, with a gradient if it
            requires one. It has two axes or more, and broadcasts to the scores, (..., L, S).
        dropout_p: The dropout probability of the weights. It is applied always; a module passes 0
            in evaluation mode.
        is_causal: Query i may attend to keys 0 to i only.
        scale: The factor on the scores, 1/√E by default.
        enable_gqa: Whether each head of keys and values, the axis before the last two, may serve
            several heads of queries: grouped-query attention.
        output_weight: Whether to also return the weights.

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
        (minigrad.Size([2, 4, 10, 16]), minigrad.Size([2, 4, 10, 10]))
    """
    dropout_p = check_probability("scaled_dot_product_attention", "dropout_p", dropout_p)
    if enable_gqa:
        key, value = _repeated_heads(query, key), _repeated_heads(query, value)
    mask = Mask(causal=is_causal)
    scores = scores_shape(query.shape, key.shape, value.shape)
    if attn_mask is not None and scores is not None:
        mask = broadcast(scores, query.dtype, attn_mask, is_causal)
    output, weights = attend(query, key, value, mask, dropout_p, scale, output_weight)
    return output if weights is None else (output, weights)


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask, dropout_p: float = 0.0,
    scale: float | None = None, need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention with a mask that `masks.combine` has checked; used by every attention module.

    With `need_weights` it also returns the weights before dropout, else None.
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


def scores_shape(
    query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The shape (..., L, S) of the scores; None for wrong shapes, for which the op raises."""
    try:
        lead = np.broadcast_shapes(query[:-2], key[:-2], value[:-2])
        return (*lead, query[-2], key[-2])
    except (IndexError, ValueError):
        return None


def _repeated_heads(query: Tensor, keys: Tensor) -> Tensor:
    """Keys or values with as many heads as the queries: (..., G, S, E) -> (..., H, S, E)."""
    wrong = min(query.ndim, keys.ndim) < 3 or query.shape[-3] % max(keys.shape[-3], 1)
    wanted = "with enable_gqa, shapes (..., H, L, E) and (..., G, S, E) with H divisible by G"
    refuse_shapes(wrong, "scaled_dot_product_attention", wanted, query, keys)
    times = query.shape[-3] // max(keys.shape[-3], 1)
    return keys if times == 1 else ops.repeat(keys, times, -3)


@framed
def compute_attention_scores(Q: Tensor, K: Tensor, scale: bool = True) -> Tensor:
    r"""Compute attention scores of queries and keys: :math:`Q K^\top / \sqrt{d_k}`.

    Q has shape (..., seq_q, d_k), K (..., seq_k, d_k), the result (..., seq_q, seq_k). With `scale`
    the scores are divided by √d_k.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.compute_attention_scores(ones((1, 4)), ones((2, 4)))
        tensor([[2., 2.]])
    """
    wanted = "Q and K of one width d_k"
    refuse_shapes(Q.shape[-1] != K.shape[-1], "compute_attention_scores", wanted, Q, K)
    scores: Tensor = ops.matmul(Q, ops.swapaxes(K, -1, -2))
    return scores / Q.shape[-1] ** 0.5 if scale else scores


@framed
def apply_attention_mask(scores: Tensor, mask: Any, mask_value: float = -1e9) -> Tensor:
    """Replace the masked scores by `mask_value`.

    The mask is a bool tensor or array that broadcasts to the scores, of shape (..., seq_q, seq_k):
    True = attend. With the default value, a query whose keys are all masked attends to all keys
    equally. With ``mask_value=-np.inf`` its weights are zero, as in every module.

    Example:
        >>> from minigrad import nn, zeros
        >>> import numpy as np
        >>> scores = nn.functional.apply_attention_mask(zeros(2, 2), np.tri(2, dtype=bool), -np.inf)
        >>> nn.functional.attention_weights(scores)
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
    """
    keep: Any = mask if isinstance(mask, Tensor) else np.asarray(mask)
    if keep.dtype != bool:
        came = f"a bool mask (True = attend) expected, got {keep.dtype.name}"
        remedy = "convert it with mask != 0 if it has ones where a query attends"
        raise type_error(f"apply_attention_mask: {came}; {remedy}")
    # Aligned at the last axis, each size must be 1 or that of the scores.
    lengths = zip(reversed(keep.shape), reversed(scores.shape), strict=False)
    wrong = keep.ndim > scores.ndim or any(n not in (1, size) for n, size in lengths)
    wanted = "scores, and a mask that broadcasts to them,"
    refuse_shapes(wrong, "apply_attention_mask", wanted, scores, keep)
    return ops.masked_fill(scores, ~keep, mask_value)


@checked
def attention_weights(scores: Tensor, dim: int = -1) -> Tensor:
    """Compute attention weights: the softmax of the scores, zeros where all of them are -inf.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.attention_weights(tensor([1000.0, 1000.0, 0.0])).tolist()
        [0.5, 0.5, 0.0]
    """
    return ops.softmax(scores, dim)


@framed
def additive_attention(
    Q: Tensor, K: Tensor, V: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor, mask: MaskLike = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    r"""Compute additive attention with the score :math:`v^\top \tanh(W_q^\top q + W_k^\top k)`.

    Source: Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
    translate", 2015.

    Args:
        Q: Queries, a tensor of shape (batch, seq_q, d_q).
        K: Keys, a tensor of shape (batch, seq_k, d_k).
        V: Values, a tensor of shape (batch, seq_k, d_v).
        W_q: The projection of queries, of shape (d_q, d_attn).
        W_k: The projection of keys, of shape (d_k, d_attn).
        v: The score vector, of shape (d_attn,).
        mask: As `attn_mask` everywhere, of shape (seq_q|1, seq_k) or (batch|1, seq_q|1, seq_k).
            Bool: True = may attend. Float: added to the scores.

    Returns:
        The output of shape (batch, seq_q, d_v), and the weights of shape (batch, seq_q, seq_k).
        A query that may attend nowhere gets zeros.

    Raises:
        TypeError: A mask is neither bool nor float.
        ValueError: Shapes do not fit.

    Example:
        >>> from minigrad import nn, randn
        >>> Q, K, V = randn(2, 4, 6), randn(2, 5, 3), randn(2, 5, 8)
        >>> W_q, W_k, v = randn(6, 7), randn(3, 7), randn(7)
        >>> output, weights = nn.functional.additive_attention(Q, K, V, W_q, W_k, v)
        >>> output.shape, weights.shape
        (minigrad.Size([2, 4, 8]), minigrad.Size([2, 4, 5]))
    """
    check_sequences("additive_attention", Q, K, V)
    shapes = (Q.shape[2], *v.shape), (K.shape[2], *v.shape)
    wanted = f"W_q {shapes[0]}, W_k {shapes[1]} and v (d_attn,)"
    wrong = v.ndim != 1 or (W_q.shape, W_k.shape) != shapes
    refuse_shapes(wrong, "additive_attention", wanted, W_q, W_k, v)
    combined = combine((Q.shape[0], 1, Q.shape[1], K.shape[1]), Q.dtype, mask)
    return attend_additively(Q, K, V, W_q, W_k, v, combined)


def attend_additively(
    Q: Tensor, K: Tensor, V: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor, mask: Mask
) -> tuple[Tensor, Tensor]:
    """Additive attention of checked arguments; the mask is for scores of shape (N, 1, L, S)."""
    queries = ops.expand_dims(ops.matmul(Q, W_q), 2)  # (N, L, 1, d_attn)
    keys = ops.expand_dims(ops.matmul(K, W_k), 1)  # (N, 1, S, d_attn)
    scores = ops.matmul(ops.tanh(queries + keys), v)  # (N, L, S)
    weights = _weights_under(ops.expand_dims(scores, 1), mask)  # (N, 1, L, S)
    weights = ops.squeeze(weights, 1)  # (N, L, S)
    return ops.matmul(weights, V), weights


def check_sequences(
    owner: str, query: Tensor, key: Tensor, value: Tensor, widths: Sequence[int] = ()
) -> None:
    """Raise a ValueError unless they are sequences (N, L | S, D), with the widths in this order."""
    sequences = ("query", query, "L"), ("key", key, "S"), ("value", value, "S")
    for (name, x, axis), width in itertools.zip_longest(sequences, widths):
        wrong = x.ndim != 3 or width not in (None, x.shape[2])
        refuse_shapes(wrong, owner, f"{name} of shape (N, {axis}, {width or 'D'})", x)
    wrong = not len(query) == len(key) == len(value) or key.shape[1] != value.shape[1]
    wanted = "query, key and value of the same batch size, key and value of the same length"
    refuse_shapes(wrong, owner, wanted, query, key, value)


def _weights_under(scores: Tensor, mask: Mask) -> Tensor:
    """The weights of masked scores (N, 1, L, S); a row of zeros where all keys are masked."""
    if mask.bias is not None:
        scores = scores + mask.bias
    keep = mask.keep
    if mask.causal:
        past = np.tri(scores.shape[-2], scores.shape[-1], dtype=bool)
        keep = past if keep is None else keep & past
    if keep is not None:
        scores = apply_attention_mask(scores, keep, -np.inf)
    return attention_weights(scores)


@framed
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split the last axis into heads: (batch, seq, d_model) -> (batch, heads, seq, d_k).

    Head i is the i-th slice of the last axis; d_k = d_model / num_heads.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.functional.split_heads(randn(2, 10, 512), num_heads=8).shape
        minigrad.Size([2, 8, 10, 64])
    """
    refuse_shapes(x.ndim != 3, "split_heads", "x of shape (batch, seq, d_model)", x)
    batch, seq, d_model = x.shape
    if num_heads < 1 or d_model % num_heads:
        raise value_error(f"split_heads: d_model ({d_model}) is not divisible by {num_heads} heads")
    return x.reshape(batch, seq, num_heads, d_model // num_heads).swapaxes(1, 2)


@framed
def merge_heads(x: Tensor) -> Tensor:
    """Concatenate heads on the last axis: the inverse of `split_heads`.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.functional.merge_heads(randn(2, 8, 10, 64)).shape
        minigrad.Size([2, 10, 512])
    """
    refuse_shapes(x.ndim != 4, "merge_heads", "x of shape (batch, num_heads, seq, d_k)", x)
    batch, num_heads, seq, d_k = x.shape
    return x.swapaxes(1, 2).reshape(batch, seq, num_heads * d_k)


@framed
def feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    r"""Apply a position-wise feed-forward network: :math:`\max(x W_1 + b_1, 0)\, W_2 + b_2`.

    x has shape (batch, seq, d_model), W1 (d_model, d_ff), b1 (d_ff,), W2 (d_ff, d_model) and
    b2 (d_model,).

    Example:
        >>> from minigrad import nn, eye, ones, tensor, zeros
        >>> x, one = tensor([[[-1.0, 2.0]]]), eye(2)
        >>> nn.functional.feed_forward(x, one, zeros(2), one, ones(2)).tolist()
        [[[1.0, 3.0]]]
    """
    wrong = W1.ndim != 2 or x.shape[-1:] != W1.shape[:1]
    refuse_shapes(wrong, "feed_forward", "x (..., d_model) and W1 (d_model, d_ff)", x, W1)
    d_model, d_ff = W1.shape
    wanted = ("b1", b1, (d_ff,)), ("W2", W2, (d_ff, d_model)), ("b2", b2, (d_model,))
    for name, parameter, shape in wanted:
        refuse_shapes(parameter.shape != shape, "feed_forward", f"{name} {shape}", parameter)
    hidden = ops.relu(ops.matmul(x, W1) + b1)  # (batch, seq, d_ff)
    return ops.matmul(hidden, W2) + b2


@functools.partial(framed, calls_modules=True)
def stack_encoder_blocks(
    x: Tensor, blocks: Iterable[Callable[..., Tensor]], mask: MaskLike = None
) -> Tensor:
    """Apply encoder blocks in order.

    Args:
        x: A tensor of shape (batch, seq, d_model).
        blocks: Callables of a tensor and a mask, such as an `nn.ModuleList` of
            `nn.TransformerEncoderBlock`.
        mask: As `attn_mask` everywhere; the same for every block. Bool: True = may attend.

    Example:
        >>> from minigrad import nn, randn
        >>> from minigrad.nn import functional as F
        >>> blocks = nn.ModuleList(nn.TransformerEncoderBlock(16, 4) for _ in range(3))
        >>> x, mask = randn(2, 10, 16), F.create_causal_mask(10)
        >>> F.stack_encoder_blocks(x, blocks, mask).shape
        minigrad.Size([2, 10, 16])
    """
    for block in blocks:
        x = block(x, mask)
    return x
