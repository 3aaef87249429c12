"""Which functions hold derivatives: rules, meanings, and the helpers that exist for them alone.

A helper is found by following names: what a rule calls, and what that calls, belongs to the rules
unless something else of the program calls it too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from rule_mutants.mutations import Function, Mutant, mutants_of

__all__ = ["Site", "find_sites"]

Key = tuple[str, str]
"""A module, and the name of a function in it; of a method, with its class."""

ARRAY_TYPES = ("Any", "np.ndarray")


@dataclass(frozen=True)
class Site:
    """A function that a derivative depends on.

    Attributes:
        name: The module below the package, and the function: ``reductions._extreme``; of a rule
            that is a lambda, the op and the argument: ``elementwise.power.a``.
        family: The module below the package.
        ops: The names of the ops whose rules come here.
        tree: Its syntax tree.
        arrays: The names of the parameters that hold arrays.
        function: The function as it runs.
    """

    name: str
    family: str
    ops: frozenset[str]
    tree: Function
    arrays: frozenset[str]
    function: FunctionType

    def mutants(self) -> Iterator[Mutant]:
        """Every mutant of the function."""
        return mutants_of(self.tree, self.arrays, self.function.__code__.co_filename)


def find_sites(package: str) -> list[Site]:
    """Find what the derivatives of a package depend on.

    Args:
        package: The dotted name of an imported package, or of one module.

    Returns:
        The functions, file by file.

    Raises:
        LookupError: A rule is defined in a way that cannot be followed.
    """
    program = _Program(package)
    uses = {rule: program.reach([rule.start], whole=True) for rule in program.rules}
    of_rules = set().union(*uses.values())
    own = {rule.start for rule in program.rules if isinstance(rule.start, tuple)}
    of_others = program.reach((program.functions.keys() - of_rules) | program.primitives, False)
    of_others |= program.reach(program.loose, False)
    sites = []
    for rule in program.rules:
        if not isinstance(rule.start, tuple):
            sites.append(program.site_of_lambda(rule))
    for key in sorted(own | (of_rules - of_others - program.primitives)):
        if program.inside(key[0]):
            ops = frozenset(rule.op for rule, used in uses.items() if key in used)
            sites.append(program.site_of(key, ops))
    program.check_complete(sites)
    return sorted(sites, key=lambda site: (site.family, site.tree.lineno))


@dataclass(frozen=True)
class _Rule:
    """A rule in the source: a lambda, or the function that it names."""

    module: str
    op: str
    variable: str
    argument: str
    start: Key | ast.Lambda


class _Program:
    """Everything that was imported from the package and from those above it."""

    def __init__(self, package: str) -> None:
        top = package.partition(".")[0]
        self.package = package
        self.modules: dict[str, ModuleType] = {
            name: module
            for name, module in sorted(sys.modules.items())
            if (name == top or name.startswith(f"{top}.")) and getattr(module, "__file__", None)
        }
        self.functions: dict[Key, ast.FunctionDef] = {}
        self.methods: dict[Key, list[str]] = {}  # of each class
        self.imports: dict[Key, Key] = {}  # a name in a module: where it comes from
        self.rules: list[_Rule] = []
        self.primitives: set[Key] = set()
        self.loose: list[Key | ast.AST] = []  # code outside of functions, and what is handed on
        for name, module in self.modules.items():
            self._read(name, ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))

    def inside(self, module: str) -> bool:
        """Whether a module belongs to the package."""
        return module == self.package or module.startswith(f"{self.package}.")

    def _read(self, module: str, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.functions[module, node.name] = node
                if hasattr(getattr(self.modules[module], node.name, None), "op"):
                    self.primitives.add((module, node.name))
            elif isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                self.methods[module, node.name] = [method.name for method in methods]
                for method in methods:
                    self.functions[module, f"{node.name}.{method.name}"] = method
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    origin = (str(node.module), alias.name)
                    self.imports[module, alias.asname or alias.name] = origin
                    if str(self.modules[module].__file__).endswith("__init__.py"):
                        self.loose.append(origin)
            elif self.inside(module) and (rules := list(self._rules(module, node))):
                self.rules += rules
            elif not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.loose.append(self._located(module, node))

    def _located(self, module: str, node: ast.AST) -> ast.AST:
        node.module = module  # type: ignore[attr-defined]
        return node

    def _rules(self, module: str, node: ast.stmt) -> Iterator[_Rule]:
        """The rules that a statement defines: ``op.defvjp(...)``, ``@op.defjoint(...)`` ..."""
        calls: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef):
            calls = [getattr(mark, "func", mark) for mark in node.decorator_list]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            calls = [node.value.func]
        for call in calls:
            if not isinstance(call, ast.Attribute) or not isinstance(call.value, ast.Name):
                continue
            variable = call.value.id
            if call.attr in ("defjoint", "defmeaning") and isinstance(node, ast.FunctionDef):
                start = (module, node.name)
                yield _Rule(module, self._op(module, variable).name, variable, call.attr, start)
            if call.attr == "defvjp" and isinstance(node, ast.Expr):
                for word in node.value.keywords:  # type: ignore[attr-defined]
                    origin: Any = word.value
                    if isinstance(origin, ast.Name):
                        origin = self.origin((module, origin.id))
                    elif isinstance(origin, ast.Lambda):
                        self._located(module, origin)
                    name = self._op(module, variable).name
                    yield _Rule(module, name, variable, str(word.arg), origin)

    def _op(self, module: str, variable: str) -> Any:
        return getattr(self.modules[module], variable).op

    def origin(self, key: Key) -> Key:
        """Where the thing is defined that a module calls by a name."""
        seen: set[Key] = set()
        while key in self.imports and key not in seen | self.functions.keys() | self.methods.keys():
            seen.add(key)
            key = self.imports[key]
        return key

    def reach(self, starts: Iterable[Any], whole: bool) -> set[Key]:
        """The functions that are called from some places, directly or not.

        Args:
            starts: Functions, or pieces of syntax.
            whole: Whether a class that is named counts with all its methods, as for a cotangent
                that the engine gets; otherwise, with those that are named beside it.
        """
        found: set[Key] = set()
        waiting = list(starts)
        while waiting:
            start = waiting.pop()
            if isinstance(start, ast.AST):
                waiting += self._named(start.module, start, whole)  # type: ignore[attr-defined]
            elif (key := self.origin(start)) in self.functions and key not in found:
                found.add(key)
                waiting += self._named(key[0], self.functions[key], whole)
        return found

    def _named(self, module: str, tree: ast.AST, whole: bool) -> Iterator[Key]:
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
                yield self.origin((f"{source}.{name}", node.attr))

    def site_of_lambda(self, rule: _Rule) -> Site:
        op = self._op(rule.module, rule.variable)
        function = op.rules[rule.argument].function
        arrays = {*op.params[: op.arrays], *op.residuals, "g", "out"}
        tree = rule.start
        assert isinstance(tree, ast.Lambda)
        names = {parameter.arg for parameter in tree.args.args}
        return self._site(
            rule.module, f"{rule.variable}.{rule.argument}", frozenset({rule.op}), tree,
            frozenset(names & arrays), function,
        )  # fmt: skip

    def site_of(self, key: Key, ops: frozenset[str]) -> Site:
        tree, function = self.functions[key], self.modules[key[0]]
        for part in key[1].split("."):
            function = vars(function)[part]
        arrays = {
            parameter.arg
            for parameter in tree.args.args
            if parameter.annotation is not None
            and ast.unparse(parameter.annotation).removesuffix(" | None") in ARRAY_TYPES
        }
        return self._site(*key, ops, tree, frozenset(arrays), function)

    def _site(
        self, module: str, name: str, ops: frozenset[str], tree: Function,
        arrays: frozenset[str], function: Any,
    ) -> Site:  # fmt: skip
        if not isinstance(function, FunctionType) or function.__code__.co_freevars:
            raise LookupError(f"{module}.{name}: a plain function expected, got {function!r}")
        family = module.removeprefix(self.package).lstrip(".") or module
        return Site(f"{family}.{name}", family, ops, tree, arrays, function)

    def check_complete(self, sites: list[Site]) -> None:
        """Refuse to leave out a rule that some other spelling defined."""
        known = {site.function for site in sites}
        for module, name in filter(lambda key: self.inside(key[0]), self.primitives):
            op: Any = getattr(self.modules[module], name).op
            for rule in (*op.rules.values(), op.joint):
                if rule is not None and rule.function not in known:
                    raise LookupError(f"{module}: no defvjp or defjoint of {name} stands here")
