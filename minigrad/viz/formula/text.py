"""Write a notation as one line of Unicode text."""

from minigrad.viz.formula import notation as n

SUPERSCRIPTS = dict(zip("0123456789+−T′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ′", strict=True))
SUBSCRIPTS = dict(zip("0123456789ij", "₀₁₂₃₄₅₆₇₈₉ᵢⱼ", strict=True))
ROOTS = {2: "√", 3: "∛"}
TIGHT = {"", " ", ":"}
"""Signs without spaces around them."""


def text(notation: n.Notation) -> str:
    """Write a notation as one line of text, such as ``ḡ / 2``."""
    match notation:
        case n.Symbol(name, _, bar):
            if bar:  # other letters than g have no barred character of their own
                return "ḡ" if name == "g" else f"{name}\u0304"
            return name
        case n.Number(digits) | n.Words(digits):
            return digits
        case n.Minus(body):
            return f"−{_at_least(n.Level.PRODUCT, body)}"
        case n.Infix(parts, signs):
            written = [_at_least(n.needed(notation, i), part) for i, part in enumerate(parts)]
            spaced = (s if s in TIGHT else ", " if s == "," else f" {s} " for s in ("", *signs))
            return "".join(sign + part for sign, part in zip(spaced, written, strict=True))
        case n.Fraction(top, bottom):
            return f"{_at_least(n.Level.PRODUCT, top)} / {_at_least(n.Level.SCRIPT, bottom)}"
        case n.Script(base, above, below):
            scripts = _script("_", below, SUBSCRIPTS) + _script("^", above, SUPERSCRIPTS)
            return _at_least(n.Level.ATOM, base) + scripts
        case n.Root(body, degree):
            return ROOTS[degree] + _at_least(n.Level.ATOM, body)
        case n.Large(sign, body, below):
            inner = _at_least(n.Level.MATRIX, body)
            gap = "" if inner.startswith("(") else " "
            return sign + _script("_", below, SUBSCRIPTS) + gap + inner
        case n.Applied(function, arguments, left, right):
            name = "" if function is None else text(function)
            return f"{name}{left}{', '.join(map(text, arguments))}{right}"
        case n.Cases(values, conditions):
            said = [_at_least(n.Level.CONDITION, value) for value in values]
            cases = [f"{v} if {text(c)}" for v, c in zip(said, conditions, strict=False)]
            return "; ".join([*cases, f"{said[-1]} otherwise"])
        case n.Sentence(parts):
            return "".join(map(text, parts))
        case n.Where(body, equations):
            defined = ", ".join(f"{text(left)} = {text(right)}" for left, right in equations)
            return f"{text(body)}, where {defined}"


def _at_least(least: n.Level, notation: n.Notation) -> str:
    """A part, in parentheses if its precedence is lower than `least`."""
    inner = text(notation)
    return inner if n.level(notation, stacked=False) >= least else f"({inner})"


def _script(mark: str, notation: n.Notation | None, letters: dict[str, str]) -> str:
    """A superscript or subscript: in small letters where Unicode has all of them."""
    if notation is None:
        return ""
    inner = text(notation)
    if {*inner} <= letters.keys():
        return "".join(map(letters.get, inner))  # type: ignore[arg-type]
    bracketed = isinstance(notation, n.Applied) and notation.function is None
    return f"{mark}{inner}" if inner.isidentifier() or bracketed else f"{mark}({inner})"
