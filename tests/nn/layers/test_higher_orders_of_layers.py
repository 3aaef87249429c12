"""Every layer and loss to the third order, by its inputs and its parameters, in float64.

Along random directions through all of them at once: what the engine says about the first, the
second and the third derivative, against differences of the order below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases

import minigrad
from minigrad import Tensor, nn, ops, torch
from minigrad.autograd import grad, gradcheck, gradgradcheck
from minigrad.nn import functional as F

Shapes = list[tuple[int, ...]]

KEEP = np.array([[True, False, True], [False] * 3, [True] * 3])  # the second query sees nothing
PADDING = np.array([[False, False, False], [False, True, True]])
CAUSAL = np.tri(3, dtype=bool)
IDS = np.array([[0, 3, 3], [1, 0, 4]])
CLASSES = np.array([1, 0, 3])


def encoder_layer(**options: Any) -> Any:
    return nn.TransformerEncoderLayer(4, 2, 5, **{"dropout": 0.0, "activation": F.gelu, **options})


def decoder_layer(**options: Any) -> Any:
    return nn.TransformerDecoderLayer(4, 2, 5, **{"dropout": 0.0, "activation": F.gelu, **options})


def attend(module: Any, x: Tensor, **options: Any) -> Any:
    return module(x, x, x, **options)


X = (2, 3, 4)  # (batch, length, width)

CALLS: dict[str, tuple[Callable[[], Any], Shapes, Callable[..., Any]]] = {
    "Linear, normalized": (
        lambda: nn.utils.weight_norm(nn.Linear(4, 2)), [X], lambda m, x: m(x)),
    "Embedding": (lambda: nn.Embedding(5, 4), [], lambda m: m(IDS)),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(5, 4), [], lambda m: m(IDS)),
    "BatchNorm, evaluated": (lambda: nn.BatchNorm1d(4).eval(), [(5, 4)], lambda m, x: m(x)),
    "unpooling": (
        lambda: nn.ModuleList([nn.MaxPool1d(2, return_indices=True), nn.MaxUnpool1d(2)]),
        [(1, 2, 4)], lambda m, x: m[1](*m[0](x))),
    "unpooling of images": (
        lambda: nn.ModuleList([nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)]),
        [(1, 2, 4, 2)], lambda m, x: m[1](*m[0](x))),
    "windows as columns": (
        lambda: nn.Sequential(nn.Unfold(2, padding=1), nn.Tanh(), nn.Fold((2, 3), 2, padding=1)),
        [(2, 2, 2, 3)], lambda m, x: m(x)),
    "LSTM": (
        lambda: nn.LSTM(4, 2, batch_first=True, bidirectional=True), [X, (2, 2, 2), (2, 2, 2)],
        lambda m, x, h, c: sum(m(x, (h, c))[1], m(x, (h, c))[0].sum())),
    "LSTM, dropout": (
        lambda: nn.LSTM(4, 2, 2, batch_first=True, dropout=0.4), [X], lambda m, x: m(x)[0]),
    "GRU, packed": (
        lambda: nn.GRU(4, 2, 2, bidirectional=True, dropout=0.4), [(3, 2, 4)],
        lambda m, x: m(nn.utils.rnn.pack_padded_sequence(x, [1, 3], False, False))[0].data),
    "GRU": (
        lambda: nn.GRU(4, 2, 2, batch_first=True), [X, (2, 2, 2)], lambda m, x, h: m(x, h)),
    "cells": (
        lambda: nn.ModuleList([nn.RNNCell(4, 2), nn.LSTMCell(2, 2), nn.GRUCell(2, 2)]),
        [(3, 4), (3, 2)], lambda m, x, h: m[2](m[1](m[0](x, h), (h, h))[0], h)),
    "attention, PyTorch's": (
        lambda: torch.nn.MultiheadAttention(4, 2), [X],
        lambda m, x: m(x, x, x, average_attn_weights=False)),
    "attention, masks": (
        lambda: nn.MultiHeadAttention(4, 2), [X],
        lambda m, x: attend(m, x, attn_mask=KEEP, key_padding_mask=PADDING)),
    "attention, weights": (
        lambda: nn.MultiHeadAttention(4, 2), [X],
        lambda m, x: attend(m, x, attn_mask=KEEP, need_weights=True)),
    "attention, learned bias": (
        lambda: nn.MultiHeadAttention(4, 2), [X, (2, 3, 3)],
        lambda m, x, bias: attend(m, x, attn_mask=bias[:, None], is_causal=True)),
    "attention, extra keys": (
        lambda: nn.MultiHeadAttention(4, 2, add_bias_kv=True, add_zero_attn=True), [X],
        lambda m, x: attend(m, x, key_padding_mask=PADDING)),
    "attention, grouped queries": (
        lambda: nn.MultiHeadAttention(4, 4, num_kv_heads=2), [X],
        lambda m, x: attend(m, x, is_causal=True)),
    "attention, dropout": (lambda: nn.MultiHeadAttention(4, 2, 0.4), [X], attend),
    "scaled dot product": (
        lambda: nn.ScaledDotProductAttention(KEEP), [X, X, X], lambda m, *qkv: m(*qkv)),
    "additive": (
        lambda: nn.AdditiveAttention(4, 3, 5), [X, (2, 3, 3), X],
        lambda m, *qkv: m(*qkv, key_padding_mask=PADDING)),
    "dot product": (
        lambda: nn.DotProductAttention(4, 3, 2, 5), [X, (2, 3, 3), (2, 3, 2)],
        lambda m, *qkv: m(*qkv, key_padding_mask=PADDING)),
    "encoder layer, post-norm": (
        encoder_layer, [X], lambda m, x: m(x, src_key_padding_mask=PADDING)),
    "encoder layer, pre-norm": (
        lambda: encoder_layer(norm_first=True), [X], lambda m, x: m(x, src_mask=KEEP)),
    "encoder layer, dropout": (lambda: encoder_layer(dropout=0.3), [X], lambda m, x: m(x)),
    "encoder layer, ReLU": (lambda: encoder_layer(activation="relu"), [X], lambda m, x: m(x)),
    "encoder": (
        lambda: nn.TransformerEncoder(encoder_layer(norm_first=True), 2, nn.LayerNorm(4)), [X],
        lambda m, x: m(x, is_causal=True)),
    "decoder layer, post-norm": (
        decoder_layer, [X, (2, 5, 4)], lambda m, x, memory: m(x, memory, tgt_mask=CAUSAL)),
    "decoder layer, pre-norm": (
        lambda: decoder_layer(norm_first=True), [X, X],
        lambda m, x, memory: m(x, memory, tgt_is_causal=True, mem_key_padding_mask=PADDING)),
    "transformer": (
        lambda: nn.Transformer(4, 2, 1, 1, 5, 0.0, F.gelu), [X, X],
        lambda m, x, y: m(x, y, tgt_is_causal=True)),
    "multi-head dot product": (
        lambda: nn.MultiHeadDotProductAttention(4, 3, 2, 4, 2), [X, (2, 3, 3), (2, 3, 2)],
        lambda m, *qkv: m(*qkv, key_padding_mask=PADDING)),
    "HuberLoss": (lambda: nn.HuberLoss(), [X, X], lambda m, x, y: m(2 * x, y)),
    "KLDivLoss": (
        lambda: nn.KLDivLoss("batchmean"), [X, X], lambda m, x, y: m(x, y.sigmoid())),
    "BCELoss": (
        lambda: nn.BCELoss(), [X], lambda m, x: m(x.sigmoid(), np.full(X, 0.3))),
    "BCEWithLogitsLoss": (
        lambda: nn.BCEWithLogitsLoss(), [X], lambda m, x: m(3 * x, np.full(X, 0.3))),
    "CrossEntropyLoss": (
        lambda: nn.CrossEntropyLoss(label_smoothing=0.1), [(3, 4)], lambda m, x: m(x, CLASSES)),
    "NLLLoss": (
        lambda: nn.NLLLoss(), [(3, 4)], lambda m, x: m(F.log_softmax(x, 1), CLASSES)),
    "soft targets": (
        lambda: nn.CrossEntropyLoss(label_smoothing=0.1), [(3, 4), (3, 4)],
        lambda m, x, y: m(x, F.softmax(y))),
    "TripletMarginLoss": (
        lambda: nn.TripletMarginLoss(0.7, swap=True), [(5, 3)] * 3, lambda m, *x: m(*x)),
    "MarginRankingLoss": (
        lambda: nn.MarginRankingLoss(0.3), [(6,)] * 2,
        lambda m, x, y: m(x, y, np.array([1.0, -1, 1, -1, 1, -1]))),
    "CosineEmbeddingLoss": (
        lambda: nn.CosineEmbeddingLoss(-0.5), [(4, 3)] * 2,
        lambda m, x, y: m(x, y, np.array([1, -1, 1, -1]))),
    "GaussianNLLLoss": (
        lambda: nn.GaussianNLLLoss(full=True), [(4, 3)] * 3,
        lambda m, x, y, v: m(x, y, v.exp())),
    "normalize": (lambda: nn.Identity(), [X], lambda m, x: F.normalize(m(x), 3.0)),
    "grouped queries": (
        lambda: nn.Identity(), [(2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3)],
        lambda m, q, k, v: F.scaled_dot_product_attention(m(q), k, v, enable_gqa=True)),
    "gumbel softmax": (lambda: nn.Identity(), [X], lambda m, x: F.gumbel_softmax(m(x), 0.7)),
}  # fmt: skip
"""Calls with masks, targets and states, of what has none in the table, and of several layers."""
EVERY = [*cases(line for line in LAYERS if line.shapes), *CALLS]


def called(module: Any, *inputs: Tensor) -> Any:
    return module(*inputs)


def prepared(case: Layer | str) -> tuple[Callable[..., list[Tensor]], list[Tensor]]:
    """A layer as a function whose second derivatives do not vanish, and all that it depends on."""
    make, shapes, call = CALLS[case] if isinstance(case, str) else (case.make, case.shapes, called)
    module = make().double()
    rng = np.random.default_rng([17, len(str(case))])
    inputs = [Tensor(rng.standard_normal(shape), requires_grad=True) for shape in shapes]
    parameters = list(module.parameters())
    for parameter in parameters:
        parameter.data[...] = rng.standard_normal(parameter.shape) * 0.5

    def function(*values: Tensor) -> list[Tensor]:
        minigrad.random.seed(0)  # the same dropout in every call
        outputs = tensors_of(call(module, *values[: len(shapes)]))
        return [ops.tanh(0.6 * output) for output in outputs]

    return function, [*inputs, *parameters]


def tensors_of(result: Any) -> list[Tensor]:
    """The tensors of a nested result."""
    parts = result if isinstance(result, tuple) else (result,)
    return [out for p in parts for out in (tensors_of(p) if isinstance(p, tuple) else [p])]


@pytest.mark.parametrize("case", EVERY)
def test_first_and_second_order(case: Layer | str) -> None:
    function, tensors = prepared(case)
    assert gradcheck(function, tensors, directions=2)
    assert gradgradcheck(function, tensors, directions=2)


@pytest.mark.parametrize("case", EVERY)
def test_third_order(case: Layer | str) -> None:
    """The Hessian times a fixed vector, and its own derivative."""
    function, tensors = prepared(case)
    rng = np.random.default_rng(3)
    along = [rng.standard_normal(tensor.shape) / 4 for tensor in tensors]

    def bend(*values: Tensor) -> list[Tensor]:
        outputs = function(*values)
        weights = [np.cos(np.arange(out._data.size) + 1.0).reshape(out.shape) for out in outputs]
        slopes = grad(outputs, values, weights, create_graph=True, allow_unused=True)
        used = [k for k, slope in enumerate(slopes) if slope is not None and slope.requires_grad]
        found = grad([slopes[k] for k in used], values, [along[k] for k in used],
                     create_graph=True, allow_unused=True)  # fmt: skip
        return [part for part in found if part is not None]

    assert bend(*tensors)
    assert gradcheck(bend, tensors, directions=2)


def test_every_layer_is_here() -> None:
    """In the table; what it has no inputs for is called, but for lazy ones, which become others."""
    public = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    layers = {kind.__name__ for kind in public if issubclass(kind, nn.Module)}
    made = {type(part).__name__ for make, _, _ in CALLS.values() for part in make().modules()}
    listed = {line.kind for line in LAYERS}
    containers = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
    missing = layers - listed - made - containers
    assert not missing, f"add a line to tests/layer_table.py for {', '.join(sorted(missing))}"
    silent = listed - made - {line.kind for line in LAYERS if line.shapes}
    assert {kind for kind in silent if not kind.startswith("Lazy")} == set()
