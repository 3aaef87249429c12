"""Initialisation: the right spread, in place, seeded, and seen by the graph."""

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn import init

SHAPE = (300, 200)
UNIFORM: dict[str, tuple[Any, float]] = {
    "uniform": (lambda t: init.uniform(t, -2.0, 2.0), 2.0),
    "xavier": (init.xavier_uniform, math.sqrt(6 / 500)),
    "xavier with gain": (lambda t: init.xavier_uniform(t, 3.0), 3 * math.sqrt(6 / 500)),
    "kaiming": (init.kaiming_uniform, math.sqrt(6 / 200)),
    "kaiming by fan_out": (
        lambda t: init.kaiming_uniform(t, "fan_out", nonlinearity="linear"), math.sqrt(3 / 300)),
    "windows count into the fans": (
        lambda t: init.xavier_uniform(t.reshape(80, 30, 5, 5)), math.sqrt(6 / (110 * 25))),
}  # fmt: skip
NORMAL: dict[str, tuple[Any, float, float]] = {
    "normal": (lambda t: init.normal(t, 0.0, 0.5), 0.0, 0.5),
    "normal with a mean": (lambda t: init.normal(t, 7.0, 0.1), 7.0, 0.1),
    "xavier": (init.xavier_normal, 0.0, math.sqrt(2 / 500)),
    "kaiming": (init.kaiming_normal, 0.0, math.sqrt(2 / 200)),
    "kaiming for leaky relu": (
        lambda t: init.kaiming_normal(t, nonlinearity="leaky_relu", a=2.0), 0.0,
        math.sqrt(2 / 5 / 200)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNIFORM)
def test_uniform(name: str) -> None:
    fill, bound = UNIFORM[name]
    values = fill(minigrad.empty(*SHAPE)).numpy()
    assert 0.999 * bound < np.abs(values).max() <= bound * (1 + 1e-6)
    assert abs(values.mean()) < 0.02 * bound
    assert values.std() == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize("name", NORMAL)
def test_normal(name: str) -> None:
    fill, mean, std = NORMAL[name]
    values = fill(minigrad.empty(*SHAPE)).numpy() - mean
    assert values.std() == pytest.approx(std, rel=0.02)
    assert abs(values.mean()) < 0.02 * std
    assert np.abs(values).max() > 3 * std


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_in_place_and_in_the_tensors_dtype(dtype: Any) -> None:
    tensor = minigrad.zeros(3, 4, dtype=dtype)
    data = tensor._data
    assert init.normal(tensor) is tensor
    assert tensor._data is data
    assert tensor.dtype == dtype
    assert tensor.numpy().any()


def test_a_graph_made_before_is_refused() -> None:
    weight = nn.Parameter(np.ones((2, 2)))
    loss = (weight * weight).sum()
    init.constant(weight, 3.0)
    with pytest.raises(RuntimeError, match="written in place"):
        loss.backward()


def test_gains() -> None:
    for name, gain in (
        ("linear", 1), ("sigmoid", 1), ("tanh", 5 / 3), ("relu", 2**0.5), ("selu", 0.75),
        ("leaky_relu", math.sqrt(2 / 1.0001)),
    ):  # fmt: skip
        assert init.calculate_gain(name) == pytest.approx(gain), name
    assert init.calculate_gain("leaky_relu", 0.0) == pytest.approx(math.sqrt(2))


def test_truncated_normal_has_the_moments_of_its_distribution() -> None:
    minigrad.random.seed(0)
    for mean, std, a, b in ((0.0, 1.0, -2.0, 2.0), (1.0, 0.5, 0.8, 4.0), (3.0, 1.0, -1.0, 1.0)):
        values = nn.init.trunc_normal(minigrad.empty(50_000), mean, std, a, b).numpy()
        low, high = (a - mean) / std, (b - mean) / std
        density = lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        inside = (math.erf(high / 2**0.5) - math.erf(low / 2**0.5)) / 2
        assert a <= values.min()
        assert values.max() <= b
        expected = mean + std * (density(low) - density(high)) / inside
        assert values.mean() == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (3, 2, 2), (1, 4), (0, 3), (3, 0)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    weight = nn.init.orthogonal(minigrad.empty(shape, dtype=minigrad.float64), 2.0)
    matrix = weight.numpy().reshape(shape[0], -1 if weight.numel() else math.prod(shape[1:]))
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-12)


def test_orthogonal_matrices_of_either_sign_are_drawn() -> None:
    minigrad.random.seed(0)
    drawn = [round(nn.init.orthogonal(minigrad.empty(1, 1)).item()) for _ in range(20)]
    assert {*drawn} == {-1, 1}


def test_a_detached_tensor_is_filled_and_a_broadcast_one_is_refused() -> None:
    weight = nn.Parameter(np.zeros((2, 3)))
    init.ones(weight.detach())
    assert weight.tolist() == [[1.0] * 3] * 2
    with pytest.raises(RuntimeError, match=r"uniform_: .*read-only view .*broadcast_to"):
        init.uniform(weight[0].broadcast_to(2, 3))
    assert weight.tolist() == [[1.0] * 3] * 2


# What layers draw

DRAWN: dict[str, tuple[Any, dict[str, float]]] = {
    # the bound of each parameter that is drawn uniformly; all others of these layers are constants
    "Linear": (lambda: nn.Linear(100, 200), {"weight": 0.1, "bias": 0.1}),
    "Bilinear": (lambda: nn.Bilinear(25, 9, 40), {"weight": 0.2, "bias": 0.2}),
    "Conv2d": (lambda: nn.Conv2d(6, 50, 3, groups=2), dict.fromkeys(["weight", "bias"], 27**-0.5)),
    "GRU": (
        lambda: nn.GRU(30, 100),
        {f"{p}_{side}_l0": 0.1 for p in ("weight", "bias") for side in ("ih", "hh")}),
    "attention": (
        lambda: nn.MultiHeadAttention(64, 4, kdim=32),
        {f"{name}_proj.weight": (6 / (64 + fan)) ** 0.5
         for name, fan in (("q", 64), ("k", 32), ("v", 64), ("out", 64))}),
    "additive attention": (
        lambda: nn.AdditiveAttention(20, 30, 40),
        {"W_q": 0.1**0.5, "W_k": (6 / 70) ** 0.5, "v": (6 / 41) ** 0.5}),
    "dot product": (
        lambda: nn.DotProductAttention(50, 40, 30, 60),
        {f"{name}_proj": (6 / (n + 60)) ** 0.5
         for name, n in (("query", 50), ("key", 40), ("value", 30))}),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_layers_draw_within_their_bounds(name: str) -> None:
    """None of several parts by the fans of the whole."""
    make, bounds = DRAWN[name]
    for path, parameter in make().named_parameters():
        largest = np.abs(parameter.numpy()).max()
        bound = bounds.get(path, 0.0)
        assert 0.9 * bound <= largest <= bound * (1 + 1e-6), path


def test_normal_weights_and_packed_projections_of_layers() -> None:
    assert nn.Embedding(100, 100).weight.numpy().std() == pytest.approx(1, rel=0.1)
    assert nn.LearnedPosEmbedding(100, 100).pos_emb.weight.numpy().std() == pytest.approx(
        0.02, rel=0.1
    )
    assert 0.05 < nn.MultiHeadAttention(64, 4, add_bias_kv=True).bias_k.numpy().std() < 0.25
    pytest.importorskip("einops")
    layer = nn.CausalSelfAttention(64, 4)  # each of (D, D), not the fused one of (3 D, D)
    for part in np.split(layer.qkv_weights.weight.numpy(), 3):
        assert 0.95 * (6 / 128) ** 0.5 < np.abs(part).max() <= (6 / 128) ** 0.5 * (1 + 1e-6)


# The identity, and sparse weights -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "groups"), [((4, 2, 3), 1), ((2, 4, 3, 2), 1), ((6, 2, 3, 3), 3), ((4, 1, 5), 4)]
)
def test_dirac_keeps_the_channels(shape: tuple[int, ...], groups: int) -> None:
    torch = pytest.importorskip("torch")
    found = nn.init.dirac(minigrad.empty(shape), groups)
    wanted = torch.nn.init.dirac_(torch.empty(shape), groups)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_eye_and_sparse() -> None:
    assert nn.init.eye(minigrad.empty(3, 2)).tolist() == [[1, 0], [0, 1], [0, 0]]
    minigrad.random.seed(0)
    weight = nn.init.sparse(minigrad.empty(100, 50), 0.333, std=2.0).numpy()
    assert ((weight == 0).sum(0) == 34).all()
    assert abs(weight[weight != 0].std() - 2) < 0.1
    assert len({tuple(column) for column in (weight == 0).T}) == 50
