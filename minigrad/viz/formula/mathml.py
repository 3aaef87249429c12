"""Write a notation as MathML Core, which browsers render without scripts or fonts."""

from html import escape

from minigrad.viz.formula import notation as n
from minigrad.viz.formula.text import text

SPACE = "\u00a0"
ROOT = (
    '<mrow class="root"><mspace height="0.8em" depth="0.15em"/>'
    '<mo class="sign" lspace="0" rspace="0">√</mo>'
)
"""The start of a square root. It replaces ``<msqrt>``: page/mathml.css draws it in any font."""

LINE = 'style="text-align: left; padding: 0.15em 0"'
LARGE = {"Σ": "∑", "Π": "∏"}
CASE = 'style="text-align: left; padding: 0.25em 1em 0.25em 0"'


def mathml(notation: n.Notation) -> str:
    """Write a notation as a ``<math>`` element, with its line of text as the alternative."""
    alternative = escape(text(notation), quote=True)
    return f'<math displaystyle="true" alttext="{alternative}">{_element(notation)}</math>'


def _element(notation: n.Notation) -> str:
    match notation:
        case n.Symbol(name, upright, bar):
            return _identifier(name, upright, bar)
        case n.Number(digits):
            return f"<mn>{escape(digits)}</mn>"
        case n.Words(words):
            return f"<mtext>{escape(words).replace(' ', SPACE)}</mtext>"
        case n.Minus(body):
            return f'<mrow><mo form="prefix">−</mo>{_at_least(n.Level.PRODUCT, body)}</mrow>'
        case n.Infix(parts, signs):
            written = [_at_least(n.needed(notation, i), part) for i, part in enumerate(parts)]
            rest = (_sign(sign) + part for sign, part in zip(signs, written[1:], strict=True))
            return f"<mrow>{written[0]}{''.join(rest)}</mrow>"
        case n.Fraction(top, bottom):
            return f"<mfrac>{_element(top)}{_element(bottom)}</mfrac>"
        case n.Script(base, above, below):
            inner = _at_least(n.Level.ATOM, base)
            scripts = {"sub": below, "sup": above}
            kind = "m" + "".join(name for name, script in scripts.items() if script is not None)
            small = "".join(_element(script) for script in scripts.values() if script is not None)
            return f"<{kind}>{inner}{small}</{kind}>"
        case n.Root(body, degree):
            power = f"<msup><mrow></mrow><mn>{degree}</mn></msup>" if degree != 2 else ""
            return f"<mrow>{power}{ROOT}{_element(body)}</mrow></mrow>"
        case n.Large(sign, body, below):
            large = f'<mo largeop="true" movablelimits="false">{LARGE[sign]}</mo>'
            if below is not None:
                large = f"<munder>{large}{_element(below)}</munder>"
            return f"<mrow>{large}{_at_least(n.Level.MATRIX, body)}</mrow>"
        case n.Applied(function, arguments, left, right):
            inner = '<mo separator="true">,</mo>'.join(map(_element, arguments))
            fenced = _fenced(left, inner, right)
            if function is None:
                return fenced
            return f"<mrow>{_element(function)}<mo>\u2061</mo>{fenced}</mrow>"
        case n.Cases(values, conditions):
            ends = [f"{_element(n.Words('if '))}{_element(one)}" for one in conditions]
            ends.append(_element(n.Words("otherwise")))
            cells = "".join(
                f"<mtr><mtd {CASE}>{_element(one)}</mtd><mtd {CASE}><mrow>{end}</mrow></mtd></mtr>"
                for one, end in zip(values, ends, strict=True)
            )
            brace = '<mo fence="true" form="prefix" stretchy="true">{</mo>'
            return f'<mrow>{brace}<mtable displaystyle="true">{cells}</mtable></mrow>'
        case n.Sentence(parts):
            return f"<mrow>{''.join(map(_element, parts))}</mrow>"
        case n.Where(body, equations):
            rows = [f"<mtr><mtd {LINE}>{_element(body)}</mtd></mtr>"]
            for i, (defined, term) in enumerate(equations):
                word = n.Words("where " if i == 0 else "and ")
                equation = f"{_element(word)}{_element(defined)}<mo>=</mo>{_element(term)}"
                rows.append(f"<mtr><mtd {LINE}><mrow>{equation}</mrow></mtd></mtr>")
            return f'<mtable displaystyle="true">{"".join(rows)}</mtable>'


def _identifier(name: str, upright: bool, bar: bool) -> str:
    """A name. Browsers set several letters upright unless a style says otherwise."""
    style = "" if upright or len(name) == 1 else ' style="font-style: italic"'
    variant = ' mathvariant="normal"' if upright else ""
    inner = f"<mi{variant}{style}>{escape(name)}</mi>"
    return f'<mover accent="true">{inner}<mo stretchy="false">‾</mo></mover>' if bar else inner


def _sign(sign: str) -> str:
    if sign == "":
        return "<mo>\u2062</mo>"
    if sign == " ":
        return '<mo lspace="0.1em" rspace="0.1em">\u2062</mo>'
    return f"<mo>{escape(sign)}</mo>"


def _fenced(left: str, inner: str, right: str) -> str:
    fence = '<mo fence="true" form="{}" stretchy="true" symmetric="false">{}</mo>'
    opening, closing = fence.format("prefix", escape(left)), fence.format("postfix", escape(right))
    return f"<mrow>{opening}{inner}{closing}</mrow>"


def _at_least(least: n.Level, notation: n.Notation) -> str:
    """A part, in parentheses if its precedence is lower than `least`."""
    inner = _element(notation)
    return inner if n.level(notation, stacked=True) >= least else _fenced("(", inner, ")")
