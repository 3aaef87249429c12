"""Scaled dot-product attention: the op and its rule, then its decomposition.

    weights = softmax(query @ key.T * scale + bias)    with -inf where attention is not allowed
    output  = dropout(weights) @ value

The kernels (_attention_kernel.py) work block by block and keep the log-sum-exp of each query's
scores, not the weights: the backward pass computes them again, unless they are a single block.
Shapes: query (..., L, E), key (..., S, E), value (..., S, V).
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.ops._attention_kernel import Attention, attention_backward, attention_forward
from minigrad.ops._numerics import widened
from minigrad.ops.probabilities import softmax
from minigrad.ops.random_masks import dropout as dropped
from minigrad.ops.random_masks import dropout_factor as dropout_factor  # of the formula
from minigrad.support.checks import common_shape

__all__ = ["attention", "attention_weights"]


def _cannot_attend(query: Any, key: Any, value: Any, bias: Any, keep: Any) -> str | None:
    q, k, v = query.shape, key.shape, value.shape
    same = q[:-2] == k[:-2] == v[:-2] and q[-1:] == k[-1:] and k[-2:-1] == v[-2:-1]
    if same and len(q) > 1 and bias is None and keep is None:  # the common case
        return None
    shown = f"query {q}, key {k}, value {v}"
    if min(len(q), len(k), len(v)) < 2:
        return f"{shown}: each needs a length and a width, (..., L, E)"
    if q[-1] != k[-1]:
        return f"{shown}: the widths of query ({q[-1]}) and key ({k[-1]}) must be equal"
    if k[-2] != v[-2]:
        return f"{shown}: the lengths of key ({k[-2]}) and value ({v[-2]}) must be equal"
    leading = common_shape(q[:-2], k[:-2], v[:-2])
    if leading is None:
        return f"{shown}: the leading axes do not broadcast"
    scores = (*leading, q[-2], k[-2])
    for name, mask in (("bias", bias), ("keep", keep)):
        if mask is not None and common_shape(np.shape(mask), scores) != scores:
            return f"{shown}: {name} of shape {np.shape(mask)} does not broadcast to {scores}"
    if keep is not None and np.asarray(keep).dtype != np.bool_:
        return f"keep must hold bools (True = may attend), got {np.asarray(keep).dtype}"
    return None


def _allowed(keep: Any, causal: bool, length: int, size: int) -> Any:
    """Which keys each query may attend: a bool mask that broadcasts to (..., L, S), or None."""
    if not causal:
        return keep
    past = np.tri(length, size, dtype=bool)  # top-left aligned: query i sees keys 0 to i
    return past if keep is None else past & keep


def _scale_of(query: Any, scale: float | None) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)


@primitive(
    arrays=5, residuals=("lse", "weights"), float_inputs=True,
    promote=("query", "key", "value", "bias"), random_keys=("dropout_key",),
)  # fmt: skip
def attention(
    query: Any, key: Any, value: Any, bias: Any = None, keep: Any = None, *, causal: bool = False,
    scale: float | None = None, dropout: float = 0.0, dropout_key: int | None = None,
) -> Any:  # fmt: skip
    """The attention of `nn.functional.scaled_dot_product_attention`, with masks in two parts.

    `bias` is added to the scores, `keep` is True where a query may attend; both broadcast to
    (..., L, S). A query that may attend nowhere gets zeros, with finite gradients. Dropout takes a
    `dropout_key` from ``minigrad.random.key()``.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762; the log-sum-exp residual: Dao et al. 2022,
        arXiv:2205.14135.
    """
    if reason := _cannot_attend(query, key, value, bias, keep):
        raise ArgumentError(reason)
    if dropout and dropout_key is None:
        raise ValueError("dropout needs a dropout_key, from minigrad.random.key()")
    factor = _scale_of(query, scale)
    call = Attention(query, key, value, bias, keep, causal, factor, dropout, dropout_key)
    out, lse, weights = attention_forward(call)
    return out.astype(query.dtype, copy=False), lse, weights


@attention.defjoint("query", "key", "value", "bias")
def _attention_pull(
    g: np.ndarray, needed: tuple[bool, bool, bool, bool], query: np.ndarray, key: np.ndarray,
    value: np.ndarray, bias: np.ndarray | None, keep: np.ndarray | None, out: np.ndarray,
    lse: np.ndarray, weights: np.ndarray | None, causal: bool, scale: float | None,
    dropout: float, dropout_key: int | None,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    factor = _scale_of(query, scale)
    call = Attention(query, key, value, bias, keep, causal, factor, dropout, dropout_key)
    return attention_backward(call, widened(g), needed, widened(out), lse, weights)


attention.defformula(
    """
    scale = float(_scale_of(query, scale))  # one over the root of the width where there is none
    bias = 0 if bias is None else bias  # 0 where there is none
    allowed = _allowed(keep, causal, query.shape[-2], key.shape[-2])  #
    allowed = True if allowed is None else allowed  # which keys each query may attend
    scores = scale * (query @ key.mT) + bias
    P = where(allowed, exp(scores - lse), 0)
    M = dropout_factor(dropout_key, P.shape, dropout, P.dtype) if dropout else 1  #
    M = M  # what dropout multiplies the weights by; 1 without it
    A = M * (g @ value.mT)
    D = P * (A - sum(A * P, -1))
    """,
    query="scale * (D @ key)",
    key="scale * (D.mT @ query)",
    value="(M * P).mT @ g",
    bias="D",
    out="(M * P) @ value",
    lse="log(sum(where(allowed, exp(scores), 0), -1))",
)


def attention_weights(
    query: Any, key: Any, bias: Any = None, keep: Any = None, *, causal: bool = False,
    scale: float | None = None,
) -> Tensor:  # fmt: skip
    """The weights that `attention` uses, before dropout, as an ordinary differentiable tensor.

    Each row sums to 1, or is zero where nothing may be attended.
    """
    scores = (query * _scale_of(query, scale)) @ key.swapaxes(-1, -2)
    if bias is not None:
        scores = scores + bias
    allowed = _allowed(keep, causal, query.shape[-2], key.shape[-2])
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return softmax(scores, axis=-1)


@attention.defdecomposition
def _attention_decomposition(
    query: Any, key: Any, value: Any, bias: Any = None, keep: Any = None, *, causal: bool = False,
    scale: float | None = None, dropout: float = 0.0, dropout_key: int | None = None,
) -> Any:  # fmt: skip
    wide, key, value, bias = map(widened, (query, key, value, bias))
    weights: Any = attention_weights(wide, key, bias, keep, causal=causal, scale=scale)
    if dropout:
        lead = np.broadcast_shapes(weights.shape[:-2], value.shape[:-2])
        if lead != weights.shape[:-2]:  # each head of the values has a mask of its own
            weights = np.broadcast_to(weights, (*lead, *weights.shape[-2:]))
        weights = dropped(weights, dropout, cast(int, dropout_key))
    return (weights @ value).astype(query.dtype)
