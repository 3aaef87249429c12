"""Run a function again with the same random numbers: dropout drops the same elements.

Checkpointing and finite differences call a function several times. State that would make the calls
differ, such as that of the random generator, is registered here with a way to save and restore it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

DRAWS: set[Callable[..., Any]] = set()
"""The functions that draw random numbers, as observers are told of them."""
_snapshots: list[Callable[[], Callable[[], AbstractContextManager[Any]]]] = []


def register_snapshot(snapshot: Callable[[], Callable[[], AbstractContextManager[Any]]]) -> None:
    """Register state that a function must find unchanged when it is called again.

    `snapshot` saves it, and returns a function that makes a context manager: within it, the current
    thread has the saved state.
    """
    _snapshots.append(snapshot)


def register_draws(functions: Iterable[Callable[..., Any]]) -> None:
    """Register functions that draw random numbers, decorated by `effect`."""
    DRAWS.update(vars(function)["__wrapped__"] for function in functions)


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
