"""From the source of a function, or the formula written for it, to the term that it computes.

Each name means a term. An assignment changes the meaning of the name: it becomes a definition. An
``if`` becomes a choice. A loop, a write in place, or anything else that is not a formula, raises
`Unreadable`. A call of a short helper is replaced by its body. For other helpers a formula may be
written, with `minigrad.ops._numerics.formula`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import operator
import sys
from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.primitives import Primitive, by_numpy, registry
from minigrad.support.signatures import signature_of
from minigrad.viz.formula.definitions import Definition, Reading, tidied
from minigrad.viz.formula.signs import NAMES, SIGNS
from minigrad.viz.formula.sources import Source, defined, source
from minigrad.viz.formula.terms import Call, Choice, Constant, Term, Variable, row

SYNTAX: dict[type[ast.AST], Callable[..., Any]] = {
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
"""Methods that keep the values of an array."""

PLAIN = (str, bool, tuple, ModuleType)
"""Values of these types are shown as they are; others, such as arrays, by their name."""

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


class Unreadable(Exception):
    """Raised for code that is not a formula, such as a loop."""


def read(function: Callable[..., Any]) -> Reading:
    """Read what a rule computes of its arguments."""
    reader = Reader()
    return reader.reading(reader.function(function, {}))


def read_forward(op: Primitive) -> Reading:
    """Read what an op computes of its arguments."""
    if op.computed_by is None:
        return read(op.forward)
    arguments = tuple(map(Variable, op.params))
    return Reading(Reader().call(op.computed_by, arguments, (), inside=False))


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


@dataclass
class Body:
    """The body of a function, or the lines of a written formula."""

    reader: Reader  # collects the definitions
    local: dict[str, Term]  # the term of each local name
    scope: ChainMap[str, Any]  # the values of other names, the innermost scope first
    own: tuple[str, ...] = ()  # the names that are local to the function, assigned yet or not
    comments: dict[int, str] | None = None  # of a written formula, by line; None for a function

    def __post_init__(self) -> None:
        given = (term for term in self.local.values() if isinstance(term, Variable))
        self.reader.parameters |= {term.name for term in given}

    def run(self, statements: Iterable[ast.stmt]) -> Term | None:
        """The term that the statements return; None if they do not return."""
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
                case (
                    ast.Assign(targets=[target], value=value)
                    | ast.AnnAssign(target=target, value=ast.expr() as value)
                ):
                    self.assign(target, self.term(value))
                case ast.If():
                    found = self.branches(statement, rest)
                    if found is not None:
                        return found
                case ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    raise Unreadable
        return None

    def branches(self, statement: ast.If, rest: list[ast.stmt]) -> Term | None:
        """Read an ``if``: the term if it returns, with the statements after it; else None."""
        test = self.term(statement.test)
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
                self.local.pop(name, None)  # assigned in one branch only
            elif not one.same(other):
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

    def term(self, node: ast.expr) -> Term:
        """The term of an expression."""
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.Name(id=name):
                return self.local[name] if name in self.local else self.global_(name)
            case ast.BinOp(left=left, op=op, right=right):
                return Call(_operator(op), (self.term(left), self.term(right)))
            case ast.UnaryOp(op=op, operand=operand):
                term = self.term(operand)
                match op, term:
                    case ast.USub(), Constant(value, "") if type(value) in (int, float):
                        return Constant(-value)
                return Call(_operator(op), (term,))
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = itertools.pairwise([self.term(one) for one in (left, *others)])
                compared = [Call(_operator(op), pair) for op, pair in zip(ops, pairs, strict=True)]
                return self.conditions(True, compared)
            case ast.BoolOp(op=op, values=values):
                return self.conditions(isinstance(op, ast.And), [self.term(v) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Choice(self.term(test), self.term(body), self.term(orelse))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return Call(row, self.terms(items))
            case ast.Subscript(value=value, slice=index):
                return Call(operator.getitem, (self.term(value), self.term(index)))
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
        """The terms of a list; a starred tuple gives its items."""
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

    @staticmethod
    def conditions(all_of: bool, terms: Sequence[Term]) -> Term:
        """``and`` or ``or``: the last term, unless one before it decides."""
        found = terms[-1]
        for term in reversed(terms[:-1]):
            found = Choice(term, found, term) if all_of else Choice(term, term, found)
        return found

    def computed(self, node: ast.expr) -> Term:
        """A value that a comment explains: any Python. It is computed but not shown."""
        names = sorted(
            {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & {*self.local}
        )
        # The parents are without the reductions of formulas: here `sum` is Python's.
        scope = dict(self.scope.parents)
        function = eval(f"lambda {', '.join(names)}: {ast.unparse(node)}", scope)
        function.explained = True
        term = Call(function, tuple(self.local[name] for name in names))
        match node:
            case ast.Call(func=ast.Name(id="float" | "int" | "len")):
                return Call(float, (term,))  # marks a number, so that its product gets a dot
        return term

    def global_(self, name: str) -> Term:
        """The term of a name that is not local."""
        if name in self.own or name not in self.scope:
            raise Unreadable(f"there is no {name!r}")
        value = self.scope[name]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            module = sys.modules.get(self.scope["__name__"])
            expression = defined(module, name)
            if expression is not None:
                term = Body(self.reader, {}, self.scope).term(expression)
                if _is_arithmetic(term) and term.evaluate({}) == value:
                    return term
            return Constant(value, _symbol(name, value))
        plain = value is None or callable(value) or isinstance(value, PLAIN)
        return Constant(value) if plain else Constant(value, name.strip("_"))

    def attribute(self, value: ast.expr, name: str) -> Term:
        base = self.term(value)
        if isinstance(base, Constant) and hasattr(base.value, name):
            found = getattr(base.value, name)
            return Constant(found, _symbol(name, found))
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
        """A call of a function; a method means the NumPy function of its name."""
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
            function = self.global_(func.id)  # such as `mean`, which is an array here too
        else:
            function = self.term(func)
        if not isinstance(function, Constant) or not callable(function.value):
            raise Unreadable
        given = isinstance(func, ast.Name) and func.id in self.local
        inside = True if given else None if self.comments is None else False
        return self.reader.call(function.value, args, keywords, inside)


def _operator(op: ast.AST) -> Callable[..., Any]:
    """The function of an operator."""
    if type(op) not in SYNTAX:
        raise Unreadable
    return SYNTAX[type(op)]


def _is_arithmetic(term: Term) -> bool:
    """Whether a term is made of numbers and functions of `math` and `operator` only."""
    return not isinstance(term, Variable) and all(
        not isinstance(part, Call)
        or getattr(part.function, "__module__", "") in ("math", "_operator")
        for part in term.walk()
    )


def _symbol(name: str, value: Any) -> str:
    """The sign of a number that has one."""
    known = name in SYMBOLS and isinstance(value, float) and value == getattr(np, name)
    return SYMBOLS[name] if known else ""
