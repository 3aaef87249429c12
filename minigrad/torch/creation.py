"""Functions that create PyTorch's tensors: from data, from a shape, or at random."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import random
from minigrad.autograd.node import Variable
from minigrad.torch.random import drawing
from minigrad.torch.tensor import Tensor, _named, adopt

__all__ = [
    "arange", "as_tensor", "asarray", "bernoulli", "empty", "empty_like", "eye", "from_numpy",
    "full", "full_like", "linspace", "logspace", "normal", "ones", "ones_like", "poisson", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "range",
    "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip

_IGNORED = {"layout", "pin_memory", "memory_format", "names", "out"}


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A tensor with a copy of the data.

    Example:
        >>> from minigrad import torch
        >>> torch.tensor([1.0, 2.0])
        Tensor([1., 2.], dtype=float32)
    """
    return adopt(minigrad.tensor(data, requires_grad, dtype, _named(device)))


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """A tensor with the data; a tensor of that dtype stays itself."""
    if isinstance(data, Variable) and (dtype is None or data._data.dtype == np.dtype(dtype)):
        return data if isinstance(data, Tensor) else adopt(minigrad.ops.getitem(data, ...))
    if isinstance(data, Variable):
        return adopt(minigrad.ops.astype(data, dtype))
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray: np.ndarray) -> Any:
    """A tensor that shares the memory of an array, if that can be written to."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: an ndarray expected, got {type(ndarray).__name__}")
    made = tensor(0.0)
    made._data = ndarray if ndarray.flags.writeable else ndarray.copy()
    return tensor(ndarray) if ndarray.dtype.kind not in "biuf" else made


def scalar_tensor(s: Any, **options: Any) -> Any:
    """A tensor without axes."""
    return tensor(s, **{"dtype": minigrad.get_default_dtype(), **_options(options)})


def _drawn(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which draws from the generator that it is given."""

    @functools.wraps(function)
    def call(*args: Any, generator: Any = None, **options: Any) -> Any:
        with drawing(generator):
            return function(*args, **options)

    return call


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Keywords of creation, with what changes nothing left out."""
    kept = {name: value for name, value in given.items() if name not in _IGNORED}
    if "device" in kept:
        kept["device"] = _named(kept["device"])
    return kept


def _sizes(size: tuple[Any, ...], options: dict[str, Any]) -> tuple[int, ...]:
    given = options.pop("size", size)
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = given[0]
    return tuple(int(n) for n in given)


def zeros(*size: Any, **options: Any) -> Any:
    """Zeros, in a shape."""
    return adopt(minigrad.zeros(_sizes(size, options), **_options(options)))


def ones(*size: Any, **options: Any) -> Any:
    """Ones, in a shape."""
    return adopt(minigrad.ones(_sizes(size, options), **_options(options)))


def empty(*size: Any, **options: Any) -> Any:
    """A tensor that is not filled, in a shape."""
    return adopt(minigrad.empty(_sizes(size, options), **_options(options)))


@_drawn
def rand(*size: Any, **options: Any) -> Any:
    """Uniform random numbers from 0 to before 1, in a shape."""
    return adopt(minigrad.rand(_sizes(size, options), **_options(options)))


@_drawn
def randn(*size: Any, **options: Any) -> Any:
    """Normal random numbers, in a shape."""
    return adopt(minigrad.randn(_sizes(size, options), **_options(options)))


def full(size: Any, fill_value: Any, **options: Any) -> Any:
    """One number everywhere, in a shape."""
    size = (size,) if isinstance(size, int) else tuple(size)
    return adopt(minigrad.full(size, getattr(fill_value, "_data", fill_value), **_options(options)))


def eye(n: int, m: int | None = None, **options: Any) -> Any:
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    return adopt(minigrad.eye(n, m, **_options(options)))


def arange(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Any:
    """Numbers from `start` to before `end`."""
    if end is None:
        start, end = 0, start
    return adopt(minigrad.arange(start, end, step, **_options(options)))


def range(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Any:
    """Numbers from `start` to `end`, floats by default."""
    options.setdefault("dtype", minigrad.get_default_dtype())
    return arange(start, end + step, step, **options)


def linspace(start: Any, end: Any, steps: int, **options: Any) -> Any:
    """So many numbers from `start` to `end`, floats by default."""
    return adopt(minigrad.linspace(start, end, steps, **_options(options)))


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **options: Any) -> Any:
    """Powers of a base, with exponents from `start` to `end`."""
    return base ** linspace(start, end, steps, **options)


@_drawn
def randint(low: int, high: Any = None, size: Any = None, **options: Any) -> Any:
    """Random integers from `low` to before `high`; from 0 if only one bound is given."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    options.pop("requires_grad", None)
    return adopt(minigrad.randint(low, high, tuple(size), **_options(options)))


@_drawn
def randperm(n: int, **options: Any) -> Any:
    """The integers from 0 to before n in random order."""
    return adopt(random.permutation(n))


@_drawn
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, **options: Any) -> Any:
    """Normal random numbers."""
    dtype = getattr(mean, "dtype", getattr(std, "dtype", None))
    return adopt(random.normal(mean, std, size, options.get("dtype") or dtype))


@_drawn
def bernoulli(input: Any, p: Any = None) -> Any:
    """1 with each element's probability, else 0."""
    return adopt(random.bernoulli(input if p is None else full_like(input, p)))


@_drawn
def poisson(input: Any) -> Any:
    """Poisson random numbers, with each element as the rate."""
    drawn = random.generator().poisson(input._data)
    return tensor(drawn.astype(input._data.dtype))


def _like(function: Any, input: Any, options: dict[str, Any], *args: Any) -> Any:
    given = _options(options)
    given["dtype"] = given.get("dtype") or input._data.dtype
    return adopt(function(tuple(input._data.shape), *args, **given))


def zeros_like(input: Any, **options: Any) -> Any:
    """Zeros, in the shape and dtype of a tensor."""
    return _like(minigrad.zeros, input, options)


def ones_like(input: Any, **options: Any) -> Any:
    """Ones, in the shape and dtype of a tensor."""
    return _like(minigrad.ones, input, options)


def empty_like(input: Any, **options: Any) -> Any:
    """A tensor that is not filled, in the shape and dtype of a tensor."""
    return _like(minigrad.empty, input, options)


def full_like(input: Any, fill_value: Any, **options: Any) -> Any:
    """One number everywhere, in the shape and dtype of a tensor."""
    return _like(minigrad.full, input, options, fill_value)


@_drawn
def rand_like(input: Any, **options: Any) -> Any:
    """Uniform random numbers, in the shape and dtype of a tensor."""
    return _like(minigrad.rand, input, options)


@_drawn
def randn_like(input: Any, **options: Any) -> Any:
    """Normal random numbers, in the shape and dtype of a tensor."""
    return _like(minigrad.randn, input, options)


@_drawn
def randint_like(input: Any, low: int, high: int | None = None, **options: Any) -> Any:
    """Random integers, in the shape and dtype of a tensor."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input._data.shape)).to(input._data.dtype)


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Any:
    """The indices of the lower triangle of a matrix: a row of rows, a row of columns."""
    return tensor(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Any:
    """The indices of the upper triangle of a matrix: a row of rows, a row of columns."""
    return tensor(np.stack(np.triu_indices(row, offset, col)))
