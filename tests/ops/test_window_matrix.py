"""The matrix of windows holds the windows, in each of its orders; the way back is its transpose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

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
    return (
        request.param,
        WindowMatrix(window, sizes, (outputs, 6 // groups, *kernel), groups),
        x,
        window,
    )


def windows_of(x: np.ndarray, window: Window) -> np.ndarray:
    """(B, C, *S) -> (B, C, *K, *P), one element at a time."""
    wide = np.pad(x, ((0, 0), (0, 0), *window.padding))
    counts = window.counts(x.shape[2:])
    found = np.empty((*x.shape[:2], *window.kernel, *counts))
    for k in itertools.product(*map(range, window.kernel)):
        for p in itertools.product(*map(range, counts)):
            place = (
                s * i + d * j
                for s, i, d, j in zip(window.stride, p, window.dilation, k, strict=True)
            )
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
    np.testing.assert_allclose(
        np.vdot(columns, given), np.vdot(x, matrix.added_up(given, len(x))), rtol=1e-12
    )
