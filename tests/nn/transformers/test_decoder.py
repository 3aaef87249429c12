"""Decoder layers, decoders, whole transformers: derivatives, arguments, modes, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F

N, H, T, S, E = 2, 2, 4, 5, 6
TGT_PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
MEM_PADDING = np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], bool)
TGT_KEEP = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]], bool)
MEM_KEEP = np.array([[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [1, 1, 1, 0, 1], [1, 0, 1, 1, 1]], bool)

orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)


def decoder_layer(**options: Any) -> nn.TransformerDecoderLayer:
    return nn.TransformerDecoderLayer(E, H, 5, **{"dropout": 0.0, **options}).double()


def transformer(**options: Any) -> nn.Transformer:
    return nn.Transformer(E, H, 2, 2, 5, **{"dropout": 0.0, **options}).double()


@orders
def test_the_order_of_its_parts(norm_first: bool) -> None:
    layer = decoder_layer(norm_first=norm_first)
    for parameter in layer.parameters():
        nn.init.normal(parameter)
    x, memory = draw(N, T, E), draw(N, S, E)
    branches = [
        lambda y: layer.self_attn(y, y, y),
        lambda y: layer.multihead_attn(y, memory, memory),
        lambda y: layer.linear2(F.relu(layer.linear1(y))),
    ]
    y = x
    for branch, norm in zip(branches, (layer.norm1, layer.norm2, layer.norm3), strict=True):
        y = y + branch(norm(y)) if norm_first else norm(y + branch(y))
    np.testing.assert_allclose(layer(x, memory).data, y.data, rtol=1e-12)


ARGUMENTS: dict[str, Any] = {
    "tgt_mask": TGT_KEEP,
    "mem_mask": MEM_KEEP,
    "tgt_key_padding_mask": TGT_PADDING,
    "mem_key_padding_mask": MEM_PADDING,
    "tgt_is_causal": True,
    "mem_is_causal": True,
}
SRC_ARGUMENTS: dict[str, Any] = {
    "src_mask": np.tri(S, dtype=bool),
    "src_key_padding_mask": MEM_PADDING,
    "src_is_causal": True,
}


class TestArguments:
    def test_every_argument_has_an_effect_of_its_own(self) -> None:
        model, src, tgt = transformer(), draw(N, S, E), draw(N, T, E)
        for parameter in model.parameters():
            nn.init.normal(parameter)
        base = model(src, tgt).data
        found = {}
        for name, value in (ARGUMENTS | SRC_ARGUMENTS).items():
            found[name] = model(src, tgt, **{name: value}).data
            assert np.abs(found[name] - base).max() > 1e-6, name
        np.testing.assert_allclose(found.pop("src_is_causal"), found.pop("src_mask"))
        values = list(found.values())
        for i, one in enumerate(values):
            assert all(np.abs(one - other).max() > 1e-6 for other in values[:i])

    @orders
    def test_layer_stack_and_whole_take_them_in_one_way(self, norm_first: bool) -> None:
        model, src, tgt = transformer(norm_first=norm_first), draw(N, S, E), draw(N, T, E)
        memory = model.encoder(src)
        for name, value in ARGUMENTS.items():
            by_hand = tgt
            for layer in model.decoder.layers:
                by_hand = layer(by_hand, memory, **{name: value})
            expected = model.decoder.norm(by_hand).data
            stack = model.decoder(tgt, memory, **{name: value}).data
            np.testing.assert_array_equal(stack, expected)
            np.testing.assert_array_equal(model(src, tgt, **{name: value}).data, expected)


def test_custom_encoder_and_decoder() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(E, E)

        def forward(self, x: Tensor, memory: Tensor | None = None, **masks: Any) -> Tensor:
            assert not any("cache" in name for name in masks)
            return self.linear(x) if memory is None else self.linear(x) + memory.mean(axis=1)

    encoder, decoder = Own(), Own()
    model = nn.Transformer(E, H, custom_encoder=encoder, custom_decoder=decoder)
    assert model.encoder is encoder
    assert model.decoder is decoder
    src, tgt = minigrad.randn(1, S, E), minigrad.randn(1, T, E)
    expected = decoder(tgt, encoder(src))
    np.testing.assert_array_equal(model(src, tgt).data, expected.data)


class TestModes:
    def test_each_dropout_drops(self) -> None:
        x, memory = minigrad.randn(N, T, E), minigrad.randn(N, S, E)
        for name in ("dropout", "dropout1", "dropout2", "dropout3", "self_attn", "multihead_attn"):
            layer = nn.TransformerDecoderLayer(E, H, 8, 0.5).eval()
            layer.get_submodule(name).train()
            assert (layer(x, memory).data != layer(x, memory).data).any(), name


def test_no_two_layers_begin_alike() -> None:
    layer = nn.TransformerDecoderLayer(E, H, 8)
    decoder = nn.TransformerDecoder(layer, 2)
    assert decoder.layers[0] is layer
    one, two = (each.multihead_attn.q_proj.weight.data for each in decoder.layers)
    assert (one != two).any()


class TestGroupedQueries:

    def test_packed_weights_load(self) -> None:
        layer = nn.MultiHeadAttention(8, 4, num_kv_heads=2)
        state = {k: v for k, v in layer.state_dict().items() if "out" in k}
        packed = np.random.default_rng(0).standard_normal((16, 8))
        layer.load_state_dict(state | {"in_proj_weight": packed, "in_proj_bias": packed[:, 0]})
        np.testing.assert_allclose(layer.k_proj.weight.data, packed[8:12], rtol=1e-6)
        np.testing.assert_allclose(layer.v_proj.bias.data, packed[12:, 0], rtol=1e-6)
