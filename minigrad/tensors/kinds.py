"""`FloatTensor`, `LongTensor` and the others: tensors of one dtype, under PyTorch's old names."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import dtype_class as dtypes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor",
]  # fmt: skip


class Kind(type):
    """What these names are: a call makes a tensor as `Tensor` does, in the dtype of the kind.

    A tensor of that dtype is an instance of it.

    Example:
        >>> import minigrad
        >>> ids = minigrad.LongTensor([1, 2])
        >>> ids.dtype, isinstance(ids, minigrad.LongTensor)
        (minigrad.int64, True)
    """

    dtype: Any

    def __call__(cls, *data: Any, **options: Any) -> Any:
        return Tensor(*data, **{"dtype": cls.dtype, **options})

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and bool(x._data.dtype == cls.dtype)


class BoolTensor(metaclass=Kind):
    """Tensors of bools.

    Example:
        >>> import minigrad
        >>> minigrad.BoolTensor([0, 1, 2])
        tensor([False,  True,  True])
    """

    dtype = dtypes.bool_


class ByteTensor(metaclass=Kind):
    """Tensors of uint8.

    Example:
        >>> import minigrad
        >>> minigrad.ByteTensor([0, 1, 2])
        tensor([0, 1, 2], dtype=minigrad.uint8)
    """

    dtype = dtypes.uint8


class CharTensor(metaclass=Kind):
    """Tensors of int8.

    Example:
        >>> import minigrad
        >>> minigrad.CharTensor([0, 1, 2])
        tensor([0, 1, 2], dtype=minigrad.int8)
    """

    dtype = dtypes.int8


class ShortTensor(metaclass=Kind):
    """Tensors of int16.

    Example:
        >>> import minigrad
        >>> minigrad.ShortTensor([0, 1, 2])
        tensor([0, 1, 2], dtype=minigrad.int16)
    """

    dtype = dtypes.int16


class IntTensor(metaclass=Kind):
    """Tensors of int32.

    Example:
        >>> import minigrad
        >>> minigrad.IntTensor([0, 1, 2])
        tensor([0, 1, 2], dtype=minigrad.int32)
    """

    dtype = dtypes.int32


class LongTensor(metaclass=Kind):
    """Tensors of int64.

    Example:
        >>> import minigrad
        >>> minigrad.LongTensor([0, 1, 2])
        tensor([0, 1, 2])
    """

    dtype = dtypes.int64


class HalfTensor(metaclass=Kind):
    """Tensors of float16.

    Example:
        >>> import minigrad
        >>> minigrad.HalfTensor([0, 1, 2])
        tensor([0., 1., 2.], dtype=minigrad.float16)
    """

    dtype = dtypes.float16


class FloatTensor(metaclass=Kind):
    """Tensors of float32.

    Example:
        >>> import minigrad
        >>> minigrad.FloatTensor([0, 1, 2])
        tensor([0., 1., 2.])
    """

    dtype = dtypes.float32


class DoubleTensor(metaclass=Kind):
    """Tensors of float64.

    Example:
        >>> import minigrad
        >>> minigrad.DoubleTensor([0, 1, 2])
        tensor([0., 1., 2.], dtype=minigrad.float64)
    """

    dtype = dtypes.float64
