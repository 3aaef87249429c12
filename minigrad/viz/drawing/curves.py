"""Curves as SVG: small charts of a training, and of memory over time.

A chart is as wide as a phone, so that its texts keep their size everywhere.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.debugging.training_statistics import Statistics
from minigrad.viz.drawing.elements import escape, picture, text
from minigrad.viz.drawing.style import FONT, sheet
from minigrad.viz.layout.labels import shorten, text_width
from minigrad.viz.record.writing import number_text

Curves = Mapping[str, Mapping[Any, float]]
"""By the name of a line, its values by step, or by time."""

LINES = (("op", ""), ("parameter", "7 3"), ("error", "2 4"), ("text", "9 3 2 3"))
"""The colours and dashes of the lines of a chart, as many as it has at most."""

WIDTH, HEIGHT, LEFT, TOP, FOOT, LEADING = 340, 160, 48, 26, 20, 14
"""Of a chart; before (at least), above and below its lines; and between their labels."""

LONGEST = 16
"""A name has so many letters at most."""

DECADES = 2
"""An axis is logarithmic if its values span as many."""

TITLES = {
    "loss": "Loss",
    "learning rate": "Learning rate",
    "gradients": "Gradient norm",
    "updates": "Update norm / weight norm",
    "weights": "Weight norm",
    "dead units": "Dead units",
}
"""The kinds of curves, in this order."""

STYLE = sheet(
    [
        ("text", f"font:12px {FONT}"),
        (".title", "font-weight:600"),
        (".end", "text-anchor:end"),
        (".line", "fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round"),
        *((f".line.l{i}", f"stroke-dasharray:{dash}") for i, (_, dash) in enumerate(LINES) if dash),
    ],
    [
        (".page", "fill:{page}"),
        ("text", "fill:{text}"),
        (".axis", "fill:{faint}"),
        (".grid", "stroke:{rule}"),
        (".bad", "fill:{error}"),
        *(
            (f"{kind}.l{i}", f"{part}:{{{colour}}}")
            for i, (colour, _) in enumerate(LINES)
            for kind, part in ((".line", "stroke"), ("text", "fill"))
        ),
    ],
    ".minigrad-curves",
)


def shown(statistics: Statistics) -> dict[str, str]:
    """The charts of a few layers: as HTML side by side as there is room, as an SVG in a column."""
    charts = [*draw(statistics, whole=False)]
    row = f'<div style="display:flex;flex-wrap:wrap">{"".join(charts)}</div>'
    return {"text/html": f"<style>{STYLE}</style>{row}", "image/svg+xml": column(charts)}


def column(charts: Sequence[str]) -> str:
    """Charts below each other, as one SVG."""
    placed = "".join(
        f'<g transform="translate(0 {i * HEIGHT})">{chart}</g>' for i, chart in enumerate(charts)
    )
    size = WIDTH, max(len(charts), 1) * HEIGHT
    return picture("minigrad-curves", "The curves of a training", size, STYLE, [placed])


def draw(statistics: Statistics, whole: bool) -> Iterator[str]:
    """A chart for each kind of curve: of the whole model as many as it needs, or of few layers."""
    for kind, title in TITLES.items():
        curves = _of_kind(statistics, kind)
        values = [value for curve in curves.values() for value in curve.values()]
        dead = kind == "dead units"
        linear = dead or kind == "learning rate"
        axis = Axis(values, linear, "{:.0%}".format if dead else short_number)
        names = [*curves]
        if not whole and len(names) > len(LINES):
            names = [names[i] for i in np.linspace(0, len(names) - 1, len(LINES)).astype(int)]
            title = f"{title}, {len(names)} of {len(curves)} layers"
        for start in range(0, len(names), len(LINES)):
            some = {name: curves[name] for name in names[start : start + len(LINES)]}
            yield chart(title, some, axis, named=kind not in ("loss", "learning rate"))


def _of_kind(statistics: Statistics, kind: str) -> Curves:
    """The curves of a kind: updates as shares of their weights, and only where units died."""
    curves: Curves = statistics.curves.get(kind, {})
    if kind == "updates":
        whole: Curves = statistics.curves.get("weights", {})
        curves = {
            name: {
                step: value / whole[name][step] for step, value in c.items() if whole[name][step]
            }
            for name, c in curves.items()
        }
    elif kind == "dead units":
        curves = {name: curve for name, curve in curves.items() if any(curve.values())}
    return {name: curve for name, curve in curves.items() if curve}


def short_number(value: float) -> str:
    """A number as an axis has it."""
    return number_text(value).replace(".0e", "e")


class Axis:
    """The vertical axis: its limits and ticks, and where a value lies."""

    def __init__(
        self,
        values: Sequence[float],
        linear: bool = False,
        write: Callable[[float], str] = short_number,
        unit: float = 1.0,  # of which ticks are round multiples
    ) -> None:
        known = [value for value in values if math.isfinite(value)]
        above = [value for value in known if value > 0] or [1.0]
        low, high = min(known, default=0.0), max(known, default=1.0)
        self.write = write
        self.log = not linear and low >= 0 and high > min(above) * 10**DECADES
        if self.log:
            self.low, self.high = math.log10(min(above)), math.log10(high)
            step = math.ceil((self.high - self.low) / 4)
            first = math.ceil(self.low)
            self.ticks = [10.0**i for i in range(first, math.floor(self.high) + 1, step)]
        else:
            if 0 <= low < high / 3 or high - low < abs(high) / 100:
                low, high = min(low, 0.0), max(high, 0.0)
            self.low, self.high = low, high if high > low else 1.0
            half = (self.high - self.low) / 2
            size = unit * 10.0 ** math.floor(math.log10(half / unit))
            size *= next(n for n in (5, 2, 1) if n * size <= half)
            within = range(math.ceil(self.low / size), math.floor(self.high / size) + 1)
            self.ticks = [i * size for i in within]
        self.left = max([LEFT, *[text_width(write(tick), "name") + 7 for tick in self.ticks]])

    def y(self, value: float) -> float:
        """The place of a value in the chart."""
        at = math.log10(max(value, 10**self.low)) if self.log else value
        return HEIGHT - FOOT - (at - self.low) / (self.high - self.low) * (HEIGHT - FOOT - TOP)


def chart(title: str, curves: Curves, axis: Axis, unit: str = "step", named: bool = True) -> str:
    """Lines over the steps, each with its name at its end; one alone may have none."""
    named = named or len(curves) > 1
    names = {name: _short(name) for name in curves if named}
    right = WIDTH - 6 - max((text_width(name, "name") for name in names.values()), default=0)
    steps = [step for curve in curves.values() for step in curve]
    first, last = min(steps), max(steps)

    def x(step: float) -> float:
        return axis.left + (step - first) / max(last - first, 1e-9) * (right - axis.left)

    drawn, ends, said = [*_ticks(axis, right)], {}, []
    for i, (name, curve) in enumerate(curves.items()):
        path, ends[name] = _line(curve, x, axis)
        drawn += [f'<path class="line l{i}" d="{path}"/>', *_broken(curve, x, axis)]
        said.append(f"{name} {axis.write(curve[min(curve)])} to {axis.write(curve[max(curve)])}")
    numbers = {name: i for i, name in enumerate(curves)}
    for name, y in _apart({name: ends[name] for name in names}).items():
        label = text(right + 5, y + 4, names[name], f"l{numbers[name]}")
        drawn.append(label.replace(">", f"><title>{escape(name)}</title>", 1))
    if not named:
        title += f": {axis.write([*next(iter(curves.values())).values()][-1])}"
    drawn.append(text(2, 14, title, "title"))
    start, end = round(first, 2), round(last, 2)
    drawn.append(text(axis.left, HEIGHT - 4, f"{unit} {start:g}", "axis"))
    drawn.append(text(right, HEIGHT - 4, f"{end:g}" if end > start else "", "axis end"))
    label = f"{title}: {', '.join(said)}, {unit}s {start:g} to {end:g}"
    return picture("minigrad-curves", label, (WIDTH, HEIGHT), "", drawn)


def _ticks(axis: Axis, right: float) -> Iterator[str]:
    for tick in axis.ticks:
        y = axis.y(tick)
        yield f'<path class="grid" d="M{axis.left} {y:.1f}H{right}"/>'
        yield text(axis.left - 5, y + 4, axis.write(tick), "axis end")


def _broken(curve: Mapping[Any, float], x: Callable[[float], float], axis: Axis) -> list[str]:
    """Marks where a line has gaps, and what they mean."""
    marks = [
        text(x(step) - 4, TOP + 4, "✕", "bad")
        for step, value in curve.items()
        if not math.isfinite(value)
    ]
    if marks:
        marks.append(text(axis.left + 58, HEIGHT - 4, "✕ NaN, inf", "bad"))
    return marks


def _line(curve: Mapping[Any, float], x: Callable[[float], float], axis: Axis) -> tuple[str, float]:
    """The path of a line, with gaps at what is not finite; and the height at which it ends."""
    path, pen, end = "", "M", float(TOP)
    for step, value in curve.items():
        if math.isfinite(value):
            end = axis.y(value)
            path += f"{pen}{x(step):.1f} {end:.1f}" + "h0" * (pen == "M")
            pen = "L"
        else:
            pen = "M"
    return path, end


def _apart(places: dict[str, float]) -> dict[str, float]:
    """Move labels until none is over another, and all within the chart."""
    moved: dict[str, float] = {}
    least, room = float(TOP), HEIGHT - FOOT - LEADING * (len(places) - 1)
    for name in sorted(places, key=places.__getitem__):
        least = moved[name] = max(min(places[name], room), least)
        least, room = least + LEADING, room + LEADING
    return moved


def _short(name: str) -> str:
    """A path; of a long one the last name, and the first letters and the numbers before it.

    Of a line of a program, its file and number.
    """
    name = name.partition(": ")[0].rpartition("/")[2]
    *outer, last = name.split(".")
    letters = [part if part.isdecimal() else part[:1] for part in outer]
    return shorten(name if len(name) <= LONGEST else ".".join([*letters, last]), LONGEST)
