"""Initialisation: the right spread, in place, seeded, and seen by the graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn import init

SHAPE = (300, 200)
BOUNDS: dict[str, tuple[Any, float]] = {
    "uniform": (lambda t: init.uniform(t, -2.0, 2.0), 2.0),
    "xavier_uniform": (init.xavier_uniform, math.sqrt(6 / 500)),
    "xavier_uniform with gain": (lambda t: init.xavier_uniform(t, 3.0), 3 * math.sqrt(6 / 500)),
    "kaiming_uniform": (init.kaiming_uniform, math.sqrt(6 / 200)),
    "kaiming_uniform by fan_out": (
        lambda t: init.kaiming_uniform(t, "fan_out", nonlinearity="linear"),
        math.sqrt(3 / 300),
    ),
}
DEVIATIONS: dict[str, tuple[Any, float]] = {
    "normal": (lambda t: init.normal(t, 0.0, 0.5), 0.5),
    "xavier_normal": (init.xavier_normal, math.sqrt(2 / 500)),
    "kaiming_normal": (init.kaiming_normal, math.sqrt(2 / 200)),
    "kaiming_normal for leaky relu": (
        lambda t: init.kaiming_normal(t, nonlinearity="leaky_relu", a=2.0),
        math.sqrt(2 / 5 / 200),
    ),
}


@pytest.mark.parametrize(("fill", "bound"), BOUNDS.values(), ids=BOUNDS)
def test_uniform(fill: Any, bound: float) -> None:
    values = fill(minigrad.empty(*SHAPE)).data
    assert 0.999 * bound < np.abs(values).max() <= bound * (1 + 1e-6)
    assert abs(values.mean()) < 0.02 * bound
    assert values.std() == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(("fill", "std"), DEVIATIONS.values(), ids=DEVIATIONS)
def test_normal(fill: Any, std: float) -> None:
    values = fill(minigrad.empty(*SHAPE)).data
    assert values.std() == pytest.approx(std, rel=0.02)
    assert abs(values.mean()) < 0.02 * std
    assert np.abs(values).max() > 3 * std


def test_windows_count_into_the_fans() -> None:
    values = init.xavier_uniform(minigrad.empty(8, 4, 5, 5)).data
    bound = math.sqrt(6 / (12 * 25))
    assert 0.98 * bound < np.abs(values).max() <= bound * (1 + 1e-6)


def test_normal_has_its_mean() -> None:
    assert init.normal(minigrad.empty(*SHAPE), 7.0, 0.1).data.mean() == pytest.approx(7, abs=0.01)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_in_place_and_in_the_tensors_dtype(dtype: Any) -> None:
    tensor = minigrad.zeros(3, 4, dtype=dtype)
    data = tensor.data
    assert init.normal(tensor) is tensor
    assert tensor.data is data
    assert tensor.dtype == dtype
    assert tensor.data.any()


def test_seeded() -> None:
    minigrad.random.seed(1)
    first = init.normal(minigrad.empty(5)).data.copy()
    minigrad.random.seed(1)
    np.testing.assert_array_equal(init.normal(minigrad.empty(5)).data, first)


def test_a_graph_made_before_is_refused() -> None:
    weight = nn.Parameter(np.ones((2, 2)))
    loss = (weight * weight).sum()
    init.constant(weight, 3.0)
    with pytest.raises(RuntimeError, match="written in place"):
        loss.backward()


@pytest.mark.parametrize(
    ("name", "gain"),
    [("linear", 1), ("sigmoid", 1), ("tanh", 5 / 3), ("relu", 2**0.5), ("selu", 0.75)],
)
def test_gains(name: str, gain: float) -> None:
    assert init.calculate_gain(name) == pytest.approx(gain)


def test_gain_of_leaky_relu() -> None:
    assert init.calculate_gain("leaky_relu") == pytest.approx(math.sqrt(2 / 1.0001))
    assert init.calculate_gain("leaky_relu", 0.0) == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (lambda: init.xavier_uniform(minigrad.empty(3)), ValueError, r"\(fan_out, fan_in, ...\)"),
        (lambda: init.kaiming_normal(minigrad.empty(3)), ValueError, "kaiming_normal: .*shape"),
        (lambda: init.kaiming_uniform(minigrad.empty(2, 2), "fan"), ValueError, "mode .*fan"),
        (lambda: init.calculate_gain("swish"), ValueError, "'swish'.*linear"),
        (lambda: init.normal(minigrad.zeros(2, dtype=int)), TypeError, "int64"),
    ],
)
def test_refusals(attempt: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        attempt()
