"""A browser, and pages opened in it from a file."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.waiting import DESK, SECONDS, Open, complain_of
from minigrad import viz


@pytest.fixture(scope="package")
def driver() -> Iterator[Any]:
    """Playwright, whose waits have time enough for a busy machine."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * SECONDS)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(driver: Any) -> Iterator[Any]:
    """One browser for all tests of a worker."""
    from browsers import launched

    with launched(driver) as running:
        yield running


class Pages:
    """Pages of a browser, each used by one test after another.

    To open one takes four times as long as to show another file in it. What `explore` writes stores
    nothing in the browser, so nothing of one test is left for the next.
    """

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.free: dict[str, list[Any]] = defaultdict(list)  # by the options of their contexts
        self.files: list[str] = []
        self.complaints: list[str] = []

    def new(self, options: dict[str, Any]) -> Any:
        """A page that tells of what it loads, other than the files, and complains of."""

        def known(url: str) -> bool:
            return url.startswith("data:") or url.split("#")[0] in ("about:blank", *self.files)

        page, complain = self.browser.new_context(**options).new_page(), self.complaints.append
        page.on("dialog", lambda dialog: (complain(dialog.message), dialog.dismiss()))
        complain_of(page, complain, known)
        return page


@pytest.fixture(scope="package")
def shared_pages(browser: Any) -> Pages:
    return Pages(browser)


@pytest.fixture
def open_page(request: Any, shared_pages: Pages, tmp_path: Path) -> Iterator[Open]:
    """Open a graph; at the end, fail if anything was loaded, or complained of."""
    taken: list[tuple[str, Any]] = []
    pages = shared_pages
    pages.files.clear()
    pages.complaints.clear()
    failed = request.session.testsfailed

    def opened(
        graph: viz.Graph | str, address: str = "", page: Any = None, unpacked: bool = True,
        viewport: Any = DESK, **options: Any,
    ) -> Any:  # fmt: skip
        """A page that shows a graph: one more, or a page of this test that shows another."""
        file = tmp_path / f"page{len(pages.files)}.html"
        text = graph if isinstance(graph, str) else graph.to_html()
        file.write_text(text, encoding="utf-8")
        pages.files.append(file.as_uri())
        if page is None:
            options = {"reduced_motion": "reduce", **options}
            key = json.dumps(options, sort_keys=True)
            page = pages.free[key].pop() if pages.free[key] else pages.new(options)
            taken.append((key, page))
        page.set_viewport_size(viewport)
        page.goto(file.as_uri() + address)
        scripted = options.get("java_script_enabled", True) and 'id="data"' in text
        if scripted and unpacked:
            page.wait_for_selector("html.scripted")
        return page

    yield opened
    for key, page in taken:
        if request.session.testsfailed > failed:  # it may be in any state
            page.context.close()
        else:
            page.mouse.move(0, 0)
            page.goto("about:blank")
            pages.free[key].append(page)
    assert not pages.complaints
