"""Methods that write over a whole tensor: a copy, one number, random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from minigrad import ops, random
from minigrad.autograd.node import Variable
from minigrad.tensors.creation import tensor
from minigrad.tensors.inplace import assign, overwritten

__all__ = ["Fills"]


class Fills(Variable):
    """The methods; random ones draw from `generator`, or from the one of `minigrad.random`."""

    bernoulli = random.bernoulli
    multinomial = random.multinomial

    def copy_(self, src: Any, non_blocking: bool = False) -> Self:
        """Write the values of another tensor, which broadcast; recorded as every write is."""
        return overwritten(self, _broadcast, src)

    def zero_(self) -> Self:
        """Write 0 everywhere."""
        return overwritten(self, _broadcast, self._data.dtype.type(0))

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Self:
        """Write a number along the diagonal."""
        filled = self._data.copy()
        np.fill_diagonal(filled, fill_value, wrap)
        return self.copy_(filled)

    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Write what a function of Python gives for each element."""
        return self._filled(np.vectorize(callable)(self._data))

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Self:
        """Write normal random numbers."""
        dtype = self._data.dtype
        return self._drawn(lambda g, shape: random.normal(mean, std, shape, dtype), generator)

    def uniform_(self, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Self:
        """Write uniform random numbers."""
        dtype = self._data.dtype
        return self._drawn(lambda g, shape: random.uniform(from_, to, shape, dtype), generator)

    def log_normal_(self, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Self:
        """Write the exponentials of normal random numbers."""
        return self._drawn(lambda g, shape: g.lognormal(mean, std, shape), generator)

    def cauchy_(self, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Self:
        """Write random numbers of a Cauchy distribution."""
        return self._drawn(lambda g, n: median + sigma * g.standard_cauchy(n), generator)

    def geometric_(self, p: float, *, generator: Any = None) -> Self:
        """Write how many draws it takes until one of probability p succeeds."""
        return self._drawn(lambda g, shape: g.geometric(p, shape), generator)

    def exponential_(self, lambd: float = 1.0, *, generator: Any = None) -> Self:
        """Write exponential random numbers."""
        return self._drawn(lambda g, shape: g.exponential(1 / lambd, shape), generator)

    def random_(self, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Self:
        """Write random integers from `from_` to before `to`; from 0 if one number is given."""
        low, high = (0, from_) if to is None and from_ else (from_, to or 2**24)
        return self._drawn(lambda g, shape: g.integers(low, high, shape), generator)

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Self:
        """Write 1 with a probability, else 0."""
        return self._drawn(lambda g, shape: g.random(shape) < getattr(p, "_data", p), generator)

    def _drawn(self, draw: Callable[..., Any], generator: Any) -> Self:
        with random.drawing_from(generator):
            values = draw(random.generator(), self._data.shape)
        return self._filled(getattr(values, "_data", values))

    def _filled(self, values: Any) -> Self:
        assign(self, np.asarray(values).astype(self._data.dtype, copy=False), "a random fill")
        return self


def _broadcast(x: Any, values: Any) -> Any:
    given = values if isinstance(values, Variable) else tensor(values)
    return ops.broadcast_to(given, x._data.shape)


_broadcast.__name__ = "copy_"
