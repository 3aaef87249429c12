"""Inverses, determinants, linear systems, least squares, powers and chains: corners."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad
from minigrad.ops import linalg


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([4, seed, *shape]).standard_normal(shape))


def leaf(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


def test_a_singular_matrix_is_named() -> None:
    stack = np.stack([np.eye(2), np.ones((2, 2))])[None]
    with pytest.raises(np.linalg.LinAlgError, match=r"^inv: .*matrix \(0, 1\).*singular"):
        linalg.inv(stack)
    with pytest.raises(np.linalg.LinAlgError, match=r"^inv: the matrix is singular.*pinv"):
        linalg.inv(leaf(np.zeros((3, 3))))
    with pytest.raises(
        np.linalg.LinAlgError, match=r"^solve: .*\(2, 2\).*\(2,\).*matrix.*singular.*lstsq"
    ):
        linalg.solve(leaf(np.ones((2, 2))), np.ones(2))
    with pytest.raises(ValueError, match="singular"):  # LinAlgError is one
        linalg.matrix_power(np.ones((2, 2)), -1)


# Least squares -------------------------------------------------------------------------------


def test_pinv_counts_as_zero_what_rtol_says() -> None:
    x = np.diag([1.0, 1e-3])
    assert linalg.pinv(x)[1, 1].item() == pytest.approx(1e3)
    assert linalg.pinv(x, 1e-2)[1, 1].item() == 0.0
    rank_one = np.outer([1.0, 2.0, 3.0], [1.0, -1.0]).astype(np.float32)
    found = linalg.pinv(rank_one)  # what rounding left of the second singular value is dropped
    np.testing.assert_allclose(found.numpy(), rank_one.T / (14 * 2), atol=1e-6)


def test_pinv_where_the_rank_is_not_full_differentiates_among_matrices_of_its_rank() -> None:
    """Scaling keeps the rank: pinv(c x) = pinv(x) / c."""
    x = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    c = leaf(2.0)
    along = draw(2, 3)
    slope = grad((linalg.pinv(c * x) * along).sum(), c)[0].item()
    assert slope == pytest.approx(-(np.linalg.pinv(x) * along).sum() / 4)


def test_lstsq_is_numpys() -> None:
    for a, b in [
        (draw(5, 2), draw(5)), (draw(5, 2), draw(5, 3)), (draw(2, 4), draw(2, 3)),
        (draw(3, 3), draw(3)), (np.ones((4, 2)), draw(4)),
    ]:  # fmt: skip
        ours, theirs = linalg.lstsq(tensor(a), b), np.linalg.lstsq(a, b, rcond=None)
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == np.shape(other)
            np.testing.assert_allclose(one.numpy(), other, atol=1e-12)
        assert ours._fields == ("solution", "residuals", "rank", "singular_values")


# Powers and chains ---------------------------------------------------------------------------


def test_the_power_zero_is_constant_but_has_a_gradient() -> None:
    x = leaf([[0.0, np.inf], [1.0, 2.0]])
    value = linalg.matrix_power(x, 0)
    assert value.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert grad(value.sum(), x)[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_first_power_has_memory_of_its_own() -> None:
    x = minigrad.ones(2, 2)
    linalg.matrix_power(x, 1)[0, 0] = 5.0
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_chain_is_multiplied_in_the_cheapest_order() -> None:
    """(10, 100) (100, 5) (5, 50): first the left pair, which makes 7,500 products, not 75,000."""
    chain = [tensor(draw(10, 100), requires_grad=True), draw(100, 5), draw(5, 50)]
    result = linalg.multi_dot(chain)
    assert result._node.edges[0].shape == (10, 5)
    chain = [tensor(draw(50, 5), requires_grad=True), draw(5, 100), draw(100, 10)]
    assert linalg.multi_dot(chain)._node.edges[0] is chain[0]._node


# Determinants -------------------------------------------------------------------------------------


def of_rank(rank: int, n: int, seed: int = 0) -> np.ndarray:
    return np.asarray(draw(n, rank, seed=seed) @ draw(rank, n, seed=seed))


def by_permutations(x: Any) -> Any:
    """The determinant by its definition: a polynomial, whose every derivative is plain."""
    n, total = x.shape[-1], 0.0
    for order in itertools.permutations(range(n)):
        sign = round(np.linalg.det(np.eye(n)[list(order)]))
        product = sign
        for row, column in enumerate(order):
            product = product * x[row, column]
        total = total + product
    return total


def derivatives(function: Any, values: np.ndarray, orders: int) -> list[np.ndarray]:
    """The gradient, and again and again the gradient of its product with a fixed matrix."""
    x, found = leaf(values), []
    out = function(x)
    for k in range(orders):
        (slope,) = grad(out, x, create_graph=True)
        found.append(slope.numpy().copy())
        out = (slope * draw(*x.shape, seed=k + 50)).sum()
    return found


@pytest.mark.parametrize(("n", "rank"), [(n, rank) for n in (2, 3, 4) for rank in range(n + 1)])
def test_every_derivative_is_that_of_the_polynomial(n: int, rank: int) -> None:
    values = of_rank(rank, n)
    ours = derivatives(linalg.det, values, n)
    exact = derivatives(by_permutations, values, n)
    for one, other in zip(ours, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_singular_is_said_of_a_matrix_and_not_of_its_scale() -> None:
    for scale in (1e-12, 1e12):
        values = of_rank(2, 3)
        both = (derivatives(det, values * scale, 2) for det in (linalg.det, by_permutations))
        for one, other in zip(*both, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12 * np.abs(other).max())


def test_nearly_singular() -> None:
    """The determinant is far below rounding; its gradient is not."""
    u, _ = np.linalg.qr(draw(4, 4))
    x = leaf(u @ np.diag([3.0, 2.0, 1.0, 1e-17]) @ u.T)
    for create_graph in (False, True):
        found = grad(linalg.det(x), x, create_graph=create_graph)[0].numpy()
        np.testing.assert_allclose(found, 6.0 * np.outer(u[:, 3], u[:, 3]), atol=1e-13)


def test_cofactors_of_rows_of_all_sizes_are_precise_element_by_element() -> None:
    """Those of ``diag(d) x`` are those of `x`, each row times the product of the other d."""
    sizes = np.array([[1e-9], [1.0], [1e9]])
    for x in (draw(3, 3), draw(3, 3)[[1, 0, 2]]):  # their determinants have opposite signs
        variable = leaf(sizes * x)
        wanted = derivatives(by_permutations, x, 1)[0] / sizes
        (found,) = grad(linalg.det(variable), variable)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's determinant
@pytest.mark.parametrize(
    ("dtype", "diagonal"),
    [
        (np.float64, (1e-200, 1e-200)),  # the determinant is below all numbers
        (np.float64, (1e-160, 1e-160)),  # it has lost its digits
        (np.float64, (1e200, 1e200)),  # it is above all numbers
        (np.float64, (1.0, 1e-310)),  # an element of the inverse is
        (np.float32, (1e-30, 1e-30)),
        (np.float32, (1e30, 1e30)),
        (np.float16, (100.0, 1e-5)),
    ],
)
def test_cofactors_in_range_of_what_is_out_of_range(dtype: Any, diagonal: Any) -> None:
    x = tensor(np.diag(diagonal), dtype=dtype, requires_grad=True)
    found = grad(linalg.det(x), x)[0].numpy()
    np.testing.assert_allclose(found, np.diag(np.diag(x.numpy())[::-1]), rtol=1e-6)


def test_a_larger_matrix_without_one_rank() -> None:
    """A polynomial in all 900 elements would lose every digit: higher orders are refused."""
    u, _ = np.linalg.qr(draw(30, 30))
    v, _ = np.linalg.qr(draw(30, 30, seed=1))
    values = np.linspace(1.0, 2.0, 30)
    values[4] = 0.0
    x = leaf(u * values @ v.T)
    others = np.prod(np.delete(values, 4)) * np.linalg.det(u) * np.linalg.det(v)
    wanted = others * np.outer(u[:, 4], v[:, 4])
    found = grad(linalg.det(x), x)[0].numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-12 * abs(others))
    with pytest.raises(np.linalg.LinAlgError, match=r"^det: the matrix is singular .*8 × 8"):
        grad(linalg.det(x), x, create_graph=True)
    regular = leaf(u * (values + 1) @ v.T)
    found = grad(linalg.det(regular), regular, create_graph=True)[0].detach().numpy()
    np.testing.assert_allclose(found, grad(linalg.det(regular), regular)[0].numpy(), rtol=1e-9)


@pytest.mark.parametrize("shape", [(8, 8), (9, 2, 2)])
def test_singular_matrices_of_at_most_eight_rows_have_all_orders(shape: tuple[int, ...]) -> None:
    x = leaf(np.broadcast_to(np.diag(np.arange(shape[-1]) + 0.0), shape).copy())
    slope = grad(linalg.det(x).sum(), x, create_graph=True)[0]
    others = math.factorial(shape[-1] - 1)
    np.testing.assert_allclose(slope[..., 0, 0].detach().numpy(), others)
    curved = grad(slope[..., 0, 0].sum(), x)[0]
    np.testing.assert_allclose(curved[..., -1, -1].numpy(), others / (shape[-1] - 1))


def test_nan_stays_in_its_matrix() -> None:
    x = leaf([[[1.0, 2.0], [3.0, 4.0]], [[np.nan, 1.0], [1.0, 1.0]]])
    value = linalg.det(x)
    assert np.isnan(value.numpy()).tolist() == [False, True]
    for create_graph in (True, False):
        slope = grad(value.sum(), x, retain_graph=True, create_graph=create_graph)[0].numpy()
        np.testing.assert_allclose(slope[0], [[4.0, -3.0], [-2.0, 1.0]])
        assert np.isnan(slope[1]).all()


@pytest.mark.parametrize("place", [(0, 0), (1, 1), slice(None)])
def test_nan_is_not_taken_for_singular(place: Any) -> None:
    """As LAPACK takes it, depending on its position."""
    x = leaf(np.stack([np.ones((2, 2)) + np.eye(2)] * 2))
    x.data[(0, *place) if isinstance(place, tuple) else 0] = np.nan
    for op in (linalg.det, linalg.inv, lambda x: linalg.solve(x, [1.0, 2.0])):
        value = op(x).numpy()
        assert np.isnan(value[0]).any()
        assert np.isfinite(value[1]).all()
    sign, logabsdet = linalg.slogdet(x)
    assert np.isnan([sign.numpy()[0], logabsdet.numpy()[0]]).all()
    slope = grad(logabsdet.sum(), x)[0].numpy()
    assert np.isnan(slope[0]).any()
    assert np.isfinite(slope[1]).all()
    x.data[1] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\) .*singular"):
        linalg.inv(x)


# slogdet -------------------------------------------------------------------------------------


def test_slogdet_beyond_the_range_of_floats() -> None:
    for scale, sign in ((1e-30, 1.0), (-1e30, -1.0)):
        x = tensor(scale * np.eye(101), dtype=np.float32, requires_grad=True)
        found = linalg.slogdet(x)
        assert found.sign.item() == sign
        assert found.logabsdet.item() == pytest.approx(101 * np.log(abs(scale)), rel=1e-6)
        slope = grad(found.logabsdet, x)[0].numpy()
        np.testing.assert_allclose(slope, np.eye(101) / scale, rtol=1e-6)


def test_the_sign_is_a_constant() -> None:
    sign, logabsdet = linalg.slogdet(leaf([[0.0, 1.0], [2.0, 0.0]]))
    assert not sign.requires_grad
    assert logabsdet.requires_grad
    assert (sign.item(), logabsdet.item()) == (-1.0, pytest.approx(np.log(2.0)))


def test_slogdet_of_a_singular_matrix() -> None:
    x = leaf([np.eye(2), np.ones((2, 2))])
    sign, logabsdet = linalg.slogdet(x)
    assert sign.tolist() == [1.0, 0.0]
    assert logabsdet.tolist() == [0.0, -np.inf]
    for create_graph in (False, True):
        with pytest.raises(np.linalg.LinAlgError, match=r"^slogdet: .*matrix.*\(1,\).*singular"):
            grad(linalg.slogdet(x).logabsdet.sum(), x, create_graph=create_graph)


def test_a_singular_matrix_that_is_not_used_is_no_trouble() -> None:
    """The where trap: a zero cotangent meets an infinite slope."""
    x = leaf([np.eye(2), np.ones((2, 2)), 2 * np.eye(2)])
    for create_graph in (False, True):
        sign, logabsdet = linalg.slogdet(x)
        used = minigrad.where(sign.numpy() != 0, logabsdet, 0.0)
        (slope,) = grad(used.sum(), x, create_graph=create_graph)
        np.testing.assert_array_equal(slope.numpy(), np.eye(2) * np.reshape([1, 0, 0.5], (3, 1, 1)))
        if create_graph:
            (second,) = grad((slope * slope).sum(), x)
            np.testing.assert_allclose(second.numpy()[0], -2 * np.eye(2))
            assert not second.numpy()[1].any()
