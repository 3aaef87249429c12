"""What several modules of PyTorch's meaning share: refusals and dtypes."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from minigrad import ops

__all__ = ["NoDtype", "as_dtype", "promoted", "refused"]


class NoDtype:
    """A dtype that can be named and compared; a TypeError says why nothing has it."""

    itemsize, is_floating_point = 2, True

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def dtype(self) -> NoReturn:
        """The array that NumPy asks for."""
        raise TypeError(f"{self!r} is not a dtype of NumPy's: use torch.float32")

    def __repr__(self) -> str:
        return f"torch.{self.name}"


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
