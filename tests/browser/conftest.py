"""A browser, and pages opened in it from a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad import viz

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a graph; at the end, fail if anything was loaded, or complained of."""
    contexts = []
    complaints: list[str] = []

    def opened(
        graph: viz.Graph | str, address: str = "", unpacked: bool = True, **options: Any
    ) -> Any:
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(graph if isinstance(graph, str) else graph.to_html(), encoding="utf-8")
        given = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
        given |= options
        context = browser.new_context(**given)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.split("#")[0] == file.as_uri() or request.url.startswith("data:")
                else complaints.append(request.url)
            ),
        )
        page.goto(file.as_uri() + address)
        scripted = given.get("java_script_enabled", True) and page.locator("#data").count()
        if scripted and unpacked:
            page.wait_for_selector("html.scripted")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
