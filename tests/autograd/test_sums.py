"""Sums by BLAS are NumPy's sums, on both sides of the size where it is left asleep."""

import numpy as np
import pytest

from minigrad.autograd.sums import BLAS_LIMIT, column_sums, ones
from minigrad.ops._numerics import row_sums

SHAPES = [(3, 4), (2, 3, 5), (1, 1), (7, 1), (0, 4), (4, 0), (2, 0, 3), (BLAS_LIMIT // 64 + 1, 64)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_of_rows_and_columns(shape: tuple[int, ...], dtype: type) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype is np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    found = row_sums(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, x.sum(axis=-1, keepdims=True), **close)
    for kept in range(len(shape)):
        found = column_sums(x, shape[kept:])
        assert found.dtype == dtype
        np.testing.assert_allclose(found, x.sum(axis=tuple(range(kept))), **close)


@pytest.mark.parametrize("shape", [(5, 3), (BLAS_LIMIT // 3 + 1, 3)], ids=str)
def test_what_is_not_finite_stays_in_its_column(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    x[1, 0], x[2, 1] = np.inf, np.nan
    np.testing.assert_array_equal(column_sums(x, (3,)), [np.inf, np.nan, shape[0]])
    np.testing.assert_array_equal(row_sums(x)[:3, 0], [3, np.inf, np.nan])


def test_any_memory_layout() -> None:
    x = np.random.default_rng(0).standard_normal((6, 5, 4))
    for view in (x.T, x[::2, :, ::-1], x.swapaxes(0, 1)[1:]):
        np.testing.assert_allclose(row_sums(view), view.sum(axis=-1, keepdims=True), rtol=1e-12)
        columns = column_sums(view, view.shape[2:])
        np.testing.assert_allclose(columns, view.sum(axis=(0, 1)), rtol=1e-12, atol=1e-14)


def test_the_ones_that_are_kept_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ones(4, np.float32)[0] = 2
