"""Linear, LayerNorm, Dropout, Embedding, activations: values, gradients, refusals."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import call as calls
from minigrad.autograd import gradcheck, gradgradcheck
from minigrad.nn import functional as F
from minigrad.nn.layers.activation import ACTIVATIONS, activation_function

float64 = minigrad.float64


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "Linear": (lambda: nn.Linear(3, 4), (2, 5, 3)),
    "Linear without bias": (lambda: nn.Linear(3, 4, bias=False), (3,)),
    "LayerNorm": (lambda: nn.LayerNorm(3), (2, 3)),
    "LayerNorm over two axes": (lambda: nn.LayerNorm((2, 3)), (4, 2, 3)),
    "LayerNorm without bias": (lambda: nn.LayerNorm(3, bias=False), (2, 3)),
    "LayerNorm without weight": (lambda: nn.LayerNorm(3, elementwise_affine=False), (2, 3)),
    "ReLU": (nn.ReLU, (2, 3)),
    "GELU": (nn.GELU, (2, 3)),
    "GELU by tanh": (lambda: nn.GELU("tanh"), (2, 3)),
    "SiLU": (nn.SiLU, (2, 3)),
    "Tanh": (nn.Tanh, (2, 3)),
    "Softplus": (lambda: nn.Softplus(2.0), (2, 3)),
    "Sigmoid": (nn.Sigmoid, (2, 3)),
    "Softmax": (lambda: nn.Softmax(axis=0), (2, 3)),
    "LogSoftmax": (nn.LogSoftmax, (2, 3)),
    "Dropout in evaluation": (lambda: nn.Dropout().eval(), (2, 3)),
}


@pytest.mark.parametrize(("make", "shape"), LAYERS.values(), ids=LAYERS)
def test_derivatives_of_inputs_and_parameters(make: Any, shape: tuple[int, ...]) -> None:
    layer = make().double()
    for parameter in layer.parameters():
        nn.init.normal(parameter)
    leaves = [draw(*shape), *layer.parameters()]
    gradcheck(lambda x, *_: layer(x), leaves)
    gradgradcheck(lambda x, *_: layer(x), leaves)


@pytest.mark.parametrize(("make", "shape"), LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_stay(make: Any, shape: tuple[int, ...], dtype: Any) -> None:
    layer = make().to(dtype)
    x = minigrad.ones(*shape, dtype=dtype, requires_grad=True)
    y = layer(x)
    assert y.dtype == dtype
    y.sum().backward()
    assert x.grad.dtype == dtype
    assert all(p.grad.dtype == dtype for p in layer.parameters())


class TestLinear:
    def test_value(self) -> None:
        layer, x = nn.Linear(3, 4), minigrad.randn(2, 5, 3)
        expected = x.data @ layer.weight.data.T + layer.bias.data
        np.testing.assert_allclose(layer(x).data, expected, rtol=1e-5, atol=1e-6)

    def test_init_is_uniform_within_its_bound(self) -> None:
        layer = nn.Linear(100, 200)
        for parameter in layer.parameters():
            largest = np.abs(parameter.data).max()
            assert 0.09 < largest <= 0.1

    @pytest.mark.parametrize(
        ("args", "error", "message"),
        [
            ((0, 3), ValueError, "in_features .*1.* 0"),
            ((3, -1), ValueError, "out_features .*1.* -1"),
            ((2.0, 3), TypeError, "in_features .*int.* 2.0"),
            ((3, True), TypeError, "out_features .*int.* True"),
        ],
    )
    def test_refusals(self, args: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=f"Linear: {message}"):
            nn.Linear(*args)

    def test_a_batch_of_nothing(self) -> None:
        layer = nn.Linear(3, 4)
        layer(minigrad.zeros(0, 3)).sum().backward()
        np.testing.assert_array_equal(layer.weight.grad.data, 0)


class TestLayerNorm:
    def test_value(self) -> None:
        layer = nn.LayerNorm((2, 3), eps=1e-3).double()
        nn.init.normal(layer.weight)
        nn.init.normal(layer.bias)
        x = draw(4, 2, 3).data
        centred = x - x.mean(axis=(1, 2), keepdims=True)
        normal = centred / np.sqrt(x.var(axis=(1, 2), keepdims=True) + 1e-3)
        expected = normal * layer.weight.data + layer.bias.data
        np.testing.assert_allclose(layer(Tensor(x)).data, expected, rtol=1e-12)

    def test_reset(self) -> None:
        layer = nn.LayerNorm(3)
        nn.init.normal(layer.weight)
        nn.init.normal(layer.bias)
        layer.reset_parameters()
        assert layer.weight.tolist() == [1, 1, 1]
        assert layer.bias.tolist() == [0, 0, 0]

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match=r"\(2, 4\).*\(3,\)"):
            nn.LayerNorm(3)(minigrad.ones(2, 4))
        with pytest.raises(ValueError, match=r"\(3,\).*\(2, 3\)"):
            F.layer_norm(minigrad.ones(3), (2, 3))
        with pytest.raises(ValueError, match="LayerNorm: .*normalized_shape"):
            nn.LayerNorm((3, 0))


class TestDropout:
    def test_eval_returns_the_input_itself_and_draws_nothing(self) -> None:
        x, before = minigrad.ones(100), minigrad.random.get_state()
        assert nn.Dropout(0.5).eval()(x) is x
        assert nn.Dropout(0.0)(x) is x
        assert minigrad.random.get_state() == before

    def test_share_and_scale(self) -> None:
        y = nn.Dropout(0.25)(minigrad.ones(10_000)).data
        assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
        assert abs((y == 0).mean() - 0.25) < 0.02

    def test_gradient_passes_where_the_value_did(self) -> None:
        x = minigrad.ones(1000, requires_grad=True)
        y = nn.Dropout(0.5)(x)
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.data, y.data)

    def test_everything_dropped(self) -> None:
        x = minigrad.ones(10, requires_grad=True)
        nn.Dropout(1.0)(x).sum().backward()
        assert x.grad.tolist() == [0.0] * 10

    def test_seeded(self) -> None:
        drop, x = nn.Dropout(0.5), minigrad.ones(100)
        minigrad.random.seed(3)
        first, second = drop(x).data, drop(x).data
        minigrad.random.seed(3)
        np.testing.assert_array_equal(drop(x).data, first)
        assert (first != second).any()

    @pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), "0.5", None, True])
    def test_refusals(self, p: Any) -> None:
        with pytest.raises(ValueError, match="(?i)dropout: p "):
            nn.Dropout(p)
        with pytest.raises(ValueError, match="(?i)dropout: p "):
            F.dropout(minigrad.ones(1), p)


class TestEmbedding:
    def test_values_and_gradient(self) -> None:
        layer = nn.Embedding(5, 3)
        ids = np.array([[0, 4], [4, 1]])
        out = layer(ids)
        np.testing.assert_array_equal(out.data, layer.weight.data[ids])
        out.sum().backward()
        assert layer.weight.grad[:, 0].tolist() == [1, 1, 0, 0, 2]

    def test_gradcheck(self) -> None:
        weight = draw(4, 3)
        gradcheck(lambda w: F.embedding([[0, 3, 3]], w), weight)
        gradcheck(lambda w: F.embedding([[0, 3, 3]], w) ** 2, weight)

    @pytest.mark.parametrize("padding_idx", [1, -4])
    def test_padding_starts_at_zero_and_stays(self, padding_idx: int) -> None:
        layer = nn.Embedding(5, 3, padding_idx=padding_idx)
        assert layer.padding_idx == 1
        assert layer.weight.data[1].tolist() == [0, 0, 0]
        layer([1, 2, 1]).sum().backward()
        assert layer.weight.grad[:, 0].tolist() == [0, 0, 1, 0, 0]

    @pytest.mark.parametrize("ids", [Tensor([1, 2]), [1, 2], np.array([1, 2], np.uint8)])
    def test_any_integers(self, ids: Any) -> None:
        assert nn.Embedding(3, 2)(ids).shape == (2, 2)

    def test_max_norm_shortens_what_is_looked_up_only(self) -> None:
        layer = nn.Embedding(4, 2, max_norm=1.0)
        layer.weight.data[...] = [[3, 4], [0.3, 0.4], [6, 8], [30, 40]]
        out = layer([0, 1, 0, 2])
        np.testing.assert_allclose(
            layer.weight.data, [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8], [30, 40]], rtol=1e-6
        )
        np.testing.assert_array_equal(out.data, layer.weight.data[[0, 1, 0, 2]])
        out.sum().backward()
        assert layer.weight.grad[:, 0].tolist() == [2, 1, 1, 0]

    def test_max_norm_with_another_norm(self) -> None:
        weight = Tensor([[3.0, 4.0]])
        F.embedding([0], weight, max_norm=3.5, norm_type=1.0)
        np.testing.assert_allclose(weight.data, [[1.5, 2.0]], rtol=1e-6)

    @pytest.mark.parametrize("ids", [[4], [-1], [0, 100]])
    @pytest.mark.parametrize("max_norm", [None, 0.1])
    def test_an_index_outside_changes_nothing(self, ids: list[int], max_norm: Any) -> None:
        layer = nn.Embedding(4, 2, max_norm=max_norm)
        before = layer.weight.data.copy()
        with pytest.raises(IndexError, match=r"embedding: .* 4 rows.*\[in Embedding\]"):
            layer(ids)
        np.testing.assert_array_equal(layer.weight.data, before)

    def test_refusals(self) -> None:
        with pytest.raises(TypeError, match="embedding: .*integers, got float"):
            nn.Embedding(4, 2)(minigrad.ones(3))
        with pytest.raises(ValueError, match="Embedding: padding_idx 4 .*4 rows"):
            nn.Embedding(4, 2, padding_idx=4)
        with pytest.raises(ValueError, match="embedding: padding_idx -5 .*4 rows"):
            F.embedding([0], minigrad.ones(4, 2), padding_idx=-5)
        with pytest.raises(ValueError, match="num_embeddings .*1"):
            nn.Embedding(0, 2)


class TestOneHot:
    def test_values(self) -> None:
        assert F.one_hot([[0], [2]]).tolist() == [[[1, 0, 0]], [[0, 0, 1]]]
        assert F.one_hot(Tensor([1]), 4, dtype=minigrad.float32).dtype == np.float32
        assert F.one_hot(np.zeros((0,), int)).shape == (0, 0)

    @pytest.mark.parametrize("ids", [[-1], [3]])
    def test_refusals(self, ids: list[int]) -> None:
        with pytest.raises(ValueError, match="one_hot: .*0 to 2"):
            F.one_hot(ids, 3)
        with pytest.raises(TypeError, match="one_hot: .*integers.*float64"):
            F.one_hot(np.ones(2), 3)


class TestActivations:
    def test_values(self) -> None:
        x = np.array([-1000.0, -1.0, 0.0, 0.5, 1000.0])
        sigmoid = np.array([0, 1 / (1 + math.e), 0.5, 1 / (1 + math.exp(-0.5)), 1])
        cdf = np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])
        inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
        expected: dict[Any, np.ndarray] = {
            nn.ReLU(): np.maximum(x, 0),
            nn.Sigmoid(): sigmoid,
            nn.SiLU(): x * sigmoid,
            nn.Tanh(): np.tanh(x),
            nn.GELU(): x * cdf,
            nn.GELU("tanh"): 0.5 * x * (1 + np.tanh(inner)),
            nn.Softplus(): np.logaddexp(x, 0),
            nn.Softplus(beta=0.5): 2 * np.logaddexp(0.5 * x, 0),
        }
        for module, values in expected.items():
            np.testing.assert_allclose(module(Tensor(x)).data, values, atol=1e-14, rtol=1e-12)

    def test_by_name_and_by_function(self) -> None:
        x = minigrad.randn(5)
        for name, function in ACTIVATIONS.items():
            np.testing.assert_array_equal(activation_function(name)(x).data, function(x).data)
        assert activation_function(F.relu) is F.relu
        module = nn.GELU("tanh")
        assert activation_function(module) is module

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match="'swish'.*'relu', 'gelu'"):
            activation_function("swish")
        with pytest.raises(TypeError, match="name.*function.*3"):
            activation_function(3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="approximate .*'none'.*'tanh'"):
            nn.GELU("erf")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="Softplus: beta .*0"):
            nn.Softplus(0.0)


def test_arrays_are_taken_as_they_are() -> None:
    x, p = np.full((2, 3), 0.5), np.ones((2, 3))
    model = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.GELU(), nn.Dropout(0.1)).double()
    assert isinstance(model(x), Tensor)
    attention = nn.MultiHeadAttention(3, 1).double()
    assert isinstance(attention(x[None], x[None], x[None], is_causal=True), Tensor)
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss, F.binary_cross_entropy):
        assert loss(x, p).requires_grad is False
    assert F.binary_cross_entropy_with_logits(x, p).item() == pytest.approx(
        math.log1p(math.exp(-0.5))
    )
    for classes in (F.cross_entropy, F.nll_loss):
        assert np.isfinite(classes(x, [0, 2]).item())


def test_identity() -> None:
    thing = object()
    assert nn.Identity()(thing) is thing


WITH_WEIGHTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "Linear": (lambda: nn.Linear(6, 3), (2, 6)),
    "in a Sequential": (lambda: nn.Sequential(nn.ReLU(), nn.Linear(6, 3)), (2, 6)),
    "LayerNorm": (lambda: nn.LayerNorm(6), (2, 6)),
    "RMSNorm": (lambda: nn.RMSNorm(6), (2, 6)),
    "BatchNorm": (lambda: nn.BatchNorm1d(4), (2, 4, 6)),
    "convolution": (lambda: nn.Conv1d(4, 3, 3), (2, 4, 6)),
    "transposed convolution": (lambda: nn.ConvTranspose1d(4, 3, 3), (2, 4, 6)),
    "LSTM": (lambda: nn.LSTM(6, 3, batch_first=True), (2, 4, 6)),
    "GRUCell": (lambda: nn.GRUCell(6, 3), (2, 6)),
    "attention": (lambda: nn.TransformerEncoderLayer(6, 2, 8), (2, 4, 6)),
}


class TestFloat64DataInAFloat32Model:
    @pytest.mark.parametrize("name", WITH_WEIGHTS)
    @pytest.mark.parametrize("kind", [np.ones, minigrad.ones])
    def test_it_is_noticed(self, name: str, kind: Any) -> None:
        make, shape = WITH_WEIGHTS[name]
        data = kind(shape, dtype=np.float64)
        with (
            pytest.warns(UserWarning, match=r"float64 .* dtype=minigrad.float32\).* \[in ") as seen,
            warnings.catch_warnings(),
        ):
            calls._warn_of_float64.cache_clear()
            warnings.simplefilter("always")
            model = make()
            for _ in range(3):
                model(data)
            with minigrad.no_grad():
                model(data)
        assert len(seen) == 1

    @pytest.mark.parametrize("name", WITH_WEIGHTS)
    def test_what_is_meant_is_not(self, name: str) -> None:
        make, shape = WITH_WEIGHTS[name]
        model = make()
        model(np.ones(shape, np.float32))  # a warning is an error here
        model(draw(*shape))
        model(draw(*shape) * 2)
        model.double()(np.ones(shape))
        model(np.ones(shape, np.float32))

    def test_outside_of_modules_dtypes_are_the_callers(self) -> None:
        assert F.linear(np.ones((2, 3)), minigrad.ones((4, 3), requires_grad=True)).dtype == float64
