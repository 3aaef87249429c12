"""Inverses, linear systems, least squares, powers and chains: properties and corners."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad
from minigrad.ops import linalg


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng([3, seed, *shape]).standard_normal(shape))


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
