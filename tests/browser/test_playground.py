"""The site in a browser: a real Pyodide, a local server, and what a newcomer does."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad.learn import grading
from minigrad.learn.exercise import exercise

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv/pyodide"
DOCS = ROOT / "docs/_build"
PAGE = "playground/index.html"

pytestmark = [
    pytest.mark.needs("chromium", "playwright", "axe_playwright_python", "npm"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all workers."""
    if not [*PYODIDE.glob("numpy*.whl")]:
        pytest.skip("needs Pyodide: make test downloads it where there is a network")
    if not (DOCS / "index.html").exists():
        pytest.skip("needs the documentation: make docs")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    out = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "built").exists():
            command = [sys.executable, ROOT / "site/build.py", "--out", out, "--docs", DOCS]
            subprocess.run([*command, "--pyodide", PYODIDE], check=True, capture_output=True)
            (out / "built").touch()
    return out


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    from browsers import served

    with served(folder) as found:
        yield found


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Any]:
    """Opens pages; at the end, fails if a page complained or asked another host."""
    complaints: list[str] = []
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
    )

    context.set_default_timeout(90_000)

    def opened(path: str, wait_for: str = ".cm-content") -> Any:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((address, "blob:", "data:", "about:"))
                else complaints.append(request.url)
            ),
        )
        page.goto(f"{address}/{path}")
        page.wait_for_selector(wait_for)
        return page

    yield opened
    context.close()
    # No favicon; a frame that tries to reach the page; calls that are nested too deeply.
    expected = ("404", "cross-origin", "Pyodide has suffered", "The cause of the fatal error")
    expected += ("Maximum call stack", "Stack (most recent call first)", "  File ")
    unknown = [text for text in complaints if not any(part in text for part in expected)]
    assert not {*unknown} - {"Error"}  # what Firefox writes of an Error of Pyodide's


def write(page: Any, code: str) -> None:
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(code)


def finish(page: Any, start: Callable[[], Any]) -> str:
    """Start something, and wait until it has ended; what is printed."""
    before = page.evaluate("Number(document.body.dataset.finished ?? 0)")
    start()
    page.wait_for_function("before => document.body.dataset.finished > before", arg=before)
    text: str = page.evaluate("document.getElementById('output').textContent")
    return text


def run(page: Any, button: str = "#run") -> str:
    return finish(page, lambda: page.click(button))


def test_a_newcomer(tab: Any) -> None:
    """Runs an example, makes a mistake, stops a loop, and shares a link."""
    page = tab("index.html", ".sidebar-tree")
    page.get_by_role("link", name="Playground").click()
    page.wait_for_selector(".cm-content")
    assert "by autograd  4.75" in run(page)
    page.click("#tab-graph")
    assert page.locator("#graph img").evaluate("image => image.naturalWidth") > 100
    page.select_option("#examples", "attention")
    assert run(page) == ""
    frame = page.frame_locator("#steps iframe")
    assert frame.locator("h1").inner_text() == "MultiHeadAttention"

    write(page, "import minigrad\nx = minigrad.ones(2, 3)\nx @ x\n")
    failed = finish(page, lambda: page.keyboard.press("Control+Enter"))
    assert "Line 3: ValueError: matmul: (2, 3) @ (2, 3)" in failed
    assert page.locator(".cm-lint-marker-error").count() == 1

    write(page, "print('on')\nwhile True:\n    pass\n")
    page.click("#run")
    page.wait_for_function("document.getElementById('output').textContent.includes('on')")
    assert "Stopped." in run(page, "#stop")
    write(page, "print(6 * 7)\n")
    assert run(page) == "42\n", "the worker that was kept warm goes on"

    deep = "import json\njson.loads('[' * 100_000)\n"
    write(page, deep)
    assert "Python has ended" in run(page) or "RecursionError" in run(page)
    write(page, "print(6 * 7)\n")
    assert run(page) == "42\n", "a new one takes its place"

    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#code=')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    other = tab(page.url.partition("/playground/")[2].join(["playground/", ""]))
    assert other.locator(".cm-content").inner_text().strip() == "print(6 * 7)"


def test_an_exercise_is_solved(tab: Any) -> None:
    page = tab(PAGE)
    page.select_option("#exercises", "7")
    assert "?exercise=7" in page.url
    assert "A gap is still open" in run(page, "#check")
    page.click("#hint")
    assert page.locator("#hints p").count() == 1
    solution = exercise(7).solution
    write(page, solution.replace("g @ b.T", "g @ b"))
    assert "not yet" in run(page, "#check")
    write(page, solution)
    assert "right." in run(page, "#check")
    assert page.locator("#graph img").count() == 1
    page.click("#next")
    assert "?exercise=8" in page.url
    page.select_option("#exercises", "7")
    page.reload()
    page.wait_for_selector(".cm-content")
    assert "7 matmul ✓" in page.locator("#title").inner_text()
    assert "g @ b.T" in page.locator(".cm-content").inner_text()


def test_progress_is_saved_and_loaded(tab: Any, tmp_path: Path) -> None:
    page = tab(f"{PAGE}?exercise=7")
    page.click("#hint")
    for answer in (exercise(7).skeleton, exercise(7).solution):
        write(page, answer)
        run(page, "#check")
    with page.expect_download() as download:
        page.click("#save")
    file = tmp_path / "exercises.json"
    download.value.save_as(file)
    (grade,) = grading.grades(file)
    assert grade[:3] == (7, True, True)
    assert (grade.checks, grade.hints) == (2, 1)
    page.evaluate("localStorage.clear()")
    page.reload()
    page.wait_for_selector(".cm-content")
    assert "✓" not in page.locator("#title").inner_text()
    page.set_input_files("#load", file)
    page.wait_for_function("document.getElementById('title').textContent.includes('✓')")


def test_the_curves_of_a_training_move_in_one_figure(tab: Any) -> None:
    page = tab(PAGE)
    code = """import time
from minigrad import nn, ones
from minigrad.debugging import Statistics
model = nn.Linear(2, 1)
with Statistics(model, live=True) as statistics:
    for step in range(3):
        model(ones(1, 2)).sum().backward()
        statistics.step(step)
        time.sleep(0.6)
"""
    page.evaluate(
        "new MutationObserver(changes => window.moved = (window.moved ?? 0) + changes.length)"
        ".observe(document.getElementById('figures'), {subtree: true, attributeFilter: ['src']})"
    )
    write(page, code)
    assert run(page) == ""
    assert page.locator("#figures img").count() == 1
    assert page.evaluate("window.moved") >= 3
    assert page.locator("#figures img").evaluate("image => image.naturalWidth") == 340


def test_what_a_program_shows_cannot_reach_the_page(tab: Any) -> None:
    page = tab(PAGE)
    code = """class Bad:
    def _repr_html_(self):
        return "<script>parent.document.title = 'taken'; top.taken = 1</script><p>shown</p>"
Bad()
"""
    write(page, code)
    run(page)
    frame = page.frame_locator("#figures iframe")
    assert frame.locator("p").inner_text() == "shown"
    assert page.title() == "minigrad: the playground"
    assert page.evaluate("window.taken") is None


def test_a_chapter_of_the_guide_runs(tab: Any) -> None:
    page = tab("guide/multiplication.html", ".run-bar")
    bars = page.locator(".run-bar")
    assert bars.count() == 6
    last = page.locator(".run-output").nth(5)
    bars.nth(5).locator("button").first.click()
    page.wait_for_function("!document.querySelector('button.run-block').disabled")
    assert last.inner_text().strip() == "(4.0, 2.0)"
    bars.nth(2).locator("button").first.click()
    page.wait_for_function("!document.querySelector('button.run-block').disabled")
    assert page.locator(".run-output").nth(2).locator("img").count() == 1
    with page.context.expect_page() as opened:
        bars.nth(1).locator("button").nth(1).click()
    playground = opened.value
    playground.wait_for_selector(".cm-content")
    assert ">>>" not in playground.locator(".cm-content").inner_text()
    assert run(playground) != ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_and_phones(browser: Any, address: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    for asked in ("?example=slope", "?exercise=1"):
        page.goto(f"{address}/{PAGE}{asked}")
        page.wait_for_selector(".cm-content")
        found = Axe().run(page).response["violations"]
        assert not found, [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Tab")
    context.close()


def test_every_file_of_pyodide_is_checked(browser: Any, address: str) -> None:
    """A file that was changed on the way is refused, and the page says so."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/python_stdlib.zip", lambda route: route.fulfill(body=b"changed"))
    page.goto(f"{address}/{PAGE}")
    page.wait_for_selector(".cm-content")
    page.click("#run")
    page.wait_for_function(
        "document.getElementById('output').textContent.length > 0", timeout=90_000
    )
    said = page.evaluate("document.getElementById('output').textContent")
    assert "python_stdlib.zip cannot be loaded, or is not the file" in said
    context.close()


def test_what_the_page_of_steps_cannot_compute_is_run_again_by_python(tab: Any) -> None:
    page = tab(PAGE)
    write(
        page,
        "import minigrad\nfrom minigrad import viz\nx = minigrad.tensor([[2.0, 0.0], [0.0, 4.0]])\n"
        "viz.explore(minigrad.linalg.inv, x)",
    )
    run(page)
    page.click("#tab-steps")
    steps = page.frame_locator("#steps iframe")
    steps.locator('.box.input[role="button"]').first.click()
    steps.locator("#box td").first.click()
    field = steps.locator("#box .whatif input").first
    field.fill("8")
    finish(page, lambda: steps.get_by_role("button", name="Run it again with this").click())
    steps.locator('.box.op[role="button"]').first.click()
    assert steps.locator("#box td").first.inner_text() == "0.125"
