"""Large, small and low-precision numbers: no overflow, no warning, no lost digits.

The test run turns warnings into errors, so each of these would fail on a RuntimeWarning.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops
from minigrad.autograd import grad

INF = float("inf")
HUGE = np.array([-1e30, -1000.0, -100.0, -20.0, 0.0, 20.0, 100.0, 1000.0, 1e30])


def slope(call: Callable[[Tensor], Tensor], x: Any, dtype: Any = None) -> list[float]:
    t = minigrad.tensor(x, requires_grad=True, dtype=dtype)
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
    y = op(minigrad.tensor(x, dtype=dtype)).numpy()
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
    value = op(minigrad.tensor(x, dtype=dtype)).numpy()
    np.testing.assert_allclose(value, [0.0, 0.0, 0.0, 100.0, 1000.0], rtol=0, atol=1e-40)
    found = slope(op, x, dtype)
    np.testing.assert_allclose(found[:2] + found[3:], [0.0, 0.0, 1.0, 1.0], atol=1e-30)


def test_gelu_far_out() -> None:
    """x * P(Z < x) keeps its relative precision in float64 until it underflows."""
    for x in (-5.0, -10.0, -20.0):
        tail = 0.5 * math.erfc(-x / math.sqrt(2))
        found = ops.gelu(minigrad.tensor(np.array(x))).item()
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
    assert ops.logsumexp(minigrad.tensor([INF, 0.0])).item() == INF


def test_cross_entropy_of_large_logits() -> None:
    logits = minigrad.tensor(np.array([[1e4, 0.0], [-1e4, 0.0], [0.0, 1e30]]), requires_grad=True)
    losses = ops.cross_entropy(logits, [1, 0, 0], reduction="none")
    assert losses.tolist() == [1e4, 1e4, 1e30]
    losses.sum().backward()
    assert logits.grad.tolist() == [[1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]]
    certain = ops.cross_entropy(Tensor([[1e4, 0.0]]), [0])
    assert certain.item() == 0.0


def test_attention_with_large_scores() -> None:
    q = minigrad.tensor(np.array([[1e3, 0.0], [-1e3, 1e3]]), requires_grad=True)
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
        t = minigrad.tensor(x, requires_grad=True)
        assert op(t).item() == value
        op(t).backward()
        np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-6)
    y = np.float32(1e8) + 8 * np.random.default_rng(0).integers(0, 40, (3, 700)).astype(np.float32)
    wanted = y.astype(np.float64).var(axis=1)
    np.testing.assert_allclose(ops.var(minigrad.tensor(y), axis=1).numpy(), wanted, rtol=1e-5)


def test_layer_norm_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    x = np.float32(1e8) + 8 * rng.integers(0, 40, (3, 700)).astype(np.float32)
    precise = minigrad.tensor(x.astype(np.float64), requires_grad=True)
    single = minigrad.tensor(x, requires_grad=True)
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
        tensor, weights = minigrad.tensor(x, requires_grad=True), along.astype(x.dtype)
        out = ops.layer_norm.op.decomposition(tensor)
        (slope,) = grad(out, tensor, weights, create_graph=True)
        (bend,) = grad(slope, tensor, weights[::-1])
        return [out.numpy(), slope.numpy(), bend.numpy()]

    found, wanted = value_and_derivatives(x), value_and_derivatives(x.astype(np.float64))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())


def test_means_of_many_in_low_precision() -> None:
    ones = minigrad.tensor(np.ones(70_000, np.float16), requires_grad=True)
    assert ops.mean(ones).item() == 1.0
    assert ops.sum(ones[:60_000]).item() == 60_000.0
    assert ops.var(ones).item() == 0.0
    ops.mean(ones).backward()
    np.testing.assert_allclose(ones.grad.numpy(), 1 / 70_000, rtol=0.05)
    columns = minigrad.tensor(np.ones((5000, 2), np.float16))
    assert ops.sum(columns, axis=0).tolist() == [5000.0, 5000.0]
    assert ops.mean(columns, axis=0).tolist() == [1.0, 1.0]


def test_other_reductions_of_many_in_low_precision() -> None:
    """Each accumulates in float32: the sums within do not fit into float16."""
    many = minigrad.tensor(np.zeros(70_000, np.float16))
    log = math.log(70_000)
    np.testing.assert_allclose(ops.logsumexp(many).item(), log, rtol=1e-3)
    np.testing.assert_allclose(ops.norm(many + 1).item(), math.sqrt(70_000), rtol=1e-3)
    np.testing.assert_allclose(ops.softmax(many).numpy(), 1 / 70_000, rtol=0.05)
    np.testing.assert_allclose(ops.log_softmax(many).numpy(), -log, rtol=1e-3)
    logits = minigrad.tensor(np.zeros((70_000, 2), np.float16), requires_grad=True)
    loss = ops.cross_entropy(logits, np.zeros(70_000, int))
    np.testing.assert_allclose(loss.item(), math.log(2), rtol=1e-3)
    loss.backward()
    np.testing.assert_allclose(logits.grad.numpy()[:, 0], -0.5 / 70_000, rtol=0.05)
    assert ops.layer_norm(many + 1).tolist()[0] == 0.0


def test_gradients_of_broadcast_operands_in_low_precision() -> None:
    rows = minigrad.tensor(np.ones((5000, 2), np.float16))
    for call in (
        lambda b: rows + b, lambda b: rows * b, lambda b: ops.linear(rows, np.eye(2), b),
        lambda b: ops.layer_norm(rows, None, b), lambda b: ops.broadcast_to(b, (5000, 2)),
    ):  # fmt: skip
        b = minigrad.tensor(np.ones(2, np.float16), requires_grad=True)
        out = call(b)
        out.backward(np.ones(out.shape, np.float16))
        assert b.grad.dtype == np.float16
        assert b.grad.tolist() == [5000.0, 5000.0]


def test_softmax_gradient_in_low_precision() -> None:
    rng = np.random.default_rng(0)
    values, g = rng.standard_normal((5000, 2)), rng.uniform(0.5, 1.5, (5000, 2))
    for op in (ops.softmax, ops.log_softmax):
        low = minigrad.tensor(values, requires_grad=True, dtype=np.float16)
        high = minigrad.tensor(low.numpy().astype(np.float64), requires_grad=True)
        found = grad(op(low, axis=0), low, g.astype(np.float16))[0].numpy()
        wanted = grad(op(high, axis=0), high, g)[0].numpy()
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(found, wanted, atol=2e-2 * scale)


# The error function ---------------------------------------------------------------------------


def exact_erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(v) for v in x.tolist()])


@pytest.mark.parametrize("op", [ops.layer_norm, ops.rms_norm])
def test_gradients_of_normalisation_in_low_precision(op: Any) -> None:
    """What is added up along a row of 3000 does not fit into float16; what comes out does."""
    rng = np.random.default_rng(0)
    x = (1 + rng.standard_normal((2, 3000))).astype(np.float16)
    weight, g = np.full(3000, 1.5, np.float16), np.full((2, 3000), 40, np.float16)
    found = {}
    for dtype in (np.float16, np.float64):
        inputs = [minigrad.tensor(array, requires_grad=True, dtype=dtype) for array in (x, weight)]
        found[dtype] = [part.numpy() for part in grad(op(*inputs), inputs, g.astype(dtype))]
    for low, high in zip(found[np.float16], found[np.float64], strict=True):
        assert low.dtype == np.float16
        np.testing.assert_allclose(low, high, rtol=5e-3, atol=0.1)


def test_erf_in_float64() -> None:
    x = np.concatenate([np.linspace(-6.5, 6.5, 20_001), np.logspace(-300, 0, 301), [0.0]])
    wanted, found = exact_erf(x), ops.erf(minigrad.tensor(x)).numpy()
    assert np.abs(found - wanted).max() <= 1e-15
    small = np.abs(x) < 1
    error = np.abs(found[small] - wanted[small])
    assert (error <= 1e-15 * np.abs(wanted[small])).all()


def test_erf_in_float32() -> None:
    x = np.concatenate([np.linspace(-5, 5, 20_001), np.logspace(-30, 0, 301)]).astype(np.float32)
    wanted, found = exact_erf(x.astype(np.float64)), ops.erf(minigrad.tensor(x)).numpy()
    assert found.dtype == np.float32
    ulp = np.spacing(np.abs(wanted).astype(np.float32))
    assert (np.abs(found - wanted) / ulp).max() <= 6
    assert np.abs(found).max() <= 1.0


def test_the_symmetry_of_erf() -> None:
    for dtype in (np.float32, np.float64):
        y = np.linspace(0, 7, 1001).astype(dtype)
        one, other = ops.erf(minigrad.tensor(y)).numpy(), ops.erf(minigrad.tensor(-y)).numpy()
        np.testing.assert_array_equal(one, -other)
        assert ops.erf(minigrad.tensor(np.array([INF, -INF], dtype))).tolist() == [1.0, -1.0]
        assert np.isnan(ops.erf(minigrad.tensor(np.array([np.nan], dtype))).item())
    assert math.copysign(1, ops.erf(minigrad.tensor(np.array(-0.0))).item()) == -1.0
