"""Eigenvalues and singular values: what is said where some are equal."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad, gradcheck, gradgradcheck
from minigrad.ops import linalg

LinAlgError = np.linalg.LinAlgError


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([8, seed, *shape]).standard_normal(shape))


def turned(*values: float) -> np.ndarray:
    """A symmetric matrix with these eigenvalues, and no zeros to make it easy."""
    q, _ = np.linalg.qr(draw(len(values), len(values)))
    return np.asarray(q @ np.diag(values) @ q.T)


def leaf(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


def symmetric(x: Any) -> Any:
    return (x + x.swapaxes(-1, -2)) / 2


# Eigenvalues ---------------------------------------------------------------------------------


def test_one_triangle_is_read_and_the_gradient_is_symmetric() -> None:
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


# Singular values -----------------------------------------------------------------------------


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
