"""Norms as numpy.linalg has them; singular values; integers, no elements, and what is written."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad
from minigrad.ops import linalg

INF = math.inf
ORDERS = [None, "fro", "nuc", 0, 0.5, 1, -1, 2, -2, 3, INF, -INF]
AXES = [None, 0, -1, (1,), (0, 1), (1, 0), (-1, 0), (2, 1), (0, 0), (0, 1, 2), 5, (0, 7)]


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([9, seed, *shape]).standard_normal(shape))


def leaf(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


@pytest.mark.parametrize("shape", [(), (4,), (3, 2), (2, 3, 4)])
@pytest.mark.parametrize("ord", ORDERS)
def test_norm_is_numpys(shape: tuple[int, ...], ord: Any) -> None:
    """Every order over every axis: the same number, or an error where NumPy has one."""
    for axis, keepdims in itertools.product(AXES, (False, True)):
        x = draw(*shape)
        try:
            wanted = np.linalg.norm(x, ord, axis, keepdims)
        except (ValueError, np.exceptions.AxisError):
            with pytest.raises(
                ValueError, match=r"^(\w+_)?(norm|min|max|sum): |^repeated axis in `norm`"
            ):
                linalg.norm(tensor(x), ord, axis, keepdims)
            continue
        found = np.linalg.norm(tensor(x), ord, axis, keepdims)
        assert type(found) is Tensor
        assert found.shape == np.shape(wanted)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, err_msg=f"{ord} over {axis}")


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, INF])
def test_the_gradient_of_a_norm_at_zero_is_zero(ord: Any) -> None:
    x = leaf(np.zeros((2, 3)))
    assert not grad(linalg.matrix_norm(x, ord=ord), x)[0].numpy().any()
    assert not grad(linalg.norm(x, ord), x)[0].numpy().any()


@pytest.mark.parametrize("ord", [1, -1, 2, -2, INF, -INF])
def test_ties_share_the_gradient(ord: Any) -> None:
    x = leaf(np.eye(2))
    assert grad(linalg.matrix_norm(x, ord=ord), x)[0].tolist() == [[0.5, 0.0], [0.0, 0.5]]


ROWS = np.array([[3, -4, 0.5], [0, 2, -3], [-1, 0, 0], [0, 0, 0], [-2, 1, 2], [4, 1, -1]])
"""Zeros, a norm of 1, no norm at all, and two greatest elements, or two least."""
ORDERS_OF_VECTORS = [0, 0.5, 1, 1.5, 2, 3, -1, -2, INF, -INF]


def slope_of_norm(x: np.ndarray, ord: float) -> np.ndarray:
    """sign(x) * (|x| / norm) ** (ord - 1); elements that are the norm share its slope."""
    size = np.absolute(x)
    if abs(ord) == INF:
        hit = size == (size.max() if ord > 0 else size.min())
        return np.sign(x) * hit / hit.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.sign(x) * (size / np.linalg.norm(x, ord)) ** (ord - 1)
    return np.where((x == 0) | (ord == 0), 0, slope)


@pytest.mark.parametrize("ord", ORDERS_OF_VECTORS)
def test_the_gradient_of_a_norm_is_its_formula(ord: float) -> None:
    """So is the second derivative: of orders from 2 on where an element is 0, too."""
    g = np.array([[2.0], [-0.5], [3.0], [5.0], [1.5], [-7.0]])
    slopes = g * [slope_of_norm(row, ord) for row in ROWS]
    kinks = ROWS == 0 if ord < 2 else ~ROWS.any(axis=1, keepdims=True)
    step = np.where(kinks, 0, [1e-6, -2e-6, 3e-6])
    ahead, behind = (np.array([slope_of_norm(r, ord) for r in ROWS + k * step]) for k in (1, -1))
    for keepdims in (False, True):
        x = leaf(ROWS)
        out = minigrad.norm(x, ord, 1, keepdims)
        (found,) = grad(out, x, tensor(g.reshape(out.shape)), create_graph=True)
        np.testing.assert_allclose(found.numpy(), slopes, rtol=1e-12)
        if 0 < abs(ord) < INF:
            second = grad((found * step).sum(), x)[0].numpy()
            np.testing.assert_allclose(second, (ahead - behind) / 2 * g, atol=1e-10)
    x = leaf([0.0, 0.0])
    assert grad(minigrad.norm(x, ord), x, tensor(INF))[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3)])
def test_of_nothing_the_greatest_size_is_zero_and_the_least_does_not_exist(shape: Any) -> None:
    x = tensor(np.zeros(shape), requires_grad=True)
    for ord in ("fro", "nuc", 1, 2, INF):
        found = linalg.matrix_norm(x, ord=ord)
        assert found.shape == shape[:-2]
        assert not found.numpy().any()
        assert grad(found.sum(), x)[0].shape == shape
    for ord in (-1, -2, -INF):
        if (ord != -1 or shape[-1] == 0) and (ord != -INF or shape[-2] == 0):
            with pytest.raises(ValueError, match=r"^min: "):
                linalg.matrix_norm(x, ord=ord)


# Singular values -----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [None, "fro", 1, 2, INF])
def test_the_condition_number_of_a_singular_matrix_is_infinite(p: Any) -> None:
    x = leaf([np.zeros((2, 2)), np.eye(2) * 2, np.diag([1.0, 0.0])])
    found = linalg.cond(x, p)
    assert np.isinf(found.numpy()).tolist() == [True, False, True]
    slope = grad(found[1], x)[0].numpy()
    assert np.isfinite(slope).all()
    assert not slope[[0, 2]].any()


def test_matrix_rank() -> None:
    stack = tensor([np.eye(3), np.ones((3, 3)), np.zeros((3, 3))], requires_grad=True)
    found = linalg.matrix_rank(stack)
    assert found.tolist() == [3, 1, 0]
    assert found.dtype == np.int64
    assert not found.requires_grad
    x = np.diag([1.0, 1e-3, 1e-6])
    assert linalg.matrix_rank(x).item() == 3
    assert linalg.matrix_rank(x, 1e-4).item() == linalg.matrix_rank(x, rtol=1e-4).item() == 2
    # In float32, what float32 cannot tell from rounding counts as zero.
    thirds = tensor(np.outer([1.0, 2.0, 3.0], [1 / 3, 2 / 3, 1 / 7]), dtype=np.float32)
    assert linalg.matrix_rank(thirds).item() == 1
    assert linalg.matrix_rank(np.ones(3)).item() == 1


# Linear algebra of integers, of matrices with no elements, and of what is written -----------------


SPREAD = np.array([[6.0, 1.0, 2.0], [-1.0, -9.0, 0.5], [0.3, 2.0, 14.0]])


def definite(x: Any) -> Any:
    return x @ x.swapaxes(-1, -2)


def first_column(x: Any) -> Any:
    return np.ones((*x.shape[:-1], 1)).astype(x.dtype) * x[..., :1, :1]


# Of square matrices, each to one array; NumPy's own is the reference.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "inv": lambda m, x: m.inv(x), "solve": lambda m, x: m.solve(x, first_column(x)),
    "det": lambda m, x: m.det(x), "slogdet": lambda m, x: m.slogdet(x)[1],
    "cholesky": lambda m, x: m.cholesky(definite(x)), "qr": lambda m, x: m.qr(x)[1],
    "eigh": lambda m, x: m.eigh(definite(x))[0], "eigvalsh": lambda m, x: m.eigvalsh(definite(x)),
    "svd": lambda m, x: m.svd(x, full_matrices=False)[1], "svdvals": lambda m, x: m.svdvals(x),
    "pinv": lambda m, x: m.pinv(x), "matrix_power": lambda m, x: m.matrix_power(x, -2),
    "multi_dot": lambda m, x: m.multi_dot([x.reshape(-1, 3), SPREAD.astype(x.dtype)]),
    "matrix_norm": lambda m, x: m.matrix_norm(x, ord="nuc"),
    "vector_norm": lambda m, x: m.vector_norm(x, axis=-1),
    "norm": lambda m, x: m.norm(x, 2, axis=(-2, -1)), "cond": lambda m, x: m.cond(x),
}  # fmt: skip
EVERY = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3, 0), (0, 0)])
def test_factors_without_elements(shape: tuple[int, ...]) -> None:
    for op in (linalg.qr, lambda x: linalg.svd(x, full_matrices=False)):
        x = tensor(np.zeros(shape), requires_grad=True)
        first, *_, last = op(x)
        assert (first @ last).shape == shape
        assert grad(first.sum() + last.sum(), x)[0].shape == shape


def test_the_input_is_left_as_it_was() -> None:
    """LAPACK works in place; what it works on is a copy."""
    for name, function in FUNCTIONS.items():
        array = np.array(SPREAD)
        x = tensor(array, requires_grad=True)
        function(linalg, x).sum().backward()
        function(linalg, array)
        np.testing.assert_array_equal(array, SPREAD, name)
        np.testing.assert_array_equal(x.numpy(), SPREAD, name)


@EVERY
def test_a_write_before_the_backward_pass_is_noticed(function: Any) -> None:
    """Right or refused: the gradient is that of the values before the write, or an error."""
    x = tensor(SPREAD, requires_grad=True)
    wanted = grad(function(linalg, x).sum(), x)[0].numpy()
    value = function(linalg, x)
    with minigrad.no_grad():
        x *= 3.0
    try:
        found = grad(value.sum(), x)[0].numpy()
    except RuntimeError as error:
        assert "written in place" in str(error)
    else:
        np.testing.assert_array_equal(found, wanted)
