"""The page of attention maps in a browser: what a pointer and the keys say, and for everyone."""

from __future__ import annotations

import pytest

import minigrad
from browser.waiting import PHONE, Open, axe, expect, press, until
from minigrad import nn, viz

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

WORDS = ["the", "cat", "sat", "on", "it"]


def maps() -> viz.AttentionMaps:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 4, 16), 2)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    return viz.attention(model, minigrad.randn(1, 5, 8), mask, tokens=WORDS)


def test_a_cell_says_its_weight(open_page: Open) -> None:
    shown = maps()
    page = open_page(shown.to_html())
    weight = shown["layers.1.self_attn"].weights[0, 2, 3, 1]
    grid = page.locator(".cells").nth(6)
    box = grid.locator(".grid")
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    page.mouse.move(place["x"] + 0.3 * place["width"], place["y"] + 0.7 * place["height"])
    said = page.locator("#said")
    start = "layers.1.self_attn · head 2: query “on” → key “cat”: "
    expect(said).to_contain_text(start)
    assert abs(float(said.inner_text().removeprefix(start)) - weight) <= 0.0005
    grid.focus()
    press(page, "ArrowRight", "ArrowUp", "ArrowUp")
    expect(said).to_contain_text("query “cat” → key “sat”: masked")


@pytest.mark.needs("axe_playwright_python")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_for_everyone(open_page: Open, scheme: str) -> None:
    page = open_page(maps().to_html(), viewport=PHONE, color_scheme=scheme)
    until(page, "document.documentElement.scrollWidth", 390)
    found = axe(page).response["violations"]
    assert not [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
    shown = "getComputedStyle(document.querySelector('.night')).display !== 'none'"
    until(page, shown, scheme == "dark")
