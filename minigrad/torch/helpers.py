"""What several modules of PyTorch's meaning share: refusals and dtypes."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from minigrad import ops

__all__ = ["as_dtype", "promoted", "refused"]


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
