"""Write a notation as a line of text, for a browser, or for a paper.

One walk through the notation, in `Text`; `MathML` and `LaTeX` say what they write in another way.
"""

import re
import unicodedata
from collections.abc import Sequence
from html import escape

from minigrad.viz.formula import notation as n

SUPERSCRIPTS = dict(zip("0123456789+−T′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ′", strict=True))
SUBSCRIPTS = dict(zip("0123456789ij", "₀₁₂₃₄₅₆₇₈₉ᵢⱼ", strict=True))
ROOTS = {2: "√", 3: "∛"}

SPACED = {"": "", " ": " ", ":": ":", ",": ", "}
"""Signs in a line of text; others have a space on both sides."""


class Text:
    """Writes a notation as one line of Unicode text, such as ``ḡ / 2``."""

    stacked = False  # whether fractions and roots need no parentheses inside
    inside = (n.Level.PRODUCT, n.Level.SCRIPT)  # of the two parts of a fraction
    minus, row, separator, over, applied = "−{}", "{}", ", ", "{} / {}", "{}{}"

    def write(self, notation: n.Notation) -> str:
        """Write a notation: its parts, then itself."""
        match notation:
            case n.Symbol(name, upright, bar):
                return self.symbol(name, upright, bar)
            case n.Number(digits):
                return self.number(digits)
            case n.Words(words):
                return self.words(words)
            case n.Minus(body):
                return self.minus.format(self.at_least(n.Level.PRODUCT, body))
            case n.Infix(parts, signs):
                levels = (n.needed(notation, place) for place in range(len(parts)))
                written = map(self.at_least, levels, parts)
                spaced = ("", *map(self.sign, signs))
                return self.row.format("".join(map("{}{}".format, spaced, written)))
            case n.Fraction(top, bottom):
                return self.over.format(*map(self.at_least, self.inside, (top, bottom)))
            case n.Script(base, above, below):
                return self.script(self.at_least(n.Level.ATOM, base), above, below)
            case n.Root(body, degree):
                return self.root(body, degree)
            case n.Large(sign, body, below):
                return self.large(sign, self.at_least(n.Level.MATRIX, body), below)
            case n.Applied(function, arguments, left, right):
                fenced = self.fenced(left, self.separator.join(map(self.write, arguments)), right)
                return fenced if function is None else self.call(self.write(function), fenced)
            case n.Cases(values, conditions):
                return self.cases(values, [*map(self.write, conditions)])
            case n.Sentence(parts):
                return self.row.format("".join(map(self.write, parts)))
            case n.Where(body, equations):
                sides = [(self.write(left), self.write(right)) for left, right in equations]
                return self.where(self.write(body), sides)

    def at_least(self, least: n.Level, notation: n.Notation) -> str:
        """A part, in parentheses if its precedence is lower than `least`."""
        inner = self.write(notation)
        enough = n.level(notation, self.stacked) >= least
        return inner if enough else self.fenced("(", inner, ")")

    def symbol(self, name: str, upright: bool, bar: bool) -> str:  # noqa: ARG002
        if bar:  # other letters than g have no barred character of their own
            return "ḡ" if name == "g" else f"{name}\u0304"
        return name

    def words(self, words: str) -> str:
        return words

    number = words

    def sign(self, sign: str) -> str:
        return SPACED.get(sign, f" {sign} ")

    def fenced(self, left: str, inner: str, right: str) -> str:
        return f"{left}{inner}{right}"

    def script(self, base: str, above: n.Notation | None, below: n.Notation | None) -> str:
        return f"{base}{self._small('_', below, SUBSCRIPTS)}{self._small('^', above, SUPERSCRIPTS)}"

    def root(self, body: n.Notation, degree: int) -> str:
        return ROOTS[degree] + self.at_least(n.Level.ATOM, body)

    def large(self, sign: str, body: str, below: n.Notation | None) -> str:
        gap = "" if body.startswith("(") else " "
        return f"{sign}{self._small('_', below, SUBSCRIPTS)}{gap}{body}"

    def call(self, function: str, fenced: str) -> str:
        return self.applied.format(function, fenced)

    def cases(self, values: Sequence[n.Notation], conditions: list[str]) -> str:
        said = [self.at_least(n.Level.CONDITION, value) for value in values]
        ends = [*(f" if {one}" for one in conditions), " otherwise"]
        return "; ".join(map("{}{}".format, said, ends))

    def where(self, body: str, equations: list[tuple[str, str]]) -> str:
        return f"{body}, where {', '.join(map(' = '.join, equations))}"

    def _small(self, mark: str, notation: n.Notation | None, letters: dict[str, str]) -> str:
        """A superscript or subscript: in small letters where Unicode has all of them."""
        if notation is None:
            return ""
        inner = self.write(notation)
        if {*inner} <= letters.keys():
            return "".join(letters[letter] for letter in inner)
        bracketed = isinstance(notation, n.Applied) and notation.function is None
        return f"{mark}{inner}" if inner.isidentifier() or bracketed else f"{mark}({inner})"


# MathML Core, which browsers render without scripts or fonts --------------------------------------

ROOT = (
    '<mrow class="root"><mspace height="0.8em" depth="0.15em"/>'
    '<mo class="sign" lspace="0" rspace="0">√</mo>'
)
"""The start of a square root. It replaces ``<msqrt>``; page/static/mathml.css draws it."""

MATHML_SIGNS = {"": "<mo>\u2062</mo>", " ": '<mo lspace="0.1em" rspace="0.1em">\u2062</mo>'}
LARGE = {"Σ": "∑", "Π": "∏"}
LINE = '<mtr><mtd style="text-align: left; padding: 0.15em 0">{}</mtd></mtr>'
CASE = '<mtd style="text-align: left; padding: 0.25em 1em 0.25em 0">{}</mtd>'
FENCE = '<mo fence="true" form="{}" stretchy="true" symmetric="false">{}</mo>'


class MathML(Text):
    """Writes a notation as elements within ``<math>``."""

    stacked = True
    minus, row = '<mrow><mo form="prefix">−</mo>{}</mrow>', "<mrow>{}</mrow>"
    separator, inside = '<mo separator="true">,</mo>', (n.Level.SENTENCE, n.Level.SENTENCE)
    over, applied = "<mfrac>{}{}</mfrac>", "<mrow>{}<mo>\u2061</mo>{}</mrow>"

    def symbol(self, name: str, upright: bool, bar: bool) -> str:
        """A name. Browsers set several letters upright unless a style says otherwise."""
        style = "" if upright or len(name) == 1 else ' style="font-style: italic"'
        variant = ' mathvariant="normal"' if upright else ""
        inner = f"<mi{variant}{style}>{escape(name)}</mi>"
        return f'<mover accent="true">{inner}<mo stretchy="false">‾</mo></mover>' if bar else inner

    def number(self, digits: str) -> str:
        return f"<mn>{escape(digits)}</mn>"

    def words(self, words: str) -> str:
        return f"<mtext>{escape(words)}</mtext>".replace(" ", "\u00a0")

    def sign(self, sign: str) -> str:
        return MATHML_SIGNS.get(sign, f"<mo>{escape(sign)}</mo>")

    def fenced(self, left: str, inner: str, right: str) -> str:
        opening, closing = (
            FENCE.format(form, escape(one)) for form, one in (("prefix", left), ("postfix", right))
        )
        return f"<mrow>{opening}{inner}{closing}</mrow>"

    def script(self, base: str, above: n.Notation | None, below: n.Notation | None) -> str:
        scripts = {"sub": below, "sup": above}
        kind = "m" + "".join(name for name, script in scripts.items() if script is not None)
        small = (self.write(script) for script in scripts.values() if script is not None)
        return f"<{kind}>{base}{''.join(small)}</{kind}>"

    def root(self, body: n.Notation, degree: int) -> str:
        power = f"<msup><mrow></mrow><mn>{degree}</mn></msup>" if degree != 2 else ""
        return f"<mrow>{power}{ROOT}{self.write(body)}</mrow></mrow>"

    def large(self, sign: str, body: str, below: n.Notation | None) -> str:
        large = f'<mo largeop="true" movablelimits="false">{LARGE[sign]}</mo>'
        if below is not None:
            large = f"<munder>{large}{self.write(below)}</munder>"
        return f"<mrow>{large}{body}</mrow>"

    def cases(self, values: Sequence[n.Notation], conditions: list[str]) -> str:
        ends = [*(self.words("if ") + one for one in conditions), self.words("otherwise")]
        cells = "".join(
            f"<mtr>{CASE.format(self.write(one))}{CASE.format(f'<mrow>{end}</mrow>')}</mtr>"
            for one, end in zip(values, ends, strict=True)
        )
        brace = '<mo fence="true" form="prefix" stretchy="true">{</mo>'
        return f'<mrow>{brace}<mtable displaystyle="true">{cells}</mtable></mrow>'

    def where(self, body: str, equations: list[tuple[str, str]]) -> str:
        words = ("and " if place else "where " for place in range(len(equations)))
        rows = (
            f"<mrow>{self.words(word)}{left}<mo>=</mo>{right}</mrow>"
            for word, (left, right) in zip(words, equations, strict=True)
        )
        lines = "".join(map(LINE.format, (body, *rows)))
        return f'<mtable displaystyle="true">{lines}</mtable>'


# LaTeX, with the packages amsmath and amssymb -----------------------------------------------------

SIGNS = {
    "": "", " ": r"\,", "−": "-", "⊙": r"\odot", "·": r"\cdot", "×": r"\times", "∗": r"\ast",
    "∗ᵀ": r"\mathbin{\ast^{\top}}", "⋆": r"\star", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "mod": r"\bmod", ":": "{:}", "∞": r"\infty", "…": r"\ldots", "′": r"\prime", "∂": r"\partial",
    "→": r"\to", "√": r"\surd", "Σ": r"\sum", "Π": r"\prod", "ᵀ": r"^{\top}", "‖": r"\Vert",
}  # fmt: skip
"""Signs, and letters of notes, in mathematics."""

PROSE = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "“": "``",
    "”": "''", "‘": "`", "’": "'", "–": "--", "—": "---", "\u00a0": "~",
} | {sign: f"\\{sign}" for sign in "{}$&#_%"}  # fmt: skip
"""Letters of a text."""

BRACKETS = {"|": (r"\lvert ", r"\rvert"), "⌊": (r"\lfloor ", r"\rfloor")}

NEXT = r" \\ "
"""The end of a line."""

TALL = re.compile(r"\\(frac|begin)\b")
"""The notations that need larger brackets."""


class LaTeX(Text):
    """Writes a notation for the math mode of LaTeX, in ASCII."""

    stacked, minus, over = True, "-{}", r"\frac{{{}}}{{{}}}"
    inside = (n.Level.SENTENCE, n.Level.SENTENCE)

    def symbol(self, name: str, upright: bool, bar: bool) -> str:
        inner = _name(name, upright)
        return f"\\{'bar' if len(name) == 1 else 'overline'}{{{inner}}}" if bar else inner

    def number(self, digits: str) -> str:
        mantissa, exponent = (*digits.split("e"), "")[:2]
        if exponent:
            factor = "" if mantissa == "1" else rf"{mantissa} \times "
            return f"{{{factor}10^{{{int(exponent)}}}}}"
        return SIGNS.get(digits, digits)

    def words(self, words: str) -> str:
        return rf"\text{{{prose(words)}}}"

    def sign(self, sign: str) -> str:
        if not sign or sign == ",":
            return sign and ", "
        if sign in SIGNS:
            return f" {SIGNS[sign]} "
        return rf" \text{{ {sign} }} " if sign[0].isalpha() else f" {''.join(map(_sign, sign))} "

    def fenced(self, left: str, inner: str, right: str) -> str:
        opening, closing = BRACKETS.get(left, (left, right))
        if TALL.search(inner):
            return rf"\left{opening} {inner} \right{closing}"
        return f"{opening}{inner}{closing}"

    def script(self, base: str, above: n.Notation | None, below: n.Notation | None) -> str:
        scripts = (("_", below), ("^", above))
        small = (f"{mark}{{{self.write(one)}}}" for mark, one in scripts if one is not None)
        return base + "".join(small)

    def root(self, body: n.Notation, degree: int) -> str:
        return rf"\sqrt{f'[{degree}]' if degree != 2 else ''}{{{self.write(body)}}}"

    def large(self, sign: str, body: str, below: n.Notation | None) -> str:
        return f"{self.script(SIGNS[sign], None, below)} {body}"

    def call(self, function: str, fenced: str) -> str:
        close = r"\mathopen{}" if fenced.startswith(r"\left") else ""  # no gap
        return function + close + fenced

    def cases(self, values: Sequence[n.Notation], conditions: list[str]) -> str:
        ends = [*(rf"\text{{if }} {one}" for one in conditions), r"\text{otherwise}"]
        rows = map("{{}}{} & {}".format, map(self.write, values), ends)
        return rf"\begin{{cases}} {NEXT.join(rows)} \end{{cases}}"

    def where(self, body: str, equations: list[tuple[str, str]]) -> str:
        rows = [f"& {body}"] + [
            rf"& \text{{{'and' if place else 'where'} }} {left} = {right}"
            for place, (left, right) in enumerate(equations)
        ]
        return rf"\begin{{aligned}} {NEXT.join(rows)} \end{{aligned}}"


def _name(name: str, upright: bool) -> str:
    """A name in mathematics: italic, or upright as functions are."""
    if name.startswith("−"):
        return "-" + _name(name[1:], upright)
    letters = [*map(_sign, name)]
    if name == "T" and upright:
        return r"\top"
    if len(name) > 1 and name.strip("′"):
        return rf"\{'operatorname' if upright else 'mathit'}{{{''.join(letters)}}}"
    return rf"\mathrm{{{name}}}" if upright and name.isascii() and name else " ".join(letters)


def _sign(letter: str) -> str:
    """A letter in mathematics: a sign, Greek, without its accent, or its number in Unicode."""
    if letter.isascii():
        return PROSE.get(letter, letter)
    if letter in SIGNS:
        return SIGNS[letter]
    kind, _, name = unicodedata.name(letter, "").rpartition(" LETTER ")
    if kind in ("GREEK SMALL", "GREEK CAPITAL") and name.isalpha():
        name = name.replace("LAMDA", "LAMBDA")
        return rf"\{name.lower() if kind == 'GREEK SMALL' else name.capitalize()}"
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return plain or rf"\text{{U+{ord(letter):04X}}}"


def prose(text: str) -> str:
    """Write a text for LaTeX, in ASCII; letters of mathematics are set as such."""
    marked = re.split("(\\w+)\u0304", unicodedata.normalize("NFD", text))  # x̄ is a letter and a bar
    return "".join(
        f"${latex(n.Symbol(part, bar=True))}$"
        if at % 2
        else "".join(PROSE.get(c, c if c.isascii() else f"${_sign(c)}$") for c in part)
        for at, part in enumerate(marked)
    )


text, latex = Text().write, LaTeX().write


def mathml(notation: n.Notation) -> str:
    """Write a notation as a ``<math>`` element, with its line of text as the alternative."""
    alternative = escape(text(notation), quote=True)
    return f'<math displaystyle="true" alttext="{alternative}">{MathML().write(notation)}</math>'
