"""PyTorch's old names for tensors: of one dtype, such as `LongTensor`, and `Variable`.

A call of one of these classes makes a `Tensor`; every tensor that fits is an instance.
"""

from __future__ import annotations

import warnings
from typing import Any

from minigrad.autograd import dtype_class as dtypes
from minigrad.autograd import node
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.engine import detach
from minigrad.support.checks import check_choice

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor",
]  # fmt: skip


class Kind(type):
    """The class of these classes; without a `dtype` they are for tensors of all dtypes."""

    dtype: Any = None

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, node.Variable) and cls.dtype in (None, x._data.dtype)


def dtype_of_kind(kind: Any) -> Any:
    """The dtype that `Tensor.type` and `Module.type` are given: one, or a class or its name."""
    if isinstance(kind, str):
        known = {"Tensor": get_default_dtype(), **{name: dtype for dtype, name in NAMES.items()}}
        return known[check_choice("type", "the class", kind.removeprefix("torch."), known)]
    of_all = kind is node.Variable.result_class
    return get_default_dtype() if of_all else getattr(kind, "dtype", kind)


class OfOneDtype(metaclass=Kind):
    """Tensors of one dtype: a call makes one as `Tensor` does, in this dtype.

    Example:
        >>> import minigrad
        >>> ids = minigrad.LongTensor([1, 2])
        >>> ids.dtype, isinstance(ids, minigrad.LongTensor)
        (minigrad.int64, True)
    """

    def __init_subclass__(cls, dtype: Any = None) -> None:
        if dtype is not None:  # a class derived from a kind keeps its dtype
            cls.dtype = dtype

    def __new__(cls, *data: Any, **options: Any) -> Any:
        """Make the tensor."""
        return node.Variable.result_class(*data, **{"dtype": cls.dtype, **options})


class BoolTensor(OfOneDtype, dtype=dtypes.bool_): ...


class ByteTensor(OfOneDtype, dtype=dtypes.uint8): ...


class CharTensor(OfOneDtype, dtype=dtypes.int8): ...


class ShortTensor(OfOneDtype, dtype=dtypes.int16): ...


class IntTensor(OfOneDtype, dtype=dtypes.int32): ...


class LongTensor(OfOneDtype, dtype=dtypes.int64): ...


class HalfTensor(OfOneDtype, dtype=dtypes.float16): ...


class FloatTensor(OfOneDtype, dtype=dtypes.float32): ...


class DoubleTensor(OfOneDtype, dtype=dtypes.float64): ...


NAMES = {kind.dtype: kind.__name__ for kind in OfOneDtype.__subclasses__()}


class Variable(metaclass=Kind):
    """A tensor of the same data, without history; every tensor is an instance.

    Args:
        data: A tensor.
        requires_grad: Whether the new one requires a gradient.
        volatile: No effect but a warning: `minigrad.no_grad` has taken its place.

    Raises:
        TypeError: `data` is not a tensor.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Variable
        >>> x = Variable(minigrad.ones(2), requires_grad=True)
        >>> x.requires_grad, isinstance(x, Variable)
        (True, True)
    """

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Make the tensor."""
        if volatile:
            message = "Variable: volatile has no effect; use minigrad.no_grad()"
            warnings.warn(message, stacklevel=2)
        if not isinstance(data, cls):
            raise TypeError(f"Variable: a tensor expected, got {type(data).__name__}")
        tensor: Any = detach(data)
        tensor.requires_grad = requires_grad
        return tensor
