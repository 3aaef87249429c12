"""One entry of a formula: ``(a @ b)[1, 2]`` is ``a[1, 0] · b[0, 2] + a[1, 1] · b[1, 2]``.

An elementwise function is that of the entries, and a sum adds them. A function that moves entries,
such as a transpose, is asked where each came from. Any other function, such as a softmax, is not
taken apart: its entry is a term of its own.
"""

import functools
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from minigrad.viz.formula.definitions import Reading, Values
from minigrad.viz.formula.reader import OPERATORS
from minigrad.viz.formula.signs import added, averaged, spread
from minigrad.viz.formula.terms import Call, Constant, Entry, Term, Variable, evaluate, is_constant

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


def as_index(place: int, shape: Index) -> Index:
    """The index of the entry at a place in the order of the entries."""
    return tuple(map(int, np.unravel_index(place, shape)))


def fitted(index: Index, shape: Index) -> Index:
    """The index in an array of what it is broadcast to."""
    own = index[len(index) - len(shape) :]
    return tuple(i if n > 1 else 0 for i, n in zip(own, shape, strict=True))


def total(numbers: np.ndarray, term_of: Callable[[int], Term]) -> Term:
    """The sum of the terms of some numbers. Of many, the largest are written out."""
    shown, rest = list(range(numbers.size)), []
    if numbers.size > SUMMANDS:
        shown = sorted(np.argsort(-np.abs(numbers), kind="stable")[: SUMMANDS - 2].tolist())
        left = numbers.sum() - numbers[shown].sum()
        rest = [Constant(left, f"… ({numbers.size - len(shown)} more)")]
    terms = [*map(term_of, shown), *rest]
    return functools.reduce(lambda a, b: Call(operator.add, (a, b)), terms or [Constant(0)])


class Entries:
    """Writes entries of a formula, of which `values` has the values."""

    def __init__(self, reading: Reading, values: Mapping[str, Any]) -> None:
        self.elementwise = True  # whether there were only elementwise functions and sums so far
        self._formula = reading.value
        self._defined = {
            name: one.term
            for one in reading.definitions
            for name in one.names
            if one.comment is None and len(one.names) == 1
        }
        self._names = Values(values, reading.definitions)
        self._arrays: dict[int, tuple[Term, Any]] = {}  # by the id of the term, which is kept alive
        self._within_sum = False  # a sum within a sum is not taken apart

    def array(self, term: Term) -> np.ndarray:
        """The value of a term."""
        if id(term) not in self._arrays:
            self._arrays[id(term)] = term, np.asarray(evaluate(term, self._names))
        return self._arrays[id(term)][1]

    def gradient(self, index: Index, shape: Index) -> Term:
        """The entry of the formula for an argument of a shape: sums over the broadcast axes."""
        own = self.array(self._formula).shape
        if own and math.prod(own) == math.prod(shape):
            return self.at(self._formula, as_index(int(np.ravel_multi_index(index, shape)), own))
        extra = len(own) - len(shape)
        summed = [a for a, n in enumerate(own) if a < extra or shape[a - extra] == 1 != n]
        return self._sum(self._formula, summed, (0,) * extra + index)

    def at(self, term: Term, index: Index) -> Term:
        """The entry of a term at an index, perhaps of an array that it is broadcast to."""
        array = self.array(term)
        index = fitted(index, array.shape)
        match term:
            case Call(np.where, (condition, a, b)) if not any(is_constant(x, 0) for x in (a, b)):
                return self.at(a if evaluate(self.at(condition, index), {}) else b, index)
            case Call(function, args, keywords) if _is_elementwise(function):
                return Call(function, tuple(self.at(x, index) for x in args), keywords)
            case Call(function) if function in SUMS:
                self.elementwise &= function is not operator.matmul
                if not self._within_sum and function not in MEANS:
                    return self._added_up(term, index)
            case Call(function, (x, *others), keywords) if function in MOVES:
                self.elementwise = False
                moved = self.array(x)
                places = Constant(np.arange(1, moved.size + 1).reshape(moved.shape))
                place = self.array(Call(function, (places, *others), keywords))[index]
                return self.at(x, as_index(place - 1, moved.shape)) if place else Constant(0)
            case Constant() if not array.ndim:
                return term
            case Call():
                self.elementwise = False
        return Entry(term, index, array[index])

    def behind(self, entry: Entry) -> Term | None:
        """The value of an entry of a definition or a sum, unless that is just an entry."""
        match entry.array:
            case Variable(name) if name in self._defined:
                found = self.at(self._defined[name], entry.index)
            case Call(function) as call if function in SUMS:
                found = self._added_up(call, entry.index)
            case _:
                return None
        return None if isinstance(found, Entry) else found

    def _added_up(self, call: Call, index: Index) -> Term:
        """The sum that a product of matrices, a sum or a mean takes."""
        x, *given = call.args
        if call.function is operator.matmul:
            return self._product(x, given[0], index)
        named = [value for name, value in call.keywords if name == "axis"]
        axis = next((evaluate(term, self._names) for term in (*given, *named)), None)
        shape = self.array(x).shape
        axes = range(len(shape)) if axis is None else [a % len(shape) for a in np.ravel(axis)]
        if len(index) < len(shape):
            kept = iter(index)
            index = tuple(0 if a in axes else next(kept) for a in range(len(shape)))
        found = self._sum(x, axes, index)
        if call.function not in MEANS:
            return found
        return Call(operator.truediv, (found, Constant(math.prod(shape[a] for a in axes))))

    def _sum(self, term: Term, axes: Collection[int], index: Index) -> Term:
        """The sum of a term over some axes, at an index of the others."""
        shape = self.array(term).shape
        ranges = [range(n) if a in axes else index[a : a + 1] for a, n in enumerate(shape)]
        numbers = self.array(term)[np.ix_(*ranges)]

        def term_of(place: int) -> Term:
            found = as_index(place, numbers.shape)
            return self.at(term, tuple(r[i] for r, i in zip(ranges, found, strict=True)))

        return self._total(numbers.ravel(), term_of)

    def _product(self, a: Term, b: Term, index: Index) -> Term:
        """The sum that a product of matrices or vectors takes."""
        one, two = self.array(a), self.array(b)
        column = index[-1:] if two.ndim > 1 else ()
        rows = index[: len(index) - len(column)]
        stack = rows[:-1] if one.ndim > 1 else rows
        many: tuple[Any, ...] = (*fitted(stack, two.shape[:-2]), slice(None), *column)
        numbers = one[fitted(rows, one.shape[:-1])] * two[many]

        def term_of(k: int) -> Term:
            factors = (self.at(a, (*rows, k)), self.at(b, (*stack, k, *column)))
            return Call(operator.mul, factors)

        return self._total(numbers, term_of)

    def _total(self, numbers: np.ndarray, term_of: Callable[[int], Term]) -> Term:
        outer, self._within_sum = self._within_sum, True
        try:
            return total(numbers, term_of)
        finally:
            self._within_sum = outer


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
