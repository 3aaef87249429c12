"""Cholesky and QR: what they rebuild, which triangle is read, and where no derivative exists."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad, gradcheck
from minigrad.ops import linalg

sizes = st.tuples(st.integers(0, 2), st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([6, seed, *shape]).standard_normal(shape))


def definite(*shape: int, seed: int = 0) -> np.ndarray:
    x = draw(*shape, seed=seed)
    return np.asarray(x @ x.swapaxes(-1, -2) + np.eye(shape[-1]))


def leaf(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


# Cholesky ------------------------------------------------------------------------------------


def test_one_triangle_is_read_and_the_gradient_is_symmetric() -> None:
    x = definite(3, 3)
    along = draw(3, 3)
    wanted = grad((linalg.cholesky(leaf_x := leaf(x)) * along).sum(), leaf_x)[0].numpy()
    np.testing.assert_allclose(wanted, wanted.T, atol=1e-14)
    for upper in (False, True):
        other = np.tril(np.full((3, 3), 99.0), -1)
        spoiled = leaf(x - other if upper else x - other.T)
        factor = linalg.cholesky(spoiled, upper=upper)
        np.testing.assert_allclose(factor.numpy(), np.linalg.cholesky(x, upper=upper))
        weight = along.T if upper else along
        np.testing.assert_allclose(grad((factor * weight).sum(), spoiled)[0].numpy(), wanted)


def test_cotangents_above_the_diagonal_have_no_effect() -> None:
    x = leaf(definite(3, 3))
    junk = np.triu(draw(3, 3), 1)
    assert not grad((linalg.cholesky(x) * junk).sum(), x)[0].numpy().any()


def test_an_indefinite_matrix_is_named() -> None:
    with pytest.raises(np.linalg.LinAlgError, match=r"^cholesky: .*matrix.*\(1,\).*positive"):
        linalg.cholesky(leaf([np.eye(2), -np.eye(2), np.eye(2)]))
    with pytest.raises(np.linalg.LinAlgError, match=r"cholesky: the matrix .*\(2, 2\).*multiple"):
        linalg.cholesky(np.ones((2, 2)), upper=True)


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 1)])
def test_cholesky_of_nan_is_an_error(place: tuple[int, int]) -> None:
    x = np.stack([np.eye(2), np.eye(2)])
    x[1][place] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\) of the stack is not positive"):
        linalg.cholesky(x)


def test_cholesky_does_not_read_the_other_triangle() -> None:
    x = np.array([[4.0, np.nan], [0.0, 1.0]])
    assert linalg.cholesky(x).tolist() == [[2.0, 0.0], [0.0, 1.0]]
    assert linalg.cholesky(x.T, upper=True).tolist() == [[2.0, 0.0], [0.0, 1.0]]


# QR ------------------------------------------------------------------------------------------


@given(sizes)
def test_qr_rebuilds_its_matrix(size: tuple[int, int, int, int]) -> None:
    batch, m, n, seed = size
    x = tensor(draw(batch, m, n, seed=seed))
    k = min(m, n)
    for mode, columns in (("reduced", k), ("complete", m)):
        q, r = linalg.qr(x, mode)
        assert q.shape == (batch, m, columns)
        assert r.shape == (batch, columns, n)
        np.testing.assert_allclose((q @ r).numpy(), x.numpy(), atol=1e-12)
        unit = np.broadcast_to(np.eye(columns), (batch, columns, columns))
        np.testing.assert_allclose((q.mT @ q).numpy(), unit, atol=1e-12)
        assert not np.tril(r.numpy(), -1).any()
    np.testing.assert_array_equal(linalg.qr(x, mode="r").numpy(), linalg.qr(x).R.numpy())


def test_cotangents_below_the_diagonal_of_r_have_no_effect() -> None:
    for shape in ((3, 3), (4, 2), (2, 4)):
        x = leaf(draw(*shape))
        r = linalg.qr(x).R
        assert not grad((r * np.tril(draw(*r.shape), -1)).sum(), x)[0].numpy().any()


@pytest.mark.parametrize(
    "x",
    [
        np.ones((3, 2)),
        np.zeros((2, 2)),
        np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0]]),
        np.array([[0.1, 0.3], [0.2, 0.6], [0.7, 2.1]]),  # dependent but for rounding
    ],
    ids=["tall", "zero", "wide", "rounding"],
)
def test_dependent_columns_have_no_derivative(x: np.ndarray) -> None:
    variable = leaf(x)
    q, r = linalg.qr(variable)
    np.testing.assert_allclose((q @ r).numpy(), x, atol=1e-15)
    for create_graph in (False, True):
        for part in linalg.qr(variable):
            with pytest.raises(np.linalg.LinAlgError, match="^qr: .*2.*columns.*matrix.*dependent"):
                grad(part.sum(), variable, retain_graph=True, create_graph=create_graph)


def test_dependent_columns_that_are_not_used_are_no_trouble() -> None:
    x = leaf([np.ones((2, 2)), [[3.0, 1.0], [4.0, 2.0]], np.zeros((2, 2))])
    for create_graph in (False, True):
        slope = grad(linalg.qr(x).R[1].sum(), x, create_graph=create_graph)[0].numpy()
        assert not slope[::2].any()
        alone = leaf(x.numpy()[1])
        np.testing.assert_allclose(slope[1], grad(linalg.qr(alone).R.sum(), alone)[0].numpy())


def test_the_complete_mode_has_no_derivative_where_it_has_more_columns() -> None:
    x = leaf(draw(3, 2))
    with pytest.raises(TypeError, match=r"^qr: mode='complete' .*\(3, 2\).*'reduced'.*detach"):
        linalg.qr(x, mode="complete")
    assert linalg.qr(x.detach(), mode="complete").Q.shape == (3, 3)
    with minigrad.no_grad():
        assert not linalg.qr(x, mode="complete").R.requires_grad
    assert gradcheck(lambda x: list(linalg.qr(x, mode="complete")), leaf(draw(2, 3)))
