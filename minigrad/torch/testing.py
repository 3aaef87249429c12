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
    """An AssertionError unless two tensors, or structures of them, are nearly equal.

    `msg` takes the place of its text: another text, or a function of it.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: rtol and atol are given both, or neither")
    try:
        _compare(actual, expected, rtol, atol, equal_nan, check_dtype)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _alike(one: Any, other: Any) -> bool:
    """Whether both are sequences, both are dicts, or both are None."""
    kinds = dict, (list, tuple), type(None)
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in kinds)


def _compare(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, dtype: bool
) -> None:
    kinds = [isinstance(x, (dict, list, tuple, str, type(None))) for x in (actual, expected)]
    if isinstance(expected, str) or (any(kinds) and not _alike(actual, expected)):
        names = f"{type(actual).__name__} and {type(expected).__name__}"
        raise TypeError(f"assert_close: {names} cannot be compared")
    if expected is None:
        return
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), f"keys {[*actual]} and {[*expected]} differ"
        actual, expected = [*actual.values()], [expected[key] for key in actual]
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), f"lengths {len(actual)} and {len(expected)} differ"
        for pair in zip(actual, expected, strict=True):
            _compare(*pair, rtol, atol, equal_nan, dtype)
        return
    one, other = (np.asarray(getattr(x, "_data", x)) for x in (actual, expected))
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape} differ"
    assert not dtype or one.dtype == other.dtype, f"dtypes {one.dtype} and {other.dtype} differ"
    relative, absolute = NEAR.get(one.dtype.name, (0, 0)) if rtol is None else (rtol, atol)
    np.testing.assert_allclose(one, other, relative, absolute, equal_nan=equal_nan)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """`assert_close` of any dtypes; the old name."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False)
