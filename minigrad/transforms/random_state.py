"""Running a function again exactly as before: dropout drops the same elements.

Recomputation and finite differences call a function several times. State that would make the calls
differ, the random generator above all, registers here how it is kept and put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

__all__ = ["repeatable", "repeats"]

_snapshots: list[Callable[[], Callable[[], AbstractContextManager[Any]]]] = []


def repeats(snapshot: Callable[[], Callable[[], AbstractContextManager[Any]]]) -> None:
    """Register state from which every run of a function must start.

    Args:
        snapshot: Keeps the state as it is now, and returns a function that makes a context
            manager; within that, the state is as it was then, for the current thread.
    """
    _snapshots.append(snapshot)


def repeatable() -> Callable[[], AbstractContextManager[None]]:
    """Keep all registered state as it is now.

    Returns:
        A function that makes a context manager, within which the state is as it is now.

    Example:
        >>> import minigrad
        >>> from minigrad.transforms.random_state import repeatable
        >>> again = repeatable()
        >>> with again():
        ...     a = minigrad.rand(3)
        >>> with again():
        ...     b = minigrad.rand(3)
        >>> a.tolist() == b.tolist()
        True
    """
    kept = [snapshot() for snapshot in _snapshots]

    @contextmanager
    def again() -> Iterator[None]:
        with ExitStack() as stack:
            for start in kept:
                stack.enter_context(start())
            yield

    return again
