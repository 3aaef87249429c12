"""Structures: nested tuples, lists and dicts of tensors, taken apart and put together.

A value that is not a tuple, list or dict is a leaf. None is a structure without leaves, such as the
bias of a layer that has none.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.support import tree


def _step(path: str, key: Any) -> str:
    return f'{path}["{key}"]' if isinstance(key, str) else f"{path}[{key!r}]"


def flatten(value: Any, path: str) -> list[tuple[str, Any]]:
    """The leaves of a structure in order, each with the expression that leads to it from `path`.

    Such a pair is ``('inputs[1]["weight"]', tensor)``.
    """
    found = [pair for pair in tree.paths(value) if pair[1] is not None]
    return [(functools.reduce(_step, keys, path), leaf) for keys, leaf in found]


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The structure of `value` with a function applied to each leaf."""
    return tree.mapped(lambda leaf: None if leaf is None else function(leaf), value)


def rebuilt(like: Any, leaves: Iterator[Any]) -> Any:
    """The structure of `like` with other leaves, taken in order from an iterator."""
    return mapped(lambda _: next(leaves), like)


def spread(value: Any, axes: Any, path: str) -> Iterator[tuple[str, Any, int | None]]:
    """The leaves of a structure, each with the axis that counts the samples."""
    if axes is None or hasattr(axes, "__index__"):
        axis = None if axes is None else int(axes)
        yield from ((place, leaf, axis) for place, leaf in flatten(value, path))
    elif isinstance(axes, dict) and isinstance(value, dict) and axes.keys() == value.keys():
        for key, part in value.items():
            yield from spread(part, axes[key], f"{path}[{key!r}]")
    elif (
        isinstance(axes, (tuple, list)) and isinstance(value, (tuple, list))
        and len(axes) == len(value)
    ):  # fmt: skip
        for i, (part, axis) in enumerate(zip(value, axes, strict=True)):
            yield from spread(part, axis, f"{path}[{i}]")
    elif isinstance(axes, tuple) and len(axes) == 1 and not isinstance(value, (tuple, list, dict)):
        yield from spread(value, axes[0], path)
    else:
        raise ValueError(f"vmap: dims {axes!r} do not have the structure of {path}")
