"""Shapes and devices, and functions that create tensors from data or from a shape."""

from __future__ import annotations

import math
from typing import Any, Self, SupportsIndex, overload

import numpy as np

from minigrad.autograd import dtype_class
from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.lending import borrow
from minigrad.autograd.node import Variable, data_of
from minigrad.autograd.typing import Tensor
from minigrad.ops.argument_errors import created
from minigrad.support.checks import fitted, shape_of

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy",
    "frombuffer", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "range",
    "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip


class Size(tuple[int, ...]):
    """A shape: a tuple that knows the number of elements, and whose parts and sums are shapes.

    Source: PyTorch 2.13, "torch.Size".

    Example:
        >>> import minigrad
        >>> shape = minigrad.ones(2, 3).shape
        >>> shape == (2, 3), shape.numel()
        (True, 6)
        >>> shape, shape[1:], (1, *shape[:1]) + shape
        (minigrad.Size([2, 3]), minigrad.Size([3]), minigrad.Size([1, 2, 2, 3]))
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __getitem__(self, index: Any, /) -> int | Size:
        found = tuple.__getitem__(self, index)  # faster than by `super()`
        return Size(found) if found.__class__ is tuple else found

    def __add__(self, other: Any, /) -> Size:
        return Size(super().__add__(other))

    def __radd__(self, other: tuple[int, ...], /) -> Size:
        return Size(other + tuple(self))

    def __mul__(self, times: SupportsIndex, /) -> Size:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"{dtype_class.shown_as}.Size({[*self]})"

    def __format__(self, spec: str) -> str:
        """In an f-string a plain tuple, as messages say shapes; PyTorch's scripts get their own."""
        return format(repr(self if dtype_class.shown_as == "torch" else tuple(self)), spec)


class Device(str):
    """The name of a device; a string with a `type`, and a block in which tensors are made there."""

    def __new__(cls, type: str, index: int | None = None) -> Self:
        """The device of a name, such as "cpu:0", or of a type and a number."""
        return super().__new__(cls, type if index is None else f"{type}:{index}")

    @property
    def type(self) -> str:
        """The name before the colon."""
        return str(self).partition(":")[0]

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """The number behind the colon, None if there is none."""
        number = str(self).partition(":")[2]
        return int(number) if number else None

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...


CPU = Device("cpu")


class Constant(str):
    """The name of a way to lay out memory; it prints as a dtype does."""

    def __repr__(self) -> str:
        return f"{dtype_class.shown_as}.{super().__str__()}"

    __str__ = __repr__


STRIDED = Constant("strided")


def _dtype(dtype: Any, name: str) -> np.dtype[Any]:
    return checked(get_default_dtype() if dtype is None else dtype, name)


@created
def tensor(
    data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = "cpu"
) -> Tensor:
    """Create a tensor from numbers, nested lists, an array or another tensor; always copies.

    Arguments and errors are as for `Tensor`. A tensor gives its values, as ``t.detach().clone()``
    does.

    Example:
        >>> import minigrad
        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        tensor([[1., 2.],
                [3., 4.]], requires_grad=True)
    """
    return leaf_of(to_array(data, dtype, name="tensor", of_numbers=True), requires_grad)


@created
def asarray(
    obj: Any, dtype: Any = None, device: Any = None, *, copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:  # fmt: skip
    """Convert numbers, nested lists or an array to a tensor; a tensor stays itself.

    An array of that dtype shares its memory, as in `from_numpy`.

    Args:
        obj: What `tensor` takes.
        dtype: The dtype of the result; that of `obj` if None.
        device: The CPU, or None.
        copy: True for memory of its own; False if it must be shared.
        requires_grad: Whether the result requires a gradient; if None, as `obj` does.

    Raises:
        ValueError: `copy` is False, and the memory cannot be shared.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.asarray(x) is x, minigrad.asarray([1, 2]).tolist()
        (True, [1, 2])
    """
    found: Any = obj
    if isinstance(obj, np.ndarray) and dtype in (None, obj.dtype):
        found = from_numpy(obj)
    elif not isinstance(obj, Variable):
        found = tensor(obj, dtype=dtype)
    elif dtype is not None:
        found = found.astype(dtype)
    shared = found is obj or (isinstance(obj, np.ndarray) and np.shares_memory(found._data, obj))
    if copy is False and not shared:
        raise ValueError("asarray: copy=False needs a tensor, or an array, of the asked dtype")
    found = found.clone() if copy and shared else found
    if requires_grad is None:
        return found
    return found.requires_grad_() if requires_grad else found.detach()


@created
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of the data; a tensor of that dtype stays itself: see `asarray`.

    Example:
        >>> import minigrad
        >>> x = minigrad.ones(2)
        >>> minigrad.as_tensor(x) is x
        True
    """
    return asarray(data, dtype)


@created
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """Return a tensor that shares the memory of an array, if that can be written to.

    A tensor without a history, which NumPy's functions make of tensors, is copied.

    Raises:
        TypeError: It is not an array of numbers.

    Example:
        >>> import minigrad, numpy as np
        >>> array = np.zeros(2)
        >>> minigrad.from_numpy(array)[0] = 1
        >>> array
        array([1., 0.])
    """
    array = isinstance(ndarray, np.ndarray)
    if not array and getattr(ndarray, "_node", ndarray) is not None:
        raise TypeError(f"from_numpy: an ndarray expected, got {type(ndarray).__name__}")
    if not array or ndarray.dtype.kind not in "biuf" or not ndarray.flags.writeable:
        return tensor(ndarray)
    return leaf_of(borrow(ndarray), False)


@created
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a row of numbers that shares the memory of a buffer, if that can be written to.

    Args:
        buffer: Bytes, a bytearray, or another object with a buffer.
        dtype: The dtype of the numbers in it.
        count: How many of them; -1 for all.
        offset: The number of bytes before them.
        requires_grad: Whether to compute gradients for it.

    Example:
        >>> import minigrad
        >>> minigrad.frombuffer(bytearray([1, 0, 2, 0]), dtype=minigrad.int16).tolist()
        [1, 2]
    """
    chosen = checked(dtype, "frombuffer")
    if dtype is None or not chosen.isnative:
        raise TypeError(f"frombuffer: a dtype such as minigrad.int32 expected, got {dtype!r}")
    numbers = np.frombuffer(buffer, chosen, count, offset)
    return from_numpy(numbers).requires_grad_(requires_grad)


@created
def scalar_tensor(s: Any, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
    """Return a tensor without axes, of the default dtype if none is given.

    Example:
        >>> import minigrad
        >>> minigrad.scalar_tensor(2).dtype
        minigrad.float32
    """
    return tensor(s, dtype=_dtype(dtype, "scalar_tensor"), device=device, **options)


@created
def zeros(
    *size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return a tensor of zeros.

    Args:
        *size: The lengths of the axes, or one tuple of them.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.
        device: "cpu".

    Raises:
        TypeError: The shape is not made of integers.

    Example:
        >>> import minigrad
        >>> minigrad.zeros(2, 3).shape
        minigrad.Size([2, 3])
    """
    return leaf_of(np.zeros(shape_of("zeros", size), _dtype(dtype, "zeros")), requires_grad)


@created
def ones(*size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu") -> Tensor:
    """Return a tensor of ones; arguments and errors as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.ones(2)
        tensor([1., 1.])
    """
    return leaf_of(np.ones(shape_of("ones", size), _dtype(dtype, "ones")), requires_grad)


@created
def empty(
    *size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return a tensor whose values are not set; arguments and errors as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.empty(2, 3).shape
        minigrad.Size([2, 3])
    """
    return leaf_of(np.empty(shape_of("empty", size), _dtype(dtype, "empty")), requires_grad)


@created
def full(
    size: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return a tensor filled with one value; arguments and errors as for `zeros`.

    By default it has the dtype of the value: the default dtype for a Python float.

    Example:
        >>> import minigrad
        >>> minigrad.full((2,), 7.0)
        tensor([7., 7.])
    """
    if isinstance(fill_value, (np.generic, Variable)) and not np.ndim(data_of(fill_value)):
        fill_value = fill_value.item()  # type: ignore[union-attr]
    value = to_array(fill_value, dtype, name="full")
    return leaf_of(np.full(shape_of("full", (size,)), value, value.dtype), requires_grad)


@created
def eye(
    n: int, m: int | None = None, dtype: Any = None, requires_grad: bool = False,
    device: Any = "cpu", *, k: int = 0,
) -> Tensor:  # fmt: skip
    """Return an identity matrix of shape (n, m), or (n, n): ones on the diagonal, else zeros.

    With `k`, the ones are `k` above the main diagonal, or below it if `k` is negative. The other
    arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = shape_of("eye", (n, n if m is None else m))
    return leaf_of(np.eye(rows, columns, k, dtype=_dtype(dtype, "eye")), requires_grad)


@created
def arange(
    start: float | None = None, end: float | None = None, step: float = 1, dtype: Any = None,
    requires_grad: bool = False, device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Return numbers that are `step` apart, from `start` (or 0) up to, but not including, `end`.

    One number alone is `end`. By default integers are int64, and other numbers have the default
    dtype; with an integer dtype, numbers are cut off first. The other arguments are as for `zeros`.

    Raises:
        ValueError: `step` is 0, or leads away from `end`.

    Example:
        >>> import minigrad
        >>> minigrad.arange(3)
        tensor([0, 1, 2])
    """
    if start is None and end is None:
        raise TypeError("arange: the end is missing")
    bounds: Any = (0, start, step) if end is None else (0 if start is None else start, end, step)
    whole = all(isinstance(bound, int) for bound in bounds)
    # NumPy would make floats of larger ones.
    if whole and not all(-(2**63) <= bound < 2**63 for bound in bounds):
        raise OverflowError(f"arange: integers of 64 bits expected, got {bounds}")
    if dtype is not None and not whole and checked(dtype, "arange").kind in "iu":
        bounds = tuple(map(int, bounds))  # as in PyTorch
    if not bounds[2]:
        raise ValueError("arange: step must not be 0")
    values = np.arange(*bounds)
    if not values.size and bounds[0] != bounds[1]:
        raise ValueError(f"arange: step must lead from {bounds[0]} to {bounds[1]}, got {bounds[2]}")
    if dtype is None and values.dtype.kind == "f":
        dtype = get_default_dtype()
    elif dtype is None and whole:
        dtype = int
    return leaf_of(to_array(values, dtype, name="arange"), requires_grad)


@created
def linspace(
    start: float, end: float, steps: int = 50, dtype: Any = None, requires_grad: bool = False,
    device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Return evenly spaced numbers from `start` to `end`, both included.

    PyTorch has no default of `steps`; NumPy's is 50. The arguments after `steps` are as for
    `zeros`. Integers are cut off.

    Example:
        >>> import minigrad
        >>> minigrad.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    low, high = to_array([start, end], np.float64, name="linspace")
    chosen = _dtype(dtype, "linspace")
    values = np.linspace(low, high, shape_of("linspace", (steps,))[0])
    return leaf_of(fitted(values, chosen, "linspace"), requires_grad)


@created
def range(
    start: float = 0, end: float | None = None, step: float = 1, dtype: Any = None,
    **options: Any
) -> Tensor:  # fmt: skip
    """Return numbers from `start` to `end`, which is included; floats by default.

    Example:
        >>> import minigrad
        >>> minigrad.range(1, 3).tolist()
        [1.0, 2.0, 3.0]
    """
    start, end = (0, start) if end is None else (start, end)
    return arange(start, end + step, step, dtype=_dtype(dtype, "range"), **options)


@created
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, dtype: Any = None,
    requires_grad: bool = False, device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Return powers of a base, with evenly spaced exponents from `start` to `end`.

    Example:
        >>> import minigrad
        >>> minigrad.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    chosen = _dtype(dtype, "logspace")
    if chosen.kind in "iu":
        start, end = int(start), int(end)  # PyTorch rounds the ends too
    powers = base ** linspace(start, end, steps, np.float64)._data
    return leaf_of(fitted(powers, chosen, "logspace"), requires_grad)


@created
def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Return the indices of the lower triangle of a matrix: a row of rows, a row of columns.

    Example:
        >>> import minigrad
        >>> minigrad.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return tensor(np.stack(np.tril_indices(row, offset, col)), **options)


@created
def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    """Return the indices of the upper triangle of a matrix: a row of rows, a row of columns.

    Example:
        >>> import minigrad
        >>> minigrad.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return tensor(np.stack(np.triu_indices(row, offset, col)), **options)


def _like(x: Any, dtype: Any, name: str) -> dict[str, Any]:
    known = x._data if isinstance(x, Variable) else to_array(x, name=name)
    return {"shape": known.shape, "dtype": known.dtype if dtype is None else checked(dtype, name)}


@created
def zeros_like(
    input: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return zeros in the shape of `input`, a tensor or an array, and in its dtype by default.

    The other arguments are as for `zeros`.

    Example:
        >>> import minigrad
        >>> minigrad.zeros_like(minigrad.ones(2))
        tensor([0., 0.])
    """
    return leaf_of(np.zeros(**_like(input, dtype, "zeros_like")), requires_grad)


@created
def ones_like(
    input: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return ones in the shape and dtype of another tensor; arguments as for `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.ones_like(minigrad.zeros(2))
        tensor([1., 1.])
    """
    return leaf_of(np.ones(**_like(input, dtype, "ones_like")), requires_grad)


@created
def empty_like(
    input: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return values that are not set, in the shape and dtype of another; see `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.empty_like(minigrad.zeros(2)).shape
        minigrad.Size([2])
    """
    return leaf_of(np.empty(**_like(input, dtype, "empty_like")), requires_grad)


@created
def full_like(
    input: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False, device: Any = "cpu"
) -> Tensor:
    """Return one value in the shape and dtype of another tensor; arguments as for `zeros_like`.

    Example:
        >>> import minigrad
        >>> minigrad.full_like(minigrad.zeros(2), 3)
        tensor([3., 3.])
    """
    like = _like(input, dtype, "full_like")
    value = to_array(fill_value, like["dtype"], name="full_like")
    return leaf_of(np.full(fill_value=value, **like), requires_grad)
