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
from typing import Any

import numpy as np

from minigrad._creation import made, named, on_cpu, shape_of
from minigrad._dtypes import checked, get_default_dtype, to_array
from minigrad._typing import Tensor
from minigrad.transforms.random_state import register_snapshot

__all__ = [
    "bernoulli", "generator", "get_state", "key", "normal", "permutation", "rand", "randint",
    "randn", "seed", "set_state", "uniform",
]  # fmt: skip

_generator = np.random.default_rng()
_forks = 0  # since the last seed
_repeating: ContextVar[np.random.Generator | None] = ContextVar("minigrad.random", default=None)


def generator() -> np.random.Generator:
    """The generator from which all of minigrad draws.

    Returns:
        A NumPy Generator.

    Example:
        >>> import minigrad
        >>> minigrad.random.generator().random() < 1
        True
    """
    return _repeating.get() or _generator


@named
def seed(value: int) -> None:
    """Seed the generator, so that later draws are reproducible, in forked processes too.

    Args:
        value: A non-negative integer.

    Example:
        >>> import minigrad
        >>> minigrad.random.seed(0)
        >>> a = minigrad.randn(3)
        >>> minigrad.random.seed(0)
        >>> bool((minigrad.randn(3) == a).min())
        True
    """
    set_state(dict(np.random.default_rng(value).bit_generator.state))


def get_state() -> dict[str, Any]:
    """The state of the generator, for `set_state`.

    Returns:
        A dictionary of strings and integers.

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


def set_state(state: dict[str, Any]) -> None:
    """Restore a state of the generator that `get_state` returned.

    Args:
        state: The state.

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
    global _forks
    state: Any = _generator.bit_generator.state["state"]
    start = np.random.SeedSequence([state["state"], state["inc"], _forks])
    _generator.bit_generator.state = np.random.PCG64(start).state
    _forks = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork, after_in_child=_leave_the_parents_numbers)


def key() -> int:
    """Draw a random key for one call of dropout.

    Returns:
        An integer of 63 bits.

    Example:
        >>> import minigrad
        >>> 0 <= minigrad.random.key() < 2**63
        True
    """
    return int(generator().integers(2**63))


@named
def rand(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Uniform random numbers from 0 (included) to 1 (excluded).

    Args:
        *shape: The lengths of the axes, or one tuple of them.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.
        device: "cpu".

    Returns:
        A leaf.

    Example:
        >>> import minigrad
        >>> minigrad.rand(2, 3).shape
        (2, 3)
    """
    on_cpu(device)
    size = shape_of("rand", shape)
    return made(np.asarray(generator().random(size)).astype(_float(dtype, "rand")), requires_grad)


@named
def randn(
    *shape: Any, dtype: Any = None, requires_grad: bool = False, device: str = "cpu"
) -> Tensor:
    """Random numbers from the standard normal distribution (mean 0, variance 1).

    Args:
        *shape: The lengths of the axes, or one tuple of them.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.
        device: "cpu".

    Returns:
        A leaf.

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


@named
def randint(low: int, high: int | None = None, size: Any = (), device: str = "cpu") -> Tensor:
    """Uniform random integers from `low` (included) to `high` (excluded).

    Args:
        low: The smallest integer. If `high` is None: the end, and 0 is the smallest.
        high: The end.
        size: The shape.
        device: "cpu".

    Returns:
        A tensor of int64.

    Raises:
        ValueError: There is no integer in the range.

    Example:
        >>> import minigrad
        >>> minigrad.randint(0, 10, size=(2, 3)).shape
        (2, 3)
    """
    on_cpu(device)
    return made(generator().integers(low, high, shape_of("randint", (size,))), False)


@named
def uniform(
    low: float = 0.0, high: float = 1.0, size: Any = (), dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform random numbers from `low` (included) to `high` (excluded).

    Args:
        low: The lower end.
        high: The upper end.
        size: The shape.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.

    Returns:
        A leaf.

    Example:
        >>> import minigrad
        >>> float(minigrad.random.uniform(2.0, 3.0)) >= 2.0
        True
    """
    _finite("uniform", low, high)
    draws = generator().uniform(low, high, shape_of("uniform", (size,)))
    return made(np.asarray(draws).astype(_float(dtype, "uniform")), requires_grad)


@named
def normal(
    mean: float = 0.0, std: float = 1.0, size: Any = (), dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Random numbers from a normal distribution.

    Args:
        mean: Its mean.
        std: Its standard deviation.
        size: The shape.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.

    Returns:
        A leaf.

    Raises:
        ValueError: `std` is negative.

    Example:
        >>> import minigrad
        >>> minigrad.random.normal(1.0, 2.0, size=4).shape
        (4,)
    """
    _finite("normal", mean, std)
    draws = generator().normal(mean, std, shape_of("normal", (size,)))
    return made(np.asarray(draws).astype(_float(dtype, "normal")), requires_grad)


@named
def bernoulli(p: Any) -> Tensor:
    """Random ones with probability `p`, zeros otherwise.

    Args:
        p: Probabilities, of any shape.

    Returns:
        A tensor of the shape of `p`, in the default dtype.

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


@named
def permutation(n: int) -> Tensor:
    """A random permutation of the integers from 0 to `n` - 1.

    Args:
        n: How many.

    Returns:
        A tensor of int64, shape (n,).

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


@contextmanager
def drawing_from(own: np.random.Generator) -> Iterator[None]:
    """Within the block, make minigrad draw from `own`, in this thread."""
    outer = _repeating.get()
    try:
        _repeating.set(own)
        yield
    finally:
        _repeating.set(outer)


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    state = get_state()

    def again() -> AbstractContextManager[None]:
        own = np.random.default_rng()
        own.bit_generator.state = state
        return drawing_from(own)

    return again


register_snapshot(_snapshot)
