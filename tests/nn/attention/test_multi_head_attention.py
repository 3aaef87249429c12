"""Attention: every path gives one answer, masks mean what they say, gradients are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn

float64 = minigrad.float64
N, H, L, S, E = 2, 2, 4, 5, 8


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


def attention(**options: Any) -> nn.MultiHeadAttention:
    """A layer in float64 with no bias at zero."""
    layer = nn.MultiHeadAttention(E, H, **options).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter, std=0.5)
    return layer


def inputs(layer: nn.MultiHeadAttention) -> tuple[Tensor, Tensor, Tensor]:
    return draw(N, L, E), draw(N, S, layer.kdim), draw(N, S, layer.vdim)


def turned(rope: Any, y: np.ndarray) -> np.ndarray:
    """Complex numbers: pair i at position p is turned by p · base^(-2i/d)."""
    if rope is None:
        return y
    length, d = y.shape
    angles = np.arange(length)[:, None] * rope.base ** (-2 * np.arange(d // 2) / d)
    halves = (y[:, ::2], y[:, 1::2]) if rope.interleaved else np.split(y, 2, axis=-1)
    found = (halves[0] + 1j * halves[1]) * np.exp(1j * angles)
    return np.stack([found.real, found.imag], axis=-1 if rope.interleaved else -2).reshape(y.shape)


def by_hand(
    layer: nn.MultiHeadAttention, query: Any, key: Any, value: Any, allowed: Any, bias: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Multi-head attention with loops over batch and head, in NumPy alone."""
    weight = {name: parameter.numpy() for name, parameter in layer.named_parameters()}

    def project(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weight[f"{name}.weight"].T + weight.get(f"{name}.bias", 0.0)

    extra = layer.add_zero_attn + (layer.bias_k is not None)
    shape, d = (len(query), H, query.shape[1], key.shape[1]), E // H
    allowed, bias = np.broadcast_to(allowed, shape), np.broadcast_to(bias, shape)
    outputs, all_weights = [], np.zeros((*shape[:3], shape[3] + extra))
    for n in range(len(query)):
        heads, q = [], project(query[n], "q_proj")
        for h in range(H):
            part = slice(h * d, (h + 1) * d)
            group = h * layer.num_kv_heads // H
            own = slice(group * d, (group + 1) * d)
            k = turned(layer.rope, project(key[n], "k_proj")[:, own])
            v = project(value[n], "v_proj")[:, own]
            if layer.bias_k is not None:
                k = np.vstack([k, weight["bias_k"][0][:, own]])
                v = np.vstack([v, weight["bias_v"][0][:, own]])
            if layer.add_zero_attn:
                k, v = np.vstack([k, np.zeros(d)]), np.vstack([v, np.zeros(d)])
            scores = turned(layer.rope, q[:, part]) @ k.T / np.sqrt(d)
            scores[:, : shape[3]] += bias[n, h]
            factors = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e30))
            factors[:, : shape[3]] *= allowed[n, h]
            total = factors.sum(axis=1, keepdims=True)
            all_weights[n, h] = factors / np.where(total == 0, 1, total)
            heads.append(all_weights[n, h] @ v)
        outputs.append(project(np.hstack(heads), "out_proj"))
    return np.array(outputs), all_weights


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no bias": {"bias": False},
    "bias_kv": {"add_bias_kv": True},
    "zero_attn": {"add_zero_attn": True},
    "kdim, vdim": {"kdim": 3, "vdim": 4},
    "one group": {"num_kv_heads": 1, "add_bias_kv": True, "add_zero_attn": True},
    "pairs": {"rope": nn.RotaryPosEmbedding(), "num_kv_heads": 1},
    "halves": {"rope": nn.RotaryPosEmbedding(4, 5, False, base=50.0)},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 3, "vdim": 4, "bias": False},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)

PADDING = np.array([[0, 0, 0, 0, 1], [0, 1, 1, 0, 0]], bool)
KEEP = np.random.default_rng(1).random((N, H, L, S)) < 0.7
MASKS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "none": ({}, True, 0.0),
    "keep": ({"attn_mask": KEEP}, KEEP, 0.0),
    "bias": ({"attn_mask": 0.1 * np.arange(S)[None]}, True, 0.1 * np.arange(S)),
    "padding": ({"key_padding_mask": PADDING}, ~PADDING[:, None, None], 0.0),
    "causal": ({"is_causal": True}, np.tri(L, S, dtype=bool), 0.0),
    "all": (
        {"attn_mask": KEEP[:, :1], "key_padding_mask": PADDING, "is_causal": True},
        KEEP[:, :1] & ~PADDING[:, None, None] & np.tri(L, S, dtype=bool), 0.0),
}  # fmt: skip
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)


class TestOnePathOneAnswer:
    @options
    @masks
    def test_fused_weights_eval_and_by_hand(self, options: Any, masks: Any) -> None:
        layer = attention(**options)
        query, key, value = inputs(layer)
        given, allowed, bias = masks
        expected, weights = by_hand(layer, query.numpy(), key.numpy(), value.numpy(), allowed, bias)

        fused = layer(query, key, value, **given)
        composed, found = layer(query, key, value, **given, need_weights=True)
        with minigrad.no_grad():
            plain = layer.eval()(query, key, value, **given)
        for output in (fused, composed, plain):
            np.testing.assert_allclose(output.numpy(), expected, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(found.numpy(), weights, rtol=1e-11, atol=1e-13)

    def test_under_dropout_too(self) -> None:
        layer = attention(dropout=0.5)
        query, key, value = inputs(layer)
        outputs = []
        for need_weights in (False, True):
            minigrad.random.seed(5)
            output = layer(query, key, value, is_causal=True, need_weights=need_weights)
            outputs.append(output[0] if need_weights else output)
        np.testing.assert_allclose(outputs[0].numpy(), outputs[1].numpy(), rtol=1e-12)

    def test_weights_are_before_dropout_and_sum_to_one(self) -> None:
        layer = attention(dropout=0.9)
        _, weights = layer(*inputs(layer), need_weights=True)
        assert weights.shape == (N, H, L, S)
        np.testing.assert_allclose(weights.sum(axis=-1).numpy(), 1.0, rtol=1e-12)


NOWHERE: dict[str, dict[str, Any]] = {
    "a query by a bool mask": {"attn_mask": np.arange(L)[:, None] + np.zeros(S) != 1},
    "a query by a float mask": {
        "attn_mask": np.where(np.arange(L)[:, None] + np.zeros(S) == 1, -np.inf, 0.0)},
    "a batch by padding": {"key_padding_mask": np.array([[False] * S, [True] * S])},
    "a query by two masks": {
        "attn_mask": (np.arange(L)[:, None] != 1) | (np.arange(S) == 0),
        "key_padding_mask": np.arange(S)[None].repeat(N, 0) == 0},
    "the first query, whose only key is padding": {
        "is_causal": True, "key_padding_mask": np.arange(S)[None].repeat(N, 0) == 0},
}  # fmt: skip


@pytest.mark.parametrize("masks", NOWHERE.values(), ids=NOWHERE)
class TestNowhereToAttend:
    def rows(self, weights: Tensor) -> np.ndarray:
        """Which queries may attend nowhere, by the weights: (N, H, L)."""
        return np.asarray(weights.numpy().sum(axis=-1) == 0)

    @pytest.mark.parametrize("training", [False, True])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_zeros_and_finite_gradients(self, masks: Any, training: bool, dtype: Any) -> None:
        layer = attention(dropout=0.1).train(training).to(dtype)
        tensors = [t.detach().astype(dtype).requires_grad_() for t in inputs(layer)]
        output, weights = layer(*tensors, **masks, need_weights=True)
        rows = self.rows(weights)
        assert rows.any()
        assert not rows.all()
        nowhere = rows[:, 0]
        for result in (output, layer(*tensors, **masks)):
            expected = np.broadcast_to(layer.out_proj.bias.numpy(), result.numpy()[nowhere].shape)
            np.testing.assert_allclose(result.numpy()[nowhere], expected, rtol=1e-6)
            leaves = [*tensors, *layer.parameters()]
            grads = minigrad.autograd.grad((result**2).sum(), leaves, retain_graph=True)
            assert all(np.isfinite(g.numpy()).all() for g in grads)
            assert not grads[0].numpy()[nowhere].any()

    def test_an_added_key_is_always_there(self, masks: Any) -> None:
        layer = attention(add_zero_attn=True)
        _, weights = layer(*inputs(layer), **masks, need_weights=True)
        np.testing.assert_allclose(weights.numpy().sum(axis=-1), 1.0, rtol=1e-12)
        assert (weights.numpy()[..., -1] > 0).all()


class TestInfluence:
    """Every argument matters; what is masked does not."""

    def test_the_callers_mask_may_change_afterwards(self) -> None:
        layer = attention()
        q, k, v = inputs(layer)
        keep, padding = KEEP.copy(), PADDING.copy()
        (expected,) = minigrad.autograd.grad((layer(q, k, v, PADDING, KEEP) ** 2).sum(), q)
        loss = (layer(q, k, v, padding, keep) ** 2).sum()
        keep[...] = True
        padding[...] = False
        np.testing.assert_array_equal(minigrad.autograd.grad(loss, q)[0].data, expected.numpy())


class TestShapes:
    @pytest.mark.parametrize(("n", "length", "size"), [(0, 2, 3), (2, 0, 3), (2, 1, 1), (2, 3, 0)])
    @pytest.mark.parametrize("need_weights", [False, True])
    def test_nothing_and_one(self, n: int, length: int, size: int, need_weights: bool) -> None:
        layer = attention()
        q, k, v = draw(n, length, E), draw(n, size, E), draw(n, size, E)
        result = layer(q, k, v, is_causal=True, need_weights=need_weights)
        output = result[0] if need_weights else result
        assert output.shape == (n, length, E)
        output.sum().backward()
        assert q.grad.shape == q.shape
        if size == 0:
            np.testing.assert_allclose(
                output.numpy(), np.broadcast_to(layer.out_proj.bias.numpy(), output.shape)
            )
