"""Mathematical notation as a tree: fractions, scripts, sums, parentheses.

The typesetter builds this tree from a term. printers.py writes it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Level(IntEnum):
    """The precedence of a notation: a part of lower precedence than its place gets parentheses."""

    SENTENCE = 0
    CONDITION = 1
    RELATION = 2
    SUM = 3
    PRODUCT = 4
    MATRIX = 5
    SCRIPT = 6
    ATOM = 7


class Symbol(NamedTuple):
    """A name: italic for a quantity, upright for a function or a sign, perhaps with a bar."""

    text: str
    upright: bool = False
    bar: bool = False


class Number(NamedTuple):
    """Digits."""

    text: str


class Words(NamedTuple):
    """Plain English."""

    text: str


class Infix(NamedTuple):
    """Parts with a sign between each two: "" for ``2x``, " " for a product of matrices."""

    parts: tuple[Notation, ...]
    signs: tuple[str, ...]
    level: Level


class Minus(NamedTuple):
    """A minus sign in front."""

    body: Notation


class Fraction(NamedTuple):
    """One notation over another; in a line of text, a stroke between them."""

    top: Notation
    bottom: Notation


class Script(NamedTuple):
    """A base with a superscript, a subscript, or both."""

    base: Notation
    above: Notation | None = None
    below: Notation | None = None


class Root(NamedTuple):
    """A square root, or a cube root."""

    body: Notation
    degree: int = 2


class Large(NamedTuple):
    """A sum or a product; its index is below the sign."""

    sign: str
    body: Notation
    below: Notation | None = None


class Applied(NamedTuple):
    """A function and its arguments, or an array and its indices; without a function, brackets."""

    function: Notation | None
    arguments: tuple[Notation, ...]
    left: str = "("
    right: str = ")"


class Cases(NamedTuple):
    """Values and their conditions; the last value, without a condition, holds otherwise."""

    values: tuple[Notation, ...]
    conditions: tuple[Notation, ...]


class Sentence(NamedTuple):
    """Words and mathematics, one after the other."""

    parts: tuple[Notation, ...]


class Where(NamedTuple):
    """A formula and the equations that define its names."""

    body: Notation
    equations: tuple[tuple[Notation, Notation], ...]


Notation = (
    Symbol | Number | Words | Infix | Minus | Fraction | Script | Root | Large | Applied | Cases
    | Sentence | Where
)  # fmt: skip

TRANSPOSED = Symbol("T", upright=True)
INVERSE = Minus(Number("1"))
INVERSE_TRANSPOSED = Symbol("−T", upright=True)


def enclosed(body: Notation, left: str = "(", right: str = ")") -> Notation:
    """Put brackets around a notation."""
    return Applied(None, (body,), left, right)


def level(notation: Notation, stacked: bool) -> Level:
    """The precedence of a notation; `stacked` fractions and roots need no parentheses inside."""
    match notation:
        case Infix():
            return notation.level
        case Sentence() | Where() | Cases():
            return Level.SENTENCE
        case Minus():
            return Level.SUM
        case Fraction():
            return Level.SCRIPT if stacked else Level.PRODUCT
        case Root():
            return Level.ATOM if stacked else Level.SCRIPT
        case Script() | Large():
            return Level.SCRIPT
    return Level.ATOM


def needed(parent: Infix, position: int) -> Level:
    """The lowest precedence that a part of an infix may have without parentheses."""
    if parent.signs[0] == "":
        return Level.SCRIPT if position else Level.ATOM
    return parent.level if position == 0 else Level(parent.level + 1)


def ended(notation: Notation) -> Notation:
    """Put parentheses around a sum at the end, so that what follows does not seem part of it."""
    match notation:
        case Large():
            return enclosed(notation)
        case Infix(parts, signs, found):
            return Infix((*parts[:-1], ended(parts[-1])), signs, found)
    return notation


def first(notation: Notation) -> Notation | None:
    """The first sign of a notation: a symbol, a number, a fraction; None if it is a bracket."""
    match notation:
        case Script(base) | Applied(base) if base is not None:
            return first(base)
        case Infix():  # a sum gets parentheses
            return first(notation.parts[0]) if notation.level > Level.SUM else None
    return notation
