#!/usr/bin/env python
"""Write examples/how_minigrad_works.ipynb from the guide in docs/guide: make notebook.

The guide is the source. A block of code becomes a cell with its output, a drawing becomes a
picture, text stays text. The same guide always gives the same file.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pages import Block, blocks_of, evaluate, examples_of

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guide"
NOTEBOOK = ROOT / "examples" / "how_minigrad_works.ipynb"

INTRODUCTION = """
Run the cells from top to bottom, change them, and run them again. The chapters are those of the
guide in the documentation: `tools/write_notebook.py` writes this notebook from `docs/guide`.
"""

Cell = dict[str, Any]


def chapters() -> list[Path]:
    """The pages of the guide, in the order of its table of contents."""
    contents = (GUIDE / "index.md").read_text(encoding="utf-8")
    (tree,) = re.findall(r"^:::\{toctree\}\n(.*?)^:::$", contents, re.MULTILINE | re.DOTALL)
    names = [line for line in tree.splitlines() if line and not line.startswith(":")]
    return [GUIDE / f"{name}.md" for name in names]


def cells() -> Iterator[Cell]:
    """Every cell of the notebook, without pictures."""
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    yield text("\n\n".join([*index.split("\n\n")[:2], INTRODUCTION.strip()]))
    for number, page in enumerate(chapters(), 1):
        yield from cells_of(page.read_text(encoding="utf-8"), number)


def cells_of(page: str, number: int) -> Iterator[Cell]:
    """The cells of one chapter."""
    page = re.sub(r"\A# ", f"# {number}. ", page)
    place = 0
    for block in blocks_of(page):
        yield from prose(page[place : block.start])
        place = block.end
        if block.language == "pycon":
            yield from conversation(block)
        else:
            yield code(block.code, drawn=block.language == "drawing")
    yield from prose(page[place:])


def prose(markdown: str) -> Iterator[Cell]:
    """A text cell; links point to the pages of the documentation."""
    if markdown.strip():
        yield text(re.sub(r"\]\((?!\w+:)([\w./]+\.md)", r"](../docs/guide/\1", markdown).strip())


def conversation(block: Block) -> Iterator[Cell]:
    """The cells of a pycon block: a cell ends after a statement that prints something."""
    typed = ""
    for example in examples_of(block):
        typed += example.source
        if example.want:
            yield code(typed, example.want.replace("<BLANKLINE>", ""))
            typed = ""
    if typed:
        yield code(typed)


def text(markdown: str) -> Cell:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": markdown}


def code(source: str, printed: str = "", drawn: bool = False) -> Cell:
    """A cell of code, with its output and value."""
    outputs: list[dict[str, Any]] = []
    last = source.rstrip("\n").rpartition("\n")[2]
    if printed and last.startswith(("print(", " ")):
        outputs = [{"output_type": "stream", "name": "stdout", "text": printed}]
    elif printed:
        outputs = [value({"text/plain": printed.rstrip("\n")})]
    elif drawn:
        outputs = [value({})]
    return {
        "cell_type": "code", "execution_count": None, "metadata": {},
        "outputs": outputs, "source": source.rstrip("\n"),
    }  # fmt: skip


def value(bundle: dict[str, str]) -> dict[str, Any]:
    """The value of the last line of a cell, as a notebook shows it."""
    return {
        "output_type": "execute_result", "execution_count": None, "metadata": {}, "data": bundle,
    }  # fmt: skip


def draw(made: list[Cell]) -> None:
    """Run all cells in order, and insert the pictures of cells that draw."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in made:
        if cell["cell_type"] == "markdown":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            result = evaluate(cell["source"], names, "cell")
        for output in cell["outputs"]:
            if output.get("data") == {}:
                output["data"] = result._repr_mimebundle_()


def notebook() -> str:
    """The whole notebook as JSON."""
    made = list(cells())
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        draw(made)
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
        cell["source"] = cell["source"].splitlines(keepends=True)
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), encoding="utf-8")
    print(f"{os.path.relpath(NOTEBOOK)}: {NOTEBOOK.stat().st_size:,} bytes")
