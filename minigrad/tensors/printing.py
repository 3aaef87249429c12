"""How tensors print: as PyTorch prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.dtype_class import DTYPES
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.support.checks import check_choice, check_number, check_size

__all__ = ["set_printoptions"]


@dataclass
class Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = Options()
PROFILES = {
    "default": Options(), "short": Options(2, edgeitems=2), "full": Options(threshold=math.inf),
}  # fmt: skip


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Choose how tensors print; what is None stays, but for `sci_mode`.

    Args:
        precision: The digits after the point; 4 at first.
        threshold: The number of elements above which only the edges are shown; 1000 at first.
        edgeitems: How many elements are an edge, at each end of each axis; 3 at first.
        linewidth: The characters in a line; 80 at first.
        profile: "default", "short" or "full": values for all of these, before they are set.
        sci_mode: Whether floats are written as 1.0000e+00; None for as the values need it.

    Raises:
        TypeError: `precision` is not an int.
        ValueError: There is no such profile, or an option is not a number of at least 0.

    Source: PyTorch 2.13, "torch.set_printoptions".

    Example:
        >>> import minigrad
        >>> minigrad.set_printoptions(precision=2)
        >>> minigrad.tensor([1.12345])
        tensor([1.12])
        >>> minigrad.set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        check_number("set_printoptions", name, value, 0, infinite=True)
    check_size("set_printoptions", "precision", given.get("precision", 0), 0)
    if profile is not None:
        check_choice("set_printoptions", "profile", profile, PROFILES)
        vars(options).update(vars(PROFILES[profile]))
    vars(options).update(given)
    options.sci_mode = sci_mode


def shown(array: np.ndarray, name: str, history: str) -> str:
    """The text of a tensor: ``name(values, dtype=..., history)``.

    Args:
        array: Its values.
        name: The word before the bracket; lines are indented by its length.
        history: What is said of its gradient; may be empty.
    """
    notes = [history] if history else []
    dtype = DTYPES[array.dtype]
    usual = [get_default_dtype()] if not array.size else [get_default_dtype(), "int64", "bool"]
    if dtype not in usual:
        notes.insert(0, f"dtype={dtype}")
    if not array.size and array.ndim != 1:
        notes.insert(0, f"size={tuple(array.shape)}")
    indent = len(name) + 1
    text = f"{name}({_values(array, indent)}"
    room = options.linewidth - 2 - len(text[text.rfind("\n") + 1 :])
    for note in notes:
        room -= len(note) + 2
        if room < 0:
            text, room = f"{text},\n{' ' * indent}{note}", options.linewidth - indent - len(note)
        else:
            text = f"{text}, {note}"
    return f"{text})"


def _values(array: np.ndarray, indent: int) -> str:
    """The elements in brackets, those in the middle left out if there are too many."""
    if not array.size:
        return "[]"
    edge = options.edgeitems
    cut = [array.size > options.threshold and n > 2 * edge for n in array.shape]
    for axis, shortened in enumerate(cut):
        if shortened:
            kept = [*range(edge), *range(-edge, 0)]
            array = np.take(array, kept, axis)
    write, width = _writer(array)
    return _rows(array, cut, indent, lambda value: write(value).rjust(width), width)


def _writer(array: np.ndarray) -> tuple[Callable[[Any], str], int]:
    """How one element is written, and the width of all."""
    if array.dtype.kind != "f":
        return str, max(len(str(value)) for value in array.ravel().tolist())
    values = array[np.isfinite(array) & (array != 0)].astype(np.float64)
    whole = bool((values == np.ceil(values)).all())
    scientific = len(values) > 0 and _needs_exponents(values, whole)

    def write(value: float) -> str:
        if scientific:
            return format(value, f".{options.precision}e")
        if whole:
            return f"{value:.0f}." if math.isfinite(value) else str(value)
        return format(value, f".{options.precision}f")

    return write, max((len(write(value)) for value in values.tolist()), default=1)


def _needs_exponents(values: np.ndarray, whole: bool) -> bool:
    """Whether floats are written as 1.0000e+00."""
    if options.sci_mode is not None:
        return options.sci_mode
    sizes = np.abs(values)
    low, high = float(sizes.min()), float(sizes.max())
    return high > 1000 * low or high > 1e8 or (low < 1e-4 and not whole)


def _rows(
    array: np.ndarray, cut: list[bool], indent: int, write: Callable[[Any], str], width: int
) -> str:
    """The elements along the first axis, each a number or rows of its own."""
    if not array.ndim:
        return write(array.item())
    if array.ndim == 1:
        parts = [write(value) for value in array.tolist()]
        if cut[0]:
            parts.insert(len(parts) // 2, " ...")
        count = max(1, (options.linewidth - indent) // (width + 2))
        lines = [", ".join(parts[i : i + count]) for i in range(0, len(parts), count)]
        between = ",\n" + " " * (indent + 1)
        return f"[{between.join(lines)}]"
    parts = [_rows(part, cut[1:], indent + 1, write, width) for part in array]
    if cut[0]:
        parts.insert(len(parts) // 2, "...")
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(parts)}]"
