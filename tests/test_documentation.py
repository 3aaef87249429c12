"""Whatever the documentation shows, runs: docstring examples, and every page of Markdown.

In README.md, docs/ and examples/ a ```python block is executed; a ```pycon block is executed and
what it prints is compared, as in a docstring. The blocks of one page share their names, from top to
bottom.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import minigrad

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

PUBLIC = [
    "minigrad",
    "minigrad.autograd",
    "minigrad.autograd.functional",
    "minigrad.linalg",
    "minigrad.nn",
    "minigrad.nn.by_hand",
    "minigrad.nn.functional",
    "minigrad.nn.generation",
    "minigrad.nn.init",
    "minigrad.nn.utils",
    "minigrad.optim",
    "minigrad.random",
    "minigrad.viz",
]


def modules_in(folder: Path, package: str) -> Iterator[str]:
    """The dotted names of every module of a package."""
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        yield ".".join((package, *(part for part in parts if part != "__init__")))


MODULES = sorted(
    [*modules_in(ROOT / "minigrad", "minigrad"), *modules_in(ROOT / "nn", "minigrad.nn")]
)


class Checker(doctest.OutputChecker):
    """Takes numbers for equal that differ in the last digits, as they do between machines."""

    NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[+-]?\d+)?")

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        wanted, found = self.NUMBER.findall(want), self.NUMBER.findall(got)
        if len(wanted) != len(found):
            return False
        close = all(
            math.isclose(float(w), float(f), rel_tol=1e-5)
            for w, f in zip(wanted, found, strict=True)
        )
        plain = [self.NUMBER.sub("0.0", text) for text in (want, got)]
        return close and super().check_output(*plain, optionflags)


def run_doctests(tests: list[doctest.DocTest]) -> None:
    """Run examples, and fail with the report that doctest writes."""
    report: list[str] = []
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS)
    for test in tests:
        runner.run(test, out=report.append, clear_globs=False)
    if runner.summarize(verbose=False).failed:
        pytest.fail("".join(report), pytrace=False)


def test_both_packages_are_walked() -> None:
    assert {"minigrad._tensor", "minigrad.autograd.graph", "minigrad.nn.attention"} <= {*MODULES}


@pytest.mark.usefixtures("global_random")
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    """Each example starts from nothing, so that it can be copied as it stands."""
    module = importlib.import_module(name)
    run_doctests(doctest.DocTestFinder(exclude_empty=True).find(module, globs={}))


class Block(NamedTuple):
    """A piece of code on a page."""

    language: str
    line: int
    code: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^( *)```(python|pycon)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    return [
        Block(
            language=match[2],
            line=text.count("\n", 0, match.start(3)),
            code=textwrap.dedent(match[3]),
        )
        for match in fence.finditer(text)
    ]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks_of(page)],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page):
        if block.language == "python":
            padded = "\n" * block.line + block.code  # so that a traceback shows the page's line
            exec(compile(padded, str(page), "exec"), names)
        else:
            parser = doctest.DocTestParser()
            test = parser.get_doctest(block.code, names, page.name, str(page), block.line)
            test.globs = names
            run_doctests([test])


def public_names() -> Iterator[Any]:
    for name in PUBLIC:
        module = importlib.import_module(name)
        for export in module.__all__:
            value = getattr(module, export, None)
            ours = (getattr(value, "__module__", None) or "").startswith("minigrad")
            if callable(value) and ours:
                yield pytest.param(value, id=f"{name}.{export}")


@pytest.mark.parametrize("value", [*public_names()])
def test_public_names_are_explained_with_an_example(value: Any) -> None:
    doc = inspect.getdoc(value)
    assert doc, "no docstring"
    assert ">>> " in doc, "no example"


@pytest.mark.parametrize(
    "owner", [case for case in public_names() if inspect.isclass(case.values[0])]
)
def test_public_methods_are_explained(owner: type) -> None:
    """By a docstring of their own, or of the method that they override."""
    bare = [
        name
        for name, value in inspect.getmembers(owner)
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
        if not inspect.getdoc(value)
    ]
    assert not bare


def test_everything_public_is_in_the_reference() -> None:
    """Pages of docs/api name a whole module, or one by one what they describe."""
    described = set()
    for page in (ROOT / "docs" / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for directive, name in re.findall(r"^\.\. (\w+):: ([\w.]+)", text, re.MULTILINE):
            if directive.endswith("module"):
                module = importlib.import_module(name)
                names = module.__all__ if directive == "automodule" else []
            else:
                names = [name]
            described |= {id(getattr(module, name)) for name in names}
    missing = [case.id for case in public_names() if id(case.values[0]) not in described]
    assert not missing


@pytest.mark.parametrize("name", PUBLIC)
def test_exports_exist_once_and_in_order(name: str) -> None:
    exports = importlib.import_module(name).__all__
    assert len({*exports}) == len(exports)
    for export in exports:
        assert hasattr(importlib.import_module(name), export), export


def test_every_alias_is_listed() -> None:
    """An alias exists only if docs/aliases.md lists it, and what it lists exists."""
    found = set()
    for name in [*PUBLIC, "minigrad.Tensor"]:
        owner = importlib.import_module(name) if name != "minigrad.Tensor" else minigrad.Tensor
        prefix = name.removeprefix("minigrad.")
        for alias, value in vars(owner).items():
            real = getattr(value, "__name__", alias)
            if not alias.startswith("_") and real != alias and vars(owner).get(real) is value:
                found.add((f"{prefix}.{alias}", f"{prefix}.{real}"))
    page = (ROOT / "docs" / "aliases.md").read_text(encoding="utf-8")
    section = page.partition("## Aliases")[2].partition("\n## ")[0]
    listed = {*re.findall(r"^\| `([\w.]+)` \| `([\w.]+)` \|", section, re.MULTILINE)}
    assert listed == found


def test_changelog_names_this_version() -> None:
    assert f"## [{minigrad.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
