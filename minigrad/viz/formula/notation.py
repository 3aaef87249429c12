"""Mathematics as people write it: what stands beside, above, below and within what.

Both forms of a formula, MathML and a line of text, are made of a tree of these. Neither form knows
what is computed, and nothing here knows how either is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "INVERSE", "INVERSE_TRANSPOSED", "TRANSPOSED",
    "Applied", "Cases", "Enclosed", "Fraction", "Infix", "Large", "Level", "Minus", "Notation",
    "Number", "Root", "Script", "Sentence", "Symbol", "Where", "Words",
    "begins_with_a_digit", "begins_with_a_word", "ended", "level",
    "needed",
]  # fmt: skip


class Level(IntEnum):
    """How tightly a notation holds together: what is looser than its place gets parentheses."""

    SENTENCE = 0
    CONDITION = 1
    RELATION = 2
    SUM = 3
    PRODUCT = 4
    MATRIX = 5
    SCRIPT = 6
    ATOM = 7


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name: slanted for a quantity, upright for a function or a sign, and perhaps barred."""

    text: str
    upright: bool = False
    bar: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """Digits."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """Plain English."""

    text: str


@dataclass(frozen=True, slots=True)
class Infix:
    """Parts with a sign in each gap: "" for ``2x``, " " for a product of matrices."""

    parts: tuple[Notation, ...]
    signs: tuple[str, ...]
    level: Level


@dataclass(frozen=True, slots=True)
class Minus:
    """A sign in front."""

    body: Notation


@dataclass(frozen=True, slots=True)
class Fraction:
    """One above the other, or in a line with a stroke between them."""

    top: Notation
    bottom: Notation


@dataclass(frozen=True, slots=True)
class Script:
    """Something small above or below."""

    base: Notation
    above: Notation | None = None
    below: Notation | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """A square root, or a cube root."""

    body: Notation
    degree: int = 2


@dataclass(frozen=True, slots=True)
class Large:
    """A sum or a product over something, which stands below the sign."""

    sign: str
    body: Notation
    below: Notation | None = None


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Within brackets, whatever they are."""

    left: str
    body: Notation
    right: str


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of arguments, or with other brackets the element at a place."""

    function: Notation
    arguments: tuple[Notation, ...]
    left: str = "("
    right: str = ")"


@dataclass(frozen=True, slots=True)
class Cases:
    """Values and when they hold; the last one holds otherwise."""

    values: tuple[Notation, ...]
    conditions: tuple[Notation, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and mathematics, one after the other."""

    parts: tuple[Notation, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """A formula and the equations that explain it."""

    body: Notation
    equations: tuple[tuple[Notation, Notation], ...]


Notation = (
    Symbol | Number | Words | Infix | Minus | Fraction | Script | Root | Large | Enclosed
    | Applied | Cases | Sentence | Where
)  # fmt: skip


TRANSPOSED = Symbol("T", upright=True)
INVERSE = Minus(Number("1"))
INVERSE_TRANSPOSED = Symbol("−T", upright=True)


def level(notation: Notation, stacked: bool) -> Level:
    """How tightly a notation holds together, with `stacked` fractions, or with those in a line."""
    match notation:
        case Infix(level=found):
            return found
        case Sentence() | Where() | Cases():
            return Level.SENTENCE
        case Minus():
            return Level.SUM
        case Fraction():
            return Level.SCRIPT if stacked else Level.PRODUCT
        case Script() | Large():
            return Level.SCRIPT
        case Root():
            return Level.ATOM if stacked else Level.SCRIPT
    return Level.ATOM


def needed(parent: Infix, position: int) -> Level:
    """How tight a part of an infix must be: the first may be as loose as the whole."""
    if parent.signs[0] == "":
        return Level.SCRIPT if position else Level.ATOM
    return parent.level if position == 0 else Level(parent.level + 1)


def ended(notation: Notation) -> Notation:
    """The same with parentheses around a large sum at its end, which seems to go on otherwise."""
    match notation:
        case Large():
            return Enclosed("(", notation, ")")
        case Infix(parts, signs, found):
            return Infix((*parts[:-1], ended(parts[-1])), signs, found)
    return notation


def begins_with_a_digit(notation: Notation) -> bool:
    """Whether a number in front of it would run into its first digit."""
    match notation:
        case Number() | Fraction():
            return True
        case Script(base):
            return begins_with_a_digit(base)
        case Infix(level=found):
            return found > Level.SUM  # a sum gets parentheses
    return False


def begins_with_a_word(notation: Notation) -> bool:
    """Whether its first name has several letters."""
    match notation:
        case Symbol(name):
            return len(name) > 1
        case Script(base) | Applied(base):
            return begins_with_a_word(base)
    return False
