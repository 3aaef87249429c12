"""Simplify products and quotients.

``g * (-out / b)`` becomes ``-(g * out / b)`` and ``g * (0.5 / y)`` becomes ``g / (2 * y)``: one
fraction, one sign, numbers in front, equal factors as a power. The value is the same up to
rounding.
"""

import functools
import math
import operator
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.viz.formula.terms import Call, Choice, Constant, Term, Variable

COUNTS = (np.shape, np.ndim, np.size, len, range, getattr, float, int)
"""Functions that return numbers; other Python functions may return arrays."""

DENOMINATORS = (1, 2, 4, 8)
"""A float with such a denominator is written as a fraction."""


def simplified(term: Term, arrays: Collection[str]) -> Term:
    """Simplify every product, quotient and sum in a term.

    `arrays` are the variables that are arrays: numbers come before them.
    """
    term = term.rebuilt(lambda part: simplified(part, arrays))
    match term:
        case Call(operator.neg | operator.mul | operator.truediv):
            product = _Product()
            product.take(term)
            return product.term(arrays)
        case Call(operator.matmul, (Call(operator.neg, (a,)), b)):
            return Call(operator.neg, (Call(operator.matmul, (a, b)),))
        # The rest when an argument is not given
        case Call(operator.add, (x, other) | (other, x)) if other.is_constant(0, 0.0):
            return x
        case Call(operator.sub, (x, other)) if other.is_constant(0, 0.0):
            return x
        case Call(np.where, (condition, x, _)) if condition.is_constant(True):
            return x
        case Call(operator.ne, (_, Constant(None))):
            return Constant(1)
    return term


def is_scalar(term: Term, arrays: Collection[str]) -> bool:
    """Whether a term is a number, not an array."""
    match term:
        case Variable(name):
            return name not in arrays
        case Constant(value):
            return not isinstance(value, np.ndarray)
        case Call(function, _) if function in COUNTS:
            return True
        case Call(function, _) if isinstance(function, FunctionType):
            return False
        case Choice(_, then, otherwise):
            return is_scalar(then, arrays) and is_scalar(otherwise, arrays)
    return all(is_scalar(part, arrays) for part in term.parts)


@dataclass
class _Product:
    """A product as its factors and divisors, and one number."""

    number: Fraction = Fraction(1)
    above: list[tuple[Term, int]] = field(default_factory=list)
    below: list[tuple[Term, int]] = field(default_factory=list)

    def take(self, term: Term, divide: bool = False) -> None:
        """Multiply by a term, or divide by it."""
        match term:
            case Call(operator.neg, (x,)):
                self.number = -self.number
                self.take(x, divide)
            case Call(operator.mul, (a, b)):
                self.take(a, divide)
                self.take(b, divide)
            case Call(operator.truediv, (a, b)):
                self.take(a, divide)
                self.take(b, not divide)
            case Call(operator.pow, (base, Constant(int() as exponent))):
                self.put(base, exponent, divide)
            case Constant(value, "") if _simple(value) and (value or not divide):
                number = Fraction(value)
                self.number = self.number / number if divide else self.number * number
            case _:
                self.put(term, 1, divide)

    def put(self, term: Term, exponent: int, divide: bool) -> None:
        """Add a factor or a divisor; an equal one gets a higher power instead."""
        side = self.below if divide else self.above
        for place, (known, before) in enumerate(side):
            if known.same(term) and (before > 0) == (exponent > 0):
                side[place] = (known, before + exponent)
                return
        side.append((term, exponent))

    def term(self, arrays: Collection[str]) -> Term:
        """The product as a term again."""
        if not self.number:
            return Constant(0)
        size = abs(self.number)
        above = _chain(size.numerator, self.above, arrays)
        below = _chain(size.denominator, self.below, arrays)
        found = above if below.is_constant(1) else Call(operator.truediv, (above, below))
        return Call(operator.neg, (found,)) if self.number < 0 else found


def _simple(value: Any) -> bool:
    """Whether a value is a number, but no bool, that is written as a fraction or whole."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and Fraction(value).denominator in DENOMINATORS


def _chain(number: int, factors: list[tuple[Term, int]], arrays: Collection[str]) -> Term:
    """The product of a number and factors: numbers first, arrays last."""
    ordered = sorted(factors, key=lambda factor: not is_scalar(factor[0], arrays))
    terms = [f if n == 1 else Call(operator.pow, (f, Constant(n))) for f, n in ordered]
    if number != 1 or not terms:
        terms.insert(0, Constant(number))
    return functools.reduce(lambda left, right: Call(operator.mul, (left, right)), terms)


def factors(term: Term, function: Callable[..., Any]) -> Iterator[Term]:
    """The factors of a product, from the left; `function` is the one that multiplies."""
    if isinstance(term, Call) and term.function is function:
        yield from (one for part in term.args for one in factors(part, function))
    else:
        yield term


def summands(term: Term) -> Iterator[tuple[str, Term]]:
    """The parts of a sum, each with its sign."""
    match term:
        case Call(operator.add, (a, b)):
            yield from summands(a)
            yield from summands(b)
        case Call(operator.sub, (a, b)):
            yield from summands(a)
            yield "−", b
        case Call(operator.neg, (x,)):
            yield "−", x
        case _:
            yield "+", term
