"""A browser, and pages opened in it from a file: Chromium, or Firefox if the environment asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad import viz

BROWSER = os.environ.get("MINIGRAD_BROWSER", "chromium")
"""Which browser the tests open: chromium or firefox."""

NO_SCRIPTS = "scripts cannot be switched off"
NO_FILES = "the driver does not tell of downloads of what a page made"
NO_DOUBLE = "the driver makes two single clicks of a double click"
NOT_IN_FIREFOX = {
    "test_the_script_draws_what_python_drew": NO_SCRIPTS,
    "test_without_a_script_the_picture_and_the_table_remain": NO_SCRIPTS,
    "test_without_a_script_all_of_it_is_there": NO_SCRIPTS,
    "test_opening_and_closing_is_python_s_layout": NO_DOUBLE,
    "test_a_fused_op_is_one_step_that_opens": NO_DOUBLE,
    "test_progress_is_saved_and_loaded": NO_FILES,
    "test_an_svg_stands_by_itself": NO_FILES,
    "test_it_shows_what_is_seen": NO_FILES,
    "test_a_png_has_two_pixels_for_each": NO_FILES,
    "test_paper_has_the_picture_and_every_step": "it cannot show a page as on paper",
}
"""What Playwright's driver of an installed Firefox cannot do, by the name of the test."""

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from browsers import launched

    with launched(BROWSER) as running:
        yield running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items if BROWSER == "firefox" else ():
        reason = NOT_IN_FIREFOX.get(item.name.partition("[")[0])
        if reason is not None and item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.skip(reason=reason))


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
