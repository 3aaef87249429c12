"""Cross-entropy of class probabilities against PyTorch: values, gradients, second derivatives."""

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.nn import functional as F


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
        ([[0.5, 0.5]], {}, "input and target of one shape expected, got (2, 3) and (1, 2)"),
        ([[0.5, 0.5, -0.5]] * 2, {}, "the target must hold probabilities, got -0.5"),
        ([[0.5, 0.5, np.nan]] * 2, {}, "the target must hold probabilities, got nan"),
        ([[0.5, 0.5, 0.0]] * 2, {"ignore_index": 1}, "ignore_index is for classes"),
        ([[0.5, 0.5, 0.0]] * 2, {"weight": [1.0]}, "a weight of shape (3,) expected, got (1,)"),
        ([[0.5, 0.5, 0.0]] * 2, {"label_smoothing": 2.0}, "label_smoothing must be a number from"),
        ([[0.5, 0.5, 0.0]] * 2, {"reduction": "all"}, 'reduction must be "mean", "sum" or "none"'),
    ],
)
def test_what_is_no_probability_is_refused(target: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^cross_entropy: {re.escape(message)}"):
        F.cross_entropy(minigrad.ones((2, 3)), target, **options)
