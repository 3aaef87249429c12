"""Formulas as a browser draws them, with the fonts that are installed and with one for text."""

import base64
import os
import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from browser.graphs import recorded
from browser.waiting import PIXELS, expect
from minigrad import viz
from minigrad.autograd.primitives import registry

pytestmark = [
    pytest.mark.needs("playwright", "chromium", "sphinx", "latex2mathml", "matplotlib"),
    pytest.mark.slow,
]

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module", params=["installed fonts", "no font for mathematics"])
def browser(request: Any, driver: Any, tmp_path_factory: Any) -> Iterator[Any]:
    from browsers import launched

    surroundings = dict(os.environ)
    if request.param == "no font for mathematics":
        import matplotlib

        folder = tmp_path_factory.mktemp("fonts")
        font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "STIXGeneral.ttf"
        assert b"MATH" not in font.read_bytes()[:1000]  # where its tables are listed
        shutil.copy(font, folder)
        settings = folder / "fonts.conf"
        cache = f"<cachedir>{folder}/cache</cachedir>"
        settings.write_text(f"<fontconfig><dir>{folder}</dir>{cache}</fontconfig>")
        surroundings["FONTCONFIG_FILE"] = str(settings)
    with launched(driver, env=surroundings) as running:
        yield running


def picture(page: Any, element: Any) -> np.ndarray:
    """How dark each pixel of an element is, from 0 to 1."""
    png = base64.b64encode(element.screenshot()).decode()
    rows, columns, data = page.evaluate(PIXELS, f"data:image/png;base64,{png}")
    return 1 - np.reshape(data, (rows, columns, 4))[..., :3].mean(-1) / 255


def roots_of(page: Any) -> list[tuple[np.ndarray, float, list[float]]]:
    """Every root on a page: its picture, the size of its type, and where its content begins."""
    found, roots = [], page.locator("msqrt, mroot, .root")
    expect(roots.first).to_be_visible()
    for root in roots.all():
        em, inside = root.evaluate(
            """(root) => [parseFloat(getComputedStyle(root).fontSize),
                [...root.children].filter((child) => !["", "√"].includes(child.textContent))
                    .map((child) => child.getBoundingClientRect().left
                        - root.getBoundingClientRect().left)]"""
        )
        found.append((picture(page, root), em, inside))
    return found


def assert_drawn(root: tuple[np.ndarray, float, list[float]]) -> None:
    """A stroke from the foot to the top, left of the content, and a bar above all of that."""
    ink, em, inside = root
    assert inside
    assert min(inside) >= 0.5 * em
    assert len(ink) > 0.9 * em
    sign, bar = ink[:, : round(0.66 * em)], ink[: round(0.2 * em), round(0.7 * em) :]
    assert (sign.max(1) > 0.2).mean() > 0.9, "the sign does not reach from foot to top"
    high, low = (sign[round(at * len(sign))].argmax() for at in (0.2, 0.8))
    assert high > low, "the stroke does not rise"
    assert (bar.max(0) > 0.3).mean() > 0.9, "the bar does not cover the content"


def documents() -> str:
    """The formulas with a root in the documentation, in its style."""
    settings = runpy.run_path(str(DOCS / "conf.py"))
    static = [DOCS / place for place in settings["html_static_path"]]
    files = [file for place in static for file in (place, *place.glob("*.css")) if file.is_file()]
    style = "".join(file.read_text(encoding="utf-8") for file in files)
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))]
    marked = r"```math\n(.+?)```|\$([^$\n]+)\$"
    found = ("".join(tex) for page in pages for tex in re.findall(marked, page, re.DOTALL))
    written = [tex for tex in found if "sqrt" in tex]
    assert len(written) >= 8
    shown = [settings["mathml"](tex.strip(), display="block") for tex in written]
    return f"<style>{style}</style><p>{'</p><p>'.join(shown)}</p>"


def notebook() -> str:
    """Every formula of an op that has a root, as a notebook shows it."""
    formulas = [f for name in sorted(registry) for f in viz.formulas(name).values()]
    rooted = [formula._repr_html_() for formula in formulas if "√" in formula.text]
    return "".join(rooted)


@pytest.mark.parametrize("source", [documents, notebook])
def test_every_root_is_drawn(browser: Any, source: Any) -> None:
    page = browser.new_page(device_scale_factor=1)
    page.set_content(f"<!DOCTYPE html><style>body {{font-size: 32px}}</style>{source()}")
    roots = roots_of(page)
    page.close()
    assert len(roots) >= 2
    for root in roots:
        assert_drawn(root)


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: Any) -> Any:
    x = minigrad.randn(3, 4, requires_grad=True)
    graph = recorded(lambda: minigrad.nn.functional.gelu(x).sum().backward(), x=x)
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(graph.to_html(), encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{file.as_uri()}#step=2")
    page.add_style_tag(content=".formula { font-size: 32px !important }")
    return page


def test_every_root_of_the_page_is_drawn(page: Any) -> None:
    roots = roots_of(page)
    assert len(roots) == 2  # of the exact function; the approximate one is another case
    for root in roots:
        assert_drawn(root)


def test_letters_are_those_of_any_font(page: Any) -> None:
    """Not of the block of mathematical letters, which a text font shows as boxes."""
    expect(page.locator("mi").first).to_be_attached()
    styles = page.evaluate("""[...document.querySelectorAll("mi")].map((letter) => {
        const style = getComputedStyle(letter);
        return [letter.textContent, style.textTransform, style.fontStyle];
    })""")
    assert ["x", "none", "italic"] in styles
    assert ["erf", "none", "normal"] in styles
    assert {transform for _, transform, _ in styles} == {"none"}
