"""The limits of dtypes, as PyTorch gives them: numbers of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["finfo", "iinfo"]


class finfo:
    """Return the limits of a float dtype, as numbers of Python's.

    Args:
        type: The dtype, float32 if it is not given.

    Source: PyTorch 2.13, "torch.finfo".

    Example:
        >>> import minigrad
        >>> minigrad.finfo(minigrad.float32).eps == 2**-23
        True
    """

    def __init__(self, type: Any = "float32") -> None:  # noqa: A002
        known = np.finfo(np.dtype(type))
        self.bits, self.dtype = known.bits, known.dtype.name
        self.resolution, self.eps = 10.0**-known.precision, float(known.eps)
        self.min, self.max, self.tiny = float(known.min), float(known.max), float(known.tiny)
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        shown = ", ".join([f"{name}={getattr(self, name):g}" for name in names])
        return f"finfo({shown}, dtype={self.dtype})"


class iinfo:
    """Return the limits of an integer dtype.

    Args:
        type: The dtype.

    Source: PyTorch 2.13, "torch.iinfo".

    Example:
        >>> import minigrad
        >>> minigrad.iinfo(minigrad.int8).max
        127
    """

    def __init__(self, type: Any) -> None:  # noqa: A002
        known = np.iinfo(np.dtype(type))
        self.bits, self.dtype = known.bits, known.dtype.name
        self.min, self.max = int(known.min), int(known.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
