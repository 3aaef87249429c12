"""Lucid 2's names that NumPy has not: conversions, devices, and second names of dtypes.

Each is a second name, with the one meaning that the thing has here.

Source: Lucid 2.16.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd import is_grad_enabled
from minigrad.support.checks import on_cpu
from minigrad.tensors.creation import tensor
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = ["cube", "div", "grad_enabled", "sub", "to_tensor", "unsqueeze"]

grad_enabled, sub, unsqueeze = is_grad_enabled, ops.subtract, ops.expand_dims


def to_tensor(
    a: Any, requires_grad: bool = False, keep_grad: bool = False, dtype: Any = None,
    device: str = "cpu",
) -> Tensor:  # fmt: skip
    """Create a tensor: see `minigrad.tensor`.

    Args:
        a: Numbers, nested lists, an array or another tensor.
        requires_grad: Whether gradients are recorded for it.
        keep_grad: Changes nothing: a leaf keeps its gradient.
        dtype: The dtype; that of the data if None.
        device: "cpu".

    Example:
        >>> import minigrad
        >>> minigrad.to_tensor([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """
    return tensor(a, requires_grad, dtype, device)


def div(a: Any, b: Any, floor: bool = False) -> Tensor:
    """Divide element by element.

    Args:
        a: Tensor, array or number.
        b: The divisor.
        floor: Round down.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([7.0])
        >>> minigrad.div(x, 2).item(), minigrad.div(x, 2, floor=True).item()
        (3.5, 3.0)
    """
    return ops.floor_divide(a, b) if floor else ops.divide(a, b)


def cube(x: Any) -> Tensor:
    """Compute the third power of each element.

    Args:
        x: Tensor, array or number.

    Returns:
        A tensor of the shape of `x`.

    Example:
        >>> import minigrad
        >>> minigrad.cube(minigrad.tensor([2.0, -1.0])).tolist()
        [8.0, -1.0]
    """
    return ops.power(x, 3)


def zero(x: Tensor) -> Tensor:
    """Set all elements to 0, in place; returns the tensor."""
    assign(x, 0, "zero")
    return x


def gpu(x: Tensor) -> Tensor:
    """Raise an error: there is no GPU."""
    on_cpu("gpu")
    return x


def new_tensor(x: Tensor) -> Tensor:
    """Create a leaf with a copy of the values."""
    return tensor(x, x.requires_grad)


def cpu(x: Tensor) -> Tensor:
    """Return the tensor: it is on the CPU."""
    return x


def is_cpu(x: Tensor) -> bool:
    """Return True: a tensor is on the CPU."""
    return True


def is_gpu(x: Tensor) -> bool:
    """Return False: a tensor is on the CPU."""
    return False


for _method in (zero, gpu, new_tensor, cpu, is_cpu, is_gpu):
    setattr(Tensor, _method.__name__, _method)


def _conversion(name: str, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor]:
    def convert(x: Tensor) -> Tensor:
        return x.astype(dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"Convert to {dtype}; see `minigrad.astype`."
    return convert


def _creation(name: str, dtype: np.dtype[Any]) -> Callable[..., Tensor]:
    def create(
        data: Any, requires_grad: bool = False, keep_grad: bool = False, device: str = "cpu"
    ) -> Tensor:
        return to_tensor(data, requires_grad, keep_grad, dtype, device)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = f"""Create a tensor of {dtype}; the arguments are those of `to_tensor`.

    Example:
        >>> import minigrad
        >>> minigrad.{name}([1, 0]).dtype
        dtype('{dtype}')
    """
    return create


for _name, _dtype in {
    "Bool": "bool", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Half": "float16", "Float": "float32", "Double": "float64",
}.items():  # fmt: skip
    setattr(Tensor, _name.lower(), _conversion(_name.lower(), np.dtype(_dtype)))
    globals()[f"{_name}Tensor"] = _creation(f"{_name}Tensor", np.dtype(_dtype))
    __all__.append(f"{_name}Tensor")
    if _name != "Bool":
        globals().update(dict.fromkeys((_name, _dtype.capitalize()), np.dtype(_dtype)))
        __all__ += [_name, _dtype.capitalize()]
