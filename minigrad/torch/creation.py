"""Functions that create PyTorch's tensors: from data, from a shape, or at random."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import random
from minigrad.tensors.creation import full_like, tensor
from minigrad.torch.random import drawing
from minigrad.torch.tensor import _named, adopt

__all__ = [
    "bernoulli", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm",
]  # fmt: skip

_IGNORED = {"layout", "pin_memory", "memory_format", "names", "out"}


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


@_drawn
def rand(*size: Any, **options: Any) -> Any:
    """Uniform random numbers from 0 to before 1, in a shape."""
    return adopt(minigrad.rand(_sizes(size, options), **_options(options)))


@_drawn
def randn(*size: Any, **options: Any) -> Any:
    """Normal random numbers, in a shape."""
    return adopt(minigrad.randn(_sizes(size, options), **_options(options)))


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
