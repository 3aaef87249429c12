"""A rule as read: its value, with the definitions of the names that the value uses."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.primitives import Primitive
from minigrad.viz.formula.algebra import is_scalar, simplified
from minigrad.viz.formula.terms import Choice, Constant, Term, Variable

SMALL = 7
"""The largest size of a definition that is written where it is used, if it is used once."""


class Definition(NamedTuple):
    """A name for the value of a term, or names for the parts of a tuple."""

    names: tuple[str, ...]
    term: Term  # the meaning of the names
    comment: str | None = None  # a note that replaces the equation; empty for neither of both


class Reading(NamedTuple):
    """The computation of a function."""

    value: Term  # what it returns
    definitions: tuple[Definition, ...] = ()  # of names in the value, each after those it uses
    notes: tuple[str, ...] = ()  # what the formula leaves out
    written: bool = False  # whether the formula was written by hand


class Values(dict[str, Any]):
    """Values of names, where definitions are computed when they are asked for."""

    def __init__(self, known: Mapping[str, Any], definitions: Iterable[Definition]) -> None:
        super().__init__(known)
        self._definitions = {name: one for one in definitions for name in one.names}

    def __missing__(self, name: str) -> Any:
        definition = self._definitions[name]
        value = definition.term.evaluate(self)
        values = value if len(definition.names) > 1 else (value,)
        self.update(zip(definition.names, values, strict=True))
        return self[name]


def replaced(term: Term, values: Mapping[str, Term]) -> Term:
    """The term with terms for some of its variables."""
    if isinstance(term, Variable):
        return values.get(term.name, term)
    return term.rebuilt(lambda part: replaced(part, values))


def tidied(reading: Reading) -> Reading:
    """Replace the names of short definitions by their terms, and drop unused definitions."""
    value, definitions = reading.value, reading.definitions
    while True:
        uses = value.variables()
        for one in reversed(definitions):
            if any(uses[name] for name in one.names):
                uses += one.term.variables()
        kept = tuple(d for d in definitions if any(uses[name] for name in d.names))
        short = next((d for d in kept if _is_short(d, uses, value)), None)
        if short is None:
            return reading._replace(value=value, definitions=kept)
        found = {short.names[0]: short.term}
        value = replaced(value, found)
        rest = (d for d in kept if d is not short)
        definitions = tuple(d._replace(term=replaced(d.term, found)) for d in rest)


def _is_short(definition: Definition, uses: Mapping[str, int], value: Term) -> bool:
    """Whether a definition is so short that its term replaces its name."""
    if len(definition.names) > 1 or definition.comment is not None:
        return False
    once = uses[definition.names[0]] == 1
    if once and value == Variable(definition.names[0]):
        return True
    return definition.term.shown().size() <= (SMALL if once else 2)


def arrays_of(op: Primitive) -> set[str]:
    """The names in a formula that mean arrays."""
    return {"g", "out", *op.params[: op.arrays], *op.residuals, *(f"g_{n}" for n in op.params)}


def for_call(reading: Reading, values: Mapping[str, Any], op: Primitive) -> Reading:
    """The reading for one call: static arguments by value, and only the cases that it takes.

    What cannot be decided, because a value is not known, stays as it is.
    """
    static = op.params[1:] if op.variadic else op.params[op.arrays :]
    terms = [reading.value, *(one.term for one in reading.definitions)]
    explained = any(one.comment is not None for one in reading.definitions)
    if not explained and not any(
        isinstance(part, Choice) or (isinstance(part, Variable) and part.name in static)
        for term in terms
        for part in term.walk()
    ):
        return reading
    names = Values(values, reading.definitions)
    known: dict[str, Term] = {name: Constant(values[name]) for name in static if name in values}
    given = {id(value): name for name, value in values.items() if isinstance(value, np.ndarray)}
    for definition in reading.definitions:
        if definition.comment is None or not definition.term.variables():
            continue
        value = _computed(Variable(definition.names[0]), names)
        if isinstance(value, (bool, int, float)) and value in (0, 1):
            known[definition.names[0]] = Constant(value)
        elif id(value) in given:  # it was not left out
            known[definition.names[0]] = Variable(given[id(value)])

    def chosen(term: Term) -> Term:
        if isinstance(term, Choice):
            test = _computed(term.test, names)
            if test is not UNKNOWN:
                return chosen(term.then if test else term.otherwise)
        if isinstance(term, Variable):
            return known.get(term.name, term)
        return term.rebuilt(chosen)

    definitions = (one._replace(term=chosen(one.term)) for one in reading.definitions)
    found = reading._replace(value=chosen(reading.value), definitions=tuple(definitions))
    return tidied(in_simple_terms(found, op))


def in_simple_terms(reading: Reading, op: Primitive) -> Reading:
    """The reading with simplified products and sums."""
    arrays, definitions = arrays_of(op), []
    for one in reading.definitions:
        term = simplified(one.term, arrays)
        definitions.append(one._replace(term=term))
        if len(one.names) > 1 or not is_scalar(term, arrays):
            arrays.update(one.names)
    return reading._replace(value=simplified(reading.value, arrays), definitions=tuple(definitions))


UNKNOWN = object()


def _computed(term: Term, names: Mapping[str, Any]) -> Any:
    """The value of a term; `UNKNOWN` if it needs one that is not known."""
    try:
        with np.errstate(all="ignore"):
            return term.evaluate(names)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return UNKNOWN
