"""One entry of a gradient, worked out in numbers.

There are two ways. The formula of the rule can be written for the entry. Or, by the chain rule, the
entry is a sum over all outputs that it reaches, of their gradient times ∂y/∂x. Where a rule only
moves, adds and multiplies, as that of a convolution, ∂y/∂x is an entry of another argument, or 1.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad._tensor import Tensor
from minigrad.autograd.api import grad
from minigrad.autograd.call import call_path
from minigrad.autograd.mode import State, state
from minigrad.autograd.primitive import Primitive
from minigrad.viz.formula import reading_of
from minigrad.viz.formula.definitions import Reading
from minigrad.viz.formula.entries import Entries, Index, as_index
from minigrad.viz.formula.terms import Call, Constant, Term, Variable, walk
from minigrad.viz.formula.text import text
from minigrad.viz.formula.typesetting import Typesetter
from minigrad.viz.record.steps import Given

__all__ = ["Worked", "is_inside", "offered", "work_out"]

FEW = 4
"""Of a gradient with at most so many entries, a page offers all."""

SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"

TOLERANCE = 1e-4
"""How far the result, in float64, may be from the gradient, as a part of its largest entry."""

Written = tuple[Entries, Term]


@dataclass(frozen=True, slots=True)
class Worked:
    """An entry of a gradient, worked out.

    Attributes:
        index: Which entry.
        equations: Pairs of what it is, such as ``"ḡ[0] · b[0]"``, and that in numbers, such as
            ``"= 2 · 3 = 6"``; then those of names in it, such as ``"u[0] = ḡ[0] · weight[0]"``.
        value: The result.
        copied: Whether it is just the same entry of ḡ.
    """

    index: Index
    equations: tuple[tuple[str, str], ...]
    value: float
    copied: bool


def is_inside(index: Index, shape: Index) -> bool:
    """Whether an array of a shape has an entry at an index."""
    return len(index) == len(shape) and all(0 <= i < n for i, n in zip(index, shape, strict=True))


def work_out(
    op: Primitive, argument: str, given: Given | None, index: Index | None = None
) -> Worked | None:
    """Work out an entry of the gradient of an argument: the largest, or the one at an index.

    None if the numbers are not known, all are 0, or there is no such entry.
    """
    if given is None or argument not in given.sent:
        return None
    sent = given.sent[argument]
    index = _largest(sent) if index is None else index
    if index is None or not is_inside(index, sent.shape):
        return None
    for entries, term in _ways(op, argument, given, index):
        value = entries.number(term)
        if abs(value - sent[index]) <= TOLERANCE * np.abs(sent).max():
            equations = tuple(_equations(op, entries, term))
            return Worked(index, equations, value, equations[0][0] == f"ḡ{_place(index)}")
    return None


def offered(op: Primitive | None, argument: str, given: Given | None) -> list[Worked]:
    """Work out the entries that a page offers: all of a few, else the largest, first and last."""
    if op is None or given is None or argument not in given.sent:
        return []
    shape = given.sent[argument].shape
    largest = _largest(given.sent[argument])
    if largest is None:
        return []
    ends = [as_index(0, shape), as_index(-1 + math.prod(shape), shape)]
    indices = list(np.ndindex(shape)) if math.prod(shape) <= FEW else ends
    found = [work_out(op, argument, given, index) for index in dict.fromkeys([largest, *indices])]
    return [worked for worked in found if worked is not None]


def _largest(array: np.ndarray) -> Index | None:
    """The index of the first entry of largest size; None if all are 0 or one is not finite."""
    sizes = np.abs(array)
    known = 0 < sizes.max(initial=0) < np.inf
    return as_index(int(sizes.argmax()), array.shape) if known else None


def _ways(op: Primitive, argument: str, given: Given, index: Index) -> Iterator[Written]:
    """The ways to write an entry, the best first."""
    formula = _tried(_by_formula, op, argument, given, index)
    if formula is not None and formula[0].elementwise:
        yield formula
    product = _tried(_by_chain_rule, op, argument, given, index, True)
    if product is not None:
        yield product
    if formula is not None and not formula[0].is_known(formula[1]):
        yield formula
    slopes = _tried(_by_chain_rule, op, argument, given, index, False)
    if slopes is not None:
        yield slopes


def _tried(way: Callable[..., Written | None], *arguments: Any) -> Written | None:
    """A way to write an entry; None if it does not apply, or needs a value that is not known."""
    try:
        with np.errstate(all="ignore"):
            return way(*arguments)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return None


def _by_formula(op: Primitive, argument: str, given: Given, index: Index) -> Written | None:
    name, _, place = argument.partition("[")
    values = given.values | ({"i": int(place[:-1])} if place else {})
    entries = Entries(reading_of(op, name, values), values)
    return entries, entries.gradient(index, given.sent[argument].shape)


def _by_chain_rule(
    op: Primitive, argument: str, given: Given, index: Index, exact: bool
) -> Written | None:
    """The sum over outputs; with `exact`, only if each ∂y/∂x is 1 or an entry of an argument."""
    slopes = _slopes(op, argument, given.values, index)
    labels: dict[float, tuple[str, Index]] = {}
    if exact:
        drawn, labels = _drawn(op, argument, given.values)
        slopes = _slopes(op, argument, drawn, index) if labels else slopes
        if not all(abs(one) in labels or abs(one) == 1 for _, _, one in slopes):
            return None
    entries = Entries(Reading(Constant(0)), given.values)
    y = "out" if "y" in op.params else "y"

    def term_of(output: int, at: Index, slope: float) -> Term:
        g: Term = Variable("g")
        if op.multiple_outputs:
            g = Call(operator.getitem, (g, Constant(output)))
        product = entries.at(g, at)
        if abs(slope) in labels:
            name, place = labels[abs(slope)]
            product = Call(operator.mul, (product, entries.at(_argument(name), place)))
        elif abs(slope) != 1:
            of = f"{y}{SUBSCRIPTS[output] if op.multiple_outputs else ''}{_place(at)}"
            derivative = Variable(f"∂{of}/∂{argument}{_place(index)}")
            return Call(operator.mul, (product, entries.known(derivative, slope)))
        return product if slope > 0 else Call(operator.neg, (product,))

    terms = [term_of(*one) for one in slopes]
    numbers = np.array([entries.number(term) for term in terms])
    return entries, entries.total(numbers, lambda place: terms[place[0]])


def _argument(name: str) -> Term:
    """The term of an argument, such as ``b`` or ``tensors[1]``."""
    name, _, place = name.partition("[")
    whole = Variable(name)
    return Call(operator.getitem, (whole, Constant(int(place[:-1])))) if place else whole


def _drawn(
    op: Primitive, argument: str, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[float, tuple[str, Index]]]:
    """Random numbers for the arguments, and the place of each number that is in another one."""
    draw = np.random.default_rng(0).uniform
    labels = dict[float, tuple[str, Index]]()

    def drawn(name: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(drawn(f"{name}[{i}]", one) for i, one in enumerate(value))
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        array = np.asarray(draw(0.5, 1.5, value.shape))
        if name != argument:
            labels.update((float(array[i]), (name, i)) for i in np.ndindex(array.shape))
        return array

    return {name: drawn(name, values[name]) for name in op.params}, labels


def _slopes(
    op: Primitive, argument: str, values: Mapping[str, Any], index: Index
) -> list[tuple[int, Index, float]]:
    """∂y/∂x at an entry of an argument, for each entry of each output where it is not 0.

    What a rule sends is linear in the gradient of the output, so ∂y/∂x is the derivative of that.
    """
    argument_of, _, place = argument.partition("[")

    def tensor(name: str, value: Any) -> Any:
        if isinstance(value, tuple) and op.variadic and name == op.params[0]:
            return [tensor(f"{name}[{i}]", one) for i, one in enumerate(value)]
        return (
            Tensor(value, requires_grad=name == argument)
            if isinstance(value, np.ndarray)
            else value
        )

    outer = state.get()
    state.set(State())
    try:
        arguments = [tensor(name, values[name]) for name in op.params]
        x = arguments[op.places[argument_of]]
        x = x[int(place[:-1])] if place else x
        result = op.call_with(call_path(op), arguments)
        outputs = result if isinstance(result, tuple) else (result,)
        known = {i: y for i, y in enumerate(outputs) if y.requires_grad}
        ones = [Tensor(np.ones(y.shape), requires_grad=True) for y in known.values()]
        (sent,) = grad(list(known.values()), [x], ones, create_graph=True)
        slopes = grad(sent[index], ones, allow_unused=True)
    finally:
        state.set(outer)
    return [
        (output, tuple(map(int, at)), float(slope.numpy()[tuple(at)]))
        for output, slope in zip(known, slopes, strict=True)
        if slope is not None
        for at in np.argwhere(slope.numpy())
    ]


# As text ----------------------------------------------------------------------------------------


def _equations(op: Primitive, entries: Entries, term: Term) -> Iterator[tuple[str, str]]:
    """The equation of an entry, and of the first entry of each array that it names or sums."""
    typesetter = Typesetter(op, entries.reading, entries.scalars)

    def written(term: Term) -> str:
        return text(typesetter.value(term))

    def in_numbers(term: Term) -> str:
        value = entries.number(term)
        exact = all(map(_is_exact, [value, *entries.numbers_in(term)]))
        sides = (entries.in_numbers(term, _shown), _shown(value))
        return " ".join(
            f"{'=' if exact else '≈'} {side}" for side in dict.fromkeys(map(written, sides))
        )

    yield written(term), in_numbers(term)
    terms, told = [term], set[str]()
    for term in terms:
        for part in walk(term):
            if (found := entries.behind(part)) and repr(found[0]) not in told:
                told.add(repr(found[0]))
                terms.append(found[1])
                yield f"{written(part)} = {written(found[1])}", in_numbers(found[1])


def _shown(value: Any) -> Term:
    """A number with three digits; a condition is 1 or 0."""
    value = float(value)
    digits = f"{abs(value):.3g}".replace("e-0", "e−").replace("e+0", "e").replace("e-", "e−")
    number = Constant(abs(value), digits)
    return Call(operator.neg, (number,)) if value < 0 else number


def _is_exact(value: float) -> bool:
    """Whether three digits are all of a number of float32."""
    return bool(np.isclose(value, float(f"{value:.3g}"), rtol=1e-6, atol=0))


def _place(index: Index) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""
