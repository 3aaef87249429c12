"""Attention by hand: what it computes, its derivatives, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.nn import by_hand

B, Q_LEN, K_LEN, D, D_V = 2, 3, 4, 5, 6
SOME = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1]], bool)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def inputs(*leading: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return draw(*leading, Q_LEN, D), draw(*leading, K_LEN, D), draw(*leading, K_LEN, D_V)


class TestScores:
    def test_dot_products(self) -> None:
        Q, K, _ = inputs(B)
        scores = by_hand.compute_attention_scores(Q, K)
        for b, i, j in np.ndindex(B, Q_LEN, K_LEN):
            assert scores[b, i, j] == pytest.approx(Q[b, i] @ K[b, j] / np.sqrt(D))
        plain = by_hand.compute_attention_scores(Q, K, scale=False)
        np.testing.assert_allclose(plain, scores * np.sqrt(D))

    def test_a_mask_replaces_and_never_adds(self) -> None:
        scores = draw(Q_LEN, K_LEN) * 1e8
        masked = by_hand.apply_attention_mask(scores, SOME)
        assert (masked[~SOME] == -1e9).all()
        np.testing.assert_array_equal(masked[SOME], scores[SOME])
        assert (by_hand.apply_attention_mask(scores, SOME, mask_value=-7)[~SOME] == -7).all()


class TestWeights:
    def test_range(self) -> None:
        np.testing.assert_array_equal(by_hand.attention_weights(np.array([1000.0, 0.0])), [1, 0])
        np.testing.assert_array_equal(by_hand.attention_weights(np.full(2, -np.inf)), [0, 0])
        np.testing.assert_array_equal(by_hand.attention_weights(np.array([3, 3])), [0.5, 0.5])
        assert by_hand.attention_weights(np.empty((2, 0))).shape == (2, 0)


class TestScaledDotProduct:
    @pytest.mark.parametrize("leading", [(), (B,), (B, 3)])
    def test_a_mean_of_values(self, leading: tuple[int, ...]) -> None:
        Q, K, V = inputs(*leading)
        output, weights = by_hand.scaled_dot_product_attention(Q, K, V, SOME)
        assert output.shape == (*leading, Q_LEN, D_V)
        assert weights.shape == (*leading, Q_LEN, K_LEN)
        assert not weights[..., ~SOME].any()
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-12)
        np.testing.assert_allclose(output, weights @ V)

    def test_float32_stays(self) -> None:
        Q, K, V = (x.astype(np.float32) for x in inputs(B))
        output, weights = by_hand.scaled_dot_product_attention(Q, K, V, SOME)
        grads = by_hand.scaled_dot_product_attention_backward(output, Q, K, V, weights, SOME)
        assert {x.dtype for x in (output, weights, *grads)} == {np.dtype(np.float32)}

    def test_no_keys(self) -> None:
        output, _ = by_hand.scaled_dot_product_attention(
            draw(B, Q_LEN, D), draw(B, 0, D), draw(B, 0, D_V)
        )
        np.testing.assert_array_equal(output, np.zeros((B, Q_LEN, D_V)))


class TestAdditive:
    def arguments(self) -> list[np.ndarray]:
        shapes = [(B, Q_LEN, 2), (B, K_LEN, 3), (B, K_LEN, D_V), (2, 7), (3, 7), (7,)]
        return [draw(*shape) for shape in shapes]

    def test_each_score(self) -> None:
        Q, K, V, W_q, W_k, v = self.arguments()
        output, weights = by_hand.additive_attention(Q, K, V, W_q, W_k, v)
        for b, i in np.ndindex(B, Q_LEN):
            scores = [v @ np.tanh(W_q.T @ Q[b, i] + W_k.T @ K[b, j]) for j in range(K_LEN)]
            expected = np.exp(scores) / np.exp(scores).sum()
            np.testing.assert_allclose(weights[b, i], expected, rtol=1e-12)
            np.testing.assert_allclose(output[b, i], expected @ V[b], rtol=1e-12)
