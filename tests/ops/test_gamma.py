"""The gamma function against SciPy's, where SciPy is right."""

from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad

special = pytest.importorskip("scipy.special")

RNG = np.random.default_rng(0)
POSITIVE = np.concatenate([RNG.uniform(0, 4, 4000), 10 ** RNG.uniform(-300, 300, 1000)])
NEGATIVE = -np.concatenate([RNG.uniform(0, 20, 4000), 10 ** RNG.uniform(-300, 3, 500)])
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "lgamma": (ops.lgamma, special.gammaln),
    "digamma": (ops.digamma, special.digamma),
    **{
        f"polygamma {n}": (
            lambda x, n=n: ops.polygamma(n, x),
            lambda x, n=n: special.polygamma(n, x),
        )
        for n in (1, 2, 3)
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
@np.errstate(all="ignore")
def test_positive_numbers(name: str) -> None:
    ours, theirs = FUNCTIONS[name]
    room = 1e-15 if name == "lgamma" else 0.0  # SciPy loses digits near 1 and 2
    found = ours(tensor(POSITIVE)).numpy()
    np.testing.assert_allclose(found, theirs(POSITIVE), rtol=1e-13, atol=room)


@pytest.mark.parametrize("name", FUNCTIONS)
@np.errstate(all="ignore")
def test_negative_numbers(name: str) -> None:
    """Between two poles is a zero, where digits are lost, and near a pole SciPy loses some."""
    ours, theirs = FUNCTIONS[name]
    found, wanted = ours(tensor(NEGATIVE)).numpy(), theirs(NEGATIVE)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


def test_zeros_of_the_logarithm_are_exact() -> None:
    """SciPy has no digit here; the Taylor series at 1 and 2 says what is right."""
    euler = 0.5772156649015329
    for step in (1e-8, 1e-12, 1e-15):
        near = np.array([1 + step, 1 - step, 2 + step, 2 - step])
        off = near - np.array([1, 1, 2, 2])
        curvature = np.array([np.pi**2 / 6, np.pi**2 / 6, np.pi**2 / 6 - 1, np.pi**2 / 6 - 1])
        slope = np.array([-euler, -euler, 1 - euler, 1 - euler])
        wanted = slope * off + curvature * off * off / 2
        np.testing.assert_allclose(ops.lgamma(tensor(near)).numpy(), wanted, rtol=1e-14)
    assert ops.lgamma(Tensor([1.0, 2.0])).tolist() == [0.0, 0.0]


def test_poles_and_infinities() -> None:
    inf, nan = np.inf, np.nan
    x = tensor(np.array([0.0, -0.0, -1.0, inf, -inf, nan]))
    np.testing.assert_array_equal(ops.lgamma(x).numpy(), [inf, inf, inf, inf, inf, nan])
    np.testing.assert_array_equal(ops.digamma(x).numpy(), [-inf, inf, nan, inf, nan, nan])
    np.testing.assert_array_equal(ops.polygamma(1, x).numpy(), [inf, inf, inf, 0.0, nan, nan])


def test_derivatives_of_high_order() -> None:
    x = tensor(np.array([0.3, 2.5, -1.7]), requires_grad=True)
    slope = ops.lgamma(x)
    for n in range(5):
        (slope,) = grad(slope.sum(), x, create_graph=True)
        wanted = ops.polygamma(n, x.detach()).numpy()
        np.testing.assert_allclose(slope.numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_smaller_floats_are_rounded_once(dtype: Any) -> None:
    x = RNG.uniform(0.1, 30, 100).astype(dtype)
    for name, (ours, theirs) in FUNCTIONS.items():
        found, wanted = ours(tensor(x)), theirs(x.astype(np.float64))
        assert found.dtype == dtype, name
        with np.errstate(over="ignore"):
            wanted = wanted.astype(dtype)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=2 * np.finfo(dtype).eps)


def test_a_negative_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^polygamma: n must be at least 0, got -1"):
        ops.polygamma(-1, 2.0)
