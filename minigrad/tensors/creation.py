"""Functions that create tensors from data, or from a shape."""

from __future__ import annotations

from typing import Any, ParamSpec, TypeVar

import numpy as np

from minigrad.autograd.call import made
from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.support.checks import fitted, on_cpu, shape_of
from minigrad.support.signatures import named

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones",
    "ones_like", "tensor", "zeros", "zeros_like",
]  # fmt: skip

P = ParamSpec("P")
T = TypeVar("T")


class Device(str):
    """The name of a device; a string with a `type`."""

    @property
    def type(self) -> str:
        """The name before the colon."""
        return self.partition(":")[0]


CPU = Device("cpu")


def _dtype(dtype: Any, name: str) -> np.dtype[Any]:
    return get_default_dtype() if dtype is None else checked(dtype, name)


@named
def tensor(
    data: Any, requires_grad: bool = False, dtype: Any = None, device: str = "cpu"
) -> Tensor:
    """Create a tensor from numbers, nested lists, an array or another tensor; always copies.

    Arguments and errors are as for `Tensor`. A tensor gives its values, as ``t.detach().clone()``
    does.

    Example:
        >>> import minigrad
        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        Tensor([[1., 2.],
                [3., 4.]], dtype=float32, requires_grad=True)
    """
    on_cpu(device)
    return made(to_array(data, dtype, name="tensor"), requires_grad)


@named
def asarray(obj: Any, dtype: Any = None) -> Tensor:
    """Convert numbers, nested lists or an array to a tensor; a tensor stays itself.

    Args:
        obj: What `tensor` takes.
        dtype: The dtype of the result; that of `obj` if None.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.asarray(x) is x, minigrad.asarray([1, 2]).tolist()
        (True, [1, 2])
    """
    if not isinstance(obj, Variable):
        return tensor(obj, dtype=dtype)
    known: Any = obj
    return known if dtype is None else known.astype(dtype)


@named
def zeros(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return a tensor of zeros.

    Args:
        *shape: The lengths of the axes, or one tuple of them.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.
        device: "cpu".

    Raises:
        TypeError: The shape is not made of integers.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2, 3).shape
        (2, 3)
    """
    on_cpu(device)
    return made(np.zeros(shape_of("zeros", shape), _dtype(dtype, "zeros")), requires_grad)


@named
def ones(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return a tensor of ones; arguments and errors as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.ones(2)
        Tensor([1., 1.], dtype=float32)
    """
    on_cpu(device)
    return made(np.ones(shape_of("ones", shape), _dtype(dtype, "ones")), requires_grad)


@named
def empty(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return a tensor whose values are not set; arguments and errors as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.empty(2, 3).shape
        (2, 3)
    """
    on_cpu(device)
    return made(np.empty(shape_of("empty", shape), _dtype(dtype, "empty")), requires_grad)


@named
def full(
    shape: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return a tensor filled with one value; arguments and errors as for `zeros`.

    By default it has the dtype of the value: the default dtype for a Python float.

    Example:
        >>> import minigrad
        >>> minigrad.full((2,), 7.0)
        Tensor([7., 7.], dtype=float32)
    """
    on_cpu(device)
    value = to_array(fill_value, dtype, name="full")
    return made(np.full(shape_of("full", (shape,)), value, value.dtype), requires_grad)


@named
def eye(
    n: int, m: int | None = None, dtype: Any = None, requires_grad: bool = False,
    device: str = "cpu", *, k: int = 0,
) -> Tensor:  # fmt: skip
    """Return an identity matrix of shape (n, m), or (n, n): ones on the diagonal, else zeros.

    With `k`, the ones are `k` above the main diagonal, or below it if `k` is negative. The other
    arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    on_cpu(device)
    rows, columns = shape_of("eye", (n, n if m is None else m))
    return made(np.eye(rows, columns, k, dtype=_dtype(dtype, "eye")), requires_grad)


@named
def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: Any = None,
    requires_grad: bool = False, device: str = "cpu",
) -> Tensor:  # fmt: skip
    """Return numbers that are `step` apart, from `start` (or 0) up to, but not including, `stop`.

    One number alone is `stop`. By default integers are int64, and other numbers have the default
    dtype. The other arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.arange(3)
        Tensor([0, 1, 2], dtype=int64)
    """
    on_cpu(device)
    if step == 0:
        raise ValueError("arange: step must not be 0")
    bounds = (0, start, step) if stop is None else (start, stop, step)
    large = any(isinstance(bound, int) and abs(bound) >= 2**63 for bound in bounds)
    whole = all(isinstance(bound, int) for bound in bounds)
    if large and whole:
        numbers = [*range(*bounds)]  # NumPy would make floats of them
        return made(to_array(numbers or np.arange(0), dtype, name="arange"), requires_grad)
    values = np.arange(*(map(float, bounds) if large else bounds))
    if dtype is None and values.dtype.kind == "f":
        dtype = get_default_dtype()
    elif dtype is None and whole:
        dtype = int
    return made(to_array(values, dtype, name="arange"), requires_grad)


@named
def linspace(
    start: float, stop: float, num: int = 50, dtype: Any = None, requires_grad: bool = False,
    device: str = "cpu", *, endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """Return `num` evenly spaced numbers from `start` to `stop`, both included.

    Without `endpoint`, `stop` is not included. The other arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.linspace(0, 1, 3)
        Tensor([0. , 0.5, 1. ], dtype=float32)
    """
    on_cpu(device)
    low, high = to_array([start, stop], np.float64, name="linspace")
    chosen = _dtype(dtype, "linspace")
    values = np.linspace(low, high, shape_of("linspace", (num,))[0], endpoint)
    if chosen.kind in "iu":
        values = np.floor(values)  # as NumPy does
    return made(fitted(values, chosen, "linspace"), requires_grad)


def _like(x: Any, dtype: Any, name: str, device: str) -> dict[str, Any]:
    on_cpu(device)
    known = x._data if isinstance(x, Variable) else to_array(x, name=name)
    return {"shape": known.shape, "dtype": known.dtype if dtype is None else checked(dtype, name)}


@named
def zeros_like(
    x: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return zeros in the shape of `x`, a tensor or an array, and in its dtype by default.

    The other arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.zeros_like(minigrad.ones(2))
        Tensor([0., 0.], dtype=float32)
    """
    return made(np.zeros(**_like(x, dtype, "zeros_like", device)), requires_grad)


@named
def ones_like(
    x: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return ones in the shape and dtype of another tensor; arguments as for `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.ones_like(minigrad.zeros(2))
        Tensor([1., 1.], dtype=float32)
    """
    return made(np.ones(**_like(x, dtype, "ones_like", device)), requires_grad)


@named
def empty_like(
    x: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return values that are not set, in the shape and dtype of another; see `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.empty_like(minigrad.zeros(2)).shape
        (2,)
    """
    return made(np.empty(**_like(x, dtype, "empty_like", device)), requires_grad)


@named
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Return one value in the shape and dtype of another tensor; arguments as for `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.full_like(minigrad.zeros(2), 3)
        Tensor([3., 3.], dtype=float32)
    """
    like = _like(x, dtype, "full_like", device)
    value = to_array(fill_value, like["dtype"], name="full_like")
    return made(np.full(fill_value=value, **like), requires_grad)
