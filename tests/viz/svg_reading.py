"""Reading a picture that was drawn as SVG, and comparing boxes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

Box = tuple[int, int, int, int]
"""Left, top, width and height."""

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    """The picture as XML; it must be well-formed."""
    return ElementTree.fromstring(svg)


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [item for item in root.iter() if name in item.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(item.itertext()) for item in root.iter(f"{SVG}text")]


def overlap(one: Box, two: Box) -> bool:
    (x, y, w, h), (a, b, c, d) = one, two
    return x < a + c and a < x + w and y < b + d and b < y + h


def holds(outer: Box, inner: Box) -> bool:
    (x, y, w, h), (a, b, c, d) = outer, inner
    return x <= a and a + c <= x + w and y <= b and b + d <= y + h
