"""The colours of a picture, on light and on dark ground, and its style sheet."""

Palette = dict[str, str]

# Hues that stay apart for every kind of colour vision; text 4.5:1 and lines 3:1 on every ground.
COLOURS = {
    "page": ("#FFFFFF", "#0D1117"),
    "ground": ("#F6F7F9", "#161B22"),
    "text": ("#24292F", "#D0D7DE"),
    "faint": ("#59616B", "#9BA5B0"),
    "line": ("#7A818B", "#7D8792"),
    "residual": ("#4A515A", "#B4BDC7"),
    "outline": ("#57606A", "#9BA5B0"),
    "op": ("#0060A8", "#56B4E9"),
    "op fill": ("#EDF4FA", "#11212E"),
    "parameter": ("#9C6B00", "#E69F00"),
    "parameter fill": ("#FFFCF4", "#261D0B"),
    "plain fill": ("#F1F2F4", "#21262D"),
    "error": ("#C2185B", "#FF7FB0"),
    "error fill": ("#FDF0F5", "#2B1320"),
    "rule": ("#D4D8DD", "#2D343D"),
}
LIGHT: Palette = {name: light for name, (light, _) in COLOURS.items()}
DARK: Palette = {name: dark for name, (_, dark) in COLOURS.items()}

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

SHAPES = [
    ("text", f"font:12px {FONT};text-anchor:middle"),
    ("text.start", "text-anchor:start"),
    (".bold", "font-weight:600"),
    (".small", "font-size:10px"),
    (".data", "font-size:11px;font-variant-numeric:tabular-nums"),
    (".title", "font-size:18px;font-weight:600"),
    (".line", "fill:none;stroke-width:1.2;stroke-linejoin:round"),
    (".residual .line", "stroke-width:2.6"),
    (".frame>rect", "stroke-width:.8"),
    (".box .shape", "stroke-width:1.2"),
    (".parameter .shape", "stroke-width:2.4"),
    (".constant .shape", "stroke-width:.8"),
    (".inner,.sign", "fill:none;stroke-width:1"),
    (".unrecorded .shape", "stroke-dasharray:4 3"),
    (".saved", "stroke-dasharray:2 1.5;stroke-width:1"),
    (".error .shape", "stroke-width:2.4"),
]
"""The rules for every ground: selectors and their properties."""

THEMED = [
    (".page", "fill:{page}"),
    ("text", "fill:{text}"),
    (".small", "fill:{faint}"),
    (".line", "stroke:{line}"),
    (".head,.port", "fill:{line}"),
    (".residual .line", "stroke:{residual}"),
    (".residual .head", "fill:{residual}"),
    (".frame>rect", "fill:{page};stroke:{line}"),
    (".frame.odd>rect", "fill:{ground}"),
    (".shape", "fill:{page};stroke:{outline}"),
    (".op .shape", "fill:{op fill};stroke:{op}"),
    (".parameter .shape,.buffer .shape", "fill:{parameter fill};stroke:{parameter}"),
    (".glyph", "fill:{parameter}"),
    (".input .shape,.output .shape", "fill:{plain fill}"),
    (".constant .shape", "fill:{plain fill};stroke:{line}"),
    (".inner,.module .sign", "stroke:{outline}"),
    (".saved", "fill:{page};stroke:{op}"),
    (".unrecorded .shape", "fill:{plain fill};stroke:{faint}"),
    (".error .shape", "stroke:{error}"),
]
"""The rules that depend on the ground."""


Rules = list[tuple[str, str]]


def sheet(rules: Rules, themed: Rules, scope: str) -> str:
    """A style sheet for pictures of one kind: a page may hold others.

    Args:
        rules: The rules for every ground: selectors and their properties.
        themed: What depends on the ground, with names of colours in braces.
        scope: The selector of the picture.
    """

    def written(rules: Rules, palette: Palette) -> str:
        return "".join(
            f"{','.join(f'{scope} {selector}' for selector in selectors.split(','))}"
            f"{{{properties.format_map(palette)}}}"
            for selectors, properties in rules
        )

    dark = f"@media (prefers-color-scheme:dark){{{written(themed, DARK)}}}"
    return f"{written(rules, {})}{written(themed, LIGHT)}{dark}"


STYLE = sheet(SHAPES, THEMED, ".minigrad-graph")
"""The style sheet of graphs. No variables: not everything that shows an SVG knows them."""
