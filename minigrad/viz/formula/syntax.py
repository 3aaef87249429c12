"""Statements and expressions of Python as terms.

Names stand for terms, so an assignment changes what a name stands for and nothing else. A loop, or
anything else that is no formula, is `Unreadable`.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np

from minigrad.viz.formula.sources import defined
from minigrad.viz.formula.terms import (
    Call,
    Choice,
    Constant,
    Term,
    Variable,
    evaluate,
    is_constant,
    row,
    same,
    walk,
)

__all__ = ["Body", "Context", "Unreadable", "item"]

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}

SYMBOLS = {"pi": "π", "e": "e", "inf": "∞"}


SILENT = {"astype", "copy", "item"}
"""Methods that do not change the value of an array."""


class Unreadable(Exception):
    """A function has statements that are no formula: loops, for one."""


class Context(Protocol):
    """What keeps definitions, and knows what calling a function amounts to."""

    def call(
        self, function: Any, args: tuple[Term, ...], keywords: tuple[tuple[str, Term], ...]
    ) -> Term: ...
    def define(self, names: tuple[str, ...], term: Term, shown: bool = True) -> tuple[str, ...]: ...
    def is_view(self, term: Term) -> bool: ...


@dataclass
class Body:
    """The inside of a function.

    Attributes:
        context: Where definitions go.
        function: The function, for the names that are not its own.
        local: What each of its own names stands for.
    """

    context: Context
    function: FunctionType
    local: dict[str, Term]

    # Statements ---------------------------------------------------------------------------------

    def run(self, statements: Iterable[ast.stmt]) -> Term | None:
        """What statements return, None if they go on."""
        rest = list(statements)
        while rest:
            statement = rest.pop(0)
            match statement:
                case ast.Return(value=ast.expr() as value):
                    return self.term(value)
                case ast.Assign(targets=[target], value=value):
                    self.assign(target, self.term(value))
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self.assign(target, self.term(value))
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value) if type(
                    op
                ) in OPERATORS and self.owns(name):
                    now = Call(OPERATORS[type(op)], (self.local[name], self.term(value)))
                    self.assign(ast.Name(name), now)
                case ast.If():
                    found = self.branches(statement, rest)
                    if found is not None:
                        return found
                case ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    raise Unreadable(self.function)
        return None

    def owns(self, name: str) -> bool:
        """Whether changing an array in place changes what this name stands for and nothing else."""
        term = self.local.get(name)
        shared = [other for other in self.local.values() if other == term]
        return term is not None and len(shared) == 1 and not self.context.is_view(term)

    def branches(self, statement: ast.If, rest: list[ast.stmt]) -> Term | None:
        """What an ``if`` returns, together with what comes after it."""
        test = self.term(statement.test)
        if is_constant(test, True, False):
            rest[:0] = statement.body if is_constant(test, True) else statement.orelse
            return None
        before = dict(self.local)
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            then = self.run([*statement.body, *rest])
            self.local = before
            otherwise = self.run([*statement.orelse, *rest])
            if then is None or otherwise is None:
                raise Unreadable(self.function)
            return Choice(test, then, otherwise)
        self.run(statement.body)
        after_then, self.local = self.local, before
        self.run(statement.orelse)
        for name in {**after_then, **self.local}:
            one, other = after_then.get(name), self.local.get(name)
            if one is None or other is None:
                self.local.pop(name, None)  # known on one way only
            elif not same(one, other):
                self.assign(ast.Name(name), Choice(test, one, other))
        return None

    def assign(self, target: ast.expr, term: Term) -> None:
        match target:
            case ast.Name(id=name):
                if isinstance(term, (Variable, Constant)):
                    self.local[name] = term
                else:
                    self.local[name] = Variable(*self.context.define((name,), term))
            case ast.Tuple(elts=targets) if (
                isinstance(term, Call) and term.function is row and len(term.args) == len(targets)
            ):
                for one, part in zip(targets, term.args, strict=True):
                    self.assign(one, part)
            case ast.Tuple(elts=targets) if all(isinstance(one, ast.Name) for one in targets):
                names = tuple(one.id for one in targets)  # type: ignore[attr-defined]
                given = isinstance(term, Variable) and term.name in ("g", "out")
                for name, used in zip(
                    names, self.context.define(names, term, shown=not given), strict=True
                ):
                    self.local[name] = Variable(used)
            case _:
                raise Unreadable(self.function)

    # Expressions --------------------------------------------------------------------------------

    def term(self, node: ast.expr) -> Term:
        """The term of an expression."""
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.Name(id=name):
                return self.local[name] if name in self.local else self.outside(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return Call(OPERATORS[type(op)], (self.term(left), self.term(right)))
            case ast.UnaryOp(op=op, operand=operand):
                term = self.term(operand)
                if isinstance(op, ast.Not) and is_constant(term, True, False):
                    return Constant(is_constant(term, False))
                if isinstance(op, ast.USub) and _is_number(term):
                    return Constant(-term.value)  # type: ignore[union-attr]
                return Call(OPERATORS[type(op)], (term,))
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self.comparison([left, *others], ops)
            case ast.BoolOp(op=op, values=values):
                return self.conditions(isinstance(op, ast.And), [self.term(v) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.term(test)
                if is_constant(condition, True, False):
                    return self.term(body if is_constant(condition, True) else orelse)
                return Choice(condition, self.term(body), self.term(orelse))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return Call(row, tuple(map(self.term, items)))
            case ast.Subscript(value=value, slice=index):
                return item(self.term(value), self.term(index))
            case ast.Slice(lower=lower, upper=upper, step=step):
                ends = [Constant(None) if e is None else self.term(e) for e in (lower, upper, step)]
                return Call(slice, tuple(ends))
            case ast.Attribute(value=value, attr=name):
                return self.attribute(value, name)
            case ast.Call(func=func, args=args, keywords=keywords):
                named = tuple((k.arg or "", self.term(k.value)) for k in keywords)
                if any(name in ("", "out") for name, _ in named):
                    raise Unreadable(self.function)
                return self.call(func, tuple(map(self.term, args)), named)
        raise Unreadable(self.function)

    def comparison(self, nodes: list[ast.expr], ops: list[ast.cmpop]) -> Term:
        if not {*map(type, ops)} <= OPERATORS.keys():
            raise Unreadable(self.function)
        terms = [self.term(node) for node in nodes]
        pairs = zip(terms, ops, terms[1:], strict=False)
        return self.conditions(True, [Call(OPERATORS[type(op)], (a, b)) for a, op, b in pairs])

    @staticmethod
    def conditions(all_of: bool, terms: list[Term]) -> Term:
        """``and`` or ``or``: the value of the last, unless one before it decides."""
        found = terms[-1]
        for term in reversed(terms[:-1]):
            if is_constant(term, True, False):
                found = found if is_constant(term, all_of) else term
            else:
                found = Choice(term, found, term) if all_of else Choice(term, term, found)
        return found

    def outside(self, name: str) -> Term:
        """What a name stands for that is not of the function itself."""
        code = self.function.__code__
        if name in (*code.co_varnames, *code.co_cellvars):
            raise Unreadable(self.function)  # it is its own, but has no value on every way here
        if name in code.co_freevars:
            cells = self.function.__closure__ or ()
            return Constant(cells[code.co_freevars.index(name)].cell_contents)
        scope = self.function.__globals__
        if name not in scope:
            if not hasattr(builtins, name):
                raise Unreadable(self.function)
            return Constant(getattr(builtins, name))
        value = scope[name]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            expression = defined(sys.modules.get(scope.get("__name__", "")), name)
            term = self.term(expression) if expression is not None else Constant(value)
            return term if _is_arithmetic(term) and evaluate(term, {}) == value else Constant(value)
        plain = (
            value is None or callable(value) or isinstance(value, (str, bool, tuple, ModuleType))
        )
        return Constant(value) if plain else Constant(value, name.strip("_"))

    def attribute(self, value: ast.expr, name: str) -> Term:
        base = self.term(value)
        if isinstance(base, Constant) and hasattr(base.value, name):
            found = getattr(base.value, name)
            has_sign = name in SYMBOLS and (base.value is np or base.value is math)
            return Constant(found, SYMBOLS[name]) if has_sign else Constant(found)
        match name:
            case "shape":
                known = Variable(f"{base.name}_shape") if isinstance(base, Variable) else None
                return known if known in self.local.values() and known else Call(np.shape, (base,))
            case "ndim" | "size":
                return Call(getattr(np, name), (base,))
            case "T":
                return Call(np.transpose, (base,))
            case "mT":
                return Call(np.swapaxes, (base, Constant(-1), Constant(-2)))
            case "dtype":
                return Call(getattr, (base, Constant(name)))
        raise Unreadable(self.function)

    def call(
        self, func: ast.expr, args: tuple[Term, ...], keywords: tuple[tuple[str, Term], ...]
    ) -> Term:
        """A call of a function, or of a method as of the function of the same name."""
        if isinstance(func, ast.Attribute):
            base = self.term(func.value)
            if not isinstance(base, Constant) or isinstance(base.value, np.ndarray):
                name = func.attr
                if name in SILENT:
                    return base
                function = getattr(np, name, None)
                if function is None:
                    raise Unreadable(self.function)
                if name in ("reshape", "transpose") and len(args) > 1:
                    args = (Call(row, args),)
                return Call(function, (base, *args), keywords)
        function = self.term(func)
        if not isinstance(function, Constant) or not callable(function.value):
            raise Unreadable(self.function)
        return self.context.call(function.value, args, keywords)


def _is_arithmetic(term: Term) -> bool:
    """Whether a term is made of numbers by functions that do nothing else than compute."""
    return not isinstance(term, Variable) and all(
        not isinstance(part, Call) or _module(part.function) in ("math", "_operator")
        for part in walk(term)
    )


def _module(function: Any) -> str:
    return getattr(function, "__module__", None) or ""


def _is_number(term: Term) -> bool:
    return isinstance(term, Constant) and not term.symbol and type(term.value) in (int, float)


def item(term: Term, index: Term) -> Term:
    """A part of a term; that of a tuple which is written out is there already."""
    if isinstance(index, Constant) and isinstance(index.value, int):
        if isinstance(term, Call) and term.function is row and index.value < len(term.args):
            return term.args[index.value]
        if isinstance(term, Choice):
            return Choice(term.test, item(term.then, index), item(term.otherwise, index))
        if isinstance(term, Constant) and isinstance(term.value, tuple):
            return Constant(term.value[index.value])
    return Call(operator.getitem, (term, index))
