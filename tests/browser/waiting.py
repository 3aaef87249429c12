"""Waiting for what a page shows: who reads it once may read it before it is there."""

import re
import time
from collections.abc import Callable
from typing import Any

SECONDS = 30
"""How long a state may take: it is there at once, but for a busy machine."""

Open = Callable[..., Any]
"""What opens a page: the fixture `open_page`."""

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


PIXELS = """async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const drawn = new OffscreenCanvas(image.width, image.height).getContext("2d");
    drawn.drawImage(image, 0, 0);
    const { data } = drawn.getImageData(0, 0, image.width, image.height);
    return [image.height, image.width, [...data]];
}"""
"""Of the picture at an address: rows, columns, and four numbers for each pixel."""


def expect(what: Any) -> Any:
    """Playwright's assertions of a locator or page, which wait until they hold."""
    from playwright.sync_api import expect

    return expect(what)


def expect_status(page: Any, text: Any) -> None:
    """Wait until the explorer page says at which step it is."""
    expect(page.locator("#status")).to_have_text(text)


def expect_shown(page: Any, shown: dict[str, Any]) -> None:
    """Wait for what elements show, by selector.

    How many there are, a part of their text or several, a pattern of all of it, or a list of texts.
    """
    for selector, what in shown.items():
        found = expect(page.locator(selector))
        if isinstance(what, int):
            found.to_have_count(what)
        elif isinstance(what, list | re.Pattern):
            found.to_have_text(what)
        else:
            for part in (what,) if isinstance(what, str) else what:
                found.to_contain_text(part)


def until(page: Any, script: str, wanted: Any, arg: Any = None, seconds: float = SECONDS) -> None:
    """Evaluate a script in a page again and again, until it gives what is wanted."""
    end = time.monotonic() + seconds
    while (found := page.evaluate(script, arg)) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert found == wanted


def complain_of(page: Any, complain: Callable[[str], Any], known: Callable[[str], bool]) -> None:
    """Complain of what a page writes to its console, of errors, and of unknown addresses."""
    page.on("console", lambda message: complain(message.text))
    page.on("pageerror", lambda error: complain(str(error)))
    page.on("request", lambda asked: None if known(asked.url) else complain(asked.url))


def axe(page: Any, **options: Any) -> Any:
    """What axe says of a page."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe().run(page, **options)


def press(page: Any, *keys: str, words: str = "") -> None:
    """Press keys one after another; with words, what is typed into the search before them."""
    if words:
        page.keyboard.press("/")
        page.keyboard.type(words)
    for key in keys:
        page.keyboard.press(key)
