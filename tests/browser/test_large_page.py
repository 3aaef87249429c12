"""A page of thousands of boxes: only what is in view is in the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from minigrad import viz

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

OPS = 1200
DRAWN = 200
"""More boxes than that are never in the document."""


@pytest.fixture(scope="module")
def chain() -> str:
    """The page of a chain of ops, none of them folded."""
    x = minigrad.randn(3, requires_grad=True)
    with viz.trace() as traced:
        y = x
        for _ in range(OPS // 2):
            y = minigrad.sin(y) * 1.01
        y.sum().backward()
    return traced.graph(x=x).to_html(depth=9)


def drawn(page: Any) -> int:
    count: int = page.locator("#stage .box").count()
    return count


def in_view(page: Any, selector: str) -> bool:
    stage, box = page.locator("#stage").bounding_box(), page.locator(selector).bounding_box()
    return bool(stage["y"] <= box["y"] and box["y"] + box["height"] <= stage["y"] + stage["height"])


def test_only_what_is_in_view_is_drawn(chain: str, open_page: Callable[..., Any]) -> None:
    page = open_page(chain)
    page.get_by_role("button", name="Open all").click()
    assert 5 < drawn(page) < DRAWN
    for key, at in (("End", OPS + 1), ("ArrowLeft", OPS), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        words = page.locator("#status").inner_text()
        assert words.startswith(f"step {at} of" if at else "before the first of")
        assert 5 < drawn(page) < DRAWN
        assert page.locator("#stage .gradient").count() < DRAWN
        if at:
            assert in_view(page, "#stage .lit")
    page.locator("#slider").fill(str(OPS // 2))
    assert in_view(page, "#stage .lit")
    assert drawn(page) < DRAWN
    before = page.locator("#stage .box").first.get_attribute("data-id")
    page.mouse.move(300, 300)
    page.mouse.wheel(0, 900)  # zooms out
    page.mouse.down()
    page.mouse.move(300, 700, steps=3)
    page.mouse.up()
    assert page.locator("#stage .box").first.get_attribute("data-id") != before


def test_what_is_found_is_brought_into_view(chain: str, open_page: Callable[..., Any]) -> None:
    page = open_page(chain)
    page.get_by_role("button", name="Open all").click()
    page.keyboard.press("/")
    page.keyboard.type("output")
    page.keyboard.press("Enter")
    assert in_view(page, "#stage .box.selected")
    assert drawn(page) < DRAWN
    assert page.evaluate("document.activeElement.matches('.box.output')")
    for _ in range(60):  # up the lines, past what was drawn
        page.keyboard.press("ArrowUp")
    assert in_view(page, "#stage .box.selected")
    assert page.evaluate("document.activeElement.matches('.box.selected')")


def test_the_tab_key_goes_on_and_on(chain: str, open_page: Callable[..., Any]) -> None:
    page = open_page(chain)
    page.get_by_role("button", name="Open all").click()
    page.locator("#stage .box").first.focus()
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.dataset.id"))
    assert None not in seen
    assert len(set(seen)) == 60


def test_the_list_grows_as_one_reads_on(chain: str, open_page: Callable[..., Any]) -> None:
    page = open_page(chain)
    assert page.locator("#list tr").count() == 0
    page.get_by_role("tab", name="List").click()
    rows = page.locator("#list tbody tr")
    assert rows.count() == 100
    for count in (200, 300):
        page.locator("#list").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
        rows.nth(count - 1).wait_for(state="attached")
    rows.nth(150).click()
    assert in_view(page, "#stage .box.selected")


def test_without_a_script_all_of_it_is_there(chain: str, open_page: Callable[..., Any]) -> None:
    page = open_page(chain, java_script_enabled=False)
    assert drawn(page) > OPS
    assert page.locator("#list tbody tr").count() > OPS


def test_an_old_browser_says_what_it_lacks(open_page: Callable[..., Any]) -> None:
    x = minigrad.randn(3, requires_grad=True)
    page = viz.graph(minigrad.sin(x), x=x).to_html()
    old = page.replace('"use strict";', '"use strict"; delete globalThis.DecompressionStream;', 1)
    shown = open_page(old, unpacked=False)
    assert "in a browser of 2023 or later" in shown.locator("#facts").inner_text()
    assert shown.locator("#stage .box[data-id]").count() == 3
    assert shown.locator("#list tbody tr").first.is_visible()
