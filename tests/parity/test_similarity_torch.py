"""Cosine similarity against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

from minigrad import Tensor
from minigrad.nn import functional as F


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 4), (1, 4)), ((2, 1, 4), (3, 4))])
def test_cosine_similarity(axis: int, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    ours = [Tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    found = F.cosine_similarity(*ours, axis=axis)
    expected = torch.nn.functional.cosine_similarity(*theirs, dim=axis)
    assert_close(found, expected)
    cotangent = draw(*found.shape, seed=7)
    (found * cotangent).sum().backward()
    (expected * torch.tensor(cotangent)).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine.grad, other.grad)


def test_its_defaults() -> None:
    arrays = [draw(3, 4, seed=i) for i in range(2)]
    arrays[0][1] = 0
    found = F.cosine_similarity(*(Tensor(array) for array in arrays))
    expected = torch.nn.functional.cosine_similarity(*(torch.tensor(array) for array in arrays))
    assert_close(found, expected)
    assert np.asarray(found)[1] == 0
