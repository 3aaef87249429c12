"""What an error says of a name that is not there: the names that are nearly it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

__all__ = ["keyword_advice", "names", "refuse", "similar"]


def similar(name: str, known: Iterable[str], most: int = 3) -> str:
    """Advice for an error: the names that are nearly this one; "" if there are none."""
    import difflib

    near = difflib.get_close_matches(name, [*known], most)
    return f"; similar: {', '.join(near)}" if near else ""


def keyword_advice(given: Iterable[str], known: Sequence[str]) -> str:
    """Advice for an error: the keywords that those given are nearly; "" if there are none."""
    import difflib  # late, as all that only an error needs

    near = [
        n for key in given if key not in known for n in difflib.get_close_matches(key, known, 1)
    ]
    return f"; did you mean {', '.join(f'{name}=' for name in near)}?" if near else ""


def names(
    module: str, known: Sequence[str], own: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with these public names: an error with those nearby.

    Args:
        module: Its path, without ``minigrad.``.
        known: Its public names.
        own: The ``__getattr__`` that the module has already, which is asked first.
    """

    def __getattr__(name: str) -> Any:
        if own is not None:
            with suppress(AttributeError):
                return own(name)
        refuse(f"minigrad.{module}", name, known)

    return __getattr__


def refuse(path: str, name: str, known: Sequence[str]) -> NoReturn:
    """Raise the AttributeError of a module, with the names that are nearly the one asked for."""
    import difflib

    near = [] if name.startswith("_") else difflib.get_close_matches(name, known, 3, 0.7)
    raise AttributeError(
        f"{path} has no {name!r}" + (f": did you mean {' or '.join(near)}?" if near else "")
    )
