"""Cross-entropy of class probabilities against PyTorch: values, gradients, second derivatives."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.nn import functional as F

SHAPES = [(4,), (3, 4), (2, 4, 3), (2, 4, 2, 3), (0, 4)]


@pytest.mark.parametrize(
    ("shape", "reduction", "smoothing", "weighted"),
    list(product(SHAPES, ["mean", "sum", "none"], [0.0, 0.3], [False, True])),
)
def test_class_probabilities(
    shape: tuple[int, ...], reduction: Any, smoothing: float, weighted: bool
) -> None:
    weight = np.array([0.5, 2.0, 0.0, 1.0]) if weighted else None
    x, y = draw(*shape), np.abs(draw(*shape, seed=1))
    ours = nn.CrossEntropyLoss(weight, reduction, label_smoothing=smoothing)
    theirs = torch.nn.CrossEntropyLoss(
        None if weight is None else torch.tensor(weight),
        reduction=reduction, label_smoothing=smoothing,
    )  # fmt: skip
    mine = [Tensor(a, requires_grad=True) for a in (x, y)]
    yours = [torch.tensor(a, requires_grad=True) for a in (x, y)]
    loss, other = ours(*mine), theirs(*yours)
    assert_close(loss.detach(), other)
    first = grad((loss * loss).sum(), mine, create_graph=True)
    expected = torch.autograd.grad((other * other).sum(), yours, create_graph=True)
    for one, two in zip(first, expected, strict=True):
        assert_close(one.detach(), two)
    second = grad(sum((g * g).sum() for g in first), mine)
    expected = torch.autograd.grad(sum((g * g).sum() for g in expected), yours)
    for one, two in zip(second, expected, strict=True):
        assert_close(one, two)


def test_lists_arrays_and_other_floats_are_probabilities() -> None:
    x = minigrad.tensor([[2.0, 0.0, -1.0]], requires_grad=True)
    rows = [[0.5, 0.25, 0.25]]
    wanted = F.cross_entropy(x, minigrad.tensor(rows)).item()
    for target in (rows, np.array(rows), np.array(rows, np.float16)):
        loss = F.cross_entropy(x, target)
        assert loss.item() == wanted
        assert loss.dtype == np.float32
    one_hot = F.cross_entropy(x, [[0.0, 1.0, 0.0]])
    np.testing.assert_allclose(one_hot.item(), F.cross_entropy(x, [1]).item(), rtol=1e-6)


def test_an_impossible_class_of_probability_zero_counts_nothing() -> None:
    """0 · log 0 is 0, forward and backward; PyTorch answers NaN."""
    x = minigrad.tensor([[0.0, -np.inf, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, [[1.0, 0.0, 0.0]])
    loss.backward()
    np.testing.assert_allclose(loss.item(), np.log(2), rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [[-0.5, 0.0, 0.5]], rtol=1e-6)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ([[0.5, 0.5]], {}, "input of shape (2, 3), but target of shape (1, 2)"),
        ([[0.5, 0.5, -0.5]] * 2, {}, "the target must hold probabilities, got -0.5"),
        ([[0.5, 0.5, np.nan]] * 2, {}, "the target must hold probabilities, got nan"),
        ([[0.5, 0.5, 0.0]] * 2, {"ignore_index": 1}, "ignore_index is for classes"),
        ([[0.5, 0.5, 0.0]] * 2, {"weight": [1.0]}, "weight must have shape (3,), got (1,)"),
        ([[0.5, 0.5, 0.0]] * 2, {"label_smoothing": 2.0}, "label_smoothing must be a number from"),
        ([[0.5, 0.5, 0.0]] * 2, {"reduction": "all"}, 'reduction must be "mean", "sum" or "none"'),
    ],
)
def test_what_is_no_probability_is_refused(target: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^cross_entropy: {re.escape(message)}"):
        F.cross_entropy(minigrad.ones((2, 3)), target, **options)
