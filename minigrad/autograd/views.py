"""Arrays that share memory: who owns it, which part they read, and views that cannot be written."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Place", "owner", "read_only"]


class Place(NamedTuple):
    """The part of a memory that an array reads.

    Attributes:
        start: Its address.
        shape: The shape of the array.
        strides: Its strides.
        dtype: Its dtype.
    """

    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of_array(cls, array: np.ndarray) -> Place:
        """The place of an array."""
        start = array.__array_interface__["data"][0]
        return cls(start, array.shape, array.strides, array.dtype)

    def addresses(self) -> np.ndarray:
        """The address of each element, in the shape of the array."""
        found = np.full(self.shape, self.start, np.intp)
        for axis, (n, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            found += (np.arange(n) * stride).reshape(-1, *(1,) * (len(self.shape) - axis - 1))
        return found

    def bounds(self) -> tuple[int, int]:
        """The lowest address of its elements, and the one behind the highest."""
        reach = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        low = self.start + sum(min(step, 0) for step in reach)
        return low, self.start + sum(max(step, 0) for step in reach) + self.dtype.itemsize

    def meets(self, other: Place) -> bool:
        """Whether it has an element in common with a place of the same dtype."""
        (low, high), (first, last) = self.bounds(), other.bounds()
        if last <= low or high <= first:
            return False  # most do: the addresses of a large array cost time
        return bool(np.isin(other.addresses(), self.addresses()).any())

    def index_of(self, part: Place) -> tuple[int | slice, ...] | None:
        """The integers and slices that read another place from this one, if there are any."""
        axes, offset = [*zip(part.shape, part.strides, strict=True)], part.start - self.start
        if offset < 0 or 0 in part.shape or min(self.strides, default=1) <= 0:
            return None
        index: list[int | slice] = []
        for n, stride in zip(self.shape, self.strides, strict=True):
            first, offset = divmod(offset, stride)
            if axes and axes[0][1] % stride == 0:
                count, step = axes[0][0], axes[0][1] // stride
                last = first + (count - 1) * step
                if 0 <= last < n and (step or count == 1):
                    index.append(_slice(first, last, step, n))
                    del axes[0]
                    continue
            if not first < n:
                return None
            index.append(first)
        return None if axes or offset else tuple(index)


def _slice(first: int, last: int, step: int, length: int) -> slice:
    """A slice from the first index to the last one, of an axis of some length."""
    if first == last:
        return slice(None) if length == 1 else slice(first, first + 1)
    if (first, last, step) == (0, length - 1, 1):
        return slice(None)
    stop = last + (1 if step > 0 else -1)
    return slice(first, None if stop < 0 else stop, None if step == 1 else step)


def owner(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of `array`: the last along ``.base``, or itself."""
    base = array.base
    while base is not None:
        if not isinstance(base, np.ndarray):  # of a memoryview, and of NumPy's sliding windows
            base = getattr(base, "obj", getattr(base, "base", None))
        if not isinstance(base, np.ndarray):
            break
        array, base = base, base.base
    return array


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that cannot be written to, and follows other writes."""
    view = array.view()
    view.flags.writeable = False
    return view
