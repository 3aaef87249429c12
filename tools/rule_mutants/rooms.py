"""Finds every function of a room: a package, or one module.

A function can be mutated if it exists once the tests are collected: then its code is replaced. So
what runs only while modules are imported, and what is generated as text, has no mutants.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from rule_mutants.mutations import Function, compiled
from rule_mutants.sites import ARRAY_TYPES, Site

__all__ = ["find_functions"]


def find_functions(package: str) -> list[Site]:
    """Find the functions and methods of a package, and its lambdas outside of them.

    Args:
        package: The dotted name of a package, or of one module.

    Returns:
        The functions, by file; what is defined within a function belongs to it.
    """
    top = importlib.import_module(package)
    for part in pkgutil.walk_packages(getattr(top, "__path__", []), f"{package}."):
        if not part.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of what is not installed
                importlib.import_module(part.name)
    files = {
        str(module.__file__): name
        for name, module in sorted(sys.modules.items())
        if (name == package or name.startswith(f"{package}.")) and getattr(module, "__file__", None)
    }
    live: dict[str, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # frozen objects are not listed
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in files:
            live[thing.__code__.co_filename].append(thing)
    return [
        site
        for file, module in sorted(files.items(), key=lambda pair: pair[1])
        for site in _sites(file, module.removeprefix(package).lstrip(".") or module, live[file])
    ]


def _sites(file: str, family: str, live: list[FunctionType]) -> Iterator[Site]:
    """The sites of one file."""
    for tree, owners in _functions(ast.parse(Path(file).read_text(encoding="utf-8"))):
        name = ".".join((*owners, getattr(tree, "name", "<lambda>")))
        code = compiled(tree, file, owners)
        first = min(node.lineno for node in (tree, *getattr(tree, "decorator_list", [])))
        within = [
            function
            for function in live
            if first <= function.__code__.co_firstlineno <= (tree.end_lineno or first)
        ]
        own = [function for function in within if _is(function.__code__, code, name, first)]
        if own:
            place = f" {tree.lineno}:{tree.col_offset}" if isinstance(tree, ast.Lambda) else ""
            inner = [
                function
                for function in within
                if function.__code__.co_qualname.startswith(f"{name}.<locals>.")
            ]
            yield Site(
                f"{family}.{name}{place}",
                family,
                frozenset(),
                tree,
                frozenset(_arrays(tree)),
                own[0],
                owners,
                (*own[1:], *inner),
            )


def _functions(
    tree: ast.AST, owners: tuple[str, ...] = ()
) -> Iterator[tuple[Function, tuple[str, ...]]]:
    """The outermost functions, each with the classes around it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node, owners
        else:
            yield from _functions(
                node, (*owners, node.name) if isinstance(node, ast.ClassDef) else owners
            )


def _is(found: CodeType, code: CodeType, name: str, first: int) -> bool:
    """Whether the code of a function is that of a piece of syntax."""
    if (found.co_qualname, found.co_firstlineno) != (name, first):
        return False
    if found.co_freevars != code.co_freevars:
        return False
    # Several lambdas can begin on one line.
    return found.co_name != "<lambda>" or all(
        getattr(found, part) == getattr(code, part) for part in ("co_code", "co_names", "co_consts")
    )


def _arrays(tree: Function) -> Iterator[str]:
    for parameter in (*tree.args.posonlyargs, *tree.args.args):
        if parameter.annotation is not None:
            hint = ast.unparse(parameter.annotation).removesuffix(" | None")
            if hint in (*ARRAY_TYPES, "Tensor"):
                yield parameter.arg
