"""Which arrays of a value share a memory, and what of it is written.

Arrays that overlap share a storage: the part of the memory that they span. Elements in between that
belong to none of them are written as zeros.
"""

from typing import Any

import numpy as np


class Stored:
    """A tensor as it is written: a view of a storage.

    Attributes:
        array: Its values, in a layout that PyTorch has.
        requires_grad: Whether it requires a gradient.
        parameter: Whether it is a parameter.
        storage: The memory that it is a view of.
        start: The byte of the storage at which it begins.
    """

    storage: "Storage"
    start: int

    def __init__(self, array: np.ndarray, requires_grad: bool, parameter: bool) -> None:
        self.array = representable(array)
        self.requires_grad, self.parameter = requires_grad, parameter

    def span(self) -> tuple[int, int]:
        """The addresses of its first byte, and behind its last one."""
        array = self.array
        first: int = array.__array_interface__["data"][0]
        if array.size == 0:
            return first, first
        reach = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
        return first, first + reach + array.itemsize

    def strides(self) -> tuple[int, ...]:
        """Its strides in elements; that of an axis of length 1 may be any."""
        return tuple([abs(step) // self.array.itemsize for step in self.array.strides])


class Storage:
    """A memory, from the first byte of its tensors to the last."""

    def __init__(self, number: int, tensors: list[Stored]) -> None:
        self.number, self.tensors = number, tensors
        self.dtype = tensors[0].array.dtype
        spans = [tensor.span() for tensor in tensors]
        first = min(start for start, _ in spans)
        self.size = max(end for _, end in spans) - first
        for tensor, (start, _) in zip(tensors, spans, strict=True):
            tensor.storage, tensor.start = self, start - first

    def content(self) -> memoryview:
        """Its bytes."""
        arrays = [tensor.array for tensor in self.tensors]
        for array in arrays:
            if array.flags.c_contiguous and array.nbytes == self.size:
                return array.reshape(-1).view(np.uint8).data
        memory = np.zeros(self.size // self.dtype.itemsize, self.dtype)
        for tensor, array in zip(self.tensors, arrays, strict=True):
            if array.size:
                view: np.ndarray[Any, Any] = np.ndarray(
                    array.shape, self.dtype, memory, tensor.start, array.strides
                )
                view[...] = array
        return memory.view(np.uint8).data


def representable(array: np.ndarray) -> np.ndarray:
    """The array itself if PyTorch has its layout: native, and strides that are whole and positive.

    PyTorch's storages are of one dtype. A view of another dtype gets a storage of its own.
    """
    steps = [step for n, step in zip(array.shape, array.strides, strict=True) if n != 1]
    if array.dtype.isnative and all(step >= 0 and step % array.itemsize == 0 for step in steps):
        return array
    return array.astype(array.dtype.newbyteorder("="), order="C")


def storages_of(tensors: list[Stored]) -> list[Storage]:
    """The storages of tensors, in the order of the tensors; each tensor gets its place."""
    alike: dict[tuple[Any, ...], list[tuple[int, int, int]]] = {}
    for number, tensor in enumerate(tensors):
        start, end = tensor.span()
        kind = tensor.array.dtype, start % tensor.array.itemsize
        alike.setdefault(kind, []).append((start, end, number))
    groups: list[list[int]] = []
    for spans in alike.values():
        last = -1
        for start, end, number in sorted(spans):
            if start < last:
                groups[-1].append(number)
            else:
                groups.append([number])
            last = max(last, end)
    return [
        Storage(i, [tensors[number] for number in sorted(group)])
        for i, group in enumerate(sorted(groups, key=min))
    ]
