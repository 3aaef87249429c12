#!/usr/bin/env python
"""Draw the graphs of docs/: the pictures of `_static/graphs`, each from the block of code above it.

python tools/drawings.py
"""

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

from pages import blocks_of, run

import minigrad

DOCS = Path(__file__).resolve().parent.parent / "docs"


def draw(page: Path) -> None:
    """Run a page from top to bottom, and write its drawings."""
    names: dict[str, Any] = {"__name__": "__main__"}
    minigrad.random.seed(0)
    for block in blocks_of(page.read_text(encoding="utf-8")):
        with (
            contextlib.redirect_stdout(io.StringIO()),
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
        ):
            value = run(block, names, page.name)
        if block.picture:
            file = page.parent / block.picture
            file.write_text(value.to_svg(), encoding="utf-8")
            print(f"{os.path.relpath(file)}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    for path in sorted(DOCS.rglob("*.md")):
        if "_static/graphs/" in path.read_text(encoding="utf-8"):
            draw(path)
