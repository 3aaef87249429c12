"""Write a notation as a line of text, or for a browser.

One walk through the notation, in `Text`; `MathML` says what it writes in another way.
"""

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
"""The start of a square root. It replaces ``<msqrt>``: page/mathml.css draws it in any font."""

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


text = Text().write


def mathml(notation: n.Notation) -> str:
    """Write a notation as a ``<math>`` element, with its line of text as the alternative."""
    alternative = escape(text(notation), quote=True)
    return f'<math displaystyle="true" alttext="{alternative}">{MathML().write(notation)}</math>'
