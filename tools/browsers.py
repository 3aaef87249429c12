"""The browsers that are installed, driven by Playwright, and a local server for a folder."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["launched", "served"]

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@contextmanager
def launched(playwright: Any, name: str = "chromium", **options: Any) -> Iterator[Any]:
    """Start a browser that is installed, Chromium or Firefox, with options of Playwright."""
    if name == "firefox":
        running: Any = Firefox(playwright.firefox, options)
    else:
        path = shutil.which("chromium")
        running = playwright.chromium.launch(executable_path=path, args=FLAGS, **options)
    yield running
    running.close()


class Firefox:
    """Firefox: it is told colours and motion when it starts, so there is one for each kind."""

    def __init__(self, kind: Any, options: dict[str, Any]) -> None:
        self.kind, self.options = kind, options
        self.path = shutil.which("firefox") or shutil.which("firefox-esr")
        self.started: dict[tuple[str, str], Any] = {}

    def new_context(
        self, *, color_scheme: str = "light", reduced_motion: str = "no-preference",
        permissions: Any = None, **options: Any,  # noqa: ARG002  # Playwright's
    ) -> Any:  # fmt: skip
        looks = color_scheme, reduced_motion
        if looks not in self.started:
            preferences = {
                "ui.systemUsesDarkTheme": int(color_scheme == "dark"),
                "ui.prefersReducedMotion": int(reduced_motion == "reduce"),
                "dom.events.testing.asyncClipboard": True,  # instead of a permission
            }
            self.started[looks] = self.kind.launch(
                channel="moz-firefox", executable_path=self.path,
                firefox_user_prefs=preferences, **self.options,
            )  # fmt: skip
        return self.started[looks].new_context(**options)

    def new_page(self, **options: Any) -> Any:
        return self.new_context(**options).new_page()

    def close(self) -> None:
        for running in self.started.values():
            running.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives its address."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def handle(self) -> None:
        with suppress(ConnectionError):  # a page was closed
            super().handle()

    def log_message(self, *_: Any) -> None:
        pass
