"""Decoder layers, decoders and whole transformers against PyTorch, loaded from its state dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")

N, H, T, S, E = 2, 2, 4, 5, 6
TGT_PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
MEM_PADDING = np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], bool)
TGT_KEEP = (draw(T, T) > -0.3) | (np.arange(T) == 0)
MEM_KEEP = (draw(T, S) > -0.3) | (np.arange(S) == 0)
CAUSAL, MEM_CAUSAL = np.tri(T, dtype=bool), np.tri(T, S, dtype=bool)

MASKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # ours, and the same for PyTorch, whose bool masks say True where a key is hidden
    "none": ({}, {}),
    "tgt bool": ({"tgt_mask": TGT_KEEP}, {"tgt_mask": ~TGT_KEEP}),
    "tgt float": ({"tgt_mask": draw(T, T)}, {"tgt_mask": draw(T, T)}),
    "mem bool": ({"mem_mask": MEM_KEEP}, {"memory_mask": ~MEM_KEEP}),
    "mem float": ({"mem_mask": draw(T, S)}, {"memory_mask": draw(T, S)}),
    "tgt padding": ({"tgt_key_padding_mask": TGT_PADDING}, {"tgt_key_padding_mask": TGT_PADDING}),
    "mem padding": (
        {"mem_key_padding_mask": MEM_PADDING},
        {"memory_key_padding_mask": MEM_PADDING},
    ),
    "tgt causal": ({"tgt_is_causal": True}, {"tgt_mask": ~CAUSAL}),
    "mem causal": ({"mem_is_causal": True}, {"memory_mask": ~MEM_CAUSAL}),
    "all": (
        {
            "tgt_mask": TGT_KEEP, "mem_mask": MEM_KEEP, "tgt_key_padding_mask": TGT_PADDING,
            "mem_key_padding_mask": MEM_PADDING, "tgt_is_causal": True, "mem_is_causal": True,
        },
        {
            "tgt_mask": ~(TGT_KEEP & CAUSAL), "memory_mask": ~(MEM_KEEP & MEM_CAUSAL),
            "tgt_key_padding_mask": TGT_PADDING, "memory_key_padding_mask": MEM_PADDING,
        },
    ),
}  # fmt: skip
SRC_KEEP = (draw(S, S) > -0.3) | (np.arange(S) == 0)
SRC_MASKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "src bool": ({"src_mask": SRC_KEEP}, {"src_mask": ~SRC_KEEP}),
    "src padding": ({"src_key_padding_mask": MEM_PADDING}, {"src_key_padding_mask": MEM_PADDING}),
    "src causal": ({"src_is_causal": True}, {"src_mask": ~np.tri(S, dtype=bool)}),
}
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def tensors(masks: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.tensor(mask) for name, mask in masks.items()}


def inputs() -> list[np.ndarray]:
    return [draw(N, T, E), draw(N, S, E)]


@orders
@masks
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_decoder_layer(norm_first: bool, masks: Any, bias: bool) -> None:
    options: dict[str, Any] = {"dropout": 0.0, "activation": "gelu", "layer_norm_eps": 1e-3}
    options |= {"norm_first": norm_first, "bias": bias}
    theirs = randomise(torch.nn.TransformerDecoderLayer(E, H, 8, batch_first=True, **options))
    ours = nn.TransformerDecoderLayer(E, H, 8, **options).double()
    given, spelled_out = masks
    expected = tensors(spelled_out)
    compare(
        ours, theirs, inputs(), lambda x, m: ours(x, m, **given),
        lambda x, m: theirs(x, m, **expected),
    )  # fmt: skip


@orders
@masks
@pytest.mark.parametrize("norm", [False, True], ids=["no final norm", "final norm"])
def test_decoder(norm_first: bool, masks: Any, norm: bool) -> None:
    options: dict[str, Any] = {"dropout": 0.0, "norm_first": norm_first}
    theirs = randomise(
        torch.nn.TransformerDecoder(
            torch.nn.TransformerDecoderLayer(E, H, 8, batch_first=True, **options),
            2,
            torch.nn.LayerNorm(E) if norm else None,
        )
    )
    ours = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(E, H, 8, **options), 2, nn.LayerNorm(E) if norm else None
    ).double()
    given, spelled_out = masks
    expected = tensors(spelled_out)
    compare(
        ours, theirs, inputs(), lambda x, m: ours(x, m, **given),
        lambda x, m: theirs(x, m, **expected),
    )  # fmt: skip


def transformers(**options: Any) -> tuple[nn.Transformer, Any]:
    arguments: tuple[Any, ...] = (E, H, 2, 3, 8, 0.0)
    theirs = randomise(torch.nn.Transformer(*arguments, batch_first=True, **options))
    return nn.Transformer(*arguments, **options).double(), theirs


@orders
@pytest.mark.parametrize("masks", [*MASKS.values(), *SRC_MASKS.values()], ids=[*MASKS, *SRC_MASKS])
def test_transformer(norm_first: bool, masks: Any) -> None:
    ours, theirs = transformers(norm_first=norm_first)
    given, spelled_out = masks
    expected = tensors(spelled_out)
    compare(
        ours, theirs, [draw(N, S, E), draw(N, T, E)], lambda src, tgt: ours(src, tgt, **given),
        lambda src, tgt: theirs(src, tgt, **expected),
    )  # fmt: skip


@pytest.mark.parametrize("option", [{"bias": False}, {"activation": "gelu"},
                                    {"layer_norm_eps": 1e-2}], ids=str)  # fmt: skip
def test_options_of_a_transformer(option: Any) -> None:
    ours, theirs = transformers(**option)
    compare(ours, theirs, [draw(N, S, E), draw(N, T, E)], ours, theirs)


@orders
def test_float32(norm_first: bool) -> None:
    ours, theirs = transformers(norm_first=norm_first)
    arrays = [draw(N, S, E).astype(np.float32), draw(N, T, E).astype(np.float32)]
    compare(ours.float(), theirs.float(), arrays, ours, theirs, rtol=5e-5)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "bool", "float"])
def test_grouped_queries(kv_heads: int, causal: bool, mask: str) -> None:
    """Our module's own projections, with PyTorch's attention of grouped queries between them."""
    ours = nn.MultiHeadAttention(8, 4, num_kv_heads=kv_heads).double()

    class Theirs(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.q_proj = torch.nn.Linear(8, 8)
            self.k_proj = torch.nn.Linear(8, 2 * kv_heads)
            self.v_proj = torch.nn.Linear(8, 2 * kv_heads)
            self.out_proj = torch.nn.Linear(8, 8)

        def forward(self, query: Any, key: Any) -> Any:
            q, k, v = (
                projection(x).unflatten(-1, (-1, 2)).transpose(1, 2)
                for projection, x in (
                    (self.q_proj, query), (self.k_proj, key), (self.v_proj, key),
                )
            )  # fmt: skip
            given = None
            if causal:
                given = torch.tensor(MEM_CAUSAL & (MEM_KEEP if mask == "bool" else True))
            elif mask == "bool":
                given = torch.tensor(MEM_KEEP)
            if mask == "float":
                bias = torch.tensor(draw(N, 4, T, S))
                given = bias if given is None else bias.masked_fill(~given, -torch.inf)
            heads = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, given, enable_gqa=True
            )
            return self.out_proj(heads.transpose(1, 2).flatten(2))

    attn_mask = {"none": None, "bool": MEM_KEEP, "float": draw(N, 4, T, S)}[mask]
    theirs = randomise(Theirs())
    for need_weights in (False, True):
        theirs.zero_grad()
        ours.zero_grad()

        def run(query: Any, key: Any, need: bool = need_weights) -> Any:
            found = ours(query, key, key, None, attn_mask, causal, need_weights=need)
            return found[0] if need else found

        compare(ours, theirs, [draw(N, T, 8), draw(N, S, 8)], run, theirs)
