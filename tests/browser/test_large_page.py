"""A page of thousands of boxes: only what is in view is in the document."""

from typing import Any

import pytest

import minigrad
from browser.waiting import Open, expect, press, until
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


def expect_few(page: Any) -> None:
    """Some boxes are in the document, not all."""
    count = "document.querySelectorAll('#stage .box').length"
    until(page, f"5 < {count} && {count} < {DRAWN}", True)


def expect_in_view(page: Any, selector: str) -> None:
    inside = """(selector) => {
        const [stage, box] = ["#stage", selector].map(
            (one) => document.querySelector(one)?.getBoundingClientRect());
        return !!box && stage.top <= box.top && box.bottom <= stage.bottom;
    }"""
    until(page, inside, True, selector)


@pytest.fixture
def page(chain: str, open_page: Open) -> Any:
    """The chain, all of it open."""
    page = open_page(chain)
    page.get_by_role("button", name="Open all").click()
    expect_few(page)
    return page


def test_only_what_is_in_view_is_drawn(page: Any) -> None:
    expect_few(page)
    for key, at in (("End", OPS + 1), ("ArrowLeft", OPS), ("Home", 0), ("ArrowRight", 1)):
        press(page, key)
        words = f"step {at} of" if at else "the backward pass begins"
        expect(page.locator("#status")).to_contain_text(words)
        expect_few(page)
        assert page.locator("#stage .gradient").count() < DRAWN
        if at:
            expect_in_view(page, "#stage .lit")
    page.locator("#slider").fill(str(OPS // 2))
    expect_in_view(page, "#stage .lit")
    expect_few(page)
    first = page.locator("#stage .box").first
    before = first.get_attribute("data-id")
    page.mouse.move(300, 300)
    page.mouse.wheel(0, 900)  # zooms out
    page.mouse.down()
    page.mouse.move(300, 700, steps=3)
    page.mouse.up()
    expect(first).not_to_have_attribute("data-id", before)


def test_what_is_found_is_brought_into_view(page: Any) -> None:
    press(page, "Enter", words="output")
    until(page, "document.activeElement.matches('.box.output')", True)
    expect_in_view(page, "#stage .box.selected")
    expect_few(page)
    press(page, *60 * ["ArrowUp"])  # up the lines, past what was drawn
    until(page, "document.activeElement.matches('.box.selected:not(.output)')", True)
    expect_in_view(page, "#stage .box.selected")


def test_the_tab_key_goes_on_and_on(page: Any) -> None:
    page.locator("#stage .box").first.focus()
    page.evaluate("globalThis.seen = new Set()")
    page.evaluate("addEventListener('focusin', ({ target }) => seen.add(target.dataset.id))")
    press(page, *60 * ["Tab"])
    until(page, "seen.size", 60)
    assert not page.evaluate("seen.has(undefined)")


def test_the_list_comes_when_it_is_asked_for(chain: str, open_page: Open) -> None:
    page = open_page(chain)
    expect(page.locator("#list tr")).to_have_count(0)
    page.get_by_role("tab", name="List").click()
    rows = page.locator("#list tbody tr")
    expect(rows.nth(OPS)).to_be_attached()
    rows.nth(150).click()
    expect_in_view(page, "#stage .box.selected")


def test_without_a_script_all_of_it_is_there(chain: str, open_page: Open) -> None:
    page = open_page(chain, java_script_enabled=False)
    for each in ("#stage svg .box", "#list tbody tr"):
        expect(page.locator(each).nth(OPS)).to_be_attached()
        expect(page.locator(each).first).to_be_visible()
    for hidden in ("#player", "#search", "#tools", "#tabs"):
        expect(page.locator(hidden)).to_be_hidden()


def test_an_old_browser_says_what_it_lacks(open_page: Open) -> None:
    x = minigrad.randn(3, requires_grad=True)
    page = viz.graph(minigrad.sin(x), x=x).to_html()
    old = page.replace('"use strict";', '"use strict"; delete globalThis.DecompressionStream;', 1)
    shown = open_page(old, unpacked=False)
    expect(shown.locator("#facts")).to_contain_text("in a browser of 2023 or later")
    expect(shown.locator("#stage .box[data-id]")).to_have_count(3)
    expect(shown.locator("#list tbody tr").first).to_be_visible()
