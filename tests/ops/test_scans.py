"""Running sums and products, differences: NumPy's values, zeros in a product, length."""

from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad, gradcheck


def variable(values: Any, dtype: Any = float) -> Tensor:
    return tensor(np.array(values, dtype), requires_grad=True)


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


def test_running_values_in_low_precision() -> None:
    """They accumulate in float32, in the backward pass too."""
    ones = tensor(np.ones(5000, np.float16), requires_grad=True)
    sums = ops.cumsum(ones)
    assert sums.dtype == np.float16
    assert sums.tolist()[-1] == 5000.0
    sums.backward(np.ones(5000, np.float16))
    assert ones.grad.tolist()[0] == 5000.0
    x = tensor(np.array([300.0, 300.0, 0.01, 0.01], np.float16), requires_grad=True)
    with np.errstate(over="ignore"):  # it cannot hold 90,000
        last = ops.cumprod(x)[-1]
    np.testing.assert_allclose(last.item(), 9.0, rtol=2e-3)
    last.backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.03, 0.03, 900.0, 900.0], rtol=2e-3)


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
