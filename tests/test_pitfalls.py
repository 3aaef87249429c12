"""What an autograd engine must get right: one test for each thing that some engine gets wrong.

The corners of single ops are tested at length beside the ops; here is the list as a whole, each
line a test of its own, over every op that it applies to.
"""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import pickle
import threading
import tracemalloc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from together import together

import minigrad
from minigrad import Tensor, nn, no_grad, optim
from minigrad.autograd import functional, grad, gradcheck, gradgradcheck
from minigrad.nn import functional as F


def var(*values: Any, dtype: Any = np.float64) -> Tensor:
    """A leaf: of one number, of a list, or of several numbers."""
    data = values[0] if len(values) == 1 else values
    return Tensor(np.array(data, dtype=dtype), requires_grad=True)


def normal(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Tensor:
    draws = np.random.default_rng([seed, *shape]).normal(size=shape)
    return Tensor(draws.astype(dtype), requires_grad=True)


def slope(function: Callable[..., Tensor], *xs: Tensor) -> Any:
    """The gradient of the sum of a function's output: a list, or a list for each argument."""
    found = [g.tolist() for g in grad(function(*xs).sum(), list(xs))]
    return found[0] if len(xs) == 1 else found


class TestGraphs:
    def test_a_sum_that_is_used_with_its_own_part(self) -> None:
        x, y = var(2.0), var(3.0)
        z = x + y
        w = z + x
        assert grad(w, [x, y])[0].item() == 2.0
        x, y = var(2.0), var(3.0)
        z = x + y
        w = z + x
        w.backward()
        assert (x.grad.item(), y.grad.item()) == (2.0, 1.0)  # type: ignore[union-attr]

    def test_a_square_of_an_interior_tensor(self) -> None:
        def function(x: Tensor) -> Tensor:
            a = 3.0 * x
            return a * a

        assert slope(function, var(2.0)) == 36.0

    def test_doubling_thrice(self) -> None:
        def function(h: Tensor) -> Tensor:
            for _ in range(3):
                h = h + h
            return h

        assert slope(function, var([1.0, 2.0])) == [8.0, 8.0]

    def test_residual_chains(self) -> None:
        def function(h: Tensor) -> Tensor:
            for _ in range(5):
                h = h + minigrad.tanh(h * 0.5)
            return h

        assert gradcheck(function, normal(3))
        assert gradgradcheck(function, normal(3))

    @pytest.mark.parametrize("norm_first", [True, False])
    def test_encoders(self, norm_first: bool) -> None:
        layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, norm_first=norm_first)
        encoder = nn.TransformerEncoder(layer, 2).double()
        encoder.activation = minigrad.tanh
        assert gradcheck(encoder, normal(2, 3, 4), directions=6, rtol=1e-4)

    def test_one_module_called_twice(self) -> None:
        layer = nn.Linear(3, 3).double()
        assert gradcheck(nn.Sequential(layer, nn.Tanh(), layer), normal(2, 3))

    def test_shared_weights(self) -> None:
        class Tied(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.embedding, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
                self.head.weight = self.embedding.weight

            def forward(self, ids: np.ndarray) -> Tensor:
                return self.head(minigrad.tanh(self.embedding(ids)))

        model = Tied().double()
        assert len(list(model.parameters())) == 1
        assert gradcheck(model, [np.array([0, 3, 3])])

    def test_a_matrix_times_itself(self) -> None:
        assert gradcheck(lambda x: x @ x, normal(3, 3))

    RANKS = [(3,), (4, 3), (2, 4, 3), (5, 1, 4, 3)], [(3,), (3, 2), (2, 3, 2), (5, 2, 3, 2)]

    @pytest.mark.parametrize("shapes", list(itertools.product(*RANKS)), ids=str)
    def test_every_pair_of_ranks_of_matmul(self, shapes: Any) -> None:
        assert gradcheck(minigrad.matmul, [normal(*shape) for shape in shapes])

    def test_backward_twice_is_refused_or_exactly_double(self) -> None:
        x = var([1.0, 2.0])
        y = (minigrad.exp(x) * x).sum()
        y.backward(retain_graph=True)
        assert x.grad is not None
        once = x.grad.numpy().copy()
        y.backward()
        np.testing.assert_array_equal(x.grad.numpy(), 2 * once)
        with pytest.raises(RuntimeError, match="already used by a backward pass"):
            y.backward()

    def test_two_losses_on_a_shared_subgraph(self) -> None:
        x = var([1.0, 2.0])
        h = minigrad.exp(x)
        one, two = (h * 2.0).sum(), (h * h).sum()
        one.backward(retain_graph=True)
        two.backward()
        e = np.exp([1.0, 2.0])
        np.testing.assert_allclose(x.grad.numpy(), 2 * e + 2 * e * e)  # type: ignore[union-attr]

    def test_gradients_share_no_memory(self) -> None:
        x, y = var([1.0, 2.0]), var([3.0, 4.0])
        (x + y).sum().backward()
        x.grad.data[0] = 7.0  # type: ignore[union-attr]
        assert y.grad.tolist() == [1.0, 1.0]  # type: ignore[union-attr]

    def test_interior_gradients_only_when_asked_for(self) -> None:
        x = var([1.0, 2.0])
        kept, left = x * 2.0, x * 3.0
        kept.retain_grad()
        (kept * left).sum().backward()
        assert left.grad is None
        assert kept.grad is not None
        assert kept.grad.tolist() == [3.0, 6.0]

    def test_an_unused_input(self) -> None:
        x, unused = var(1.0), var(2.0)
        (x * 2.0).backward()
        assert unused.grad is None
        with pytest.raises(RuntimeError, match="not depend.* input 1"):
            grad(x * 2.0, [x, unused])
        assert grad(x * 2.0, [x, unused], allow_unused=True)[1] is None

    def test_a_backward_pass_from_several_numbers_without_gradient(self) -> None:
        with pytest.raises(RuntimeError, match="only for a scalar output"):
            (var([1.0, 2.0]) * 2.0).backward()


TRAPS: dict[str, tuple[Callable[[Tensor], Tensor], float]] = {
    # the op, and a point where its slope is infinite
    "sqrt": (minigrad.sqrt, 0.0),
    "log": (minigrad.log, 0.0),
    "log2": (minigrad.log2, 0.0),
    "log10": (minigrad.log10, 0.0),
    "log1p": (minigrad.log1p, -1.0),
    "cbrt": (minigrad.cbrt, 0.0),
    "reciprocal": (minigrad.reciprocal, 0.0),
    "divide": (lambda x: 1.0 / x, 0.0),
    "divide by a tensor": (lambda x: (x + 1.0) / x, 0.0),
    "power below 1": (lambda x: x**0.5, 0.0),
    "power below 0": (lambda x: x**-2, 0.0),
    "power of a tensor": (lambda x: minigrad.power(x, x), 0.0),
    "arcsin": (minigrad.arcsin, 1.0),
    "arccos": (minigrad.arccos, -1.0),
    "arccosh": (minigrad.arccosh, 1.0),
    "arctanh": (minigrad.arctanh, 1.0),
    "norm": (lambda x: minigrad.norm(x.reshape(-1, 1), axis=1), 0.0),
    "norm, ord 3": (lambda x: minigrad.norm(x.reshape(-1, 1), ord=3, axis=1), 0.0),
    "std": (lambda x: minigrad.std(minigrad.stack([x, 0.0 * x], axis=1), axis=1), 0.0),
    "hypot": (lambda x: minigrad.hypot(x, 0.0 * x), 0.0),
    "logsumexp": (lambda x: minigrad.logsumexp(minigrad.stack([x, x], axis=1), axis=1), -np.inf),
}


class TestTiesAndCorners:
    @pytest.mark.parametrize("op", [minigrad.max, minigrad.min], ids=["max", "min"])
    def test_ties_split_evenly(self, op: Any) -> None:
        assert slope(op, var([1.0, 1.0, 1.0, 1.0])) == [0.25] * 4
        rows = var([[1.0, 1.0, 1.0, 1.0], [3.0, 3.0, 3.0, 3.0]])
        same = var([[2.0, 2.0], [2.0, 2.0]])
        for keepdims in (False, True):
            along = functools.partial(op, keepdims=keepdims)
            assert slope(lambda x, op=along: op(x, axis=1), rows) == [[0.25] * 4] * 2
            assert slope(lambda x, op=along: op(x, axis=(0, -1)), same) == [[0.25] * 2] * 2

    def test_maximum_of_a_tensor_and_itself(self) -> None:
        for op in (minigrad.maximum, minigrad.minimum):
            assert slope(lambda x, op=op: op(x, x), var([1.0, 2.0])) == [1.0, 1.0]

    def test_relu_and_abs_at_zero(self) -> None:
        assert slope(minigrad.relu, var([0.0, -0.0])) == [0.0, 0.0]
        assert slope(minigrad.abs, var([0.0, -0.0])) == [0.0, 0.0]

    def test_clip_with_one_bound_and_at_its_bounds(self) -> None:
        x = var([-1.0, 0.0, 0.5, 1.0, 2.0])
        assert slope(lambda x: minigrad.clip(x, 0.0, None), x) == [0, 1, 1, 1, 1]
        assert slope(lambda x: minigrad.clip(x, None, 1.0), x) == [1, 1, 1, 1, 0]
        assert slope(lambda x: minigrad.clip(x, 0.0, 1.0), x) == [0, 1, 1, 1, 0]

    def test_norm_of_zero_and_std_of_a_constant(self) -> None:
        for op in (minigrad.norm, minigrad.std, minigrad.linalg.norm):
            assert slope(op, var([0.0, 0.0, 0.0])) == [0.0, 0.0, 0.0]
        assert slope(minigrad.std, var([2.0, 2.0, 2.0])) == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize("name", TRAPS)
    def test_a_branch_that_was_not_taken(self, name: str) -> None:
        """``where(ok, f(x), 0)``: no gradient comes through f where ok is false."""
        op, point = TRAPS[name]
        inside = 0.5 if abs(point) <= 1 else 0.0
        x = var([point, inside if point != 1.0 or name != "arccosh" else 2.0])
        ok = np.array([False, True])

        def function(x: Tensor) -> Tensor:
            with np.errstate(all="ignore"):
                return minigrad.where(ok, op(x), 0.0)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = slope(function, x)
        assert found[0] == 0.0
        alone = slope(op, var([x.tolist()[1]]))
        assert found[1] == alone[0] != 0.0
        first = grad(function(x).sum(), x, create_graph=True)
        assert np.isfinite(grad(first[1], x).tolist()[1])

    def test_second_derivatives_through_a_masked_slope(self) -> None:
        def function(x: Tensor) -> Tensor:
            return (minigrad.sqrt(x + 1.0) - 1.0) ** 2

        x = var(0.0)  # its cotangent is zero here, and its slope is not infinite
        first = grad(function(x), x, create_graph=True)
        assert first.item() == 0.0
        assert grad(first, x).item() == pytest.approx(0.5)

    def test_products_with_zeros(self) -> None:
        assert slope(minigrad.prod, var([2.0, 0.0, 3.0])) == [0.0, 6.0, 0.0]
        assert slope(minigrad.prod, var([2.0, 0.0, 0.0])) == [0.0, 0.0, 0.0]
        for zeros in ([2.0, 0.0, 3.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]):
            for op in (minigrad.prod, minigrad.cumprod):
                assert gradcheck(op, var(zeros))
                assert gradgradcheck(op, var(zeros))

    def test_powers(self) -> None:
        assert slope(lambda x: x**0.0, var(0.0)) == 0.0
        assert slope(lambda x: x**1, var(0.0)) == 1.0
        assert slope(lambda x: x**2, var(0.0)) == 0.0
        assert slope(lambda x: x**-2, var(2.0)) == -0.25
        assert slope(lambda x: 2.0**x, var(3.0)) == pytest.approx(8 * np.log(2))
        assert slope(lambda x: 0.0**x, var([0.0, 2.0])) == [0.0, 0.0]
        base, exponent = slope(minigrad.power, var([0.0, -2.0, 0.0]), var([2.0, 3.0, 1.0]))
        assert base == [0.0, 12.0, 1.0]
        assert exponent[0] == 0.0
        assert np.isnan(exponent[1])
        assert exponent[2] == 0.0
        x = var(0.0)
        first = grad(x**2, x, create_graph=True)
        assert grad(first, x).item() == 2.0


class TestRange:
    def test_softmax_and_its_kin_at_the_ends(self) -> None:
        x = var([1000.0, 0.0])
        assert minigrad.softmax(x).tolist() == [1.0, 0.0]
        assert minigrad.log_softmax(var([1e4, 0.0])).tolist() == [0.0, -1e4]
        assert minigrad.logsumexp(var([1000.0, 1000.0])).item() == 1000.0 + np.log(2)
        for op in (minigrad.softmax, minigrad.log_softmax, minigrad.logsumexp):
            assert np.isfinite(slope(op, x)).all()

    def test_rows_that_are_minus_infinity_everywhere(self) -> None:
        rows = var([[-np.inf, -np.inf], [0.0, 1.0]])
        assert minigrad.softmax(rows).tolist()[0] == [0.0, 0.0]
        assert minigrad.logsumexp(rows, axis=1).tolist()[0] == -np.inf
        for op in (minigrad.softmax, lambda x: minigrad.logsumexp(x, axis=1)):
            found = np.array(slope(op, rows))
            assert found[0].tolist() == [0.0, 0.0]
            assert np.isfinite(found).all()

    @pytest.mark.parametrize(
        "op", [minigrad.sigmoid, minigrad.tanh, minigrad.gelu, minigrad.softplus, minigrad.silu]
    )
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_no_warning_at_a_thousand(self, op: Any, dtype: Any) -> None:
        x = var([-1000.0, 1000.0], dtype=dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(op(x).tolist()).all()
            assert np.isfinite(slope(op, x)).all()

    def test_variance_far_from_zero(self) -> None:
        values = np.array([1e8, 1e8 + 8, 1e8 + 16, 1e8 + 24], dtype=np.float32)
        x = var(values, dtype=np.float32)
        assert minigrad.var(x).item() == pytest.approx(80.0)
        expected = np.array([-3.0, -1.0, 1.0, 3.0]) / np.sqrt(5.0)
        np.testing.assert_allclose(F.layer_norm(x, 4).numpy(), expected, rtol=1e-5)

    def test_the_mean_of_many_halves(self) -> None:
        x = minigrad.ones(70_000, dtype=minigrad.float16, requires_grad=True)
        assert minigrad.mean(x).item() == 1.0

    @pytest.mark.parametrize("weights", [False, True])
    @pytest.mark.parametrize("train", [False, True])
    def test_attention_with_a_row_that_sees_nothing(self, weights: bool, train: bool) -> None:
        attention = nn.MultiHeadAttention(4, 2, dropout=0.1).train(train)
        x = normal(1, 3, 4, dtype=np.float32)
        mask = np.array([[True, True, True], [False, False, False], [True, False, True]])
        out = attention(x, x, x, attn_mask=mask, need_weights=weights)
        out = out[0] if weights else out
        out.sum().backward()
        assert np.isfinite(out.tolist()).all()
        assert x.grad is not None
        assert np.isfinite(x.grad.tolist()).all()
        for flag in (False, True):
            pair = F.scaled_dot_product_attention(x, x, x, mask, output_weight=flag)
            assert (pair[0] if flag else pair)[0, 1].tolist() == [0.0] * 4


class TestTypes:
    @pytest.mark.parametrize(
        "other",
        [2.0, 2, np.float64(2.0), np.array(2.0), np.array([1, 2], dtype=np.int64), [1, 2], True],
        ids=repr,
    )
    def test_float32_stays_float32(self, other: Any) -> None:
        for function in (
            lambda x: x * other,
            lambda x: other * x,
            lambda x: x + other,
            lambda x: other - x,
            lambda x: x / other,
            lambda x: other / x,
            lambda x: x ** other,
            lambda x: minigrad.maximum(x, other),
            lambda x: minigrad.where(x > 0, x, other),
        ):  # fmt: skip
            x = var([1.0, 2.0], dtype=np.float32)
            y = function(x)
            assert y.dtype == np.float32
            y.sum().backward()
            assert x.grad is not None
            assert x.grad.dtype == np.float32

    @pytest.mark.parametrize(
        "op",
        [
            minigrad.sum, minigrad.mean, minigrad.max, minigrad.min, minigrad.prod, minigrad.std,
            minigrad.var, minigrad.norm, minigrad.logsumexp, minigrad.cumsum, minigrad.median,
            minigrad.softmax, lambda x: x[1], lambda x: x[::-1], lambda x: x[[0, 0]],
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_the_dtype_goes_through(self, op: Any, dtype: Any) -> None:
        x = var([1.0, 2.0, 4.0], dtype=dtype)
        y = op(x)
        assert y.dtype == dtype
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.dtype == dtype

    def test_a_gradient_has_the_dtype_of_its_parameter(self) -> None:
        w = var([1.0, 2.0], dtype=np.float32)
        y = w * np.array([0.1, 0.2])
        assert y.dtype == np.float64
        y.sum().backward()
        assert w.grad is not None
        assert w.grad.dtype == np.float32

    def test_integers_take_no_gradient(self) -> None:
        with pytest.raises(TypeError, match="float.*grad"):
            Tensor([1, 2], requires_grad=True)
        x = minigrad.tensor([1, 2])
        with pytest.raises(TypeError, match="float.*grad"):
            x.requires_grad_()

    def test_a_number_times_a_row(self) -> None:
        x, y = var(2.0), var([1.0, 2.0, 3.0])
        assert slope(lambda x, y: x * y, x, y) == [6.0, [2.0, 2.0, 2.0]]

    @pytest.mark.parametrize(
        "function",
        [
            minigrad.sum, lambda x: x[:, :0], lambda x: x.T @ x, minigrad.softmax, minigrad.exp,
            lambda x: minigrad.concatenate([x, x], axis=0), lambda x: x.reshape(3, 0),
            lambda x: minigrad.cumsum(x, axis=0), lambda x: minigrad.sort(x, axis=0),
            lambda x: minigrad.prod(x), lambda x: F.layer_norm(x, 3),
        ],
    )  # fmt: skip
    def test_no_elements_at_all(self, function: Any) -> None:
        x = normal(0, 3)
        assert grad(function(x).sum(), x).shape == (0, 3)

    @pytest.mark.parametrize(
        "view", [lambda a: a[::-1], lambda a: a.T, lambda a: np.broadcast_to(a[:1], (3, 3))]
    )
    @pytest.mark.parametrize("op", [minigrad.exp, minigrad.softmax, lambda x: x @ x, minigrad.sum])
    def test_strides(self, view: Any, op: Any) -> None:
        array = view(np.random.default_rng(0).normal(size=(3, 3)))
        one, other = Tensor(array), Tensor(np.ascontiguousarray(array))
        for x in (one, other):
            x.requires_grad_()
        np.testing.assert_allclose(op(one).numpy(), op(other).numpy(), rtol=1e-14)
        np.testing.assert_allclose(slope(op, one), slope(op, other), rtol=1e-14)

    @together(
        name=["sum", "mean", "max", "min", "prod", "var", "std"],
        axis=[0, -1, (0, 1), (-1, 0), (0, -2), (0, 1, 2), (), None],
        keepdims=[False, True],
    )
    def test_axes(self, name: str, axis: Any, keepdims: bool) -> None:
        x = normal(2, 3, 2)
        op = getattr(minigrad, name)
        expected = getattr(np, name)(x.numpy(), axis=axis, keepdims=keepdims)
        found = op(x, axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
        if not (axis == () and name in ("var", "std")):
            assert gradcheck(lambda x: op(x, axis=axis, keepdims=keepdims), x, directions=2)

    def test_transpose_with_negative_axes_and_a_tensor_beside_itself(self) -> None:
        x = normal(2, 3, 4)
        assert gradcheck(lambda x: x.transpose(-1, 0, -2), x, directions=2)
        assert gradcheck(lambda x: minigrad.concatenate([x, x * x, x], axis=-2), x, directions=2)


class TestIndexingAndMutation:
    def test_a_row_that_is_read_twice_gets_both(self) -> None:
        assert slope(lambda x: x[[0, 0, 1]], var([1.0, 2.0, 3.0])) == [2.0, 1.0, 0.0]

    @pytest.mark.parametrize(
        "index",
        [
            (slice(None), [0, 0, 2], None), (..., [1, 1]), ([0, 1], [2, 2]), ([0, 0], ..., [1, 1]),
            (slice(None, None, -2), None, 1), (np.array([[0, 1], [1, 1]]),), (-1, ..., None),
        ],
        ids=str,
    )  # fmt: skip
    def test_mixed_indices(self, index: Any) -> None:
        x = normal(2, 3, 4)
        np.testing.assert_array_equal(x[index].numpy(), x.numpy()[index])
        assert gradcheck(lambda x: x[index], x)

    def test_masks(self) -> None:
        x = normal(2, 3)
        for mask in (x.numpy() > 0, x > 0, np.array([True, False])):
            assert gradcheck(lambda x, mask=mask: x[mask], x)

    def test_thousands_of_reads_cost_what_they_read(self) -> None:
        """The buffer of the gradient is written in place: no read makes an array of its size."""
        x = minigrad.zeros(3000, 50, requires_grad=True)
        loss = sum(x[i].sum() for i in range(3000))
        tracemalloc.start()
        try:
            loss.backward()  # type: ignore[union-attr]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert x.grad is not None
        assert (x.grad.numpy() == 1).all()
        assert peak < 4 * x.numpy().nbytes

    def test_a_write_carries_both_gradients_and_the_last_one_wins(self) -> None:
        x, v = var([1.0, 2.0, 3.0]), var([5.0, 7.0])
        y = x * 1.0
        y[[0, 0]] = v
        assert y.tolist() == [7.0, 2.0, 3.0]
        found = grad((y * np.array([1.0, 10.0, 100.0])).sum(), [x, v])
        assert [g.tolist() for g in found] == [[0.0, 10.0, 100.0], [0.0, 1.0]]

    def test_in_place_on_a_view_reaches_the_base(self) -> None:
        x = minigrad.zeros(2, 3)
        view = x.T[1]
        view += 1.0
        assert x.tolist() == [[0.0, 1.0, 0.0]] * 2
        w = var([[1.0, 2.0]])
        base = w * 1.0
        base.T[0:1].mul_(3.0)
        assert base.tolist() == [[3.0, 2.0]]
        base.sum().backward()
        assert w.grad.tolist() == [[3.0, 1.0]]

    def test_in_place_after_the_value_was_saved(self) -> None:
        x = var([1.0, 2.0])
        y = minigrad.exp(x)
        with no_grad():
            y += 1.0
        with pytest.raises(RuntimeError, match="exp: .*output.* in place"):
            y.sum().backward()

    def test_the_callers_array_may_change_and_stays_writable(self) -> None:
        for function in (lambda x, a: x * a, lambda x, a: x @ a, lambda x, a: x**a, F.linear):
            array = np.array([[2.0, 3.0], [4.0, 5.0]])
            x = normal(2, 2)
            (expected,) = [g.numpy() for g in grad(function(x, array.copy()).sum(), [x])]
            y = function(x, array).sum()
            array[:] = 100.0
            np.testing.assert_array_equal(grad(y, x).numpy(), expected)
            assert array.flags.writeable


class TestInterplay:
    def test_numbers_and_arrays_on_the_left(self) -> None:
        x = var([1.0, 2.0], dtype=np.float32)
        for left in (np.array([1.0, 2.0]), np.float64(2.0), np.float32(2.0), 2.0):
            for y in (left * x, left + x, left - x, left / x):
                assert type(y) is Tensor
                assert y.requires_grad
            assert type(left > x) is Tensor

    @pytest.mark.parametrize(
        "function",
        [
            np.sin, np.sum, lambda x: np.concatenate([x, x]), lambda x: np.where(x > 0, x, 0.0),
            lambda x: np.matmul(x, x), lambda x: np.einsum("ij,jk->ik", x, x), np.linalg.inv,
            lambda x: np.stack([x, x]), lambda x: np.transpose(x), lambda x: np.mean(x, axis=0),
        ],
    )  # fmt: skip
    def test_numpy_functions_dispatch(self, function: Any) -> None:
        x = normal(2, 2)
        y = function(x)
        assert type(y) is Tensor
        assert y.requires_grad
        np.testing.assert_allclose(y.numpy(), function(x.numpy()))
        assert gradcheck(function, x)

    @pytest.mark.parametrize(
        ("pattern", "shapes"),
        [
            ("i,i->", [(3,), (3,)]), ("ii->", [(3, 3)]), ("ii->i", [(3, 3)]), ("ij->j", [(2, 3)]),
            ("...ij,...jk->...ik", [(2, 1, 2, 3), (4, 3, 2)]),
            ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]),
            ("ij,ij->i", [(2, 3), (2, 3)]), ("i,j->ij", [(2,), (3,)]),
        ],
    )  # fmt: skip
    def test_einsum(self, pattern: str, shapes: Any) -> None:
        inputs = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
        assert gradcheck(lambda *xs: minigrad.einsum(pattern, *xs), inputs)

    def test_it_behaves_as_a_python_object(self) -> None:
        t, other = var([1.0, 2.0]), var([1.0, 2.0])
        assert {t: "it"}[t] == "it"
        assert hash(t) != hash(other)
        assert t in [t, other]
        assert t in [t]
        assert len(t) == 2
        assert float(t[0]) == 1.0
        assert int(t[1]) == 2
        with pytest.raises(ValueError, match="ambiguous"):
            bool(t)
        for twin in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
            assert twin.tolist() == [1.0, 2.0]
            assert twin.requires_grad
            assert twin.is_leaf
            twin.data[0] = 5.0
        assert t.tolist() == [1.0, 2.0]


class TestOrdersAndMachinery:
    def test_the_third_derivative(self) -> None:
        x = var(2.0)
        y = x**4
        for expected in (32.0, 48.0, 48.0, 24.0):
            y = grad(y, x, create_graph=True)
            assert y.item() == expected

    def test_perturbation_confusion(self) -> None:
        def outer(x: Tensor) -> Tensor:
            return x * functional.grad(lambda y: x + y)(var(1.0))

        assert functional.grad(outer)(var(5.0)).item() == 1.0

    def test_a_chain_of_ten_thousand(self) -> None:
        x = var(1.0)
        y = x
        for _ in range(10_000):
            y = y + 0.0
        y.backward()
        assert x.grad is not None
        assert x.grad.item() == 1.0

    @pytest.mark.slow
    @pytest.mark.parametrize("then", ["dropped", "backward", "create_graph"])
    def test_graphs_are_freed_without_the_collector(self, then: str) -> None:
        gc.collect()
        gc.disable()
        try:
            x = normal(3)
            y = (minigrad.exp(x) * x).sum()
            node = weakref.ref(y._node)
            if then == "backward":
                y.backward()
            elif then == "create_graph":
                grad(grad(y, x, create_graph=True).sum(), x)
            del y
            assert node() is None
        finally:
            gc.enable()

    @pytest.mark.slow
    def test_memory_is_flat_over_training_steps(self) -> None:
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        optimizer = optim.Adam(model.parameters(), lr=1e-3)
        x = minigrad.randn(4, 8)

        def steps(count: int) -> None:
            for _ in range(count):
                optimizer.zero_grad()
                (model(x) ** 2).mean().backward()
                optimizer.step()

        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            steps(20)
            before, _ = tracemalloc.get_traced_memory()
            steps(300)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
        # One node is 500 bytes; Python's own free list of small tuples may fill up meanwhile.
        assert after - before < 300 * 200

    def test_an_exception_in_a_forward_leaves_no_state_behind(self) -> None:
        class Fails(nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                with no_grad():
                    return x @ minigrad.ones(7)

        for _ in range(2):
            with pytest.raises(ValueError, match=r"matmul.*\[in Fails\]"):
                Fails()(minigrad.ones(3, 2))
            assert minigrad.is_grad_enabled()
            with pytest.raises(ValueError, match="matmul") as caught:
                minigrad.ones(3, 2) @ minigrad.ones(7)
            assert "[in" not in str(caught.value)

    def test_no_grad_is_per_thread(self) -> None:
        inside, done = threading.Event(), threading.Event()
        seen: list[bool] = []

        def other() -> None:
            inside.wait(5)
            seen.append((var(1.0) * 2.0).requires_grad)
            done.set()

        thread = threading.Thread(target=other)
        thread.start()
        with no_grad():
            inside.set()
            assert done.wait(5)
            assert not (var(1.0) * 2.0).requires_grad
        thread.join()
        assert seen == [True]

    def test_nested_gradients_interleaved_in_two_threads(self) -> None:
        barrier = threading.Barrier(2, timeout=10)
        found: dict[int, float] = {}

        def work(k: int) -> None:
            def inner(y: Tensor) -> Tensor:
                barrier.wait()
                return y**3

            def outer(x: Tensor) -> Tensor:
                barrier.wait()
                return functional.grad(inner)(x) * k

            found[k] = functional.grad(outer)(var(2.0)).item()

        threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {1: 12.0, 2: 24.0}

    def test_eight_threads_differentiate_at_once(self) -> None:
        w = normal(4, 4)
        found: list[np.ndarray] = []

        def work(k: int) -> None:
            x = normal(4, 4, seed=k)
            for _ in range(20):
                h = minigrad.tanh(x @ w)
                found.append(grad((h * h).sum() / (k + 1), w).numpy() * (k + 1))

        def expected(k: int) -> np.ndarray:
            x = normal(4, 4, seed=k)
            return grad((minigrad.tanh(x @ w) ** 2).sum(), w).numpy()

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_allclose(sum(found), 20 * sum(expected(k) for k in range(8)))
