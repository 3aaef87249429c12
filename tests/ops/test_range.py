"""Large, small and low-precision numbers: no overflow, no warning, no lost digits.

The test run turns warnings into errors, so each of these would fail on a RuntimeWarning.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, tensor
from minigrad.autograd import grad
from minigrad.nn import functional as F
from minigrad.ops import linalg

INF = float("inf")
HUGE = np.array([-1e30, -1000.0, -100.0, -20.0, 0.0, 20.0, 100.0, 1000.0, 1e30])


def slope(call: Callable[[Tensor], Tensor], x: Any, dtype: Any = None) -> list[float]:
    t = tensor(x, requires_grad=True, dtype=dtype)
    out = call(t)
    (first,) = grad(out, t, np.ones(out.shape), create_graph=True)
    (plain,) = grad(call(t), t, np.ones(out.shape))
    np.testing.assert_allclose(first.numpy(), plain.numpy(), rtol=1e-3, atol=1e-6)
    if first.requires_grad:
        (second,) = grad(first, t, np.ones(first.shape), allow_unused=True)
        assert second is None or np.isfinite(second.numpy()).all()
    return plain.tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op", [ops.sigmoid, ops.tanh, ops.erf])
def test_bounded_functions(op: Any, dtype: Any) -> None:
    x = np.clip(HUGE, -6e4, 6e4) if dtype == np.float16 else HUGE
    y = op(tensor(x, dtype=dtype)).numpy()
    low = 0.0 if op is ops.sigmoid else -1.0
    assert y[:3].tolist() == [low] * 3 or (op is ops.sigmoid and (y[:3] <= 1e-40).all())
    assert y[-3:].tolist() == [1.0] * 3
    found = slope(op, x, dtype)
    assert np.isfinite(found).all()
    assert np.abs(found[:2] + found[-2:]).max() == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "op",
    [ops.gelu, lambda x: ops.gelu(x, "tanh"), ops.silu, ops.relu],
    ids=["gelu", "gelu-tanh", "silu", "relu"],
)
def test_rectifiers(op: Any, dtype: Any) -> None:
    x = np.array([-1000.0, -100.0, 0.0, 100.0, 1000.0])
    value = op(tensor(x, dtype=dtype)).numpy()
    np.testing.assert_allclose(value, [0.0, 0.0, 0.0, 100.0, 1000.0], rtol=0, atol=1e-40)
    found = slope(op, x, dtype)
    np.testing.assert_allclose(found[:2] + found[3:], [0.0, 0.0, 1.0, 1.0], atol=1e-30)


def test_gelu_far_out() -> None:
    """x * P(Z < x) keeps its relative precision in float64 until it underflows."""
    for x in (-5.0, -10.0, -20.0):
        tail = 0.5 * math.erfc(-x / math.sqrt(2))
        found = ops.gelu(tensor(np.array(x))).item()
        assert abs(found - x * tail) < 1e-15


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_large_numbers(dtype: Any) -> None:
    assert ops.softmax(Tensor([1000.0, 0.0], dtype=dtype)).tolist() == [1.0, 0.0]
    assert ops.softmax(Tensor([1000.0, 1000.0], dtype=dtype)).tolist() == [0.5, 0.5]
    assert ops.softmax(Tensor([-1e30, -1e30], dtype=dtype)).tolist() == [0.5, 0.5]
    for row in ([1000.0, 0.0], [1e30, -1e30], [-1000.0, -1000.0], [1e4, 0.0]):
        for op in (ops.softmax, ops.log_softmax, ops.logsumexp):
            assert np.isfinite(slope(lambda x, op=op: op(x) * 2.0, row, dtype)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_softmax_is_exact(dtype: Any) -> None:
    assert ops.log_softmax(Tensor([1e4, 0.0], dtype=dtype)).tolist() == [0.0, -1e4]
    assert ops.log_softmax(Tensor([0.0, -1e4, -2e4], dtype=dtype)).tolist() == [0.0, -1e4, -2e4]
    tiny = ops.log_softmax(Tensor([0.0, 20.0], dtype=np.float64)).numpy()
    np.testing.assert_allclose(tiny[1], -math.log1p(math.exp(-20)), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logsumexp_of_large_numbers(dtype: Any) -> None:
    x = Tensor([1000.0, 1000.0], dtype=dtype)
    np.testing.assert_allclose(ops.logsumexp(x).item(), 1000 + math.log(2), rtol=1e-7)
    tolerance = 1e-4 if dtype == np.float32 else 1e-12  # one rounding of 1000.69
    found = slope(ops.logsumexp, [1000.0, 1000.0], dtype)
    np.testing.assert_allclose(found, [0.5, 0.5], rtol=tolerance)
    assert slope(ops.logsumexp, [-1e30, 1e30], dtype) == [0.0, 1.0]
    assert ops.logsumexp(tensor([INF, 0.0])).item() == INF


def test_cross_entropy_of_large_logits() -> None:
    logits = tensor(np.array([[1e4, 0.0], [-1e4, 0.0], [0.0, 1e30]]), requires_grad=True)
    losses = ops.cross_entropy(logits, [1, 0, 0], reduction="none")
    assert losses.tolist() == [1e4, 1e4, 1e30]
    losses.sum().backward()
    assert logits.grad.tolist() == [[1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]]
    certain = ops.cross_entropy(Tensor([[1e4, 0.0]]), [0])
    assert certain.item() == 0.0


def test_attention_with_large_scores() -> None:
    q = tensor(np.array([[1e3, 0.0], [-1e3, 1e3]]), requires_grad=True)
    out = ops.attention(q, q, q)
    assert np.isfinite(out.numpy()).all()
    np.testing.assert_array_equal(out.numpy(), q.numpy())
    out.sum().backward()
    assert np.isfinite(q.grad.numpy()).all()


# Cancellation ---------------------------------------------------------------------------------


def test_variance_and_deviation_far_from_zero() -> None:
    """1e8 + {0, 16, 32, 48} has variance 320, though float32 steps by 8 there."""
    x = (1e8 + np.array([0.0, 16.0, 32.0, 48.0])).astype(np.float32)
    slopes, root = np.array([-12.0, -4.0, 4.0, 12.0]), np.float32(np.sqrt(320.0))
    for op, value, wanted in ((ops.var, 320.0, slopes), (ops.std, root, slopes / (2 * root))):
        t = tensor(x, requires_grad=True)
        assert op(t).item() == value
        op(t).backward()
        np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-6)
    y = np.float32(1e8) + 8 * np.random.default_rng(0).integers(0, 40, (3, 700)).astype(np.float32)
    wanted = y.astype(np.float64).var(axis=1)
    np.testing.assert_allclose(ops.var(tensor(y), axis=1).numpy(), wanted, rtol=1e-5)


def test_layer_norm_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    x = np.float32(1e8) + 8 * rng.integers(0, 40, (3, 700)).astype(np.float32)
    precise = tensor(x.astype(np.float64), requires_grad=True)
    single = tensor(x, requires_grad=True)
    g = rng.standard_normal(x.shape)
    wanted, found = ops.layer_norm(precise), ops.layer_norm(single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=1e-5)
    (wanted * g).sum().backward()
    (found * g.astype(np.float32)).sum().backward()
    scale = np.abs(precise.grad.numpy()).max()
    np.testing.assert_allclose(single.grad.numpy(), precise.grad.numpy(), atol=1e-4 * scale)


def test_derivatives_of_layer_norm_far_from_zero() -> None:
    """By the meaning: each row is centred again, of what rounding its mean left behind."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3, 64)) + np.array([[3e4], [-2e4], [5e4]])
    x, along = rows.astype(np.float32), rng.standard_normal(rows.shape).astype(np.float32)

    def value_and_derivatives(x: np.ndarray) -> list[np.ndarray]:
        t, weights = tensor(x, requires_grad=True), along.astype(x.dtype)
        out = ops.layer_norm.op.decomposition(t)
        (slope,) = grad(out, t, weights, create_graph=True)
        (bend,) = grad(slope, t, weights[::-1])
        return [out.numpy(), slope.numpy(), bend.numpy()]

    found, wanted = value_and_derivatives(x), value_and_derivatives(x.astype(np.float64))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())


# The error function ---------------------------------------------------------------------------


def exact_erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(v) for v in x.tolist()])


def test_erf_in_float64() -> None:
    x = np.concatenate([np.linspace(-6.5, 6.5, 20_001), np.logspace(-300, 0, 301), [0.0]])
    wanted, found = exact_erf(x), ops.erf(tensor(x)).numpy()
    assert np.abs(found - wanted).max() <= 1e-15
    small = np.abs(x) < 1
    error = np.abs(found[small] - wanted[small])
    assert (error <= 1e-15 * np.abs(wanted[small])).all()


def test_erf_in_float32() -> None:
    x = np.concatenate([np.linspace(-5, 5, 20_001), np.logspace(-30, 0, 301)]).astype(np.float32)
    wanted, found = exact_erf(x.astype(np.float64)), ops.erf(tensor(x)).numpy()
    assert found.dtype == np.float32
    ulp = np.spacing(np.abs(wanted).astype(np.float32))
    assert (np.abs(found - wanted) / ulp).max() <= 6
    assert np.abs(found).max() <= 1.0


def test_the_symmetry_of_erf() -> None:
    for dtype in (np.float32, np.float64):
        y = np.linspace(0, 7, 1001).astype(dtype)
        one, other = ops.erf(tensor(y)).numpy(), ops.erf(tensor(-y)).numpy()
        np.testing.assert_array_equal(one, -other)
        assert ops.erf(tensor(np.array([INF, -INF], dtype))).tolist() == [1.0, -1.0]
        assert np.isnan(ops.erf(tensor(np.array([np.nan], dtype))).item())
    assert math.copysign(1, ops.erf(tensor(np.array(-0.0))).item()) == -1.0


# Squares overflow from 1e19 on ------------------------------------------------------------------
# In float32, and they underflow below 1e-19, where the result need not. A function of degree k has
# ``f(s x) = s^k f(x)``, and its gradient has degree k - 1: each is checked far from 1.


# The layers warn that squares overflow, as NumPy does; the result is right.
overflows = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

LARGE, SMALL = (1e15, 1e19, 1e22, 1e30, 1e35), (1e-15, 1e-19, 1e-25, 1e-30)
X = np.random.default_rng(5).standard_normal((4, 6, 3))
SCALE, SHIFT = tensor(np.linspace(0.5, 1.5, 6)), tensor(np.linspace(-1.0, 1.0, 6))


# The degree, the function, and whether small numbers keep it too: nothing is added to squares.
FUNCTIONS: dict[str, tuple[int, Any, bool]] = {
    **{f"norm {p}": (1, lambda x, p=p: ops.norm(x, p, axis=1), True)
       for p in (0.5, 1, 2, 3, 40, -0.5, -1, -2, math.inf, -math.inf)},
    "vector_norm": (1, lambda x: linalg.vector_norm(x, ord=3, axis=1), True),
    "linalg.norm": (1, linalg.norm, True),
    "matrix_norm": (1, lambda x: linalg.matrix_norm(x, ord=2), True),
    "matrix_norm fro": (1, lambda x: linalg.matrix_norm(x, ord="fro"), True),
    "matrix_norm nuc": (1, lambda x: linalg.matrix_norm(x, ord="nuc"), True),
    "matrix_norm -2": (1, lambda x: linalg.matrix_norm(x, ord=-2), True),
    "svdvals": (1, linalg.svdvals, True),
    "cond": (0, linalg.cond, True),
    "hypot": (1, lambda x: ops.hypot(x, x[::-1]), True),
    "arctan2": (0, lambda x: ops.arctan2(x, x[::-1]), True),
    "cdist": (1, lambda x: ops.cdist(x, x[::-1] * 0.7), True),
    "std": (1, lambda x: ops.std(x, axis=1), True),
    "std of all": (1, lambda x: ops.std(x, ddof=1), True),
    "normalize": (0, lambda x: F.normalize(x, eps=0.0), True),
    "cosine_similarity": (0, lambda x: F.cosine_similarity(x, x * 0.5 + x[::-1]), False),
    "cosine_embedding_loss": (
        0, lambda x: F.cosine_embedding_loss(x[0], x[1], np.ones(6, int)), False,
    ),
    "pairwise_distance": (1, lambda x: F.pairwise_distance(x, x[::-1], eps=0.0), True),
    "layer_norm": (0, lambda x: F.layer_norm(x, 3, SCALE[:3], SHIFT[:3]), False),
    "layer_norm of two axes": (0, lambda x: F.layer_norm(x, (6, 3)), False),
    "rms_norm": (0, lambda x: F.rms_norm(x, 3, SCALE[:3]), False),
    "group_norm": (0, lambda x: F.group_norm(x, 2, SCALE, SHIFT), False),
    "instance_norm": (0, F.instance_norm, False),
    "batch_norm": (0, lambda x: F.batch_norm(x, None, None, SCALE, SHIFT, True), False),
    "batch_norm around 0": (0, lambda x: F.batch_norm(ops.concatenate([x[:1], -x[:1]]), None, None,
                                                      SCALE, SHIFT, True), False),
}  # fmt: skip


def value_and_slopes(name: str, scale: float, dtype: Any) -> list[np.ndarray]:
    """The value, the gradient, and the recorded gradient."""
    degree, function, _ = FUNCTIONS[name]
    x = tensor(X * scale, dtype=dtype, requires_grad=True)
    out = function(x)
    weights = np.cos(np.arange(out.numel())).reshape(out.shape).astype(out.dtype)
    slopes = [
        grad(out, x, weights, create_graph=kept, retain_graph=True)[0] for kept in (False, True)
    ]
    parts = [out.numpy().astype(float) / scale**degree]
    return parts + [slope.numpy().astype(float) / scale ** (degree - 1) for slope in slopes]


@overflows
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_large_and_small_numbers(name: str, dtype: Any) -> None:
    wanted = value_and_slopes(name, 1e9, np.float64)  # where eps does not matter
    wide = 1 if dtype == np.float32 else 8  # the exponents of float64 are so much larger
    for scale in (*LARGE, *SMALL * FUNCTIONS[name][2]):
        found = value_and_slopes(name, scale**wide, dtype)
        for part, exact in zip(found, wanted, strict=True):
            error = np.abs(part - exact).max() / np.abs(exact).max()
            assert error < 2e-5, f"{name} of {scale}: {error}"


@overflows
def test_the_variance_whose_squares_do_not_fit_together() -> None:
    """Their sum overflows, their mean does not."""
    x = tensor(np.tile([1e18, -1e18], 700).astype(np.float32), requires_grad=True)
    assert ops.var(x).item() == pytest.approx(1e36, rel=1e-6)
    np.testing.assert_allclose(grad(ops.var(x), x)[0].numpy(), x.numpy() * (2 / 1400), rtol=1e-5)
    assert ops.var(x * 1e10).item() == math.inf  # the result itself is too large


@overflows
@pytest.mark.parametrize("norm_type", [0.5, 1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_any_size_are_clipped(dtype: Any, norm_type: float) -> None:
    parts = [X[0], X[1, :2], X[2, 0]]
    total = np.linalg.norm(np.concatenate([part.ravel() for part in parts]), norm_type)
    for scale in (*LARGE, *SMALL):
        tensors = [minigrad.zeros(*part.shape, dtype=dtype, requires_grad=True) for part in parts]
        for each, part in zip(tensors, parts, strict=True):
            each.grad = tensor(part * scale, dtype=dtype)
        gradients = [each.grad for each in tensors]
        found = nn.utils.get_total_norm(gradients, norm_type)
        assert found.item() == pytest.approx(total * scale, rel=1e-5)
        assert nn.utils.clip_grad_norm(tensors, 1.0, norm_type) == found
        for gradient, part in zip(gradients, parts, strict=True):
            factor = 1 / total if scale > 1 else scale
            np.testing.assert_allclose(gradient.numpy(), part * factor, rtol=1e-5)


@overflows
def test_weights_of_any_length_are_normalized() -> None:
    for scale in (*LARGE, *SMALL):
        layer = nn.Linear(9, 8)
        layer.weight.data[...] = X.reshape(8, 9) * scale
        before = layer.weight.numpy().copy()
        nn.utils.weight_norm(layer)
        np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)


@overflows
def test_long_rows_of_an_embedding_are_shortened() -> None:
    for scale in LARGE:
        rows = tensor(X.reshape(8, 9) * scale, dtype=np.float32)
        found = F.embedding([1, 0, 5], rows, max_norm=1.0).numpy()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
