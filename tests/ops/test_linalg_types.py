"""Linear algebra of integers, of matrices with no elements, and of what is written."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import tensor
from minigrad.autograd import grad
from minigrad.ops import linalg

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
