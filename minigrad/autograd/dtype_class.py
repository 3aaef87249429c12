"""`dtype`: the type of a tensor's elements, one object of each, such as ``minigrad.float32``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

__all__ = [
    "bfloat16", "bool_", "complex64", "complex128", "double", "dtype", "float16",
    "float32", "float64", "half", "int8", "int16", "int32", "int64", "long", "short",
    "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

C = TypeVar("C", bound=type)

shown_as = "minigrad"
"""The package in whose name dtypes and sizes print; ``python -m minigrad.torch`` says "torch"."""


def printed_as(name: str) -> Callable[[C], C]:
    """Have a named tuple of results print as PyTorch's, a field on each line (a decorator)."""

    def __repr__(self: Any) -> str:
        parts = [f"\n{field}={value!r}" for field, value in zip(self._fields, self, strict=True)]
        return f"{shown_as}.return_types.{name}({','.join(parts)})"

    def decorate(cls: C) -> C:
        cls.__repr__ = __repr__  # type: ignore[method-assign,assignment]
        return cls

    return decorate


class dtype:
    """Name the type of a tensor's elements; ``minigrad.float32`` is one.

    NumPy's functions take it where they take a dtype, and it equals NumPy's dtype and its name.
    `bfloat16` has no such dtype, and tensors do not have the complex ones: they can be named only.

    Args:
        known: A dtype of NumPy's, or what NumPy reads as one: there is one object of each dtype.

    Attributes:
        dtype: NumPy's dtype.

    Source: PyTorch 2.13, "torch.dtype".

    Example:
        >>> import minigrad
        >>> minigrad.ones(2).dtype
        minigrad.float32
        >>> minigrad.dtype("float32") is minigrad.float32, minigrad.float32.itemsize
        (True, 4)
    """

    dtype: np.dtype[Any]
    name: str
    kind: str
    char: str
    itemsize: int

    def __new__(cls, known: Any) -> Self:
        """The object of a dtype."""
        found: Any = bfloat16 if known == "bfloat16" else DTYPES[np.dtype(known)]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (self.name,)

    @property
    def is_floating_point(self) -> bool:
        """Whether it holds fractions."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether it holds complex numbers."""
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether it holds negative numbers."""
        return self.kind in "ifc"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is dtype or other is None:
            return False
        return bool(getattr(self, "dtype", self.name) == other)

    def __hash__(self) -> int:
        return hash(getattr(self, "dtype", self.name))

    def __repr__(self) -> str:
        return f"{shown_as}.{self.name}"


def _of_numpy(name: str) -> dtype:
    made = object.__new__(dtype)
    made.name, made.dtype = name, np.dtype(name)
    made.kind, made.char, made.itemsize = made.dtype.kind, made.dtype.char, made.dtype.itemsize
    DTYPES[made.dtype] = made
    return made


DTYPES: dict[np.dtype[Any], dtype] = {}
"""The dtypes by NumPy's."""

bool_ = _of_numpy("bool")
uint8, uint16, uint32, uint64 = map(_of_numpy, ("uint8", "uint16", "uint32", "uint64"))
int8, int16, int32, int64 = map(_of_numpy, ("int8", "int16", "int32", "int64"))
float16, float32, float64 = map(_of_numpy, ("float16", "float32", "float64"))
complex64, complex128 = map(_of_numpy, ("complex64", "complex128"))
bfloat16 = object.__new__(dtype)
bfloat16.name, bfloat16.kind, bfloat16.char, bfloat16.itemsize = "bfloat16", "f", "", 2
short, long, half, double = int16, int64, float16, float64
