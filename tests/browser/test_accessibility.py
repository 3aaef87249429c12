"""The explorer page for everyone: axe finds nothing, and a finger meets every button."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import minigrad
from browser.waiting import expect, until
from minigrad import nn, viz

pytestmark = [
    pytest.mark.needs("playwright", "chromium", "axe_playwright_python"),
    pytest.mark.slow,
]

RULES = {
    "rules": {"label-content-name-mismatch": {"enabled": True}},
    "resultTypes": ["violations"],  # what passes is only counted, in half the time
}
"""All rules of axe, and this one that it leaves out: a name contains the text that is shown."""

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FINGER = 44


@cache
def page_of(name: str) -> str:
    """The page of a model, as `explore` writes it."""
    x = minigrad.randn(2, 4, 8)
    if name == "perceptron":
        model, inputs = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (x[..., :3],)
    elif name == "attention":
        model, inputs = nn.MultiHeadAttention(8, 2), (x, x, x)
    else:
        model, inputs = nn.TransformerEncoderLayer(8, 2, 16), (x,)
    text: str = viz.explore(model, *inputs).path.read_text(encoding="utf-8")
    return text


def steps(page: Any) -> None:
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")


def box(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("attention fused" if page.get_by_text("attention").count() else "linear op")
    page.keyboard.press("Enter")


def search(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("l")


def everything(page: Any) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open all").click()
    page.keyboard.press("End")
    page.get_by_role("tab", name="List").click()


def playing(page: Any) -> None:
    page.keyboard.press(" ")


def walk(page: Any) -> None:
    page.keyboard.press("Home")
    page.keyboard.press("n")


def questions(page: Any) -> None:
    if page.locator("#tab-walk").count():
        page.locator("#tab-walk").click()


STATES: tuple[Callable[[Any], None], ...] = (
    lambda page: None, steps, box, search, everything, walk, questions, playing,
)  # fmt: skip


@pytest.mark.parametrize(  # every page on both devices and in both schemes, not each with each
    ("name", "scheme", "device"),
    [
        pytest.param(
            name,
            scheme,
            device,
            id=f"{name}-{scheme}-{'phone' if device else 'desktop'}",
            marks=() if name == "attention" else pytest.mark.long,
        )
        for k, name in enumerate(["perceptron", "attention", "layer"])
        for scheme, device in zip(["light", "dark"], [PHONE, {}][:: 1 - 2 * (k % 2)], strict=True)
    ],
)
def test_axe_finds_nothing(
    open_page: Callable[..., Any], name: str, scheme: str, device: dict[str, Any]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(page_of(name), color_scheme=scheme, **device)
    for put_in_state in STATES:
        put_in_state(page)
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()
        assert len(found.response["passes"]) > 20


@pytest.mark.parametrize("width", [320, 390, 700])
def test_a_finger_meets_every_button(open_page: Callable[..., Any], width: int) -> None:
    page = open_page(page_of("attention"), viewport={"width": width, "height": 844})
    buttons = page.locator(":is(#player, #tools, #tabs, #zoom) button:visible")
    expect(buttons.nth(12)).to_be_visible()
    for button in buttons.all():
        area = button.bounding_box()
        assert min(area["width"], area["height"]) >= FINGER, button.evaluate("(b) => b.outerHTML")
        assert area["x"] >= 0
        assert area["x"] + area["width"] <= width
    assert page.locator("#stage").bounding_box()["height"] >= 200


def test_so_it_does_on_a_large_screen_that_is_touched(open_page: Callable[..., Any]) -> None:
    page = open_page(page_of("attention"), has_touch=True, is_mobile=True)
    until(page, "matchMedia('(pointer: coarse)').matches", True)
    for button in page.locator("#player button").all():
        area = button.bounding_box()
        assert min(area["width"], area["height"]) >= FINGER
