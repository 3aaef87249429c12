"""Sampling at the points of a grid, and unpooling, against PyTorch: values and gradients."""

from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

from minigrad import tensor
from minigrad.nn import functional as F


def both(ours: Any, theirs: Any, *arrays: np.ndarray, given: tuple[Any, ...] = ()) -> None:
    """The same values, and the same gradients of all arrays."""
    mine = [tensor(a, requires_grad=True) for a in arrays]
    other = [torch.tensor(a, requires_grad=True) for a in arrays]
    out, expected = ours(*mine, *given), theirs(*other, *map(torch.tensor, given))
    assert_close(out, expected)
    cotangent = draw(*out.shape)
    (out * cotangent).sum().backward()
    (expected * torch.tensor(cotangent)).sum().backward()
    for x, y in zip(mine, other, strict=True):
        if x.grad is None:
            assert not y.grad.any()
        else:
            assert_close(x.grad, y.grad)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("sizes", [(4, 5), (1, 3), (1, 1)])
def test_grid_sample(
    mode: str, padding_mode: str, align_corners: bool, sizes: tuple[int, int]
) -> None:
    """Inside, outside, far outside, and at the very edges."""
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    grid = 1.5 * draw(2, 6, 7, 2)
    grid[0, 0] *= 10
    edges = np.array([-1.0, 1.0, 0.0, -2.0, 3.0, 0.5])
    grid[1, 0, :6, 0], grid[1, 1, :6, 1] = edges, edges
    both(
        lambda x, g: F.grid_sample(x, g, **options),  # type: ignore[arg-type]
        lambda x, g: torch.nn.functional.grid_sample(x, g, **options),
        draw(2, 3, *sizes), grid,
    )  # fmt: skip


def test_a_grid_of_float16_and_of_nan() -> None:
    x = tensor(draw(1, 1, 3, 3), dtype=np.float16)
    assert F.grid_sample(x, tensor(np.zeros((1, 1, 1, 2)), dtype=np.float16)).dtype == np.float16
    nothing = F.grid_sample(x, np.full((1, 1, 1, 2), np.nan, np.float16), padding_mode="border")
    assert nothing.item() == x[0, 0, 0, 0].item()
