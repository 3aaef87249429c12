"""Ops that PyTorch's database does not know as we have them: gradients at NaN, and in corners.

The calls are those of `op_samples`; tests/torch_ops.py gives PyTorch our names.
"""

from typing import Any

import numpy as np
import pytest
from op_samples import CASES, OURS
from side_by_side import assert_close, both, draw
from torch_ops import TORCH, Elsewhere, torch

import minigrad
from minigrad import tensor
from minigrad.autograd import grad

NUMPYS = [
    "cbrt", "cumsum", "norm", "median", "getitem", "setitem", "take", "take_along_axis", "pad",
    "repeat", "tile", "roll", "squeeze", "sort", "dot", "outer", "einsum", "attention_weights",
]  # fmt: skip
"""Ops with arguments as NumPy has them, and ops that PyTorch has not; none of those where PyTorch
divides by the NaN, or spreads it."""


def outputs_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("op", [*NUMPYS, "sinc"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_at_nan(op: str) -> None:
    """One NaN in one input: the gradients are PyTorch's."""
    for case, which in [(c, k) for c in CASES if c.op == op for k in range(len(c.inputs))][:16]:
        inputs = [a.copy() for a in case.inputs]
        if not inputs[which].size:
            continue
        inputs[which].reshape(-1)[inputs[which].size // 2] = np.nan
        theirs = [torch.tensor(a, requires_grad=True) for a in inputs]
        try:
            expected = outputs_of(case.call(TORCH, *theirs))
        except Elsewhere:
            continue
        ours = [tensor(a, requires_grad=True) for a in inputs]
        weights = [np.cos(np.arange(out.numel())).reshape(tuple(out.shape)) for out in expected]
        found = grad(outputs_of(case.on(OURS)(*ours)), ours, weights)
        cotangents = [
            torch.tensor(w, dtype=e.dtype) for w, e in zip(weights, expected, strict=True)
        ]
        wanted = torch.autograd.grad(expected, theirs, cotangents)
        for one, other in zip(found, wanted, strict=True):
            scale = max(1.0, float(np.nan_to_num(np.abs(other.numpy())).max(initial=0)))
            np.testing.assert_allclose(one, other, 1e-6, 1e-6 * scale, err_msg=str(case))


# Corners where the promise is PyTorch's -----------------------------------------------------------


def slopes(ours: Any, theirs: Any, *values: Any) -> None:
    """The same gradients, in the same places NaN or infinite."""
    mine = [tensor(np.array(v, float), requires_grad=True) for v in values]
    other = [torch.tensor(np.array(v, float), requires_grad=True) for v in values]
    with np.errstate(all="ignore"):
        ours(*mine).sum().backward()
    theirs(*other).sum().backward()
    for one, reference in zip(mine, other, strict=True):
        np.testing.assert_array_equal(one.grad.numpy(), reference.grad.numpy())


CORNERS = [  # others: tests/ops/test_corners.py
    (OURS.copysign, torch.copysign, [[2.0, -2.0, 0.0], [-1.0, -0.0, 3.0]]),
    (OURS.remainder, torch.remainder, [[7.0, -7.0, 7.0], [3.0, 3.0, -3.0]]),
    (lambda x: OURS.std(x, ddof=1), lambda x: x.std(correction=1), [[2.0]]),
    (OURS.std, lambda x: x.std(correction=0), [[2.0, 2.0, 2.0]]),
    (lambda x: OURS.var(x, ddof=1), lambda x: x.var(correction=1), [[2.0]]),
]


@pytest.mark.parametrize(("ours", "theirs", "values"), CORNERS)
@pytest.mark.filterwarnings("ignore:(var|std).*degrees of freedom")
def test_corners(ours: Any, theirs: Any, values: list[Any]) -> None:
    slopes(ours, theirs, *values)


# To which elements of a matrix a gradient belongs -------------------------------------------------


@pytest.mark.parametrize("upper", [False, True])
def test_the_gradient_of_cholesky_is_shared_as_theirs_is(upper: bool) -> None:
    """With respect to the matrix itself, not to symmetric changes of it."""
    both(*(lambda x, m=m: m.linalg.cholesky(x, upper=upper) for m in (minigrad, torch)),
         draw(3, 3) @ draw(3, 3).T + np.eye(3))  # fmt: skip


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
    assert_close(grad(loss, x)[0], (y.grad + y.grad.mT) / 2, rtol=1e-8)
