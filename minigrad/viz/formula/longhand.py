"""Formulas written by hand that take more than a line; written.py says what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops._numerics import undo_reduction
from minigrad.viz.formula import layer_words as layers
from minigrad.viz.formula import words as say

__all__ = [
    "attention_key", "attention_query", "attention_value", "batch_norm_weight", "batch_norm_x",
    "cholesky_x", "cross_entropy_logits",
    "eigh_x", "eigvalsh_x", "layer_norm_weight", "layer_norm_x", "median_x", "qr_x",
    "rms_norm_x", "scores_cotangent", "svd_x", "svdvals_x", "weights_of",
]  # fmt: skip


def median_x(g: Any, x: Any, axis: Any) -> Any:
    """Half to each of the two middle elements; equal ones share evenly."""
    low = x == say.lower_median(x, axis)
    high = x == say.upper_median(x, axis)
    shares = low / np.sum(low, axis, keepdims=True) + high / np.sum(high, axis, keepdims=True)
    return undo_reduction(g, x.shape, axis) * shares / 2


def layer_norm_x(g: Any, x: Any, weight: Any, rstd: Any, ndim: int) -> Any:
    """The mean, and the part along the normalized input, fall away."""
    axes = tuple(range(-ndim, 0))
    u = g * say.one_or(weight)
    z = rstd * (x - np.mean(x, axes, keepdims=True))
    return rstd * (u - np.mean(u, axes, keepdims=True) - z * np.mean(u * z, axes, keepdims=True))


def layer_norm_weight(g: Any, x: Any, rstd: Any, ndim: int) -> Any:
    """The normalized input."""
    return g * (rstd * (x - np.mean(x, tuple(range(-ndim, 0)), keepdims=True)))


def rms_norm_x(g: Any, x: Any, weight: Any, rstd: Any, ndim: int) -> Any:
    """The part along the normalized input falls away."""
    u = g * say.one_or(weight)
    z = rstd * x
    return rstd * (u - z * np.mean(u * z, tuple(range(-ndim, 0)), keepdims=True))


def batch_norm_x(g: Any, x: Any, weight: Any, mean: Any, std: Any) -> Any:
    """That of layer normalization, by channel, and what mean and variance get themselves."""
    g_y, g_mean, g_var = g
    m, s = layers.by_channel(mean, x), layers.by_channel(std, x)
    z = (x - m) / s
    u = g_y * layers.by_channel(say.one_or(weight), x)
    n = layers.channel_count(x)
    inner = u - layers.channel_mean(u) - z * layers.channel_mean(u * z)
    own = layers.by_channel(g_mean, x) + 2 * (x - m) * layers.by_channel(g_var, x)
    return inner / s + own / n


def batch_norm_weight(g: Any, x: Any, mean: Any, std: Any) -> Any:
    """The normalized input."""
    g_y, _, _ = g
    z = (x - layers.by_channel(mean, x)) / layers.by_channel(std, x)
    return layers.channel_sum(g_y * z)


def weights_of(
    query: Any, key: Any, bias: Any, keep: Any, lse: Any, causal: bool, scale: Any
) -> Any:
    """The attention weights, from the log-sum-exp that was kept."""
    scores = say.scale_or_default(query, scale) * (query @ key.mT) + say.zero_or(bias)
    return np.where(say.may_attend(keep, causal, query, key), np.exp(scores - lse), 0)


def scores_cotangent(
    g: Any, query: Any, key: Any, value: Any, bias: Any, keep: Any, lse: Any, causal: bool,
    scale: Any, dropout: float, dropout_key: Any,
) -> Any:  # fmt: skip
    """The cotangent of the scores: that of a softmax."""
    P = weights_of(query, key, bias, keep, lse, causal, scale)
    A = say.dropout_mask(dropout_key, P, dropout) * (g @ value.mT)
    return P * (A - np.sum(A * P, -1, keepdims=True))


def attention_query(
    g: Any, query: Any, key: Any, value: Any, bias: Any, keep: Any, lse: Any, causal: bool,
    scale: Any, dropout: float, dropout_key: Any,
) -> Any:  # fmt: skip
    """Through the scores, which are linear in the query."""
    D = scores_cotangent(g, query, key, value, bias, keep, lse, causal, scale, dropout, dropout_key)
    return say.scale_or_default(query, scale) * (D @ key)


def attention_key(
    g: Any, query: Any, key: Any, value: Any, bias: Any, keep: Any, lse: Any, causal: bool,
    scale: Any, dropout: float, dropout_key: Any,
) -> Any:  # fmt: skip
    """Through the scores, which are linear in the key."""
    D = scores_cotangent(g, query, key, value, bias, keep, lse, causal, scale, dropout, dropout_key)
    return say.scale_or_default(query, scale) * (D.mT @ query)


def attention_value(
    g: Any, query: Any, key: Any, bias: Any, keep: Any, lse: Any, causal: bool, scale: Any,
    dropout: float, dropout_key: Any,
) -> Any:  # fmt: skip
    """The output is linear in the value."""
    P = weights_of(query, key, bias, keep, lse, causal, scale)
    return (say.dropout_mask(dropout_key, P, dropout) * P).mT @ g


def cross_entropy_logits(
    g: Any, logits: Any, target: Any, weight: Any, reduction: str, ignore_index: int | None,
    label_smoothing: float,
) -> Any:  # fmt: skip
    """Softmax less the target, for weighted and smoothed targets."""
    p = say.softmax_of_classes(logits)
    smooth = label_smoothing / say.class_count(logits)
    t = (1 - label_smoothing) * say.one_hot(target, logits) + smooth
    q = say.kept_targets(target, ignore_index, logits) * say.class_weights(weight, logits) * t
    N = say.loss_divisor(weight, target, reduction, ignore_index)
    return say.each_target(g, logits) * (p * say.class_sum(q) - q) / N


# Matrices that are taken apart; the cotangents come in the order of the outputs.


def cholesky_x(g: Any, out: Any, upper: bool) -> Any:
    """Murray 2016, arXiv:1602.07527."""
    L = say.lower_factor(out, upper)
    p = say.lower_half(L.mT @ say.lower_factor(g, upper))
    return np.linalg.inv(L.mT) @ (p + p.mT) @ np.linalg.inv(L) / 2


def qr_x(g: Any, out: Any) -> Any:
    """As Roberts and Roberts have it; see `minigrad.linalg.qr`."""
    (g_Q, g_R), (Q, R) = g, out
    s = say.mirrored(R @ g_R.mT - g_Q.mT @ Q)
    return (g_Q + Q @ s) @ np.linalg.inv(R.mT)


def eigh_x(g: Any, out: Any) -> Any:
    """As Giles has it; see `minigrad.linalg.eigh`."""
    (g_λ, g_V), (λ, V) = g, out
    A = V.mT @ g_V
    return V @ (say.diag(g_λ) + (A - A.mT) / (2 * say.gaps(λ))) @ V.mT


def eigvalsh_x(g: Any, x: Any) -> Any:
    """The eigenvectors carry the cotangents of the eigenvalues."""
    return say.eigenvectors(x) @ say.diag(g) @ say.eigenvectors(x).mT


def svd_x(g: Any, out: Any) -> Any:
    """As Townsend has it; see `minigrad.linalg.svd`."""
    (g_U, g_S, g_W), (U, S, W) = g, out
    D = say.diag(S)
    A = U.mT @ g_U
    B = W @ g_W.mT
    K = ((A - A.mT) @ D + D @ (B - B.mT)) / say.gaps(S**2)
    beside = (g_U - U @ A) @ np.linalg.inv(D) @ W + U @ np.linalg.inv(D) @ (g_W - B.mT @ W)
    return U @ (say.diag(g_S) + K) @ W + beside


def svdvals_x(g: Any, x: Any) -> Any:
    """The singular vectors carry the cotangents of the singular values."""
    return say.left_vectors(x) @ say.diag(g) @ say.right_vectors(x).mT
