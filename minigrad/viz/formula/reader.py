"""From a rule, or the formula written for it, to the term that it computes.

Assignments become definitions, ``if`` becomes a choice (parser.py), and helpers of a line or two
are read into the place where they are called. For a longer helper, or one that only guards the
arithmetic, a formula may be written beside it (`minigrad.ops._numerics.formula`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.primitive import Primitive, by_numpy
from minigrad.viz.formula.parser import (
    SYMBOLS,
    Body,
    Keywords,
    Unreadable,
    in_module,
    item,
    outside,
)
from minigrad.viz.formula.signs import NAMES, SIGNS
from minigrad.viz.formula.sources import Source, source
from minigrad.viz.formula.terms import (
    Call,
    Constant,
    Term,
    Variable,
    count_variables,
    rebuilt,
    row,
    same,
    shown_part,
    size,
)

__all__ = ["Definition", "Reader", "Reading", "read", "read_written"]

TRANSPARENT = (np.asarray, float)
"""Functions that give back their first argument."""

OPERATORS = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.negative: operator.neg, np.power: operator.pow,
    np.matmul: operator.matmul, np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt,
    np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.logical_and: operator.and_, np.logical_or: operator.or_, np.logical_not: operator.invert,
}  # fmt: skip
"""Functions of NumPy that an operator stands for."""

VIEWS = (operator.getitem, np.reshape, np.swapaxes, np.transpose, np.moveaxis, np.diagonal)
"""Functions whose result shares its memory with their argument."""

SMALL = 7
"""A definition of up to this size that is used once is written in its place."""

LINES = 3
"""A helper of up to this many statements is read where it is called."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Names for the values of a term: several for the parts of a tuple."""

    names: tuple[str, ...]  # the names
    term: Term  # what they stand for
    # What explains them in the place of an equation, if not None; where it is empty, nothing
    # does: nobody asks what the first output is
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a function computes."""

    value: Term  # what it returns
    # What names in the value stand for, each after those that it uses
    definitions: tuple[Definition, ...] = ()
    notes: tuple[str, ...] = ()  # what the formula leaves out
    written: bool = False  # whether the formula was written by hand


def read(
    function: Callable[..., Any], given: Mapping[str, Term], joint: int | None = None
) -> Reading:
    """Read what a rule computes of its arguments.

    `given` has terms for parameters; the others stand for themselves. `joint` says which of several
    values that the rule returns is meant.

    Raises:
        Unreadable: It is no formula, or its source is not known.
    """
    reader = Reader()
    value = reader.function(function, given)
    return reader.reading(value if joint is None else item(value, Constant(joint)))


def read_written(op: Primitive, scope: dict[str, Any], *texts: str) -> Reading:
    """Read a formula that was written for a rule of an op: lines of Python, the last the formula.

    `scope` has the globals of the module in which it stands.

    Raises:
        Unreadable: It is no formula.
    """
    names = ["g", "out", *["i"] * op.variadic, *op.params, *op.residuals]
    names += [f"{name}_shape" for name in op.params] + [f"g_{name}" for name in op.params]
    reader, local = Reader(), {name: Variable(name) for name in names}
    value = reader.written(local, scope, *texts)
    return reader.reading(value, written=True)


@dataclass
class Reader:
    """Collects what is defined on the way."""

    definitions: dict[tuple[str, ...], Definition] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)
    within: list[Callable[..., Any]] = field(default_factory=list)

    def function(self, function: Callable[..., Any], given: Mapping[str, Term]) -> Term:
        """Read a function whose parameters stand for given terms."""
        found = source(function)
        if found is None or function in self.within or not isinstance(function, FunctionType):
            raise Unreadable
        node = found.node
        parameters = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        local = self._local({name: given.get(name, Variable(name)) for name in parameters})
        body = Body(self, local, partial(outside, self, function), function.__globals__)
        self.within.append(function)
        try:
            value = body.term(node.body) if isinstance(node, ast.Lambda) else body.run(node.body)
        finally:
            self.within.pop()
        if value is None:
            raise Unreadable
        return value

    def written(self, local: Mapping[str, Term], scope: dict[str, Any], *texts: str) -> Term:
        """Read a formula written by hand; its comments explain definitions, or become notes."""
        text = "\n".join(map(inspect.cleandoc, texts))
        if not text.strip():
            raise Unreadable("it is empty")
        try:
            *statements, last = ast.parse(text).body
        except (SyntaxError, ValueError) as error:
            raise Unreadable(f"it is no Python: {error}") from None
        if not isinstance(last, ast.Expr):
            raise Unreadable("its last line is no expression")
        lines = enumerate(text.splitlines(), 1)
        comments = {i: line.partition("#")[2].strip() for i, line in lines if "#" in line}
        names = partial(self._name, scope)
        body = Body(self, self._local(local), names, scope, comments)
        value = body.run([*statements, ast.Return(last.value)])
        self.notes |= dict.fromkeys(comments.values())  # those that belong to no definition
        assert value is not None
        return value

    def _local(self, local: Mapping[str, Term]) -> dict[str, Term]:
        self.parameters |= {v.name for v in local.values() if isinstance(v, Variable)}
        return dict(local)

    def _name(self, scope: dict[str, Any], name: str) -> Term:
        """What a name in a written formula stands for: nearest first."""
        if name in NAMES:
            return Constant(NAMES[name])
        if name in scope:
            return in_module(self, scope, name)
        for module in (np, ops, builtins):
            if hasattr(module, name):
                return Constant(getattr(module, name), SYMBOLS.get(name, ""))
        raise Unreadable(f"there is no {name!r}")

    def call(
        self, function: Any, args: tuple[Term, ...], keywords: Keywords, inside: bool | None = None
    ) -> Term:
        """What calling a function amounts to: its formula, its inside, or just its name.

        If `inside` is not given, a function is read where it is short.
        """
        if not isinstance(function, Hashable):
            raise Unreadable
        if any(function is one for one in TRANSPARENT):
            return args[0]
        function = _plainest(function)
        if not isinstance(function, FunctionType) or hasattr(function, "op") or function in SIGNS:
            return Call(function, args, keywords)
        text, notes = getattr(function, "formula", None), dict(self.notes)
        short = _is_short(source(function)) if inside is None else inside
        if text is None and not short:
            return Call(function, args, keywords)
        try:
            bound = _bound(function, args, keywords)
            if isinstance(text, str):
                return self.written(bound, function.__globals__, text)
            return self.function(function, bound)
        except (Unreadable, TypeError):  # it is no formula, or is called in a way that fails
            self.notes = notes
            return Call(function, args, keywords)

    def define(
        self, names: tuple[str, ...], term: Term, comment: str | None = None
    ) -> tuple[str, ...]:
        """Give a term names that are not in use."""
        taken = {name for one in self.definitions for name in one} | self.parameters
        while taken & {*names}:
            known = self.definitions.get(names)
            if known is not None and same(known.term, term):
                return names
            names = tuple(f"{name}′" for name in names)
        self.definitions[names] = Definition(names, term, comment)
        return names

    def is_view(self, term: Term) -> bool:
        """Whether what a name stands for shares its memory with something else."""
        defined = self.definitions.get((term.name,)) if isinstance(term, Variable) else None
        whole = term if defined is None else defined.term
        return isinstance(whole, Call) and any(whole.function is view for view in VIEWS)

    def reading(self, value: Term, written: bool = False) -> Reading:
        """Keep the definitions that are worth it, and write the others in their places."""
        while True:
            uses = count_variables(value)
            for one in reversed(self.definitions.values()):
                if any(uses[name] for name in one.names):
                    uses += count_variables(one.term)
            kept = [d for d in self.definitions.values() if any(uses[name] for name in d.names)]
            trivial = next((d for d in kept if _is_trivial(d, uses, value)), None)
            if trivial is None:
                return Reading(value, tuple(kept), tuple(filter(None, self.notes)), written)
            found = {trivial.names[0]: trivial.term}
            value = _replaced(value, found)
            self.definitions = {
                d.names: Definition(d.names, _replaced(d.term, found), d.comment)
                for d in kept
                if d is not trivial
            }


def _is_trivial(definition: Definition, uses: Mapping[str, int], value: Term) -> bool:
    """Whether a definition is not worth its name."""
    if len(definition.names) > 1 or definition.comment is not None:
        return False
    once = uses[definition.names[0]] == 1
    if once and value == Variable(definition.names[0]):
        return True
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


def _is_short(found: Source | None) -> bool:
    """Whether a helper is a line or two that say everything."""
    if found is None or isinstance(found.node, ast.Lambda):
        return found is not None
    lines = [line for line in found.node.body if not isinstance(line, ast.Expr)]
    return len(lines) <= LINES and all(isinstance(line, (ast.Return, ast.Assign)) for line in lines)


def _bound(
    function: Callable[..., Any], args: tuple[Term, ...], keywords: Keywords
) -> dict[str, Term]:
    """A term for each parameter of a call."""
    signature = inspect.signature(function)
    defaults = {name: Constant(one.default) for name, one in signature.parameters.items()}
    given = signature.bind(*args, **dict(keywords)).arguments
    several = {name: Call(row, terms) for name, terms in given.items() if isinstance(terms, tuple)}
    return {**defaults, **given, **several}
