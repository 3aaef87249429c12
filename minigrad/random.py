"""Random numbers: one generator for the process, and keys for dropout.

`seed` makes a program reproducible. A function that is given `generator=`, a `Generator` of one's
own, draws from that. Each call of dropout draws a key. The mask depends on the key alone, so any
thread can compute it again, in any order.

A forked process (``os.fork``, or `multiprocessing` where it forks) draws other numbers than its
parent and its siblings. Its generator is seeded from the parent's state and from the number of
forks since `seed` or `set_state`, so a seeded program that forks is reproducible too. Forking does
not change the parent's numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.events import effect, reading
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import P, Tensor
from minigrad.ops import argument_errors
from minigrad.support.checks import check_flag, check_size, fitted, shape_of
from minigrad.support.lazy_names import lazy_names
from minigrad.support.random_state import register_draws, register_snapshot, repeating

if TYPE_CHECKING:
    from minigrad.support.generator import Generator as Generator

    default_generator: Generator
else:
    _later = lazy_names("minigrad.random", places={"Generator": "support.generator"})

    def __getattr__(name):
        return _begun() if name == "default_generator" else _later(name)


__all__ = [
    "bernoulli", "fork_rng", "generator", "get_rng_state", "get_state", "get_stream",
    "initial_seed", "key", "manual_seed", "multinomial", "normal", "permutation", "poisson", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed",
    "set_rng_state", "set_state", "set_stream", "uniform",
]  # fmt: skip

_generator: Generator | None = None  # NumPy loads its random numbers on first use
_lock = Lock()
_forks = 0  # since the last seed
_stream = 0


@reading
def generator() -> np.random.Generator:
    """Return the NumPy Generator from which all of minigrad draws.

    Example:
        >>> import minigrad
        >>> minigrad.random.generator().random() < 1
        True
    """
    return repeating.get() or _generator or _begun()


def _begun() -> Generator:
    """The generator of the process, made by the first thread that asks."""
    global _generator
    with _lock:
        if _generator is None:
            from minigrad.support.generator import Generator

            _generator = Generator()
            _generator.seed()
    return _generator


def _source(given: np.random.Generator | None, name: str) -> np.random.Generator:
    """What a function draws from: the generator that it was given, or the one of minigrad."""
    if given is None or given is _generator:
        return generator()
    if not isinstance(given, np.random.Generator):
        raise TypeError(f"{name}: generator must be a minigrad.Generator, got {given!r}")
    return given


def _draw(function: Callable[P, Tensor]) -> Callable[P, Tensor]:
    """A function that draws: observers are told of it, and its errors name it."""
    drawn = effect(argument_errors.created(function))
    register_draws("numbers", drawn)
    return drawn


@overload
def seed(value: int) -> None: ...
@overload
def seed() -> int: ...
@effect
@argument_errors.checked
def seed(value: int | None = None) -> int | None:
    """Seed the generator with an integer of at least 0, so that later draws are reproducible.

    They are in forked processes too. Without an integer, seed it with one that is not known before,
    and return that, as PyTorch does.

    Example:
        >>> import minigrad
        >>> minigrad.random.seed(0)
        >>> a = minigrad.randn(3)
        >>> minigrad.random.seed(0)
        >>> minigrad.equal(minigrad.randn(3), a)
        True
        >>> minigrad.random.seed() == minigrad.random.initial_seed()
        True
    """
    if value is not None:
        _restart(value)
        return None
    from minigrad.support.generator import unknown

    return _restart(unknown()).initial_seed()


def _restart(first: int) -> Generator:
    """The generator of the process, seeded."""
    set_state(dict(np.random.default_rng(first).bit_generator.state))
    begun = _begun()
    begun._first = int(first)
    return begun


@argument_errors.checked
def manual_seed(seed: int) -> Generator:
    """Seed the generator, and return it; a negative number counts from 2**64.

    Args:
        seed: An integer of 64 bits.

    Example:
        >>> import minigrad
        >>> generator = minigrad.manual_seed(7)
        >>> minigrad.initial_seed()
        7
    """
    return _restart(int(seed) % 2**64)


@reading
def initial_seed() -> int:
    """Return the seed of the generator.

    Example:
        >>> import minigrad
        >>> minigrad.random.seed(3)
        >>> minigrad.initial_seed()
        3
    """
    return _begun().initial_seed()


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
def set_state(new_state: dict[str, Any]) -> None:
    """Restore a state of the generator that `get_state` returned.

    Raises:
        ValueError: It is not the state of this kind of generator.

    Example:
        >>> import minigrad
        >>> minigrad.random.set_state(minigrad.random.get_state())
    """
    global _forks
    try:
        generator().bit_generator.state = new_state
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"set_state: expected a state from get_state: {error}") from None
    _forks = 0


get_rng_state, set_rng_state = get_state, set_state


@contextmanager
def fork_rng(devices: Any = (), enabled: bool = True, **options: Any) -> Iterator[None]:
    """Within the block, draw as usual; after it, as if nothing had been drawn.

    Args:
        devices: This and `options` are for other devices than the CPU, and change nothing.
        enabled: False to leave the generator as it is.
        **options: As `devices`.

    Example:
        >>> import minigrad
        >>> with minigrad.random.fork_rng():
        ...     a = minigrad.rand(2)
        >>> minigrad.equal(minigrad.rand(2), a)
        True
    """
    state = get_state()
    try:
        yield
    finally:
        if enabled:
            set_state(state)


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


@_draw
def rand(
    *size: Any, generator: np.random.Generator | None = None, dtype: Any = None,
    requires_grad: bool = False, device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Draw uniform random numbers from 0 (included) to 1 (excluded).

    Arguments and errors are as for `minigrad.zeros`; the dtype is a float.

    Args:
        *size: The lengths of the axes, or one tuple of them.
        generator: What to draw from; the generator of minigrad if None.
        dtype: The default dtype if None.
        requires_grad: Whether to compute gradients for it.
        device: "cpu".

    Example:
        >>> import minigrad
        >>> minigrad.rand(2, 3).shape
        minigrad.Size([2, 3])
    """
    draws = _source(generator, "rand").random(shape_of("rand", size))
    return leaf_of(np.asarray(draws).astype(_float(dtype, "rand")), requires_grad)


@_draw
def randn(
    *size: Any, generator: np.random.Generator | None = None, dtype: Any = None,
    requires_grad: bool = False, device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Draw standard normal random numbers; arguments and errors as for `rand`.

    Example:
        >>> import minigrad
        >>> minigrad.randn(2, 3).shape
        minigrad.Size([2, 3])
    """
    draws = _source(generator, "randn").standard_normal(shape_of("randn", size))
    return leaf_of(np.asarray(draws).astype(_float(dtype, "randn")), requires_grad)


@_draw
def randint(
    low: int = 0, high: Any = None, size: Any = None, dtype: Any = None, device: Any = "cpu", *,
    generator: np.random.Generator | None = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Draw uniform random integers from `low` (included) to `high` (excluded).

    ``randint(high, size)`` draws from 0 on, as ``randint(high)`` does.

    Args:
        low: The smallest integer. If `high` is None or the size: the end, and 0 is the smallest.
        high: The end.
        size: The shape; a single number if None.
        dtype: The dtype; int64 if None.
        device: "cpu".
        generator: As for `rand`.
        requires_grad: As for `rand`.

    Raises:
        OverflowError: A drawn integer does not fit into the dtype.
        ValueError: There is no integer in the range.

    Example:
        >>> import minigrad
        >>> minigrad.randint(0, 10, size=(2, 3)).shape, minigrad.randint(10, (2,)).shape
        (minigrad.Size([2, 3]), minigrad.Size([2]))
    """
    if size is None and isinstance(high, (tuple, list)):
        high, size = None, high
    if high is None and isinstance(low, int) and low < 1:
        raise ValueError(f"randint: high must be at least 1, got {low}: randint(high, size)")
    shape = shape_of("randint", (() if size is None else size,))
    draws = np.asarray(_source(generator, "randint").integers(low, high, shape))
    if dtype is not None:
        draws = fitted(draws, checked(dtype, "randint"), "randint")
    return leaf_of(draws, requires_grad)


@_draw
def uniform(
    low: float = 0.0, high: float = 1.0, size: Any = (), dtype: Any = None,
    requires_grad: bool = False, *, generator: np.random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Draw uniform random numbers from `low` (included) to `high` (excluded), of shape `size`.

    The other arguments are as for `rand`.

    Example:
        >>> import minigrad
        >>> float(minigrad.random.uniform(2.0, 3.0)) >= 2.0
        True
    """
    _finite("uniform", low, high)
    draws = _source(generator, "uniform").uniform(low, high, shape_of("uniform", (size,)))
    return leaf_of(np.asarray(draws).astype(_float(dtype, "uniform")), requires_grad)


@_draw
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, dtype: Any = None,
    requires_grad: bool = False, *, generator: np.random.Generator | None = None,
    device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Draw numbers from normal distributions with means `mean` and standard deviations `std`.

    Both may be arrays or tensors, whose broadcast shape is the default `size`, and of which a
    tensor's dtype is the default one. The other arguments are as for `rand`.

    Raises:
        ValueError: `std` is negative.

    Example:
        >>> import minigrad
        >>> minigrad.normal(1.0, 2.0, size=4).shape
        minigrad.Size([4])
    """
    dtype = dtype or _dtype_of(mean) or _dtype_of(std)
    mean, std = (to_array(value, np.float64, name="normal") for value in (mean, std))
    _finite("normal", mean, std)
    shape = None if size is None else shape_of("normal", (size,))
    draws = _source(generator, "normal").normal(mean, std, shape)
    return leaf_of(np.asarray(draws).astype(_float(dtype, "normal")), requires_grad)


@_draw
def bernoulli(
    input: Any, p: float | None = None, *, generator: np.random.Generator | None = None
) -> Tensor:
    """Draw ones with probability `input`, zeros otherwise, in its shape.

    Args:
        input: Probabilities. The result has the dtype of a tensor of floats, else the default one.
        p: Instead of these, one probability; then the result has the dtype of any tensor.
        generator: As for `rand`.

    Raises:
        ValueError: A probability is not between 0 and 1.

    Example:
        >>> import minigrad
        >>> minigrad.bernoulli(minigrad.ones(3))
        tensor([1., 1., 1.])
    """
    chance, dtype = to_array(input, np.float64, name="bernoulli"), _dtype_of(input)
    if p is not None:
        dtype = input._data.dtype if isinstance(input, Variable) else None
        chance = np.broadcast_to(to_array(p, np.float64, name="bernoulli"), chance.shape)
    drawn = _source(generator, "bernoulli").random(chance.shape) < chances("bernoulli", chance)
    return leaf_of(drawn.astype(dtype or get_default_dtype()), False)


def chances(name: str, p: Any) -> np.ndarray:
    """Probabilities, which are from 0 to 1."""
    found = to_array(p, np.float64, name=name)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"{name}: from 0 to 1 expected, got {found.min()} to {found.max()}")
    return found


@_draw
def poisson(input: Any, *, generator: np.random.Generator | None = None) -> Tensor:
    """Draw numbers from Poisson distributions with each element of `input` as the rate.

    Args:
        input: The rates. The result has the dtype of a tensor of floats, else the default one.
        generator: As for `rand`.

    Raises:
        ValueError: A rate is negative.

    Example:
        >>> import minigrad
        >>> minigrad.poisson(minigrad.zeros(3))
        tensor([0., 0., 0.])
    """
    drawn = _source(generator, "poisson").poisson(to_array(input, np.float64, name="poisson"))
    return leaf_of(np.asarray(drawn).astype(_dtype_of(input) or get_default_dtype()), False)


@_draw
def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *,
    generator: np.random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Draw indices with given probabilities, as in PyTorch; NumPy's `multinomial` counts.

    Args:
        input: Unnormalized probabilities, shape (..., classes): at least 0, and one of each row
            above 0.
        num_samples: The number of draws from each row.
        replacement: Whether indices can repeat. If not, they are in the order of the draws.
        generator: As for `rand`.

    Returns:
        A tensor of int64, shape (..., num_samples).

    Raises:
        TypeError: `num_samples` is not a whole number.
        ValueError: A weight is negative or not finite, or a row has too few above 0.

    Example:
        >>> import minigrad
        >>> minigrad.multinomial(minigrad.tensor([0.0, 2.0, 0.0, 1.0]), 2).sum()
        tensor(4)
    """
    count = check_size("multinomial", "num_samples", num_samples)
    check_flag("multinomial", "replacement", replacement)
    shares = to_array(input, np.float64, name="multinomial")
    source = _source(generator, "multinomial")
    return leaf_of(choices("multinomial", source, shares, count, replacement), False)


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
        how = f"{'with' if replacement else 'without'} replacement"
        what = f"{count} indices cannot be drawn {how} from {possible} weights above 0"
        raise ValueError(f"{name}: {what}")
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


@_draw
def drawn(
    distribution: str, *parameters: Any, size: tuple[int, ...], dtype: Any,
    generator: np.random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Draw numbers from a distribution of NumPy's generator, such as ``"gumbel"``."""
    values = [to_array(each, name=distribution) for each in parameters]
    draw = getattr(_source(generator, distribution), distribution)
    return leaf_of(np.asarray(draw(*values, size=size)).astype(dtype), False)


@_draw
def randperm(
    n: int, *, generator: np.random.Generator | None = None, dtype: Any = None,
    requires_grad: bool = False, device: Any = "cpu",
) -> Tensor:  # fmt: skip
    """Draw a permutation of the integers from 0 to `n` - 1, of int64 if there is no dtype.

    The other arguments are as for `rand`.

    Example:
        >>> import minigrad
        >>> sorted(minigrad.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    draws = _source(generator, "randperm").permutation(*shape_of("randperm", (n,)))
    if dtype is not None:
        draws = fitted(draws, checked(dtype, "randperm"), "randperm")
    return leaf_of(draws, requires_grad)


permutation = randperm  # NumPy's name


def rand_like(input: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Draw uniform random numbers in the shape and dtype of a tensor; see `rand`.

    Example:
        >>> import minigrad
        >>> minigrad.rand_like(minigrad.zeros(2, 3)).shape
        minigrad.Size([2, 3])
    """
    return rand(input.shape, dtype=dtype or input.dtype, **options)


def randn_like(input: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Draw standard normal random numbers in the shape and dtype of a tensor; see `randn`.

    Example:
        >>> import minigrad
        >>> minigrad.randn_like(minigrad.zeros(2, 3)).shape
        minigrad.Size([2, 3])
    """
    return randn(input.shape, dtype=dtype or input.dtype, **options)


def randint_like(
    input: Any, low: int = 0, high: int | None = None, dtype: Any = None, **options: Any
) -> Tensor:
    """Draw uniform random integers in the shape and dtype of a tensor; see `randint`.

    Example:
        >>> import minigrad
        >>> minigrad.randint_like(minigrad.zeros(2), 1, 2)
        tensor([1., 1.])
    """
    return randint(low, high, tuple(input.shape), dtype or input.dtype, **options)


def _float(dtype: Any, name: str) -> np.dtype[Any]:
    chosen = checked(get_default_dtype() if dtype is None else dtype, name)
    if chosen.kind != "f":
        raise TypeError(f"{name}: a float dtype expected, got {chosen}; use randint for integers")
    return chosen


def _dtype_of(value: Any) -> np.dtype[Any] | None:
    """The dtype of a tensor of floats; None for anything else."""
    floats = isinstance(value, Variable) and value._data.dtype.kind == "f"
    return value._data.dtype if floats else None


def _finite(name: str, *numbers: Any) -> None:
    if not all(np.isfinite(number).all() for number in numbers):
        raise ValueError(f"{name}: finite numbers expected, got {numbers}")


@effect
def repeated(like: Any = None) -> np.random.Generator:
    """A generator of its own that draws what the generator, or another, would draw next."""
    own = np.random.Generator(np.random.PCG64())
    own.bit_generator.state = (like or generator()).bit_generator.state
    return own


@contextmanager
def drawing_from(own: np.random.Generator | None) -> Iterator[None]:
    """Within the block, make minigrad draw from `own`, if it is given, in this thread."""
    outer = repeating.get()
    try:
        repeating.set(outer if own is None else own)
        yield
    finally:
        repeating.set(outer)


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    start = repeated()
    return lambda: drawing_from(repeated(start))


register_snapshot(_snapshot)
register_draws("generator", generator)
register_draws("key", key)
register_draws("copy", repeated)
