"""The transformer block of linear maps, and three theorems on attention: two hold, one does not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.autograd import gradcheck
from minigrad.nn import by_hand
from minigrad.nn import functional as F

float64 = minigrad.float64
N, L, D, H = 2, 4, 6, 2
CAUSAL = np.tri(L, dtype=bool)
PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
MASKS: dict[str, tuple[dict[str, Any], Any]] = {
    "none": ({}, None),
    "keep": ({"attn_mask": CAUSAL}, CAUSAL),
    "causal": ({"is_causal": True}, CAUSAL),
    "padding": ({"key_padding_mask": PADDING}, ~PADDING[:, None, None]),
    "both": ({"key_padding_mask": PADDING, "is_causal": True}, CAUSAL & ~PADDING[:, None, None]),
}
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=True)


def block() -> nn.TransformerBlock:
    """A block in float64 none of whose parameters is 0 or 1."""
    layer = nn.TransformerBlock(D, D, H, D).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter, std=0.5)
    return layer


def as_written(layer: nn.TransformerBlock, x: np.ndarray, mask: Any) -> np.ndarray:
    """What the block computes, line by line, in NumPy."""
    p = {name: parameter.numpy() for name, parameter in layer.named_parameters()}

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return by_hand.layer_norm(x, p[f"{name}.weight"], p[f"{name}.bias"], eps=1e-5)

    Q, K, V = (linear(x, name) for name in ("query", "key", "value"))
    weights = (p[f"attention.{name}_proj.weight"].T for name in ("q", "k", "v", "out"))
    attention_output, _ = by_hand.multi_head_attention_forward(Q, K, V, *weights, H, mask)
    intermediate_output = norm(linear(attention_output, "linear1") + x, "norm1")
    return norm(linear(intermediate_output, "linear2") + intermediate_output, "norm2")


@masks
def test_it_computes_what_is_written(masks: Any) -> None:
    layer, x = block(), draw(N, L, D)
    output = layer(x, **masks[0])
    np.testing.assert_allclose(output.numpy(), as_written(layer, x.numpy(), masks[1]), rtol=1e-10)


def test_a_matrix_is_a_batch_of_one() -> None:
    layer, x = block(), draw(L, D)
    output = layer(x, is_causal=True)
    assert output.shape == (L, D)
    np.testing.assert_array_equal(output.numpy(), layer(x[None], is_causal=True).numpy()[0])
    gradcheck(lambda x: layer(x, PADDING[:1]), x)


seeds, sizes = st.integers(0, 2**32), st.integers(1, 6)
factors = st.floats(-10, 10)


def attentions(seed: int, queries: int, keys: int, width: int) -> list[Tensor]:
    rng = np.random.default_rng(seed)
    return [tensor(rng.normal(size=(n, width))) for n in (queries, keys, keys)]


def attend(Q: Any, K: Any, V: Any) -> np.ndarray:
    return F.scaled_dot_product_attention(Q, K, V).numpy()


def weights(Q: Any, K: Any) -> np.ndarray:
    return F.softmax(F.compute_attention_scores(Q, K)).numpy()


class TestShiftInvariance:
    """softmax(v + c) = softmax(v): the factor exp(c) cancels."""

    @given(seeds, sizes, st.floats(-1e4, 1e4))
    def test_holds(self, seed: int, size: int, c: float) -> None:
        v = tensor(np.random.default_rng(seed).normal(size=size))
        np.testing.assert_allclose(F.softmax(v + c).numpy(), F.softmax(v).numpy(), rtol=1e-10)

    @given(seeds, sizes)
    def test_so_the_gradient_sums_to_zero(self, seed: int, size: int) -> None:
        rng = np.random.default_rng(seed)
        v = tensor(rng.normal(size=size), requires_grad=True)
        (F.softmax(v) * rng.normal(size=size)).sum().backward()
        assert v.grad.sum().item() == pytest.approx(0, abs=1e-12)


class TestLinearityInTheValues:
    """Attention(Q, K, aV + bU) = a Attention(Q, K, V) + b Attention(Q, K, U)."""

    @given(seeds, sizes, sizes, sizes, factors, factors)
    def test_it_holds(self, seed: int, m: int, n: int, d: int, a: float, b: float) -> None:
        Q, K, V = attentions(seed, m, n, d)
        *_, U = attentions(seed + 1, m, n, d)
        expected = a * attend(Q, K, V) + b * attend(Q, K, U)
        np.testing.assert_allclose(attend(Q, K, a * V + b * U), expected, 1e-9, 1e-11)


class TestKeyScaling:
    """Claimed: Attention(Q, cK, V) = Attention(Q, K, V). False: c sharpens or flattens the weights.

    The proof turns a factor into a summand, softmax(c·s) = softmax(s + log c), and lets the shift
    cancel. But exp(c·s) is exp(s) to the power c, not c times exp(s).
    """

    Q, K, V = Tensor([[1.0]]), Tensor([[1.0], [0.0]]), Tensor([[1.0], [0.0]])

    def test_a_counterexample(self) -> None:
        for factor, expected in ((1, 0.7311), (2, 0.8808), (0, 0.5), (-1, 0.2689)):
            found = attend(self.Q, factor * self.K, self.V).item()
            assert found == pytest.approx(expected, abs=1e-4)

    def test_the_step_that_fails(self) -> None:
        s, c = F.compute_attention_scores(self.Q, self.K), 2.0
        assert np.abs((F.softmax(c * s) - F.softmax(s + np.log(c))).numpy()).max() > 0.1
        np.testing.assert_allclose(
            F.softmax(s + np.log(c)).numpy(), F.softmax(s).numpy(), rtol=1e-6
        )
        np.testing.assert_allclose(minigrad.exp(c * s).data, minigrad.exp(s).data ** c, rtol=1e-6)

    @given(seeds, sizes, sizes, sizes, factors)
    def test_holds_for_zeros_and_ones(self, seed: int, m: int, n: int, d: int, c: float) -> None:
        Q, K, V = attentions(seed, m, n, d)
        np.testing.assert_array_equal(attend(0 * Q, c * K, V), attend(0 * Q, K, V))
        np.testing.assert_array_equal(attend(Q, 1.0 * K, V), attend(Q, K, V))

    @given(seeds, sizes, sizes, st.integers(2, 6), factors)
    def test_holds_if_keys_score_alike(self, seed: int, m: int, n: int, d: int, c: float) -> None:
        Q, K, V = attentions(seed, m, n, d)
        alike = minigrad.broadcast_to(K[:1], K.shape)  # one key, n times
        np.testing.assert_allclose(attend(Q, c * alike, V), attend(Q, alike, V), 1e-10, 1e-12)
        K.data[:, 1:] = K.numpy()[0, 1:]  # keys that differ only where the queries are 0
        Q.data[:, 0] = 0
        np.testing.assert_allclose(attend(Q, c * K, V), attend(Q, K, V), 1e-9, 1e-12)

    @given(seeds, st.integers(2, 6), sizes, factors)
    def test_and_in_no_other_case(self, seed: int, n: int, d: int, c: float) -> None:
        """The ratio of two weights, exp(s_i - s_j), is raised to the power c."""
        Q, K, _ = attentions(seed, 1, n, d)
        scores = F.compute_attention_scores(Q, K).numpy()
        assume(np.ptp(scores) > 1e-3 and abs(c - 1) > 1e-3)
        assert np.abs(weights(Q, c * K) - weights(Q, K)).max() > 1e-8
