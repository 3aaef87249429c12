"""A sample call of an op, and the random arrays that calls are made of."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A call of an op.

    Attributes:
        op: The name of the op or function; ``linalg.inv`` for those of `minigrad.linalg`.
        name: The special feature of this call.
        call: A function of a namespace and of the inputs. The namespace is where the op is looked
            up, so that the same call also runs on NumPy and PyTorch.
        inputs: Arrays of float64. Each gets a gradient.
    """

    op: str
    name: str
    call: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]

    def __str__(self) -> str:
        return f"{self.op}-{self.name}".replace(" ", "")

    def on(self, namespace: Any) -> Callable[..., Any]:
        """The call as a function of the inputs alone."""
        return lambda *inputs: self.call(namespace, *inputs)


def case(op: str, *arguments: Any, name: str | None = None, **options: Any) -> Case:
    """The call of an op with plain arguments; the float64 arrays, in a list too, are the inputs.

    `name` is the special feature of the call; by default it is made of the arguments.
    """

    def call(m: Any, *inputs: Any) -> Any:
        remaining = iter(inputs)
        return attrgetter(op)(m)(*[_replaced(a, remaining) for a in arguments], **options)

    if name is None:
        shown = [_shown(a) for a in arguments]
        name = ", ".join([*shown, *(f"{key}={_shown(a)}" for key, a in options.items())])
    return Case(op, name, call, tuple(_inputs(arguments)))


def _is_input(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.float64)) and value.dtype == np.float64


def _inputs(values: Any) -> Iterator[np.ndarray]:
    for value in values:
        if _is_input(value):
            yield np.asarray(value)
        elif isinstance(value, list):
            yield from _inputs(value)


def _replaced(value: Any, inputs: Iterator[Any]) -> Any:
    """An argument with the given inputs in the place of its arrays."""
    if isinstance(value, list):
        return [_replaced(part, inputs) for part in value]
    return next(inputs) if _is_input(value) else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if _is_input(value):
        return f"{tuple(value.shape)}"
    return f"{value.dtype}{tuple(value.shape)}" if isinstance(value, np.ndarray) else repr(value)


class Draw:
    """Draws random arrays of float64: other ones at each call, the same ones in each process.

    Each family has its own seed, so that new cases at the end of one change no other case.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._arrays = 0

    def normal(self, *shape: int) -> np.ndarray:
        """Normal numbers, none within 0.05 of zero, so that no kink lies within a difference."""
        x = self._rng.standard_normal(shape)
        return np.asarray(x + np.copysign(0.05, x))

    def positive(self, *shape: int) -> np.ndarray:
        """Positive numbers, none below 0.3."""
        return np.asarray(np.abs(self.normal(*shape)) + 0.3)

    def inside(self, *shape: int) -> np.ndarray:
        """Numbers between -0.9 and 0.9."""
        return np.asarray(0.9 * np.tanh(self.normal(*shape)))

    def spaced(self, *shape: int) -> np.ndarray:
        """Numbers of both signs, no two of one size; the next array has other sizes."""
        n = math.prod(shape)
        self._arrays += 1
        sizes = 0.2 * (self._rng.permutation(n) + 1) + 0.013 * (self._arrays % 7)
        return np.asarray(sizes * self._signs(n)).reshape(shape)

    def between(self, *shape: int) -> np.ndarray:
        """Numbers of both signs, none within 0.2 of a whole number or a half: no step is near."""
        whole = self._rng.integers(-4, 5, shape)
        return np.asarray(whole + self._rng.choice([0.2, 0.3, 0.7, 0.8], shape))

    def factors(self, *shape: int) -> np.ndarray:
        """Numbers of both signs and of size near 1, whose product stays of that size."""
        return np.asarray(self._rng.uniform(0.7, 1.4, shape) * self._signs(shape))

    def _signs(self, shape: Any) -> np.ndarray:
        return self._rng.choice([-1.0, 1.0], shape)
