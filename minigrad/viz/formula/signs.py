"""The notation of functions: √ for a root, Σ for a sum, ᵀ for a transpose.

An entry takes the typesetter and the arguments of the function, as terms. A function without an
entry is written by its name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import ops
from minigrad.ops.convolutions import convolution_weight
from minigrad.ops.diagonals import scatter_diagonal
from minigrad.ops.indexing import IndexUpdate, integers
from minigrad.ops.pooling import sum_pool_transpose
from minigrad.viz.formula import notation as n
from minigrad.viz.formula.terms import Call, Constant, Term

if TYPE_CHECKING:
    from minigrad.viz.formula.typesetting import Typesetter

Entry = Callable[..., n.Notation]


# The reductions of written formulas: they keep the axes that they reduce.


def added(x: Any, axis: Any = None) -> Any:
    """The sum over axes."""
    return np.sum(x, axis, keepdims=True)


def averaged(x: Any, axis: Any = None) -> Any:
    """The mean; of nothing, 0."""
    total = added(x, axis)
    return total / max(1, x.size // max(1, total.size))


def spread(x: Any, shape: tuple[int, ...], axis: Any = None) -> Any:
    """Undo a reduction of an array of `shape`: broadcast the result to it."""
    kept = np.sum(np.empty(shape), axis, keepdims=True).shape
    return np.broadcast_to(np.reshape(x, kept), shape)


def shrunk(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over the axes along which an argument was broadcast."""
    return np.sum(x, axes)


NAMES: dict[str, Any] = {
    "sum": added, "mean": averaged, "spread": spread, "inv": np.linalg.inv,
    "where": np.where, "abs": np.absolute, "max": np.maximum, "min": np.minimum,
}  # fmt: skip
"""Names with a meaning of their own in written formulas.

All other names are those of the module of the op, of Python, NumPy and `minigrad.ops`.
"""


def _reduction(name: str) -> Entry:
    """A reduction, with its axes below the name."""

    def entry(t: Typesetter, x: Term, axis: Term | None = None, **_: Term) -> n.Notation:
        return t.called(name, x, below=t.axis(axis))

    return entry


def _large(sign: str) -> Entry:
    def entry(t: Typesetter, x: Term, axis: Term | None = None, **_: Term) -> n.Notation:
        return n.Large(sign, t.value(x), t.axis(axis))

    return entry


def _over_broadcast(t: Typesetter, x: Term, axes: Constant) -> n.Notation:
    numbers = ", ".join(map(str, axes.value))
    return n.Large("Σ", t.value(x), n.Words(f"ax{'es' if len(axes.value) > 1 else 'is'} {numbers}"))


def _over(words: str) -> Entry:
    """A sum; words say what it runs over."""
    return lambda t, x, *_: n.Large("Σ", t.value(x), n.Words(words))


def _infix(sign: str, note: str = "") -> Entry:
    """Two arguments with a sign between them; further arguments are not shown."""

    def entry(t: Typesetter, one: Term, other: Term, *_: Term) -> n.Notation:
        if note:
            t.note(f"{sign}: {note}")
        return n.Infix((t.value(one), t.value(other)), (sign,), n.Level.PRODUCT)

    return entry


def _where(t: Typesetter, condition: Term, a: Term, b: Term) -> n.Notation:
    """If one of the two is 0, a factor ``[condition]``, which is 1 or 0; else cases."""
    if b.is_constant(0):
        factor = n.enclosed(t.condition(condition), "[", "]")
        return factor if a.is_constant(1) else t.times(a, factor)
    if a.is_constant(0):
        return t.times(b, n.enclosed(t.negated(condition), "[", "]"))
    return n.Cases((t.value(a), t.value(b)), (t.condition(condition),))


def _swapaxes(t: Typesetter, x: Term, axis1: Term, axis2: Term) -> n.Notation:
    if axis1.is_constant(-1, -2) and axis2.is_constant(-1, -2):
        return t.power(x, n.TRANSPOSED)
    return t.called("swapaxes", x, axis1, axis2)


def _transpose(t: Typesetter, x: Term, axes: Term | None = None) -> n.Notation:
    return t.power(x, n.TRANSPOSED) if axes is None else t.called("transpose", x, axes)


def _reshape(t: Typesetter, x: Term, shape: Term) -> n.Notation:
    """A reshape that only restores reduced axes is not shown."""
    whole = Call(np.reshape, (x, shape))
    shown = whole.shown()
    return t.called("reshape", x, shape) if shown is whole else t.value(shown)


def _at(t: Typesetter, value: Term, index: Term, *_: Term) -> n.Notation:
    t.note("what is read more than once adds up")
    return n.Sentence((t.value(value), n.Words(" at ["), t.value(index), n.Words("], 0 elsewhere")))


def _on_diagonal(t: Typesetter, value: Term, *_: Term) -> n.Notation:
    return n.Sentence((t.value(value), n.Words(" on the diagonal, 0 elsewhere")))


def _squared(t: Typesetter, x: Term) -> n.Notation:
    return n.Number("1") if x.is_constant(1) else n.Script(t.value(x), above=n.Number("2"))


SIGNS: Mapping[Any, Entry] = {
    # Powers, roots and logarithms
    np.square: _squared,
    np.sqrt: lambda t, x: n.Root(t.value(x)),
    math.sqrt: lambda t, x: n.Root(t.value(x)),
    np.cbrt: lambda t, x: n.Root(t.value(x), 3),
    np.hypot: lambda t, a, b: n.Root(
        n.Infix((_squared(t, a), _squared(t, b)), ("+",), n.Level.SUM)
    ),
    np.log2: lambda t, x: t.called("log", x, below=n.Number("2")),
    math.log2: lambda t, x: t.called("log", x, below=n.Number("2")),
    math.log10: lambda t, x: t.called("log", x, below=n.Number("10")),
    np.reciprocal: lambda t, x: n.Fraction(n.Number("1"), t.value(x)),
    ops.sigmoid: lambda t, x: t.called("σ", x),
    # Sizes and relations
    np.absolute: lambda t, x: n.enclosed(t.value(x), "|", "|"),
    np.floor: lambda t, x: n.enclosed(t.value(x), "⌊", "⌋"),
    operator.floordiv: lambda t, a, b: n.enclosed(n.Fraction(t.value(a), t.value(b)), "⌊", "⌋"),
    operator.mod: _infix("mod"),
    operator.pos: lambda t, x: t.value(x),
    np.maximum: lambda t, a, b: t.called("max", a, b),
    np.minimum: lambda t, a, b: t.called("min", a, b),
    np.where: _where,
    # Over axes
    np.sum: _large("Σ"),
    added: _large("Σ"),
    shrunk: _over_broadcast,
    np.prod: _large("Π"),
    np.mean: _reduction("mean"),
    averaged: _reduction("mean"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    ops.softmax: _reduction("softmax"),
    spread: lambda t, x, shape, axis=None: t.spread(x, t.axis(axis)),
    # Shapes and places
    np.reshape: _reshape,
    np.swapaxes: _swapaxes,
    np.transpose: _transpose,
    IndexUpdate: _at,
    scatter_diagonal: _on_diagonal,
    integers: lambda t, x, *_: t.value(x),
    # Matrices
    np.cross: _infix("×"),
    np.linalg.inv: lambda t, x: t.power(x, n.INVERSE),
    # Windows
    ops.convolution: _infix("∗", "the sum over each window of an input, times a kernel"),
    ops.convolution_transpose: _infix(
        "∗ᵀ", "each window gets its kernel times a number; where windows overlap, they add up"
    ),
    convolution_weight: _infix("⋆", "the sum over all windows of an input, each times a number"),
    ops.sum_pool: _over("each window"),
    sum_pool_transpose: _over("windows that it is in"),
}
