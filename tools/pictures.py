"""Take the pictures of README.md and docs/: pages of the gallery, in a browser; drawings; figures.

    python tools/pictures.py          all of them, into docs/_static
    python tools/pictures.py front    one

It needs Chromium. A reader sees a picture 830 pixels wide; it has two pixels for each of them. Its
colours are reduced to 256, which makes the file a third as large.
"""

import argparse
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import figures
import gallery
from browsers import launched
from PIL import Image
from playwright.sync_api import sync_playwright

__all__ = ["PICTURES", "Picture", "take"]

DOCS = Path(__file__).resolve().parent.parent / "docs"
STATIC = DOCS / "_static"
WIDTH = 830


class Picture(NamedTuple):
    """The content of a picture.

    Attributes:
        page: The page of the gallery.
        place: The place in it, as its address has it: a step, or a box that is selected.
        width: Of the window, in pixels.
        height: Of the window.
        top: The element that is moved to the top of the panel: a selector of CSS.
        aside: If not 0, the whole graph is in view, dragged to the right by so many pixels: away
            from the buttons.
    """

    page: str
    place: str
    width: int
    height: int
    top: str = ""
    aside: int = 0


PICTURES = {
    "front": Picture(
        "multi_head_attention", "step=5", 1000, 1050, "section:has(> .heatmap)", aside=60
    ),
    "explore_forward": Picture("cnn", "step=-6", 1000, 800),
    "explore_step": Picture("training_step", "step=4", 1000, 850, "article:nth-of-type(2)"),
    "explore_nan": Picture("nan", "box=exp", 1000, 760),
    "explore_walk": Picture(
        "multi_head_attention", "box=MultiHeadAttention/k_proj/k_proj.bias&walk=9", 1000, 800
    ),
}
"""By the name of the file."""

DRAWINGS = {"attention_maps": ("attention.md", "maps")}
"""Of a page of docs/, what a block of code makes: the page, and the name of a variable."""

KNOWN = (*PICTURES, *DRAWINGS, *figures.FIGURES)


def take(browser: Any, picture: Picture, pages: Path, file: Path) -> None:
    """Open a page and save what the window shows.

    Args:
        browser: A browser of Playwright.
        picture: What to show.
        pages: The folder of the pages.
        file: Where to save it, as PNG.
    """
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        device_scale_factor=2 * WIDTH / picture.width,
        reduced_motion="reduce",
        color_scheme="light",
    )
    page.goto(f"{(pages.resolve() / f'{picture.page}.html').as_uri()}#{picture.place}")
    page.wait_for_selector("html.scripted")
    if picture.aside:
        page.keyboard.press("0")
        page.mouse.move(20, 200)
        page.mouse.down()
        page.mouse.move(20 + picture.aside, 200)
        page.mouse.up()
        page.evaluate("document.activeElement.blur()")  # no ring around the graph
    if picture.top:
        page.locator(f"#panel {picture.top} >> visible=true").first.evaluate(
            "(element) => element.scrollIntoView()"
        )
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    frequent = image.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    frequent.save(file, optimize=True)
    page.close()


def draw(page: str, name: str, file: Path) -> None:
    """Run the block of a page that makes a variable, and save what it holds.

    Args:
        page: A page of docs/.
        name: The variable.
        file: Where to save it, as SVG.
    """
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    made: dict[str, Any] = {}
    exec(next(block for block in blocks if f"\n{name} = " in block), made)
    made[name].save(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(KNOWN)}")
    parser.add_argument("--out", type=Path, default=STATIC, help="a folder (default docs/_static)")
    options = parser.parse_args()
    if unknown := {*options.names} - {*KNOWN}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    names = options.names or KNOWN
    for name in DRAWINGS.keys() & {*names}:
        draw(*DRAWINGS[name], options.out / f"{name}.svg")
        print(options.out / f"{name}.svg")
    for name in figures.FIGURES.keys() & {*names}:
        figures.save(name, options.out / f"{name}.svg")
        print(options.out / f"{name}.svg")
    wanted = {name: PICTURES[name] for name in names if name in PICTURES}
    if not wanted:
        return
    if shutil.which("chromium") is None:
        sys.exit("pictures.py: install Chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        launched(playwright) as browser,
    ):
        gallery.write_pages(Path(folder), {picture.page for picture in wanted.values()})
        for name, picture in wanted.items():
            take(browser, picture, Path(folder), options.out / f"{name}.png")
            print(options.out / f"{name}.png")


if __name__ == "__main__":
    main()
