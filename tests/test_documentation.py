"""Whatever the documentation shows, runs: docstring examples, the README, every page of docs/.

In README.md and docs/ a ```python block is executed; a ```pycon block is executed and what it
prints is compared, as in a docstring. The blocks of one page share their names, from top to bottom.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import minigrad
import minigrad.nn

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

PUBLIC = [
    "minigrad",
    "minigrad.autograd",
    "minigrad.nn",
    "minigrad.nn.functional",
    "minigrad.nn.init",
    "minigrad.nn.utils",
    "minigrad.optim",
    "minigrad.random",
    "minigrad.viz",
]


def modules_of(package: ModuleType) -> Iterator[str]:
    yield package.__name__
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield module.name


MODULES = sorted({*modules_of(minigrad), *modules_of(minigrad.nn)})


def run_doctests(tests: list[doctest.DocTest]) -> None:
    """Run examples, and fail with the report that doctest writes."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in tests:
        runner.run(test, out=report.append, clear_globs=False)
    if runner.summarize(verbose=False).failed:
        pytest.fail("".join(report), pytrace=False)


def test_both_packages_are_walked() -> None:
    assert {"minigrad._tensor", "minigrad.autograd.graph", "minigrad.nn.attention"} <= {*MODULES}


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
            value = getattr(module, export)
            ours = (getattr(value, "__module__", None) or "").startswith("minigrad")
            if callable(value) and ours:
                yield pytest.param(value, id=f"{name}.{export}")


@pytest.mark.parametrize("value", public_names())
def test_public_names_are_explained_with_an_example(value: Any) -> None:
    doc = inspect.getdoc(value)
    assert doc, "no docstring"
    assert ">>> " in doc, "no example"


@pytest.mark.parametrize("name", PUBLIC)
def test_exports_exist_once_and_in_order(name: str) -> None:
    exports = importlib.import_module(name).__all__
    assert len({*exports}) == len(exports)
    for export in exports:
        assert hasattr(importlib.import_module(name), export), export


def test_changelog_names_this_version() -> None:
    assert f"## [{minigrad.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
