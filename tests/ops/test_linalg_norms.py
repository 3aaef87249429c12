"""Norms as numpy.linalg has them, and what is told by singular values."""

import itertools
import math
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
