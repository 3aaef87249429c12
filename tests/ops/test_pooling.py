"""Pooling at its corners: ties, infinities, NaN, and windows that reach over the edges."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad import ops, tensor
from minigrad.ops._windows import Window


def chosen(values: list[float], window: Window) -> list[float]:
    """How often each element is the largest of a window: the gradient of the sum."""
    x = tensor(np.array([[values]]), requires_grad=True)
    ops.max_pool(x, window).sum().backward()
    assert x.grad is not None
    return x.grad.numpy()[0, 0].tolist()


def test_the_first_of_equal_elements_is_taken() -> None:
    assert chosen([3.0, 3.0, 3.0], Window((2,), (1,), ((0, 0),), (1,))) == [1, 1, 0]
    assert chosen([3.0, 1.0, 3.0], Window((2,), (1,), ((0, 0),), (2,))) == [1, 0, 0]


def test_what_is_padded_is_never_taken() -> None:
    low = [-np.inf] * 3
    assert chosen(low, Window((2,), (1,), ((1, 0),), (1,))) == [2, 1, 0]
    assert chosen(low, Window((2,), (1,), ((0, 1),), (1,))) == [1, 1, 1]
    alone = Window((1,), (1,), ((0, 1),), (1,))  # nothing else is in the last window
    assert chosen(low, alone) == [1, 1, 2]
    assert chosen([-5.0, -6.0], Window((2,), (2,), ((1, 1),), (1,))) == [1, 1]


def test_a_nan_is_the_largest() -> None:
    out = ops.max_pool(np.array([[[1.0, np.nan, 2.0, 3.0]]]), Window((2,), (1,), ((0, 0),), (1,)))
    np.testing.assert_array_equal(out.numpy(), [[[np.nan, np.nan, 3.0]]])


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_])
def test_integers(dtype: type) -> None:
    x = np.array([[[0, 1, 1, 0, 1]]], dtype)
    assert ops.max_pool(x, Window((3,), (2,), ((1, 1),), (1,))).tolist() == [[[1, 1, 1]]]
    assert ops.max_pool(x, Window((1,), (3,), ((0, 0),), (1,))).dtype == dtype


def test_half_precision_sums_in_single() -> None:
    x = np.full((1, 1, 3000), 1.5, np.float16)
    assert ops.sum_pool(x, Window((3000,), (1,), ((0, 0),), (1,))).item() == 4500
