"""Mutants of a function: every mistake in its syntax tree, one at a time."""

import ast
import contextlib
import copy
import warnings
from collections import Counter
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from rule_mutants.mistakes import Place, changes, name_of, number_of

__all__ = ["Function", "Mutant", "compiled", "mutants_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
EFFORT = {"for_rows": 2, "in_blocks": 1}
"""The argument with the estimated effort: it affects the number of threads, not results."""


class Mutant(NamedTuple):
    """One mistake in one function.

    Attributes:
        kind: One of the kinds in mistakes.py.
        number: Its number among the mutants of this kind in the function, from 1.
        before: The original statement, on one line; for an `if` or a loop only its head.
        after: The same with the mistake.
        line: The line in its file at which the statement begins.
        code: The compiled function with the mistake.
        site: The name of the function.
    """

    kind: str
    number: int
    before: str
    after: str
    line: int
    code: CodeType
    site: str = ""

    @property
    def name(self) -> tuple[str, str, int]:
        """The name in the list: the function, the kind of mistake, and its number."""
        return self.site, self.kind, self.number


def mutants_of(
    tree: Function, arrays: frozenset[str], filename: str, owners: tuple[str, ...] = ()
) -> Iterator[Mutant]:
    """Every mutant of a function.

    Args:
        tree: The syntax tree of the function; it is not changed.
        arrays: The parameters that hold arrays: each is replaced by each other.
        filename: The file of the function, for tracebacks.
        owners: The classes around a method.

    Returns:
        The mutants, no two alike.
    """
    tree = copy.deepcopy(tree)
    seen = {ast.unparse(tree)}
    gives_array = not ast.unparse(getattr(tree, "returns", None) or tree).startswith("list")
    made: Counter[str] = Counter()
    for statement in _statements(tree):
        before = _head(statement)
        for place in _places(statement, gives_array):
            old = place.node
            for kind, new in changes(place, arrays):
                place.put(ast.fix_missing_locations(ast.copy_location(new, old)))
                text = ast.unparse(tree)
                if text not in seen:
                    seen.add(text)
                    with contextlib.suppress(SyntaxError, ValueError):  # -*x, 2 * x in a pattern
                        code, after = compiled(tree, filename, owners), _head(statement)
                        made[kind] += 1
                        yield Mutant(kind, made[kind], before, after, statement.lineno, code)
                place.put(old)


def _statements(tree: Function) -> list[Any]:
    """The statements that can have a mistake, in order; for a lambda, itself."""
    if isinstance(tree, ast.Lambda):
        return [tree]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Raise))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return sorted(found, key=lambda statement: statement.lineno)


def _head(statement: ast.AST) -> str:
    """A statement on one line, without its body."""
    text = ast.unparse(statement)
    return text.partition("\n")[0] if isinstance(getattr(statement, "body", None), list) else text


def compiled(tree: Function, filename: str, owners: tuple[str, ...] = ()) -> CodeType:
    """The code of a function or method; decorators, defaults and annotations do not run."""
    unit: CodeType
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", SyntaxWarning
        )  # a warning about `0[...]`, which fails in a test
        if isinstance(tree, ast.Lambda):
            unit = compile(ast.Expression(tree), filename, "eval")
        else:
            bare: ast.stmt = copy.copy(tree)
            bare.decorator_list = []  # type: ignore[attr-defined]
            for owner in reversed(owners):  # of `super()`, and of names such as `__x`
                bare = ast.fix_missing_locations(ast.ClassDef(owner, [], [], [bare], []))
            unit = compile(ast.Module([bare], []), filename, "exec")
    for name in (*owners, tree.name) if isinstance(tree, ast.stmt) else ("<lambda>",):
        codes = [part for part in unit.co_consts if isinstance(part, CodeType)]
        unit = next(code for code in codes if code.co_name == name)
    return unit


def _places(owner: ast.AST, returned: bool) -> Iterator[Place]:
    """Every position below a node, except in its statements, parameters and strings.

    Args:
        owner: The node.
        returned: Whether its value is an array that is returned.
    """
    update = isinstance(owner, ast.Call) and name_of(owner.func).endswith("Update")
    effort = EFFORT.get(name_of(owner.func)) if isinstance(owner, ast.Call) else None
    for field, value in ast.iter_fields(owner):
        if field in ("annotation", "returns") or isinstance(value, ast.arguments):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.stmt, ast.JoinedStr)):
                continue
            if field == "args" and index == effort is not None:
                continue
            gives = returned and (
                isinstance(owner, (ast.Return, ast.Lambda, ast.Tuple))
                or (update and (field, index) == ("args", 0))
            )
            yield Place(owner, field, index, gives)
            if number_of(node) is None:
                yield from _places(node, gives)
