"""Exponentials, logarithms, trigonometry: small and large numbers, and the edges of domains."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad

INF, NAN = float("inf"), float("nan")


def variable(*values: Any, dtype: Any = float) -> Tensor:
    return tensor(np.array(values, dtype), requires_grad=True)


def slope(call: Callable[..., Tensor], *at: float, dtype: Any = float) -> list[float]:
    """The gradients at a point; those of create_graph=True must be the same."""
    inputs = [variable(value, dtype=dtype) for value in at]
    plain = grad(call(*inputs), inputs, np.ones(1))
    recorded = grad(call(*inputs), inputs, np.ones(1), create_graph=True)
    for one, other in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-300)
    return [g.item() for g in plain]


# Dtypes ---------------------------------------------------------------------------------------


def test_softplus_takes_a_float64_scalar_for_its_beta() -> None:
    x = variable(1.0, dtype=np.float32)
    y = ops.softplus(x, np.float64(2.0))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.item(), math.log1p(math.exp(2)) / 2, rtol=1e-6)
    with pytest.raises(ValueError, match="^softplus: .*beta.*0"):
        ops.softplus(x, 0)


def test_the_forward_pass_warns_as_numpy_does_and_the_backward_pass_is_silent() -> None:
    """Every warning is an error in this test run."""
    for call, at in (
        (ops.log2, 0.0), (ops.log10, 0.0), (ops.log1p, -1.0), (ops.reciprocal, 0.0),
        (ops.arctanh, 1.0), (ops.arcsin, 2.0), (ops.arccosh, 0.5), (ops.sinh, 1000.0),
        (ops.cosh, 1000.0), (ops.exp2, 1e5), (ops.expm1, 1000.0),
    ):  # fmt: skip
        with pytest.raises(RuntimeWarning):
            call(variable(at))
        with np.errstate(all="ignore"):
            y = call(variable(at))
        y.backward(np.ones(1))
    for call, at in ((ops.cbrt, 0.0), (ops.arcsin, 1.0), (ops.arccos, -1.0), (ops.arccosh, 1.0)):
        call(variable(at)).backward(np.ones(1))


# Slopes ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_at_the_ends_of_a_domain_are_infinite() -> None:
    """Where they count: as in PyTorch. Beyond the domain they are NaN, as the value is."""
    for call, at, wanted in (
        (ops.arcsin, 1.0, INF), (ops.arcsin, -1.0, INF), (ops.arccos, 1.0, -INF),
        (ops.arccosh, 1.0, INF), (ops.arctanh, 1.0, INF), (ops.arctanh, -1.0, INF),
        (ops.log1p, -1.0, INF), (ops.log2, 0.0, INF), (ops.log10, 0.0, INF),
        (ops.reciprocal, 0.0, -INF), (ops.cbrt, 0.0, INF), (ops.cbrt, -0.0, INF),
    ):  # fmt: skip
        assert slope(call, at) == [wanted], (call.__name__, at)
    for call, at in ((ops.arcsin, 2.0), (ops.arccos, -2.0), (ops.arccosh, 0.5)):
        assert math.isnan(slope(call, at)[0])


def test_the_origin_of_the_plane_has_gradient_zero() -> None:
    """Its length has none and its angle no value; norm(0) sets the example."""
    assert slope(ops.hypot, 0.0, 0.0) == [0.0, 0.0]
    assert slope(ops.arctan2, 0.0, 0.0) == [0.0, 0.0]
    for op in (ops.hypot, ops.arctan2):
        x, y = variable(0.0), variable(0.0)
        first = grad(op(x, y).sum(), (x, y), create_graph=True)
        for second in grad(first[0] + first[1], (x, y), np.ones(1)):
            assert second.tolist() == [0.0]
    (first,) = grad(ops.norm(zero := variable(0.0, 0.0)), zero, create_graph=True)
    assert grad(first.sum(), zero)[0].tolist() == [0.0, 0.0]


def test_slopes_near_the_ends_keep_their_digits() -> None:
    """1 - x² cancels there; (1 - x)(1 + x) does not."""
    for step in (1e-8, 1e-12):
        gap = 1 - (1 - step)  # what is left of the step after rounding
        exact = 1 / math.sqrt(gap * (2 - gap))
        np.testing.assert_allclose(slope(ops.arcsin, 1 - step), [exact], rtol=1e-14)
        np.testing.assert_allclose(slope(ops.arccos, 1 - step), [-exact], rtol=1e-14)
        np.testing.assert_allclose(slope(ops.arctanh, 1 - step), [exact**2], rtol=1e-14)
        gap = (1 + step) - 1
        exact = 1 / math.sqrt(gap * (2 + gap))
        np.testing.assert_allclose(slope(ops.arccosh, 1 + step), [exact], rtol=1e-14)


def test_slopes_far_out() -> None:
    for call, at, wanted in (
        (ops.arcsinh, 1e200, 1e-200), (ops.arccosh, 1e200, 1e-200), (ops.arctan, 1e100, 1e-200),
        (ops.arctan, 1e200, 0.0), (ops.tanh, 1e300, 0.0), (ops.expm1, -100.0, math.exp(-100.0)),
        (ops.exp2, -100.0, math.log(2) * 2.0**-100), (ops.log1p, 1e300, 1e-300),
    ):  # fmt: skip
        np.testing.assert_allclose(slope(call, at), [wanted], rtol=1e-14)


def test_small_numbers_keep_their_digits() -> None:
    for op in (ops.expm1, ops.log1p, ops.sinh, ops.arcsinh, ops.sin, ops.arctan):
        for x in (1e-10, -1e-10, 1e-300):
            for dtype in (np.float32, np.float64) if abs(x) > 1e-30 else (np.float64,):
                wanted = getattr(np, op.__name__)(np.float64(x))
                found = op(variable(x, dtype=dtype)).item()
                np.testing.assert_allclose(found, wanted, rtol=2e-7 if dtype != np.float64 else 0)
    np.testing.assert_allclose(ops.expm1(variable(1e-10)).item(), 1.00000000005e-10, rtol=1e-15)
    np.testing.assert_allclose(ops.log1p(variable(1e-10)).item(), 0.99999999995e-10, rtol=1e-15)


# softplus and logaddexp -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("beta", [1.0, 0.5, 3])
def test_softplus_of_large_numbers(dtype: Any, beta: float) -> None:
    """Without a warning, to every order."""
    x = variable(-1000.0, -50.0, 0.0, 50.0, 1000.0, dtype=dtype)
    y = ops.softplus(x, beta)
    wanted = [0.0, 0.0, math.log(2) / beta, 50.0, 1000.0]
    np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-3, atol=1e-10)
    (first,) = grad(y, x, np.ones(5), create_graph=True)
    np.testing.assert_allclose(first.numpy(), [0.0, 0.0, 0.5, 1.0, 1.0], atol=1e-7)
    (second,) = grad(first, x, np.ones(5))
    np.testing.assert_allclose(second.numpy(), [0.0, 0.0, beta / 4, 0.0, 0.0], atol=1e-7)


def test_softplus_is_exact_where_others_take_a_threshold() -> None:
    for x in (-30.0, 15.0, 19.0, 21.0, 30.0):
        exact = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
        assert abs(ops.softplus(variable(x)).item() - exact) <= 1e-15 * exact


@pytest.mark.parametrize("create_graph", [False, True])
def test_logaddexp_of_large_and_infinite_numbers(create_graph: bool) -> None:
    for a, b, wanted in (
        (1000.0, 1000.0, [0.5, 0.5]), (-1e30, 1e30, [0.0, 1.0]), (-INF, 0.0, [0.0, 1.0]),
        (0.0, -INF, [1.0, 0.0]), (-INF, -INF, [0.0, 0.0]), (INF, 0.0, [1.0, 0.0]),
        (1e8, 1e8 + 1, [1 / (1 + math.e), 1 / (1 + 1 / math.e)]),
    ):  # fmt: skip
        x, y = variable(a), variable(b)
        z = ops.logaddexp(x, y)
        np.testing.assert_array_equal(z.numpy(), np.logaddexp(x.numpy(), y.numpy()))
        found = grad(z, (x, y), np.ones(1), create_graph=create_graph)
        np.testing.assert_allclose([g.item() for g in found], wanted, rtol=1e-14)


def test_second_derivatives_of_logaddexp_beside_infinity() -> None:
    a, b = variable(-INF, -INF, 1000.0, 0.0), variable(-INF, 2.0, 0.0, 0.0)
    (first,) = grad(ops.logaddexp(a, b), a, np.ones(4), create_graph=True)
    assert grad(first, a, np.ones(4))[0].tolist() == [0.0, 0.0, 0.0, 0.25]


# Error functions and logits ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_error_functions_keep_their_digits(dtype: Any) -> None:
    """Far out, where 1 - erf(x) has none left, and beside 1, where erf is flat."""
    eps = float(np.finfo(dtype).eps)
    x = np.linspace(-3, 26 if dtype == np.float64 else 9, 300).astype(dtype)
    wanted = np.array([math.erfc(value) for value in x.tolist()])
    seen = wanted > np.finfo(dtype).tiny
    found = ops.erfc(tensor(x)).numpy()
    np.testing.assert_allclose(found[seen], wanted[seen], rtol=4 * eps)
    y = np.concatenate([np.linspace(-0.99, 0.99, 101), [1 - eps, -1 + eps, 2 * eps]]).astype(dtype)
    inverse = ops.erfinv(tensor(y.astype(dtype))).numpy().astype(np.float64)
    back = np.array([math.erf(value) for value in inverse.tolist()])
    steep = 2 / math.sqrt(math.pi) * np.exp(-(inverse**2)) * np.abs(inverse)
    np.testing.assert_allclose(back, y, rtol=0, atol=(4 * eps * (steep + 1e-3)).max())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_functions_and_logit_at_the_edges() -> None:
    """PyTorch's values and slopes."""
    for call, at, value, wanted in (
        (ops.erfc, INF, 0.0, 0.0), (ops.erfc, -INF, 2.0, 0.0), (ops.erfinv, 1.0, INF, INF),
        (ops.erfinv, -1.0, -INF, INF), (ops.erfinv, 2.0, NAN, NAN), (ops.erfinv, -0.0, -0.0, None),
        (ops.logit, 0.0, -INF, INF), (ops.logit, 1.0, INF, INF), (ops.logit, 1.5, NAN, NAN),
        (ops.rsqrt, 0.0, INF, -INF), (ops.rsqrt, -0.0, -INF, INF), (ops.rsqrt, INF, 0.0, 0.0),
        (ops.rsqrt, -1.0, NAN, NAN),
    ):  # fmt: skip
        np.testing.assert_array_equal(call(variable(at)).item(), value)
        if wanted is not None:
            np.testing.assert_array_equal(slope(call, at), [wanted])
    assert math.copysign(1, ops.erfinv(variable(-0.0)).item()) == -1


def test_of_numbers_and_nan_the_number_is_chosen() -> None:
    """In values and gradients; of equal ones the first receives all, as in PyTorch."""
    a, b = variable(1.0, NAN, 2.0, NAN, 5.0), variable(NAN, 1.0, 2.0, NAN, 4.0)
    for op, last in ((ops.fmax, [1.0, 0.0]), (ops.fmin, [0.0, 1.0])):
        np.testing.assert_array_equal(op(a, b)[:4].numpy(), [1.0, 1.0, 2.0, NAN])
        to_a, to_b = grad(op(a, b), (a, b), np.ones(5))
        assert to_a.tolist() == [1.0, 0.0, 1.0, 1.0, last[0]]
        assert to_b.tolist() == [0.0, 1.0, 0.0, 0.0, last[1]]


def test_the_slope_of_fmod_is_that_of_its_value() -> None:
    """1 / 0.1 is rounded up to 10, and 0.1 does not go into 1 so often."""
    for a, b in ((1.0, 0.1), (-1.0, 0.1), (3.0, -0.3), (1.0, 1 / 49)):
        times = round((a - math.fmod(a, b)) / b)
        assert slope(ops.fmod, a, b) == [1.0, -times]
    with np.errstate(invalid="ignore"):
        assert math.isnan(slope(ops.fmod, 1.0, 0.0)[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_infinite_slope_that_is_not_wanted_is_zero(create_graph: bool) -> None:
    for call, at in (
        (ops.rsqrt, 0.0), (ops.erfinv, 1.0), (ops.erfinv, -1.0), (ops.logit, 0.0), (ops.logit, 1.0),
        (lambda x: ops.fmod(1.0, x), 0.0), (lambda x: ops.fmod(x, x), 0.0), (ops.entr, 0.0),
        (lambda x: ops.xlogy(2.0, x), 0.0), (lambda x: ops.xlogy(x, x), 0.0),
        (lambda x: ops.xlog1py(2.0, x), -1.0), (lambda x: ops.xlog1py(x, -1.0), 0.0),
    ):  # fmt: skip
        x = variable(at, 0.5)
        y = ops.where([False, True], call(x), 0.0)
        assert grad(y, x, np.ones(2), create_graph=create_graph)[0][0].item() == 0.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logit_beyond_its_domain_and_its_limits() -> None:
    assert all(math.isnan(slope(ops.logit, x)[0]) for x in (-0.5, -3.0, 1.25, NAN))
    x = variable(0.1, 0.25, 0.5, 0.75, 0.9)
    (found,) = grad(ops.logit(x, 0.25), x, np.ones(5))
    np.testing.assert_allclose(found.numpy(), [0.0, 16 / 3, 4.0, 16 / 3, 0.0])


# Products with a logarithm, and sinc, at 0 ------------------------------------------------------


def derivatives(function: Any, *values: float) -> tuple[float, list[float], list[list[float]]]:
    """The value, the slopes and the curvatures of a function of numbers."""
    inputs = [tensor(np.array(v), requires_grad=True) for v in values]
    out = function(*inputs)
    slopes = grad(out, inputs, create_graph=True)
    rows = [grad(slope, inputs, allow_unused=True, retain_graph=True) for slope in slopes]
    bends = [[0.0 if part is None else part.item() for part in row] for row in rows]
    return out.item(), [slope.item() for slope in slopes], bends


def test_products_with_a_logarithm_at_zero() -> None:
    """As in SciPy: 0 where x is 0, whatever number y is; so the slope in y is 0 there."""
    for y in (0.25, 1.0, 3.0):
        value, slopes, bends = derivatives(ops.xlogy, 0.0, y)
        assert (value, slopes) == (0.0, [math.log(y), 0.0])
        assert bends == [[0.0, 1 / y], [1 / y, 0.0]]
        value, slopes, bends = derivatives(ops.xlog1py, 0.0, y)
        assert (value, slopes) == (0.0, [math.log1p(y), 0.0])
        assert bends == [[0.0, 1 / (1 + y)], [1 / (1 + y), 0.0]]
    for op, y in ((ops.xlogy, 0.0), (ops.xlog1py, -1.0)):
        value, slopes, bends = derivatives(op, 0.0, y)
        assert (value, slopes, bends[1]) == (0.0, [-INF, 0.0], [0.0, 0.0])
        assert op(2.0, y).item() == -INF
    assert ops.xlogy([0.0, 0.0, 0.0], [-1.0, INF, math.nan]).tolist()[:2] == [0.0, 0.0]
    assert np.isnan(ops.xlogy([0.0, 1.0, math.nan], [math.nan, -1.0, 1.0]).numpy()).all()


def test_the_entropy_at_zero() -> None:
    assert derivatives(ops.entr, 0.0) == (0.0, [INF], [[-INF]])
    assert derivatives(lambda x: -ops.xlogy(x, x), 0.0) == (0.0, [INF], [[-INF]])
    assert ops.entr([-1.0, 0.0, 1.0]).tolist() == [-INF, 0.0, 0.0]
    value, slopes, bends = derivatives(ops.entr, 0.5)
    np.testing.assert_allclose(
        [value, *slopes, *bends[0]], [0.5 * math.log(2), math.log(2) - 1, -2]
    )


def test_logarithms_of_python_numbers_widen_nothing() -> None:
    x = Tensor([0.0, 2.0], dtype=np.float32, requires_grad=True)
    for out in (ops.xlogy(x, 3.0), ops.xlogy(2.0, x), ops.xlog1py(x, 0), ops.xlogy(x, 0.5)):
        assert out.dtype == np.float32
    assert grad(ops.xlogy(x, 3.0).sum(), x, create_graph=True)[0].dtype == np.float32


def test_sinc_at_zero_and_near_it() -> None:
    """The slope is a difference that cancels near 0; it has all its digits, to every order."""
    value, slopes, bends = derivatives(ops.sinc, 0.0)
    assert (value, slopes) == (1.0, [0.0])
    assert bends[0][0] == pytest.approx(-(math.pi**2) / 3, rel=1e-15)
    for x in (1e-300, 1e-20, 1e-6, 1e-3, 0.1, 0.31, 0.32, 0.5, -0.1):
        z = math.pi * x
        series = [(-1) ** k * z ** (2 * k) / math.factorial(2 * k + 1) for k in range(20)]
        first = [2 * k / x * term for k, term in enumerate(series)]
        second = [(2 * k - 1) / x * term for k, term in enumerate(first)]
        value, slopes, bends = derivatives(ops.sinc, x)
        if x > 1e-160:
            np.testing.assert_allclose([value, *slopes], [sum(series), sum(first)], rtol=1e-13)
            np.testing.assert_allclose(bends[0][0], sum(second), rtol=1e-12)
    assert np.sinc(Tensor([0.5], requires_grad=True)).requires_grad
