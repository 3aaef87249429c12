"""The gallery in a browser: each page as the documentation has it, and one in a frame."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gallery import PICTURES, example, names, picture_of, write_page, write_pages

from browser.waiting import Open, expect, press

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


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of all programs that run on one rank."""
    folder = tmp_path_factory.mktemp("gallery")
    write_pages(folder, [name for name in names() if name != "several_ranks"])
    return folder


def parameter(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.needs("mpi4py") if name == "several_ranks" else ())


@pytest.mark.parametrize("name", [*map(parameter, names())])
def test_each_page_can_be_stepped_through(open_page: Open, pages: Path, name: str) -> None:
    if name == "several_ranks":
        assert write_page(name, pages), "mpi4py is there, but no mpiexec"
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST
    page = open_page(text)
    expect(page.locator("#stage .box[data-id]").nth(7)).to_be_attached()
    for rank in ("rank 0", "rank 1") if name == "several_ranks" else ():
        expect(page.locator("#stage .frame text", has_text=rank).first).to_be_attached()
    press(page, "ArrowRight")
    status = page.locator("#status")
    expect(status).to_have_text(re.compile(r"^step 1 of \d+: \w+$"))
    total = re.findall(r"\d+", status.inner_text())[1]
    press(page, "End")
    expect(status).to_have_text(re.compile(f"^step {total} of {total}: "))
    expect(page.locator("#step article .formula").first).to_be_attached()
    expect(page.locator("#step .check.wrong")).to_have_count(0)


def test_what_the_texts_promise_is_there(open_page: Open, pages: Path) -> None:
    text = {file.stem: file.read_text(encoding="utf-8") for file in pages.glob("*.html")}
    # The README and the first page have this step.
    page = open_page(text["multi_head_attention"], "#step=5")
    expect(page.locator("#step h2")).to_have_text("softmax")
    expect(page.locator("#step .heatmap").first).to_be_visible()
    for part in (".formula", ".equations"):
        expect(page.locator(f"#step {part}")).to_have_count(1)
    open_page(text["nan"], "", page)
    page.get_by_role("button", name="inf born in exp").click()
    expect(page.locator("#box h2")).to_have_text("exp")
    open_page(text["training_step"], "#step=4", page)
    expect(page.get_by_text("after SGD.step").nth(3)).to_be_attached()
    line = page.locator("#step .line")
    expect(line).to_have_text(re.compile("^training_step.py:"))  # no folder of the machine
    open_page(text["gan_step"], "", page)
    expect(page.locator("#stage").get_by_text("detach").first).to_be_attached()
    open_page(text["micrograd"], "#step=25", page)
    expect(page.locator("#stage")).to_contain_text("grad 138.8")


def test_a_program_says_what_to_look_at() -> None:
    for name in names():
        one = example(name)
        assert one.title, name
        assert one.text.count(".") >= 2, name
        assert len(one.code.splitlines()) <= 50
        assert f'path="{name}.html"' in one.code.splitlines()[-1]


def test_the_pictures_are_of_todays_pages(pages: Path) -> None:
    for page in pages.glob("*.html"):
        picture = (PICTURES / f"{page.stem}.svg").read_text(encoding="utf-8")
        assert picture == picture_of(page.read_text(encoding="utf-8")), "tools/gallery.py --docs"


@pytest.mark.needs("sphinx", "myst_parser")
def test_the_documentation_shows_them(browser: Any, pages: Path, tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(SETTINGS.format(pages=pages))
    shutil.copytree(PICTURES, tmp_path / "_static" / "gallery")
    pictures = "".join(f"![The page](_static/gallery/{name}.svg)\n\n" for name in names())
    text = f"# A page\n\n```{{live}} nan#step=2\n```\n\n{pictures}"
    (tmp_path / "index.md").write_text(text, encoding="utf-8")
    html = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", tmp_path, html]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    page = browser.new_page()
    page.goto((html / "index.html").as_uri())
    frame = page.frame_locator(".live iframe")
    expect(frame.locator("#status")).to_have_text("step 2 of 8: mean")
    links = page.locator("a.live-picture")
    expect(links).to_have_count(len([*(html / "gallery").glob("*.html")]))
    links.first.click()
    page.wait_for_selector("html.scripted")
    page.close()
