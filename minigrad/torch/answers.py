"""What functions answer for which there is nothing to do here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, overload

__all__ = ["block", "no", "nothing", "one", "unchanged", "zero"]

T = TypeVar("T")


def no(*args: Any, **options: Any) -> bool:
    """False."""
    return False


def zero(*args: Any, **options: Any) -> int:
    """0."""
    return 0


def one(*args: Any, **options: Any) -> int:
    """1."""
    return 1


def nothing(*args: Any, **options: Any) -> None:
    """Do nothing."""


@contextmanager
def block(*args: Any, **options: Any) -> Iterator[None]:
    """A block, or a decorator of a function, in which nothing differs."""
    yield


@overload
def unchanged(function: None = None, *args: Any, **options: Any) -> Callable[[T], T]: ...
@overload
def unchanged(function: T, *args: Any, **options: Any) -> T: ...
def unchanged(function: Any = None, *args: Any, **options: Any) -> Any:
    """The function or module itself; without one, a decorator that leaves it as it is."""
    return unchanged if function is None else function
