"""From the syntax tree of a rule to the term that it computes.

Assignments become definitions, ``if`` becomes a choice (syntax.py), and helpers of a line or two
are read into the place where they are called. What only guards the arithmetic (`zero_safe`, `raw`,
casts) falls away; where that changes what a formula says, a note says it.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.autograd.primitive import by_numpy
from minigrad.ops import _numerics, _parallel
from minigrad.viz.formula import longhand, words
from minigrad.viz.formula.sources import Source, source
from minigrad.viz.formula.syntax import Body, Unreadable, item
from minigrad.viz.formula.terms import (
    Call,
    Constant,
    Term,
    Variable,
    count_variables,
    rebuilt,
    same,
    shown_part,
    size,
)
from minigrad.viz.formula.vocabulary import VOCABULARY
from minigrad.viz.formula.written import WRITTEN

__all__ = ["Definition", "Reading", "read"]

TRANSPARENT = (_numerics.array_of, _numerics.widened, np.asarray, float)
"""Functions that give back their first argument."""

GUARDS = {
    _numerics.zero_safe: "0 where ḡ is 0 and the slope is infinite",
    _numerics.stopped: "0 where the slope is 0, whatever ḡ is",
    _numerics.flat_at_zero: "where the divisor is 0, the quotient is 0",
}
"""Functions that do so but at a few points, and what they do there."""

OPERATORS = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.power: operator.pow,
    np.matmul: operator.matmul,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.logical_and: operator.and_,
    np.logical_or: operator.or_,
    np.logical_not: operator.invert,
}
"""Functions of NumPy that an operator stands for."""

VIEWS = (operator.getitem, np.reshape, np.swapaxes, np.transpose, np.moveaxis, np.diagonal)
"""Functions whose result shares its memory with their argument."""

SMALL = 7
"""A definition of up to this size that is used once is written in its place."""

LINES = 3
"""A helper of up to this many statements is read where it is called."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Names for the values of a term: several for the parts of a tuple.

    Attributes:
        names: The names.
        term: What they stand for.
        shown: Whether a formula has to say it; nobody asks what the first output is.
    """

    names: tuple[str, ...]
    term: Term
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What a function computes.

    Attributes:
        value: What it returns.
        definitions: What names in the value stand for, each after those that it uses.
        notes: What the formula leaves out.
        written: Whether a part of it was written by hand.
    """

    value: Term
    definitions: tuple[Definition, ...] = ()
    notes: tuple[str, ...] = ()
    written: bool = False


def read(
    function: Callable[..., Any], given: Mapping[str, Term], joint: int | None = None
) -> Reading:
    """Read what a function computes of its arguments.

    Args:
        function: A rule, or a formula written by hand.
        given: A term for each parameter; other parameters stand for themselves.
        joint: Which of the values that it returns is meant, if it returns several.

    Returns:
        The term and its definitions.

    Raises:
        Unreadable: It is no formula, or its source is not known.
    """
    reader = _Reader()
    value = reader.function(function, given)
    return reader.reading(value if joint is None else item(value, Constant(joint)))


@dataclass
class _Reader:
    """Collects what is defined on the way."""

    definitions: dict[tuple[str, ...], Definition] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    written: bool = False
    parameters: set[str] = field(default_factory=set)
    within: list[Callable[..., Any]] = field(default_factory=list)

    def function(self, function: Callable[..., Any], given: Mapping[str, Term]) -> Term:
        """Read a function whose parameters stand for given terms."""
        found = source(function)
        if found is None or function in self.within or not isinstance(function, FunctionType):
            raise Unreadable(function)
        node = found.node
        parameters = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        local = {name: given.get(name, Variable(name)) for name in parameters}
        self.parameters |= {v.name for v in local.values() if isinstance(v, Variable)}
        body = Body(self, function, local)
        self.within.append(function)
        try:
            value = body.term(node.body) if isinstance(node, ast.Lambda) else body.run(node.body)
        finally:
            self.within.pop()
        if value is None:
            raise Unreadable(function)
        return value

    def call(
        self, function: Any, args: tuple[Term, ...], keywords: tuple[tuple[str, Term], ...]
    ) -> Term:
        """What calling a function amounts to: its first argument, its inside, or just its name."""
        if not isinstance(function, Hashable):
            raise Unreadable(function)
        if any(function is one for one in TRANSPARENT):
            return args[0]
        for guard, note in GUARDS.items():
            if function is guard:
                self.notes[note] = None
                return args[0]
        if function is _numerics.within_rule and isinstance(args[0], Constant):
            return self.call(args[0].value, args[1:], ())
        if function is _parallel.in_blocks and isinstance(args[0], Constant):
            inside = args[0].value
            return self.function(inside, _bound(inside, args[2:], ()))
        if function is _numerics.total:
            return Call(np.sum, args, (("keepdims", Constant(True)),))
        function = _plainest(function)
        if not isinstance(function, FunctionType) or _has_name(function):
            return Call(function, args, keywords)
        plain, notes = WRITTEN.get(function), dict(self.notes)
        if plain is not None:
            self.written = True
            self.notes |= dict.fromkeys(plain.notes)
            function = plain.formula
        elif function.__module__ != longhand.__name__ and not _is_short(source(function)):
            return Call(function, args, keywords)
        try:
            return self.function(function, _bound(function, args, keywords))
        except (Unreadable, TypeError):  # it is no formula, or is called in a way that fails
            self.notes = notes
            return Call(function, args, keywords)

    def define(self, names: tuple[str, ...], term: Term, shown: bool = True) -> tuple[str, ...]:
        """Give a term names that are not in use."""
        taken = {name for one in self.definitions for name in one} | self.parameters
        while taken & {*names}:
            known = self.definitions.get(names)
            if known is not None and same(known.term, term):
                return names
            names = tuple(f"{name}′" for name in names)
        self.definitions[names] = Definition(names, term, shown)
        return names

    def is_view(self, term: Term) -> bool:
        """Whether what a name stands for shares its memory with something else."""
        defined = self.definitions.get((term.name,)) if isinstance(term, Variable) else None
        whole = term if defined is None else defined.term
        return isinstance(whole, Call) and any(whole.function is view for view in VIEWS)

    def reading(self, value: Term) -> Reading:
        """Keep the definitions that are worth it, and write the others in their places."""
        while True:
            uses = count_variables(value)
            for one in reversed(self.definitions.values()):
                if any(uses[name] for name in one.names):
                    uses += count_variables(one.term)
            kept = [d for d in self.definitions.values() if any(uses[name] for name in d.names)]
            trivial = next((d for d in kept if _is_trivial(d, uses)), None)
            if trivial is None:
                return Reading(value, tuple(kept), tuple(self.notes), self.written)
            found = {trivial.names[0]: trivial.term}
            value = _replaced(value, found)
            self.definitions = {
                d.names: Definition(d.names, _replaced(d.term, found), d.shown)
                for d in kept
                if d is not trivial
            }


def _is_trivial(definition: Definition, uses: Mapping[str, int]) -> bool:
    """Whether a definition is not worth its name."""
    if len(definition.names) > 1 or not definition.shown:
        return False
    once = uses[definition.names[0]] == 1
    return size(shown_part(definition.term)) <= (SMALL if once else 2)


def _replaced(term: Term, values: Mapping[str, Term]) -> Term:
    if isinstance(term, Variable):
        return values.get(term.name, term)
    return rebuilt(term, lambda part: _replaced(part, values))


def _plainest(function: Any) -> Any:
    """NumPy's function in the place of our op for it, and Python's operator for NumPy's."""
    for known, op in by_numpy.items():
        if op is function:
            function = known
    return next((plain for known, plain in OPERATORS.items() if known is function), function)


def _has_name(function: FunctionType) -> bool:
    """Whether a function says more by its name or sign than by what it does inside."""
    named = (*VOCABULARY, _numerics.kept_shape)
    return hasattr(function, "op") or function in named or function.__module__ == words.__name__


def _is_short(found: Source | None) -> bool:
    """Whether a helper is a line or two that say everything."""
    if found is None or isinstance(found.node, ast.Lambda):
        return found is not None
    lines = [line for line in found.node.body if not isinstance(line, ast.Expr)]
    return len(lines) <= LINES and all(isinstance(line, (ast.Return, ast.Assign)) for line in lines)


def _bound(
    function: Callable[..., Any], args: tuple[Term, ...], keywords: tuple[tuple[str, Term], ...]
) -> dict[str, Term]:
    """A term for each parameter of a call."""
    signature = inspect.signature(function)
    defaults = {name: Constant(one.default) for name, one in signature.parameters.items()}
    return {**defaults, **signature.bind(*args, **dict(keywords)).arguments}
