"""Find the syntax tree of a function.

Several lambdas may be on one line, so the file is compiled again, and its functions and codes
are matched in their order. A file that was edited after the import does not give that code any
more, and is not shown.
"""

import ast
import functools
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from minigrad.support.checks import module_of

Function = ast.Lambda | ast.FunctionDef


class Source(NamedTuple):
    """The source of a function."""

    node: Function  # its syntax tree
    text: str  # its text, not indented
    place: str  # file and line, such as ``"minigrad/ops/elementwise.py:251"``


def source(function: Callable[..., Any]) -> Source | None:
    """Find the source of a function; None if it is not known, or has changed since the import."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    lines = _lines(code.co_filename)
    _, functions = _read("".join(lines))
    if code not in functions:
        return None
    node = functions[code]
    return Source(node, _segment(lines, node), f"{_shown_file(function, code)}:{node.lineno}")


def defined(module: Any, name: str) -> ast.expr | None:
    """Find the right-hand side of a name's only assignment in a module; None if there is none."""
    tree, _ = _read("".join(_lines(getattr(module, "__file__", None) or "")))
    given = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and [ast.unparse(target) for target in statement.targets] == [name]
    ]
    return given[0] if len(given) == 1 else None


def _lines(filename: str) -> list[str]:
    linecache.checkcache(filename)
    return linecache.getlines(filename)


@functools.lru_cache(maxsize=256)
def _read(text: str) -> tuple[ast.Module, dict[CodeType, Function]]:
    """Parse and compile a file, and find the functions in it; it is empty if it is not Python."""
    try:
        tree = ast.parse(text)
        code = compile(text, "<formula>", "exec", dont_inherit=True)
    except SyntaxError:
        return ast.Module([], []), {}
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda | ast.FunctionDef)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    codes = list(_codes_in(code))
    functions: dict[CodeType, Function] = {}
    for node in nodes:  # a function's code is the first of its name and line that is left
        name = getattr(node, "name", "<lambda>")
        line = min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))
        at = next(i for i, c in enumerate(codes) if (c.co_name, c.co_firstlineno) == (name, line))
        functions[codes.pop(at)] = node
    return tree, functions


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code and those within it, in the order of the source."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def _segment(lines: list[str], node: Function) -> str:
    """The text of a function, not indented. Columns are counted in bytes."""
    own = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = b" " * node.col_offset + own[0][node.col_offset :]
    return textwrap.dedent(b"".join(own).decode()).strip()


def _shown_file(function: Callable[..., Any], code: CodeType) -> str:
    """The path within the package; only the name of a file outside of packages."""
    package = module_of(function).split(".")
    if not hasattr(sys.modules.get(module_of(function)), "__path__"):
        package.pop()
    return "/".join([*package, Path(code.co_filename).name])
