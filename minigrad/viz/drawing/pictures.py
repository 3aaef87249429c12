"""An SVG picture as PNG or PDF, by the optional package cairosvg."""

from __future__ import annotations

from typing import Literal

from minigrad.viz.drawing.style import FONT

__all__ = ["convert"]

SCALE = 2
"""Pixels of a PNG for each unit of its picture: sharp on a dense screen, and when zoomed in."""

INSTALL = "pip install 'minigrad-numpy[pictures]'; an .svg needs nothing"

COMPLETE = "'DejaVu Sans'"
"""Cairo takes the letters of a text from one font: this one has ∂, σ, ×, and →."""


def convert(svg: str, form: Literal["png", "pdf"], width: int | None = None) -> bytes:
    """Convert a picture; a PNG is `width` pixels wide, or has twice the picture's own size.

    Raises:
        RuntimeError: cairosvg is not installed, or the Cairo library that it calls.
    """
    try:
        import cairosvg
    except ImportError:
        raise RuntimeError(f"a graph as {form.upper()} needs cairosvg: {INSTALL}") from None
    except OSError:
        library = "the library Cairo: apt install libcairo2, or brew install cairo"
        raise RuntimeError(f"a graph as {form.upper()} needs {library}") from None
    picture = svg.replace(FONT, COMPLETE).encode()
    if form == "pdf":
        return bytes(cairosvg.svg2pdf(picture))
    size = {"output_width": width} if width else {"scale": SCALE}
    return bytes(cairosvg.svg2png(picture, **size))
