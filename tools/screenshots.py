"""Take a screenshot of every view of the site: light, dark, and on a phone. Then look at them.

    python tools/screenshots.py FOLDER
    python tools/screenshots.py FOLDER --browser firefox --only playground

It needs the site: `make site PYODIDE=.venv/pyodide`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browsers import launched, served
from playwright.sync_api import sync_playwright

from minigrad.learn.statement import exercise

SITE = Path(__file__).resolve().parent.parent / "site" / "build"
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESK, "color_scheme": "light"},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "has_touch": True},
}
ATTENTION = "gallery/multi_head_attention.html"
WRONG = exercise(7).solution.replace("g @ b.T", "g @ b")

Act = Callable[[Any], None]


def finished(page: Any, button: str) -> None:
    """Press a button that runs something, and wait for its end."""
    before = page.evaluate("Number(document.body.dataset.finished ?? 0)")
    page.click(button)
    page.wait_for_function("before => document.body.dataset.finished > before", arg=before)


def ran(code: str = "", button: str = "#run", tab: str = "") -> Act:
    """Write a program, if any, run it, and open a tab."""

    def act(page: Any) -> None:
        page.wait_for_selector("body:not([inert])")
        if code:
            page.click(".cm-content")
            page.keyboard.press("Control+a")
            page.keyboard.press("Delete")
            page.keyboard.insert_text(code)
        finished(page, button)
        if tab:
            page.click(f"#tab-{tab}")
        page.wait_for_timeout(500)  # pictures and frames load

    return act


def block_ran(page: Any) -> None:
    """Run the third block of a chapter."""
    bar = page.locator(".run-bar").nth(2)
    bar.locator("button").first.click()
    page.wait_for_function("!document.querySelector('button.run-block').disabled")
    bar.scroll_into_view_if_needed()


def script_ran(page: Any) -> None:
    page.wait_for_selector("html.scripted")


VIEWS: dict[str, tuple[str, Act | None]] = {
    "docs_first": ("index.html", None),
    "docs_gallery": ("gallery.html", None),
    "docs_guide": ("guide/multiplication.html", block_ran),
    "docs_api": ("api/viz.html", None),
    "page_step": (f"{ATTENTION}#step=5", script_ran),
    "page_box": (f"{ATTENTION}#box=MultiHeadAttention/q_proj", script_ran),
    "page_guide": (ATTENTION, script_ran),
    "page_ranks": ("gallery/several_ranks.html#step=13", script_ran),
    "playground_first": ("playground/index.html", None),
    "playground_printed": ("playground/index.html", ran()),
    "playground_graph": ("playground/index.html", ran(tab="graph")),
    "playground_steps": ("playground/index.html?example=attention", ran(tab="steps")),
    "playground_figures": ("playground/index.html?example=two_moons", ran(tab="figures")),
    "playground_empty": ("playground/index.html", ran("print(1)\n", tab="figures")),
    "playground_error": (
        "playground/index.html", ran("import minigrad\nx = minigrad.ones(2, 3)\nx @ x\n"),
    ),
    "exercise_first": ("playground/index.html?exercise=7", None),
    "exercise_gap": ("playground/index.html?exercise=7", ran(button="#check")),
    "exercise_failed": ("playground/index.html?exercise=7", ran(WRONG, "#check")),
    "exercise_passed": ("playground/index.html?exercise=7", ran(exercise(7).solution, "#check")),
    "exercise_graph": (
        "playground/index.html?exercise=7", ran(exercise(7).solution, "#check", "graph"),
    ),
}  # fmt: skip
"""The address of each view, and the actions there."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to save the pictures")
    parser.add_argument("--site", type=Path, default=SITE, help="the site (default site/build)")
    parser.add_argument("--browser", choices=("chromium", "firefox"), default="chromium")
    parser.add_argument("--only", default="", help="views whose names begin so")
    options = parser.parse_args()
    if not (options.site / "playground/pyodide").exists():
        sys.exit(f"{options.site}: needs the site: make site PYODIDE=.venv/pyodide")
    options.folder.mkdir(parents=True, exist_ok=True)
    with (
        sync_playwright() as playwright,
        launched(playwright, options.browser) as browser,
        served(options.site) as address,
    ):
        for look, given in LOOKS.items():
            for name in [name for name in VIEWS if name.startswith(options.only)]:
                context = browser.new_context(**given, reduced_motion="reduce")
                page, (path, act) = context.new_page(), VIEWS[name]
                page.set_default_timeout(90_000)
                page.goto(f"{address}/{path}")
                if act is not None:
                    act(page)
                whole = look == "phone" and name.startswith(("playground", "exercise"))
                page.screenshot(path=options.folder / f"{name}_{look}.png", full_page=whole)
                context.close()


if __name__ == "__main__":
    main()
