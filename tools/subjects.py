"""What `make check WHAT=...` is about: the names to look for, and the tests that have them.

A subject is a name that the library defines, or a file or folder of the library or of the tests.
A test function is about it if one of these holds:

- it lies in the test folder of the file, or in a test file that is called as the subject is;
- its name or that of its parameters says the subject: ``test_value[softmax]``;
- its source has the name, or that of a function which it calls, or a case of a table.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

FOLDERS = {"nn/by_hand": "by_hand", "torch": "pytorch_door", "lucid": "lucid_door"}
"""The test folders that are not called as the part of the library that they test."""


class UnknownSubject(Exception):
    """Nothing is called so, or no test is about it."""


@dataclass(frozen=True)
class Subject:
    """What a test is looked through for."""

    name: str
    words: frozenset[str]
    """What a source has that names it: the name, or the modules that it is."""
    modules: frozenset[str]
    """The modules that define it, or that it is."""
    files: frozenset[Path]
    """Test files, all of whose tests are about it."""

    @cached_property
    def _in_source(self) -> re.Pattern[str]:
        # np.sum is NumPy's own, nearly everywhere.
        return re.compile(rf"(?<!\bnp\.)\b(?:{'|'.join(map(re.escape, sorted(self.words)))})\b")

    @cached_property
    def _in_id(self) -> re.Pattern[str]:
        words = "|".join(map(re.escape, sorted(self.words | self.modules)))
        return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")  # test_softmax_of_one has softmax

    def named_by(self, text: str) -> bool:
        """Whether a piece of source has one of the words."""
        return self._in_source.search(text) is not None

    def names(self, test: str) -> bool:
        """Whether the name of a test, or of its parameters, has one of the words."""
        return self._in_id.search(test) is not None


@dataclass(frozen=True)
class Repository:
    """The library and its tests, below one folder."""

    root: Path

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Every module of the library; ``nn/`` is ``minigrad.nn``, which a link may show too."""
        found = {}
        for folder, package in (("minigrad", "minigrad"), ("nn", "minigrad.nn")):
            for path in sorted((self.root / folder).rglob("*.py")):
                parts = path.relative_to(self.root / folder).with_suffix("").parts
                name = ".".join((package, *(part for part in parts if part != "__init__")))
                if folder == "nn" or not name.startswith("minigrad.nn."):
                    found[name] = path
        return found

    @cached_property
    def definitions(self) -> dict[str, set[str]]:
        """The modules that define each name: function, class, method, variable."""
        found = defaultdict(set)
        for module, path in self.modules.items():
            for name in _bound(ast.parse(path.read_text(encoding="utf-8")).body):
                found[name].add(module)
        return found

    @cached_property
    def tests(self) -> dict[str, Path]:
        """Every test file, by its path without suffix: ``tests/ops/test_sorting``."""
        paths = sorted((self.root / "tests").rglob("test_*.py"))
        return {path.relative_to(self.root).with_suffix("").as_posix(): path for path in paths}

    def subject(self, given: str) -> Subject:
        """What a word of the command line means.

        Raises:
            UnknownSubject: If nothing is called so; close names are in the message.
        """
        place = given.strip("/").removesuffix(".py").removesuffix("/__init__")
        if place in self.definitions and not (self.root / "tests" / place).is_dir():
            files, defining = self._files_called(place), frozenset(self.definitions[place])
            return Subject(given, frozenset({place}), defining, files)
        inside = re.compile(rf"(?:.*/)?{re.escape(place)}(?:/.*)?")
        modules = [name for name in self.modules if inside.fullmatch(name.replace(".", "/"))]
        tests = {path for name, path in self.tests.items() if inside.fullmatch(name)}
        if not modules and not tests:
            raise UnknownSubject(self._unknown(given, place))
        for module in modules:
            tests |= self._folder_of(module) | self._files_called(module.rpartition(".")[2])
        words = frozenset(modules or [place])
        return Subject(given, words, frozenset(modules), frozenset(tests))

    def _files_called(self, name: str) -> frozenset[Path]:
        """The test files whose own name has this name, between underscores."""
        word = re.compile(rf"test_(?:.*_)?{re.escape(name)}(?:_.*)?")
        return frozenset(path for path in self.tests.values() if word.fullmatch(path.stem))

    def _folder_of(self, module: str) -> set[Path]:
        """The test files in the innermost folder that mirrors a module's place."""
        place = module.removeprefix("minigrad").removeprefix(".").replace(".", "/")
        for theirs, ours in FOLDERS.items():
            if place == theirs or place.startswith(f"{theirs}/"):
                place = ours + place.removeprefix(theirs)
        while place:
            if (self.root / "tests" / place).is_dir():
                return {*(self.root / "tests" / place).rglob("test_*.py")}
            place = place.rpartition("/")[0]
        return set()

    def _unknown(self, given: str, place: str) -> str:
        files = [name.replace(".", "/").removeprefix("minigrad/") for name in self.modules]
        known = [*self.definitions, *files, *(name.rpartition("/")[2] for name in self.tests)]
        close = difflib.get_close_matches(place, [*dict.fromkeys(known)], n=3, cutoff=0.7)
        meant = f": did you mean {' or '.join(close)}?" if close else ""
        return f"no name, file or folder of minigrad or of its tests is called {given}{meant}"

    def mentions(self, subject: Subject) -> list[Path]:
        """The test files in which a test may be about it: fewer to collect.

        Raises:
            UnknownSubject: If no test has the name.
        """
        word = re.compile("|".join(map(_mention, sorted(subject.words))))
        texts = {path: path.read_text("utf-8") for path in (self.root / "tests").rglob("*.py")}
        helpers = [
            path.parent.name if (path.parent / "__init__.py").exists() else path.stem
            for path, text in texts.items()
            if not path.name.startswith("test_") and word.search(text)
        ]
        imports = re.compile(rf"^from (?:{'|'.join(helpers)})(?:\.\w+)? import ", re.MULTILINE)
        found = set(subject.files)
        for path in self.tests.values():
            sources = texts[path], *_programs_beside(path).values()
            if imports.search(texts[path]) or any(map(word.search, sources)):
                found.add(path)
        if found:
            return sorted(found)
        paths = [self.modules[name] for name in sorted(subject.modules)]
        where = ", ".join(path.relative_to(self.root).as_posix() for path in paths)
        raise UnknownSubject(f"no test names {subject.name} ({where}): write one in tests/")


def _mention(word: str) -> str:
    """A pattern for a name, or for a module and ``from package import module``."""
    package, _, module = word.rpartition(".")
    imported = rf"|\bfrom {re.escape(package)} import (?:\([^)]*|.*)\b{module}\b"
    return rf"\b{re.escape(word)}\b" + (imported if package else "")


@cache
def _programs_beside(path: Path) -> dict[str, str]:
    """The programs in ``models/`` beside a test file, which its parameters name."""
    return {p.stem: p.read_text("utf-8") for p in (path.parent / "models").glob("*.py")}


# The tests of a subject -----------------------------------------------------------------------


class Source:
    """The names that a test file, or a module of helpers, binds at its top level."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.lines = text.split("\n")
        self.bound: dict[str, ast.AST] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        for node in _statements(ast.parse(text).body):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (node.module or "", alias.name)
            self.bound.update(dict.fromkeys(_names_of(node), node))

    def code(self, node: Any) -> str:
        """The lines of a statement; a function's without its decorators."""
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])

    def helpers(self, module: str) -> Source | None:
        """A module beside this file, or at the top of the tests."""
        for folder in self.path.parents:
            if module and (folder / f"{module}.py").exists():
                return source(folder / f"{module}.py")
            if folder.name == "tests":
                break
        return None


@cache
def source(path: Path) -> Source:
    """Each file is parsed once."""
    return Source(path)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if`, `try` and `with` too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _statements(node.body)


def _names_of(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = (part for target in targets for part in ast.walk(target))
    return [part.id for part in parts if isinstance(part, ast.Name)]


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names of functions, classes and variables of a module, and of what its classes have."""
    for node in _statements(body):
        yield from _names_of(node)
        if isinstance(node, ast.ClassDef):
            yield from _bound(node.body)


@cache
def _used(node: ast.AST) -> set[str]:
    """The names that a piece of code reads; arguments, since fixtures are functions."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}


def _where_named(subject: Subject, file: Source, test: ast.AST) -> tuple[bool, bool]:
    """Whether a test's code names a subject, or a function that it calls; and whether a table does.

    A table is what is no function: lists of cases, and classes that hold many functions.
    """
    in_code, in_table = subject.named_by(file.code(test)), False
    left = [(file, name, True) for name in _used(test)]
    seen = {(file, name) for file, name, _ in left}
    while left and not in_code:
        there, name, by_functions = left.pop()
        if name in there.imported:
            module, original = there.imported[name]
            helpers = there.helpers(module)
            found = [] if helpers is None else [(helpers, original, by_functions)]
            in_code |= helpers is None and subject.named_by(f"{module}.{original}")
        else:
            node = there.bound.get(name)
            by_functions &= isinstance(node, ast.FunctionDef)
            found = [] if node is None else [(there, used, by_functions) for used in _used(node)]
            if node is not None and subject.named_by(there.code(node)):
                in_code |= by_functions
                in_table |= not by_functions
        left += [step for step in found if step[:2] not in seen]
        seen.update(step[:2] for step in found)
    return in_code, in_table


def tests_of(subject: Subject, items: Iterable[Any]) -> list[Any]:
    """Those of pytest's items that are about a subject.

    Of a test that runs over a table, only the cases that name it, or whose values do.
    """
    functions = defaultdict(list)
    for item in items:
        functions[item.path, getattr(item.cls, "__name__", ""), item.originalname].append(item)
    found = []
    for (path, class_, name), cases in functions.items():
        test = _function(source(path), class_, name)
        in_code = in_table = path in subject.files
        if not in_code and test is not None:
            in_code, in_table = _where_named(subject, source(path), test)
        found += [
            case
            for case in cases
            if in_code
            or subject.names(case.name)
            or (_row_names(subject, case) if hasattr(case, "callspec") else in_table)
        ]
    return found


def _row_names(subject: Subject, item: Any) -> bool:
    """Whether parameters name a subject, or what the tables of the file have for them."""
    given = [value for value in item.callspec.params.values() if getattr(value, "__hash__", None)]
    tables = [table for table in vars(item.module).values() if type(table) is dict]
    tables.append(_programs_beside(item.path))
    rows = [table[value] for table in tables for value in given if _has(table, value)]
    return any(_value_names(subject, value) for value in [*item.callspec.params.values(), *rows])


def _has(table: dict[Any, Any], value: Any) -> bool:
    try:
        return value in table
    except TypeError:  # a tuple of lists
        return False


def _value_names(subject: Subject, value: Any, depth: int = 4) -> bool:
    """Whether a value is called so, or has the name in its text, code or parts."""
    if isinstance(value, str):
        return subject.named_by(value)
    if isinstance(value, CodeType):
        names = f"{value.co_names} {value.co_freevars}"
        return subject.named_by(names) or any(
            _value_names(subject, part) for part in value.co_consts if isinstance(part, CodeType)
        )
    if isinstance(value, (type, FunctionType)):
        code = getattr(value, "__code__", None)
        return value.__name__ in subject.words or _value_names(subject, code)
    if isinstance(value, dict):
        value = list(value.values())
    elif isinstance(value, ModuleType):
        return False
    elif not isinstance(value, (tuple, list)):
        value = [type(value), *vars(value).values()] if hasattr(value, "__dict__") else []
    return depth > 0 and any(_value_names(subject, part, depth - 1) for part in value)


def _function(file: Source, class_: str, name: str) -> ast.AST | None:
    owner = file.bound.get(class_) if class_ else None
    if isinstance(owner, ast.ClassDef):
        return next((n for n in owner.body if getattr(n, "name", "") == name), owner)
    return file.bound.get(name)
