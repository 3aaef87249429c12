"""Functions of float16: each finite half, forward and backward, is right to 2.5 units in the last
place. They compute in a wider dtype and round once.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad
from minigrad.autograd.primitives import registry
from minigrad.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
HALVES = HALVES[np.isfinite(HALVES)]
FAMILIES = ("activation", "elementwise", "exponentials", "trigonometry")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(ops, name)
        for name, op in registry.items()
        if op.module.removeprefix("minigrad.ops.") in FAMILIES
        and op.differentiable and op.arrays == 1 and name in ops.__all__
    },
    "gelu tanh": lambda x: ops.gelu(x, "tanh"),
    "softplus 3": lambda x: ops.softplus(x, 3.0),
    **{f"power {p}": lambda x, p=p: x**p for p in (1.5, -0.5, 3, -2)},
    **{f"power of {a}": lambda x, a=a: a**x for a in (0.5, 3.0)},
    **{f"{op.__name__} 1": lambda x, op=op: op(x, 1.0)
       for op in (ops.logaddexp, ops.hypot, ops.arctan2, ops.xlogy, ops.xlog1py)},
    **{f"{op.__name__} 3 of": lambda x, op=op: op(3.0, x)
       for op in (ops.logaddexp, ops.hypot, ops.arctan2, ops.xlogy, ops.xlog1py)},
    **{
        name: getattr(F, name)
        for name in ("elu", "celu", "selu", "mish", "hardswish", "hardsigmoid", "logsigmoid",
                     "softsign", "relu6", "hardtanh", "leaky_relu")
    },
    "elu 1.7": lambda x: F.elu(x, 1.7),
    "celu 0.3": lambda x: F.celu(x, 0.3),
}  # fmt: skip


def ulps(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far halves are from exact numbers, in units of the last place of these."""
    _, exponents = np.frexp(exact)
    unit = np.ldexp(1.0, np.maximum(exponents, -13) - 11)
    apart = np.abs(found.astype(np.float64) - exact) / unit
    overflows = (np.abs(exact) >= 65504) & (found == np.copysign(np.inf, exact))
    same = (found == exact) | (np.isnan(found) & np.isnan(exact)) | overflows
    return np.where(same, 0, np.where(np.isnan(apart), np.inf, apart))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_half(name: str) -> None:
    """Beside float64, with a cotangent that keeps products small where slopes are large."""
    results = {}
    for dtype in (np.float16, np.float64):
        x = tensor(HALVES.astype(dtype), requires_grad=True)
        y = FUNCTIONS[name](x)
        slopes = [grad(y, x, np.full(y.shape, g, dtype), retain_graph=True)[0] for g in (1, 2**-10)]
        assert {part.dtype for part in (y, *slopes)} == {np.dtype(dtype)}
        results[dtype] = [part.numpy() for part in (y, *slopes)]
    too_large = np.abs(results[np.float64][0]) >= 65520  # then the slope does not matter
    for found, exact in zip(results[np.float16], results[np.float64], strict=True):
        apart = ulps(found, exact)
        apart[too_large & (exact is not results[np.float64][0])] = 0
        worst = apart.argmax()
        assert apart[worst] <= 2.5, f"at {HALVES[worst]}: {found[worst]}, exact {exact[worst]}"


def test_gelu_of_halves_beside_the_error_function() -> None:
    """Not beside itself: in its tail, digits cancel in every dtype."""
    x = HALVES[np.abs(HALVES) < 10].astype(np.float64)
    cdf = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    half = tensor(x.astype(np.float16), requires_grad=True)
    y = ops.gelu(half)
    assert ulps(y.numpy(), x * cdf).max() <= 2.5
    slope = grad(y, half, np.ones(y.shape, np.float16))[0].numpy()
    assert ulps(slope, cdf + x * density).max() <= 2.5
    assert ops.gelu(Tensor([-3.83], dtype=np.float16)).item() == pytest.approx(-2.453e-4, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_finite_function_of_a_large_number_has_a_gradient(name: str, dtype: Any) -> None:
    """The square of the number, or its cube, may be infinite."""
    largest = math.log2(float(np.finfo(dtype).max))
    sizes = np.exp2(np.linspace(0, 0.99 * largest, 200)).astype(dtype)
    x = tensor(np.concatenate([sizes, -sizes]), requires_grad=True)
    y = FUNCTIONS[name](x)
    slope = grad(y, x, np.ones(y.shape, dtype))[0].numpy()
    assert not np.isnan(slope[np.isfinite(y.numpy())]).any()


def test_halves_of_any_kind_of_argument() -> None:
    """Arrays, lists, numbers, broadcast pairs, integers where float16 is the default, in place."""
    half = np.float16([0.5, 2.0])
    for call in (
        lambda: ops.exp(half), lambda: ops.exp(x=tensor(half)), lambda: ops.gelu(half, "tanh"),
        lambda: ops.gelu(tensor(half), approximate="tanh"), lambda: ops.hypot(half, tensor(half)),
        lambda: ops.power(tensor(half), np.array([1, 2])), lambda: ops.logaddexp(1.0, tensor(half)),
        lambda: np.tanh(tensor(half)), lambda: np.exp(tensor(half)), lambda: tensor(half).tanh_(),
        lambda: F.elu(tensor(half), inplace=True),
    ):  # fmt: skip
        assert call().dtype == np.float16
    x = tensor(half)
    assert F.mish(x, inplace=True) is x
    assert x.tolist() != half.tolist()
    assert ops.exp(tensor(np.float16(1.0))).shape == ()


@pytest.mark.parametrize(
    "choose",
    [
        ops.max, ops.min, ops.median, lambda x: ops.quantile(x, 0.3),
        lambda x: ops.quantile(x, np.array([0.25, 0.75])).mean(), minigrad.median, minigrad.amax,
        lambda x: ops.norm(x, np.inf), lambda x: ops.logsumexp(x, 0), ops.mean, ops.nanmean,
    ],
)  # fmt: skip
def test_more_equal_elements_than_the_largest_half_share_a_gradient(choose: Any) -> None:
    x = tensor(np.ones(70_000, np.float16), requires_grad=True)
    (slope,) = grad(choose(x), x)
    np.testing.assert_allclose(slope.numpy(), 1 / 70_000, rtol=2e-3)
    assert slope.dtype == np.float16
