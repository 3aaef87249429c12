"""Waiting for what a page shows: who reads it once may read it before it is there."""

from __future__ import annotations

import time
from typing import Any

__all__ = ["SECONDS", "expect", "until"]

SECONDS = 30
"""How long a state may take: it is there at once, but for a busy machine."""


def expect(what: Any) -> Any:
    """Playwright's assertions of a locator or page, which wait until they hold."""
    from playwright.sync_api import expect

    return expect(what)


def until(page: Any, script: str, wanted: Any, arg: Any = None) -> None:
    """Evaluate a script in a page again and again, until it gives what is wanted."""
    end = time.monotonic() + SECONDS
    while (found := page.evaluate(script, arg)) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert found == wanted
