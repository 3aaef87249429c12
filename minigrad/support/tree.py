"""Structures: nested tuples, lists, dicts and slices, walked in one way.

What is none of these is a leaf, None too, and so is a dict with an attribute `is_a_leaf`. Named
tuples, and classes derived from tuple, list or dict, keep their class. Dataclasses are leaves
unless the caller says otherwise, since many of them are no containers: modules, configurations,
records.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

__all__ = ["leaves", "mapped", "paths", "structure"]

Kind = type | tuple[type, ...]
_STRUCTURES = (tuple, list, dict, slice)


def _parts(thing: Any, fields: bool = False) -> Iterable[tuple[Any, Any]] | None:
    """The keys and parts of a structure, with `fields` also of a dataclass; None of a leaf."""
    if isinstance(thing, (tuple, list)):
        return enumerate(thing)
    if isinstance(thing, dict) and not hasattr(thing, "is_a_leaf"):
        return thing.items()
    if isinstance(thing, slice):
        return [(name, getattr(thing, name)) for name in ("start", "stop", "step")]
    if fields and dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        names = [field.name for field in dataclasses.fields(thing)]
        return [(name, getattr(thing, name)) for name in names]
    return None


def leaves(thing: Any, kind: Kind | None = None) -> Iterator[Any]:
    """The leaves of a structure in order; with a kind those of it, whatever they are made of.

    Example:
        >>> from minigrad.support.tree import leaves
        >>> [*leaves({"a": [1, 2.5], "b": slice(3)}, int)]
        [1, 3]
    """
    if kind is not None and isinstance(thing, kind):
        yield thing
        return
    parts = _parts(thing)
    if parts is None:
        if kind is None:
            yield thing
        return
    for _, part in parts:
        if kind is not None and isinstance(part, kind):
            yield part
        elif isinstance(part, _STRUCTURES):
            yield from leaves(part, kind)
        elif kind is None:
            yield part


def paths(thing: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a structure in order, each with the keys that lead to it.

    Example:
        >>> from minigrad.support.tree import paths
        >>> [*paths({"a": [1, 2.5]})]
        [(('a', 0), 1), (('a', 1), 2.5)]
    """
    parts = _parts(thing)
    if parts is None:
        yield (), thing
        return
    for key, part in parts:
        for keys, leaf in paths(part):
            yield (key, *keys), leaf


def mapped(
    function: Callable[[Any], Any], thing: Any, kind: Kind | None = None, fields: bool = False
) -> Any:
    """A structure with a function applied to each leaf; with a kind, to those of it only.

    Args:
        function: What makes a leaf of a leaf.
        thing: The structure.
        kind: The classes of the leaves that change, whatever they are made of.
        fields: Whether dataclasses are structures; each is copied.

    Example:
        >>> from minigrad.support.tree import mapped
        >>> mapped(str, {"a": [1, 2.5]}, int)
        {'a': ['1', 2.5]}
    """
    if kind is not None and isinstance(thing, kind):
        return function(thing)
    if thing.__class__ is tuple or thing.__class__ is list:
        return thing.__class__([mapped(function, part, kind, fields) for part in thing])
    parts = _parts(thing, fields) if fields or isinstance(thing, _STRUCTURES) else None
    if parts is None:
        return thing if kind is not None else function(thing)
    made = {key: mapped(function, part, kind, fields) for key, part in parts}
    if isinstance(thing, slice):
        return slice(*made.values())
    if isinstance(thing, tuple):
        values = made.values()
        return type(thing)(*values) if hasattr(thing, "_fields") else type(thing)(values)
    if thing.__class__ is dict:
        return made
    found = copy(thing)  # of its class, with what else it holds
    if isinstance(thing, list):
        found[:] = made.values()
    elif isinstance(thing, dict):
        found.update(made)
    else:
        for name, value in made.items():
            object.__setattr__(found, name, value)  # it may be frozen
    return found


def structure(thing: Any, leaf: Callable[[Any], Any] = lambda _: None, fields: bool = False) -> Any:
    """What is equal for equal structures: classes, keys, and of each leaf what a function says.

    Example:
        >>> from minigrad.support.tree import structure
        >>> structure([1, (2, 3)]) == structure([4, (5, 6)]) != structure([4, [5, 6]])
        True
    """
    if isinstance(thing, (tuple, list)):
        return type(thing), tuple([structure(part, leaf, fields) for part in thing])
    parts = _parts(thing, fields)
    if parts is None:
        return leaf(thing)
    return type(thing), tuple(
        [(key.__class__, key, structure(part, leaf, fields)) for key, part in parts]
    )
