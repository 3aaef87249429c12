"""Run a function again with the same random numbers: dropout drops the same elements.

Checkpointing and finite differences call a function several times. State that would make the calls
differ, such as that of the random generator, is registered here with a way to save and restore it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Literal

Drawn = Literal["numbers", "key", "generator", "copy"]
DRAWS: dict[Any, Drawn] = {}
"""The functions that draw, as observers are told of them, and what each returns.

A tensor of random numbers; a key, which an op takes that declares it in ``random_keys``; a
generator, from which Python draws unseen; a copy of a generator, which repeats its numbers.
"""
repeating: ContextVar[Any] = ContextVar("minigrad.random", default=None)
"""The generator from which this thread draws instead of that of the process, or None."""
_snapshots: list[Callable[[], Callable[[], AbstractContextManager[Any]]]] = []


def register_snapshot(snapshot: Callable[[], Callable[[], AbstractContextManager[Any]]]) -> None:
    """Register state that a function must find unchanged when it is called again.

    `snapshot` saves it, and returns a function that makes a context manager: within it, the current
    thread has the saved state.
    """
    _snapshots.append(snapshot)


def register_draws(kind: Drawn, function: Callable[..., Any]) -> None:
    """Register a function that draws, decorated by `effect`."""
    DRAWS[vars(function)["__wrapped__"]] = kind


def take_snapshots() -> Callable[[], AbstractContextManager[None]]:
    """Save all registered state; the result makes context managers that bring it back."""
    saved = [snapshot() for snapshot in _snapshots]

    @contextmanager
    def again() -> Iterator[None]:
        with ExitStack() as stack:
            for restored in saved:
                stack.enter_context(restored())
            yield

    return again
