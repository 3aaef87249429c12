"""Random numbers: one generator for the process, and keys for dropout.

`seed` makes a program reproducible. Each call of dropout draws a key. The mask depends on the key
alone, so any thread can compute it again, in any order.

A forked process (``os.fork``, or `multiprocessing` where it forks) draws other numbers than its
parent and its siblings. Its generator is seeded from the parent's state and from the number of
forks since `seed` or `set_state`, so a seeded program that forks is reproducible too. Forking does
not change the parent's numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np

from minigrad.autograd.call import made
from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.events import effect, reading
from minigrad.autograd.typing import Tensor
from minigrad.support.checks import check_flag, check_size, fitted, on_cpu, shape_of
from minigrad.support.random_state import register_draws, register_snapshot
from minigrad.support.signatures import named

__all__ = [
    "bernoulli", "generator", "get_state", "get_stream", "key", "multinomial", "normal",
    "permutation", "rand", "randint", "randn", "seed", "set_state", "set_stream", "uniform",
]  # fmt: skip

_generator: np.random.Generator | None = None  # NumPy loads its random numbers on first use
_lock = Lock()
_forks = 0  # since the last seed
_stream = 0
_repeating: ContextVar[np.random.Generator | None] = ContextVar("minigrad.random", default=None)


@reading
def generator() -> np.random.Generator:
    """Return the NumPy Generator from which all of minigrad draws.

    Example:
        >>> import minigrad
        >>> minigrad.random.generator().random() < 1
        True
    """
    return _repeating.get() or _generator or _begun()


def _begun() -> np.random.Generator:
    """The generator of the process, made by the first thread that asks."""
    global _generator
    with _lock:
        _generator = _generator or np.random.default_rng()
    return _generator


@effect
@named
def seed(value: int) -> None:
    """Seed the generator with an integer of at least 0, so that later draws are reproducible.

    They are in forked processes too.

    Example:
        >>> import minigrad
        >>> minigrad.random.seed(0)
        >>> a = minigrad.randn(3)
        >>> minigrad.random.seed(0)
        >>> bool((minigrad.randn(3) == a).min())
        True
    """
    set_state(dict(np.random.default_rng(value).bit_generator.state))


@reading
def get_state() -> dict[str, Any]:
    """Return the state of the generator for `set_state`: a dictionary of strings and integers.

    Example:
        >>> import minigrad
        >>> state = minigrad.random.get_state()
        >>> a = minigrad.rand(2)
        >>> minigrad.random.set_state(state)
        >>> bool((minigrad.rand(2) == a).min())
        True
    """
    state: dict[str, Any] = dict(generator().bit_generator.state)
    return state


@effect
def set_state(state: dict[str, Any]) -> None:
    """Restore a state of the generator that `get_state` returned.

    Raises:
        ValueError: It is not the state of this kind of generator.

    Example:
        >>> import minigrad
        >>> minigrad.random.set_state(minigrad.random.get_state())
    """
    global _forks
    try:
        generator().bit_generator.state = state
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"set_state: expected a state from get_state: {error}") from None
    _forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


def _leave_the_parents_numbers() -> None:
    """In a child process: seed from a hash of the parent's state and its number of forks."""
    global _forks, _lock
    _lock = Lock()  # a thread that held it is not here
    if _generator is not None:
        state: Any = _generator.bit_generator.state["state"]
        start = np.random.SeedSequence([state["state"], state["inc"], _forks])
        _generator.bit_generator.state = np.random.PCG64(start).state
    _forks = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork, after_in_child=_leave_the_parents_numbers)


@effect
def key() -> int:
    """Draw a random key, an integer of 63 bits, for one call of dropout.

    Example:
        >>> import minigrad
        >>> 0 <= minigrad.random.key() < 2**63
        True
    """
    return int(generator().integers(2**63)) ^ _stream


@effect
def set_stream(number: int) -> None:
    """Set which of many streams `key` gives, for processes whose other draws are to be the same.

    Args:
        number: A number of at least 0, such as the rank of this process.

    Example:
        >>> import minigrad
        >>> minigrad.random.set_stream(0)
    """
    global _stream
    _stream = check_size("set_stream", "number", number, least=0)


@reading
def get_stream() -> int:
    """Return the number of the stream that `set_stream` has set; 0 at first.

    Example:
        >>> import minigrad
        >>> minigrad.random.get_stream()
        0
    """
    return _stream


@effect
@named
def rand(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Draw uniform random numbers from 0 (included) to 1 (excluded).

    Arguments and errors are as for `minigrad.zeros`; the dtype is a float.

    Example:
        >>> import minigrad
        >>> minigrad.rand(2, 3).shape
        (2, 3)
    """
    on_cpu(device)
    size = shape_of("rand", shape)
    return made(np.asarray(generator().random(size)).astype(_float(dtype, "rand")), requires_grad)


@effect
@named
def randn(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Draw standard normal random numbers; arguments and errors as for `rand`.

    Example:
        >>> import minigrad
        >>> minigrad.randn(2, 3).shape
        (2, 3)
    """
    on_cpu(device)
    size = shape_of("randn", shape)
    return made(
        np.asarray(generator().standard_normal(size)).astype(_float(dtype, "randn")), requires_grad
    )


@effect
@named
def randint(
    low: int, high: int | None = None, size: Any = (), dtype: Any = None, device: str = "cpu"
) -> Tensor:
    """Draw uniform random integers from `low` (included) to `high` (excluded).

    Args:
        low: The smallest integer. If `high` is None: the end, and 0 is the smallest.
        high: The end.
        size: The shape.
        dtype: The dtype; int64 if None.
        device: "cpu".

    Raises:
        OverflowError: A drawn integer does not fit into the dtype.
        ValueError: There is no integer in the range.

    Example:
        >>> import minigrad
        >>> minigrad.randint(0, 10, size=(2, 3)).shape
        (2, 3)
    """
    on_cpu(device)
    draws = np.asarray(generator().integers(low, high, shape_of("randint", (size,))))
    if dtype is not None:
        draws = fitted(draws, checked(dtype, "randint"), "randint")
    return made(draws, False)


@effect
@named
def uniform(
    low: float = 0.0, high: float = 1.0, size: Any = (), dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Draw uniform random numbers from `low` (included) to `high` (excluded), of shape `size`.

    The other arguments are as for `rand`.

    Example:
        >>> import minigrad
        >>> float(minigrad.random.uniform(2.0, 3.0)) >= 2.0
        True
    """
    _finite("uniform", low, high)
    draws = generator().uniform(low, high, shape_of("uniform", (size,)))
    return made(np.asarray(draws).astype(_float(dtype, "uniform")), requires_grad)


@effect
@named
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Draw numbers from normal distributions with means `mean` and standard deviations `std`.

    Both may be arrays, whose broadcast shape is the default `size`. The other arguments are as for
    `rand`.

    Raises:
        ValueError: `std` is negative.

    Example:
        >>> import minigrad
        >>> minigrad.random.normal(1.0, 2.0, size=4).shape
        (4,)
    """
    mean, std = (to_array(value, np.float64, name="normal") for value in (mean, std))
    _finite("normal", mean, std)
    draws = generator().normal(mean, std, None if size is None else shape_of("normal", (size,)))
    return made(np.asarray(draws).astype(_float(dtype, "normal")), requires_grad)


@effect
@named
def bernoulli(p: Any) -> Tensor:
    """Draw ones with probability `p`, zeros otherwise, in the shape of `p` and the default dtype.

    Raises:
        ValueError: A probability is not between 0 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.random.bernoulli(minigrad.ones(3))
        Tensor([1., 1., 1.], dtype=float32)
    """
    chance = to_array(p, np.float64, name="bernoulli")
    if not ((chance >= 0) & (chance <= 1)).all():
        raise ValueError("bernoulli: probabilities must be between 0 and 1")
    return made((generator().random(chance.shape) < chance).astype(get_default_dtype()), False)


@effect
@named
def multinomial(weights: Any, num_samples: int, replacement: bool = False) -> Tensor:
    """Draw indices with given probabilities, as in PyTorch; NumPy's `multinomial` counts.

    Args:
        weights: Unnormalized probabilities, shape (..., classes): at least 0, and one of each row
            above 0.
        num_samples: The number of draws from each row.
        replacement: Whether indices can repeat. If not, they are in the order of the draws.

    Returns:
        A tensor of int64, shape (..., num_samples).

    Raises:
        TypeError: `num_samples` is not a whole number.
        ValueError: A weight is negative or not finite, or a row has too few above 0.

    Example:
        >>> import minigrad
        >>> minigrad.multinomial(minigrad.tensor([0.0, 2.0, 0.0, 1.0]), 2).sum()
        Tensor(4, dtype=int64)
    """
    count = check_size("multinomial", "num_samples", num_samples)
    check_flag("multinomial", "replacement", replacement)
    shares = to_array(weights, np.float64, name="multinomial")
    return made(choices("multinomial", generator(), shares, count, replacement), False)


def choices(
    name: str, draw: np.random.Generator, weights: np.ndarray, count: int, replacement: bool
) -> np.ndarray:
    """Draw indices of the last axis with given weights: see `multinomial`."""
    if not weights.ndim:
        raise ValueError(f"{name}: weights of shape (..., classes) expected, got a single number")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"{name}: finite weights of at least 0 expected, got {weights}")
    possible = (weights > 0).sum(axis=-1).min(initial=weights.shape[-1])
    if (weights.size and possible < (1 if replacement else count)) or not weights.shape[-1]:
        raise ValueError(
            f"{name}: {count} indices cannot be drawn {'with' if replacement else 'without'} "
            f"replacement from a row with {possible} weights above 0"
        )
    if not replacement:  # the smallest exponential variables with these rates
        with np.errstate(divide="ignore"):
            times = draw.standard_exponential(weights.shape) / weights
        return np.argsort(times, axis=-1)[..., :count]
    drawn = np.empty((*weights.shape[:-1], count), np.int64)
    for row in np.ndindex(weights.shape[:-1]):
        reached = np.cumsum(weights[row] / weights[row].max())
        marks = draw.random(count) * reached[-1]
        last = np.flatnonzero(weights[row])[-1]  # rounding can reach the end
        drawn[row] = np.minimum(np.searchsorted(reached, marks, side="right"), last)
    return drawn


@effect
@named
def permutation(n: int) -> Tensor:
    """Draw a permutation (int64) of the integers from 0 to `n` - 1.

    Example:
        >>> import minigrad
        >>> sorted(minigrad.random.permutation(4).tolist())
        [0, 1, 2, 3]
    """
    return made(generator().permutation(*shape_of("permutation", (n,))), False)


def _float(dtype: Any, name: str) -> np.dtype[Any]:
    chosen = get_default_dtype() if dtype is None else checked(dtype, name)
    if chosen.kind != "f":
        raise TypeError(f"{name}: a float dtype expected, got {chosen}; use randint for integers")
    return chosen


def _finite(name: str, *numbers: Any) -> None:
    if not all(np.isfinite(number).all() for number in numbers):
        raise ValueError(f"{name}: finite numbers expected, got {numbers}")


@effect
def repeated(like: Any = None) -> np.random.Generator:
    """A generator of its own that draws what the generator, or another, would draw next."""
    own = np.random.Generator(np.random.PCG64())
    own.bit_generator.state = (like or generator()).bit_generator.state
    return own


def repeating() -> Any | None:
    """The generator from which this thread draws instead of that of the process, if any."""
    return _repeating.get()


@contextmanager
def drawing_from(own: np.random.Generator | None) -> Iterator[None]:
    """Within the block, make minigrad draw from `own`, if it is given, in this thread."""
    outer = _repeating.get()
    try:
        _repeating.set(outer if own is None else own)
        yield
    finally:
        _repeating.set(outer)


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    start = repeated()
    return lambda: drawing_from(repeated(start))


register_snapshot(_snapshot)
register_draws(
    (bernoulli, generator, key, multinomial, normal, permutation, rand, randint, randn, uniform)
)
