"""Write a notation as LaTeX, for the packages amsmath and amssymb."""

import re
import unicodedata

from minigrad.viz.formula import notation as n

SIGNS = {
    "": "", " ": r"\,", "−": "-", "⊙": r"\odot", "·": r"\cdot", "×": r"\times", "∗": r"\ast",
    "∗ᵀ": r"\mathbin{\ast^{\top}}", "⋆": r"\star", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "mod": r"\bmod", ":": "{:}", "∞": r"\infty", "…": r"\ldots", "′": r"\prime", "∂": r"\partial",
    "→": r"\to", "√": r"\surd", "Σ": r"\sum", "Π": r"\prod", "ᵀ": r"^{\top}", "‖": r"\Vert",
}  # fmt: skip
"""Signs, and letters of notes, in mathematics."""

TEXT = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "“": "``",
    "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "\u00a0": "~",
} | {sign: f"\\{sign}" for sign in "{}$&#_%"}  # fmt: skip

BRACKETS = {"|": (r"\lvert ", r"\rvert"), "⌊": (r"\lfloor ", r"\rfloor")}

NEXT = r" \\ "
"""The end of a line."""

TALL = re.compile(r"\\(frac|begin)\b")
"""The notations that need larger brackets."""


def latex(notation: n.Notation) -> str:
    """Write a notation for the math mode of LaTeX, in ASCII."""
    match notation:
        case n.Symbol(name, upright, bar):
            inner = _name(name, upright)
            return f"\\{'bar' if len(name) == 1 else 'overline'}{{{inner}}}" if bar else inner
        case n.Number(digits):
            mantissa, exponent = (*digits.split("e"), "")[:2]
            if exponent:
                factor = "" if mantissa == "1" else rf"{mantissa} \times "
                return f"{{{factor}10^{{{int(exponent)}}}}}"
            return SIGNS.get(digits, digits)
        case n.Words(words):
            return rf"\text{{{prose(words)}}}"
        case n.Minus(body):
            return f"-{_at_least(n.Level.PRODUCT, body)}"
        case n.Infix(parts, signs):
            written = [_at_least(n.needed(notation, i), part) for i, part in enumerate(parts)]
            rest = (_sign(sign) + part for sign, part in zip(signs, written[1:], strict=True))
            return written[0] + "".join(rest)
        case n.Fraction(top, bottom):
            return rf"\frac{{{latex(top)}}}{{{latex(bottom)}}}"
        case n.Script(base, above, below):
            scripts = (("_", below), ("^", above))
            small = (f"{mark}{{{latex(one)}}}" for mark, one in scripts if one is not None)
            return _at_least(n.Level.ATOM, base) + "".join(small)
        case n.Root(body, degree):
            return rf"\sqrt{f'[{degree}]' if degree != 2 else ''}{{{latex(body)}}}"
        case n.Large(sign, body, below):
            under = "" if below is None else f"_{{{latex(below)}}}"
            return f"{SIGNS[sign]}{under} {_at_least(n.Level.MATRIX, body)}"
        case n.Applied(function, arguments, left, right):
            fenced = _fenced(left, ", ".join(map(latex, arguments)), right)
            if function is None:
                return fenced
            close = r"\mathopen{}" if fenced.startswith(r"\left") else ""  # no gap
            return latex(function) + close + fenced
        case n.Cases(values, conditions):
            ends = [rf"\text{{if }} {latex(one)}" for one in conditions] + [r"\text{otherwise}"]
            rows = [f"{{}}{latex(one)} & {end}" for one, end in zip(values, ends, strict=True)]
            return rf"\begin{{cases}} {NEXT.join(rows)} \end{{cases}}"
        case n.Sentence(parts):
            return "".join(map(latex, parts))
        case n.Where(body, equations):
            rows = [f"& {latex(body)}"] + [
                rf"& \text{{{'and' if i else 'where'} }} {latex(defined)} = {latex(term)}"
                for i, (defined, term) in enumerate(equations)
            ]
            return rf"\begin{{aligned}} {NEXT.join(rows)} \end{{aligned}}"


def prose(text: str) -> str:
    """Write a text for LaTeX, in ASCII; letters of mathematics are set as such."""
    marked = re.split("(\\w+)\u0304", unicodedata.normalize("NFD", text))  # x̄ is a letter and a bar
    return "".join(
        f"${latex(n.Symbol(part, bar=True))}$" if at % 2 else "".join(map(_letter, part))
        for at, part in enumerate(marked)
    )


def _letter(letter: str) -> str:
    """A letter of a text."""
    if letter in TEXT or letter.isascii():
        return TEXT.get(letter, letter)
    return f"${_sign_of(letter)}$"


def _name(name: str, upright: bool) -> str:
    """A name in mathematics: italic, or upright as functions are."""
    if name.startswith("−"):
        return "-" + _name(name[1:], upright)
    letters = [*map(_sign_of, name)]
    if name == "T" and upright:
        return r"\top"
    if len(name) > 1 and name.strip("′"):
        return rf"\{'operatorname' if upright else 'mathit'}{{{''.join(letters)}}}"
    return rf"\mathrm{{{name}}}" if upright and name.isascii() and name else " ".join(letters)


def _sign_of(letter: str) -> str:
    """A letter in mathematics: a sign, Greek, without its accent, or its number in Unicode."""
    if letter.isascii():
        return TEXT.get(letter, letter)
    if letter in SIGNS:
        return SIGNS[letter]
    kind, _, name = unicodedata.name(letter, "").rpartition(" LETTER ")
    if kind in ("GREEK SMALL", "GREEK CAPITAL") and name.isalpha():
        name = name.replace("LAMDA", "LAMBDA")
        return rf"\{name.lower() if kind == 'GREEK SMALL' else name.capitalize()}"
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return plain or rf"\text{{U+{ord(letter):04X}}}"


def _sign(sign: str) -> str:
    """A sign between two parts."""
    if not sign or sign == ",":
        return sign and ", "
    if sign in SIGNS:
        return f" {SIGNS[sign]} "
    return rf" \text{{ {sign} }} " if sign[0].isalpha() else f" {''.join(map(_sign_of, sign))} "


def _fenced(left: str, inner: str, right: str) -> str:
    opening, closing = BRACKETS.get(left, (left, right))
    if TALL.search(inner):
        return rf"\left{opening} {inner} \right{closing}"
    return f"{opening}{inner}{closing}"


def _at_least(least: n.Level, notation: n.Notation) -> str:
    """A part, in parentheses if its precedence is lower than `least`."""
    inner = latex(notation)
    return inner if n.level(notation, stacked=True) >= least else _fenced("(", inner, ")")
