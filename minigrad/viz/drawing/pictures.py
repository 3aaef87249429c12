"""An SVG picture as a file, as PNG or PDF by the optional package cairosvg."""

from os import PathLike
from pathlib import Path

from minigrad.support.checks import optional_package
from minigrad.support.files import write
from minigrad.viz.drawing.style import FONT

SCALE = 2
"""Pixels of a PNG for each unit of a picture: sharp on a dense screen, and when zoomed in."""

COMPLETE = "'DejaVu Sans'"
"""Cairo takes the letters of a text from one font: this one has ∂, σ, ×, and →."""


def convert(svg: str, ending: str) -> bytes:
    """A picture as ``".svg"``, ``".png"`` or ``".pdf"``."""
    if ending == ".svg":
        return svg.encode()
    what = f"a picture as {ending[1:].upper()}"
    try:
        cairosvg = optional_package(what, "cairosvg")
    except OSError:
        raise RuntimeError(
            f"{what}: the library Cairo is missing: apt install libcairo2, or brew install cairo"
        ) from None
    picture = svg.replace(FONT, COMPLETE).replace("rendering:pixelated", "rendering:optimizeSpeed")
    if ending == ".pdf":
        return bytes(cairosvg.svg2pdf(picture.encode()))
    return bytes(cairosvg.svg2png(picture.encode(), scale=SCALE))


def save_picture(svg: str, path: str | PathLike[str]) -> Path:
    """Write a picture to a file, whose ending says as what."""
    path = Path(path)
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise ValueError(f"save: {path.name!r} should end in .svg, .png or .pdf: what to write")
    write(path, convert(svg, path.suffix))
    return path
