"""What `make check WHAT=...` is about: the names to look for, and the tests that have them.

A subject is a name that the library defines, or a file or folder of the library or of the tests.
A test function is about it if one of these holds:

- it lies in the test folder of the file, or in a test file that is called as the subject is;
- its name or that of its parameters says the subject: ``test_value[softmax]``;
- its source has the name, or that of a case of a table.
"""

import ast
import difflib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, TypeGuard

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
        found = {*subject.files}
        found |= {p for p in self.tests.values() if imports.search(texts[p])}
        found |= {p for p in self.tests.values() if word.search(texts[p])}
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


# The tests of a subject -----------------------------------------------------------------------


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names of functions, classes and variables of a module, and of what its classes have."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from (part.id for part in ast.walk(node) if _is_target(part))
        if isinstance(node, (ast.ClassDef, ast.If, ast.Try, ast.With)):
            yield from _bound(node.body)


def _is_target(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def tests_of(subject: Subject, items: Iterable[Any]) -> list[Any]:
    """Those of pytest's items that are about a subject."""
    return [
        item
        for item in items
        if item.path in subject.files
        or subject.names(item.name)
        or subject.named_by(_source(item.function))
        or (hasattr(item, "callspec") and any(map(subject.named_by, _texts_of(item))))
    ]


@cache
def _source(function: FunctionType) -> str:
    return "".join(inspect.getsource(function).partition("def ")[1:])


def _texts_of(item: Any) -> Iterator[str]:
    """What the parameters of a test say, and what the tables of its file have for them."""
    for given in item.callspec.params.values():
        rows = [v[given] for v in vars(item.module).values() if type(v) is dict and _has(v, given)]
        yield from map(_text_of, (given, *rows))


def _has(table: dict[Any, Any], value: Any) -> bool:
    try:
        return value in table
    except TypeError:  # a list
        return False


def _text_of(value: Any) -> str:
    """A value in words; the names in the code of a function."""
    if isinstance(value, (tuple, list)):
        return " ".join(map(_text_of, value))
    code = getattr(value, "__code__", None)
    return repr(value) if code is None else " ".join((value.__name__, *code.co_names))
