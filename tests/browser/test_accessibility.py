"""The explorer page for everyone: axe finds nothing, and a finger meets every button."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import minigrad
from browser.graphs import explored, layers
from browser.waiting import PHONE, Open, axe, expect, press, until
from minigrad import nn

pytestmark = [
    pytest.mark.needs("playwright", "chromium", "axe_playwright_python"),
    pytest.mark.slow,
]

RULES = {
    "rules": {"label-content-name-mismatch": {"enabled": True}},
    "resultTypes": ["violations"],  # what passes is only counted, in half the time
}
"""All rules of axe, and this one that it leaves out: a name contains the text that is shown."""

DEVICES: dict[str, Any] = {"phone": {"viewport": PHONE, "has_touch": True}, "desktop": {}}
FINGER = 44


@cache
def page_of(name: str) -> str:
    """The page of a model, as `explore` writes it."""
    x = minigrad.randn(2, 4, 8)
    if name == "perceptron":
        return explored(layers(), x[..., :3])
    if name == "attention":
        return explored(nn.MultiHeadAttention(8, 2), x, x, x)
    return explored(nn.TransformerEncoderLayer(8, 2, 16), x)


def box(page: Any) -> None:
    found = "softmax op" if page.get_by_text("attention").count() else "linear op"
    press(page, "Enter", words=found)


def everything(page: Any) -> None:
    press(page, "Escape")
    page.get_by_role("button", name="Open all").click()
    press(page, "End")
    page.get_by_role("tab", name="List").click()


def questions(page: Any) -> None:
    if page.locator("#tab-walk").count():
        page.locator("#tab-walk").click()


STATES: tuple[Callable[[Any], None], ...] = (
    lambda page: None,
    lambda page: press(page, "ArrowRight", "ArrowRight"),
    box,
    lambda page: press(page, words="l"),  # of a search
    everything,
    lambda page: press(page, "Home", "n"),  # the walk
    questions,
    lambda page: press(page, " "),  # plays
)


@pytest.mark.parametrize(  # every page on both devices and in both schemes, not each with each
    ("name", "scheme", "device"),
    [
        pytest.param("perceptron", "light", "phone", marks=pytest.mark.long),
        pytest.param("perceptron", "dark", "desktop", marks=pytest.mark.long),
        ("attention", "light", "desktop"),
        ("attention", "dark", "phone"),
        pytest.param("layer", "light", "phone", marks=pytest.mark.long),
        pytest.param("layer", "dark", "desktop", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(open_page: Open, name: str, scheme: str, device: str) -> None:
    page = open_page(page_of(name), color_scheme=scheme, **DEVICES[device])
    for put_in_state in STATES:
        put_in_state(page)
        found = axe(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()
        assert len(found.response["passes"]) > 20


@pytest.mark.parametrize("width", [320, 390, 420, 700])
def test_a_finger_meets_every_button(open_page: Open, width: int) -> None:
    page = open_page(page_of("attention"), viewport={"width": width, "height": 844})
    buttons = page.locator(":is(#player, #tools, #tabs, #zoom) button:visible")
    expect(buttons.nth(12)).to_be_visible()
    for button in buttons.all():
        area = button.bounding_box()
        assert min(area["width"], area["height"]) >= FINGER, button.evaluate("(b) => b.outerHTML")
        assert area["x"] >= 0
        assert area["x"] + area["width"] <= width
    assert page.locator("#stage").bounding_box()["height"] >= 200
    for part in ("header", "#stage", "#panel", "#player"):
        assert page.locator(part).bounding_box()["width"] == width


def test_so_it_does_on_a_large_screen_that_is_touched(open_page: Open) -> None:
    page = open_page(page_of("attention"), has_touch=True, is_mobile=True)
    until(page, "matchMedia('(pointer: coarse)').matches", True)
    for button in page.locator("#player button").all():
        area = button.bounding_box()
        assert min(area["width"], area["height"]) >= FINGER
