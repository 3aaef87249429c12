"""The memories in a file of PyTorch, and tensors that are views of them."""

import math
import sys
from typing import Any

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.io.errors import LoadError
from minigrad.nn import Parameter
from minigrad.tensors.tensor import Tensor

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


class Kind:
    """The type of a storage: the name of its dtype; none for one of bytes."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element in the file."""
        return 2 if self.name == BFLOAT16 else DTYPES[self.name or "uint8"].itemsize


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


class Tensors:
    """Makes tensors, and completes them when their memories are read.

    Args:
        size: The size of the file.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.overlapping: list[np.ndarray] = []
        self.trained: list[Tensor] = []

    def rebuild(
        self, storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any = False,
        hooks: Any = None, metadata: Any = None, *, dtype: np.dtype[Any] | None = None,
    ) -> Tensor:  # fmt: skip
        """`torch._utils._rebuild_tensor_v2`: a view of a storage."""
        if not isinstance(storage, Storage):
            raise LoadError("damaged: a tensor is not a view of a storage")
        no_more(hooks, "hooks")
        no_more(metadata, "the marks of a conjugate or negative view: save resolve_neg() of it")
        array = self._view(storage.elements(dtype), offset, shape, stride)
        tensor: Tensor = leaf_of(array, False)
        return self._training(tensor, requires_grad)

    def rebuild_untyped(
        self, storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any, hooks: Any,
        dtype: Any, metadata: Any = None,
    ) -> Tensor:  # fmt: skip
        """`torch._utils._rebuild_tensor_v3`: a view of bytes."""
        if dtype not in UNTYPED.values():
            raise LoadError(f"damaged: bytes are read as {dtype}")
        return self.rebuild(
            storage, offset, shape, stride, requires_grad, hooks, metadata, dtype=np.dtype(dtype)
        )

    def parameter(self, data: Any, requires_grad: Any, hooks: Any) -> Parameter:
        """`torch._utils._rebuild_parameter`."""
        if not isinstance(data, Tensor):
            raise LoadError("damaged: a parameter is not a tensor")
        no_more(hooks, "hooks")
        parameter = Parameter.__new__(Parameter)
        parameter._data = data._data
        return self._training(parameter, requires_grad)

    def finish(self) -> None:
        """Complete the tensors; until now their memories had no content."""
        for array in self.overlapping:
            array.flags.writeable = False
        copied = 0
        for tensor in self.trained:  # one that repeats its elements gets memory of its own
            copied += 0 if tensor._data.flags.writeable else tensor._data.nbytes
            if copied > max(self.size, WIDEST):
                raise LoadError("its parameters repeat their elements: they are larger than it is")
            tensor.requires_grad = True

    def _view(self, memory: np.ndarray, offset: Any, shape: Any, stride: Any) -> np.ndarray:
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
        if count > len(memory) and count * memory.itemsize > max(self.size, WIDEST):
            raise LoadError(
                f"a tensor of shape {shape} repeats its {len(memory):,} elements: it is larger "
                f"than the file; save the tensor before it is expanded"
            )
        if not count:
            return np.empty(shape, memory.dtype)
        width = memory.itemsize
        array = np.ndarray(
            shape, memory.dtype, memory, offset * width, [step * width for step in stride]
        )
        end = 0  # the last element that the axes of smaller strides reach
        for step, n in sorted(zip(stride, shape, strict=True)):
            if n > 1 and step <= end:
                self.overlapping.append(array)
                break
            end += (n - 1) * step
        return array

    def _training(self, tensor: Any, requires_grad: Any) -> Any:
        if type(requires_grad) is not bool or (requires_grad and tensor._data.dtype.kind != "f"):
            raise LoadError(f"damaged: a tensor of {tensor._data.dtype} requires a gradient")
        if requires_grad:
            self.trained.append(tensor)
        return tensor


def no_more(value: Any, what: str) -> None:
    """Refuse what a tensor has beside its values."""
    if value is not None and not (isinstance(value, dict) and len(value) == 0):
        raise LoadError(f"a tensor has {what}, which are not supported")
