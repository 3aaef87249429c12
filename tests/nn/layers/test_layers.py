"""Linear, LayerNorm, Dropout, Embedding, activations: values, gradients, refusals."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import call as calls
from minigrad.autograd import gradcheck
from minigrad.autograd.call import wrap
from minigrad.nn import functional as F
from minigrad.nn.layers.activation import ACTIVATIONS, activation_function

float64 = minigrad.float64


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


SEVERAL_RESULTS = {"RNN", "LSTM", "GRU", "LSTMCell"}
NOT_OF_ARRAYS = {"Rearrange", "Reduce", "SEModule", "SelectiveKernel", "Unflatten"}
"""Layers that refuse an array, or give an array for one."""
LINES = cases(line for line in LAYERS if len(line.shapes) == 1 and line.kind not in SEVERAL_RESULTS)


def made(line: Layer) -> Any:
    """The layer; in evaluation if it draws random numbers."""
    layer = line.make()
    drops = any("Drop" in type(part).__name__ for part in layer.modules())
    return layer.eval() if drops else layer


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_stay(line: Layer, dtype: Any) -> None:
    layer = made(line).to(dtype)
    x = minigrad.ones(*line.shapes[0], dtype=dtype, requires_grad=True)
    y = layer(x)
    assert y.dtype == dtype
    y.sum().backward()
    assert x.grad.dtype == dtype
    assert all(p.grad.dtype == dtype for p in layer.parameters())


@pytest.mark.parametrize("line", LINES)
def test_any_memory_layout(line: Layer) -> None:
    """Arrays, columns first, backwards and repeated in memory: the same values and gradients."""
    layer, (shape,) = made(line).double(), line.shapes
    array = np.random.default_rng(0).standard_normal(shape)
    repeated = np.broadcast_to(array[:1], shape)
    for given, plain in (
        (array, array), (np.asfortranarray(array), array),
        (np.flip(array), np.flip(array).copy()), (repeated, repeated.copy()),
    ):  # fmt: skip
        minigrad.random.seed(0)
        expected = layer(Tensor(plain))
        if line.kind not in NOT_OF_ARRAYS:
            found = layer(given)
            assert found is given or isinstance(found, Tensor)
        x, y = wrap(given).requires_grad_(), Tensor(plain, requires_grad=True)
        np.testing.assert_allclose(layer(x).data, expected.data, rtol=1e-12, atol=1e-14)
        cotangent = np.random.default_rng(1).standard_normal(expected.shape)
        turned = np.asfortranarray(np.flip(cotangent))
        (layer(x) * np.flip(turned)).sum().backward()
        (layer(y) * cotangent).sum().backward()
        np.testing.assert_allclose(x.grad.data, y.grad.data, rtol=1e-12, atol=1e-14)


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

    @pytest.mark.parametrize(
        ("layer", "shape", "whole"),
        [
            (nn.Dropout1d(0.25), (40, 50, 3), (2,)),
            (nn.Dropout1d(0.25), (2000, 3), (1,)),
            (nn.Dropout2d(0.25), (40, 50, 2, 3), (2, 3)),
            (nn.DropPath(0.25), (2000, 2, 3), (1, 2)),
            (nn.DropPath(0.25, scale_by_keep=False), (2000, 3), (1,)),
        ],
        ids=str,
    )  # fmt: skip
    def test_channels_and_samples_are_dropped_whole(
        self, layer: Any, shape: tuple[int, ...], whole: tuple[int, ...]
    ) -> None:
        minigrad.random.seed(0)
        x = minigrad.ones(shape, requires_grad=True)
        y = layer(x)
        scale = 1 if getattr(layer, "scale_by_keep", True) is False else 4 / 3
        np.testing.assert_array_equal(y.data.min(whole), y.data.max(whole))
        np.testing.assert_allclose(np.unique(y.data), [0, scale], rtol=1e-6)
        assert abs((y.data == 0).mean() - 0.25) < 0.04
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.data, y.data)
        assert layer.eval()(x) is x
        layer.train()
        assert layer(minigrad.ones((0, *shape[1:]))).shape == (0, *shape[1:])
        broken = minigrad.ones(shape) * np.float32(np.nan)
        assert set(np.unique(np.isnan(layer(broken).data))) == {False, True}  # dropped is 0

    def test_channels_in_place_and_refusals(self) -> None:
        x = minigrad.ones((2, 50, 3))
        assert nn.Dropout1d(0.5, inplace=True)(x) is x
        np.testing.assert_array_equal(np.unique(x.data), [0, 2])
        assert not nn.Dropout2d(1.0)(minigrad.ones((1, 2, 2, 2))).data.any()
        with pytest.warns(UserWarning, match=r"dropout2d: .*\(4, 5, 6\) is read as \(N, C, L\)"):
            y = nn.Dropout2d(0.5)(minigrad.ones((4, 5, 6)))
        np.testing.assert_array_equal(y.data.min(2), y.data.max(2))
        for call, message in (
            (lambda: F.dropout1d(minigrad.ones(3)), r"dropout1d: .*\(C, L\) .*got \(3,\)"),
            (lambda: F.dropout2d(minigrad.ones(3, 2)), r"dropout2d: .*H, W\).*got \(3, 2\)"),
            (lambda: F.drop_path(minigrad.tensor(1.0)), r"drop_path: .*\(N, ...\).*got \(\)"),
        ):
            with pytest.raises(ValueError, match=message):
                call()

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


class TestGumbelSoftmax:
    def test_hard_samples_follow_the_distribution(self) -> None:
        minigrad.random.seed(0)
        logits = np.log(np.array([0.5, 0.3, 0.2], np.float32))
        x = Tensor(np.tile(logits, (20_000, 1)), requires_grad=True)
        y = F.gumbel_softmax(x, 0.5, hard=True)
        assert y.dtype == np.float32
        assert set(np.unique(y.data)) == {0.0, 1.0}
        np.testing.assert_allclose(y.data.sum(axis=1), 1)
        np.testing.assert_allclose(y.data.mean(axis=0), [0.5, 0.3, 0.2], atol=0.015)
        (y * np.array([1.0, 2, 3], np.float32)).sum().backward()
        assert (x.grad.data != 0).mean() > 0.9

    def test_the_gradient_of_hard_samples_is_that_of_soft_ones(self) -> None:
        x = draw(3, 4)
        gradients = []
        for hard in (False, True):
            minigrad.random.seed(1)
            y = F.gumbel_softmax(x, 0.7, hard, axis=0)
            np.testing.assert_allclose(y.data.sum(axis=0), 1)
            gradients.append(minigrad.autograd.grad((y * np.arange(4.0)).sum(), x).data)
        np.testing.assert_allclose(*gradients)
        for hard in (False, True):
            assert F.gumbel_softmax(minigrad.zeros((0, 3)), hard=hard).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: F.glu(x), r"^glu: axis -1 of shape \(2, 3\) must have an even size, got 3"),
        (lambda x: F.glu(x, 2), "^glu: axis 2 is out of bounds"),
        (lambda x: F.prelu(x, minigrad.ones(2)), r"^prelu: .*\(2, 3\) has 3 channels.*got \(2,\)"),
        (lambda x: F.hardtanh(x, 1.0, 0.0), "^hardtanh: max_val must be .*at least 1.0, got 0.0"),
        (lambda x: nn.Hardtanh(1.0, 0.0), "^Hardtanh: max_val must be .*at least 1.0, got 0.0"),
        (lambda x: F.bilinear(x, x, x), r"^bilinear: .*got \(2, 3\), \(2, 3\) and \(2, 3\)"),
        (lambda x: F.pairwise_distance(x, x.T), r"^pairwise_distance: x1 \(2, 3\) and x2"),
        (lambda x: F.instance_norm(x), r"^instance_norm: .*several values per channel.*\(2, 3\)"),
        (lambda x: F.instance_norm(x[None], use_input_stats=False), "needs running_mean and"),
        (lambda x: nn.InstanceNorm1d(2)(x[None, None]), r"^InstanceNorm1d: .*\(C, L\) with C = 2"),
        (lambda x: nn.InstanceNorm1d(3)(x[None]), r"with C = 3 expected, got \(1, 2, 3\)"),
        (lambda x: F.pad(x, 1), "^pad: ints .* the last axis first, got 1; minigrad.pad"),
        (lambda x: F.pad(x, ((0, 0), (1, 1))), r"^pad: ints .* got \(\(0, 0\), \(1, 1\)\)"),
        (lambda x: F.pad(x, (1,)), r"^pad: two widths for each of at most 2 axes.*\(1,\)"),
        (lambda x: F.pad(x, (1, 1) * 3), "^pad: two widths for each of at most 2 axes"),
        (lambda x: F.pad(x, (1, 1), "edge"), "^pad: mode must be one of .*'edge'"),
        (lambda x: F.pad(x, (1, 1), "reflect", 2.0), "^pad: a value is for mode=.constant."),
        (lambda x: F.pad(x, (-2, -2)), r"^pad: \(-2, -2\) removes more than shape \(2, 3\)"),
        (lambda x: F.interpolate(x, 2), r"^interpolate: .*\(N, C, L\) or \(N, C, H, W\).*\(2, 3\)"),
        (lambda x: F.interpolate(x[None], 2, mode="bilinear"), r"\(N, C, H, W\), got \(1, 2, 3\)"),
        (lambda x: F.interpolate(x[None]), "one of size and scale_factor expected"),
        (lambda x: F.interpolate(x[None], 2, 2), "got size=2 and scale_factor=2"),
        (lambda x: F.interpolate(x[None], (2, 2)), r"size must be an int or 1 ints"),
        (lambda x: F.interpolate(x[None], scale_factor=(2, 2)), "scale_factor .* or 1 of them"),
        (lambda x: F.interpolate(x[None], scale_factor=0.1), r"leaves sizes \(0,\)"),
        (lambda x: F.interpolate(x[None], 2, align_corners=True), "align_corners is for"),
        (lambda x: F.interpolate(x[None, :, :0], 2), r"nothing to resize in shape \(1, 2, 0\)"),
        (lambda x: F.interpolate(x[None].astype("int64"), 2, mode="linear"), "floating.*got int64"),
        (lambda x: nn.Upsample(2, mode="bicubic"), "^Upsample: mode must be one of .*'bicubic'"),
        (lambda x: F.pixel_shuffle(x[None], 2), r"divisible by 4 expected, got \(1, 2, 3\)"),
        (lambda x: F.unfold(x[None], 3), r"window of \(3, 3\) does not fit into \(2, 3\)"),
        (lambda x: F.unfold(x, 2), r"^unfold: .*\(C, H, W\) expected, got \(2, 3\)"),
        (lambda x: F.fold(x, 2, 2), r"^fold: .*C·4, 1\).*got \(2, 3\)"),
        (lambda x: F.cosine_embedding_loss(x, x, [1, 0]), r"must be 1 or -1, got \[1, 0\]"),
        (lambda x: F.cosine_embedding_loss(x, x, [1]), r"got \(2, 3\) and \(1,\)"),
        (lambda x: F.triplet_margin_loss(x, x, x[:1]), r"\(2, 3\), but negative .*\(1, 3\)"),
        (lambda x: F.margin_ranking_loss(x, x, [1.0]), r"input .*\(2, 3\), but target .*\(1,\)"),
        (lambda x: F.gaussian_nll_loss(x, x, -x), "^gaussian_nll_loss: var must not be negative"),
        (lambda x: F.gaussian_nll_loss(x, x, x[:, :2]), r"\(2, 3\), but var of shape \(2, 2\)"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_function_and_what_came(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call(minigrad.ones((2, 3)))


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
