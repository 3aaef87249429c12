"""Encoder layers and stacks against PyTorch, loaded from its state dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn

N, H, L, E = 2, 2, 4, 6
PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
KEEP = (draw(L, L) > -0.3) | np.eye(L, dtype=bool) | (np.arange(L) == 0)
BIAS = draw(L, L)
CAUSAL = np.tri(L, dtype=bool)

MASKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # ours, and the same for PyTorch, whose bool masks say True where a key is hidden
    "none": ({}, {}),
    "bool": ({"src_mask": KEEP}, {"mask": ~KEEP}),
    "float": ({"src_mask": BIAS}, {"mask": BIAS}),
    "padding": ({"src_key_padding_mask": PADDING}, {"src_key_padding_mask": PADDING}),
    "causal": ({"is_causal": True}, {"mask": ~CAUSAL}),
    "all": (
        {"src_mask": KEEP, "src_key_padding_mask": PADDING, "is_causal": True},
        {"mask": ~(KEEP & CAUSAL), "src_key_padding_mask": PADDING},
    ),
}
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def tensors(masks: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.tensor(mask) for name, mask in masks.items()}


@orders
@masks
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_layer(norm_first: bool, masks: Any, activation: str, bias: bool) -> None:
    theirs = randomise(
        torch.nn.TransformerEncoderLayer(
            E, H, 8, dropout=0.0, activation=activation, layer_norm_eps=1e-3, batch_first=True,
            norm_first=norm_first, bias=bias,
        )
    )  # fmt: skip
    ours = nn.TransformerEncoderLayer(
        E, H, 8, dropout=0.0, activation=activation, layer_norm_eps=1e-3, norm_first=norm_first,
        bias=bias,
    ).double()  # fmt: skip
    given, spelled_out = masks
    expected = {"src_mask" if k == "mask" else k: v for k, v in tensors(spelled_out).items()}
    compare(
        ours, theirs, [draw(N, L, E)], lambda x: ours(x, **given), lambda x: theirs(x, **expected)
    )


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (nn.SiLU(), torch.nn.functional.silu),
        (nn.GELU("tanh"), torch.nn.GELU("tanh")),
        ("tanh", torch.tanh),
        (nn.functional.sigmoid, torch.sigmoid),
    ],
    ids=["module", "module with an option", "name", "function"],
)
def test_activations(mine: Any, other: Any) -> None:
    theirs = randomise(
        torch.nn.TransformerEncoderLayer(E, H, 8, 0.0, activation=other, batch_first=True)
    )
    ours = nn.TransformerEncoderLayer(E, H, 8, 0.0, activation=mine).double()
    compare(ours, theirs, [draw(N, L, E)], ours, theirs)


@orders
@masks
@pytest.mark.parametrize("norm", [False, True], ids=["no final norm", "final norm"])
def test_stack(norm_first: bool, masks: Any, norm: bool) -> None:
    options: dict[str, Any] = {"dropout": 0.0, "norm_first": norm_first}
    theirs = randomise(
        torch.nn.TransformerEncoder(
            torch.nn.TransformerEncoderLayer(E, H, 8, batch_first=True, **options),
            3,
            torch.nn.LayerNorm(E) if norm else None,
            enable_nested_tensor=False,
        )
    )
    ours = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(E, H, 8, **options), 3, nn.LayerNorm(E) if norm else None
    ).double()
    given, spelled_out = masks
    expected = tensors(spelled_out)
    compare(
        ours, theirs, [draw(N, L, E)], lambda x: ours(x, **given), lambda x: theirs(x, **expected)
    )


@orders
def test_float32(norm_first: bool) -> None:
    theirs = randomise(
        torch.nn.TransformerEncoderLayer(E, H, 8, 0.0, batch_first=True, norm_first=norm_first)
    ).float()
    ours = nn.TransformerEncoderLayer(E, H, 8, 0.0, norm_first=norm_first)
    x = draw(N, L, E).astype(np.float32)
    compare(ours, theirs, [x], ours, theirs, rtol=2e-5)
