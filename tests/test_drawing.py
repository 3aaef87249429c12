"""What is drawn for the documentation, beside what tests/viz has of drawings themselves.

The directive draws in a page that Sphinx builds, from the code that the page shows. The figures of
the guide have the colours of both modes, and a page shows each.
"""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest
from children import python

ROOT = Path(__file__).resolve().parent.parent
SPHINX = pytest.mark.needs("sphinx", "myst_parser")

SETTINGS = f"""
import sys
sys.path[:0] = [{str(ROOT / "docs" / "_ext")!r}, {str(ROOT / "tools")!r}]
extensions = ["drawing", "myst_parser"]
"""

PAGE = """
# A page

```pycon
>>> import minigrad
>>> x = minigrad.ones(3, requires_grad=True)
>>> x.undefined
Traceback (most recent call last):
AttributeError: ...
```

```{drawing}
from minigrad import viz
y = x * x  # x from above
viz.graph(y, first=x)
```

```python
z = y + 1.0
```

```{drawing}
viz.graph(z, second=x)
```
"""


def build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    (folder / "conf.py").write_text(SETTINGS)
    (folder / "index.md").write_text(page)
    return python("-m", "sphinx", "-q", "-W", "-b", "html", folder, folder / "html")


@SPHINX
@pytest.mark.slow
def test_a_page_is_drawn_from_top_to_bottom(tmp_path: Path) -> None:
    done = build(tmp_path, PAGE)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    first, second = re.findall(r'<div class="drawing">\s*(<svg .*?</svg>)', page, re.DOTALL)
    assert ">first<" in first
    assert "multiply" in first
    assert "add" not in first
    assert ">second<" in second
    assert "add" in second
    assert page.count("x from above") == 1  # the code is shown as well
    assert "<style>" not in first  # it is once beside the pages

    style = (tmp_path / "html" / "_static" / "drawing.css").read_text(encoding="utf-8")
    assert 'href="_static/drawing.css' in page
    for opening in ('body[data-theme="dark"] {', 'body:not([data-theme="light"]) {'):
        assert f"{opening}.minigrad-graph .page{{fill:#0D1117}}" in style
    assert style.startswith(".minigrad-graph text{")
    assert style.count("{") == style.count("}")


@SPHINX
@pytest.mark.slow
def test_code_that_fails_fails_the_build(tmp_path: Path) -> None:
    done = build(tmp_path, "# A page\n\n```{drawing}\nimport minigrad\nminigrad.ones(3) @ 1\n```\n")
    assert done.returncode != 0
    assert re.search(r"index\.md:3: .*below line 3: \w+: matmul: ", done.stderr)


@pytest.mark.slow
@pytest.mark.needs("matplotlib")
def test_a_figure_follows_the_mode_of_its_reader(tmp_path: Path) -> None:
    figures = importlib.import_module("figures")
    for name in figures.FIGURES:
        figures.save(name, tmp_path / "figure.svg")
        head, _, drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8").partition("</style>")
        assert "@media (prefers-color-scheme:dark)" in head
        assert "var(--text)" in drawn
        assert not re.findall("#[0-9a-f]{6};", drawn), f"{name}: a colour of one mode"


def test_every_picture_is_on_a_page() -> None:
    docs = ROOT / "docs"
    text = "\n".join(page.read_text(encoding="utf-8") for page in docs.rglob("*.md"))
    pictures = {path.name for path in (docs / "_static").iterdir() if path.suffix != ".css"}
    assert pictures == {*re.findall(r"_static/([\w.]+)\)", text)}
