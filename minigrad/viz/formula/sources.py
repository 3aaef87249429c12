"""The syntax tree of a function that is already there: a rule, or what a rule calls.

A table of rules has several lambdas on a line. So a function is found by where its code stands, and
it counts only if its file, compiled again, still gives that code: what was edited since it was
imported is not shown for what runs.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

__all__ = ["Source", "defined", "source"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a function stands."""

    node: ast.Lambda | ast.FunctionDef  # its syntax tree
    text: str  # its text, not indented
    place: str  # file and line, such as ``"minigrad/ops/elementwise.py:251"``


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was read, with every function in it."""

    tree: ast.Module
    functions: tuple[ast.Lambda | ast.FunctionDef, ...]
    codes: frozenset[CodeType]


def source(function: Callable[..., Any]) -> Source | None:
    """Find the source of a function; None if it is not known, or no longer says what is run."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    lines = _lines(code.co_filename)
    file = _read("".join(lines))
    if file is None or code not in file.codes:
        return None
    node = _node(file, code)
    if node is None:
        return None
    text = _segment(lines, node)
    return Source(node, text, f"{_shown_file(function, code)}:{node.lineno}")


def defined(module: Any, name: str) -> ast.expr | None:
    """Find the right-hand side of a name's only assignment in a module; None if there is none."""
    file = _read("".join(_lines(getattr(module, "__file__", None) or "")))
    given = [
        statement.value
        for statement in (file.tree.body if file is not None else [])
        if isinstance(statement, ast.Assign)
        and [ast.unparse(target) for target in statement.targets] == [name]
    ]
    return given[0] if len(given) == 1 else None


def _lines(filename: str) -> list[str]:
    linecache.checkcache(filename)
    return linecache.getlines(filename)


@functools.lru_cache(maxsize=256)
def _read(text: str) -> _File | None:
    """Parse and compile a file; None if it is no Python."""
    try:
        tree = ast.parse(text)
        code = compile(text, "<formula>", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    functions = (n for n in ast.walk(tree) if isinstance(n, (ast.Lambda, ast.FunctionDef)))
    return _File(tree, tuple(functions), frozenset(_codes_in(code)))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def _node(file: _File, code: CodeType) -> ast.Lambda | ast.FunctionDef | None:
    """The function in the file that a code object was made of: of several, the one around it."""
    found = [n for n in file.functions if _begins(n, code)]
    places = [
        ((first, start), (last, end))
        for first, last, start, end in code.co_positions()
        if first is not None and last is not None and start is not None and end
    ]
    if len(found) > 1:  # where Python keeps no columns, none of them is known to be it
        begin = min((one for one, _ in places), default=(0, 0))
        end = max(other for _, other in places) if places else begin
        found = [n for n in found if _start(n) <= begin and end <= _end(n)]
    return max(found, key=_start, default=None)


def _begins(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Whether name, line and parameters are those of a code object."""
    lines = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]
    given = node.args
    parameters = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    own = getattr(node, "name", "<lambda>"), min(lines), tuple(parameters)
    return own == (code.co_name, code.co_firstlineno, code.co_varnames[:count])


def _start(node: ast.Lambda | ast.FunctionDef) -> tuple[int, int]:
    """Where the body of a lambda begins, or a ``def``."""
    inner = node.body if isinstance(node, ast.Lambda) else node
    return inner.lineno, inner.col_offset


def _end(node: ast.Lambda | ast.FunctionDef) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _segment(lines: list[str], node: ast.Lambda | ast.FunctionDef) -> str:
    """The text of a function as if nothing stood around it. Columns are counted in bytes."""
    own = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = b" " * node.col_offset + own[0][node.col_offset :]
    return textwrap.dedent(b"".join(own).decode()).strip()


def _shown_file(function: Callable[..., Any], code: CodeType) -> str:
    """The path within the package, or the bare name of a file that is in none."""
    package = (function.__module__ or "").split(".")
    if not hasattr(sys.modules.get(function.__module__ or ""), "__path__"):
        package.pop()
    return "/".join([*package, Path(code.co_filename).name])
