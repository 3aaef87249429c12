"""The site in a browser: a real Pyodide, a local server, and what a newcomer does."""

import base64
import fcntl
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.waiting import DESK, PHONE, axe, complain_of, expect, until
from minigrad.learn import grading
from minigrad.learn.statement import exercise, exercises

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv/pyodide"
DOCS = ROOT / "docs/_build"
PAGE = "playground/index.html"
READY = "body:not([inert]) .cm-content"
"""Of the playground, when a button that is pressed does something."""

pytestmark = [
    pytest.mark.needs("chromium", "playwright", "axe_playwright_python", "npm"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all workers."""
    if not [*PYODIDE.glob("numpy*.whl")]:
        pytest.skip("needs Pyodide: make pyodide downloads it where there is a network")
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


class Tabs:
    """The tabs of one reader, and what they complained of or asked of another host."""

    def __init__(self, browser: Any, address: str) -> None:
        self.address = address
        self.complaints: list[str] = []
        self.playground: Any = None
        clipboard = ["clipboard-read", "clipboard-write"]
        self.context = browser.new_context(viewport=DESK, permissions=clipboard)
        self.context.set_default_timeout(90_000)

    def open(self, path: str, wait_for: str = READY) -> Any:
        page, ours = self.context.new_page(), (self.address, "blob:", "data:", "about:")
        complain_of(page, self.complaints.append, lambda url: url.startswith(ours))
        page.goto(f"{self.address}/{path}")
        page.wait_for_selector(wait_for)
        return page

    def check(self) -> None:
        """Fail if a page complained."""
        # No favicon; a frame that tries to reach the page; calls that are nested too deeply.
        expected = ("404", "cross-origin", "Pyodide has suffered", "The cause of the fatal error")
        expected += ("Maximum call stack", "Stack (most recent call first)", "  File ")
        unknown = [text for text in self.complaints if not any(part in text for part in expected)]
        self.complaints.clear()
        assert not {*unknown} - {"Error"}  # what Firefox writes of an Error of Pyodide's


@pytest.fixture(scope="module")
def tabs(browser: Any, address: str) -> Iterator[Tabs]:
    opened = Tabs(browser, address)
    yield opened
    opened.context.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, tabs: Tabs) -> Iterator[Any]:
    """The playground, opened as a newcomer does, and then one for all tests: Python loads once.

    Each test begins with the first example, and with nothing that was kept.
    """
    failed = request.session.testsfailed
    if tabs.playground is None:
        tabs.playground = tabs.open("index.html", ".sidebar-tree")
        tabs.playground.get_by_role("link", name="Playground").click()
        tabs.playground.wait_for_selector(READY)
    page = tabs.playground
    page.select_option("#examples", "slope")
    page.evaluate("localStorage.clear(); dispatchEvent(new StorageEvent('storage', {key: null}))")
    yield page
    if request.session.testsfailed > failed:  # a program may still run
        page.close()
        tabs.playground = None
    for other in tabs.context.pages:
        if other is not tabs.playground:
            other.close()
    tabs.check()


def holds(page: Any, condition: str) -> None:
    """Wait until a condition holds; Playwright's own wait needs what the page's policy forbids."""
    until(page, f"Boolean({condition})", True, seconds=90)


def write(page: Any, code: str) -> None:
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)  # one change, which one undo takes back


def finish(page: Any, start: Callable[[], Any]) -> str:
    """Start something, and wait until it has ended; what is printed."""
    page.evaluate("delete document.body.dataset.finished")
    start()
    holds(page, "document.body.dataset.finished")
    text: str = page.evaluate("document.getElementById('output').textContent")
    return text


def run(page: Any, button: str = "#run", code: str = "") -> str:
    """Press a button, with new code if some is given; what is printed."""
    if code:
        write(page, code)
    return finish(page, lambda: page.click(button))


SIX = "print(6 * 7)\n"


def test_a_newcomer(page: Any, tabs: Tabs) -> None:
    """Runs an example, makes a mistake, stops a loop, and shares a link."""
    assert "by autograd  4.75" in run(page)
    page.click("#tab-graph")
    holds(page, "document.querySelector('#graph img')?.naturalWidth > 100")
    page.select_option("#examples", "attention")
    assert run(page) == ""
    frame = page.frame_locator("#steps iframe")
    expect(frame.locator("h1")).to_have_text("MultiHeadAttention")

    write(page, "import minigrad\nx = minigrad.ones(2, 3)\nx @ x\n")
    failed = finish(page, lambda: page.keyboard.press("Control+Enter"))
    assert "Line 3: ValueError: matmul: (2, 3) @ (2, 3)" in failed
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)

    write(page, "print('on')\nwhile True:\n    pass\n")
    page.click("#run")
    holds(page, "document.getElementById('output').textContent.includes('on')")
    assert "Stopped." in run(page, "#stop")
    assert run(page, code=SIX) == "42\n", "the worker that was kept warm goes on"

    deep = run(page, code="import json\njson.loads('[' * 100_000)\n")
    assert "Python has ended" in deep or "RecursionError" in run(page)
    assert run(page, code=SIX) == "42\n", "a new one takes its place"

    page.click("#share")
    holds(page, "location.hash.startsWith('#code=')")
    shared = page.evaluate("location.href")
    until(page, "navigator.clipboard.readText()", shared)
    other = tabs.open(shared.removeprefix(f"{tabs.address}/"))
    expect(other.locator(".cm-content")).to_have_text("print(6 * 7)")


def test_an_exercise_is_solved(page: Any, tabs: Tabs) -> None:
    page.select_option("#exercises", "7")
    expect(page).to_have_url(re.compile(r"\?exercise=7$"))
    assert "A gap is still open" in run(page, "#check")
    page.click("#hint")
    expect(page.locator("#hints p")).to_have_count(1)
    solution = exercise(7).solution
    assert "not yet" in run(page, "#check", solution.replace("g @ b.T", "g @ b"))
    assert "right." in run(page, "#check", solution)
    expect(page.locator("#graph img")).to_have_count(1)
    page.click("#next")
    expect(page).to_have_url(re.compile(r"\?exercise=8$"))
    page.go_back()
    expect(page.locator("#title")).to_have_text("7 matmul ✓")
    again = tabs.open(f"{PAGE}?exercise=7")
    expect(again.locator("#title")).to_contain_text("7 matmul ✓")
    expect(again.locator(".cm-content")).to_contain_text("g @ b.T")


def test_progress_is_saved_and_loaded(page: Any, tabs: Tabs, tmp_path: Path) -> None:
    page.select_option("#exercises", "7")
    page.click("#hint")
    for answer in (exercise(7).skeleton, exercise(7).solution):
        run(page, "#check", answer)
    with page.expect_download() as download:
        page.click("#save")
    file = tmp_path / "exercises.json"
    download.value.save_as(file)
    (grade,) = grading.grades(file)
    assert grade[:3] == (7, True, True)
    assert (grade.checks, grade.hints) == (2, 1)
    page.evaluate("localStorage.clear()")
    other = tabs.open(f"{PAGE}?exercise=7")
    expect(other.locator("#title")).to_have_text("7 matmul")
    other.set_input_files("#load", file)
    expect(other.locator("#title")).to_have_text("7 matmul ✓")
    content = json.loads(file.read_text(encoding="utf-8"))
    content["exercises"]["7"]["code"] = 7
    file.write_text(json.dumps(content), encoding="utf-8")
    other.set_input_files("#load", file)
    said = "The file was not loaded: exercise 7 cannot be read"
    expect(other.locator("#status")).to_have_text(said)


SLOW = "import time\ntime.sleep(1.5)\nraise NotImplementedError\n"


def test_nothing_that_a_student_has_written_is_lost(page: Any, tabs: Tabs) -> None:
    """Undo, another exercise while a check runs, two tabs, Back, a program of one's own, reload."""
    text, title = page.locator(".cm-content"), page.locator("#title")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.select_option("#exercises", "7")
    write(page, "seven = 7")
    page.select_option("#exercises", "8")
    page.click(".cm-content")
    page.keyboard.press("Control+z")
    expect(text).not_to_contain_text("seven")
    page.go_back()
    expect(text).to_have_text("seven = 7")
    page.click(".cm-content")
    page.keyboard.press("Control+z")
    expect(text).to_contain_text("raise NotImplementedError")

    page.evaluate("delete document.body.dataset.finished")
    write(page, SLOW)
    page.click("#check")
    page.select_option("#exercises", "5")
    holds(page, "document.body.dataset.finished")
    expect(title).to_have_text("5 a scalar engine in 60 lines")
    expect(text).to_contain_text("class Value")
    stored = "JSON.parse(localStorage.getItem('minigrad exercise {}'))?.checks.length"
    until(page, stored.format(7), 1)
    until(page, stored.format(5), None)

    other = tabs.open(f"{PAGE}?exercise=7")
    assert "right." in run(other, "#check", exercise(7).solution)
    page.select_option("#exercises", "7")
    expect(title).to_have_text("7 matmul ✓")
    page.click("#hint")
    until(page, stored.format(7), 2)
    page.click("#again")
    expect(text).to_contain_text("raise NotImplementedError")
    assert len(asked) == 1

    page.select_option("#examples", "slope")
    write(page, "mine = 1")
    page.select_option("#examples", "attention")
    expect(text).not_to_contain_text("mine")
    page.go_back()
    expect(text).to_have_text("mine = 1")
    page.reload()
    page.wait_for_selector(READY)
    expect(text).to_have_text("mine = 1")
    page.click("#original")
    expect(text).to_contain_text("autograd")

    page.goto(f"{tabs.address}/{PAGE}?exercise=99")
    expect(page.locator("#status")).to_have_text("There is no exercise 99.")
    page.wait_for_selector(READY)


def test_next_follows_the_path(page: Any) -> None:
    """And a storage that is full is told of."""
    known = {"code": "", "hints": 0, "done": True, "checks": []}
    page.evaluate(
        "known => { for (let n = 1; n <= 32; n++)"
        " localStorage.setItem(`minigrad exercise ${n}`, JSON.stringify(known)) }",
        known,
    )
    page.reload()
    page.wait_for_selector(READY)
    page.select_option("#exercises", "1")
    for number in [*exercises()][1:]:
        page.click("#next")
        expect(page).to_have_url(re.compile(rf"\?exercise={number}$"))
    expect(page.locator("#next")).to_be_hidden()
    page.evaluate("void (Storage.prototype.setItem = () => { throw new Error('full') })")
    write(page, "kept = 1")
    expect(page.locator("#status")).to_contain_text("keeps nothing, or its storage is full")
    page.reload()
    page.wait_for_selector(READY)


FLOODS = [
    "while True:\n    print(1)", "while True:\n    print('x' * 10**6)",
    "import sys\nwhile True:\n    print(1)\n    print(2, file=sys.stderr)",
    "from minigrad import viz, ones\nx = viz.graph(ones(2, requires_grad=True) * 2)\n"
    "print('x' * 600)\nwhile True:\n    display(x)",
]  # fmt: skip
STRANGE = """js.postMessage
js.indexedDB
js.caches
js.Worker.new("data:text/javascript,0")
js.BroadcastChannel.new("x")
js.localStorage
js.document
js.parent
js.importScripts("https://example.org/x.js")
js.WebSocket.new("wss://example.org").then
js.setInterval(js.eval("() => 0"), 1)
import minigrad.learn.running as r; r.run_text = lambda *a: 1 / 0
import minigrad; minigrad.tensor = None
import builtins; builtins.open = None
import socket; socket.create_connection(("example.org", 80))
import urllib.request; urllib.request.urlopen("https://example.org")
import subprocess; subprocess.run(["ls"])
import threading; threading.Thread(target=print).start()
request = js.XMLHttpRequest.new(); request.open("GET", "https://example.org", False); request.send()
js.EventSource.new("https://example.org")
js.fetch("https://example.org/answer")
js.self.fetch("https://example.org")
js.eval("fetch('https://example.org')")
js.navigator.sendBeacon("https://example.org", "x")
x = [0] * 10**9
open("/home/x", "w").write("x" * 10**6)
import sys; sys.modules.clear()
exit(3)
raise KeyboardInterrupt"""
ENDS = ["import os; os.abort()", "def f(): f()\nf()", "import ctypes; ctypes.string_at(0)",
        "import sys; sys.stdout = None", "import js; js.close()"]  # fmt: skip
FRAME = """class Bad:
    def _repr_html_(self):
        return '''<p>shown</p><script>
const tell = (what) => document.querySelector("p").textContent += " " + what;
for (const one of [() => parent.document.title = "taken", () => localStorage.x, () => eval("1"),
  () => open("https://example.org").name]) try { one(); tell("did") } catch { tell("not") }
fetch("https://example.org").then(() => tell("did"), () => tell("not"));
const link = document.createElement("a");
link.href = "data:text/plain,x";
link.download = "x.txt";
link.click();
</script>'''
Bad()
"""


def test_programs_of_strangers(page: Any, tabs: Tabs) -> None:
    """Floods can be stopped, nothing leaves, and nothing of a program is there for the next."""
    for flood in FLOODS:
        write(page, flood)
        page.click("#run")
        holds(page, "document.getElementById('output').textContent.length > 500")
        assert "Stopped." in run(page, "#stop")
        assert len(page.evaluate("document.getElementById('output').textContent")) < 500_000
    sent: list[str] = []
    tabs.context.on("response", lambda response: sent.append(response.url))
    program = f"import js\nfor line in {STRANGE.splitlines()!r}:\n    try:\n"
    program += "        exec(line)\n        print('ran', line)\n"
    program += (
        "    except BaseException as error:\n        print('failed', line, repr(error)[:99])\n"
    )
    lines = run(page, code=program).splitlines()
    assert len(lines) == len(STRANGE.splitlines()), lines
    assert sum(line.startswith("failed") for line in lines) > 14, lines
    for code in ENDS:
        write(page, code)
        page.click("#run")
        page.wait_for_timeout(3000)
        # `close` ends a worker without a word; others may end just now, when a click does nothing.
        page.evaluate("document.getElementById('stop').click()")
        page.wait_for_selector("#run:enabled")
    assert run(page, code=SIX) == "42\n"
    page.wait_for_timeout(500)
    assert not [url for url in sent if "example.org" in url], sent
    tabs.complaints.clear()  # of what the policy refused

    run(page, code=FRAME)
    frame = page.frame_locator("#figures iframe")
    expect(frame.locator("p")).to_have_text("shown not not not not not")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save x.txt").click()
    assert download.value.suggested_filename == "x.txt"
    expect(page).to_have_title("minigrad: the playground")

    page.select_option("#exercises", "7")
    spoiled = (
        "import minigrad.learn.answer as a\na.Answer.compare = lambda *args, **options: None\n"
    )
    run(page, "#check", spoiled + exercise(7).solution)
    assert "A gap is still open" in run(page, "#check", exercise(7).skeleton)
    tabs.complaints.clear()


def test_a_link_is_not_unpacked_without_bound(page: Any, tabs: Tabs) -> None:
    squeezer = zlib.compressobj(9, wbits=-15)
    large = squeezer.compress(b" " * 10**8) + squeezer.flush()
    code = base64.urlsafe_b64encode(large).decode().rstrip("=")
    page.evaluate("(code) => { location.hash = `code=${code}` }", code)
    expect(page.locator("#status")).to_have_text(re.compile("damaged: the program is too large"))
    page.goto(f"{tabs.address}/{PAGE}")
    page.wait_for_selector(READY)


TRAINING = """import time
from minigrad import nn, ones
from minigrad.debugging import Statistics
model = nn.Linear(2, 1)
with Statistics(model, live=True) as statistics:
    for step in range(3):
        model(ones(1, 2)).sum().backward()
        statistics.step(step)
        time.sleep(0.6)
"""


def test_the_curves_of_a_training_move_in_one_figure(page: Any) -> None:
    page.evaluate(
        "new MutationObserver(changes => window.moved = (window.moved ?? 0) + changes.length)"
        ".observe(document.getElementById('figures'), {subtree: true, attributeFilter: ['src']})"
    )
    assert run(page, code=TRAINING) == ""
    expect(page.locator("#figures img")).to_have_count(1)
    holds(page, "window.moved >= 3")
    until(page, "document.querySelector('#figures img').naturalWidth", 340)


def test_a_chapter_of_the_guide_runs(page: Any, tabs: Tabs) -> None:
    """And its blocks can be opened in the playground, of another tab or this one."""
    chapter = tabs.open("guide/multiplication.html", ".run-bar")
    bars, outputs = chapter.locator(".run-bar"), chapter.locator(".run-output")
    expect(bars).to_have_count(6)
    waiting = {"timeout": 90_000}
    bars.nth(5).locator("button").first.click()
    expect(outputs.nth(5)).to_have_text("(4.0, 2.0)", **waiting)
    bars.nth(2).locator("button").first.click()
    expect(outputs.nth(2).locator("img")).to_have_count(1, **waiting)
    with chapter.context.expect_page() as opened:
        bars.nth(1).locator("button").nth(1).click()
    other = opened.value
    expect(other.locator(".cm-content")).to_contain_text("minigrad")
    expect(other.locator(".cm-content")).not_to_contain_text(">>>")
    last = other.locator(".cm-line").last.inner_text()
    page.evaluate("(address) => { location.hash = new URL(address).hash }", other.url)
    expect(page.locator(".cm-line").last).to_have_text(last)
    assert run(page) != ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_and_phones(browser: Any, address: str, scheme: str) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme=scheme)
    page = context.new_page()
    for asked in ("?example=slope", "?exercise=1"):
        page.goto(f"{address}/{PAGE}{asked}")
        page.wait_for_selector(READY)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        found = axe(page).response["violations"]
        assert not found, [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
    context.close()


def test_every_file_of_pyodide_is_checked(browser: Any, address: str) -> None:
    """A file that was changed on the way is refused, and the page says so."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/python_stdlib.zip", lambda route: route.fulfill(body=b"changed"))
    page.goto(f"{address}/{PAGE}")
    page.wait_for_selector(READY)
    page.click("#run")
    refusal = "python_stdlib.zip cannot be loaded, or is not the file"
    expect(page.locator("#output")).to_contain_text(refusal, timeout=90_000)
    context.close()
