"""`torch.testing`: tensors that are nearly equal."""

from __future__ import annotations

from typing import Any

import numpy as np

NEAR = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
"""The relative and the absolute tolerance for a dtype; integers are equal or not."""


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: Any = None,
) -> None:  # fmt: skip
    """An AssertionError unless two tensors, or structures of them, are nearly equal."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), f"keys {[*actual]} and {[*expected]} differ"
        actual, expected = [*actual.values()], [*expected.values()]
    if isinstance(expected, (tuple, list)):
        for pair in zip(actual, expected, strict=True):
            assert_close(*pair, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype)
        return
    one, other = (np.asarray(getattr(x, "_data", x)) for x in (actual, expected))
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape} differ"
    if check_dtype:
        assert one.dtype == other.dtype, f"dtypes {one.dtype} and {other.dtype} differ"
    relative, absolute = NEAR.get(one.dtype.name, (0, 0))
    np.testing.assert_allclose(
        one, other, relative if rtol is None else rtol, absolute if atol is None else atol,
        equal_nan=equal_nan,
    )  # fmt: skip


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """`assert_close` of any dtypes; the old name."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False)
