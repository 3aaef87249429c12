"""Finds the functions of derivatives: rules, decompositions, and helpers that only they use.

Helpers are found by following names: what a rule calls, directly or not, belongs to the rules,
unless other code of the program calls it too.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rule_mutants.mutations import Function, Mutant, mutants_of

__all__ = ["Site", "find_sites"]

Key = tuple[str, str]
"""A module, and the name of a function in it; a method has its class in front."""

Start = tuple[str, str | ast.AST]
"""A place from which to follow names: a function, or a piece of syntax of a module."""

ARRAY_TYPES = ("Any", "np.ndarray")


@dataclass(frozen=True)
class Site:
    """A function on which a derivative depends.

    Attributes:
        name: The module within the package, and the function: ``reductions._extreme``; for a
            lambda, the op and the argument: ``elementwise.divide.a``.
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
                yield mutant

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


def find_sites(package: str) -> list[Site]:
    """Find the functions on which the derivatives of a package depend.

    Args:
        package: The dotted name of an imported package, or of one module.

    Returns:
        The functions, by file.

    Raises:
        LookupError: A rule is defined in an unsupported way.
    """
    program = _Program(package)
    reached = {rule: program.reach([rule.start], whole=True) for rule in program.rules}
    of_rules = set().union(*reached.values())
    others = [*program.loose, *program.primitives, *(program.functions.keys() - of_rules)]
    helpers = of_rules - program.reach(others, whole=False) - program.primitives
    sites = []
    for rule in program.rules:
        if isinstance(rule.start[1], ast.Lambda):
            sites.append(program.site_of_lambda(rule, rule.start[1]))
        else:
            helpers.add((rule.start[0], str(rule.start[1])))
    for key in helpers:
        if program.holds(key[0]):
            ops = frozenset(rule.op for rule, keys in reached.items() if key in keys)
            sites.append(program.site_of_function(key, ops))
    program.check_complete(sites)
    return sorted(sites, key=lambda site: (site.family, site.tree.lineno, site.tree.col_offset))


@dataclass(frozen=True)
class _Rule:
    """A rule in the source.

    Attributes:
        op: The name of the op.
        place: The module, and the name of the op in it.
        argument: The argument of the rule.
        start: The rule: a lambda, or the name of a function.
    """

    op: str
    place: Key
    argument: str
    start: Start


class _Program:
    """The syntax trees of the imported modules of a package's program."""

    def __init__(self, package: str) -> None:
        top = package.partition(".")[0]
        self.package = package
        self.modules: dict[str, ModuleType] = {
            name: module
            for name, module in sorted(sys.modules.items())
            if (name == top or name.startswith(f"{top}."))
            and not name.startswith(f"{top}.viz")  # it only reads the rules
            and getattr(module, "__file__", None)
        }
        self.functions: dict[Key, ast.FunctionDef] = {}
        self.methods: dict[Key, list[str]] = {}  # of each class
        self.imports: dict[Key, Key] = {}  # for a name in a module: its origin
        self.primitives: set[Key] = set()
        self.named: dict[tuple[ast.AST, bool], set[Key]] = {}  # by syntax: many rules come there
        self.rules: list[_Rule] = []
        self.loose: list[Start] = []  # code outside of functions, and re-exports
        for name, module in self.modules.items():
            self._read(name, ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))

    def holds(self, module: str) -> bool:
        """Whether a module belongs to the package."""
        return module == self.package or module.startswith(f"{self.package}.")

    def _read(self, module: str, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.functions[module, node.name] = node
                if hasattr(self._thing((module, node.name)), "op"):
                    self.primitives.add((module, node.name))
            elif isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                self.methods[module, node.name] = [method.name for method in methods]
                for method in methods:
                    self.functions[module, f"{node.name}.{method.name}"] = method
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    origin = (str(node.module), alias.name)
                    self.imports[module, alias.asname or alias.name] = origin
                    if hasattr(self.modules[module], "__path__"):
                        self.loose.append(origin)
        for node in tree.body:
            rules = list(self._rules(module, node)) if self.holds(module) else []
            self.rules += rules
            if not rules and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.loose.append((module, node))

    def _rules(self, module: str, node: ast.stmt) -> Iterator[_Rule]:
        """The rules that a statement defines: ``op.defvjp(...)``, ``@op.defjoint(...)`` ..."""
        marks: list[Any] = []
        if isinstance(node, ast.FunctionDef):
            marks = [getattr(mark, "func", mark) for mark in node.decorator_list]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            marks = [node.value.func]
        for mark in marks:
            if not isinstance(mark, ast.Attribute) or not isinstance(mark.value, ast.Name):
                continue
            place = (module, mark.value.id)
            if isinstance(node, ast.FunctionDef) and mark.attr in ("defjoint", "defdecomposition"):
                name = self._thing(place).op.name
                yield _Rule(name, place, mark.attr, (module, node.name))
            elif isinstance(node, ast.Expr) and mark.attr == "defvjp":
                for word in node.value.keywords:  # type: ignore[attr-defined]
                    rule = word.value
                    named = isinstance(rule, ast.Name)
                    start = self.origin((module, rule.id)) if named else (module, rule)
                    yield _Rule(self._thing(place).op.name, place, str(word.arg), start)

    def _thing(self, key: Key) -> Any:
        """The object of a name in the running program."""
        thing: Any = self.modules[key[0]]
        for part in key[1].split("."):
            thing = vars(thing)[part]
        return thing

    def origin(self, key: Key) -> Key:
        """Where the object that a module calls by a name is defined."""
        seen: set[Key] = set()
        while key in self.imports and key not in seen | self.functions.keys() | self.methods.keys():
            seen.add(key)
            key = self.imports[key]
        return key

    def reach(self, starts: Iterable[Start], whole: bool) -> set[Key]:
        """The functions that some places call, directly or not.

        Args:
            starts: The places.
            whole: Whether a named class counts with all its methods, as for a cotangent that the
                engine gets; otherwise only with the methods that are named too.
        """
        found: set[Key] = set()
        waiting = list(starts)
        while waiting:
            module, what = waiting.pop()
            if isinstance(what, ast.AST):
                waiting += self._named(module, what, whole)
            elif (key := self.origin((module, what))) in self.functions and key not in found:
                found.add(key)
                waiting += self._named(key[0], self.functions[key], whole)
                waiting += self._of_self(*key)
        return found

    def _named(self, module: str, tree: ast.AST, whole: bool) -> set[Key]:
        """The functions that a piece of syntax names."""
        if (tree, whole) not in self.named:
            named = {self.origin(key) for key in self._names(module, tree, whole)}
            self.named[tree, whole] = named & self.functions.keys()
        return self.named[tree, whole]

    def _names(self, module: str, tree: ast.AST, whole: bool) -> Iterator[Key]:
        """The names in a piece of syntax; most are not functions."""
        nodes = list(ast.walk(tree))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Name):
                key = self.origin((module, node.id))
                yield key
                for method in self.methods.get(key, []):
                    if whole or method == "__init__" or method in attributes:
                        yield key[0], f"{key[1]}.{method}"
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                source, name = self.origin((module, node.value.id))
                yield f"{source}.{name}", node.attr

    def _of_self(self, module: str, name: str) -> Iterator[Key]:
        """The methods that a method calls on its own object."""
        owner = name.rpartition(".")[0]
        for node in ast.walk(self.functions[module, name]) if owner else ():
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "self":
                yield module, f"{owner}.{node.attr}"

    def site_of_lambda(self, rule: _Rule, tree: ast.Lambda) -> Site:
        """The site of a rule in a table."""
        op = self._thing(rule.place).op
        names = {parameter.arg for parameter in tree.args.args}
        arrays = names & {*op.params[: op.arrays], *op.residuals, "g", "out"}
        name = f"{rule.place[1]}.{rule.argument}"
        function = op.rules[rule.argument].function
        return self._site((rule.place[0], name), frozenset({rule.op}), tree, arrays, function)

    def site_of_function(self, key: Key, ops: frozenset[str]) -> Site:
        """The site of a function or method."""
        tree = self.functions[key]
        arrays = {
            parameter.arg
            for parameter in tree.args.args
            if parameter.annotation is not None
            and ast.unparse(parameter.annotation).removesuffix(" | None") in ARRAY_TYPES
        }
        return self._site(key, ops, tree, arrays, inspect.unwrap(self._thing(key)))

    def _site(
        self, key: Key, ops: frozenset[str], tree: Function, arrays: set[str], function: Any
    ) -> Site:
        if not isinstance(function, FunctionType) or function.__code__.co_freevars:
            raise LookupError(f"{key[0]}: a plain function expected for {key[1]}, got {function!r}")
        family = key[0].removeprefix(self.package).lstrip(".") or key[0]
        return Site(f"{family}.{key[1]}", family, ops, tree, frozenset(arrays), function)

    def check_complete(self, sites: list[Site]) -> None:
        """Raise an error if a rule was not found because of its syntax."""
        known = {site.function for site in sites}
        for module, name in filter(lambda key: self.holds(key[0]), self.primitives):
            op = self._thing((module, name)).op
            for rule in (*op.rules.values(), op.joint):
                if rule is not None and rule.function not in known:
                    raise LookupError(f"{module}: a rule of {name} is not where its op is defined")
