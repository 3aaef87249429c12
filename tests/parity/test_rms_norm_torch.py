"""RMSNorm against PyTorch, in values and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn


@pytest.mark.parametrize("size", [3, (3,), (5, 3)], ids=str)
@pytest.mark.parametrize("eps", [None, 1e-2])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rms_norm(size: Any, eps: Any, affine: bool, dtype: Any) -> None:
    theirs = randomise(torch.nn.RMSNorm(size, eps, affine))
    ours = nn.RMSNorm(size, eps, affine).to(dtype)
    if dtype == np.float32:
        theirs.float()
    x = draw(2, 5, 3).astype(dtype)
    compare(ours, theirs, [x], ours, theirs, rtol=1e-9 if dtype == np.float64 else 2e-5)


def test_tiny_inputs_meet_the_default_eps() -> None:
    theirs, x = randomise(torch.nn.RMSNorm(3)), draw(2, 3) * 1e-8
    ours = nn.RMSNorm(3).double()
    compare(ours, theirs, [x], ours, theirs)
