"""Lucid 2's names that NumPy has not: conversions, and second names of dtypes.

Each is a second name, with the one meaning that the thing has here.

Source: Lucid 2.16.
"""

from typing import Any

from minigrad import ops
from minigrad.autograd import dtype_class, is_grad_enabled
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor

__all__ = ["cube", "grad_enabled", "to_tensor"]

grad_enabled = is_grad_enabled


def to_tensor(
    a: Any, requires_grad: bool = False, keep_grad: bool = False, dtype: Any = None,
    device: str = "cpu",
) -> Tensor:  # fmt: skip
    """Create a tensor: see `minigrad.tensor`; `keep_grad` changes nothing.

    Example:
        >>> import minigrad
        >>> minigrad.to_tensor([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """
    return tensor(a, requires_grad, dtype, device)


def cube(x: Any) -> Tensor:
    """Compute the third power of each element.

    Example:
        >>> import minigrad
        >>> minigrad.cube(minigrad.tensor([2.0, -1.0])).tolist()
        [8.0, -1.0]
    """
    return ops.power(x, 3)


for _name, _dtype in {
    "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Half": "float16", "Float": "float32", "Double": "float64",
}.items():  # fmt: skip
    globals().update(dict.fromkeys((_name, _dtype.capitalize()), dtype_class.dtype(_dtype)))
    __all__ += [_name, _dtype.capitalize()]
