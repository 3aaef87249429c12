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
        and not op.multiple_outputs
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


# What is added up within: more than float16 holds, or so much that it stops growing.
RNG = np.random.default_rng(0)
MANY, ROWS, TWO = np.ones(70_000), RNG.standard_normal((5000, 2)).astype(np.float16), np.ones(2)
PLACES = np.arange(10_000) % 2
LONG = [1 + RNG.standard_normal((2, 3000)), np.full(3000, 1.5)]
LARGE = np.array([300.0, -400.0, 500.0, 100.0])  # their squares overflow
SPREAD = np.array([300.0, 300.0, 0.01, 0.01])
SUMS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    **{f"{op.__module__}.{op.__name__}": (op, [MANY])
       for op in (ops.mean, ops.nanmean, ops.var, ops.norm, ops.logsumexp, ops.softmax, ops.max,
                  ops.log_softmax, ops.min, ops.median, minigrad.median, minigrad.amax)},
    "norm inf": (lambda x: ops.norm(x, np.inf), [MANY]),
    "quantile": (lambda x: ops.quantile(x, np.array([0.3, 0.75])), [MANY]),
    "std": (ops.std, [np.tile([1.0, 3.0], 35_000)]),
    "std of small numbers": (ops.std, [np.array([1e-3, 3e-3])]),
    "sum": (ops.sum, [MANY[:60_000]]),
    **{f"{op.__name__} of columns": (lambda x, op=op: op(x, axis=0), [ROWS + 1])
       for op in (ops.sum, ops.mean, ops.softmax, ops.log_softmax)},
    "cross_entropy": (lambda x: ops.cross_entropy(x, [0] * 70_000), [np.zeros((70_000, 2))]),
    "vecdot": (lambda x: ops.vecdot(x, x), [MANY / 4]),
    "trace": (lambda x: ops.trace(ops.diag(x)), [MANY[:2500]]),
    "cumsum": (ops.cumsum, [MANY[:5000]]),
    "cumprod": (lambda x: ops.cumprod(x)[-1], [SPREAD]),
    "prod": (ops.prod, [SPREAD]),
    "prod of columns": (lambda x: ops.prod(x, axis=0), [np.stack([SPREAD] * 2, axis=1)]),
    **{f"{op.__name__} of long rows": (lambda x, w, op=op: 40 * op(x, w), LONG)
       for op in (ops.layer_norm, ops.rms_norm)},
    "softmax of many": (ops.softmax, [RNG.standard_normal((2, 400))]),
    "attention": (lambda q, k, v: ops.attention(4 * q, 4 * k, v),
                  [*RNG.standard_normal((3, 2, 32, 16))]),
    "std of large numbers": (ops.std, [LARGE]),
    "norm of large numbers": (ops.norm, [LARGE]),
    "batch_norm": (lambda x: ops.batch_norm(x)[0], [LARGE[:, None]]),
    **{f"{op.__name__} of large numbers": (op, [LARGE]) for op in (ops.layer_norm, ops.rms_norm)},
    "group_norm of large numbers": (lambda x: ops.group_norm(x[None, None], groups=1), [LARGE]),
    "add": (lambda b: tensor(ROWS) + b, [TWO]),
    "multiply": (lambda b: tensor(ROWS) * b, [TWO]),
    "linear": (lambda b: ops.linear(tensor(ROWS), np.eye(2, dtype=np.float16), b), [TWO]),
    "layer_norm's bias": (lambda b: ops.layer_norm(tensor(ROWS), None, b), [TWO]),
    "group_norm's bias": (lambda b: ops.group_norm(tensor(ROWS.T[None]), None, b, groups=1),
                          [TWO]),
    "broadcast_to": (lambda b: ops.broadcast_to(b, (5000, 2)), [TWO]),
    "repeat": (lambda x: ops.repeat(x, 5000), [TWO]),
    "repeat by counts": (lambda x: ops.repeat(x, [5000, 5000]), [TWO]),
    "tile": (lambda x: ops.tile(x, 5000), [TWO]),
    "take": (lambda x: ops.take(x, PLACES), [TWO]),
    "getitem": (lambda x: x[PLACES], [TWO]),
    "gather": (lambda x: ops.gather(x, 0, PLACES), [TWO]),
    "take_along_axis": (lambda x: ops.take_along_axis(x, PLACES, 0), [TWO]),
    "pad": (lambda x: ops.pad(x, (0, 9998), "wrap"), [TWO]),
    "max_pool": (lambda x: F.max_pool1d(x[None], 4500, 1), [np.arange(8999) == 4499]),
}  # fmt: skip


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_many_halves(name: str, create_graph: bool) -> None:
    """Values and gradients beside those of the same numbers in float64."""
    call, arrays = SUMS[name]
    results = []
    for dtype in (np.float16, np.float64):
        inputs = [tensor(np.float16(x), dtype=dtype, requires_grad=True) for x in arrays]
        y = call(*inputs)
        g = np.random.default_rng(1).uniform(0.5, 1.5, y.shape).astype(np.float16)
        slopes = grad(y, inputs, g.astype(dtype), create_graph=create_graph)
        results.append([part.numpy() for part in (y, *slopes)])
    for found, exact in zip(*results, strict=True):
        assert found.dtype == np.float16
        scale = np.abs(exact).max()
        np.testing.assert_allclose(found, exact, rtol=5e-3, atol=5e-3 * scale + 6e-8)
