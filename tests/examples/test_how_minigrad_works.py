"""The notebook of the guide: as its tool writes it, and each cell shows what it says it shows."""

from __future__ import annotations

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
from write_notebook import NOTEBOOK, notebook


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


def test_it_is_what_the_guide_says_today() -> None:
    written = NOTEBOOK.read_text(encoding="utf-8")
    assert notebook() == written, "the guide has changed: run `make notebook`"


def test_its_form_is_that_of_a_notebook() -> None:
    whole = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (whole["nbformat"], whole["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in whole["cells"]}) == len(whole["cells"])
    for cell in whole["cells"]:
        source = "".join(cell["source"])
        assert source.strip() == source, "an empty line at the end of a cell"
        if cell["cell_type"] == "markdown":
            assert ":::" not in source and "```{" not in source, "left over from Sphinx"
            for link in source.split("](")[1:]:
                target = NOTEBOOK.parent / link.partition(")")[0]
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


def test_its_cells_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first to the last, in one namespace: no Jupyter is needed for that."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    pictures = 0
    for cell in cells():
        if cell["cell_type"] == "code":
            for want, got in shown(cell, names):
                example = doctest.Example("".join(cell["source"]), want)
                same = Checker().check_output(example.want, got + "\n" * (got != ""), FLAGS)
                assert same, f"{cell['id']}: {example.source}\nsays {want}\nshows {got}"
                pictures += want.startswith("<svg")
    assert pictures == 11
