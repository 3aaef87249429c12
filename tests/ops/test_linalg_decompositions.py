"""What factors and spectra rebuild, which triangle is read, and where no derivative exists."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad, gradcheck, gradgradcheck
from minigrad.ops import linalg

LinAlgError = np.linalg.LinAlgError
sizes = st.tuples(st.integers(0, 2), st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([6, seed, *shape]).standard_normal(shape))


def definite(*shape: int, seed: int = 0) -> np.ndarray:
    x = draw(*shape, seed=seed)
    return np.asarray(x @ x.swapaxes(-1, -2) + np.eye(shape[-1]))


def leaf(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


# Cholesky ------------------------------------------------------------------------------------


def test_cholesky_reads_one_triangle_and_its_gradient_is_symmetric() -> None:
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
    with pytest.raises(LinAlgError, match=r"^cholesky: .*matrix.*\(1,\).*positive"):
        linalg.cholesky(leaf([np.eye(2), -np.eye(2), np.eye(2)]))
    with pytest.raises(LinAlgError, match=r"cholesky: the matrix .*\(2, 2\).*multiple"):
        linalg.cholesky(np.ones((2, 2)), upper=True)


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 1)])
def test_cholesky_of_nan_is_an_error(place: tuple[int, int]) -> None:
    x = np.stack([np.eye(2), np.eye(2)])
    x[1][place] = np.nan
    with pytest.raises(LinAlgError, match=r"matrix \(1,\) of the stack is not positive"):
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
        np.stack([np.ones(100), 1 + 1e-14 * np.tile([1, -1], 50)], axis=1),
    ],
    ids=["tall", "zero", "wide", "rounding", "rounding of many rows"],
)
def test_dependent_columns_have_no_derivative(x: np.ndarray) -> None:
    variable = leaf(x)
    q, r = linalg.qr(variable)
    np.testing.assert_allclose((q @ r).numpy(), x, atol=1e-15)
    for create_graph in (False, True):
        for part in linalg.qr(variable):
            with pytest.raises(LinAlgError, match="^qr: .*2.*columns.*matrix.*dependent"):
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


# Eigenvalues ---------------------------------------------------------------------------------


def turned(*values: float) -> np.ndarray:
    """A symmetric matrix with these eigenvalues, and no zeros to make it easy."""
    q, _ = np.linalg.qr(draw(len(values), len(values)))
    return np.asarray(q @ np.diag(values) @ q.T)


def symmetric(x: Any) -> Any:
    return (x + x.swapaxes(-1, -2)) / 2


def test_eigh_reads_one_triangle_and_its_gradient_is_symmetric() -> None:
    x, along = turned(1.0, 2.0, 4.0), draw(3, 3)

    def loss(x: Any, **options: Any) -> Any:
        values, vectors = linalg.eigh(x, **options)
        return ((vectors * np.exp(values)[..., None, :] @ vectors.mT) * along).sum()

    plain = leaf(x)
    wanted = grad(loss(plain), plain)[0].numpy()
    np.testing.assert_allclose(wanted, wanted.T, atol=1e-13)
    for triangle, junk in (("L", np.triu), ("U", np.tril)):
        spoiled = leaf(x + junk(np.full((3, 3), 99.0)) - np.diag([99.0] * 3))
        found = grad(loss(spoiled, UPLO=triangle), spoiled)[0].numpy()
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        only = grad(linalg.eigvalsh(spoiled, triangle)[0], spoiled)[0].numpy()
        alone = grad(linalg.eigvalsh(plain)[0], plain)[0].numpy()
        np.testing.assert_allclose(only, alone, atol=1e-12)


@pytest.mark.parametrize("x", [np.eye(3), turned(2.0, 2.0, 5.0)], ids=["identity", "turned"])
def test_equal_eigenvalues_have_gradients(x: np.ndarray) -> None:
    """Of what treats them alike: the sum of their cubes is the trace of the cube."""
    for values in (linalg.eigvalsh, lambda x: linalg.eigh(x).eigenvalues):
        variable = leaf(x)
        (slope,) = grad((values(variable) ** 3).sum(), variable)
        np.testing.assert_allclose(slope.numpy(), 3 * x @ x, atol=1e-12)


@pytest.mark.parametrize("x", [np.eye(3), turned(2.0, 2.0, 5.0)], ids=["identity", "turned"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_vectors_of_equal_eigenvalues_have_none(x: np.ndarray, create_graph: bool) -> None:
    variable = leaf(x)
    _, vectors = linalg.eigh(variable)
    with pytest.raises(LinAlgError, match=r"^eigh: eigenvalues 0 and 1 .*equal.*\([12].*eigvalsh"):
        grad((vectors * draw(3, 3)).sum(), variable, create_graph=create_graph)


def test_second_derivatives_of_equal_eigenvalues_are_refused() -> None:
    x = leaf(np.eye(2))
    (slope,) = grad((linalg.eigvalsh(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(LinAlgError, match="^eigh: eigenvalues 0 and 1 .* a second one does$"):
        grad((slope * draw(2, 2)).sum(), x)


def test_a_vector_of_its_own_eigenvalue_has_a_derivative_beside_equal_ones() -> None:
    """The leading direction of a matrix of rank 1, as in principal components."""

    def projector(x: Any) -> Any:
        top = linalg.eigh(symmetric(x)).eigenvectors[:, -1:]
        return top @ top.mT

    x = leaf(turned(0.0, 0.0, 0.0, 3.0))
    assert gradcheck(projector, x)
    with pytest.raises(LinAlgError, match="^eigh: eigenvalues 0 and 1 "):
        gradgradcheck(projector, x)
    x = leaf(turned(0.0, 1.0, -2.0, 3.0))
    assert gradgradcheck(projector, x)


def test_the_matrix_of_a_stack_is_named() -> None:
    x = leaf([np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 4.0, 4.0])])
    _, vectors = linalg.eigh(x)
    with pytest.raises(LinAlgError, match=r"^eigh: eigenvalues 1 and 2 .*\(1,\).*equal"):
        grad((vectors * draw(3, 3)).sum(), x)
    _, vectors = linalg.eigh(x)
    slope = grad((vectors[0] * draw(3, 3)).sum(), x)[0].numpy()
    assert slope[0].any()
    assert not slope[1].any()


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
@pytest.mark.parametrize("greatest", [1.0, -1.0])
def test_equal_to_rounding_is_told_by_the_greatest_and_the_side(
    greatest: float, scale: float
) -> None:
    """Of ten eigenvalues, two are told apart from a gap of ten roundings of the greatest on."""
    eps = float(np.finfo(float).eps)
    along = draw(10, 10)
    others = np.linspace(0.1, 0.5, 7)
    for gap, refused in ((8 * eps, True), (12 * eps, False)):
        values = np.sort([greatest, *others, 0.05, 0.05 + gap])
        # In front of it in a stack, and behind it, what must not count: much less, and much more.
        stack = np.stack([np.diag(values) * size * scale for size in (1e-9, 1.0, 1e9)])
        x = leaf(stack)
        vectors = linalg.eigh(x).eigenvectors[1]
        if refused:
            with pytest.raises(LinAlgError, match=r"^eigh: .*eigenvalues.*matrix.*\(1,\)"):
                grad((vectors * along).sum(), x)
        else:
            slope = grad((vectors * along).sum(), x)[0].numpy()
            assert np.isfinite(slope).all()
            assert slope[1].any()


def test_nearly_equal_eigenvalues_are_told_apart_as_far_as_numbers_go() -> None:
    c = draw(2, 2)

    def loss(x: Any) -> Any:
        values, vectors = linalg.eigh(x)
        return ((vectors * values[None, :] ** 2 @ vectors.mT) * c).sum()

    for gap in (1e-3, 1e-6, 1e-9):
        x = leaf(turned(1.0, 1.0 + gap))
        wanted = 2 * symmetric(x.numpy() @ symmetric(c))  # of tr(x² c), for symmetric changes
        np.testing.assert_allclose(grad(loss(x), x)[0].numpy(), wanted, atol=1e-14 / gap)


@pytest.mark.needs("torch")
def test_the_gradient_of_eigh_is_the_symmetric_part_of_pytorchs() -> None:
    """For a loss that depends on more than a basis, theirs is not symmetric; the matrix is."""
    import torch

    values, along = symmetric(draw(4, 4)), draw(4, 4, seed=1)
    x, y = leaf(values), torch.tensor(values, requires_grad=True)
    ours, theirs = linalg.eigh(x), torch.linalg.eigh(y)
    signs = np.sign((ours.eigenvectors.numpy() * theirs.eigenvectors.detach().numpy()).sum(0))
    loss = (ours.eigenvectors * (signs * along)).sum() + (ours.eigenvalues * along[0]).sum()
    reference = (theirs.eigenvectors * torch.tensor(along)).sum()
    (reference + (theirs.eigenvalues * torch.tensor(along[0])).sum()).backward()
    np.testing.assert_allclose(grad(loss, x)[0].numpy(), symmetric(y.grad).numpy(), rtol=1e-8)


# Singular values -----------------------------------------------------------------------------


@given(sizes)
def test_svd_rebuilds_its_matrix(size: tuple[int, int, int, int]) -> None:
    batch, m, n, seed = size
    x = tensor(draw(batch, m, n, seed=seed))
    u, s, vh = linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose((u * s[..., None, :] @ vh).numpy(), x.numpy(), atol=1e-12)
    np.testing.assert_allclose(linalg.svdvals(x).numpy(), s.numpy(), atol=1e-12)
    full = linalg.svd(x)
    assert (full.U.shape, full.Vh.shape) == ((batch, m, m), (batch, n, n))
    np.testing.assert_allclose(full.S.numpy(), s.numpy(), atol=1e-12)


def test_only_the_reduced_form_of_a_rectangle_has_a_derivative() -> None:
    x = leaf(draw(3, 2))
    with pytest.raises(
        TypeError, match=r"^svd: full_matrices=True .*\(3, 2\).*full_matrices=False"
    ):
        linalg.svd(x)
    assert linalg.svd(x.detach()).U.shape == (3, 3)
    with minigrad.no_grad():
        assert not linalg.svd(x).S.requires_grad
    assert linalg.svd(x, compute_uv=False).requires_grad
    assert linalg.svd(leaf(draw(3, 3))).U.requires_grad


@pytest.mark.parametrize("create_graph", [False, True])
def test_vectors_of_equal_singular_values_have_no_derivative(create_graph: bool) -> None:
    for x in (np.eye(2), np.eye(3)[:, :2], 2 * np.eye(4)[:2], np.zeros((2, 2))):
        variable = leaf(x)
        parts = linalg.svd(variable, full_matrices=False)
        for part in (parts.U, parts.Vh):
            loss = (part * draw(*part.shape)).sum()
            with pytest.raises(LinAlgError, match="^svd: singular values 0 and 1 .*equal.*svdvals"):
                grad(loss, variable, retain_graph=True, create_graph=create_graph)


def test_the_longer_vectors_of_zero_have_no_derivative() -> None:
    """Of a tall matrix without full rank, U is not determined; of a square one, it is."""
    tall = leaf(np.outer([1.0, 2.0, 3.0], [1.0, -1.0]) + 0.0)
    u, s, vh = linalg.svd(tall, full_matrices=False)
    with pytest.raises(LinAlgError, match="^svd: .*singular value .* 0 .*3.*2"):
        grad((u * draw(3, 2)).sum(), tall, retain_graph=True)
    leading = (u[:, :1] * s[0] @ vh[:1]).sum()  # what belongs to the other one is not touched
    assert np.isfinite(grad(leading, tall)[0].numpy()).all()
    wide = leaf(tall.numpy().T)
    with pytest.raises(LinAlgError, match="^svd: .*singular value .*2.*3"):
        grad((linalg.svd(wide, full_matrices=False).Vh * draw(2, 3)).sum(), wide)

    def null_space(x: Any) -> Any:
        u, _, _ = linalg.svd(x)
        return u[:, -1:] @ u[:, -1:].mT

    def row_null_space(x: Any) -> Any:
        _, _, vh = linalg.svd(x)
        return vh[-1:].mT @ vh[-1:]

    square = leaf([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 3.0, 4.0]])
    assert gradcheck(null_space, square)
    assert gradcheck(row_null_space, square)


def test_the_matrix_without_full_rank_is_named() -> None:
    x = leaf([draw(3, 2), draw(3, 2, seed=1), np.outer([1.0, 2.0, 3.0], [1.0, -1.0])])
    with pytest.raises(LinAlgError, match=r"singular value of matrix \(2,\) .*0"):
        grad((linalg.svd(x, full_matrices=False).U * draw(3, 2)).sum(), x)


def test_equal_singular_values_have_gradients() -> None:
    """Of what treats them alike: the sum of their squares is that of the elements."""
    for x in (np.eye(3), draw(3, 3) * 0, np.linalg.qr(draw(4, 2))[0]):
        for values in (linalg.svdvals, lambda x: linalg.svd(x, full_matrices=False).S):
            variable = leaf(x)
            (slope,) = grad((values(variable) ** 2).sum(), variable)
            np.testing.assert_allclose(slope.numpy(), 2 * x, atol=1e-12)


def test_the_slope_of_a_singular_value_at_zero_is_zero() -> None:
    x = leaf(np.zeros((2, 3)))
    for values in (linalg.svdvals(x), linalg.svd(x, full_matrices=False).S):
        assert not grad(values.sum(), x)[0].numpy().any()


def test_a_stack_in_which_one_matrix_has_equal_values_and_is_not_used() -> None:
    x = leaf([np.eye(2), np.diag([1.0, 3.0])])
    u, _, _ = linalg.svd(x)
    slope = grad((u[1] * draw(2, 2)).sum(), x)[0].numpy()
    assert slope[1].any()
    assert not slope[0].any()


def test_integers_beside_factors_receive_no_gradient() -> None:
    x = minigrad.eye(2, requires_grad=True)
    for part in (*minigrad.linalg.lu_factor_ex(x)[1:], minigrad.frexp(x).exponent):
        assert not part.requires_grad
