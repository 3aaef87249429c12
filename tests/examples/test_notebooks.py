"""The notebooks: as their tool writes them, and each cell shows what it says it shows."""

import contextlib
import doctest
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import evaluate
from printed import FLAGS, Checker
from write_notebook import EXERCISES, NOTEBOOK, notebook

import minigrad
from minigrad.learn.statement import exercises

BOTH = pytest.mark.parametrize("path", [NOTEBOOK, EXERCISES], ids=lambda path: path.stem)


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


@pytest.mark.slow
@BOTH
def test_it_is_what_its_sources_say_today(path: Path) -> None:
    assert notebook(path) == path.read_text(encoding="utf-8"), "run `make notebook`"


@BOTH
def test_its_form_is_that_of_a_notebook(path: Path) -> None:
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert (whole["nbformat"], whole["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in whole["cells"]}) == len(whole["cells"])
    for cell in whole["cells"]:
        source = "".join(cell["source"])
        assert source.strip() == source, "an empty line at the end of a cell"
        if cell["cell_type"] == "markdown":
            assert ":::" not in source, "left over from Sphinx"
            assert "```{" not in source, "left over from Sphinx"
            for link in source.split("](")[1:]:
                target = path.parent / link.partition(")")[0]
                assert link.startswith("http") or target.exists(), link


def shown(cell: dict[str, Any], names: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a cell said it would show, and what it shows."""
    said: dict[str, str] = {"stdout": "", "text/plain": "", "image/svg+xml": ""}
    for output in cell["outputs"]:
        said |= output.get("data", {"stdout": output.get("text", "")})
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = evaluate("".join(cell["source"]), names, "cell")
    yield said["stdout"], printed.getvalue()
    if cell["outputs"] and not said["stdout"]:
        yield said["text/plain"], repr(value)
    if said["image/svg+xml"]:
        yield said["image/svg+xml"], value._repr_mimebundle_()["image/svg+xml"]


@pytest.mark.slow
def test_its_cells_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first to the last, in one namespace: no Jupyter is needed for that."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    minigrad.random.seed(0)  # as they were written
    pictures = 0
    for cell in cells(NOTEBOOK):
        if cell["cell_type"] == "code":
            for want, got in shown(cell, names):
                example = doctest.Example("".join(cell["source"]), want)
                same = Checker().check_output(example.want, got + "\n" * (got != ""), FLAGS)
                assert same, f"{cell['id']}: {example.source}\nsays {want}\nshows {got}"
                pictures += want.startswith("<svg")
    assert pictures == 21


def test_the_cells_of_exercises_check() -> None:
    """What is not done yet is told so; what is done passes."""
    names: dict[str, Any] = {"__name__": "__main__"}
    checked = []
    for cell in cells(EXERCISES):
        if cell["cell_type"] == "markdown":
            continue
        value = evaluate("".join(cell["source"]), names, "cell")
        if value is not None:
            checked.append(value.number)
            assert value.diagnosis == "gap", str(value)
            if value.number in (1, 5, 13):  # tests/learn checks all solutions
                evaluate(exercises()[value.number].solution, names, "cell")
                assert evaluate("".join(cell["source"]), names, "cell").right
    assert checked == [*exercises()]
