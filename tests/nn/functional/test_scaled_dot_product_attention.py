"""F.scaled_dot_product_attention and its module: any leading axes, options, refusals."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F

N, H, L, S = 2, 2, 4, 5


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 3, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_any_leading_axes(lead: tuple[int, ...], causal: bool) -> None:
    q, k, v = draw(*lead, L, 3), draw(*lead, S, 3), draw(*lead, S, 2)
    out, weights = F.scaled_dot_product_attention(q, k, v, is_causal=causal, output_weight=True)
    scores = q.numpy() @ k.numpy().swapaxes(-1, -2) / np.sqrt(3)
    if causal:
        scores = np.where(np.tri(L, S, dtype=bool), scores, -np.inf)
    expected = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(weights.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(out.numpy(), expected @ v.numpy(), rtol=1e-12)
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    np.testing.assert_allclose(fused.numpy(), out.numpy(), rtol=1e-12)


def test_scale_and_dropout() -> None:
    q, k, v = draw(L, 3), draw(S, 3), draw(S, 2)
    scaled = F.scaled_dot_product_attention(q, k, v, scale=1.0)
    np.testing.assert_allclose(
        scaled.numpy(), F.scaled_dot_product_attention(q * np.sqrt(3), k, v).numpy(), rtol=1e-12
    )
    dropped = F.scaled_dot_product_attention(q, k, v, dropout_p=1.0)
    assert not dropped.numpy().any()


def test_a_mask_of_three_axes_counts_heads_and_in_a_layer_batches() -> None:
    """As PyTorch broadcasts for the function."""
    q, k, v = draw(N, H, L, 3), draw(N, H, S, 3), draw(N, H, S, 2)
    keep = np.random.default_rng(0).random((N, L, S)) < 0.8
    for call, axes in (
        (lambda mask: F.scaled_dot_product_attention(q, k, v, mask), keep[None]),
        (lambda mask: nn.ScaledDotProductAttention(mask)(q, k, v), keep[:, None]),
    ):
        spelled_out = np.broadcast_to(axes, (N, H, L, S))
        np.testing.assert_allclose(call(keep).numpy(), call(spelled_out).numpy())


def test_the_module() -> None:
    q, k, v = draw(N, L, 3), draw(N, S, 3), draw(N, S, 2)
    mask = draw(L, S)
    module = nn.ScaledDotProductAttention(mask, dropout_p=0.5, is_causal=True, scale=0.3)
    expected = F.scaled_dot_product_attention(q, k, v, mask, 0.0, True, 0.3)
    np.testing.assert_array_equal(module.eval()(q, k, v).numpy(), expected.numpy())
    assert (module.train()(q, k, v).numpy() != expected.numpy()).any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", [None, (L, S), (N, 1, L, S), (N, 4, L, S)], ids=str)
def test_heads_of_queries_that_share_keys(causal: bool, mask: Any) -> None:
    q, k, v = draw(N, 4, L, 3), draw(N, 2, S, 3), draw(N, 2, S, 2)
    keep = None if mask is None else np.random.default_rng(0).random(mask) < 0.7
    options: dict[str, Any] = {"attn_mask": keep, "is_causal": causal, "output_weight": True}
    found = F.scaled_dot_product_attention(q, k, v, enable_gqa=True, **options)
    twice = (np.repeat(x, 2, axis=1) for x in (k, v))
    expected = F.scaled_dot_product_attention(q, *twice, **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
