"""Masks: the shapes and dtypes that are taken, what they mean together, and what is refused."""

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor, torch
from minigrad.nn import functional as F
from minigrad.nn.functional.masks import Mask, combine, grouped

N, H, L, S = 2, 3, 4, 5
SCORES = (N, H, L, S)
SHAPES = [(L, S), (1, S), (N, L, S), (N, 1, S), (1, L, S), SCORES, (N, 1, 1, S), (1, H, L, S),
          (1, 1, L, S), (N, H, 1, S)]  # fmt: skip
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)


def over_scores(mask: np.ndarray) -> np.ndarray:
    """The mask for every batch, head, query and key, spelled out."""
    return np.broadcast_to(mask[:, np.newaxis] if mask.ndim == 3 else mask, SCORES)


def random_bools(*shape: int) -> np.ndarray:
    return minigrad.random.generator().random(shape) < 0.5


@pytest.mark.parametrize("shape", [None, *SHAPES], ids=str)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("extra_keys", [0, 2])
def test_bools_say_who_may_attend(shape: Any, padded: bool, causal: bool, extra_keys: int) -> None:
    """Padding, who may not; keys that attention adds, all; with a cache, query 0 comes later."""
    given = None if shape is None else random_bools(*shape)
    padding = random_bools(N, S) if padded else None
    for offset in range(S + 2):
        expected = np.ones(SCORES, bool) if given is None else over_scores(given)
        if padding is not None:
            expected = expected & ~padding[:, None, None, :]
        if causal:
            expected = expected & (np.arange(S) <= np.arange(L)[:, None] + offset)
        mask = combine(SCORES, np.float32, given, padding, causal, extra_keys, offset)
        keep = np.ones(1, bool) if mask.keep is None else mask.keep
        found = np.broadcast_to(keep, (N, H, L, S + extra_keys))
        if mask.causal:
            found = found & np.tri(L, S + extra_keys, dtype=bool)
        np.testing.assert_array_equal(found[..., :S], expected)
        assert found[..., S:].all()
        assert mask.bias is None
        assert not (mask.causal and (extra_keys or offset or not causal))


def test_what_needs_no_mask_has_none() -> None:
    assert combine(SCORES, np.float32, is_causal=True) == (None, None, True)  # the kernel does it
    assert combine(SCORES, np.float32, extra_keys=1) == (None, None, False)
    assert combine(SCORES, np.float32, offset=2) == (None, None, False)
    last = combine((N, H, 1, S), np.float32, is_causal=True, offset=S - 1)
    assert last == (None, None, False)


@shapes
def test_lists_and_tensors_of_bools(shape: tuple[int, ...]) -> None:
    given = random_bools(*shape)
    for same in (tensor(given), given.tolist()):
        keep = combine(SCORES, np.float32, same).keep
        np.testing.assert_array_equal(np.broadcast_to(keep, SCORES), over_scores(given))


@shapes
@pytest.mark.parametrize("extra_keys", [0, 2])
def test_floats_are_added(shape: tuple[int, ...], extra_keys: int) -> None:
    given = minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)
    mask = combine(SCORES, np.float32, given, extra_keys=extra_keys)
    assert mask.keep is None
    assert mask.bias.dtype == np.float32
    full = np.broadcast_to(mask.bias.numpy(), (N, H, L, S + extra_keys))
    np.testing.assert_array_equal(full[..., :S], over_scores(given.numpy()).astype(np.float32))
    assert not full[..., S:].any()
    mask.bias.sum().backward()
    assert given.grad.shape == shape
    assert (given.grad.numpy() == 1).all()


@pytest.mark.parametrize("lead", [(), (7,), (2, 3, 4)])
def test_any_number_of_leading_axes(lead: tuple[int, ...]) -> None:
    scores = (*lead, L, S)
    for shape in {(L, S), scores}:
        given = random_bools(*shape)
        keep = combine(scores, np.float32, given).keep
        expected = np.broadcast_to(given, scores)
        np.testing.assert_array_equal(np.broadcast_to(keep, scores), expected)


@pytest.mark.parametrize("shape", [(L, S), (N, 1, L, S), (1, 6, 1, S), (N, 6, L, S)], ids=str)
def test_masks_of_grouped_heads(shape: tuple[int, ...]) -> None:
    """Head h belongs to group h // 2 of three."""
    keep = random_bools(*shape)
    bias = tensor(keep.astype(float))
    mask = grouped(Mask(bias, keep, True), 3)
    assert mask.causal
    for part in (mask.bias, mask.keep):
        found = np.broadcast_to(np.asarray(part), (N, 3, 2, L, S)).reshape(N, 6, L, S)
        np.testing.assert_array_equal(found, np.broadcast_to(keep, (N, 6, L, S)))


def ones(*shape: int, dtype: Any = bool) -> np.ndarray:
    return np.ones(shape, dtype)


TOLD = ("attn_mask: shape (7, 7) does not fit scores of shape (2, 3, 4, 5): expected "
        "(4|1, 5) or (2|1, 4|1, 5) or (2|1, 3|1, 4|1, 5)")  # fmt: skip
WRONG = [(S,), (S, L), (L, 1), (L, S + 1), (H, L, S), (N, L, 1), (N, H, L, L), (1,) * 5]
REFUSED: list[tuple[type[Exception], str, dict[str, Any]]] = [
    *((ValueError, "attn_mask: .*shape", {"attn_mask": ones(*shape, dtype=kind)})
      for shape in WRONG for kind in (bool, float)),
    (ValueError, f"^{re.escape(TOLD)}$", {"attn_mask": ones(7, 7)}),
    (ValueError, r"attn_mask.reshape\(2, 3, 4, 5\)", {"attn_mask": ones(N * H, L, S)}),
    *((TypeError, "attn_mask: .*bool.*float", {"attn_mask": ones(L, S, dtype=dtype)})
      for dtype in (int, np.uint8, complex)),
    *((TypeError, r"key_padding_mask: .*bool.*\.astype\(bool\)",
       {"key_padding_mask": ones(N, S, dtype=dtype)}) for dtype in (int, float, np.uint8)),
    *((ValueError, r"\(N, S\) = \(2, 5\)", {"key_padding_mask": ones(*shape)})
      for shape in [(S,), (1, S), (N, L), (S, N), (N, 1, S)]),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "masks"), REFUSED)
def test_what_does_not_fit(error: type[Exception], message: str, masks: dict[str, Any]) -> None:
    with pytest.raises(error, match=message):
        combine(SCORES, np.float32, **masks)


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
