"""One entry of a gradient, worked out in numbers.

There are two ways. The formula of the rule can be written for the entry. Or, by the chain rule, the
entry is a sum over all outputs that it reaches, of their gradient times ∂y/∂x. Where a rule only
moves, adds and multiplies, as that of a convolution, ∂y/∂x is an entry of another argument, or 1.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.api import grad
from minigrad.autograd.call import call_path
from minigrad.autograd.mode import State, state
from minigrad.autograd.primitives import Primitive
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor
from minigrad.viz.formula import reading_of
from minigrad.viz.formula.definitions import Reading
from minigrad.viz.formula.entries import Entries, Index, as_index, total
from minigrad.viz.formula.terms import (
    Call,
    Constant,
    Entry,
    Term,
    Variable,
    evaluate,
    rebuilt,
    walk,
)
from minigrad.viz.formula.text import text
from minigrad.viz.formula.typesetting import Typesetter
from minigrad.viz.record.steps import Given

SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"

TOLERANCE = 1e-4
"""How far the result, in float64, may be from the gradient, as a part of its largest entry."""

Written = tuple[Term, Entries | None, Reading]


@dataclass(frozen=True, slots=True)
class Worked:
    """An entry of a gradient, worked out.

    Attributes:
        index: Which entry.
        equations: Pairs of what it is, such as ``"ḡ[0] · b[0]"``, and that in numbers, such as
            ``"= 2 · 3 = 6"``; then those of names in it, such as ``"u[0] = ḡ[0] · weight[0]"``.
        value: The result.
    """

    index: Index
    equations: tuple[tuple[str, str], ...]
    value: float

    @property
    def copied(self) -> bool:
        """Whether it is just the same entry of ḡ."""
        return self.equations[0][0] == f"ḡ{_place(self.index)}"


def is_inside(index: Index, shape: Index) -> bool:
    """Whether an array of a shape has an entry at an index."""
    return len(index) == len(shape) and all(0 <= i < n for i, n in zip(index, shape, strict=True))


def work_out(
    op: Primitive | None, argument: str, given: Given | None, index: Index | None = None
) -> Worked | None:
    """Work out an entry of the gradient of an argument: the one at an index, else the largest.

    None if the numbers are not known, or all are 0.
    """
    if op is None or given is None or argument not in given.sent:
        return None
    sent = given.sent[argument]
    sizes = np.abs(sent)
    if index is None or not is_inside(index, sent.shape):
        if not 0 < sizes.max(initial=0) < np.inf:
            return None
        index = as_index(int(sizes.argmax()), sent.shape)
    for written in _ways(op, argument, given, index):
        value = _value(written[0])
        if abs(value - sent[index]) <= TOLERANCE * sizes.max():
            return Worked(index, tuple(_equations(op, written)), value)
    return None


def _ways(op: Primitive, argument: str, given: Given, index: Index) -> Iterator[Written]:
    """The ways to write an entry, the best first, and how to write what comes after it."""
    name, _, place = argument.partition("[")
    values = given.values | ({"i": int(place[:-1])} if place else {})
    reading = reading_of(op, name, values)
    entries = Entries(reading, values)
    formula = _tried(lambda: entries.gradient(index, given.sent[argument].shape))
    if formula is not None and entries.elementwise:
        yield formula, entries, reading
    chain, exact = _tried(lambda: _by_chain_rule(op, argument, given.values, index)) or (
        None,
        False,
    )
    if chain is not None and exact:
        yield chain, None, reading
    if formula is not None and not isinstance(formula, Entry):
        yield formula, entries, reading
    if chain is not None:
        yield chain, None, reading


def _tried(way: Callable[[], Any]) -> Any:
    """The result of a function; None if it does not apply, or needs a value that is not known."""
    try:
        with np.errstate(all="ignore"):
            return way()
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return None


def _by_chain_rule(
    op: Primitive, argument: str, values: Mapping[str, Any], index: Index
) -> tuple[Term, bool]:
    """The sum over outputs, and whether each ∂y/∂x in it is 1 or an entry of an argument."""
    labels: dict[float, tuple[str, Index]]
    slopes, labels = _tried(lambda: _slopes(op, argument, values, index, drawn=True)) or ([], {})
    sizes = {abs(slope) for _, _, slope in slopes} - {1}
    if not sizes or not sizes <= {*labels}:
        labels, slopes = {}, _slopes(op, argument, values, index)[0]
    exact = bool(labels) or all(abs(slope) == 1 for _, _, slope in slopes)

    def term_of(output: int, at: Index, slope: float) -> Term:
        number = f"{output}" if op.multiple_outputs else ""
        g = _entry(values, f"g[{number}]" if number else "g", at)
        if not exact:
            y = ("out" if "y" in op.params else "y") + SUBSCRIPTS[output] * bool(number)
            derivative = Variable(f"∂{y}{_place(at)}/∂{argument}{_place(index)}")
            return Call(operator.mul, (g, Entry(derivative, (), slope)))
        known = labels.get(abs(slope))
        product = g if known is None else Call(operator.mul, (g, _entry(values, *known)))
        return product if slope > 0 else Call(operator.neg, (product,))

    terms = [term_of(*one) for one in slopes]
    numbers = np.array([_value(term) for term in terms])
    return total(numbers, terms.__getitem__), exact


def _entry(values: Mapping[str, Any], name: str, index: Index) -> Entry:
    """An entry of an array, such as ``b``, or of one of several, such as ``tensors[1]``."""
    name, _, place = name.partition("[")
    if not place:
        return Entry(Variable(name), index, values[name][index])
    one = int(place[:-1])
    array = Call(operator.getitem, (Variable(name), Constant(one)))
    return Entry(array, index, values[name][one][index])


def _slopes(
    op: Primitive, argument: str, values: Mapping[str, Any], index: Index, drawn: bool = False
) -> tuple[list[tuple[int, Index, float]], dict[float, tuple[str, Index]]]:
    """∂y/∂x at an entry of an argument, for each entry of each output where it is not 0.

    What a rule sends is linear in the gradient of the output, so ∂y/∂x is the derivative of that.
    `drawn` takes random numbers for the arguments: the second result tells which entry each is.
    """
    made: dict[str, Tensor] = {}
    draw = np.random.default_rng(0).uniform

    def operand(name: str, value: Any) -> Any:
        if isinstance(value, tuple) and op.variadic and name == op.params[0]:
            return [operand(f"{name}[{i}]", one) for i, one in enumerate(value)]
        if not isinstance(value, np.ndarray):
            return value
        if drawn and value.dtype.kind == "f":
            value = np.asarray(draw(0.5, 1.5, value.shape))
        made[name] = tensor(value, requires_grad=name == argument)
        return made[name]

    outer = state.get()
    state.set(State())
    try:
        arguments = [operand(name, values[name]) for name in op.params]
        result = op.call_with(call_path(op), arguments)
        outputs = result if isinstance(result, tuple) else (result,)
        known = {i: y for i, y in enumerate(outputs) if y.requires_grad}
        ones = [tensor(np.ones(y.shape), requires_grad=True) for y in known.values()]
        (sent,) = grad(list(known.values()), made[argument], ones, create_graph=True)
        slopes = grad(sent[index], ones, allow_unused=True)
    finally:
        state.set(outer)
    found = [
        (output, tuple(map(int, at)), float(slope.numpy()[tuple(at)]))
        for output, slope in zip(known, slopes, strict=True)
        if slope is not None
        for at in np.argwhere(slope.numpy())
    ]
    others = {n: one.numpy() for n, one in made.items() if n != argument and one.dtype.kind == "f"}
    places = {float(x): (name, at) for name, a in others.items() for at, x in np.ndenumerate(a)}
    return found, places if drawn else {}


# As text ----------------------------------------------------------------------------------------


def _equations(op: Primitive, written: Written) -> Iterator[tuple[str, str]]:
    """The equation of an entry, and of the first entry of each array that it names or sums."""
    term, entries, reading = written
    typesetter = Typesetter(op, reading, of_entries=True)

    def as_text(term: Term) -> str:
        return text(typesetter.value(term))

    def equation(left: str, term: Term) -> tuple[str, str]:
        value = _value(term)
        shown = (part.number for part in walk(term) if isinstance(part, Entry))
        sign = "=" if all(map(_is_exact, (value, *shown))) else "≈"
        sides = dict.fromkeys(map(as_text, (_in_numbers(term), _shown(value))))
        return left + as_text(term), " ".join(f"{sign} {side}" for side in sides)

    yield equation("", term)
    terms, told = [term], set[str]()
    for term in terms:
        for part in walk(term):
            if entries is None or not isinstance(part, Entry) or repr(part.array) in told:
                continue
            if (found := entries.behind(part)) is not None:
                told.add(repr(part.array))
                terms.append(found)
                yield equation(f"{as_text(part)} = ", found)


def _value(term: Term) -> float:
    with np.errstate(all="ignore"):
        return float(evaluate(term, {}))


def _in_numbers(term: Term) -> Term:
    return _shown(term.number) if isinstance(term, Entry) else rebuilt(term, _in_numbers)


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
