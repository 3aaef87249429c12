"""Reading a picture that was drawn as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    """The picture as XML; it must be well-formed."""
    return ElementTree.fromstring(svg)


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [item for item in root.iter() if name in item.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(item.itertext()) for item in root.iter(f"{SVG}text")]
