"""The matrix of windows, in each of its orders, and its transpose; pooling at its corners."""

import itertools

import numpy as np
import pytest

from minigrad import ops, tensor
from minigrad.ops._windows import Window, WindowMatrix

CASES = {
    "pixels: steps of two": ((3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), (28, 28), 8, 1),
    "pixels": ((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (13, 14), 40, 1),
    "pixels: uneven, dilated": ((2, 2), (1, 1), ((0, 2), (3, 0)), (2, 3), (7, 21), 40, 2),
    "pixels: one axis": ((5,), (1,), ((2, 2),), (1,), (30,), 40, 1),
    "pixels: three axes": (
        (2, 1, 2), (1,) * 3, ((1, 0), (0, 0), (0, 1)), (1,) * 3, (3, 4, 15), 9, 3,
    ),
    "across": ((3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (6, 5), 8, 1),
    "across: steps of two": ((3, 2), (2, 2), ((1, 0), (1, 1)), (1, 1), (9, 8), 3, 3),
}  # fmt: skip


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[str, WindowMatrix, np.ndarray, Window]:
    kernel, stride, padding, dilation, sizes, outputs, groups = CASES[request.param]
    window = Window(kernel, stride, padding, dilation)
    x = np.random.default_rng(0).standard_normal((4, 6, *sizes))
    matrix = WindowMatrix(window, sizes, (outputs, 6 // groups, *kernel), groups)
    return request.param, matrix, x, window


def windows_of(x: np.ndarray, window: Window) -> np.ndarray:
    """(B, C, *S) -> (B, C, *K, *P), one element at a time."""
    wide = np.pad(x, ((0, 0), (0, 0), *window.padding))
    counts = window.counts(x.shape[2:])
    found = np.empty((*x.shape[:2], *window.kernel, *counts))
    for k in itertools.product(*map(range, window.kernel)):
        for p in itertools.product(*map(range, counts)):
            axes = zip(window.stride, p, window.dilation, k, strict=True)
            place = (s * i + d * j for s, i, d, j in axes)
            found[(..., *k, *p)] = wide[(..., *place)]
    return found


def test_the_order_is_the_one_that_the_case_is_named_after(case) -> None:
    name, matrix, _, _ = case
    assert matrix.across == name.startswith("across")


def test_columns_are_windows(case) -> None:
    """Every number, read back as the output of a kernel that picks it out."""
    _, matrix, x, window = case
    expected = windows_of(x, window)
    elements = int(np.prod(window.kernel))
    rows = matrix.columns(x).reshape(1, 6 * elements, -1)  # whatever the groups: one row an element
    found = matrix.images(rows, len(x)).reshape(len(x), 6, *window.kernel, *matrix.counts)
    np.testing.assert_array_equal(found, expected)


def test_rows_undo_images(case) -> None:
    _, matrix, x, _ = case
    y = np.random.default_rng(1).standard_normal((len(x), 12, *matrix.counts))
    np.testing.assert_array_equal(matrix.images(matrix.rows(y), len(x)), y)


def test_added_up_is_the_transpose_of_columns(case) -> None:
    """<columns(x), c> = <x, added_up(c)>, for any c."""
    _, matrix, x, _ = case
    columns = matrix.columns(x)
    some = np.random.default_rng(2).standard_normal(
        (len(x), columns[0].size * len(columns) // columns.shape[-1], *matrix.counts)
    )
    given = matrix.rows(some).reshape(columns.shape)
    added_up = np.vdot(x, matrix.added_up(given, len(x)))
    np.testing.assert_allclose(np.vdot(columns, given), added_up, rtol=1e-12)


# Pooling at its corners ------------------------------------------------------------------------


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
