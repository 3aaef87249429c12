"""Corners of the products and the diagonals: ranks, dtypes, views; einsum in all its forms."""

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd import gradcheck

RANKS = [(), (3,), (2, 3), (4, 2, 3), (1, 4, 2, 3)]
OTHERS = [(), (3,), (3, 5), (2, 3, 5), (1, 2, 3, 5)]


def draw(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    return np.asarray(np.random.default_rng([5, *shape]).standard_normal(shape).astype(dtype))


@pytest.mark.parametrize(("left", "right"), [*itertools.product(RANKS, OTHERS)])
def test_dot_means_what_numpy_means_at_every_rank(left: Any, right: Any) -> None:
    a, b = draw(*left), draw(*right)
    for x, y in ((tensor(a), tensor(b)), (tensor(a), b), (a, tensor(b))):
        result = np.dot(x, y)
        assert type(result) is Tensor
        np.testing.assert_allclose(result.numpy(), np.dot(a, b), rtol=1e-13)
    np.testing.assert_allclose(ops.dot(tensor(a), b).numpy(), np.dot(a, b), rtol=1e-13)


def test_a_vector_times_itself() -> None:
    for call in (ops.dot, ops.inner, ops.vdot, ops.vecdot):
        x = Tensor([1.0, -2.0, 3.0], requires_grad=True)
        call(x, x).backward()
        assert x.grad.tolist() == [2.0, -4.0, 6.0]


# Einsum, in all its forms --------------------------------------------------------------------


def test_einsum_of_forms_that_the_samples_lack() -> None:
    """A label summed in one operand only, and a diagonal beside an ellipsis within."""
    for subscripts, *shapes in (("ij,jk->k", (2, 3), (3, 4)), ("b...ii->b...", (2, 3, 4, 4))):
        arrays = [draw(*shape) for shape in shapes]
        tensors = [tensor(array, requires_grad=True) for array in arrays]
        result = np.einsum(subscripts, *tensors)
        np.testing.assert_allclose(result.numpy(), np.einsum(subscripts, *arrays), rtol=1e-12)
        assert gradcheck(lambda *given, s=subscripts: ops.einsum(s, *given), tensors)


# Diagonals -----------------------------------------------------------------------------------


def test_a_diagonal_is_a_view() -> None:
    x = minigrad.zeros(3, 4)
    row = x.diagonal(1)
    assert np.shares_memory(row.numpy(), x.numpy())
    row += 2.0
    row[0] = 5.0
    assert x.tolist() == [[0, 5, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]]


def test_a_write_through_a_diagonal_is_seen_by_the_backward_pass() -> None:
    x = minigrad.ones(2, 2)
    w = minigrad.ones(2, 2, requires_grad=True)
    loss = (w * x).sum()
    x.diagonal()[0] = 7.0
    with pytest.raises(RuntimeError, match="multiply: .*written in place"):
        loss.backward()


def test_the_diagonal_of_a_read_only_view_is_read_only() -> None:
    view = minigrad.broadcast_to(minigrad.ones(3), (3, 3)).diagonal()
    with pytest.raises(RuntimeError, match="read-only"):
        view += 1.0


def test_cotangents_stay_on_their_diagonal() -> None:
    """Elsewhere is 0, also where the cotangent is infinite; overlapping reads add up."""
    x = minigrad.ones(2, 3, requires_grad=True)
    loss = (x.diagonal() * np.array([np.inf, 1.0])).sum() + x.trace() + x[0].sum()
    loss.backward()
    assert x.grad.tolist() == [[np.inf, 1.0, 1.0], [0.0, 2.0, 0.0]]


def test_an_outside_diagonal_is_empty() -> None:
    x = minigrad.ones(2, 3, requires_grad=True)
    assert x.diagonal(7).shape == (0,)
    assert ops.trace(x, -4).item() == 0.0
    ops.trace(x, -4).backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2
