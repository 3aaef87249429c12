"""What is asked of a tensor, or of dtypes: answers are bools, numbers and dtypes of Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.dtype_class import dtype
from minigrad.autograd.dtypes import checked
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.tensors.storage import TypedStorage

__all__ = [
    "can_cast", "conj", "conj_physical", "get_device", "is_complex", "is_conj", "is_floating_point",
    "is_inference", "is_neg", "is_nonzero", "is_same_size", "is_signed", "is_storage", "is_tensor",
    "numel", "promote_types", "real", "resolve_conj", "resolve_neg", "result_type", "typename",
]  # fmt: skip


def is_tensor(obj: Any) -> bool:
    """Tell whether it is a tensor.

    Example:
        >>> import minigrad
        >>> minigrad.is_tensor(minigrad.ones(2)), minigrad.is_tensor([1.0, 1.0])
        (True, False)
    """
    return isinstance(obj, Variable)


def is_storage(obj: Any) -> bool:
    """Tell whether it is the memory of a tensor.

    Example:
        >>> import minigrad
        >>> minigrad.is_storage(minigrad.ones(2)), minigrad.is_storage(minigrad.ones(2).storage())
        (False, True)
    """
    return isinstance(obj, TypedStorage)


def is_floating_point(input: Tensor) -> bool:
    """Tell whether it holds floats.

    Example:
        >>> import minigrad
        >>> minigrad.is_floating_point(minigrad.ones(2))
        True
    """
    return input._data.dtype.kind == "f"


def is_signed(input: Tensor) -> bool:
    """Tell whether its dtype has negative numbers.

    Example:
        >>> import minigrad
        >>> minigrad.is_signed(minigrad.tensor([1], dtype=minigrad.uint8))
        False
    """
    return input._data.dtype.kind in "fi"


def is_complex(input: Tensor) -> bool:
    """Return False: no tensor is complex, lazily conjugated or negated, or barred from gradients.

    Example:
        >>> import minigrad
        >>> minigrad.is_complex(minigrad.ones(2))
        False
    """
    return False


is_conj = is_neg = is_inference = is_complex


def is_nonzero(input: Tensor) -> bool:
    """Tell whether the only element is not 0.

    Raises:
        ValueError: There is not exactly one element.

    Example:
        >>> import minigrad
        >>> minigrad.is_nonzero(minigrad.tensor([0.0]))
        False
    """
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have one shape.

    Example:
        >>> import minigrad
        >>> minigrad.is_same_size(minigrad.ones(2, 3), minigrad.ones(3, 2))
        False
    """
    return input._data.shape == other._data.shape


def numel(input: Tensor) -> int:
    """Count the elements.

    Example:
        >>> import minigrad
        >>> minigrad.numel(minigrad.ones(2, 3))
        6
    """
    return input.shape.numel()


def get_device(input: Tensor) -> int:
    """Return -1, which stands for the CPU.

    Example:
        >>> import minigrad
        >>> minigrad.get_device(minigrad.ones(2))
        -1
    """
    return -1


def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor itself, as `conj` and `real` do: there are no complex numbers.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.resolve_conj(x) is x
        True
    """
    return input


conj = conj_physical = real = resolve_neg = resolve_conj


def promote_types(type1: Any, type2: Any) -> dtype:
    """Find the dtype of a result of tensors of two dtypes: integers never widen a float.

    Example:
        >>> import minigrad
        >>> minigrad.promote_types(minigrad.int64, minigrad.float16)
        minigrad.float16
    """
    one, other = checked(type1, "promote_types"), checked(type2, "promote_types")
    if "f" in (one.kind, other.kind) and one.kind != other.kind:
        return dtype(one if one.kind == "f" else other)
    return dtype(np.promote_types(one, other))


def can_cast(from_: Any, to: Any) -> bool:
    """Tell whether a dtype becomes another one without a change of its kind.

    Example:
        >>> import minigrad
        >>> minigrad.can_cast(minigrad.float64, minigrad.float32)
        True
        >>> minigrad.can_cast(minigrad.float32, minigrad.int64)
        False
    """
    kinds = "buif"
    one, other = (kinds.index(checked(one, "can_cast").kind) for one in (from_, to))
    return one <= other or {one, other} == {1, 2}


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Find the dtype of the sum of two tensors, or of a tensor and a number.

    Example:
        >>> import minigrad
        >>> minigrad.result_type(minigrad.ones(2), 1)
        minigrad.float32
    """
    zeros = [
        np.zeros((1,) * (np.ndim(x) > 0), x.dtype) if hasattr(x, "dtype") else type(x)()
        for x in (tensor1, tensor2)
    ]
    found: dtype = ops.add(*zeros).dtype
    return found


def typename(obj: Any) -> str:
    """Name the type: of a tensor with its dtype, of others with the module.

    Example:
        >>> import minigrad
        >>> minigrad.typename(minigrad.ones(2))
        'torch.FloatTensor'
    """
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None) or "builtins"  # a method of a built-in type has none
    named = f"{module}.{kind.__qualname__}".removeprefix("builtins.")
    return str(obj.type()) if is_tensor(obj) else named
