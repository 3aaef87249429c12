"""What leaves the explorer page: the picture as a file, and the page on paper."""

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import minigrad
from browser.graphs import explored
from browser.waiting import Open, expect, press, until
from minigrad import nn
from minigrad.viz.drawing.style import DARK, LIGHT

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def attention() -> str:
    x = minigrad.randn(2, 4, 8)
    return explored(nn.MultiHeadAttention(8, 2), x, x, x)


def saved(page: Any, kind: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=kind).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_an_svg_stands_by_itself(
    attention: str, open_page: Open, tmp_path: Path, scheme: str, palette: Any
) -> None:
    page = open_page(attention, "#step=5", color_scheme=scheme)
    file = saved(page, "SVG", tmp_path)
    assert file.name == "MultiHeadAttention.svg"
    root = ElementTree.parse(file).getroot()
    elements = list(root.iter())
    used = {(name, value) for one in elements for name, value in one.attrib.items()}
    lines = {("stroke", rgb(palette[name])) for name in ("op", "error")}  # gradients, what is lit
    assert {("fill", rgb(palette["page"])), *lines} <= used
    assert not any("var(" in value for _, value in used)
    names = {name for name, _ in used}
    assert names & {"tabindex", "role", "data-id", "aria-label", "font-family"} == {"font-family"}
    assert not list(root.iter(f"{SVG}style"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    read = "[...document.querySelectorAll('#stage > svg text')].map((text) => text.textContent)"
    until(page, read, texts)
    sizes = "[...document.querySelectorAll('text')].map((text) => text.getBBox().width)"
    seen = page.evaluate(sizes)[: len(texts)]
    open_page(f"<!DOCTYPE html>{file.read_text(encoding='utf-8')}", "", page)
    until(page, sizes, pytest.approx(seen, abs=0.1))


def test_it_shows_what_is_seen(attention: str, open_page: Open, tmp_path: Path) -> None:
    page = open_page(attention)
    whole = ElementTree.parse(saved(page, "SVG", tmp_path)).getroot()
    press(page, *"++++")
    part = ElementTree.parse(saved(page, "SVG", tmp_path)).getroot()
    boxes = [[float(n) for n in one.attrib["viewBox"].split()] for one in (whole, part)]
    assert boxes[0][:2] == [0, 0]
    assert boxes[1][1] > 0
    assert boxes[1][3] < boxes[0][3]
    stage = page.locator("#stage").bounding_box()
    assert float(part.attrib["height"]) == pytest.approx(stage["height"], abs=1)


def test_a_png_has_two_pixels_for_each(attention: str, open_page: Open, tmp_path: Path) -> None:
    page = open_page(attention)
    vector = ElementTree.parse(saved(page, "SVG", tmp_path)).getroot()
    file = saved(page, "PNG", tmp_path)
    assert file.name == "MultiHeadAttention.png"
    size = struct.unpack(">II", file.read_bytes()[16:24])
    asked = [2 * float(vector.attrib[name]) for name in ("width", "height")]
    assert list(size) == pytest.approx(asked, abs=3)
    colours = """async (bytes) => {
        const file = new Blob([Uint8Array.from(bytes)], { type: "image/png" });
        const bitmap = await createImageBitmap(file);
        const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        pen.drawImage(bitmap, 0, 0);
        const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
        return [...new Set(new Uint32Array(data.buffer))].length;
    }"""
    assert page.evaluate(colours, list(file.read_bytes())) > 20  # as a picture has


def test_paper_has_the_picture_and_the_panel(attention: str, open_page: Open) -> None:
    page = open_page(attention, "#step=5", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("#stage .paper svg .box").nth(10)).to_be_visible()
    expect(page.locator("#step .over").first).to_have_text(re.compile("Step 5 of .*attention"))
    expect(page.locator("#step .formula").first).to_be_visible()
    for hidden in ("#player", "#tools", "#search", "#zoom", "#tabs", "#guide", "#stage > svg"):
        expect(page.locator(hidden).first).to_be_hidden()
    until(page, "getComputedStyle(document.body).color", rgb(LIGHT["text"]))
    shape = "getComputedStyle(document.querySelector('#stage .paper .op:not(.lit) .shape'))"
    until(page, f"{shape}.fill", rgb(LIGHT["op fill"]))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".paper")).to_have_count(0)
    page.emulate_media(media="null")


def test_a_browser_prints_it(attention: str, open_page: Open) -> None:
    page = open_page(attention, "#step=5")
    printed = page.pdf(format="A4")
    assert len(re.findall(rb"/Type ?/Page\b", printed)) >= 2
    expect(page.locator(".paper")).to_have_count(0)
