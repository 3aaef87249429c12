"""Colour scales of one hue whose steps look equally large, and pictures in these colours."""

import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache

import numpy as np

Colour = tuple[int, int, int]

BLUE, AMBER = 255.0, 70.0
"""Hues of OKLCH, in degrees."""

LEVELS = 254
"""The byte of the highest value; the next byte means a number that is not finite."""

BROKEN = (194, 24, 91)
"""The colour of NaN and infinities."""

LIGHTEST, DARKEST, STRONGEST = 0.97, 0.32, 0.13
"""The ends of the lightness, and the chroma in between."""


@cache
def sequential(count: int) -> tuple[Colour, ...]:
    """Make a scale of at least two colours from light to dark blue, in equal steps of lightness.

    Source: OKLab, Ottosson 2020, https://bottosson.github.io/posts/oklab/.
    """
    return tuple(_shade(step / (count - 1), BLUE) for step in range(count))


@cache
def diverging(count: int) -> tuple[Colour, ...]:
    """Make a scale of at least three colours: dark blue, over the lightest, to dark amber."""
    places = (2 * step / (count - 1) - 1 for step in range(count))
    return tuple(_shade(abs(place), BLUE if place < 0 else AMBER) for place in places)


def byte_colours(signed: bool = False) -> tuple[Colour, ...]:
    """The colours of all bytes: from light to dark, or `signed`; the last one is `BROKEN`."""
    return (*(diverging if signed else sequential)(LEVELS + 1), BROKEN)


def _shade(depth: float, hue: float) -> Colour:
    """A colour of a hue between the lightest (depth 0) and the darkest (depth 1)."""
    lightness = LIGHTEST + (DARKEST - LIGHTEST) * depth
    chroma = STRONGEST * math.sin(math.pi * min(1.0, depth * 1.2) ** 0.9 * 0.72)
    a = chroma * math.cos(math.radians(hue))
    b = chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return _byte(red), _byte(green), _byte(blue)


def dark(colour: Colour) -> bool:
    """Whether white is easier to read on a colour than black."""
    red, green, blue = (
        part / 3294.6 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18


def _byte(linear: float) -> int:
    """A linear part of a colour as sRGB stores it."""
    linear = min(max(linear, 0.0), 1.0)
    curved = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(255 * curved)


def to_levels(array: np.ndarray, low: float, high: float) -> np.ndarray:
    """Round numbers between `low` and `high` to bytes; byte 255 means not finite."""
    finite = np.isfinite(array)
    steps = (np.where(finite, array, low).astype(np.float64) - low) / ((high - low) or 1.0) * LEVELS
    return np.where(finite, np.rint(steps), LEVELS + 1).astype(np.uint8)


def png(levels: np.ndarray, scale: Sequence[Colour]) -> str:
    """Write bytes (rows, columns), positions in a scale, as the ``data:`` address of a picture.

    Source: PNG, third edition, https://www.w3.org/TR/png-3/; colour type 3.
    """
    rows, columns = levels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(levels, np.uint8))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(part for colour in scale for part in colour)),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )
    return f"data:image/png;base64,{b64encode(data).decode('ascii')}"
