"""Waiting for what a page shows: who reads it once may read it before it is there."""

from __future__ import annotations

import time
from typing import Any

import pytest

__all__ = ["expect", "until"]

expect = pytest.importorskip("playwright.sync_api").expect

SECONDS = 30


def until(page: Any, script: str, wanted: Any, arg: Any = None) -> None:
    """Evaluate a script in a page again and again, until it gives what is wanted."""
    end = time.monotonic() + SECONDS
    while (found := page.evaluate(script, arg)) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert found == wanted
