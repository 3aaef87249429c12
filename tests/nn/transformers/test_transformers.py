"""Encoders, decoders and whole transformers: their parts, arguments, copies and weights."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn

N, H, L, S, E = 2, 2, 4, 5, 6
PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
KEEP = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 1, 1]], bool)

orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)


def encoder_layer(**options: Any) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(E, H, 5, **{"dropout": 0.0, **options}).double()


@pytest.mark.parametrize("part", ["Encoder", "Decoder"])
def test_each_dropout_drops(part: str) -> None:
    inputs = [minigrad.randn(N, L, E)] * (2 if part == "Decoder" else 1)
    layer = getattr(nn, f"Transformer{part}Layer")(E, H, 8, 0.5).eval()
    drops = [name for name, m in layer.named_children() if "dropout" in name or "attn" in name]
    assert len(drops) == (6 if part == "Decoder" else 4)
    for name in drops:
        layer.eval().get_submodule(name).train()
        assert (layer(*inputs).numpy() != layer(*inputs).numpy()).any(), name


def test_an_activation_with_parameters_is_part_of_the_layer() -> None:
    assert "activation.weight" in encoder_layer(activation=nn.Linear(5, 5)).state_dict()


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
    src, tgt = minigrad.randn(1, S, E), minigrad.randn(1, L, E)
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


def test_copies_start_without_gradients() -> None:
    layer = nn.TransformerEncoderLayer(E, 2, 8)
    layer(minigrad.ones(1, 2, E)).sum().backward()
    encoder = nn.TransformerEncoder(layer, 2)
    assert all(p.grad is None for p in encoder.layers[1].parameters())
    assert any(p.grad is not None for p in layer.parameters())


def test_a_layer_whose_parameters_nobody_can_draw() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter([1.0])

    with pytest.raises(NotImplementedError, match="Layer .*parameters"):
        nn.TransformerEncoder(Layer(), 2)


def test_the_width_of_swiglu() -> None:
    assert nn.SwiGLU(12).gate_proj.weight.shape == (32, 12)


@orders
def test_weights_are_those_of_each_attention(norm_first: bool) -> None:
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


def test_a_layer_without_weights_says_so() -> None:
    class Layer(nn.Module):
        def forward(self, src: Tensor, src_mask: Any, src_key_padding_mask: Any,
                    is_causal: bool) -> Tensor:  # fmt: skip
            return src

    encoder, x = nn.TransformerEncoder(Layer(), 2), draw(N, L, E)
    assert encoder(x).shape == x.shape
    with pytest.raises(TypeError, match="Layer.forward.* 'need_weights'"):
        encoder(x, need_weights=True)
