"""A formula as one line of Unicode text."""

from __future__ import annotations

from minigrad.viz.formula import notation as n

__all__ = ["text"]

SUPERSCRIPTS = dict(zip("0123456789+−T′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ′", strict=True))
SUBSCRIPTS = dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True)) | {"i": "ᵢ", "j": "ⱼ"}
ROOTS = {2: "√", 3: "∛"}
TIGHT = {"", " ", ":"}
"""Signs with no space around them."""

BARRED = {"g": "ḡ"}
"""Letters that have a barred form of their own; others get a mark that combines with them."""


def text(notation: n.Notation) -> str:
    """Write a formula as a line of text.

    Example:
        >>> from minigrad.viz.formula.notation import Fraction, Number, Symbol
        >>> from minigrad.viz.formula.text import text
        >>> text(Fraction(Symbol("g", bar=True), Number("2")))
        'ḡ / 2'
    """
    match notation:
        case n.Symbol(name, _, bar):
            return BARRED.get(name, f"{name}\u0304") if bar else name
        case n.Number(digits) | n.Words(digits):
            return digits
        case n.Minus(body):
            return f"−{_at_least(n.Level.PRODUCT, body)}"
        case n.Infix(parts, signs):
            written = [_at_least(n.needed(notation, i), part) for i, part in enumerate(parts)]
            joined = written[0]
            for sign, part in zip(signs, written[1:], strict=True):
                joined += (sign if sign in TIGHT else ", " if sign == "," else f" {sign} ") + part
            return joined
        case n.Fraction(top, bottom):
            return f"{_at_least(n.Level.PRODUCT, top)} / {_at_least(n.Level.SCRIPT, bottom)}"
        case n.Script(base, above, below):
            return _at_least(n.Level.ATOM, base) + _below(below) + _above(above)
        case n.Root(body, degree):
            return ROOTS[degree] + _at_least(n.Level.ATOM, body)
        case n.Large(sign, body, below):
            inner = _at_least(n.Level.MATRIX, body)
            return sign + _below(below) + ("" if inner.startswith("(") else " ") + inner
        case n.Enclosed(left, body, right):
            return left + text(body) + right
        case n.Applied(function, arguments, left, right):
            return f"{text(function)}{left}{', '.join(map(text, arguments))}{right}"
        case n.Cases(values, conditions):
            said = [_at_least(n.Level.CONDITION, value) for value in values]
            cases = [f"{v} if {text(c)}" for v, c in zip(said, conditions, strict=False)]
            return "; ".join([*cases, f"{said[-1]} otherwise"])
        case n.Sentence(parts):
            return "".join(map(text, parts))
        case n.Where(body, equations):
            explained = ", ".join(f"{text(left)} = {text(right)}" for left, right in equations)
            return f"{text(body)}, where {explained}"


def _at_least(least: n.Level, notation: n.Notation) -> str:
    """A part, in parentheses if it is looser than its place."""
    inner = text(notation)
    return inner if n.level(notation, stacked=False) >= least else f"({inner})"


def _above(notation: n.Notation | None) -> str:
    if notation is None:
        return ""
    inner = text(notation)
    if {*inner} <= SUPERSCRIPTS.keys():
        return "".join(SUPERSCRIPTS[c] for c in inner)
    return f"^{inner}" if inner.isidentifier() else f"^({inner})"


def _below(notation: n.Notation | None) -> str:
    if notation is None:
        return ""
    inner = text(notation)
    if {*inner} <= SUBSCRIPTS.keys():
        return "".join(SUBSCRIPTS[c] for c in inner)
    enclosed = inner.startswith("(") and inner.endswith(")")
    return f"_{inner}" if inner.isidentifier() or enclosed else f"_({inner})"
