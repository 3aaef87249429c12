"""Masks: the shapes and dtypes that are taken, what they mean together, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, torch
from minigrad.nn import functional as F
from minigrad.nn.functional.masks import Mask, combine, grouped

N, H, L, S = 2, 3, 4, 5
SCORES = (N, H, L, S)
SHAPES = [
    (L, S),
    (1, S),
    (N, L, S),
    (N, 1, S),
    (1, L, S),
    (N, H, L, S),
    (N, 1, 1, S),
    (1, H, L, S),
    (1, 1, L, S),
    (N, H, 1, S),
]


def over_scores(mask: np.ndarray) -> np.ndarray:
    """The mask for every batch, head, query and key, spelled out."""
    if mask.ndim == 3:
        mask = mask[:, np.newaxis]
    return np.broadcast_to(mask, SCORES)


def random_bools(*shape: int) -> np.ndarray:
    return minigrad.random.generator().random(shape) < 0.5


class TestMeaning:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    @pytest.mark.parametrize("convert", [np.asarray, Tensor, np.ndarray.tolist])
    def test_bool_says_who_may_attend(self, shape: tuple[int, ...], convert: Any) -> None:
        given = random_bools(*shape)
        mask = combine(SCORES, np.float32, convert(given))
        assert mask.bias is None
        assert not mask.causal
        np.testing.assert_array_equal(np.broadcast_to(mask.keep, SCORES), over_scores(given))

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_float_is_added(self, shape: tuple[int, ...]) -> None:
        given = minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)
        mask = combine(SCORES, np.float32, given)
        assert mask.keep is None
        assert mask.bias.dtype == np.float32
        expected = over_scores(given.data).astype(np.float32)
        np.testing.assert_array_equal(np.broadcast_to(mask.bias.data, SCORES), expected)
        mask.bias.sum().backward()
        assert given.grad.shape == shape

    def test_padding_says_who_is_ignored(self) -> None:
        padding = random_bools(N, S)
        mask = combine(SCORES, np.float32, key_padding_mask=padding)
        expected = np.broadcast_to(~padding[:, None, None, :], SCORES)
        np.testing.assert_array_equal(np.broadcast_to(mask.keep, SCORES), expected)

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_bool_and_padding_combine(self, shape: tuple[int, ...]) -> None:
        given, padding = random_bools(*shape), random_bools(N, S)
        mask = combine(SCORES, np.float32, given, padding)
        expected = over_scores(given) & ~padding[:, None, None, :]
        np.testing.assert_array_equal(np.broadcast_to(mask.keep, SCORES), expected)

    def test_causal_is_left_to_the_kernel(self) -> None:
        mask = combine(SCORES, np.float32, is_causal=True)
        assert mask == (None, None, True)

    @pytest.mark.parametrize("lead", [(), (7,), (2, 3, 4)])
    def test_any_number_of_leading_axes(self, lead: tuple[int, ...]) -> None:
        scores = (*lead, L, S)
        for shape in {(L, S), scores}:
            given = random_bools(*shape)
            keep = combine(scores, np.float32, given).keep
            expected = np.broadcast_to(given, scores)
            np.testing.assert_array_equal(np.broadcast_to(keep, scores), expected)


class TestExtraKeys:
    """Keys that attention adds can always be attended."""

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("padded", [False, True])
    def test_bool(self, shape: tuple[int, ...], causal: bool, padded: bool) -> None:
        given, padding = random_bools(*shape), random_bools(N, S)
        mask = combine(SCORES, np.float32, given, padding if padded else None, causal, 2)
        expected = over_scores(given)
        if padded:
            expected = expected & ~padding[:, None, None, :]
        if causal:
            expected = expected & (np.arange(S) <= np.arange(L)[:, None])
        keep = np.broadcast_to(mask.keep, (N, H, L, S + 2))
        np.testing.assert_array_equal(keep[..., :S], expected)
        assert keep[..., S:].all()
        assert not mask.causal

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_float(self, shape: tuple[int, ...]) -> None:
        given = minigrad.randn(*shape, requires_grad=True)
        bias = combine(SCORES, np.float32, given, extra_keys=2).bias
        full = np.broadcast_to(bias.data, (N, H, L, S + 2))
        np.testing.assert_array_equal(full[..., :S], over_scores(given.data))
        assert not full[..., S:].any()
        bias.sum().backward()
        assert (given.grad.data == 1).all()

    def test_no_mask_needs_none(self) -> None:
        assert combine(SCORES, np.float32, extra_keys=1) == (None, None, False)


class TestOffset:
    """With a cache, query 0 comes after the keys that are cached."""

    @pytest.mark.parametrize("offset", range(S + 2))
    @pytest.mark.parametrize("extra_keys", [0, 2])
    @pytest.mark.parametrize("others", [False, True])
    def test_causal(self, offset: int, extra_keys: int, others: bool) -> None:
        given, padding = random_bools(L, S), random_bools(N, S)
        masks = (given, padding) if others else (None, None)
        mask = combine(SCORES, np.float32, *masks, True, extra_keys, offset)
        keep = np.ones((N, H, L, S + extra_keys), bool) if mask.keep is None else mask.keep
        for n, i, j in np.ndindex(N, L, S):
            expected = j <= i + offset and not (others and (padding[n, j] or not given[i, j]))
            found = np.broadcast_to(keep, (N, H, L, S + extra_keys))[n, :, i, j]
            assert (found & (not mask.causal or j <= i) == expected).all()
        assert np.broadcast_to(keep, (N, H, L, S + extra_keys))[..., S:].all()
        assert not (mask.causal and (extra_keys or offset))

    def test_the_last_query_alone_needs_no_mask(self) -> None:
        scores = (N, H, 1, S)
        assert combine(scores, np.float32, is_causal=True, offset=S - 1) == (None, None, False)

    def test_without_is_causal_it_means_nothing(self) -> None:
        assert combine(SCORES, np.float32, offset=2) == (None, None, False)


@pytest.mark.parametrize("shape", [(L, S), (N, 1, L, S), (1, 6, 1, S), (N, 6, L, S)], ids=str)
def test_masks_of_grouped_heads(shape: tuple[int, ...]) -> None:
    """Head h belongs to group h // 2 of three."""
    keep = random_bools(*shape)
    bias = Tensor(keep.astype(float))
    mask = grouped(Mask(bias, keep, True), 3)
    assert mask.causal
    for part in (mask.bias, mask.keep):
        found = np.broadcast_to(np.asarray(part), (N, 3, 2, L, S)).reshape(N, 6, L, S)
        np.testing.assert_array_equal(found, np.broadcast_to(keep, (N, 6, L, S)))


class TestRefusals:
    @pytest.mark.parametrize(
        "shape", [(S,), (S, L), (L, 1), (L, S + 1), (H, L, S), (N, L, 1), (N, H, L, L), (1,) * 5]
    )
    @pytest.mark.parametrize("kind", [bool, float])
    def test_shapes(self, shape: tuple[int, ...], kind: type) -> None:
        with pytest.raises(ValueError, match="attn_mask: .*shape"):
            combine(SCORES, np.float32, np.ones(shape, kind))

    def test_the_accepted_shapes_are_named(self) -> None:
        told = (
            "attn_mask: shape (7, 7) does not fit scores of shape (2, 3, 4, 5): expected "
            "(4|1, 5) or (2|1, 4|1, 5) or (2|1, 3|1, 4|1, 5)"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
            combine(SCORES, np.float32, np.ones((7, 7), bool))

    def test_pytorchs_mask_per_head_is_told_its_reshape(self) -> None:
        mask = np.ones((N * H, L, S), bool)
        with pytest.raises(ValueError, match=r"attn_mask.reshape\(2, 3, 4, 5\)"):
            combine(SCORES, np.float32, mask)
        combine(SCORES, np.float32, mask.reshape(2, 3, 4, 5))

    @pytest.mark.parametrize("dtype", [int, np.uint8, complex])
    def test_dtype_of_attn_mask(self, dtype: Any) -> None:
        with pytest.raises(TypeError, match="attn_mask: .*bool.*float"):
            combine(SCORES, np.float32, np.ones((L, S), dtype))

    @pytest.mark.parametrize("dtype", [int, float, np.uint8])
    def test_dtype_of_key_padding_mask(self, dtype: Any) -> None:
        with pytest.raises(TypeError, match=r"key_padding_mask: .*bool.*\.astype\(bool\)"):
            combine(SCORES, np.float32, key_padding_mask=np.ones((N, S), dtype))

    @pytest.mark.parametrize("shape", [(S,), (1, S), (N, L), (S, N), (N, 1, S)])
    def test_shape_of_key_padding_mask(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"\(N, S\) = \(2, 5\)"):
            combine(SCORES, np.float32, key_padding_mask=np.ones(shape, bool))


def test_a_mask_of_one_axis_is_refused_by_every_door() -> None:
    """Nothing is broadcast over the queries by chance; the error names the reshape."""
    x = minigrad.randn(2, 5, 8)
    doors: dict[str, Any] = {
        "function": lambda mask: F.scaled_dot_product_attention(x, x, x, mask),
        "two axes": lambda mask: F.scaled_dot_product_attention(x[0], x[0], x[0], mask),
        "additive": lambda mask: F.additive_attention(
            x, x, x, minigrad.ones(8, 3), minigrad.ones(8, 3), minigrad.ones(3), mask
        ),
        "ours": lambda mask: nn.MultiHeadAttention(8, 2)(x, x, x, attn_mask=mask),
        "PyTorch's": lambda mask: torch.nn.MultiheadAttention(8, 2, batch_first=True)(
            x, x, x, attn_mask=mask
        ),
        "encoder": lambda mask: nn.TransformerEncoderLayer(8, 2)(x, mask),
        "decoder": lambda mask: nn.TransformerDecoderLayer(8, 2)(x, x, mask),
        "transformer": lambda mask: nn.Transformer(8, 2, 1, 1)(x, x, mask),
    }
    for door, call in doors.items():
        for mask in (minigrad.ones(5, dtype=bool), minigrad.zeros(5)):
            with pytest.raises(ValueError, match=r"attn_mask.*reshape\(1, 5\)"):  # noqa: PT012  # it says which door is open
                call(mask)
                pytest.fail(door)
