"""Encoders, decoders and whole transformers: their parts, arguments, copies and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F

N, H, T, S, E = 2, 2, 4, 5, 6
L = T
PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
MEM_PADDING = np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], bool)
KEEP = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]], bool)
MEM_KEEP = np.array([[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [1, 1, 1, 0, 1], [1, 0, 1, 1, 1]], bool)

orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)


def encoder_layer(**options: Any) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(E, H, 5, **{"dropout": 0.0, **options}).double()


def transformer(**options: Any) -> nn.Transformer:
    return nn.Transformer(E, H, 2, 2, 5, **{"dropout": 0.0, **options}).double()


@orders
@pytest.mark.parametrize("part", ["Encoder", "Decoder"])
def test_the_order_of_its_parts(part: str, norm_first: bool) -> None:
    layer = getattr(nn, f"Transformer{part}Layer")(E, H, 5, 0.0, norm_first=norm_first).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter)
    x, memory = draw(N, T, E), [draw(N, S, E)] * (part == "Decoder")
    branches = [
        lambda y: layer.self_attn(y, y, y),
        *(lambda y, m=m: layer.multihead_attn(y, m, m) for m in memory),
        lambda y: layer.linear2(F.relu(layer.linear1(y))),
    ]
    norms = [layer.norm1, layer.norm2, *(layer.norm3 for _ in memory)]
    y = x
    for branch, norm in zip(branches, norms, strict=True):
        y = y + branch(norm(y)) if norm_first else norm(y + branch(y))
    np.testing.assert_allclose(layer(x, *memory).numpy(), y.numpy(), rtol=1e-12)


@pytest.mark.parametrize("part", ["Encoder", "Decoder"])
def test_each_dropout_drops(part: str) -> None:
    inputs = [minigrad.randn(N, T, E)] * (2 if part == "Decoder" else 1)
    layer = getattr(nn, f"Transformer{part}Layer")(E, H, 8, 0.5).eval()
    drops = [name for name, m in layer.named_children() if "dropout" in name or "attn" in name]
    assert len(drops) == (6 if part == "Decoder" else 4)
    for name in drops:
        layer.eval().get_submodule(name).train()
        assert (layer(*inputs).numpy() != layer(*inputs).numpy()).any(), name


def test_an_activation_with_parameters_is_part_of_the_layer() -> None:
    assert "activation.weight" in encoder_layer(activation=nn.Linear(5, 5)).state_dict()


ARGUMENTS: dict[str, Any] = {
    "tgt_mask": KEEP, "mem_mask": MEM_KEEP, "tgt_key_padding_mask": PADDING,
    "mem_key_padding_mask": MEM_PADDING, "tgt_is_causal": True, "mem_is_causal": True,
}  # fmt: skip
SRC_ARGUMENTS: dict[str, Any] = {
    "src_mask": np.tri(S, dtype=bool), "src_key_padding_mask": MEM_PADDING, "src_is_causal": True,
}  # fmt: skip


class TestArguments:
    def test_every_argument_has_an_effect_of_its_own(self) -> None:
        model, src, tgt = transformer(), draw(N, S, E), draw(N, T, E)
        for parameter in model.parameters():
            nn.init.normal(parameter)
        base = model(src, tgt).numpy()
        found = {}
        for name, value in (ARGUMENTS | SRC_ARGUMENTS).items():
            found[name] = model(src, tgt, **{name: value}).numpy()
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
            expected = model.decoder.norm(by_hand).numpy()
            stack = model.decoder(tgt, memory, **{name: value}).numpy()
            np.testing.assert_array_equal(stack, expected)
            np.testing.assert_array_equal(model(src, tgt, **{name: value}).numpy(), expected)


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
    np.testing.assert_array_equal(model(src, tgt).numpy(), expected.numpy())


@pytest.mark.parametrize("part", ["Encoder", "Decoder"])
def test_the_first_layer_is_the_given_one_and_no_two_are_alike(part: str) -> None:
    layer = getattr(nn, f"Transformer{part}Layer")(E, H, 8)
    given = layer.state_dict()
    stack = getattr(nn, f"Transformer{part}")(layer, 3)
    assert stack.layers[0] is layer
    for key, value in given.items():
        np.testing.assert_array_equal(layer.state_dict()[key].numpy(), value.numpy())
    drawn = [key for key in given if "weight" in key and "norm" not in key]
    for key in drawn:
        values = [each.state_dict()[key].numpy() for each in stack.layers]
        assert (values[0] != values[1]).any()
        assert (values[1] != values[2]).any()
    shared = {id(p) for p in stack.layers[0].parameters()}
    assert not shared & {id(p) for p in stack.layers[1].parameters()}


class TestStack:
    def test_copies_start_without_gradients(self) -> None:
        layer = nn.TransformerEncoderLayer(E, 2, 8)
        layer(minigrad.ones(1, 2, E)).sum().backward()
        encoder = nn.TransformerEncoder(layer, 2)
        assert all(p.grad is None for p in encoder.layers[1].parameters())
        assert any(p.grad is not None for p in layer.parameters())

    def test_a_layer_whose_parameters_nobody_can_draw(self) -> None:
        class Layer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.scale = nn.Parameter([1.0])

        with pytest.raises(NotImplementedError, match="Layer .*parameters"):
            nn.TransformerEncoder(Layer(), 2)


def test_the_width_of_swiglu() -> None:
    assert nn.SwiGLU(12).gate_proj.weight.shape == (32, 12)


class TestNeedWeights:
    @orders
    def test_they_are_those_of_each_attention(self, norm_first: bool) -> None:
        layer = encoder_layer(norm_first=norm_first)
        encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(E)).double()
        x = draw(N, L, E)
        given: Any = (KEEP, PADDING, True)
        output, weights = encoder(x, *given, need_weights=True)
        np.testing.assert_allclose(output.numpy(), encoder(x, *given).numpy(), rtol=1e-10)
        assert isinstance(weights, tuple)
        assert len(weights) == 3
        y = x
        for layer, found in zip(encoder.layers, weights, strict=True):
            z = layer.norm1(y) if norm_first else y
            _, expected = layer.self_attn(z, z, z, PADDING, KEEP, True, need_weights=True)
            assert found.shape == (N, 2, L, L)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)
            own, alone = layer(y, *given, need_weights=True)
            np.testing.assert_array_equal(alone.numpy(), found.numpy())
            np.testing.assert_allclose(own.numpy(), layer(y, *given).numpy(), rtol=1e-10)
            y = own

    def test_a_layer_without_them_says_so(self) -> None:
        class Layer(nn.Module):
            def forward(self, src: Tensor, src_mask: Any, src_key_padding_mask: Any,
                        is_causal: bool) -> Tensor:  # fmt: skip
                return src

        encoder, x = nn.TransformerEncoder(Layer(), 2), draw(N, L, E)
        assert encoder(x).shape == x.shape
        with pytest.raises(TypeError, match="Layer.forward.* 'need_weights'"):
            encoder(x, need_weights=True)
