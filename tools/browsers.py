"""The Chromium that is installed, driven by Playwright, and a local server for a folder."""

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
def launched(playwright: Any, **options: Any) -> Iterator[Any]:
    """Start the Chromium that is installed, with options of Playwright."""
    path = shutil.which("chromium")
    running = playwright.chromium.launch(executable_path=path, args=FLAGS, **options)
    yield running
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
