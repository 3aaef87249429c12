"""The memories in a file of PyTorch."""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.io.errors import LoadError

STORAGES = {
    "BoolStorage": "bool", "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
    "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16",
    "FloatStorage": "float32", "DoubleStorage": "float64",
}  # fmt: skip
"""The names of typed storages, and the dtype of each."""
UNTYPED = {name: np.dtype(name) for name in ("uint16", "uint32", "uint64")}
"""The dtypes that PyTorch has no typed storage for: they are views of bytes."""
DTYPES = {name: np.dtype(name) for name in (*STORAGES.values(), *UNTYPED)}
BFLOAT16 = "bfloat16"
WIDEST = 1 << 26
"""Bytes that a tensor may have, by repeating its elements, also if the file is smaller."""


@dataclass(frozen=True)
class Kind:
    """The type of a storage: the name of its dtype, none for bytes, and the size of an element."""

    name: str | None
    itemsize: int


KINDS = {
    **{name: Kind(dtype, np.dtype(dtype).itemsize) for name, dtype in STORAGES.items()},
    "BFloat16Storage": Kind(BFLOAT16, 2),
}


class Storage:
    """A memory that several tensors may share; its content is read when all of them are known.

    Attributes:
        memory: The elements. bfloat16 is widened to float32 within this memory.
        content: The bytes into which the file is read.
    """

    def __init__(self, kind: Kind, count: int) -> None:
        self.kind, self.count = kind, count
        self.dtype = DTYPES.get("float32" if kind.name == BFLOAT16 else kind.name or "")
        self.size = count * kind.itemsize
        self.memory = np.empty(count, self.dtype or np.uint8)
        self.content = self.memory.view(np.uint8)[self.memory.nbytes - self.size :]

    def elements(self, dtype: np.dtype[Any] | None) -> np.ndarray:
        """The elements, as a dtype if it is a memory of bytes."""
        if self.dtype is None and dtype is not None:
            if self.size % dtype.itemsize:
                raise LoadError(f"damaged: {self.size} bytes are not a whole number of {dtype}")
            self.dtype, self.memory = dtype, self.memory.view(dtype)
        if self.dtype is None or dtype not in (None, self.dtype):
            raise LoadError(f"damaged: a memory of {self.dtype or 'bytes'} is read as {dtype}")
        return self.memory

    def finish(self, key: str, byteorder: str) -> None:
        """Convert the bytes of the file to elements."""
        bits = self.content.view(np.uint16) if self.kind.name == BFLOAT16 else self.memory
        if byteorder != sys.byteorder:
            bits.byteswap(inplace=True)
        if bits is not self.memory:  # the upper half of a float32
            np.left_shift(bits, 16, out=self.memory.view(np.uint32), dtype=np.uint32)
        if self.dtype == np.bool_ and (self.content > 1).any():
            raise LoadError(f"damaged: storage {key} has bools that are neither True nor False")

    def view(
        self, dtype: np.dtype[Any] | None, offset: Any, shape: Any, stride: Any, most: int
    ) -> np.ndarray:
        """A view of the elements; one that repeats them has at most so many bytes, or `WIDEST`."""
        memory = self.elements(dtype)
        whole = type(shape) is type(stride) is tuple and len(shape) == len(stride)
        if not whole or not all(type(n) is int and n >= 0 for n in (offset, *shape, *stride)):
            raise LoadError(
                f"damaged: a tensor has offset {offset}, shape {shape} and strides {stride}"
            )
        reach = [(n - 1) * step for n, step in zip(shape, stride, strict=True)]
        count = math.prod(shape)
        if count and offset + sum(reach) >= len(memory):
            raise LoadError(
                f"damaged: a tensor of shape {shape} and strides {stride} from element {offset} "
                f"reaches out of its storage of {len(memory):,} elements"
            )
        if count > len(memory) and count * memory.itemsize > max(most, WIDEST):
            raise LoadError(
                f"a tensor of shape {shape} repeats its {len(memory):,} elements: it is larger "
                f"than the file; save the tensor before it is expanded"
            )
        if not count:
            return np.empty(shape, memory.dtype)
        width = memory.itemsize
        steps = [step * width for step in stride]
        return np.ndarray(shape, memory.dtype, memory, offset * width, steps)
