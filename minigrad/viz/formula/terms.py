"""Terms: what a formula computes, as variables, constants, calls and choices.

A term can be evaluated, so that tests can compare a formula with its rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Variable:
    """An argument of a rule, or a name that the formula defines."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A value, and the sign for it if it has one, such as π."""

    value: Any
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A function of terms; an operator is the function in `operator`."""

    function: Callable[..., Any]
    args: tuple[Term, ...]
    keywords: tuple[tuple[str, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One term or another, of which only the chosen one is computed. ``a and b`` is one too."""

    test: Term
    then: Term
    otherwise: Term


Term = Variable | Constant | Call | Choice


def row(*items: Any) -> tuple[Any, ...]:
    """The function that a tuple or a list of terms is a call of."""
    return items


def parts(term: Term) -> tuple[Term, ...]:
    """The terms that a term is made of."""
    match term:
        case Call(_, args, keywords):
            return (*args, *(value for _, value in keywords))
        case Choice(test, then, otherwise):
            return (test, then, otherwise)
    return ()


def rebuilt(term: Term, change: Callable[[Term], Term]) -> Term:
    """The term with every part of it changed."""
    match term:
        case Call(function, args, keywords):
            named = tuple((name, change(value)) for name, value in keywords)
            return Call(function, tuple(map(change, args)), named)
        case Choice(test, then, otherwise):
            return Choice(change(test), change(then), change(otherwise))
    return term


def walk(term: Term) -> Iterator[Term]:
    """The term and all within it."""
    yield term
    for part in parts(term):
        yield from walk(part)


def size(term: Term) -> int:
    """The number of variables and calls in a term."""
    return sum(not isinstance(part, Constant) for part in walk(term))


def count_variables(term: Term) -> Counter[str]:
    """How often each variable occurs in a term."""
    return Counter(part.name for part in walk(term) if isinstance(part, Variable))


def same(one: Term, other: Term) -> bool:
    """Whether two terms are equal. Constants may be arrays, so ``==`` cannot tell."""
    return repr(one) == repr(other)


def is_constant(term: Term | None, *values: Any) -> bool:
    """Whether a term is one of these constants: ``1`` is neither ``True`` nor ``1.0``."""
    return isinstance(term, Constant) and any(
        type(term.value) is type(value) and term.value == value for value in values
    )


def shown_part(term: Term) -> Term:
    """The array in a reshape that only restores reduced axes; any other term is itself."""
    match term:
        case Call(np.reshape, (x, Call(FunctionType(), _))):
            return x
    return term


def evaluate(term: Term, names: Mapping[str, Any]) -> Any:
    """Compute a term from the values of its variables."""
    match term:
        case Variable(name):
            return names[name]
        case Constant(value):
            return value
        case Choice(test, then, otherwise):
            return evaluate(then if evaluate(test, names) else otherwise, names)
    function: Any = term.function
    if hasattr(function, "op"):  # an op of ours gives tensors; its forward gives arrays
        function = function.op.forward
    named = {name: evaluate(value, names) for name, value in term.keywords}
    return function(*(evaluate(arg, names) for arg in term.args), **named)
