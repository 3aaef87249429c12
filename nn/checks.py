"""Checks of what layers are given."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.dtypes import checked


def check_size(owner: str, name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`, as an int.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is too small.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{owner}: {name} must be an int, got {value!r}")
    if value < least:
        raise ValueError(f"{owner}: {name} must be at least {least}, got {value}")
    return int(value)


def check_sizes(owner: str, name: str, value: Any, count: int, least: int = 1) -> tuple[int, ...]:
    """A whole number for each of `count` axes; one number stands for all of them.

    Raises:
        TypeError: It is neither a whole number nor a sequence of them.
        ValueError: There are more or fewer, or one is too small.
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        return (check_size(owner, name, value, least),) * count
    if len(value) != count:
        raise ValueError(
            f"{owner}: {name} must be an int or {count} ints, one for each axis, got {value!r}"
        )
    return tuple(check_size(owner, name, size, least) for size in value)


def check_probability(owner: str, name: str, value: Any) -> float:
    """A number from 0 to 1, as a float.

    Raises:
        ValueError: It is something else.
    """
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and 0 <= value <= 1):
        raise ValueError(f"{owner}: {name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def floating_dtype(owner: str, dtype: Any) -> np.dtype[Any]:
    """A floating dtype that tensors can have.

    Raises:
        TypeError: It is something else.
    """
    target = checked(dtype, owner)
    if target.kind != "f":
        raise TypeError(f"{owner}: a floating dtype expected, got {target}")
    return target


def optional_package(owner: str, name: str, extra: str = "interop") -> Any:
    """A module of a package that minigrad works without, and that one of its extras brings.

    Raises:
        ImportError: The package is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        package = name.partition(".")[0]
        raise ImportError(
            f"{owner}: {package} is missing: pip install 'minigrad[{extra}]'"
        ) from None
