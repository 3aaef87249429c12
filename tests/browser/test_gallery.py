"""The gallery in a browser: each page as the documentation has it, and one in a frame."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gallery import example, names, write_page, write_pages

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

MOST = 300_000
"""Bytes of a page."""

SETTINGS = f"""
import sys
sys.path[:0] = [{str(ROOT / "docs" / "_ext")!r}, {str(ROOT / "tools")!r}]
extensions = ["live_pages", "myst_parser"]

import shutil, live_pages
live_pages.write_pages = lambda folder: shutil.copytree("{{pages}}", folder)
"""
"""Of a documentation whose live pages are written already."""

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of all programs that run on one rank."""
    folder = tmp_path_factory.mktemp("gallery")
    write_pages(folder, [name for name in names() if name != "several_ranks"])
    return folder


def parameter(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.needs("mpi4py") if name == "several_ranks" else ())


@pytest.mark.parametrize("name", [*map(parameter, names())])
def test_each_page_opens_and_can_be_stepped_through(
    open_page: Open, pages: Path, name: str
) -> None:
    if name == "several_ranks":
        assert write_page(name, pages), "mpi4py is there, but no mpiexec"
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST
    page = open_page(text)
    assert page.locator("#stage .box[data-id]").count() >= 8
    if name == "several_ranks":
        frames = page.locator("#stage .frame text").all_text_contents()
        assert {"rank 0", "rank 1"} <= {*frames}
    page.keyboard.press("ArrowRight")
    status = re.fullmatch(r"step 1 of (\d+): \w+", page.locator("#status").inner_text())
    assert status
    page.keyboard.press("End")
    assert page.locator("#status").inner_text().startswith(f"step {status[1]} of {status[1]}: ")
    assert page.locator("#step article .formula").count()
    assert not page.locator("#step .check.wrong").count()


def test_what_the_texts_promise_is_there(open_page: Open, pages: Path) -> None:
    def opened(name: str, address: str = "") -> Any:
        return open_page((pages / f"{name}.html").read_text(encoding="utf-8"), address)

    softmax = opened("multi_head_attention", "#step=5")  # so the README and the first page have it
    assert softmax.locator("#step h2").inner_text() == "softmax"
    assert softmax.locator("#step .heatmap").first.is_visible()
    for part in (".formula", ".equations"):
        assert softmax.locator(f"#step {part}").count() == 1
    nan = opened("nan")
    nan.get_by_role("button", name="inf born in exp").click()
    assert nan.locator("#box h2").inner_text() == "exp"
    step = opened("training_step", "#step=4")
    assert step.get_by_text("after SGD.step").count() >= 4
    line = step.locator("#step .line").inner_text()
    assert line.startswith("training_step.py:"), "a page names no folder of the machine"
    assert opened("gan_step").locator("#stage").get_by_text("detach").count()
    assert "grad 138.8" in opened("micrograd", "#step=25").locator("#stage").inner_text()


def test_a_program_says_what_to_look_at() -> None:
    for name in names():
        one = example(name)
        assert one.title, name
        assert one.text.count(".") >= 2, name
        assert len(one.code.splitlines()) <= 50
        assert f'path="{name}.html"' in one.code.splitlines()[-1]


@pytest.mark.needs("sphinx", "myst_parser")
def test_the_documentation_shows_them_from_a_file(
    browser: Any, pages: Path, tmp_path: Path
) -> None:
    (tmp_path / "conf.py").write_text(SETTINGS.format(pages=pages))
    listed = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8").partition("\n```{gallery}")
    (tmp_path / "index.md").write_text(
        f"# A page\n\n```{{live}} nan#step=2\n```\n\n```{{gallery}}{listed[2]}", encoding="utf-8"
    )
    html = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", tmp_path, html]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    page = browser.new_page()
    page.goto((html / "index.html").as_uri())
    frame = page.frame_locator(".live iframe")
    assert frame.locator("#status").inner_text() == "step 2 of 8: mean"
    links = page.locator("a.live-picture")
    assert links.count() >= len(names()) - 1  # without MPI one is left out
    assert links.locator("svg").count() == links.count()
    assert page.locator("section section h2").count() == len(names())
    links.first.click()
    page.wait_for_selector("html.scripted")
    page.close()
