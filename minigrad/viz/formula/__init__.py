"""The formula of every rule, made from the syntax tree of the rule.

    sources.py     find the syntax tree of a function
    reader.py      read it as a term (terms.py)
    algebra.py     simplify products and quotients
    typesetting.py make notation of the term (notation.py); signs.py has the sign of each function
    printers.py    write the notation as a line of Unicode, for a browser, and for a paper

If a rule is a kernel, the formula that was written for it (`defformula`) is read instead. The tests
compute every formula of minigrad and compare it with its rule.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from minigrad.autograd.plan import Rule
from minigrad.autograd.primitives import Primitive, registry
from minigrad.viz.formula.definitions import Reading, for_call, in_simple_terms
from minigrad.viz.formula.printers import latex, mathml, text
from minigrad.viz.formula.reader import Unreadable, read, read_forward, read_written
from minigrad.viz.formula.signs import shrunk
from minigrad.viz.formula.sources import source
from minigrad.viz.formula.terms import Call, Constant, Variable
from minigrad.viz.formula.typesetting import Typesetter

__all__ = ["Formula", "formula_of", "formulas", "reading_of", "readings"]


@dataclass(frozen=True, slots=True)
class Formula:
    r"""The formula of a rule for one argument.

    Attributes:
        mathml: The formula as a ``<math>`` element.
        text: The formula as a line of text.
        latex: The formula for the math mode of LaTeX, with the packages amsmath and amssymb.
        notes: What the formula leaves out, such as the value where a slope is infinite.
        source: The text of the rule; empty if it is not known.
        origin: ``"rule"`` if the formula was made from the rule; ``"written"`` if it was written
            by hand.
        place: File and line of the rule, such as ``"minigrad/ops/elementwise.py:251"``, or empty.

    Example:
        >>> from minigrad import viz
        >>> formula = viz.formulas("sqrt")["x"]
        >>> formula.text, formula.notes
        ('ḡ / (2y)', ('0 where ḡ is 0 and the slope is infinite',))
        >>> print(formula.latex)
        \frac{\bar{g}}{2y}
        >>> formula.source
        'lambda g, out: g * zero_safe(0.5 / out, g)'
    """

    mathml: str = field(repr=False)
    text: str
    latex: str = field(repr=False)
    notes: tuple[str, ...]
    source: str
    origin: Literal["rule", "written"]
    place: str

    def _repr_html_(self) -> str:
        css = files("minigrad.viz.page").joinpath("static", "mathml.css").read_text("utf-8")
        style = f"<style>.minigrad-formula {{\n{css}}}</style>"
        return f'<div class="minigrad-formula">{style}{self.mathml}</div>'


def formulas(op: Any, /, **given: Any) -> dict[str, Formula]:
    """Get the formula of the gradient of each argument of an op.

    Args:
        op: An op, its record, or the name of one of minigrad's own.
        **given: Arguments of a call, such as ``axis=0``. Cases that this call does not use are left
            out; without them all cases are shown.

    Returns:
        A formula for each argument that has a derivative, in terms of ḡ, the gradient with respect
        to the output y. The engine then sums over the axes along which an argument was broadcast.

    Raises:
        KeyError: minigrad has no op of that name.
        TypeError: The op has no such argument.

    Example:
        >>> from minigrad import viz
        >>> {name: formula.text for name, formula in viz.formulas("divide").items()}
        {'a': 'ḡ / b', 'b': '−ḡ ⊙ a / b²'}
        >>> viz.formulas("norm", ord=2, axis=None)["x"].text
        'spread(ḡ) ⊙ x / y'
    """
    record = _record(op)
    if unknown := sorted(given.keys() - {*record.params}):
        raise TypeError(f"formulas: {record.name} has no argument {', '.join(unknown)}")
    return {
        name: _formula(record, rule, for_call(reading, given, record))
        for name, rule, reading in readings(record)
    }


def formula_of(
    op: Primitive | None, argument: str, values: Mapping[str, Any] = MappingProxyType({}),
    axes: Sequence[int] = (),
) -> Formula | None:  # fmt: skip
    """Find the formula of an argument of an op, such as ``"a"`` or ``"tensors[2]"``, for a call.

    `values` are those of the arguments and of saved arrays, as far as they are known. It is summed
    over the `axes` along which the argument was broadcast. None if there is no formula, or the op
    is not known any more.
    """
    name = argument.partition("[")[0]
    if op is None or name not in _known(op):
        return None
    rule, reading, formula = _known(op)[name]
    called = for_call(reading, values, op)
    if axes and not isinstance(called.value, Constant):
        called = called._replace(value=Call(shrunk, (called.value, Constant(tuple(axes)))))
    return formula if called is reading else _formula(op, rule, called)


def reading_of(op: Primitive, argument: str, values: Mapping[str, Any]) -> Reading:
    """The rule of an argument as read, for a call with these values."""
    return for_call(_known(op)[argument][1], values, op)


def forward_reading(op: Primitive, name: str, values: Mapping[str, Any]) -> Reading | None:
    """The formula of the op itself: of ``out`` or of a residual; None if of neither.

    It is for a call with these values.
    """
    reading = _forward(op, name)
    return None if reading is None else for_call(reading, values, op)


@functools.lru_cache(maxsize=512)
def _forward(op: Primitive, name: str) -> Reading | None:
    if name in op.formulas:
        return in_simple_terms(_reading(op, name, None), op)
    try:
        return in_simple_terms(read_forward(op), op) if name == "out" else None
    except Unreadable:
        return None


def _known(op: Primitive) -> dict[str, tuple[Rule, Reading, Formula]]:
    return _read_once(op, op.joint, *op.rules.values(), *op.formulas.values())


@functools.lru_cache(maxsize=512)
def _read_once(op: Primitive, *_key: object) -> dict[str, tuple[Rule, Reading, Formula]]:
    """The formulas of an op; read again when its rules or written formulas change."""
    return {name: (rule, one, _formula(op, rule, one)) for name, rule, one in readings(op)}


def readings(op: Primitive) -> Iterator[tuple[str, Rule, Reading]]:
    """Yield each argument of an op that has a derivative, with its rule and its reading."""
    rules = dict(op.rules)
    if op.joint is not None:
        rules |= {op.params[slot]: op.joint for slot in op.joint_slots}
    for name, rule in rules.items():
        yield name, rule, in_simple_terms(_reading(op, name, rule), op)


def _reading(op: Primitive, name: str, rule: Rule | None) -> Reading:
    stands_for, *texts = op.formulas.get(name, (None,))
    home: Any = op.forward
    if rule is not None and stands_for is not rule:
        home = rule.function
        texts = [home.formula] if hasattr(home, "formula") else []
    if texts:
        try:
            return read_written(op, getattr(home, "__globals__", {}), *texts)
        except Unreadable as error:
            reason = str(error) or "it has a statement, or a call, that is not a formula"
            message = f"{op.name}: the formula of {name!r} cannot be read: {reason}"
            raise ValueError(message) from None
    assert rule is not None
    if rule is not op.joint:  # which returns the gradients of all arguments
        with suppress(Unreadable):
            return read(rule.function)
    arguments = tuple(map(Variable, ("g", *rule.needs)))
    notes = ("the source of the rule is not at hand",) * (source(rule.function) is None)
    return Reading(Call(rule.function, arguments), notes=notes)


def _formula(op: Primitive, rule: Rule, reading: Reading) -> Formula:
    typesetter = Typesetter(op, reading)
    notation = typesetter.formula()
    notes = tuple(dict.fromkeys(typesetter.notes))
    found = source(rule.function)
    code, place = ("", "") if found is None else (found.text, found.place)
    origin: Literal["rule", "written"] = "written" if reading.written else "rule"
    written = mathml(notation), text(notation), latex(notation)
    return Formula(*written, notes, code, origin, place)


def _record(op: Any) -> Primitive:
    if isinstance(op, str):
        if op not in registry:
            raise KeyError(f"formulas: there is no op {op!r} in minigrad; pass your own itself")
        return registry[op]
    record: Primitive = getattr(op, "op", op)
    return record
