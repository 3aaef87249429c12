"""Find the syntax tree of a function.

Several lambdas may stand on one line, so a function is found by the columns of its code. The file
is compiled again and must still give that code: a file that was edited after the import is not
shown.
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

Function = ast.Lambda | ast.FunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a function."""

    node: Function  # its syntax tree
    text: str  # its text, not indented
    place: str  # file and line, such as ``"minigrad/ops/elementwise.py:251"``


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was parsed and compiled, and every function in it."""

    tree: ast.Module
    functions: tuple[Function, ...]
    codes: frozenset[CodeType]


def source(function: Callable[..., Any]) -> Source | None:
    """Find the source of a function; None if it is not known, or has changed since the import."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    lines = _lines(code.co_filename)
    file = _read("".join(lines))
    node = _node(file, code) if file is not None and code in file.codes else None
    if node is None:
        return None
    return Source(node, _segment(lines, node), f"{_shown_file(function, code)}:{node.lineno}")


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
    """Parse and compile a file; None if it is not Python."""
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


def _node(file: _File, code: CodeType) -> Function | None:
    """The function that a code object was compiled from."""
    own = code.co_name, code.co_firstlineno
    found = [n for n in file.functions if (getattr(n, "name", "<lambda>"), _first_line(n)) == own]
    if len(found) > 1:  # without columns, which Python can be told to leave out, none is known
        places = [
            (first, start, last, end)
            for first, last, start, end in code.co_positions()
            if first is not None and last is not None and start is not None and end
        ]
        begin = min((place[:2] for place in places), default=(0, 0))
        end = max((place[2:] for place in places), default=begin)
        found = [n for n in found if _start(n) <= begin and end <= _end(n)]
    return max(found, key=_start, default=None)


def _first_line(node: Function) -> int:
    """The line in which a function or its first decorator begins."""
    return min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))


def _start(node: Function) -> tuple[int, int]:
    """Where a ``def``, or the body of a lambda, begins."""
    inner = node.body if isinstance(node, ast.Lambda) else node
    return inner.lineno, inner.col_offset


def _end(node: Function) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _segment(lines: list[str], node: Function) -> str:
    """The text of a function, not indented. Columns are counted in bytes."""
    own = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = b" " * node.col_offset + own[0][node.col_offset :]
    return textwrap.dedent(b"".join(own).decode()).strip()


def _shown_file(function: Callable[..., Any], code: CodeType) -> str:
    """The path within the package; only the name of a file outside of packages."""
    package = (function.__module__ or "").split(".")
    if not hasattr(sys.modules.get(function.__module__ or ""), "__path__"):
        package.pop()
    return "/".join([*package, Path(code.co_filename).name])
