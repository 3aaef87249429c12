"""MultiHeadAttention and F.scaled_dot_product_attention against PyTorch, in values and gradients.

PyTorch's attn_mask has the opposite meaning where it is bool, and one shape per head: every mask
of ours is spelled out for it.
"""

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn

N, H, L, S, E = 2, 2, 4, 5, 6

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no bias": {"bias": False},
    "bias_kv": {"add_bias_kv": True},
    "zero_attn": {"add_zero_attn": True},
    "bias_kv, zero_attn": {"add_bias_kv": True, "add_zero_attn": True},
    "kdim, vdim": {"kdim": 3, "vdim": 4},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 3, "vdim": 4, "bias": False},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
SHAPES = [
    (L, S), (1, S), (N, L, S), (N, 1, S), (1, L, S), (N, H, L, S), (1, H, L, S), (N, 1, L, S),
    (N, H, 1, S), (N, 1, 1, S), (1, H, 1, S), (1, 1, 1, S),
]  # fmt: skip
PADDING = np.array([[0, 0, 0, 0, 1], [0, 0, 1, 0, 1]], bool)
CAUSAL = np.tri(L, S, dtype=bool)


def keep_mask(shape: tuple[int, ...]) -> np.ndarray:
    """A random bool mask that lets everybody attend to key 0."""
    mask = draw(*shape) > -0.3
    mask[..., 0] = True
    return mask


def per_head(mask: Any) -> np.ndarray:
    """A mask of ours for every batch, head, query and key, in PyTorch's shape (N·H, L, S)."""
    mask = np.asarray(mask)
    if mask.ndim == 3:
        mask = mask[:, None]
    return np.broadcast_to(mask, (N, H, L, S)).reshape(N * H, L, S)


def pair(options: dict[str, Any]) -> tuple[nn.MultiHeadAttention, Any]:
    theirs = randomise(torch.nn.MultiheadAttention(E, H, batch_first=True, **options))
    return nn.MultiHeadAttention(E, H, **options).double(), theirs


def check(
    options: dict[str, Any],
    attn_mask: np.ndarray | None = None,
    padding: np.ndarray | None = None,
    causal: bool = False,
    need_weights: bool = True,
) -> None:
    ours, theirs = pair(options)
    inputs = [draw(N, L, E), draw(N, S, ours.kdim), draw(N, S, ours.vdim)]
    float_mask = attn_mask is not None and attn_mask.dtype == float
    if float_mask:
        inputs.append(attn_mask)

    def run_ours(q: Any, k: Any, v: Any, mask: Any = attn_mask) -> Any:
        return ours(q, k, v, padding, mask, causal, need_weights=need_weights)

    def run_theirs(q: Any, k: Any, v: Any, bias: Any = None) -> Any:
        if float_mask:
            mask = bias[:, None] if bias.ndim == 3 else bias
            mask = mask.expand(N, H, L, S).reshape(N * H, L, S)
            if causal:
                mask = mask.masked_fill(torch.tensor(~CAUSAL), -torch.inf)
        else:
            keep = np.ones((N * H, L, S), bool) if attn_mask is None else per_head(attn_mask)
            mask = torch.tensor(~(keep & CAUSAL if causal else keep))
        key_padding = None if padding is None else torch.tensor(padding)
        if key_padding is not None and float_mask:  # PyTorch wants both of one kind
            zeros = torch.zeros(N, S, dtype=torch.float64)
            key_padding = zeros.masked_fill(key_padding, -torch.inf)
        output, weights = theirs(
            q, k, v, key_padding_mask=key_padding, attn_mask=mask, average_attn_weights=False
        )
        return (output, weights) if need_weights else output

    compare(ours, theirs, inputs, run_ours, run_theirs)


@options
@pytest.mark.parametrize("need_weights", [False, True])
def test_options_and_masks_of_keys(options: Any, need_weights: bool) -> None:
    check(options, None, None, False, need_weights)
    check(options, None, PADDING, not need_weights, need_weights)


@options
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("rest", [(None, False), (PADDING, True)], ids=["alone", "with the others"])
def test_options_and_masks_of_pairs(options: Any, kind: str, rest: Any) -> None:
    shape = (N, H, L, S)
    check(options, keep_mask(shape) if kind == "bool" else draw(*shape), *rest)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("need_weights", [False, True])
def test_every_shape_of_a_mask(shape: Any, kind: str, need_weights: bool) -> None:
    """Alone, and with further keys and all other masks."""
    mask = keep_mask(shape) if kind == "bool" else draw(*shape)
    check({}, mask, None, False, need_weights)
    check(OPTIONS["bias_kv, zero_attn"], mask, PADDING, True, need_weights)


@options
def test_float32(options: Any) -> None:
    ours, theirs = pair(options)
    inputs = [draw(N, L, E), draw(N, S, ours.kdim), draw(N, S, ours.vdim)]
    compare(
        ours.float(), theirs.float(), [array.astype(np.float32) for array in inputs],
        lambda q, k, v: ours(q, k, v, PADDING),
        lambda q, k, v: theirs(q, k, v, key_padding_mask=torch.tensor(PADDING))[0], 2e-5,
    )  # fmt: skip
