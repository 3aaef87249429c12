"""Attention and transformer layers of the door: the same calls in both worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

import minigrad
from minigrad import nn
from minigrad import torch as door

N, L, S, E, H = 2, 4, 5, 6, 2

pytestmark = [
    pytest.mark.filterwarnings("ignore:Support for mismatched"),
    pytest.mark.filterwarnings("ignore:enable_nested_tensor"),
]


def masks(length: int, keys: int) -> dict[str, np.ndarray]:
    """An attention mask of every kind; in each, every query may attend to key 0."""
    blocked = draw(length, keys) > 0.2
    blocked[:, 0] = False
    per_head = draw(N * H, length, keys) > 0.2
    per_head[..., 0] = False
    return {"bool": blocked, "float": draw(length, keys), "bool a head": per_head}


PADDING = {
    "bool": np.array([[0, 0, 0, 0, 1], [0, 0, 1, 0, 1]], bool),
    "float": np.where([[0, 0, 0, 0, 1], [0, 0, 1, 0, 1]], -np.inf, 0.5),
}


def both(build: Any, *inputs: np.ndarray, **given: Any) -> None:
    """Build in both worlds, call alike, and compare values and all gradients."""
    masks = {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    ours, theirs = build(door.nn).double(), randomise(build(torch.nn))
    compare(
        ours, theirs, list(inputs),
        lambda *x: present(ours(*x, **given)), lambda *x: present(theirs(*x, **masks)),
    )  # fmt: skip


def present(result: Any) -> Any:
    """A result without None in place of weights."""
    return result[0] if isinstance(result, tuple) and result[1] is None else result


LAYER = {"d_model": E, "nhead": H, "dim_feedforward": 8, "dropout": 0.0}


def test_encoder_of_such_layers() -> None:
    def build(world: Any) -> Any:
        layer = world.TransformerEncoderLayer(E, nhead=H, dim_feedforward=8, dropout=0.0)
        return world.TransformerEncoder(layer, 2)

    both(build, draw(S, N, E), mask=masks(S, S)["bool"], src_key_padding_mask=PADDING["bool"])


def test_decoder_of_such_layers() -> None:
    def build(world: Any) -> Any:
        return world.TransformerDecoder(world.TransformerDecoderLayer(**LAYER), 2)

    both(
        build, draw(S, N, E), draw(S, N, E),
        tgt_mask=masks(S, S)["bool"], memory_mask=masks(S, S)["float"],
        tgt_key_padding_mask=PADDING["bool"], memory_key_padding_mask=PADDING["float"],
    )  # fmt: skip


def test_what_certainly_is_pytorchs_is_refused() -> None:
    with pytest.raises(ValueError, match="True = may attend"):
        nn.MultiHeadAttention(E, H)(
            *[minigrad.ones((N, L, E))] * 3, attn_mask=~np.tri(L, dtype=bool)
        )
