"""From terms to notation: operators, conditions and indices. For functions see signs.py."""

import inspect
import itertools
import math
import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from minigrad.autograd.primitives import Primitive
from minigrad.support.checks import module_of
from minigrad.support.signatures import fits
from minigrad.viz.formula import notation as n
from minigrad.viz.formula.algebra import factors, is_scalar, summands
from minigrad.viz.formula.definitions import Reading, arrays_of
from minigrad.viz.formula.signs import SIGNS
from minigrad.viz.formula.terms import Call, Choice, Constant, Term, Variable, row
from minigrad.viz.record.writing import argument_text

RELATIONS = {
    operator.eq: "=", operator.ne: "≠", operator.lt: "<", operator.le: "≤", operator.gt: ">",
    operator.ge: "≥", operator.is_: "is", operator.is_not: "is not",
}  # fmt: skip
OPPOSITES = {operator.eq: operator.ne, operator.ne: operator.eq}
NOT = (operator.not_, operator.invert, np.logical_not)
LOGIC = (*RELATIONS, *NOT, operator.and_, operator.or_)


class Typesetter:
    """Makes the notation of one formula."""

    def __init__(self, op: Primitive, reading: Reading) -> None:
        self._op, self._reading = op, reading
        self._arrays = arrays_of(op)
        self._notes: dict[str, None] = {}
        self._explained = {
            name: one.comment
            for one in reading.definitions
            for name in one.names
            if one.comment is not None
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes beside the formula."""
        return (*self._reading.notes, *self._notes)

    def note(self, text: str) -> None:
        """Add a note."""
        self._notes[text] = None

    def formula(self) -> n.Notation:
        """The notation of the rule, with its definitions."""
        equations = []
        for definition in self._reading.definitions:
            if len(definition.names) > 1 or not is_scalar(definition.term, self._arrays):
                self._arrays.update(definition.names)
            if definition.comment is None:
                equations.append((self._names(definition.names), self.value(definition.term)))
        body = self.value(self._reading.value)
        # A name is used before the equation that defines it.
        return n.Where(body, tuple(reversed(equations))) if equations else body

    def _names(self, names: tuple[str, ...]) -> n.Notation:
        symbols = tuple(map(self.name, names))
        return symbols[0] if len(symbols) == 1 else n.Applied(None, symbols)

    # Names and numbers --------------------------------------------------------------------------

    def name(self, name: str) -> n.Notation:
        """A variable."""
        plain = name.rstrip("′")
        if name in self._explained:
            if comment := self._explained[name]:
                self.note(f"{plain}: {comment}")
            name = plain  # a note explains it, so it needs no prime
        if plain != name:
            return n.Script(self.name(plain), above=n.Symbol(name[len(plain) :], upright=True))
        if name in self._op.residuals:
            self.note(f"{name}: kept from the forward pass")
        if name in (*self._op.params, *self._op.residuals):
            return n.Symbol(name)
        if name == "g" or name.startswith("g_"):
            if (argument := name.removeprefix("g_")) in self._op.params and argument != name:
                self.note(f"{argument}\u0304: what {argument} gets")
            return n.Symbol(name.removeprefix("g_"), bar=True)
        if name == "out":
            return n.Symbol("out" if "y" in self._op.params else "y")
        of = name.removesuffix("_shape")
        if of != name and of in self._op.params:
            return n.Applied(n.Symbol("shape", upright=True), (self.name(of),))
        return n.Symbol(name)

    @staticmethod
    def constant(value: Any, symbol: str) -> n.Notation:
        """A constant."""
        if symbol:
            digits = symbol[0].isdigit()
            return n.Number(symbol) if digits else n.Symbol(symbol, upright=True)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            size = _number(abs(value))
            return n.Minus(size) if value < 0 else size
        if value is Ellipsis:
            return n.Symbol("…", upright=True)
        if isinstance(value, str):
            return n.Words(f"“{value}”")
        if isinstance(value, (tuple, slice)):
            value = argument_text(value)
        return n.Symbol(getattr(value, "__name__", str(value)).strip("_"), upright=True)

    # Terms --------------------------------------------------------------------------------------

    def value(self, term: Term) -> n.Notation:
        """A term as a value; a condition is put in brackets, which mean 1 or 0."""
        match term:
            case Variable(name):
                return self.name(name)
            case Constant(value, symbol):
                return self.constant(value, symbol)
            case Choice():
                return self._choice(term)
            case Call(function) if function in LOGIC:
                return n.enclosed(self.condition(term), "[", "]")
            case Call(operator.add | operator.sub):
                return self._sum(term)
            case Call(operator.mul):
                return self._product(term)
            case Call(operator.matmul):
                return self._matrices(term)
            case Call(operator.neg, (x,)):
                return n.Minus(self.value(x))
            case Call(operator.truediv, (a, b)):
                return n.Fraction(self.value(a), self.value(b))
            case Call(operator.pow, (base, exponent)):
                return n.Script(self.value(base), above=self.value(exponent))
            case Call(operator.getitem, (x, index)):
                return self._element(x, index)
            case Call(function, items) if function is row:
                return n.Applied(None, tuple(map(self.value, items)))
            case Call(function, ends) if function is slice:
                if len(ends) == 1:
                    ends = (Constant(None), *ends)
                written = [
                    n.Symbol("", upright=True) if end.is_constant(None) else self.value(end)
                    for end in (ends if not ends[-1].is_constant(None) else ends[:2])
                ]
                return n.Infix(tuple(written), (":",) * (len(written) - 1), n.Level.RELATION)
        assert isinstance(term, Call)
        return self._function(term)

    def _function(self, call: Call) -> n.Notation:
        """A function: its entry in the table of signs, or its name, and its docstring as a note."""
        entry = SIGNS.get(call.function) if isinstance(call.function, Hashable) else None
        keywords = dict(call.keywords)
        if entry is not None and fits(entry, (self, *call.args), keywords):
            return entry(self, *call.args, **keywords)
        name = getattr(call.function, "__name__", "function").strip("_")
        name = "rule" if name == "<lambda>" else name
        summary = _summary(call.function)
        if summary:
            self.note(f"{name}: {summary}")
        shown = [self.value(term) for term in call.args if not _is_dtype(term)]
        shown += [
            n.Infix((n.Symbol(word), self.value(term)), ("=",), n.Level.RELATION)
            for word, term in call.keywords
            if not _is_dtype(term)
        ]
        return n.Applied(n.Symbol(name, upright=True), tuple(shown))

    def _choice(self, choice: Choice) -> n.Notation:
        if choice.then.is_constant(None):
            return self.value(choice.otherwise)
        values, conditions = [], []
        rest: Term = choice
        while isinstance(rest, Choice):
            values.append(self.value(rest.then))
            conditions.append(self.condition(rest.test))
            rest = rest.otherwise
        return n.Cases((*values, self.value(rest)), tuple(conditions))

    # Sums and products --------------------------------------------------------------------------

    def _sum(self, term: Term) -> n.Notation:
        signs, parts = [], []
        for sign, part in summands(term):
            signs.append(sign)
            parts.append(self.value(part))
        parts[:-1] = map(n.ended, parts[:-1])
        if signs[0] == "−":
            parts[0] = n.Minus(parts[0])
        return n.Infix(tuple(parts), tuple(signs[1:]), n.Level.SUM)

    def _product(self, term: Term) -> n.Notation:
        terms = list(factors(term, operator.mul))
        written = [self.value(factor) for factor in terms]
        scalars = [is_scalar(factor, self._arrays) for factor in terms]
        signs = ["·" if any(pair) else "⊙" for pair in itertools.pairwise(scalars)]
        written[:-1] = map(n.ended, written[:-1])
        for i, factor in enumerate(written):
            matrices = isinstance(factor, n.Infix) and factor.signs[0] == " "
            if matrices and "⊙" in signs[max(i - 1, 0) : i + 1]:
                written[i] = n.enclosed(factor)
        begin = n.first(written[1])
        plain = isinstance(written[0], n.Number)
        if plain and not isinstance(begin, (n.Number, n.Fraction)):
            gap = " " if isinstance(begin, n.Symbol) and len(begin.text) > 1 else ""
            written[:2] = [n.Infix((written[0], written[1]), (gap,), n.Level.MATRIX)]
            del signs[0]
        return n.Infix(tuple(written), tuple(signs), n.Level.PRODUCT) if signs else written[0]

    def times(self, term: Term, factor: n.Notation) -> n.Notation:
        """The product of a term and a notation, element by element."""
        return n.Infix((self.value(term), factor), ("⊙",), n.Level.PRODUCT)

    def _matrices(self, term: Term) -> n.Notation:
        parts = tuple(map(self.value, factors(term, operator.matmul)))
        return n.Infix(parts, (" ",) * (len(parts) - 1), n.Level.MATRIX)

    def power(self, base: Term, exponent: n.Notation) -> n.Notation:
        """A term with an exponent; the transpose of an inverse gets one exponent for both."""
        written = self.value(base)
        if (
            isinstance(written, n.Script)
            and written.below is None
            and written.above in (n.TRANSPOSED, n.INVERSE)
        ):
            if written.above == exponent:
                return written.base
            return n.Script(written.base, above=n.INVERSE_TRANSPOSED)
        return n.Script(written, above=exponent)

    # Conditions and indices ---------------------------------------------------------------------

    def condition(self, term: Term) -> n.Notation:
        """A term as a condition."""
        match term:
            case Call(operator.and_, (a, b)):
                return self._both(a, b)
            case Choice(a, b, again) if a.same(again):
                return self._both(a, b)
            case Call(operator.or_, (a, b)):
                return self._joined(a, "or", b)
            case Choice(a, again, b) if a.same(again):
                return self._joined(a, "or", b)
            case Call(function, (x,)) if function in NOT:
                return self.negated(x)
            case Call(operator.getitem, (Call(function) as x, _)) if function in LOGIC:
                return self.condition(x)  # an index that only adds axes
            case Call(function, (a, b)) if function in RELATIONS:
                parts = (self.value(a), self.value(b))
                return n.Infix(parts, (RELATIONS[function],), n.Level.RELATION)
        return self.value(term)

    def negated(self, term: Term) -> n.Notation:
        """The opposite of a condition."""
        if isinstance(term, Call) and term.function in OPPOSITES:
            return self.condition(Call(OPPOSITES[term.function], term.args))
        if isinstance(term, Call) and term.function is operator.invert:
            return self.condition(term.args[0])
        inner = self.condition(term)
        if isinstance(inner, (n.Infix, n.Sentence)):
            inner = n.enclosed(inner)
        return n.Sentence((n.Words("not "), inner))

    def _both(self, a: Term, b: Term) -> n.Notation:
        """Two conditions; ``a < x`` and ``x < b`` are a chain."""
        match self._joined(a, "and", b):
            case n.Infix((
                n.Infix((*start, middle), signs, n.Level.RELATION),
                n.Infix((again, *end), more, n.Level.RELATION),
            )) if middle == again:  # fmt: skip
                return n.Infix((*start, middle, *end), signs + more, n.Level.RELATION)
            case joined:
                return joined

    def _joined(self, a: Term, word: str, b: Term) -> n.Notation:
        return n.Infix((self.condition(a), self.condition(b)), (word,), n.Level.CONDITION)

    def _element(self, x: Term, index: Term) -> n.Notation:
        indices = index.items()
        new = [part.is_constant(None) for part in indices]
        if indices[0].is_constant(...) and len(indices) > 1 and all(new[1:]):
            return self.spread(x)
        outputs = self._op.multiple_outputs and isinstance(x, Variable) and x.name in ("g", "out")
        if outputs and index.is_constant(*range(9)):
            return n.Script(self.value(x), below=self.value(index))
        whole, written = self.value(x), tuple(map(self.value, indices))
        if n.level(whole, stacked=True) < n.Level.SCRIPT and written:
            whole = n.enclosed(whole)
        return n.Applied(whole, written, "[", "]") if written else whole

    def spread(self, x: Term, axis: n.Notation | None = None) -> n.Notation:
        """An array that is broadcast along reduced axes."""
        self.note("spread: repeated along the axes that were reduced")
        word = n.Symbol("spread", upright=True)
        return n.Applied(word if axis is None else n.Script(word, below=axis), (self.value(x),))

    def axis(self, axis: Term | None) -> n.Notation | None:
        """The axes of a reduction; None for all."""
        if axis is None or axis.is_constant(None):
            return None
        return n.Words("last axis") if axis.is_constant(-1) else self.value(axis)

    def called(self, name: str, *terms: Term, below: n.Notation | None = None) -> n.Notation:
        """A function by its name."""
        word: n.Notation = n.Symbol(name, upright=True)
        if below is not None:
            word = n.Script(word, below=below)
        return n.Applied(word, tuple(map(self.value, terms)))


def _summary(function: Callable[..., Any]) -> str:
    """The first line of a docstring, to follow a colon; empty for well-known functions."""
    elsewhere = (module_of(function) or "builtins").startswith(("numpy", "builtins", "math"))
    if elsewhere or not hasattr(function, "__name__"):
        return ""
    line = (inspect.getdoc(function) or "").partition("\n")[0].replace("`", "").rstrip(".")
    return line[:1].lower() + line[1:]


def _number(value: float) -> n.Notation:
    """A number of at least 0; a half, quarter or eighth is a fraction."""
    if math.isinf(value):
        return n.Number("∞")
    if value < 1 and (1 / value if value else 0) in (2, 4, 8):
        return n.Fraction(n.Number("1"), n.Number(f"{1 / value:.0f}"))
    return n.Number(f"{value:.15g}")


def _is_dtype(term: Term) -> bool:
    return isinstance(term, Call) and term.function is getattr
