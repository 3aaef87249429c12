"""Statements and expressions of Python as terms: those of a rule, or of a written formula.

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
from functools import partial
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from minigrad.viz.formula.reader import Reader

__all__ = ["SYMBOLS", "Body", "Keywords", "Unreadable", "in_module", "item", "outside"]

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert, ast.Not: operator.not_, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip

Keywords = tuple[tuple[str, Term], ...]

SYMBOLS = {"pi": "π", "e": "e", "inf": "∞"}


SILENT = {"astype", "copy", "item"}
"""Methods that do not change the value of an array."""


class Unreadable(Exception):
    """A function has statements that are no formula: loops, for one."""


@dataclass
class Body:
    """The inside of a function, or the lines of a written formula."""

    reader: Reader  # where definitions go
    local: dict[str, Term]  # what each of its own names stands for
    outside: Callable[[str], Term]  # finds what another name stands for
    scope: dict[str, Any]  # the globals of the module
    # The comments of a written formula, by line; None for a function
    comments: dict[int, str] | None = None

    # Statements ---------------------------------------------------------------------------------

    def run(self, statements: Iterable[ast.stmt]) -> Term | None:
        """What statements return, None if they go on."""
        rest = list(statements)
        while rest:
            statement = rest.pop(0)
            match statement:
                case ast.Return(value=ast.expr() as value):
                    return self.term(value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                    self.comments and statement.end_lineno in self.comments
                ):
                    comment = self.comments.pop(statement.end_lineno)
                    (name_used,) = self.reader.define((name,), self.computed(value), comment)
                    self.local[name] = Variable(name_used)
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
                    raise Unreadable
        return None

    def owns(self, name: str) -> bool:
        """Whether changing an array in place changes what this name stands for and nothing else."""
        term = self.local.get(name)
        shared = [other for other in self.local.values() if other == term]
        return term is not None and len(shared) == 1 and not self.reader.is_view(term)

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
                raise Unreadable
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
                    self.local[name] = Variable(*self.reader.define((name,), term))
            case ast.Tuple(elts=targets) if (
                isinstance(term, Call) and term.function is row and len(term.args) == len(targets)
            ):
                for one, part in zip(targets, term.args, strict=True):
                    self.assign(one, part)
            case ast.Tuple(elts=targets) if all(isinstance(one, ast.Name) for one in targets):
                names = tuple(one.id for one in targets)  # type: ignore[attr-defined]
                given = term == Variable("g") and all(name.startswith("g_") for name in names)
                used = self.reader.define(names, term, "" if given else None)
                self.local.update(zip(names, map(Variable, used), strict=True))
            case _:
                raise Unreadable

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
                return Call(row, self.terms(items))
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
                    raise Unreadable
                return self.call(func, self.terms(args), named)
        raise Unreadable

    def terms(self, nodes: list[ast.expr]) -> tuple[Term, ...]:
        """The terms of a list; a starred tuple stands for its items."""
        found: list[Term] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self.term(node))
                continue
            whole = self.term(node.value)
            if not isinstance(whole, Call) or whole.function is not row:
                raise Unreadable
            found += whole.args
        return tuple(found)

    def comparison(self, nodes: list[ast.expr], ops: list[ast.cmpop]) -> Term:
        if not {*map(type, ops)} <= OPERATORS.keys():
            raise Unreadable
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

    def computed(self, node: ast.expr) -> Term:
        """A value that a comment explains: any Python, computed and not shown."""
        names = sorted(
            {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & {*self.local}
        )
        function = eval(f"lambda {', '.join(names)}: {ast.unparse(node)}", self.scope)
        term = Call(function, tuple(self.local[name] for name in names))
        match node:
            case ast.Call(func=ast.Name(id="float" | "int" | "len")):
                return Call(float, (term,))  # a number: it is not multiplied by elements
        return term

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
        raise Unreadable

    def call(self, func: ast.expr, args: tuple[Term, ...], keywords: Keywords) -> Term:
        """A call of a function, or of a method as of the function of the same name."""
        if isinstance(func, ast.Attribute):
            base = self.term(func.value)
            if not isinstance(base, Constant) or isinstance(base.value, np.ndarray):
                name = func.attr
                if name in SILENT:
                    return base
                function = getattr(np, name, None)
                if function is None:
                    raise Unreadable
                if name in ("reshape", "transpose") and len(args) > 1:
                    args = (Call(row, args),)
                return Call(function, (base, *args), keywords)
        if isinstance(func, ast.Name) and isinstance(self.local.get(func.id), Variable):
            function = self.outside(func.id)  # such as `mean`, which is also an array here
        else:
            function = self.term(func)
        if not isinstance(function, Constant) or not callable(function.value):
            raise Unreadable
        given = isinstance(func, ast.Name) and func.id in self.local
        inside = True if given else None if self.comments is None else False
        return self.reader.call(function.value, args, keywords, inside)


def outside(reader: Reader, function: FunctionType, name: str) -> Term:
    """What a name stands for in a function that is not its own."""
    code = function.__code__
    if name in (*code.co_varnames, *code.co_cellvars):
        raise Unreadable  # it is its own, but has no value on every way here
    if name in code.co_freevars:
        cells = function.__closure__ or ()
        return Constant(cells[code.co_freevars.index(name)].cell_contents)
    if name not in function.__globals__ and hasattr(builtins, name):
        return Constant(getattr(builtins, name))
    return in_module(reader, function.__globals__, name)


def in_module(reader: Reader, scope: dict[str, Any], name: str) -> Term:
    """What a name at the top of a module stands for."""
    if name not in scope:
        raise Unreadable(f"there is no {name!r}")
    value = scope[name]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        expression = defined(sys.modules.get(scope.get("__name__", "")), name)
        if expression is None:
            return Constant(value)
        term = Body(reader, {}, partial(in_module, reader, scope), scope).term(expression)
        return term if _is_arithmetic(term) and evaluate(term, {}) == value else Constant(value)
    plain = value is None or callable(value) or isinstance(value, (str, bool, tuple, ModuleType))
    return Constant(value) if plain else Constant(value, name.strip("_"))


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
