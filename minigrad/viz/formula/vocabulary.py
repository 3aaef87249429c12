"""The sign of each function: √ for a root, Σ for a sum, ᵀ for the last two axes exchanged.

An entry takes the typesetter and the arguments as terms, by the names that the function gives them.
A function that is not here is written by its name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.ops import activation, diagonals, gathering, indexing, pooling
from minigrad.ops._numerics import reduced_size, undo_reduction
from minigrad.ops.convolution import convolution, convolution_transpose, convolution_weight
from minigrad.viz.formula import layer_words as layers
from minigrad.viz.formula import words as say
from minigrad.viz.formula.notation import (
    INVERSE,
    TRANSPOSED,
    Applied,
    Cases,
    Enclosed,
    Fraction,
    Infix,
    Large,
    Level,
    Notation,
    Number,
    Root,
    Script,
    Sentence,
    Symbol,
    Words,
)
from minigrad.viz.formula.terms import Call, Term, Variable, is_constant, shown_part

if TYPE_CHECKING:
    from minigrad.viz.formula.typesetting import Typesetter

__all__ = ["VOCABULARY"]

Entry = Callable[..., Notation]


def _named(name: str) -> Entry:
    """A function of one argument, by name."""
    return lambda t, x: t.called(name, x)


def _reduction(name: str) -> Entry:
    """A function over axes, by name."""

    def entry(t: Typesetter, x: Term, axis: Term | None = None, **_: Term) -> Notation:
        return t.called(name, x, below=t.axis(axis))

    return entry


def _large(sign: str) -> Entry:
    def entry(t: Typesetter, x: Term, axis: Term | None = None, **_: Term) -> Notation:
        return Large(sign, t.value(x), t.axis(axis))

    return entry


def _where(t: Typesetter, condition: Term, a: Term, b: Term) -> Notation:
    """A factor of 1 or 0 if one of the two is 0, else cases."""
    if is_constant(a, 1) and is_constant(b, 0):
        return Enclosed("[", t.condition(condition), "]")
    if is_constant(b, 0):
        return t.times(a, Enclosed("[", t.condition(condition), "]"))
    if is_constant(a, 0):
        return t.times(b, Enclosed("[", t.negated(condition), "]"))
    return Cases((t.value(a), t.value(b)), (t.condition(condition),))


def _swapaxes(t: Typesetter, x: Term, axis1: Term, axis2: Term) -> Notation:
    if is_constant(axis1, -1, -2) and is_constant(axis2, -1, -2):
        return t.power(x, TRANSPOSED)
    return t.called("swapaxes", x, axis1, axis2)


def _transpose(t: Typesetter, x: Term, axes: Term | None = None) -> Notation:
    if axes is None:
        return t.power(x, TRANSPOSED)
    return t.called("transpose", x, axes)


def _reshape(t: Typesetter, x: Term, shape: Term) -> Notation:
    """An array with the axes kept that a reduction took looks like itself."""
    whole = Call(np.reshape, (x, shape))
    shown = shown_part(whole)
    return t.called("reshape", x, shape) if shown is whole else t.value(shown)


def _at(t: Typesetter, value: Term, index: Notation) -> Notation:
    t.note("what is read more than once adds up")
    return Sentence((t.value(value), Words(" at "), index, Words(", 0 elsewhere")))


def _along(t: Typesetter, index: Term, axis: Term, *_: Term) -> Notation:
    if is_constant(axis, None):
        return t.value(index)
    return Sentence((t.value(index), Words(" along "), t.value(axis)))


def _diagonal_update(t: Typesetter, value: Term, shape: Term, place: Term) -> Notation:
    # The trace gives its cotangent an axis, so that all of the diagonal gets the same.
    match value:
        case Call(operator.getitem, (g, Call(_, (first, second)))):
            if is_constant(first, ...) and is_constant(second, None):
                value = g
    return Sentence((t.value(value), Words(" on the diagonal, 0 elsewhere")))


def _tuple(t: Typesetter, items: Term) -> Notation:
    """The last axes, where that is what is counted."""
    match items:
        case Call(function, (Call(operator.neg, (n,)), end)) if function is range:
            if is_constant(end, 0):
                return Sentence((Words("last "), t.value(n)))
    return t.called("tuple", items)


def _said(name: str, note: str = "") -> Entry:
    """A single name for the value of a function, with what it means."""

    def entry(t: Typesetter, *_: Term) -> Notation:
        if note:
            t.note(f"{name}: {note}")
        return Symbol(name)

    return entry


def _first(t: Typesetter, x: Term, *_: Term) -> Notation:
    """The first argument: what else is done to it goes without saying."""
    return t.value(x)


def _optional(value: str) -> Entry:
    """The first argument, which may be None."""

    def entry(t: Typesetter, x: Term, *_: Term) -> Notation:
        if isinstance(x, Variable):
            t.note(f"{x.name}: {value} where there is none")
        return t.value(x)

    return entry


def _squared(t: Typesetter, x: Term) -> Notation:
    return Number("1") if is_constant(x, 1) else Script(t.value(x), above=Number("2"))


def _contracted(t: Typesetter, g: Term, other: Term, axes: Term, second: Term) -> Notation:
    last = is_constant(second, True)
    lacking = Sentence((Words("axes not in "), Symbol("b" if last else "a")))
    parts = (t.value(other), t.value(g)) if last else (t.value(g), t.value(other))
    return Large("Σ", Infix(parts, (" ",), Level.MATRIX), lacking)


def _einsum_rest(t: Typesetter, g: Term, operands: Term, i: Term, *_: Term) -> Notation:
    own = Applied(t.value(operands), (t.value(i),), "[", "]")
    other = Applied(t.value(operands), (Symbol("j"),), "[", "]")
    others = Large("Π", other, Infix((Symbol("j"), t.value(i)), ("≠",), Level.RELATION))
    lacking = Sentence((Words("labels not in "), own))
    return Large("Σ", Infix((t.value(g), others), (" ",), Level.MATRIX), lacking)


def _copies_added(t: Typesetter, g: Term, *_: Term) -> Notation:
    t.note("each element gets the sum over its copies")
    return Large("Σ", t.value(g), Words("copies"))


def _own_part(t: Typesetter, g: Term, i: Term, shapes: Term, axis: Term) -> Notation:
    inner = Sentence((Words("the part of "), Applied(Symbol("tensors"), (t.value(i),), "[", "]")))
    return Applied(t.value(g), (Sentence((inner, Words(" along "), t.value(axis))),), "[", "]")


def _sums_from_the_end(t: Typesetter, v: Term, axis: Term) -> Notation:
    below = Infix((Symbol("k"), Symbol("i")), ("≥",), Level.RELATION)
    t.note("i runs along axis")
    return Large("Σ", Script(t.value(v), below=Symbol("k")), below)


def _product_of_others(t: Typesetter, x: Term, axis: Term) -> Notation:
    below = Infix((Symbol("j"), Symbol("i")), ("≠",), Level.RELATION)
    t.note("j runs over the elements that are multiplied with element i")
    return Large("Π", Script(t.value(x), below=Symbol("j")), below)


def _gaps(t: Typesetter, v: Term) -> Notation:
    t.note("the difference stands at (i, j); on the diagonal the quotient is 0")
    base = t.value(v)
    if isinstance(base, Script) and base.below is None:
        one, other = (Script(base.base, base.above, Symbol(i)) for i in "ji")
    else:
        one, other = (Script(base, below=Symbol(i)) for i in "ji")
    return Infix((one, other), ("−",), Level.SUM)


def _convolved(sign: str, note: str) -> Entry:
    """Two arguments with a sign between; what else a convolution takes goes without saying."""

    def entry(t: Typesetter, one: Term, other: Term, *_: Term) -> Notation:
        t.note(f"{sign}: {note}")
        return Infix((t.value(one), t.value(other)), (sign,), Level.PRODUCT)

    return entry


def _over_steps(t: Typesetter, slopes: Term, states: Term) -> Notation:
    product = Infix((t.power(slopes, TRANSPOSED), t.value(states)), (" ",), Level.MATRIX)
    return Large("Σ", product, Words("steps"))


def _before(t: Typesetter, *_: Term) -> Notation:
    t.note("h: the hidden state of each step")
    return Script(Symbol("h"), below=Infix((Symbol("t"), Number("1")), ("−",), Level.SUM))


_LATER = "computed step by step from the last"

VOCABULARY: Mapping[Any, Entry] = {
    # Powers, roots and logarithms
    np.square: _squared,
    np.sqrt: lambda t, x: Root(t.value(x)),
    math.sqrt: lambda t, x: Root(t.value(x)),
    np.cbrt: lambda t, x: Root(t.value(x), 3),
    np.hypot: lambda t, a, b: Root(Infix((_squared(t, a), _squared(t, b)), ("+",), Level.SUM)),
    np.exp: _named("exp"),
    np.log: _named("log"),
    math.log: _named("log"),
    np.log2: lambda t, x: t.called("log", x, below=Number("2")),
    math.log2: lambda t, x: t.called("log", x, below=Number("2")),
    math.log10: lambda t, x: t.called("log", x, below=Number("10")),
    np.reciprocal: lambda t, x: Fraction(Number("1"), t.value(x)),
    activation.sigmoid: _named("σ"),
    # Sizes and signs
    np.absolute: lambda t, x: Enclosed("|", t.value(x), "|"),
    np.floor: lambda t, x: Enclosed("⌊", t.value(x), "⌋"),
    operator.floordiv: lambda t, a, b: Enclosed("⌊", Fraction(t.value(a), t.value(b)), "⌋"),
    operator.mod: lambda t, a, b: Infix((t.value(a), t.value(b)), ("mod",), Level.PRODUCT),
    operator.pos: lambda t, x: t.value(x),
    np.maximum: lambda t, a, b: t.called("max", a, b),
    np.minimum: lambda t, a, b: t.called("min", a, b),
    np.where: _where,
    say.low_bound: _optional("−∞"),
    say.high_bound: _optional("∞"),
    # Over axes
    np.sum: _large("Σ"),
    np.prod: _large("Π"),
    np.mean: _reduction("mean"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    say.lower_median: _reduction("lower_median"),
    say.upper_median: _reduction("upper_median"),
    undo_reduction: lambda t, g, shape, axis: t.undo_reduction(g, t.axis(axis)),
    reduced_size: _said("n", "how many elements are reduced to one"),
    tuple: _tuple,
    say.sums_from_the_end: _sums_from_the_end,
    say.own: lambda t, x, _: Script(t.value(x), below=Symbol("i")),
    say.product_of_others: _product_of_others,
    # Shapes and places
    np.shape: _named("shape"),
    np.reshape: _reshape,
    np.swapaxes: _swapaxes,
    np.transpose: _transpose,
    np.take: lambda t, x, index, axis: Applied(t.value(x), (_along(t, index, axis),), "[", "]"),
    indexing.IndexUpdate: lambda t, value, index, shape: _at(t, value, t.value(index)),
    indexing.integers: _first,
    gathering.open_grid: _along,
    diagonals.DiagonalUpdate: _diagonal_update,
    say.placed: lambda t, g, index, axis, *_: _at(t, g, _along(t, index, axis)),
    say.placed_along: lambda t, g, index, axis, *_: _at(t, g, _along(t, index, axis)),
    say.copies_added: _copies_added,
    say.own_part: _own_part,
    # Matrices
    np.cross: lambda t, a, b: Infix((t.value(a), t.value(b)), ("×",), Level.PRODUCT),
    np.linalg.inv: lambda t, x: t.power(x, INVERSE),
    say.left_vectors: _said("U", "the left singular vectors"),
    say.right_vectors: _said("V", "the right singular vectors"),
    say.eigenvectors: _said("V", "the eigenvectors"),
    say.lower_factor: _first,
    say.diag: _named("diag"),
    say.gaps: _gaps,
    say.row_matrix: _first,
    say.column: _first,
    say.column_as: _first,
    say.shaped_as_product: _first,
    say.several_rows: _first,
    say.contracted: _contracted,
    say.einsum_rest: _einsum_rest,
    # Attention and cross-entropy
    say.scale_or_default: _said("scale", "one over the root of the width where there is none"),
    say.zero_or: _optional("0"),
    say.one_or: _optional("1"),
    say.may_attend: lambda t, *_: Words("may attend"),
    say.dropout_mask: _said("M", "what dropout multiplies the weights by; 1 without it"),
    say.softmax_of_classes: _named("softmax"),
    say.class_sum: lambda t, x: Large("Σ", t.value(x), Words("classes")),
    say.class_count: _said("C", "the number of classes"),
    say.class_weights: _optional("1"),
    say.one_hot: lambda t, target, logits: t.called("onehot", target),
    say.kept_targets: lambda t, target, ignored, logits: Enclosed(
        "[", Infix((t.value(target), t.value(ignored)), ("≠",), Level.RELATION), "]"),
    say.each_target: _first,
    say.loss_divisor: _said("N", "the sum of the weights of the targets for a mean, else 1"),
    # Windows and channels
    convolution: _convolved(
        "∗", "the sum over each window of an input, times a kernel"),
    convolution_transpose: _convolved(
        "∗ᵀ", "each window gets its kernel times a number; where windows overlap, they add up"),
    convolution_weight: _convolved(
        "⋆", "the sum over all windows of an input, each times a number"),
    pooling._chosen_places: lambda t, *_: Words("the largest of each window"),
    pooling.sum_pool: lambda t, x, *_: Large("Σ", t.value(x), Words("each window")),
    pooling.sum_pool_transpose: lambda t, y, *_: Large(
        "Σ", t.value(y), Words("windows that it is in")),
    layers.by_channel: _first,
    layers.channel_sum: lambda t, x: Large("Σ", t.value(x), Words("each channel")),
    layers.channel_mean: lambda t, x: t.called("mean", x, below=Words("each channel")),
    layers.channel_count: _said("n", "how many numbers a channel has"),
    # Recurrences
    layers.before: _before,
    layers.first_step: lambda t, x: Script(t.value(x), below=Number("1")),
    layers.summed_over_steps: _over_steps,
    layers.lstm_slopes: _said(
        "δ",
        "what reaches the gates i, f, g, o of a step: ċ g i(1 − i), ċ c₋ f(1 − f), ċ i(1 − g²), "
        "ḣ tanh(c) o(1 − o), where ḣ is its ḡ and δ weight of the next step, and ċ that of the "
        f"cell state, c₋ the one before; {_LATER}"),
    layers.cell_slopes: _said(
        "ċ", "what reaches the cell state of a step: its ḡ, ḣ o(1 − tanh²(c)), and f ċ of the next "
        f"step; {_LATER}"),
    layers.forget_gate: _said("f", "the forget gate of each step"),
    layers.gru_slopes: _said(
        "δ", "what reaches the gates r, z, n of a step: s u r(1 − r), ḣ (h₋ − n) z(1 − z), and "
        f"s = ḣ (1 − z)(1 − n²), where u is what r multiplies, h₋ the state before; {_LATER}"),
    layers.gru_slopes_inside: _said(
        "δ", "what reaches the gates r, z, n of a step, times r for n: s u r(1 − r), "
        "ḣ (h₋ − n) z(1 − z), and r s with s = ḣ (1 − z)(1 − n²), where u is what r multiplies, "
        f"h₋ the state before; {_LATER}"),
    layers.hidden_slopes: _said(
        "ḣ", "what reaches the hidden state of a step: its ḡ, and of the next step z ḣ and "
        f"what comes through the weight; {_LATER}"),
    layers.update_gate: _said("z", "the update gate of each step"),
    layers.rnn_slopes: _said(
        "δ", "its ḡ and δ weight of the next step, times the slope of the nonlinearity at each "
        f"step; {_LATER}"),
}  # fmt: skip
