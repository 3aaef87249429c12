"""Finds the functions to mutate: all of a package, or those of its derivatives.

A function can be mutated if it exists once the tests are collected: then its code is replaced. So
what runs only while modules are imported, and what is generated as text, has no mutants.

The functions of derivatives are rules, decompositions, and helpers that only they use: what a rule
names, directly or not, belongs to the rules, unless other code of the program names it too.
"""

import ast
import contextlib
import dis
import functools
import gc
import importlib
import inspect
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from minigrad.autograd.primitives import Primitive
from rule_mutants.mistakes import name_of
from rule_mutants.mutations import Function, Mutant, compiled, mutants_of

__all__ = ["Site", "find_functions", "find_sites"]

ARRAY_TYPES = ("Any", "np.ndarray", "Tensor")
NAMED = ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_FROM")
ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")


@dataclass(frozen=True)
class Site:
    """A function that can have mistakes.

    Attributes:
        name: The module within the package, and the function: ``reductions._extreme``; for the
            lambda of a rule, the op and the argument: ``elementwise.divide.a``.
        family: The module within the package.
        ops: The names of the ops whose rules use it.
        tree: Its syntax tree.
        arrays: The names of the parameters that hold arrays.
        function: The function itself.
        owners: The classes around it.
        inner: Other functions with its code, or that it has defined already.
    """

    name: str
    family: str
    ops: frozenset[str]
    tree: Function
    arrays: frozenset[str]
    function: FunctionType
    owners: tuple[str, ...] = ()
    inner: tuple[FunctionType, ...] = ()

    def mutants(self) -> Iterator[Mutant]:
        """Every mutant of the function that can take its place."""
        own = self.function.__code__
        for mutant in mutants_of(self.tree, self.arrays, own.co_filename, self.owners):
            if mutant.code.co_freevars == own.co_freevars:
                yield mutant._replace(site=self.name)

    def put(self, code: CodeType) -> None:
        """Replace the code of the function, and of what it has defined already."""
        self.function.__code__ = code
        codes = {_same_in_mutants(part): part for part in _with_parts(code)}
        for function in self.inner:
            new = codes.get(_same_in_mutants(function.__code__))
            if new is not None and new.co_freevars == function.__code__.co_freevars:
                function.__code__ = new


def _with_parts(code: CodeType) -> Iterator[CodeType]:
    """A code, and those of the functions defined in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _with_parts(part)


def _same_in_mutants(code: CodeType) -> tuple[Any, ...]:
    return code.co_qualname, code.co_firstlineno, code.co_varnames[: code.co_argcount]


def _modules(package: str) -> dict[str, ModuleType]:
    """The imported modules of a package that have a file, or the one module."""
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if (name == package or name.startswith(f"{package}.")) and getattr(module, "__file__", None)
    }


# All functions ----------------------------------------------------------------------------------


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
    live: dict[str, list[FunctionType]] = defaultdict(list)
    for function in _live():
        live[function.__code__.co_filename].append(function)
    return [
        site
        for name, module in _modules(package).items()
        for site in _sites(
            str(module.__file__),
            name.removeprefix(package).lstrip(".") or name,
            live[str(module.__file__)],
        )
    ]


def _live() -> Iterator[FunctionType]:
    """Every function that exists."""
    gc.unfreeze()  # frozen objects are not listed
    return (thing for thing in gc.get_objects() if type(thing) is FunctionType)


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
                f"{family}.{name}{place}", family, frozenset(), tree, frozenset(_arrays(tree)),
                own[0], owners, (*own[1:], *inner),
            )  # fmt: skip


def _functions(
    tree: ast.AST, owners: tuple[str, ...] = ()
) -> Iterator[tuple[Function, tuple[str, ...]]]:
    """The outermost functions, each with the classes around it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node, owners
        else:
            inner = (*owners, node.name) if isinstance(node, ast.ClassDef) else owners
            yield from _functions(node, inner)


def _is(found: CodeType, code: CodeType, name: str, first: int) -> bool:
    """Whether the code of a function is that of a piece of syntax."""
    if (found.co_qualname, found.co_firstlineno) != (name, first):
        return False
    if found.co_freevars != code.co_freevars:
        return False
    # Several lambdas can begin on one line.
    return found.co_name != "<lambda>" or {*found.co_positions()} == {*code.co_positions()}


def _arrays(tree: Function) -> Iterator[str]:
    for parameter in (*tree.args.posonlyargs, *tree.args.args):
        hint = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
        if hint.removesuffix(" | None") in ARRAY_TYPES:
            yield parameter.arg


# Those of derivatives ---------------------------------------------------------------------------


def find_sites(package: str) -> list[Site]:
    """Find the functions on which the derivatives of a package depend.

    Args:
        package: The dotted name of a package, or of one module.

    Returns:
        The functions, by file.

    Raises:
        LookupError: A rule is defined in an unsupported way.
    """
    every = find_functions(package)
    top = package.partition(".")[0]
    program = {  # the drawings only read the rules
        name: module for name, module in _modules(top).items() if not name.startswith(f"{top}.viz")
    }
    forwards, names = set[Any](), dict[Primitive, str]()
    for home, module in program.items():
        for name, thing in vars(module).items():
            op = getattr(thing, "op", None)
            if isinstance(op, Primitive) and op.module == home:
                names.setdefault(op, name)
                if isinstance(op.forward, FunctionType):  # not one of NumPy's
                    forwards.add(_function(thing))
    rules: dict[Any, list[tuple[Primitive, str]]] = defaultdict(list)  # with the arguments
    for op in names:
        if op.module in _modules(package):
            for argument, rule in (*op.rules.items(), ("", op.joint)):
                rules[getattr(rule, "function", None)].append((op, argument))
            rules[_function(op.decomposition)].append((op, ""))
    rules.pop(None, None)
    reached = {rule: _reach([rule], whole=True) for rule in rules}
    of_rules = set().union(*reached.values())
    functions = {function for function in _live() if function.__module__ in program}
    others = [*forwards, *(functions - of_rules), *_outside(program, package)]
    chosen = rules.keys() | (of_rules - forwards - _reach(others, whole=False))
    sites = []
    for site in every:
        if site.function not in chosen:
            continue
        users = [one for rule in rules if site.function in reached[rule] for one in rules[rule]]
        site = replace(site, ops=frozenset(op.name for op, _ in users))
        if isinstance(site.tree, ast.Lambda):
            op, argument = users[0]
            known = {*op.params[: op.arrays], *op.residuals, "g", "out"}
            arrays = frozenset(parameter.arg for parameter in site.tree.args.args) & known
            site = replace(site, name=f"{site.family}.{names[op]}.{argument}", arrays=arrays)
        sites.append(site)
    if missing := rules.keys() - {site.function for site in sites}:
        raise LookupError(f"rules that are not plain functions of a module: {missing}")
    return sites


def _outside(program: Mapping[str, ModuleType], package: str) -> Iterator[FunctionType]:
    """The code outside of functions and of rules, statement by statement, as functions."""
    for name, module in program.items():
        file = Path(str(module.__file__))
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            call = getattr(node, "value", None)
            rule = name in _modules(package) and name_of(getattr(call, "func", node)) == "defvjp"
            exported = isinstance(node, ast.ImportFrom) and file.name == "__init__.py"
            other = not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ImportFrom)
            if exported or (other and not rule):
                yield FunctionType(compile(ast.Module([node], []), str(file), "exec"), vars(module))


def _reach(starts: Iterable[FunctionType], whole: bool) -> set[FunctionType]:
    """The functions that some functions call, directly or not, and these.

    Args:
        starts: The functions.
        whole: Whether a named class counts with all its methods, as for a cotangent that the engine
            gets; otherwise only with the methods that are named too.
    """
    found: set[FunctionType] = set()
    waiting = list(starts)
    while waiting:
        if (function := waiting.pop()) not in found:
            found.add(function)
            waiting += _named(function, whole)
    return found


@functools.cache
def _named(function: FunctionType, whole: bool) -> frozenset[FunctionType]:
    """The functions that a function names."""
    scope, owner = function.__globals__, function.__qualname__.rpartition(".")[0]
    steps = [one for code in _with_parts(function.__code__) for one in dis.get_instructions(code)]
    names = {one.argval for one in steps if one.opname in NAMED}
    names |= {*re.findall(r"\w+", str(function.__annotations__))}
    attributes = {one.argval for one in steps if one.opname in ATTRIBUTE}
    things = [scope.get(name) for name in names]
    for one, after in pairwise(steps):
        if after.opname in ATTRIBUTE and isinstance(scope.get(one.argval), ModuleType):
            things.append(vars(scope[one.argval]).get(after.argval))
    for thing, every in [*((one, whole) for one in things), (scope.get(owner), False)]:
        if isinstance(thing, type):
            known = vars(thing).keys()
            things += [
                vars(thing)[n] for n in (known if every else known & {"__init__", *attributes})
            ]
    return frozenset(one for one in map(_function, things) if isinstance(one, FunctionType))


def _function(thing: Any) -> Any:
    """The function behind an op, a method, a property or a wrapper."""
    op = getattr(thing, "op", thing)
    if isinstance(op, Primitive):
        thing = op.forward
    for name in ("fget", "func"):
        thing = getattr(thing, name, thing)
    return inspect.unwrap(thing) if callable(thing) else thing
