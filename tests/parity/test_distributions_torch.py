"""Distributions against PyTorch's: values, and gradients of every parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

from minigrad import Tensor, distributions

LOC, SCALE = draw(4), np.exp(draw(2, 1))
LOGITS, PROBS = draw(3, 5), np.exp(draw(3, 5, seed=1))
SOME = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
CLASSES = np.array([[4, 0, 2], [1, 1, 3]])

CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "log_prob": (lambda d, m, s, x: d.Normal(m, s).log_prob(x), (LOC, SCALE, draw(3, 1, 4))),
    "entropy": (lambda d, m, s: d.Normal(m, s).entropy(), (LOC, SCALE)),
    "logits": (lambda d, z: d.Categorical(logits=z).logits, (LOGITS,)),
    "probs of logits": (lambda d, z: d.Categorical(logits=z).probs, (LOGITS,)),
    "probs": (lambda d, p: d.Categorical(p).probs, (PROBS,)),
    "logits of probs": (lambda d, p: d.Categorical(p).logits, (PROBS,)),
    "logits of probs with zeros": (lambda d, p: d.Categorical(p).logits, (SOME,)),
    "entropy of logits": (lambda d, z: d.Categorical(logits=z).entropy(), (LOGITS,)),
    "entropy of probs with zeros": (lambda d, p: d.Categorical(p).entropy(), (SOME,)),
}


@pytest.mark.parametrize(("function", "inputs"), CASES.values(), ids=CASES)
def test_values_and_gradients(function: Callable[..., Any], inputs: tuple[np.ndarray, ...]) -> None:
    mine = [Tensor(array, requires_grad=True) for array in inputs]
    other = [torch.tensor(array, requires_grad=True) for array in inputs]
    ours, theirs = function(distributions, *mine), function(torch.distributions, *other)
    assert_close(ours, theirs)
    weights = draw(*ours.shape, seed=9)
    (ours * weights).sum().backward()
    (theirs * torch.tensor(weights)).sum().backward()
    for a, b in zip(mine, other, strict=True):
        if b.grad is not None:
            assert_close(a.grad, b.grad)


def test_log_probabilities_of_classes() -> None:
    for given in ({"logits": LOGITS}, {"probs": PROBS}):
        ours = distributions.Categorical(**given)
        theirs = torch.distributions.Categorical(
            **{name: torch.tensor(array) for name, array in given.items()}
        )
        for index in (CLASSES, CLASSES[0], np.array(3)):
            assert_close(ours.log_prob(index), theirs.log_prob(torch.tensor(index)))
        assert ours.batch_shape == theirs.batch_shape
