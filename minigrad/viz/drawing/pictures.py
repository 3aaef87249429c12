"""An SVG picture as PNG or PDF, by the optional package cairosvg."""

from __future__ import annotations

from typing import Literal

from minigrad._checks import optional_package
from minigrad.viz.drawing.style import FONT

__all__ = ["convert"]

SCALE = 2
"""Pixels of a PNG for each unit of its picture: sharp on a dense screen, and when zoomed in."""

COMPLETE = "'DejaVu Sans'"
"""Cairo takes the letters of a text from one font: this one has ∂, σ, ×, and →."""


def convert(svg: str, form: Literal["png", "pdf"], width: int | None = None) -> bytes:
    """Convert a picture; a PNG is `width` pixels wide, or has twice the picture's own size.

    Raises:
        ImportError: cairosvg is not installed.
        RuntimeError: It does not find the library Cairo.
    """
    what = f"a graph as {form.upper()}"
    try:
        cairosvg = optional_package(what, "cairosvg")
    except OSError:
        raise RuntimeError(
            f"{what}: the library Cairo is missing: apt install libcairo2, or brew install cairo"
        ) from None
    picture = svg.replace(FONT, COMPLETE).encode()
    if form == "pdf":
        return bytes(cairosvg.svg2pdf(picture))
    size = {"output_width": width} if width else {"scale": SCALE}
    return bytes(cairosvg.svg2png(picture, **size))
