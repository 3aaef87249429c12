"""Encoder layers and stacks: derivatives on graphs with residuals, masks, modes, options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.autograd import gradcheck
from minigrad.nn import functional as F

N, L, E = 2, 4, 6
PADDING = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
KEEP = np.tri(L, dtype=bool) | (np.arange(L) == 2)


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)


def encoder_layer(**options: Any) -> nn.TransformerEncoderLayer:
    options = {"dim_feedforward": 5, "dropout": 0.0, **options}
    return nn.TransformerEncoderLayer(E, 2, **options).double()


orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


@orders
def test_a_layer_used_twice(norm_first: bool) -> None:
    layer = encoder_layer(norm_first=norm_first, activation="tanh")
    leaves = [draw(N, L, E), *layer.parameters()]
    gradcheck(lambda x, *_: layer(layer(x)), leaves, directions=3)


@orders
def test_the_order_of_its_parts(norm_first: bool) -> None:
    layer = encoder_layer(norm_first=norm_first)
    for parameter in layer.parameters():
        nn.init.normal(parameter)
    x = draw(N, L, E)

    def attend(y: Tensor) -> Tensor:
        return layer.self_attn(y, y, y)

    def feed(y: Tensor) -> Tensor:
        return layer.linear2(F.relu(layer.linear1(y)))

    if norm_first:
        y = x + attend(layer.norm1(x))
        expected = y + feed(layer.norm2(y))
    else:
        y = layer.norm1(x + attend(x))
        expected = layer.norm2(y + feed(y))
    np.testing.assert_allclose(layer(x).data, expected.data, rtol=1e-12)


class TestArguments:
    def test_an_activation_with_parameters_is_part_of_the_layer(self) -> None:
        layer = encoder_layer(activation=nn.Linear(5, 5))
        assert "activation.weight" in layer.state_dict()


class TestModes:
    def test_each_dropout_drops(self) -> None:
        for name in ("dropout", "dropout1", "dropout2"):
            layer = nn.TransformerEncoderLayer(E, 2, 8, dropout=0.5).eval()
            x = minigrad.randn(N, L, E)
            layer.get_submodule(name).train()
            assert (layer(x).data != layer(x).data).any(), name


class TestStack:
    def test_the_first_layer_is_the_given_one_and_no_two_are_alike(self) -> None:
        layer = nn.TransformerEncoderLayer(E, 2, 8)
        given = layer.state_dict()
        encoder = nn.TransformerEncoder(layer, 3)
        assert encoder.layers[0] is layer
        for key, value in given.items():
            np.testing.assert_array_equal(layer.state_dict()[key].data, value.data)
        drawn = [key for key in given if "weight" in key and "norm" not in key]
        for key in drawn:
            values = [each.state_dict()[key].data for each in encoder.layers]
            assert (values[0] != values[1]).any()
            assert (values[1] != values[2]).any()
        shared = {id(p) for p in encoder.layers[0].parameters()}
        assert not shared & {id(p) for p in encoder.layers[1].parameters()}

    def test_copies_start_without_gradients(self) -> None:
        layer = nn.TransformerEncoderLayer(E, 2, 8)
        layer(minigrad.ones(1, 2, E)).sum().backward()
        encoder = nn.TransformerEncoder(layer, 2)
        assert all(p.grad is None for p in encoder.layers[1].parameters())
        assert any(p.grad is not None for p in layer.parameters())

    def test_a_layer_of_ones_own(self) -> None:
        class Layer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.linear = nn.Linear(E, E)

            def forward(self, src: Tensor, **masks: Any) -> Tensor:
                return src + self.linear(src)

        encoder = nn.TransformerEncoder(Layer(), 2)
        assert encoder(minigrad.ones(1, 2, E)).shape == (1, 2, E)

    def test_a_layer_whose_parameters_nobody_can_draw(self) -> None:
        class Layer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.scale = nn.Parameter([1.0])

        with pytest.raises(NotImplementedError, match="Layer .*parameters"):
            nn.TransformerEncoder(Layer(), 2)


@orders
def test_an_encoder_learns(norm_first: bool) -> None:
    """Each position is to say the largest number of its sequence."""
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, norm_first=norm_first), 1
    )
    model = nn.Sequential(nn.Embedding(4, 16), encoder, nn.Linear(16, 4))
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    ids = minigrad.random.generator().integers(0, 4, (32, 3))
    losses = []
    for _ in range(40):
        target = np.broadcast_to(ids.max(axis=1, keepdims=True), ids.shape)
        loss = F.cross_entropy(model(ids).swapaxes(1, 2), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 1.0
    assert losses[-1] < 0.1


class TestNeedWeights:
    @orders
    def test_they_are_those_of_each_attention(self, norm_first: bool) -> None:
        layer = encoder_layer(norm_first=norm_first)
        encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(E)).double()
        x = draw(N, L, E)
        given: Any = (KEEP, PADDING, True)
        output, weights = encoder(x, *given, need_weights=True)
        np.testing.assert_allclose(output.data, encoder(x, *given).data, rtol=1e-10)
        assert isinstance(weights, tuple)
        assert len(weights) == 3
        y = x
        for layer, found in zip(encoder.layers, weights, strict=True):
            z = layer.norm1(y) if norm_first else y
            _, expected = layer.self_attn(z, z, z, PADDING, KEEP, True, need_weights=True)
            assert found.shape == (N, 2, L, L)
            np.testing.assert_allclose(found.data, expected.data, rtol=1e-10)
            own, alone = layer(y, *given, need_weights=True)
            np.testing.assert_array_equal(alone.data, found.data)
            np.testing.assert_allclose(own.data, layer(y, *given).data, rtol=1e-10)
            y = own

    def test_with_a_cache_they_cover_what_is_cached(self) -> None:
        encoder, cache = nn.TransformerEncoder(encoder_layer(), 2).double(), nn.DynamicKVCache()
        x = draw(N, L, E)
        _, whole = encoder(x, is_causal=True, need_weights=True)
        for part in (slice(0, 3), slice(3, L)):
            _, weights = encoder(
                x[:, part], is_causal=True, kv_cache=cache, use_cache=True, need_weights=True
            )
        for found, expected in zip(weights, whole, strict=True):
            np.testing.assert_allclose(found.data, expected.data[:, :, 3:], rtol=1e-9)

    def test_capture_and_an_onnx_file(self, tmp_path: Path) -> None:
        encoder = nn.TransformerEncoder(encoder_layer(), 2).float()

        class WithWeights(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.encoder = encoder

            def forward(self, x: Tensor) -> Any:
                return self.encoder(x, need_weights=True)

        model = WithWeights().eval()
        step = minigrad.capture(model)
        for _ in range(5):
            x = minigrad.randn(N, L, E)
            output, weights = step(x)
            expected, others = model(x)
            np.testing.assert_allclose(output.data, expected.data, rtol=1e-5)
            for found, other in zip(weights, others, strict=True):
                np.testing.assert_allclose(found.data, other.data, rtol=1e-5)
        pytest.importorskip("onnx")
        runtime = pytest.importorskip("onnxruntime")
        path = tmp_path / "m.onnx"
        minigrad.onnx.export(model, x, path)
        x = minigrad.randn(3, 7, E)
        results = runtime.InferenceSession(path).run(None, {"x": x.numpy()})
        output, weights = model(x)
        for result, expected in zip(results, (output, *weights), strict=True):
            np.testing.assert_allclose(result, expected.data, rtol=1e-4, atol=1e-5)

    def test_a_layer_without_them_says_so(self) -> None:
        class Layer(nn.Module):
            def forward(self, src: Tensor, src_mask: Any, src_key_padding_mask: Any,
                        is_causal: bool) -> Tensor:  # fmt: skip
                return src

        encoder, x = nn.TransformerEncoder(Layer(), 2), draw(N, L, E)
        assert encoder(x).shape == x.shape
        with pytest.raises(TypeError, match=r"Layer: .*need_weights.*\[in layers.0\]"):
            encoder(x, need_weights=True)
