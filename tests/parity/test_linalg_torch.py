"""Linear algebra against PyTorch: losses that no sign and no basis changes, to the second order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

import minigrad
import minigrad.torch as door
from minigrad import tensor
from minigrad.autograd import grad


def symmetric(x: Any) -> Any:
    return (x + x.mT) / 2


def definite(m: Any, x: Any) -> Any:
    return x @ x.mT + m.tensor(np.eye(x.shape[-1]))


def exponential(m: Any, x: Any) -> Any:
    values, vectors = m.linalg.eigh(symmetric(x))
    return vectors * m.exp(values)[..., None, :] @ vectors.mT


def eigenspace(m: Any, x: Any) -> Any:
    _, vectors = m.linalg.eigh(symmetric(x))
    return vectors[..., :2] @ vectors[..., :2].mT


def polar(m: Any, x: Any) -> Any:
    u, _, vh = m.linalg.svd(x, full_matrices=False)
    return u @ vh


def nearest(m: Any, x: Any) -> Any:
    u, s, vh = m.linalg.svd(x, full_matrices=False)
    return u[..., :2] * s[..., None, :2] @ vh[..., :2, :]


def projector(m: Any, x: Any) -> Any:
    q, _ = m.linalg.qr(x)
    return q @ q.mT


def rebuilt(m: Any, x: Any) -> Any:
    q, r = m.linalg.qr(x)
    return (q @ r) ** 2 + m.log(m.abs(m.diagonal(r, 0, -2, -1))).sum()


LOSSES: dict[str, tuple[Callable[[Any, Any], Any], list[tuple[int, ...]]]] = {
    "exponential": (exponential, [(3, 3), (2, 4, 4)]),
    "eigenspace": (eigenspace, [(3, 3), (2, 4, 4)]),
    "polar": (polar, [(3, 3), (4, 2), (2, 3, 4)]),
    "nearest": (nearest, [(3, 3), (4, 3), (2, 3, 4)]),
    "projector": (projector, [(4, 2), (2, 5, 3)]),
    "rebuilt": (rebuilt, [(3, 3), (4, 2), (2, 3, 5)]),
}


@pytest.mark.parametrize(("loss", "shapes"), LOSSES.values(), ids=LOSSES)
def test_first_and_second_derivative(loss: Any, shapes: list[tuple[int, ...]]) -> None:
    for shape in shapes:
        values = draw(*shape)
        x, y = (m.tensor(values, requires_grad=True) for m in (door, torch))
        found, wanted = loss(door, x), loss(torch, y)
        assert_close(found, wanted, f"value of {shape}")
        along = draw(*found.shape, seed=1)
        (first,) = grad((found * along).sum(), x, create_graph=True)
        (reference,) = torch.autograd.grad(
            (wanted * torch.tensor(along)).sum(), y, create_graph=True
        )
        assert_close(first, reference, f"gradient of {shape}", rtol=1e-8)
        bend = draw(*shape, seed=2)
        (second,) = grad((first * bend).sum(), x)
        (reference,) = torch.autograd.grad((reference * torch.tensor(bend)).sum(), y)
        assert_close(second, reference, f"second derivative of {shape}", rtol=1e-6)


@pytest.mark.parametrize("upper", [False, True])
def test_the_gradient_of_cholesky_is_shared_as_theirs_is(upper: bool) -> None:
    """With respect to the matrix itself, not to symmetric changes of it."""
    values, along = draw(3, 3) @ draw(3, 3).T + np.eye(3), draw(3, 3, seed=1)
    x, y = tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    (found,) = grad((minigrad.linalg.cholesky(x, upper=upper) * along).sum(), x)
    (torch.linalg.cholesky(y, upper=upper) * torch.tensor(along)).sum().backward()
    assert_close(found, y.grad)


def test_the_gradient_of_eigh_is_the_symmetric_part_of_theirs() -> None:
    """For a loss that depends on more than a basis, theirs is not symmetric; the matrix is."""
    values, along = draw(4, 4), draw(4, 4, seed=1)
    values = values + values.T
    x, y = tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    ours, theirs = minigrad.linalg.eigh(x), torch.linalg.eigh(y)
    signs = np.sign((ours.eigenvectors.numpy() * theirs.eigenvectors.detach().numpy()).sum(0))
    loss = (ours.eigenvectors * (signs * along)).sum() + (ours.eigenvalues * along[0]).sum()
    reference = (theirs.eigenvectors * torch.tensor(along)).sum()
    (reference + (theirs.eigenvalues * torch.tensor(along[0])).sum()).backward()
    assert_close(grad(loss, x)[0], symmetric(y.grad), rtol=1e-8)
