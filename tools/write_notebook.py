#!/usr/bin/env python
"""Write the notebooks of examples/, from the guide and from the exercises: make notebook.

In that of docs/guide a block of code becomes a cell with its output, a drawing becomes a picture,
text stays text. In that of minigrad/learn each exercise has its task, a cell with gaps, and a cell
that checks it. The same sources always give the same files.
"""

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

import minigrad
from minigrad.learn.statement import exercises

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guide"
NOTEBOOK = ROOT / "examples" / "how_minigrad_works.ipynb"
EXERCISES = ROOT / "examples" / "exercises.ipynb"

INTRODUCTION = """
Run the cells from top to bottom, change them, and run them again. The chapters are those of the
guide in the documentation: `tools/write_notebook.py` writes this notebook from `docs/guide`.
"""

EXERCISES_INTRODUCTION = """
# Exercises that answer

Write the rules yourself, from a slope to your own engine. Each exercise has a task and a cell with
gaps. Replace the lines `raise NotImplementedError(...)` by your code and run the cell. Then run the
cell below it: it checks your answer, and tells you which entry is wrong, by how much, and what the
likely mistake is.

`print(learn.hint(1))` gives the first hint of exercise 1, `print(learn.hint(1, 2))` the second one,
and there are three. `print(learn.solution(1))` shows the solution. Several exercises use the same
names: before you check an old answer again, run its cell again.

The same exercises work in an editor: `python -m minigrad learn`.
"""

Cell = dict[str, Any]


def chapters() -> list[Path]:
    """The pages of the guide, in the order of its list."""
    contents = (GUIDE / "index.md").read_text(encoding="utf-8")
    return [
        GUIDE / name for name in re.findall(r"^\d+\. \[.*\]\((\w+\.md)\)$", contents, re.MULTILINE)
    ]


def cells() -> Iterator[Cell]:
    """Every cell of the notebook of the guide, without pictures."""
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
            yield code(block.code, drawn=bool(block.picture))
    yield from prose(page[place:])


def exercise_cells() -> Iterator[Cell]:
    """Every cell of the notebook of exercises."""
    yield text(EXERCISES_INTRODUCTION.strip())
    yield code("from minigrad import learn")
    for number, this in exercises().items():
        chapter = f"../docs/guide/{this.chapter}.md"
        title = (ROOT / chapter[3:]).read_text(encoding="utf-8").partition("\n")[0].strip("# ")
        task = this.task.partition("\n")[2].strip()
        chapter_line = f"Chapter of the guide: [{title}]({chapter})."
        yield text(f"## {number}. {this.title}\n\n{markdown_of(task)}\n\n{chapter_line}")
        skeleton = this.skeleton.split('"""', 2)[2].partition('\nif __name__ == "__main__"')[0]
        yield code(skeleton.strip())
        yield code(f"learn.check({number}, globals())")


def markdown_of(task: str) -> str:
    """A task, in which a block of indented lines is by itself."""
    lines: list[str] = []
    margin = 0
    for line in task.splitlines():
        indent = indent_of(line)
        block = indent >= margin + 4
        if line and lines and lines[-1] and block != (indent_of(lines[-1]) >= margin + 4):
            lines.append("")
        lines.append(line)
        if line and not block:
            margin = 3 if re.match(r"\d\. ", line) or indent == 3 else indent
    return "\n".join(lines)


def indent_of(line: str) -> int:
    """The number of spaces that a line begins with."""
    return len(line) - len(line.lstrip())


def prose(markdown: str) -> Iterator[Cell]:
    """A text cell; links point to the pages of the documentation, and formulas are a notebook's."""
    if markdown.strip():
        markdown = re.sub(r"^```math\n(.*?)\n```$", r"$$\n\1\n$$", markdown, flags=re.M | re.S)
        yield text(
            re.sub(r"\]\((?!\w+:)([\w./]+\.(?:md|svg))", r"](../docs/guide/\1", markdown).strip()
        )


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
    minigrad.random.seed(0)  # pictures show numbers
    for cell in made:
        if cell["cell_type"] == "markdown":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            result = evaluate(cell["source"], names, "cell")
        for output in cell["outputs"]:
            if output.get("data") == {}:
                output["data"] = result._repr_mimebundle_()


def notebook(path: Path) -> str:
    """The whole notebook as JSON."""
    made = list(cells() if path == NOTEBOOK else exercise_cells())
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
    for path in (NOTEBOOK, EXERCISES):
        path.write_text(notebook(path), encoding="utf-8")
        print(f"{os.path.relpath(path)}: {path.stat().st_size:,} bytes")
