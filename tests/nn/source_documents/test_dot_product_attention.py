"""Dot-product attention with its own projections, and what is claimed of it: true or false.

Four properties are claimed of attention α(q, K) V. Two hold, and are tested on whatever hypothesis
draws. Two are false as written: a counterexample shows it, and what does hold is tested beside.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.nn import functional as F

float64 = minigrad.float64
N, L, S, SIZES, HIDDEN, H = 2, 4, 5, (6, 3, 4), 8, 2
PADDING = np.array([[0, 0, 0, 0, 1], [0, 1, 1, 0, 0]], bool)
KEEP = np.random.default_rng(1).random((N, L, S)) < 0.7
MASKS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "none": ({}, True, 0.0),
    "keep": ({"attn_mask": KEEP}, KEEP, 0.0),
    "bias": ({"attn_mask": 0.1 * np.arange(S)[None]}, True, 0.1 * np.arange(S)),
    "padding": ({"key_padding_mask": PADDING}, ~PADDING[:, None], 0.0),
    "causal": ({"is_causal": True}, np.tri(L, S, dtype=bool), 0.0),
    "all": (
        {"attn_mask": KEEP[:1], "key_padding_mask": PADDING, "is_causal": True},
        KEEP[:1] & ~PADDING[:, None] & np.tri(L, S, dtype=bool), 0.0),
}  # fmt: skip
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


def inputs() -> list[Tensor]:
    return [draw(N, L, SIZES[0]), draw(N, S, SIZES[1]), draw(N, S, SIZES[2])]


def plainly(layer: Any, arrays: list[np.ndarray], allowed: Any, bias: Any) -> Any:
    """Output and weights of one head, in NumPy, a query at a time."""
    projections = (layer.query_proj, layer.key_proj, layer.value_proj)
    q, k, v = (x @ p.numpy() for x, p in zip(arrays, projections, strict=True))
    allowed, bias = (np.broadcast_to(x, (N, L, S)) for x in (allowed, bias))
    output, weights = np.zeros((N, L, layer.hidden_size)), np.zeros((N, L, S))
    for n, i in np.ndindex(N, L):
        scores = k[n] @ q[n, i] / layer.hidden_size**0.5 + bias[n, i]
        factors = np.exp(scores) * allowed[n, i]
        weights[n, i] = factors / (factors.sum() or 1)
        output[n, i] = weights[n, i] @ v[n]
    return output, weights


@masks
@pytest.mark.parametrize("heads", [(), (H,)])
def test_each_head_by_itself_and_heads_are_concatenated(heads: Any, masks: Any) -> None:
    kind: Any = nn.MultiHeadDotProductAttention if heads else nn.DotProductAttention
    layer, tensors = kind(*SIZES, HIDDEN, *heads).double(), inputs()
    given_masks, allowed, bias = masks
    arrays = [t.numpy() for t in tensors]
    results = [plainly(one, arrays, allowed, bias) for one in getattr(layer, "heads", [layer])]
    output = np.concatenate([output for output, _ in results], axis=-1)
    composed, found = layer(*tensors, **given_masks, need_weights=True)
    for result in (layer(*tensors, **given_masks), composed):
        np.testing.assert_allclose(result.numpy(), output, rtol=1e-10, atol=1e-13)
    expected = np.stack([weights for _, weights in results], axis=1).reshape(found.shape)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-13)


sizes = st.integers(1, 6)


@st.composite
def attentions(draws: Any) -> tuple[Any, list[Tensor], dict[str, Any]]:
    """A layer, its inputs, and masks, of all sizes and magnitudes."""
    n, length, size, heads, width = (draws(sizes) for _ in range(5))
    widths = [draws(sizes) for _ in range(3)]
    rng = np.random.default_rng(draws(st.integers(0, 2**32)))
    scale = 10.0 ** draws(st.integers(-3, 3))
    layer: nn.Module
    if draws(st.booleans()):
        layer = nn.MultiHeadDotProductAttention(*widths, heads * width, heads)
    else:
        layer = nn.DotProductAttention(*widths, width)
    tensors = [
        tensor(scale * rng.normal(size=shape))
        for shape in zip((n,) * 3, (length, size, size), widths, strict=True)
    ]
    masks: dict[str, Any] = {"is_causal": draws(st.booleans())}
    if draws(st.booleans()):
        masks["key_padding_mask"] = rng.random((n, size)) < 0.3
    if draws(st.booleans()):
        masks["attn_mask"] = rng.random((n, length, size)) < 0.7
    return layer.double().eval(), tensors, masks


def may_attend(tensors: list[Tensor], masks: dict[str, Any]) -> np.ndarray:
    """Which queries have a key: bools of shape (N, L)."""
    n, length, size = (*tensors[0].shape[:2], tensors[1].shape[1])
    keep = np.ones((n, length, size), bool) & masks.get("attn_mask", True)
    keep &= ~masks.get("key_padding_mask", np.zeros((n, size), bool))[:, None]
    if masks["is_causal"]:
        keep &= np.tri(length, size, dtype=bool)
    return keep.any(axis=-1)


class TestProperties:
    @given(attentions())
    def test_1_and_2_the_shape_and_the_weights(self, case: Any) -> None:
        """The output has the batch and length of the query, and the width of the values.

        Weights sum to one for every query that may attend somewhere; those of any other are zero.
        """
        layer, tensors, masks = case
        output, weights = layer(*tensors, **masks, need_weights=True)
        assert output.shape == (*tensors[0].shape[:2], layer.hidden_size)
        sums = weights.numpy().sum(axis=-1)  # (N, L), or (N, H, L)
        somewhere = may_attend(tensors, masks)  # (N, L)
        if sums.ndim == 3:
            somewhere = np.broadcast_to(somewhere[:, None], sums.shape)
        np.testing.assert_allclose(sums[somewhere], 1, rtol=1e-12)
        assert not sums[~somewhere].any()
        assert (weights.numpy() >= 0).all()

    def test_3_as_claimed_is_false(self) -> None:
        """Claimed: queries of one direction give outputs of one direction. Yet length counts.

        The longer of two parallel queries attends more sharply. Between a value and its near
        opposite, that turns the output around.
        """
        K, V = Tensor([[1.0], [-1.0]]), Tensor([[1.0], [-1.1]])
        q1, q2 = Tensor([[0.01]]), Tensor([[10.0]])
        first, second = (F.softmax(F.compute_attention_scores(q, K), dim=-1) @ V for q in (q1, q2))
        assert F.cosine_similarity(q1, q2).item() == pytest.approx(1)
        assert first.item() == pytest.approx(-0.04, abs=1e-3)
        assert second.item() == pytest.approx(1.0, abs=1e-3)
        assert F.cosine_similarity(first, second).item() == pytest.approx(-1)

    @given(st.integers(0, 2**32), sizes, sizes, sizes, st.integers(-8, 1))
    def test_3_made_true(self, seed: int, size: int, d: int, d_v: int, power: int) -> None:
        """Outputs converge as queries do: they differ by ‖q₁ - q₂‖ max‖k‖ max‖v‖ / √d at most.

        A score moves by ‖q₁ - q₂‖ ‖k‖ / √d at most, and softmax moves its weights, in sum, by no
        more than the score that moves most.
        """
        rng = np.random.default_rng(seed)
        K, V = rng.normal(size=(size, d)), rng.normal(size=(size, d_v))
        q = rng.normal(size=(2, d))
        q[1] = q[0] + 10.0**power * q[1]
        weights = F.softmax(F.compute_attention_scores(tensor(q), tensor(K)), dim=-1)
        first, second = (weights @ tensor(V)).numpy()
        bound = np.linalg.norm(q[0] - q[1]) / d**0.5
        bound *= np.linalg.norm(K, axis=1).max() * np.linalg.norm(V, axis=1).max()
        assert np.linalg.norm(first - second) <= bound * (1 + 1e-6) + 1e-12

    def test_4_as_claimed_is_false(self) -> None:
        """Claimed: other values at the same keys give another output. Yet a mean hides which is.

        With keys of zero all weights are equal, and the mean does not see the order of the values.
        """
        q, K = draw(1, 3, 2), minigrad.zeros(1, 4, 2, dtype=float64)
        V = draw(1, 4, 5)
        permuted = V[:, [2, 0, 3, 1]]
        weights = F.softmax(F.compute_attention_scores(q, K), dim=-1)
        assert np.abs(V.numpy() - permuted.numpy()).min() > 0
        np.testing.assert_allclose((weights @ V).numpy(), (weights @ permuted).numpy(), rtol=1e-12)

    @given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 3), sizes)
    def test_4_made_true(self, seed: int, size: int, more: int, d_v: int) -> None:
        """With equal keys and weights of full column rank, other values give another output.

        Then A (V₁ - V₂) = 0 for V₁ = V₂ only: the smallest singular value of A bounds from below
        by how much the outputs differ.
        """
        rng = np.random.default_rng(seed)
        q, K = 3 * rng.normal(size=(size + more, 8)), 3 * rng.normal(size=(size, 8))
        weights = F.softmax(F.compute_attention_scores(tensor(q), tensor(K)), dim=-1).numpy()
        smallest = np.linalg.svd(weights, compute_uv=False)[-1]
        assume(smallest > 1e-6)
        V1, V2 = rng.normal(size=(2, size, d_v))
        difference = np.linalg.norm(weights @ V1 - weights @ V2)
        assert difference >= smallest * np.linalg.norm(V1 - V2) * (1 - 1e-9)
        assert difference > 0


def test_corners_of_the_cosine_similarity() -> None:
    x = draw(2, 3)
    zero = minigrad.zeros(2, 3, dtype=float64, requires_grad=True)
    similarity = F.cosine_similarity(zero, x)
    assert not similarity.numpy().any()
    similarity.sum().backward()
    assert np.isfinite(zero.grad.numpy()).all()
    large = F.cosine_similarity(1e30 * minigrad.ones(1, 3), 1e30 * minigrad.ones(1, 3))
    assert large.item() == pytest.approx(1)
