"""Dropout, embeddings, activations by name, samples, and float64 data in a float32 model."""

import warnings
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.autograd import call as calls
from minigrad.nn import functional as F
from minigrad.nn.layers.activation import ACTIVATIONS, activation_function

float64 = minigrad.float64


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


DROPPED = [
    (nn.Dropout(0.25), (40, 50, 3), ()),
    (nn.Dropout1d(0.25), (40, 50, 3), (2,)),
    (nn.Dropout1d(0.25), (2000, 3), (1,)),
    (nn.Dropout2d(0.25), (40, 50, 2, 3), (2, 3)),
    (nn.DropPath(0.25), (2000, 2, 3), (1, 2)),
    (nn.DropPath(0.25, scale_by_keep=False), (2000, 3), (1,)),
]  # fmt: skip


class TestDropout:
    def test_nothing_and_everything_dropped(self) -> None:
        x, before = minigrad.ones(10, requires_grad=True), minigrad.random.get_state()
        assert nn.Dropout(0.0)(x) is x
        assert minigrad.random.get_state() == before
        nn.Dropout(1.0)(x).sum().backward()
        assert x.grad.tolist() == [0.0] * 10

    @pytest.mark.parametrize(("layer", "shape", "whole"), DROPPED, ids=str)
    def test_channels_and_samples_are_dropped_whole(
        self, layer: Any, shape: tuple[int, ...], whole: tuple[int, ...]
    ) -> None:
        minigrad.random.seed(0)
        x = minigrad.ones(shape, requires_grad=True)
        y = layer(x)
        scale = 1 if getattr(layer, "scale_by_keep", True) is False else 4 / 3
        np.testing.assert_array_equal(y.numpy().min(whole), y.numpy().max(whole))
        np.testing.assert_allclose(np.unique(y.numpy()), [0, scale], rtol=1e-6)
        assert abs((y.numpy() == 0).mean() - 0.25) < 0.04
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.numpy())
        assert layer.eval()(x) is x
        layer.train()
        assert layer(minigrad.ones((0, *shape[1:]))).shape == (0, *shape[1:])
        broken = minigrad.ones(shape) * np.float32(np.nan)
        assert set(np.unique(np.isnan(layer(broken).numpy()))) == {False, True}  # dropped is 0

    def test_three_axes_are_read_as_channels_of_a_line(self) -> None:
        with pytest.warns(UserWarning, match=r"dropout2d: .*\(4, 5, 6\) is read as \(N, C, L\)"):
            y = nn.Dropout2d(0.5)(minigrad.ones((4, 5, 6)))
        np.testing.assert_array_equal(y.numpy().min(2), y.numpy().max(2))
        assert not nn.Dropout2d(1.0)(minigrad.ones((1, 2, 2, 2))).numpy().any()


class TestEmbedding:
    @pytest.mark.parametrize("padding_idx", [1, -4])
    def test_padding_starts_at_zero_and_stays(self, padding_idx: int) -> None:
        layer = nn.Embedding(5, 3, padding_idx=padding_idx)
        assert layer.padding_idx == 1
        assert layer.weight.numpy()[1].tolist() == [0, 0, 0]
        layer([1, 2, 1]).sum().backward()
        assert layer.weight.grad[:, 0].tolist() == [0, 0, 1, 0, 0]

    def test_max_norm_shortens_what_is_looked_up_only(self) -> None:
        layer = nn.Embedding(4, 2, max_norm=1.0)
        layer.weight.data[...] = [[3, 4], [0.3, 0.4], [6, 8], [30, 40]]
        out = layer([0, 1, 0, 2])
        np.testing.assert_allclose(
            layer.weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8], [30, 40]], rtol=1e-6
        )
        np.testing.assert_array_equal(out.numpy(), layer.weight.numpy()[[0, 1, 0, 2]])
        out.sum().backward()
        assert layer.weight.grad[:, 0].tolist() == [2, 1, 1, 0]

        weight = Tensor([[3.0, 4.0]])
        F.embedding([0], weight, max_norm=3.5, norm_type=1.0)
        np.testing.assert_allclose(weight.numpy(), [[1.5, 2.0]], rtol=1e-6)

    @pytest.mark.parametrize("ids", [[4], [-1], [0, 100]])
    @pytest.mark.parametrize("max_norm", [None, 0.1])
    def test_an_index_outside_changes_nothing(self, ids: list[int], max_norm: Any) -> None:
        layer = nn.Embedding(4, 2, max_norm=max_norm)
        before = layer.weight.numpy().copy()
        with pytest.raises(IndexError, match=r"embedding: .* 4 rows.*\[in Embedding\]"):
            layer(ids)
        np.testing.assert_array_equal(layer.weight.numpy(), before)


def test_one_hot() -> None:
    assert F.one_hot([[0], [2]]).tolist() == [[[1, 0, 0]], [[0, 0, 1]]]
    assert F.one_hot(tensor([1]), 4, dtype=minigrad.float32).dtype == np.float32
    assert F.one_hot(np.zeros((0,), int)).shape == (0, 0)


def test_activations_by_name_and_by_function() -> None:
    x, module = minigrad.randn(5), nn.GELU("tanh")
    for name, function in ACTIVATIONS.items():
        np.testing.assert_array_equal(activation_function(name)(x).numpy(), function(x).numpy())
    assert activation_function(F.relu) is F.relu
    assert activation_function(module) is module


def test_hard_samples_follow_the_distribution() -> None:
    minigrad.random.seed(0)
    logits = np.log(np.array([0.5, 0.3, 0.2], np.float32))
    x = tensor(np.tile(logits, (20_000, 1)), requires_grad=True)
    y = F.gumbel_softmax(x, 0.5, hard=True)
    assert y.dtype == np.float32
    assert set(np.unique(y.numpy())) == {0.0, 1.0}
    np.testing.assert_allclose(y.numpy().sum(axis=1), 1)
    np.testing.assert_allclose(y.numpy().mean(axis=0), [0.5, 0.3, 0.2], atol=0.015)
    (y * np.array([1.0, 2, 3], np.float32)).sum().backward()
    assert (x.grad.numpy() != 0).mean() > 0.9


def test_the_gradient_of_hard_samples_is_that_of_soft_ones() -> None:
    x = draw(3, 4)
    gradients = []
    for hard in (False, True):
        minigrad.random.seed(1)
        y = F.gumbel_softmax(x, 0.7, hard, axis=0)
        np.testing.assert_allclose(y.numpy().sum(axis=0), 1)
        gradients.append(minigrad.autograd.grad((y * np.arange(4.0)).sum(), x)[0].data)
    np.testing.assert_allclose(*gradients)
    for hard in (False, True):
        assert F.gumbel_softmax(minigrad.zeros((0, 3)), hard=hard).shape == (0, 3)


KINDS = """Linear LayerNorm RMSNorm BatchNorm1d Conv1d ConvTranspose1d LSTM GRUCell
TransformerEncoderLayer"""
WITH_WEIGHTS = {line.kind: line for line in reversed(LAYERS) if line.kind in KINDS.split()}


class TestFloat64DataInAFloat32Model:
    @pytest.mark.parametrize("name", WITH_WEIGHTS)
    @pytest.mark.parametrize("kind", [np.ones, minigrad.ones])
    @pytest.mark.parametrize("wrap", [lambda m: m, lambda m: nn.Sequential(nn.ReLU(), m)])
    def test_it_is_noticed(self, name: str, kind: Any, wrap: Any) -> None:
        data = kind(WITH_WEIGHTS[name].shapes[0], dtype=np.float64)
        with (
            pytest.warns(UserWarning, match=r"float64 .* dtype=minigrad.float32\).* \[in ") as seen,
            warnings.catch_warnings(),
        ):
            calls._warn_of_float64.cache_clear()
            warnings.simplefilter("always")
            model = wrap(WITH_WEIGHTS[name].make())
            for _ in range(3):
                model(data)
            with minigrad.no_grad():
                model(data)
        assert len(seen) == 1

    @pytest.mark.parametrize("name", WITH_WEIGHTS)
    def test_what_is_meant_is_not(self, name: str) -> None:
        model, (shape, *_) = WITH_WEIGHTS[name].make(), WITH_WEIGHTS[name].shapes
        model(np.ones(shape, np.float32))  # a warning is an error here
        model(draw(*shape))
        model(draw(*shape) * 2)
        model.double()(np.ones(shape))
        model(np.ones(shape, np.float32))

    def test_outside_of_modules_dtypes_are_the_callers(self) -> None:
        assert F.linear(np.ones((2, 3)), minigrad.ones((4, 3), requires_grad=True)).dtype == float64
