"""Conventions of linear algebra against PyTorch: to which elements a gradient belongs."""

from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

import minigrad
from minigrad import tensor
from minigrad.autograd import grad


def symmetric(x: Any) -> Any:
    return (x + x.mT) / 2


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
