"""`minigrad.linalg` beside `torch.linalg`: what each call gives, and in which shape."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

torch = pytest.importorskip("torch")

Call = Callable[[Any, Callable[..., Any]], Any]


def numbers(*shape: int) -> np.ndarray:
    """Well-conditioned where it is a square matrix."""
    found = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        found += 3 * np.eye(shape[-1], dtype=np.float32)
    return found


def results(world: Any, call: Call) -> list[Any]:
    """The parts of what a call gives, as arrays."""
    made = lambda *shape: world.tensor(numbers(*shape))
    found = call(world.linalg, made)
    parts = found if isinstance(found, tuple) else (found,)
    return [part.detach().numpy() for part in parts]


CALLS: dict[str, Call] = {
    "norm, positional": lambda m, x: m.norm(x(2, 3, 4), 1, 2, True),
    "norm of matrices": lambda m, x: m.norm(x(2, 3, 4), "nuc", (0, 2), True),
    "norm, dim a list": lambda m, x: m.norm(x(2, 3, 4), dim=[0, 1]),
    "vector_norm, positional": lambda m, x: m.vector_norm(x(2, 3), 3, 0, True),
    "vector_norm, dim empty": lambda m, x: m.vector_norm(x(2, 3), dim=()),
    "matrix_norm, positional": lambda m, x: m.matrix_norm(x(2, 3, 4), "nuc", (0, 1), True),
    "cond": lambda m, x: m.cond(x(2, 3, 3), "fro"),
    "matrix_rank, tol": lambda m, x: m.matrix_rank(x(3, 3), 3.0),
    "matrix_rank, bounds": lambda m, x: m.matrix_rank(x(3, 3), atol=0.1, rtol=0.8),
    "solve, ambiguous": lambda m, x: m.solve(x(2, 2, 2), x(2, 2)),
    "solve, a matrix": lambda m, x: m.solve(A=x(2, 3, 3), B=x(3, 4)),
    "solve, left": lambda m, x: m.solve(x(3, 3), x(2, 3), left=False),
    "solve, left, stacked": lambda m, x: m.solve(x(2, 3, 3), x(2, 4, 3), left=False),
    "inv_ex of one": lambda m, x: m.inv_ex(x(3, 3), check_errors=True),
    "inv_ex, info": lambda m, x: m.inv_ex(0 * x(2, 3, 3)).info,
    "cholesky_ex, info": lambda m, x: m.cholesky_ex(-x(2, 3, 3)).info,
    "lu, singular": lambda m, x: m.lu(0 * x(3, 3)),
    "lu_factor_ex, info": lambda m, x: m.lu_factor_ex(x(2, 3, 1) @ x(2, 1, 3) * 0).info,
    "tensorsolve, dims": lambda m, x: m.tensorsolve(x(6, 6).reshape(6, 2, 3), x(2, 3), (0,)),
    "pinv, rcond": lambda m, x: m.pinv(x(3, 3), 0.8),
    "pinv, rtol of more": lambda m, x: m.pinv(x(3, 3), rtol=x(2) * 0 + 0.5),
    "pinv, atol": lambda m, x: m.pinv(x(2, 3, 4), atol=1.0),
    "pinv, both": lambda m, x: m.pinv(x(2, 3, 4), atol=0.1, rtol=0.5),
    "vander of integers": lambda m, x: m.vander(x(4).long()),
    "matrix_exp of large ones": lambda m, x: m.matrix_exp(x(4, 4) * 4),
    "matrix_exp of small ones": lambda m, x: m.matrix_exp(x(4, 4) / 1e3),
    "det": lambda m, x: m.det(A=x(2, 3, 3)),
    "slogdet": lambda m, x: m.slogdet(A=x(2, 3, 3)),
    "inv": lambda m, x: m.inv(A=x(2, 3, 3)),
    "eigvalsh": lambda m, x: m.eigvalsh(x(3, 3), "U"),
    "svdvals": lambda m, x: m.svdvals(A=x(3, 4)),
    "qr, r": lambda m, x: m.qr(x(3, 2), "r").Q,
    "lstsq, wide": lambda m, x: m.lstsq(x(2, 4), x(2, 1)),
}
"""Beside PyTorch's database of ops, which test_op_db_torch.py runs: order, names and corners."""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_a_call_gives(call: Call) -> None:
    ours, theirs = results(minigrad, call), results(torch, call)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


SPELLINGS: dict[str, tuple[Call, Call]] = {
    "norm": (lambda m, x: m.norm(x(2, 3), axis=1, keepdims=True), lambda m, x: m.norm(
        x(2, 3), dim=1, keepdim=True)),
    "vector_norm": (lambda m, x: m.vector_norm(x(2, 3), axis=1), lambda m, x: m.vector_norm(
        x(2, 3), dim=1)),
    "matrix_norm": (lambda m, x: m.matrix_norm(x(2, 3), keepdims=True),
                    lambda m, x: m.matrix_norm(x(2, 3), keepdim=True)),
    "cross": (lambda m, x: m.cross(x(3, 2), x(3, 2), axis=0), lambda m, x: m.cross(
        x(3, 2), x(3, 2), dim=0)),
    "vecdot": (lambda m, x: m.vecdot(x(3, 2), x(3, 2), axis=0), lambda m, x: m.vecdot(
        x(3, 2), x(3, 2), dim=0)),
}  # fmt: skip


@pytest.mark.parametrize(("numpys", "pytorchs"), SPELLINGS.values(), ids=SPELLINGS)
def test_numpys_words_mean_the_same(numpys: Call, pytorchs: Call) -> None:
    (one,), (other,) = results(minigrad, numpys), results(torch, pytorchs)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


WRONG: dict[str, Call] = {
    "cross of pairs": lambda m, x: m.cross(x(2), x(2)),
    "solve from the right, vectors": lambda m, x: m.solve(x(2, 3, 3), x(2, 3), left=False),
    "solve": lambda m, x: m.solve(x(3, 3), x(2, 3)),
    "norm of three axes": lambda m, x: m.norm(x(2, 3, 4), 2),
    "lstsq": lambda m, x: m.lstsq(x(3, 2), x(5, 3, 4)),
    "lstsq, driver": lambda m, x: m.lstsq(x(3, 2), x(3), driver="gelsx"),
    "vander": lambda m, x: m.vander(x(2)[0]),
    "matrix_exp": lambda m, x: m.matrix_exp(x(2, 3)),
    "lu": lambda m, x: m.lu(x(3)),
    "lu without pivots": lambda m, x: m.lu_factor_ex(x(3, 3), pivot=False),
    "lu_factor, singular": lambda m, x: m.lu_factor(0 * x(2, 3, 3)),
    "lu_solve": lambda m, x: m.lu_solve(*m.lu_factor(x(3, 4)), x(3, 2)),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_both_refuse(call: Call) -> None:
    for world in (minigrad, torch):
        with pytest.raises((ValueError, RuntimeError)):
            results(world, call)


def test_matrices_without_an_inverse_are_marked() -> None:
    x = minigrad.tensor([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]]])
    inverse, info = minigrad.linalg.inv_ex(x)
    assert info.tolist() == torch.linalg.inv_ex(torch.tensor(x.tolist())).info.tolist() == [2, 0]
    assert bool(minigrad.isnan(inverse[0]).all())
    assert inverse[1].tolist() == [[0.5, 0.0], [0.0, 0.25]]
    result, info = minigrad.linalg.solve_ex(x, minigrad.ones(2))
    assert (info.tolist(), result[1].tolist()) == ([2, 0], [0.5, 0.25])
    factor, info = minigrad.linalg.cholesky_ex(x)
    theirs = torch.linalg.cholesky_ex(torch.tensor(x.tolist())).info
    assert info.tolist() == theirs.tolist() == [2, 0]
    assert bool(minigrad.isnan(factor[0]).all())
    for function in (minigrad.linalg.inv_ex, minigrad.linalg.cholesky_ex):
        with pytest.raises(minigrad.linalg.LinAlgError):
            function(x, check_errors=True)


def test_numpys_functions_keep_numpys_meaning() -> None:
    a, b = numbers(2, 2, 2), numbers(2, 2)
    x = minigrad.tensor(a)
    np.testing.assert_allclose(np.linalg.solve(x, b).numpy(), np.linalg.solve(a, b), rtol=1e-5)
    assert np.linalg.qr(x, "r").shape == np.linalg.qr(a, "r").shape
    found = np.linalg.lstsq(minigrad.tensor(numbers(4, 2)), numbers(4), rcond=None)
    assert [part.shape for part in found] == [(2,), (1,), (), (2,)]
    assert np.linalg.norm(x, axis=(0, 1)).shape == (2,)
