"""How calls of Lucid's become PyTorch's where only names or positions differ."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["renamed", "without_old"]


def renamed(function: Callable[..., Any], **names: str) -> Callable[..., Any]:
    """The function, which takes Lucid's keywords too.

    Args:
        function: A function of PyTorch's.
        **names: PyTorch's keyword for each of Lucid's.

    Example:
        >>> import minigrad
        >>> from minigrad.lucid.spelling import renamed
        >>> renamed(minigrad.tril, k="diagonal")(minigrad.ones(2, 2), k=-1).tolist()
        [[0.0, 0.0], [1.0, 0.0]]
    """

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        return function(*args, **{names.get(name, name): each for name, each in keywords.items()})

    return call


def without_old(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without `size_average` and `reduce`, which Lucid's losses do not have."""
    known = inspect.signature(function)
    kept = [p for name, p in known.parameters.items() if name not in ("size_average", "reduce")]
    signature = known.replace(parameters=kept)

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        return function(**signature.bind(*args, **keywords).arguments)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
