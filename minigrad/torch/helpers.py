"""What several modules of PyTorch's meaning share: refusals, arguments, a comparison."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from minigrad import ops

__all__ = ["as_dtype", "assert_close", "promoted", "refused"]


def refused(name: str, why: str) -> NoReturn:
    """An error for what stays out."""
    raise NotImplementedError(f"torch.{name}: {why}")


def as_dtype(x: Any, dtype: Any) -> Any:
    """The tensor in a dtype, if one is given."""
    return x if dtype is None else ops.astype(x, dtype)


def promoted(one: Any, other: Any) -> Any:
    """The dtype of a result of tensors of two dtypes."""
    one, other = np.dtype(one), np.dtype(other)
    if "f" in (one.kind, other.kind) and one.kind != other.kind:
        return one if one.kind == "f" else other
    return np.promote_types(one, other)


def assert_close(actual: Any, expected: Any, rtol: Any, atol: Any, nan: bool, dtypes: bool) -> None:
    """An AssertionError unless two tensors, or structures of them, are nearly equal."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys(), f"keys {[*actual]} and {[*expected]} differ"
        actual, expected = actual.values(), expected.values()
    if isinstance(expected, (tuple, list, type({}.values()))):
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, rtol, atol, nan, dtypes)
        return
    one, other = (np.asarray(getattr(x, "_data", x)) for x in (actual, expected))
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape} differ"
    assert not dtypes or one.dtype == other.dtype, f"dtypes {one.dtype} and {other.dtype} differ"
    near = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
    usual = near.get(one.dtype.name, (0, 0))
    given: Any = [u if g is None else g for u, g in zip(usual, (rtol, atol), strict=True)]
    np.testing.assert_allclose(one, other, given[0], given[1], equal_nan=nan)
