"""std beside var: of constants, of few, of many, far from zero; counts and histograms."""

import itertools
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad


def variable(values: Any, dtype: Any = float) -> Tensor:
    return tensor(np.array(values, dtype), requires_grad=True)


both_ways = pytest.mark.parametrize("create_graph", [False, True])


@both_ways
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, 0.1, 2.5, -1 / 3, 1e4])
def test_a_constant_has_deviation_gradient_zero(
    value: float, dtype: Any, create_graph: bool
) -> None:
    """However the mean of equal numbers is rounded."""
    for n in (1, 2, 3, 7, 10, 1000):
        x = tensor(np.full(n, value), requires_grad=True, dtype=dtype)
        y = ops.std(x)
        assert y.item() == 0.0
        assert grad(y, x, create_graph=create_graph)[0].tolist() == [0.0] * n


def test_a_constant_row_beside_others() -> None:
    x = variable([[3.0, 3.0, 3.0], [1.0, 2.0, 3.0]])
    (first,) = grad(ops.std(x, axis=1).sum(), x, create_graph=True)
    root = np.sqrt(2 / 3)
    np.testing.assert_allclose(first.numpy(), [[0, 0, 0], [-1 / (3 * root), 0, 1 / (3 * root)]])
    second = grad((first * np.array([1.0, 0.0, 2.0])).sum(), x)[0].numpy()
    assert np.isfinite(second).all()
    assert second[0].tolist() == [0.0] * 3
    assert np.abs(second[1]).min() > 0


@pytest.mark.parametrize("op", [ops.std, ops.var], ids=["std", "var"])
def test_the_deviation_of_too_few_is_nan(op: Any) -> None:
    """NaN, as in NumPy and PyTorch: no warning, and no error in the backward pass."""
    x = variable([2.0])
    y = op(x, ddof=1)
    assert np.isnan(y.item())
    y.backward()
    assert np.isnan(x.grad.numpy()).all()
    assert np.isnan(op(np.zeros((0, 2)), axis=0).numpy()).all()
    assert np.isnan(ops.mean(np.zeros((0, 2))).item())
    x = variable([2.0])
    masked = ops.where(False, op(x), 0.0)
    assert grad(masked, x)[0].tolist() == [0.0]


def test_the_deviation_of_many_in_low_precision() -> None:
    x = tensor(np.tile(np.array([1.0, 3.0], np.float16), 35_000), requires_grad=True)
    y = ops.std(x)
    assert y.dtype == np.float16
    assert y.item() == 1.0
    y.backward()
    np.testing.assert_allclose(x.grad.numpy()[:2], [-1 / 70_000, 1 / 70_000], rtol=0.05)
    small = tensor(np.array([1e-3, 3e-3], np.float16))
    np.testing.assert_allclose(ops.std(small).item(), 1e-3, rtol=2e-3)  # its square is 1e-6


# Counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8])
def test_histograms_are_numpys(dtype: Any) -> None:
    """Also on the edges of an interval, outside of all, and of nothing."""
    x = (np.arange(60) % 13 - (0 if dtype == np.uint8 else 3)).astype(dtype).reshape(3, 20)
    for bins, options in itertools.product(
        (1, 4, 10, [0, 2, 7], [0.0, 0.5, 0.5, 3.0, 9.0]),
        ({}, {"range": (1, 7)}, {"density": True}, {"weights": np.cos(x.astype(float))}),
    ):
        for rows in (slice(None), slice(0), slice(1)):
            values = x[rows]
            kept = {k: v[rows] if k == "weights" else v for k, v in options.items()}
            if "density" in kept and (not values.size or bins == [0.0, 0.5, 0.5, 3.0, 9.0]):
                continue  # 0 / 0
            wanted, places = np.histogram(values, bins, **kept)
            counts, edges = ops.histogram(tensor(values), bins, **kept)
            exact = 0 if wanted.dtype.kind == "i" else 2e-3 if dtype == np.float16 else 1e-6
            np.testing.assert_allclose(counts.numpy(), wanted, exact, exact)
            np.testing.assert_allclose(edges.numpy(), places, rtol=2e-7)


@pytest.mark.parametrize("call", [ops.bincount, lambda x, w: ops.histogram(x, 3, weights=w)[0]])
def test_weights_keep_their_dtype(call: Any) -> None:
    for dtype, wanted in ((np.float16,) * 2, (np.float32,) * 2, (np.float64,) * 2):
        assert call([0, 2, 2], np.ones(3, dtype)).dtype == wanted
    assert call([0, 2, 2], np.ones(3, int)).dtype == np.float32
    assert call([0, 2, 2], None).dtype == np.int64
    assert call([0, 2, 2], None).tolist() == [1, 0, 2]


def test_a_row_of_nan_has_no_mean_and_gradient_zero() -> None:
    x = variable([[np.nan, np.nan], [1.0, np.nan]])
    for create_graph in (False, True):
        y = ops.nanmean(x, axis=1)
        np.testing.assert_array_equal(y.numpy(), [np.nan, 1.0])
        (found,) = grad(y, x, np.array([np.inf, 3.0]), create_graph=create_graph)
        assert found.tolist() == [[0, 0], [3, 0]]
