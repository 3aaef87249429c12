"""One entry of a formula: ``(a @ b)[1, 2]`` is ``a[1, 0] · b[0, 2] + a[1, 1] · b[1, 2]``.

An elementwise function is that of the entries, and a sum adds them. A function that moves entries,
such as a transpose, is asked where each came from. Any other function, such as a softmax, is not
taken apart: its entry stands for itself.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from minigrad.viz.formula.definitions import Reading, Values
from minigrad.viz.formula.reader import OPERATORS
from minigrad.viz.formula.signs import added, averaged, spread
from minigrad.viz.formula.terms import (
    Call,
    Constant,
    Term,
    Variable,
    evaluate,
    is_constant,
    rebuilt,
    row,
    walk,
)

__all__ = ["Entries", "Index", "as_index"]

Index = tuple[int, ...]

ELEMENTWISE = frozenset({*OPERATORS.values(), operator.pos, np.where} - {operator.matmul})
MEANS = frozenset({np.mean, averaged})
SUMS = frozenset({np.sum, added, operator.matmul, *MEANS})
MOVES = frozenset({
    operator.getitem, spread, np.reshape, np.swapaxes, np.transpose, np.moveaxis, np.flip,
    np.broadcast_to, np.tril, np.triu,
})  # fmt: skip
"""Functions whose values have only entries of their first argument, and 0."""

SUMMANDS = 6
"""The most terms of a sum that is written out."""


def fitted(index: Index, shape: Index) -> Index:
    """The index in an array of what it is broadcast to."""
    own = index[len(index) - len(shape) :]
    return tuple(i if n > 1 else 0 for i, n in zip(own, shape, strict=True))


def as_index(place: int, shape: Index) -> Index:
    """The index of the entry at a place in the order of the entries."""
    return tuple(map(int, np.unravel_index(place, shape)))


def element(term: Term, index: Index) -> Term:
    """The term of an entry, as in ``x[1, 2]``."""
    return Call(operator.getitem, (term, Call(row, tuple(map(Constant, index)))))


class Entries:
    """Writes entries of a formula, and computes them.

    Args:
        reading: The formula.
        values: The values of what it names.
    """

    def __init__(self, reading: Reading, values: Mapping[str, Any]) -> None:
        self.reading = reading
        self.elementwise = True  # whether there were only elementwise functions and sums so far
        self._terms = {
            d.names[0]: d.term
            for d in self.reading.definitions
            if d.comment is None and len(d.names) == 1
        }
        self._names = Values(values, self.reading.definitions)
        self._values: dict[int, tuple[Term, Any]] = {}  # by the id of the term, which is kept alive
        self._numbers: dict[int, tuple[Term, Any]] = {}  # of the entries that are not taken apart
        self._places: dict[int, tuple[Term, Index]] = {}  # what these are of, and where
        self._within_sum = 0  # a sum within a sum is not taken apart

    def value(self, term: Term) -> Any:
        """The value of a term."""
        if id(term) not in self._values:
            with np.errstate(all="ignore"):
                self._values[id(term)] = term, evaluate(term, self._names)
        return self._values[id(term)][1]

    def at(self, term: Term, index: Index) -> Term:
        """The entry of a term at an index, perhaps of an array that it is broadcast to."""
        array = np.asarray(self.value(term))
        index = fitted(index, array.shape)
        match term:
            case Call(np.where, (condition, a, b)) if not any(is_constant(x, 0) for x in (a, b)):
                return self.at(a if self.number(self.at(condition, index)) else b, index)
            case Call(function, args, keywords) if _is_elementwise(function):
                return Call(function, tuple(self.at(x, index) for x in args), keywords)
            case Call(function) if function in SUMS:
                self.elementwise &= function is not operator.matmul
                if not self._within_sum and function not in MEANS:
                    return self._added_up(term, index)
            case Call(function, (x, *_)) if function in MOVES and _is_array(self.value(x)):
                self.elementwise = False
                return self._moved(term, index)
            case Constant() if not array.ndim:
                return term
            case Call():
                self.elementwise = False
        found = self.known(element(term, index) if array.ndim else term, array[index])
        self._places[id(found)] = term, index
        return found

    def known(self, term: Term, number: Any) -> Term:
        """An entry that is not taken apart, and its number."""
        self._numbers[id(term)] = term, np.asarray(number)[()]  # a NumPy scalar
        return term

    def gradient(self, index: Index, shape: Index) -> Term:
        """The entry of the formula for an argument of a shape: what was broadcast is summed."""
        term = self.reading.value
        own = np.shape(self.value(term))
        extra = len(own) - len(shape)
        if own == shape or not own:
            return self.at(term, index)
        if math.prod(own) == math.prod(shape):
            return self.at(term, as_index(int(np.ravel_multi_index(index, shape)), own))
        axes = [a for a, n in enumerate(own) if a < extra or shape[a - extra] == 1 != n]
        kept = (i for a, i in enumerate(index, extra) if a not in axes)
        return self.summed(term, axes, tuple(kept))

    def in_numbers(self, term: Term, shown: Callable[[Any], Term] = Constant) -> Term:
        """The term with numbers for entries."""
        if id(term) in self._numbers:
            return shown(self._numbers[id(term)][1])
        return rebuilt(term, lambda part: self.in_numbers(part, shown))

    def number(self, term: Term) -> float:
        """The value of the entry of a term."""
        with np.errstate(all="ignore"):
            return float(evaluate(self.in_numbers(term), {}))

    @property
    def scalars(self) -> set[str]:
        """The names that stand for numbers."""
        return {name for name, value in self._names.items() if _is_array(value) and not value.ndim}

    def is_known(self, term: Term) -> bool:
        """Whether an entry is not taken apart."""
        return id(term) in self._numbers

    def numbers_in(self, term: Term) -> list[float]:
        """The numbers of the entries in a term."""
        return [self._numbers[id(part)][1] for part in walk(term) if self.is_known(part)]

    def behind(self, entry: Term) -> tuple[Term, Term] | None:
        """What an entry is of, and the entry written out, if it is of a definition or a sum."""
        term, index = self._places.get(id(entry), (None, ()))
        match term:
            case Variable(name) if name in self._terms:
                found = self.at(self._terms[name], index)
            case Call(function) if function in SUMS:
                found = self._added_up(term, index)
            case _:
                return None
        return None if self.is_known(found) else (term, found)

    def total(self, numbers: np.ndarray, term_of: Callable[[Index], Term]) -> Term:
        """The sum of the terms of some numbers. If there are many, the largest are written out."""
        sizes = np.nan_to_num(np.abs(numbers.ravel()), nan=np.inf)
        shown = list(range(numbers.size))
        if numbers.size > SUMMANDS:
            shown = sorted(np.argsort(-sizes, kind="stable")[: SUMMANDS - 2].tolist())
        self._within_sum += 1
        terms = [term_of(as_index(place, numbers.shape)) for place in shown]
        self._within_sum -= 1
        if numbers.size > len(terms):
            rest = np.delete(numbers.ravel(), shown)
            terms.append(Constant(rest.sum(), f"… ({rest.size} more)"))
        return functools.reduce(lambda a, b: Call(operator.add, (a, b)), terms or [Constant(0)])

    def summed(self, term: Term, axes: Collection[int], index: Index) -> Term:
        """The sum of a term over some axes, at an index of what is left."""
        array = np.asarray(self.value(term))
        rest = iter(index)
        ranges = [range(n) if a in axes else (next(rest),) for a, n in enumerate(array.shape)]
        return self.total(
            array[np.ix_(*ranges)],
            lambda place: self.at(term, tuple(r[i] for r, i in zip(ranges, place, strict=True))),
        )

    def _added_up(self, call: Call, index: Index) -> Term:
        """The sum that a product of matrices, a sum or a mean takes."""
        x, *given = call.args
        if call.function is operator.matmul:
            return self._product(x, given[0], index)
        named = [value for name, value in call.keywords if name == "axis"]
        axis = next(map(self.value, [*given, *named]), None)
        shape = np.shape(self.value(x))
        axes = range(len(shape)) if axis is None else [a % len(shape) for a in np.ravel(axis)]
        if len(index) == len(shape):
            index = tuple(i for a, i in enumerate(index) if a not in axes)
        found = self.summed(x, axes, index)
        if call.function not in MEANS:
            return found
        return Call(operator.truediv, (found, Constant(math.prod(shape[a] for a in axes))))

    def _product(self, a: Term, b: Term, index: Index) -> Term:
        """The sum that a product of matrices or vectors takes."""
        one, two = np.asarray(self.value(a)), np.asarray(self.value(b))
        column = index[-1:] if two.ndim > 1 else ()
        rows = index[: len(index) - len(column)]
        stack = rows[:-1] if one.ndim > 1 else rows
        places = [((*rows, k), (*stack, k, *column)) for k in range(one.shape[-1])]
        numbers = [one[fitted(i, one.shape)] * two[fitted(j, two.shape)] for i, j in places]

        def term_of(place: Index) -> Term:
            i, j = places[place[0]]
            return Call(operator.mul, (self.at(a, i), self.at(b, j)))

        return self.total(np.array(numbers), term_of)

    def _moved(self, call: Call, index: Index) -> Term:
        """The entry that a function moves here, or 0."""
        x, *others = call.args
        array = np.asarray(self.value(x))
        places = Constant(np.arange(1, array.size + 1).reshape(array.shape))
        place = self.value(Call(call.function, (places, *others), call.keywords))[index]
        return self.at(x, as_index(place - 1, array.shape)) if place else Constant(0)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


@functools.cache
def _is_elementwise(function: Callable[..., Any]) -> bool:
    """Whether an entry of the value needs only the same entry of each argument."""
    if isinstance(function, np.ufunc):
        return function.signature is None
    op = getattr(function, "op", None)
    if op is None or len(op.params) > 1:
        return function in ELEMENTWISE
    try:
        return np.shape(op.forward(np.float64(0.5))) == ()
    except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
        return False
