"""The lines of the user's program: the one that runs now, and the one that made a node.

The engine keeps no lines, since finding one costs more than a small op. Observers that find the
line of an op remember it here, for as long as the node lives.
"""

import linecache
import os
import sys
import weakref
from types import FrameType
from typing import Any

from minigrad.autograd.node import Node

lines_of_nodes: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
"""The line of each node that an observer saw."""


_LIBRARIES = {"contextlib", "copy", "importlib", "minigrad", "numpy", "pickle"}


def user_frame() -> FrameType:
    """The frame of the user's program that is being executed."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_users(frame):
        frame = frame.f_back
    return frame


def is_users(frame: FrameType) -> bool:
    """Whether a frame is in the user's program, not in minigrad or in what calls it for others."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] not in _LIBRARIES


def line_of(frame: FrameType) -> str:
    """The line that a frame executes: ``train.py:31: loss = x.log().sum()``.

    The path is relative to the working directory where it lies below it.
    """
    return line_at(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def line_at(path: str, number: int, module: dict[str, Any] | None = None) -> str:
    """A line of a file, as `line_of` writes it; `module` is where it is imported as."""
    text = linecache.getline(path, number, module).strip()
    if os.path.isabs(path):
        relative = os.path.relpath(path)
        path = path if relative.startswith(os.pardir) else relative
    return f"{path}:{number}{text and f': {text}'}"


def remember_source(file: str, text: str) -> None:
    """Let tracebacks and `line_at` show the lines of a text that runs under the name of a file."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def user_line() -> str:
    """The line of the user's program that is being executed: see `line_of`."""
    return line_of(user_frame())
