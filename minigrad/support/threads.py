"""Starting a thread such that Ctrl-C, whenever it comes, leaves no lock closed."""

from _thread import start_new_thread
from collections.abc import Callable
from threading import Thread


def start_thread(name: str, run: Callable[[], None]) -> int:
    """Start a daemon thread; the number of the thread that starts it.

    `Thread` takes locks written in Python, inside of which an interrupt could stop. So it is made
    in a thread that is started by a single call into C, and to which no signal comes.

    Raises:
        RuntimeError: No thread can be started.
    """
    return start_new_thread(_start, (name, run))


def _start(name: str, run: Callable[[], None]) -> None:
    try:
        Thread(target=run, name=name, daemon=True).start()
    except RuntimeError:  # this was the last thread that could be started
        run()
