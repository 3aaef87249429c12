"""Reductions and running values: nothing, zeros in a product, constants, counts, length."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad, gradcheck


def test_reductions_of_nothing_and_of_numbers() -> None:
    nothing = tensor(np.zeros((0, 3)))
    assert ops.prod(nothing).item() == 1.0
    assert ops.prod(nothing, axis=0).tolist() == [1.0] * 3
    assert (ops.any(nothing).item(), ops.all(nothing).item()) == (False, True)
    assert ops.count_nonzero(nothing).item() == 0
    with pytest.raises(ValueError, match="^argmin: "):
        ops.argmin(nothing)
    for op in (ops.prod, ops.any, ops.all, ops.count_nonzero, ops.argmin):
        assert op(Tensor(3.0)).shape == op(3.0).shape == ()
    assert tensor([True, False]).any()
    assert not tensor([True, False]).all()
    assert ops.any(tensor([0.0, math.nan])).item() is True


# Products -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_masked_product_that_overflows_has_gradient_zero() -> None:
    x = tensor(np.array([[1e200, 1e200, 0.5], [2.0, 3.0, 4.0]]), requires_grad=True)
    out = ops.where(np.array([False, True]), ops.prod(x, axis=1), 0.0)
    assert grad(out.sum(), x)[0].tolist() == [[0.0] * 3, [12.0, 8.0, 6.0]]


def test_an_axis_may_be_a_tensor() -> None:
    for op in (ops.sum, ops.mean, ops.max, ops.prod, ops.std, ops.logsumexp):
        x = Tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        y = Tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        op(x, axis=tensor(1)).sum().backward()
        op(y, axis=1).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


@pytest.mark.parametrize("axis", [0, -1])
def test_the_last_axis_of_a_number_without_axes(axis: int) -> None:
    for op, expected in ((ops.softmax, 1.0), (ops.log_softmax, 0.0), (ops.logsumexp, 2.0)):
        x = Tensor(2.0, requires_grad=True)
        out = op(x, axis=axis)
        assert out.shape == ()
        assert out.item() == expected
        out.backward()
        assert x.grad.item() == (1.0 if op is ops.logsumexp else 0.0)


# std beside var -----------------------------------------------------------------------------------


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


# Running sums and products, differences -----------------------------------------------------------


def test_no_differences_are_the_input_itself() -> None:
    x = np.arange(6.0).reshape(2, 3)
    edges: dict[str, Any]
    for edges in ({}, {"prepend": 9.0}, {"append": x}, {"prepend": x, "append": 0.0}):
        found = ops.diff(tensor(x), n=0, **edges)
        np.testing.assert_array_equal(found.numpy(), np.diff(x, n=0, **edges))


def test_differences_with_edges() -> None:
    x = np.array([[1.0, 4.0, 9.0], [2.0, 3.0, 5.0]])
    row, column = np.array([[7.0, 8.0, 9.0]]), np.array([[7.0], [8.0]])
    for options in (
        {"prepend": 0}, {"append": 1.5}, {"prepend": 0, "append": 2, "n": 2}, {"prepend": column},
        {"prepend": row, "axis": 0}, {"append": row, "prepend": 0.5, "axis": -2},
        {"prepend": np.float64(3.0)}, {"append": np.array(3.0)},
    ):  # fmt: skip
        wanted = np.diff(x, **options)
        np.testing.assert_array_equal(ops.diff(tensor(x), **options).numpy(), wanted)
        np.testing.assert_array_equal(np.diff(tensor(x), **options).numpy(), wanted)
        single = ops.diff(tensor(x, dtype=np.float32), **options)
        scalar = all(np.ndim(v) == 0 for v in options.values())
        assert single.dtype == (np.float32 if scalar else np.float64)
    edge = variable(0.5)
    assert gradcheck(lambda x, e: ops.diff(x, prepend=e, append=e), (variable(x), edge))


def test_scans_do_not_take_out() -> None:
    x = tensor(np.ones((2, 3)), requires_grad=True)
    with pytest.raises(TypeError, match=r"^np.cumsum: .*does not take out"):
        np.cumsum(x, 0, None, np.ones((2, 3)))


# cumprod, with any number of zeros --------------------------------------------------------------


def running(x: Tensor) -> Tensor:
    """Running products by repeated multiplication, whose rule divides nothing."""
    parts = [x[0]]
    for i in range(1, len(x)):
        parts.append(parts[-1] * x[i])
    return ops.stack(parts)


PRODUCTS: dict[str, tuple[Any, Any]] = {
    "cumprod": (lambda x: ops.cumprod(x, 0), running), "prod": (ops.prod, lambda x: running(x)[-1]),
}  # fmt: skip


@pytest.mark.parametrize("zeros", [(), (0,), (3,), (6,), (1, 4), (0, 6), (2, 3, 5), range(7)])
@pytest.mark.parametrize("n", [7, 4, 1])
@pytest.mark.parametrize("name", PRODUCTS)
def test_three_derivatives_of_products_beside_zeros(name: str, zeros: Any, n: int) -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.uniform(0.5, 1.5, n), rng.standard_normal(n)
    values[[z for z in zeros if z < n]] = 0.0
    directions = rng.standard_normal((3, n))
    results = []
    for call in PRODUCTS[name]:
        x = tensor(values, requires_grad=True)
        value, found = (call(x) * weights).sum(), []
        for direction in directions:
            (gradient,) = grad(value, x, create_graph=True)
            found.append(gradient.numpy())
            value = (gradient * direction).sum() + 0 * x.sum()
        results.append(found)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-11, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_overflows_behind_touches_nothing_before() -> None:
    x = variable([2.0, 3.0, 1e200, 1e200, 1e200, 5.0])
    for create_graph in (False, True):
        (found,) = grad(ops.cumprod(x, 0)[:2].sum(), x, create_graph=create_graph)
        assert found.tolist() == [4.0, 2.0, 0.0, 0.0, 0.0, 0.0]


def test_a_long_running_product_has_the_gradient_of_a_plain_recurrence() -> None:
    """Of a length at which all pairs of elements would not fit into memory."""
    n = 100_000
    rng = np.random.default_rng(2)
    x, g = rng.uniform(0.999, 1.001, n), rng.standard_normal(n)
    x[[137, 60_000]] = 0.0
    t = tensor(x, requires_grad=True)
    found = grad(ops.cumprod(t), t, g)[0].numpy()
    before = np.append(1.0, np.cumprod(x)[:-1])
    wanted, carried = np.zeros(n), 0.0
    for k in reversed(range(n)):
        carried = g[k] + (x[k + 1] * carried if k < n - 1 else 0.0)
        wanted[k] = before[k] * carried
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)


# Extremes so far, and logarithms of sums --------------------------------------------------------


@pytest.mark.parametrize("op", ["cummax", "cummin"])
def test_of_equal_extremes_the_last_counts(op: str) -> None:
    """So it is in PyTorch, and a NaN is followed by later NaNs only."""
    x = np.array([[2.0, 2.0, 1.0, 2.0, 3.0], [np.nan, 5.0, np.nan, 1.0, np.nan]])
    least = [2, 2, 1, 1, 1], [0, 1, 2, 2, 2]
    wanted = least if op == "cummin" else ([2, 2, 2, 2, 3], [0, 1, 1, 3, 4])
    values, indices = getattr(ops, op)(tensor(x), 1)
    np.testing.assert_array_equal(values.numpy(), [wanted[0], [np.nan] * 5])
    np.testing.assert_array_equal(indices.numpy(), [wanted[1], [0, 0, 2, 2, 4]])
    assert indices.dtype == np.int64


def test_logcumsumexp_has_no_overflow() -> None:
    x = tensor(np.array([-np.inf, -np.inf, 1000.0, -1000.0, 1000.0]), requires_grad=True)
    out = ops.logcumsumexp(x, 0)
    wanted = [-np.inf, -np.inf, 1000, 1000, 1000 + np.log(2)]
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-15)
    for create_graph in (True, False):
        (found,) = grad(out[2:].sum(), x, create_graph=create_graph)
        np.testing.assert_allclose(found.numpy(), [0, 0, 2.5, 0, 0.5])


def test_logcumsumexp_along_a_wide_range() -> None:
    """The gradient is right where the exponential of a sum would overflow in either direction."""
    x = tensor(np.linspace(-2000.0, 2000.0, 9), requires_grad=True)
    weights = np.cos(np.arange(9.0))
    (found,) = grad((ops.logcumsumexp(x, 0) * weights).sum(), x)
    np.testing.assert_allclose(found.numpy(), weights)
