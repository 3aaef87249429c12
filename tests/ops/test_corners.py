"""Ties and corners: where a derivative has several values, one is promised, and none is NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad
from minigrad.func import jvp

INF, NAN = float("inf"), float("nan")


def variable(*values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


def slopes(call: Callable[..., Tensor], *inputs: Tensor, create_graph: bool = False) -> list[Any]:
    out = call(*inputs)
    found = grad(out, inputs, np.ones(out.shape), create_graph=create_graph)
    return [g.tolist() for g in found]


both_ways = pytest.mark.parametrize("create_graph", [False, True])


# A function, its inputs, and the slope in each: one is promised where there are several. Where a
# bound of clip is met, x has the slope; where x passes bounds that are equal, the lower has it.
ROW = [-1.0, 0.0, 1.0, 2.0, 3.0]
LOW_ROWS = [[-INF, -INF], [-INF, 1.0]]
SLOPES: dict[str, tuple[Callable[..., Tensor], list[Any], list[Any]]] = {
    "maximum of equals": (ops.maximum, [[1.0, 2.0], [1.0, 2.0]], [[0.5, 0.5], [0.5, 0.5]]),
    "minimum of equals": (ops.minimum, [[1.0, 2.0], [1.0, 2.0]], [[0.5, 0.5], [0.5, 0.5]]),
    "maximum with itself": (lambda x: ops.maximum(x, x), [[1.0, 2.0]], [[1.0, 1.0]]),
    "minimum with itself": (lambda x: ops.minimum(x, x), [[1.0, 2.0]], [[1.0, 1.0]]),
    "maximum with its number": (lambda x: ops.maximum(x, 1.0), [[1.0]], [[0.5]]),
    "minimum with its number": (lambda x: ops.minimum(x, 1.0), [[1.0]], [[0.5]]),
    "maximum of 0 and -0": (ops.maximum, [[0.0], [-0.0]], [[0.5], [0.5]]),
    "max of equals": (ops.max, [[7.0] * 4], [[0.25] * 4]),
    "relu": (ops.relu, [[-1.0, 0.0, 2.0]], [[0.0, 0.0, 1.0]]),
    "abs": (ops.abs, [[-1.0, 0.0, 2.0]], [[-1.0, 0.0, 1.0]]),
    "norm 1": (lambda x: ops.norm(x, 1), [[-1.0, 0.0, 2.0]], [[-1.0, 0.0, 1.0]]),
    "clip": (ops.clip, [[-1.0, 0.5, 3.0], [0.0], [1.0]], [[0, 1, 0], [1], [1]]),
    "clip, crossed": (
        lambda *all: 5 * ops.clip(*all), [[0.0, 1.5, 3.0], [2.0], [1.0]], [[0, 0, 0], [0], [15]],
    ),
    "clip at its bounds": (ops.clip, [ROW, [0.0], [2.0]], [[0, 1, 1, 1, 0], [1], [1]]),
    "clip at equal bounds": (ops.clip, [ROW, [1.0], [1.0]], [[0, 0, 1, 0, 0], [2], [2]]),
    "clip from below": (ops.clip, [ROW[:3], [0.0]], [[0, 1, 1], [1]]),
    "clip from above": (lambda x, b: ops.clip(x, None, b), [ROW[:3], [0.0]], [[1, 1, 0], [1]]),
    "negative powers of 0": (lambda b: 0.0**b, [[-1.0, -0.5]], [[-INF, -INF]]),
    "base below 0": (lambda x: x ** np.array([2.0, 3.0]), [[-2.0, -3.0]], [[-4.0, 27.0]]),
    **{f"{x!r} as divisor": (lambda a, x=x: a / x, [[2.0, -3.0]], [[slope, slope]])
       for x, slope in ((0, INF), (0.0, INF), (-1, -1.0), (-1.0, -1.0), (1, 1.0), (4, 0.25))},
    # An infinite slope that counts stays infinite; beyond the domain it is NaN, as the value is.
    **{f"{op.__name__} at {at}": (op, [[at]], [[slope]]) for op, at, slope in (
        (ops.sqrt, 0.0, INF), (ops.log, 0.0, INF), (ops.log2, 0.0, INF), (ops.log10, 0.0, INF),
        (ops.log1p, -1.0, INF), (ops.cbrt, 0.0, INF), (ops.cbrt, -0.0, INF),
        (ops.reciprocal, 0.0, -INF), (ops.arcsin, 1.0, INF), (ops.arcsin, -1.0, INF),
        (ops.arccos, 1.0, -INF), (ops.arccosh, 1.0, INF), (ops.arctanh, 1.0, INF),
        (ops.arctanh, -1.0, INF), (ops.arcsin, 2.0, NAN), (ops.arccos, -2.0, NAN),
        (ops.arccosh, 0.5, NAN))},
    "root": (lambda x: x**0.5, [[0.0]], [[INF]]),
    "1 / x": (lambda x: 1 / x, [[0.0]], [[-INF]]),
    "remainder": (lambda x: ops.remainder(1.0, x), [[0.0]], [[-INF]]),
    # Beside infinities and NaN.
    "logsumexp": (lambda x: ops.logsumexp(x, axis=1), [LOW_ROWS], [[[0.0, 0.0], [0.0, 1.0]]]),
    "logsumexp of nothing else": (ops.logsumexp, [[-INF]], [[0.0]]),
    "softmax": (lambda x: ops.softmax(x) * [[1.0, 2.0], [3.0, 4.0]], [LOW_ROWS], [[[0.0] * 2] * 2]),
    "trace": (lambda x: ops.einsum("ii", x), [[[1.0, INF], [NAN, 2.0]]], [[[1, 0], [0, 1]]]),
    "masked_fill": (
        lambda x: ops.masked_fill(x, [False, True, True], 0.0) * 2, [[1.0, INF, NAN]], [[2, 0, 0]],
    ),
}  # fmt: skip


@both_ways
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SLOPES)
def test_the_slope_at_a_corner(name: str, create_graph: bool) -> None:
    call, inputs, wanted = SLOPES[name]
    found = slopes(call, *[variable(*x) for x in inputs], create_graph=create_graph)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_values_beside_infinities() -> None:
    assert ops.relu(variable(-0.0)).tolist() == [0.0]
    x = variable(*LOW_ROWS)
    assert ops.logsumexp(x, axis=1).tolist() == [-INF, 1.0]
    assert ops.softmax(x).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    for create_graph in (False, True):
        finite = ops.where(np.isfinite(x.numpy()), ops.log_softmax(x), 0.0)
        assert np.isfinite(grad(finite.sum(), x, create_graph=create_graph)[0].numpy()).all()
    x = variable([1.0, INF], [NAN, 2.0])
    assert ops.einsum("ii", x).item() == 3.0
    assert ops.einsum("ii->i", x).tolist() == [1.0, 2.0]
    x, mask = variable(1.0, INF, NAN), np.array([False, True, True])
    assert ops.masked_fill(x, mask, 0.0).tolist() == ops.where(mask, 0.0, x).tolist() == [1, 0, 0]


# Ties -----------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("keepdims", [False, True])
def test_the_extremes_share_evenly_along_axes(keepdims: bool, create_graph: bool) -> None:
    x = variable([1.0, 5.0, 5.0], [5.0, 2.0, 5.0])
    table: dict[Any, Any] = {
        0: [[0, 1, 0.5], [1, 0, 0.5]], 1: [[0, 0.5, 0.5], [0.5, 0, 0.5]],
        -1: [[0, 0.5, 0.5], [0.5, 0, 0.5]], (0, 1): [[0, 0.25, 0.25], [0.25, 0, 0.25]],
        None: [[0, 0.25, 0.25], [0.25, 0, 0.25]], (): [[1, 1, 1], [1, 1, 1]],
    }  # fmt: skip
    for axis, wanted in table.items():
        top = lambda x, axis=axis: ops.max(x, axis=axis, keepdims=keepdims)
        assert slopes(top, x, create_graph=create_graph) == [wanted]
        low = lambda x, axis=axis: -ops.min(-x, axis=axis, keepdims=keepdims)
        assert slopes(low, x, create_graph=create_graph) == [wanted]
        if axis != ():
            norm = lambda x, axis=axis: ops.norm(-x, INF, axis, keepdims)
            assert slopes(norm, x, create_graph=create_graph) == [wanted]


# Powers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "exponent", "value", "slope"), [
    (0.0, 0.0, 1.0, 0.0), (0.0, 0, 1.0, 0.0), (0.0, 1, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0),
    (0.0, 2, 0.0, 0.0), (0.0, 3.0, 0.0, 0.0), (-2.0, 2, 4.0, -4.0), (-2.0, 3, -8.0, 12.0),
    (-2.0, 2.0, 4.0, -4.0), (-2.0, 0.0, 1.0, 0.0), (2.0, -2, 0.25, -0.25),
    (-2.0, -1, -0.5, -0.25), (4.0, 0.5, 2.0, 0.25), (0.0, 0.5, 0.0, INF), (2.0, 0, 1.0, 0.0),
    (INF, 0, 1.0, 0.0), (NAN, 0, 1.0, 0.0),
])  # fmt: skip
def test_powers_at_their_corners(base: float, exponent: Any, value: float, slope: float) -> None:
    """The same slope, the exponent given as a number, as an array, or as a tensor."""
    for given in (
        exponent, np.array([float(exponent)]), variable(float(exponent)),
        tensor(np.array([exponent])),
    ):  # fmt: skip
        for create_graph in (False, True):
            x = variable(base)
            y = x**given
            assert y.tolist() == [value]
            assert grad(y, x, np.ones(1), create_graph=create_graph)[0].tolist() == [slope]


def test_the_exponent_s_slope_at_base_zero_and_below() -> None:
    for base, exponent, slope in (
        (0.0, 0.0, 0.0), (0.0, 2.0, 0.0), (2.0, 3.0, 8 * np.log(2)), (1.0, 5.0, 0.0),
    ):  # fmt: skip
        for create_graph in (False, True):
            a, b = variable(base), variable(exponent)
            found = grad(a**b, (a, b), np.ones(1), create_graph=create_graph)
            np.testing.assert_allclose(found[1].item(), slope)
            assert np.isfinite(found[0].item())
    b = variable(2.0)
    np.testing.assert_allclose(grad(0.0**b, b)[0].item(), 0.0)
    np.testing.assert_allclose(grad(2.0**b, b)[0].item(), 4 * np.log(2))
    np.testing.assert_allclose(grad(2**b, b)[0].item(), 4 * np.log(2))


def test_second_derivatives_of_powers_at_zero() -> None:
    for exponent, wanted in ((2, 2.0), (3, 0.0), (1, 0.0), (2.0, 2.0), (0, 0.0)):
        for given in (exponent, variable(float(exponent))):
            x = variable(0.0)
            (first,) = grad((x**given).sum(), x, create_graph=True)
            (second,) = grad((first + 0 * x).sum(), x)
            assert second.item() == wanted, exponent


@pytest.mark.parametrize("base", [2.0, -2.0])
def test_the_mixed_second_derivative_of_a_power_with_exponent_zero(base: float) -> None:
    """The slope by the base is ``b * a ** (b - 1)``: at b = 0 it is 0 and grows by 1 / a."""
    a, b = variable(base), variable(0.0)
    (first,) = grad(a**b, a, np.ones(1), create_graph=True)
    assert first.tolist() == [0.0]
    assert grad(first, b, np.ones(1))[0].tolist() == [1 / base]


# The `where` trap -----------------------------------------------------------------------------

TRAPS: dict[str, Callable[[Tensor], Tensor]] = {
    "sqrt": lambda x: x.sqrt(), "log": lambda x: x.log(), "1/x": lambda x: 1.0 / x,
    "x/x": lambda x: x / x, "1/0": lambda x: 1.0 / (x * 0.0), "x/0": lambda x: x / 0,
    "x**0.5": lambda x: x**0.5,
    "x**-1": lambda x: x**-1.0, "x**-2": lambda x: x**-2, "x*sqrt": lambda x: x * x.sqrt(),
    "x**tensor": lambda x: x ** tensor(np.array(0.5)),
    "0**x below 0": lambda x: 0.0 ** (2.0 * x - 0.5), "log(sqrt)": lambda x: x.sqrt().log(),
    "sqrt of a norm": lambda x: (x * x).sum().sqrt(),
    "sqrt of something negative": lambda x: (x - 1.0).sqrt(),
    "log of something negative": lambda x: (x - 1.0).log(), "reciprocal": lambda x: x.reciprocal(),
    "cbrt": lambda x: ops.cbrt(x), "log2": lambda x: x.log2(), "log10": lambda x: x.log10(),
    "log1p": lambda x: x.log1p(), "log1p beyond": lambda x: x.log1p(),
    "arcsin": lambda x: x.arcsin(), "arcsin beyond": lambda x: x.arcsin(),
    "arccos": lambda x: x.arccos(), "arccosh": lambda x: (x + 1.0).arccosh(),
    "arccosh beyond": lambda x: (x + 0.5).arccosh(), "arctanh": lambda x: x.arctanh(),
    "arctanh beyond": lambda x: x.arctanh(), "arctan2": lambda x: ops.arctan2(x, 0.0 * x),
    "hypot": lambda x: ops.hypot(x, 2.0 * x), "log of hypot": lambda x: ops.hypot(x, x).log(),
    "remainder by 0": lambda x: ops.remainder(1.0, x),
    "logaddexp": lambda x: ops.logaddexp(x.log(), x.log()),
    "logaddexp of infinities": lambda x: ops.logaddexp(1.0 / x, 1.0 / x),
    "arctan2 of infinities": lambda x: ops.arctan2(1.0 / x, 1.0 / x),
    "hypot of infinities": lambda x: ops.hypot(1.0 / x, 1.0 / x),
    "overflow of exp": lambda x: (1000.0 - 2000.0 * x).exp(),
    "overflow of exp2": lambda x: (1e5 - 2e5 * x).exp2(),
    "overflow of expm1": lambda x: (1000.0 - 2000.0 * x).expm1(),
    "overflow of sinh": lambda x: (1000.0 - 2000.0 * x).sinh(),
    "overflow of cosh": lambda x: (1000.0 - 2000.0 * x).cosh(),
    "x/std": lambda x: x / ops.stack([x, x * x]).std(axis=0),
    "log of prod": lambda x: ops.prod(ops.stack([x, x, x]), axis=0).log(),
    "log of cumprod": lambda x: ops.cumprod(ops.stack([x, x]), axis=0)[1].log(),
    "x**x": lambda x: x**x, "norms": lambda x: ops.norm(x.reshape(-1, 1), axis=1),
    "norms, ord 3": lambda x: ops.norm(x.reshape(-1, 1), 3, axis=1),
    "std": lambda x: ops.std(ops.stack([x, 0.0 * x]), axis=0),
    "logsumexp": lambda x: ops.logsumexp(ops.stack([x, x]), axis=0),
    "rsqrt": ops.rsqrt, "erfinv": lambda x: ops.erfinv(1.0 - x), "erfinv of -1": ops.erfinv,
    "logit": ops.logit, "logit of 1": lambda x: ops.logit(1.0 - x), "entr": ops.entr,
    "fmod by 0": lambda x: ops.fmod(1.0, x), "fmod of 0 by 0": lambda x: ops.fmod(x, x),
    "xlogy": lambda x: ops.xlogy(2.0, x), "xlogy of itself": lambda x: ops.xlogy(x, x),
    "xlog1py": lambda x: ops.xlog1py(2.0, x), "xlog1py of -1": lambda x: ops.xlog1py(x, x - 1.0),
    "lgamma": ops.lgamma, "digamma": ops.digamma, "polygamma": lambda x: ops.polygamma(1, x),
}  # fmt: skip
AT = {
    "erfinv of -1": -1.0, "xlog1py": -1.0,
    "log1p": -1.0, "log1p beyond": -2.0, "arcsin": -1.0, "arcsin beyond": -2.0, "arccos": -1.0,
    "arctanh": -1.0, "arctanh beyond": -2.0, "logsumexp": -INF,
}  # fmt: skip  # the others at 0


@both_ways
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's forward, which is as in NumPy
@pytest.mark.parametrize("name", TRAPS)
def test_where_keeps_infinite_slopes_out(name: str, create_graph: bool) -> None:
    call, at = TRAPS[name], AT.get(name, 0.0)
    for mask in (
        lambda x: ops.where(x > 0, call(x), 0.0),
        lambda x: ops.where(x > 0, call(x), 3.0 * x) - 3.0 * x,
        lambda x: np.where(x > 0, call(x), 0.0),
        lambda x: ops.masked_fill(call(x), x <= 0, 0.0),
    ):
        assert slopes(mask, variable(at), create_graph=create_graph) == [[0.0]]
    selected = lambda x: call(x)[np.zeros(x.shape, bool)].sum()
    if name != "sqrt of a norm":
        assert slopes(selected, variable(at), create_graph=create_graph) == [[0.0]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", TRAPS)
def test_where_keeps_infinite_slopes_out_of_second_derivatives(name: str) -> None:
    """At the trap the second derivative is 0, beside it that of the function without a mask."""
    call, at = TRAPS[name], AT.get(name, 0.0)
    beside = 0.5
    x = variable(at, beside)
    if name in ("sqrt of a norm", "rsqrt", "erfinv", "erfinv of -1"):
        return  # not a function of one element each; or NaN, from a product with an infinity
    (first,) = grad(ops.where(x > 0, call(x), 0.0), x, np.ones(2), create_graph=True)
    masked = grad(first, x, np.ones(2))[0].tolist() if first.requires_grad else [0.0, 0.0]
    y = variable(beside)
    (first,) = grad(call(y), y, np.ones(1), create_graph=True)
    plain = grad(first, y, np.ones(1))[0].item() if first.requires_grad else 0.0
    assert masked[0] == 0.0
    np.testing.assert_allclose(masked[1], plain, rtol=1e-12)
    # Forwards, by two backward passes.
    _, tangent = jvp(lambda x: ops.where(x > 0, call(x), 0.0), (x.detach(),), (x.detach(),))
    first = grad(ops.where(x > 0, call(x), 0.0), x, np.ones(2))[0].numpy()
    np.testing.assert_allclose(first, [0.0, grad(call(y), y, np.ones(1))[0].item()], rtol=1e-12)
    np.testing.assert_allclose(tangent.numpy(), [0.0, beside * first[1]], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "undone",
    [lambda x: x.sqrt() ** 2, lambda x: (x**0.5) ** 2, lambda x: ops.cbrt(x) ** 3],
    ids=["sqrt", "power", "cbrt"],
)
def test_second_derivatives_where_the_cotangent_of_an_infinite_slope_is_0(undone: Any) -> None:
    """At 0 the cotangent of the root is 0 by its value; what depends on it is out of reach."""
    x = variable(0.0, 4.0)
    (first,) = grad(undone(x), x, np.ones(2), create_graph=True)
    assert first.tolist()[0] == 0.0
    np.testing.assert_allclose(grad(first, x, np.ones(2))[0].numpy(), [0.0, 0.0], atol=1e-15)


def test_second_derivatives_survive_the_mask() -> None:
    """A cotangent of zero does not make the slope's own dependence vanish."""
    table: list[tuple[Callable[[Tensor], Tensor], float, float]] = [
        (lambda x: ((x + 1).sqrt() - 1) ** 2, 0.0, 0.5), (lambda x: (x.log()) ** 2, 1.0, 2.0),
        (lambda x: (1 / x - 1) ** 2, 1.0, 2.0), (lambda x: (x**0.5 - 1) ** 2, 1.0, 0.5),
        (lambda x: (x ** tensor(np.array(0.5)) - 1) ** 2, 1.0, 0.5),
        (lambda x: (2.0**x - 1) ** 2, 0.0, 2 * np.log(2) ** 2),
        (lambda x: (x.exp() - 1) ** 2, 0.0, 2.0),
        (lambda x: ops.logsumexp(ops.stack([x, -x])) ** 2, 0.0, 2 * np.log(2)),
        (lambda x: ops.norm(ops.stack([x, x])) ** 2, 1.0, 4.0),
    ]  # fmt: skip
    for call, at, wanted in table:
        x = tensor(np.array(at), requires_grad=True)
        (first,) = grad(call(x), x, create_graph=True)
        np.testing.assert_allclose(grad(first, x)[0].item(), wanted, rtol=1e-12)


def test_second_derivatives_survive_an_infinite_slope_elsewhere() -> None:
    """At x = 1 the cotangent of sqrt is 0 and its slope finite; at x = 0 the slope is infinite."""
    for root in (ops.sqrt, lambda x: x**0.5, lambda x: x ** tensor(np.array(0.5))):
        x = variable(1.0, 0.0)
        (first,) = grad(((root(x) - 1) ** 2).sum(), x, create_graph=True)
        assert first.tolist() == [0.0, -INF]
        assert grad(first[0], x)[0].tolist()[0] == 0.5


# Infinities and NaN ---------------------------------------------------------------------------


def test_second_derivatives_beside_minus_infinity() -> None:
    x = variable(-INF, 1.0, 2.0)
    for call in (ops.logsumexp, lambda x: (ops.softmax(x) * np.arange(3.0)).sum()):
        (first,) = grad(call(x), x, create_graph=True)
        (second,) = grad((first * np.array([1.0, 2.0, 3.0])).sum(), x)
        assert np.isfinite(second.numpy()).all()
        assert second.tolist()[0] == 0.0


def test_nan_is_not_dropped() -> None:
    x = variable(1.0, NAN, 3.0)
    for op in (ops.max, ops.min, ops.sum, ops.prod, ops.mean, ops.norm, ops.var, ops.std):
        assert np.isnan(op(x).item())
    assert np.isnan(ops.maximum(x, 2.0).numpy()).tolist() == [False, True, False]
    assert np.isnan(ops.relu(x).numpy()).tolist() == [False, True, False]
    assert np.isnan(ops.clip(x, 0.0, 2.0).numpy()).tolist() == [False, True, False]


def test_the_slope_of_relu_has_a_derivative_which_is_zero() -> None:
    x = variable(-1.0, 2.0)
    slope = grad(ops.relu(x).sum(), x, create_graph=True)[0]
    assert grad(slope.sum(), x)[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("size", [3, 999, 1001, 70_000, (1 << 18) + 5])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16])
def test_relu_is_the_same_for_any_size(size: int, dtype: type) -> None:
    x = np.random.default_rng(0).integers(-3, 3, 2 * size).astype(dtype)[::2]
    if x.dtype.kind == "f":
        x[[0, 1, 2]] = -np.inf, np.nan, np.inf
    for array in (x, x.reshape(-1, 1), x[::-1]):
        out = ops.relu(array)
        assert out.dtype == dtype
        np.testing.assert_array_equal(out.numpy(), np.maximum(array, 0))


# Nothing at all -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cross_entropy_of_nothing_is_nan_with_gradient_zero() -> None:
    logits = tensor(np.ones((2, 3)), requires_grad=True)
    loss = ops.cross_entropy(logits, np.array([-100, -100]), ignore_index=-100)
    assert np.isnan(loss.item())
    loss.backward()
    assert logits.grad.tolist() == [[0.0] * 3] * 2
    assert ops.cross_entropy(logits, [5, 5], ignore_index=5, reduction="sum").item() == 0.0
