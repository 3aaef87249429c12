"""A program in the making: what values are there, what fits a step, and whether it may be taken.

A kink or a pole near a value would make differences useless. So a step is offered only values
that lie in its domain with room to spare, and its results must stay of moderate size. Steps are run
on minigrad as they are drawn. A write in place is taken only where no other value sees the memory
and no rule saved it: test_random_views.py draws programs that write to what others see.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from programs import IN_PLACE, RECORDED, Program, Step, Value

from minigrad import Tensor, tensor
from minigrad.autograd.node import Node, node_of
from minigrad.autograd.views import owner

ROOM = 0.02
"""The least distance from a kink, and between numbers whose order matters."""
LARGEST, MOST, MOST_AXES = 12.0, 200, 5
"""The largest number in a value, and how many numbers and axes it may have."""

REFUSED = ("read-only view", "a leaf that requires grad", "a view of a leaf")
"""Why the engine may refuse a write."""

Fits = Callable[[np.ndarray], Any]


def anything(_x: np.ndarray) -> bool:
    return True


def nonempty(x: np.ndarray) -> bool:
    return x.size > 0


def above(low: float) -> Fits:
    return lambda x: (x > low).all()


def within(bound: float) -> Fits:
    return lambda x: (np.abs(x) < bound).all()


def away_from(*numbers: float) -> Fits:
    return lambda x: all((np.abs(x - c) > ROOM).all() for c in numbers)


def with_axes(least: int, most: int = MOST_AXES) -> Fits:
    return lambda x: least <= x.ndim <= most


def all_different(x: np.ndarray, axis: Any = None) -> bool:
    """Whether no two elements along some axes are close to one another."""
    ordered = np.sort(together(x, axis), -1)
    return bool((np.diff(ordered) > ROOM).all())


def together(x: np.ndarray, axis: Any) -> np.ndarray:
    """Some axes as one, the last."""
    if not x.ndim:
        return x.reshape(1)
    axes = range(x.ndim) if axis is None else np.atleast_1d(np.array(axis, int)) % x.ndim
    kept = [a for a in range(x.ndim) if a not in set(axes)]
    lengths = [x.shape[a] for a in kept]
    joined = math.prod(x.shape[a] for a in set(axes))
    return x.transpose(*kept, *set(axes)).reshape(*lengths, joined)


def broadcast(*shapes: tuple[int, ...]) -> bool:
    """Whether the shapes go together, and to nothing too large."""
    try:
        return math.prod(np.broadcast_shapes(*shapes)) <= MOST
    except ValueError:
        return False


class NothingFits(Exception):
    """No value is what a move needs."""


class Draft:
    """A program in the making.

    Args:
        rng: Where chance comes from.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.lengths = [int(n) for n in rng.integers(1, 5, 3)]
        shapes = [self.shape() for _ in range(rng.integers(1, 5))]
        self.inputs = [np.asarray(rng.standard_normal(shape)) for shape in shapes]
        self.values: list[Any] = [tensor(x, requires_grad=True) for x in self.inputs]
        self.steps: list[Step] = []
        self.gone: set[int] = set()

    # What is there

    def array(self, place: int) -> np.ndarray:
        """A copy, which later writes leave as it is."""
        return self.values[place].numpy().copy()

    def find(self, fits: Fits = anything, kind: str = "f") -> int | None:
        """The place of a value that fits, recent ones more often; None if there is none."""
        places = [
            i for i, value in enumerate(self.values)
            if i not in self.gone and value.dtype.kind == kind and fits(self.array(i))
        ]  # fmt: skip
        if not places:
            return None
        return int(self.pick(places[-4:] if self.coin() else places))

    def some(self, fits: Fits = anything, kind: str = "f") -> tuple[Value, np.ndarray]:
        """A value that fits, and its array."""
        place = self.find(fits, kind)
        if place is None:
            raise NothingFits
        return Value(place), self.array(place)

    def perhaps(self, fits: Fits = anything) -> Value | None:
        place = self.find(fits)
        return None if place is None else Value(place)

    # Choices

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.rng.integers(len(options))]

    def coin(self, odds: float = 0.5) -> bool:
        return bool(self.rng.random() < odds)

    def number(self) -> float | int:
        """A constant that is neither 0 nor large."""
        return self.pick([2, -1, 3, 0.5, -0.7, 1.3, 0.3])

    def shape(self, most: int = 3) -> tuple[int, ...]:
        """Up to three axes, of three lengths that come again and again: so that shapes meet."""
        return tuple(self.pick(self.lengths) for _ in range(self.rng.integers(0, most + 1)))

    def axis(self, ndim: int) -> int:
        return int(self.rng.integers(-ndim, ndim))

    def axes(self, ndim: int) -> Any:
        """None, one axis, or some in any order."""
        if not ndim or self.coin(0.25):
            return None
        if self.coin():
            return self.axis(ndim)
        chosen = self.rng.permutation(ndim)[: self.rng.integers(1, ndim + 1)]
        return tuple(int(a) - ndim * self.coin() for a in chosen)

    def index(self, shape: tuple[int, ...]) -> Any:
        return self.basic_index(shape) if self.coin(0.6) else self.advanced_index(shape)

    def basic_index(self, shape: tuple[int, ...]) -> Any:
        """Ints, slices of any step, None and Ellipsis."""
        parts = [self._basic_part(n) for n in shape[: self.rng.integers(0, len(shape) + 1)]]
        return self._completed(parts)

    def advanced_index(self, shape: tuple[int, ...]) -> Any:
        """The same beside arrays with repeated and negative places, or a mask."""
        if shape and self.coin(0.25):
            return self.rng.random(shape[: self.rng.integers(1, len(shape) + 1)]) < 0.6
        common = self.pick([(2,), (3,), (2, 2), (1,)])
        parts = [
            self.rng.integers(-n, n, common) if n and self.coin() else self._basic_part(n)
            for n in shape[: self.rng.integers(0, len(shape) + 1)]
        ]
        return self._completed(parts)

    def _basic_part(self, n: int) -> Any:
        if n and self.coin(0.3):
            return int(self.rng.integers(-n, n))
        start, stop = (self.pick([None, None, 0, 1, -1, n // 2]) for _ in range(2))
        return slice(start, stop, self.pick([None, None, 1, 2, -1, -2]))

    def _completed(self, parts: list[Any]) -> Any:
        if self.coin(0.2):
            parts.insert(int(self.rng.integers(len(parts) + 1)), None)
        if self.coin(0.2):
            parts.append(...)
        return parts[0] if len(parts) == 1 and self.coin() else tuple(parts)

    # Growing

    def accept(self, step: Step) -> bool:
        """Run a step, and keep it if its results are tame and its write, if any, is legal."""
        if step.op in IN_PLACE and self._seen(self.values[step.reads[0]]):
            return False
        try:
            results = step.run(RECORDED, self.values)
        except RuntimeError as error:
            if step.op in IN_PLACE and any(reason in str(error) for reason in REFUSED):
                return False
            raise
        if step.op in IN_PLACE:
            self.gone.add(step.reads[0])
        elif not all(self._tame(result.numpy()) for result in results):
            return False
        self.steps.append(step)
        self.values += results
        return True

    def _seen(self, target: Tensor) -> bool:
        """Whether another value has the memory of a tensor, or a rule saved it."""
        memory = owner(target.numpy())
        arrays = [value.numpy() for value in self.values if value is not target]
        nodes = {node_of(value._node) for value in self.values}
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if isinstance(node, Node):
                for saved in node.saved:
                    arrays += saved if isinstance(saved, tuple) else [saved]
                stack += [parent for parent in node.parents if parent not in nodes]
                nodes.update(node.parents)
        return any(isinstance(array, np.ndarray) and owner(array) is memory for array in arrays)

    def _tame(self, x: np.ndarray) -> bool:
        moderate = x.size <= MOST and x.ndim <= MOST_AXES
        return moderate and bool((np.abs(x) <= LARGEST).all())

    def program(self) -> Program:
        """The program so far; the values that nothing has read are its outputs."""
        read = {place for step in self.steps for place in step.reads}
        outputs = tuple(
            i for i, value in enumerate(self.values)
            if i not in read | self.gone and value.requires_grad
        )  # fmt: skip
        return Program(tuple(self.inputs), tuple(self.steps), outputs).pruned()
