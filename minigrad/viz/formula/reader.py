"""From a rule, or the formula written for it, to the term that it computes.

parser.py reads the syntax: an assignment becomes a definition, and ``if`` becomes a choice. A call
of a short helper is replaced by its body. For other helpers a formula may be written, with
`minigrad.ops._numerics.formula`.
"""

import ast
import builtins
import inspect
import operator
from collections import ChainMap
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.primitives import Primitive, by_numpy, registry
from minigrad.support.signatures import signature_of
from minigrad.viz.formula.definitions import Definition, Reading, tidied
from minigrad.viz.formula.parser import Body, Keywords, Unreadable
from minigrad.viz.formula.signs import NAMES, SIGNS
from minigrad.viz.formula.sources import Source, source
from minigrad.viz.formula.terms import Call, Constant, Term, Variable, row

TRANSPARENT = (np.asarray, float)
"""Functions that return their first argument."""

OPERATORS = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.negative: operator.neg, np.power: operator.pow,
    np.matmul: operator.matmul, np.floor_divide: operator.floordiv, np.remainder: operator.mod,
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt,
    np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.logical_and: operator.and_, np.logical_or: operator.or_, np.logical_not: operator.invert,
}  # fmt: skip
"""NumPy functions that are written as operators."""

LINES = 3
"""The most statements of a helper whose body replaces its call."""


def read(function: Callable[..., Any]) -> Reading:
    """Read what a rule computes of its arguments."""
    reader = Reader()
    return reader.reading(reader.function(function, {}))


def read_written(op: Primitive, scope: dict[str, Any], *texts: str) -> Reading:
    """Read a formula that was written for a rule: lines of Python, of which the last is the value.

    `scope` has the globals of the module of the op.
    """
    names = ["g", "out", *["i"] * op.variadic, *op.params, *op.residuals]
    names += [f"{name}_shape" for name in op.params] + [f"g_{name}" for name in op.params]
    reader, local = Reader(), {name: Variable(name) for name in names}
    value = reader.written(local, scope, *texts)
    return reader.reading(value, written=True)


@dataclass
class Reader:
    """Reads functions and formulas, and collects their definitions and notes."""

    definitions: dict[tuple[str, ...], Definition] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)  # names that no definition may take
    within: list[Callable[..., Any]] = field(default_factory=list)  # the functions being read

    def function(self, function: Callable[..., Any], given: Mapping[str, Term]) -> Term:
        """Read a function whose parameters mean given terms."""
        found = source(function)
        if found is None or function in self.within or not isinstance(function, FunctionType):
            raise Unreadable
        node, code = found.node, function.__code__
        parameters = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        local = {name: given.get(name, Variable(name)) for name in parameters}
        cells = (cell.cell_contents for cell in function.__closure__ or ())
        closure = dict(zip(code.co_freevars, cells, strict=True))
        scope = ChainMap(closure, function.__globals__, vars(builtins))
        body = Body(self, local, scope, code.co_varnames + code.co_cellvars)
        self.within.append(function)
        try:
            value = body.term(node.body) if isinstance(node, ast.Lambda) else body.run(node.body)
        finally:
            self.within.pop()
        if value is None:
            raise Unreadable
        return value

    def written(self, local: Mapping[str, Term], scope: dict[str, Any], *texts: str) -> Term:
        """Read a written formula. A comment explains the definition in its line, or is a note."""
        text = "\n".join(map(inspect.cleandoc, texts))
        if not text.strip():
            raise Unreadable("it is empty")
        try:
            *statements, last = ast.parse(text).body
        except (SyntaxError, ValueError) as error:
            raise Unreadable(f"it is not Python: {error}") from None
        if not isinstance(last, ast.Expr):
            raise Unreadable("its last line is not an expression")
        lines = enumerate(text.splitlines(), 1)
        comments = {i: line.partition("#")[2].strip() for i, line in lines if "#" in line}
        names = ChainMap(NAMES, scope, vars(builtins), vars(np), vars(ops))
        body = Body(self, dict(local), names, comments=comments)
        value = body.run([*statements, ast.Return(last.value)])
        self.notes |= dict.fromkeys(comments.values())  # those that belong to no definition
        assert value is not None
        return value

    def call(
        self, function: Any, args: tuple[Term, ...], keywords: Keywords, inside: bool | None = None
    ) -> Term:
        """Read a call: as the formula or the body of the function, or as just a call.

        `inside` says whether to read the body; by default it is read if it is short.
        """
        if not isinstance(function, Hashable):
            raise Unreadable
        if function in TRANSPARENT:
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
        except (Unreadable, TypeError):  # it is not a formula, or the call does not fit it
            self.notes = notes
            return Call(function, args, keywords)

    def define(
        self, names: tuple[str, ...], term: Term, comment: str | None = None
    ) -> tuple[str, ...]:
        """Define names for a term; they get primes if they are in use."""
        taken = {name for one in self.definitions for name in one} | self.parameters
        while taken & {*names}:
            known = self.definitions.get(names)
            if known is not None and known.term.same(term):
                return names
            names = tuple(f"{name}′" for name in names)
        self.definitions[names] = Definition(names, term, comment)
        return names

    def reading(self, value: Term, written: bool = False) -> Reading:
        """The value as read, with the definitions that it needs."""
        notes = tuple(filter(None, self.notes))
        return tidied(Reading(value, tuple(self.definitions.values()), notes, written))


def _plainest(function: Any) -> Any:
    """The NumPy function of one of our ops, and the operator of a NumPy function."""
    known = {op: numpy for numpy, op in by_numpy.items()}.get(function, function)
    if getattr(known, "op", None) is registry["getitem"]:
        return operator.getitem
    return OPERATORS.get(known, known)


def _is_short(found: Source | None) -> bool:
    """Whether a helper is a lambda, or has a few assignments and no branches."""
    if found is None or isinstance(found.node, ast.Lambda):
        return found is not None
    lines = [line for line in found.node.body if not isinstance(line, ast.Expr)]
    return len(lines) <= LINES and all(isinstance(line, (ast.Return, ast.Assign)) for line in lines)


def _bound(
    function: Callable[..., Any], args: tuple[Term, ...], keywords: Keywords
) -> dict[str, Term]:
    """A term for each parameter of a call."""
    signature = signature_of(function)
    defaults = {name: Constant(one.default) for name, one in signature.parameters.items()}
    given = signature.bind(*args, **dict(keywords)).arguments
    several = {name: Call(row, terms) for name, terms in given.items() if isinstance(terms, tuple)}
    return {**defaults, **given, **several}
