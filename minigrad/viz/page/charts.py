"""Pages of charts: the memory of a step over its time; curves and histograms of a training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.debugging.memory import readable
from minigrad.viz.drawing import curves
from minigrad.viz.page.explorer import Page, written
from minigrad.viz.page.html import colours, plain, static

if TYPE_CHECKING:
    from minigrad.debugging import Profile, Statistics
    from minigrad.debugging.tables import By
    from minigrad.debugging.training_statistics import Numbers

BANDS, COLUMNS, RIDGES = 6, 300, 14
"""The most owners of memory, points in time, and histograms that a chart shows."""


def charts(record: Profile | Statistics, path: str | os.PathLike[str] | None = None) -> Page:
    """Write a page: memory and tables of a profile, or curves and histograms of a training.

    Args:
        record: A `minigrad.debugging.Profile` or `minigrad.debugging.Statistics`.
        path: The file to write; a new one in a temporary folder if None.

    Returns:
        The page: its path, which shows itself in a notebook. The file needs nothing else.

    Raises:
        TypeError: `record` is neither.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> from minigrad.debugging import Profile
        >>> with Profile() as profile:
        ...     nn.Linear(3, 2)(ones(5, 3)).sum().backward()
        >>> viz.charts(profile).path.name
        'Profile.html'
    """
    from minigrad.debugging import Profile, Statistics

    if not isinstance(record, Profile | Statistics):
        raise TypeError(f"charts: a Profile or Statistics expected, got {type(record).__name__}")
    title = type(record).__name__
    return written(plain(title, "", inline(record, headed=False)), title, path)


def inline(record: Profile | Statistics, headed: bool = True) -> str:
    """The charts as a part of another page: their style sheet reaches nothing else."""
    from minigrad.debugging import Profile

    body = _profile(record) if isinstance(record, Profile) else _statistics(record)
    style = colours(".minigrad-charts") + static("charts.css")
    style += curves.STYLE.replace("@media", "@media screen and")
    title = f"<h1>{type(record).__name__}</h1>" if headed else ""
    return f'<style>{style}</style><div class="minigrad-charts">{title}{body}</div>'


def _profile(profile: Profile) -> str:
    text = f"<p>{escape(str(profile).splitlines()[0])}</p>"
    text += _memory(profile, "module") + _memory(profile, "line")
    text += f"<h2>The peak</h2>{_text(profile.owners())}"
    for by in ("module", "line", "op"):
        text += f"<h2>By {by}</h2>{_text(profile.table(by))}"
    return text


def _memory(profile: Profile, by: By) -> str:
    """Stacked areas: the memory of the largest owners over time, and of all others."""
    times, every = profile.memory(by)
    if not every:
        return ""
    groups: dict[str, Any] = every
    deepest = max(name.count(".") for name in every) + 1 if by == "module" else 0
    for level in range(1, deepest + 1):  # as deep as not too many modules are named
        outer: dict[str, Any] = {}
        for name, curve in every.items():
            key = ".".join(name.split(".")[:level])
            outer[key] = outer.get(key, 0) + curve
        if level > 1 and len(outer) > BANDS:
            break
        groups = outer
    total = np.sum([*every.values()], axis=0)
    peak, highest, end = int(total.argmax()), max(int(total.max()), 1), float(times[-1]) or 1.0
    names = sorted(groups, key=lambda name: -groups[name][peak])
    if len(names) > BANDS:
        others, names = names[BANDS - 1 :], names[: BANDS - 1]
        names.append(f"{len(others)} others")
        groups = {**groups, names[-1]: sum(groups[name] for name in others)}
    stretches = np.array_split(np.arange(len(times)), min(COLUMNS, len(times)))
    kept = np.repeat([part[total[part].argmax()] for part in stretches], 2)
    x = np.append(100 * times[kept][1:] / end, 100.0)  # level from each change to the next
    below, drawn, legend = np.zeros(len(kept)), "", ""
    for i, name in enumerate(names):
        above = below + 100 * groups[name][kept] / highest
        edge = _path(np.append(x, x[::-1]), 100 - np.append(above, below[::-1]))
        drawn += f'<path class="band b{i}" d="{edge}"/>'
        said = f"{escape(name)}: {readable(groups[name][peak])}"
        legend = f'<li><i class="b{i}"></i>{said}</li>{legend}'
        below = above
    drawn += f'<path class="mark" d="M{100 * times[peak] / end:.2f} 0V100"/>'
    title = f"Memory by {by}: {readable(highest)} at the peak"
    return _figure(title, drawn, "0", f"{end * 1e3:.3g} ms", f"<ul>{legend}</ul>")


def _statistics(statistics: Statistics) -> str:
    drawn = "".join(curves.draw(statistics, whole=True))
    text = f'<h2>Curves</h2><div class="curves">{drawn}</div>'
    text += "<p>Below: a histogram for each step, the first at the back. Dashed: zero.</p>"
    for kind, series in statistics.series():
        cards = "".join(_histograms(name, steps) for name, steps in series.items())
        text += f'<h2>{kind.capitalize()}</h2><div class="cards">{cards}</div>'
    return f"{text}<h2>The last step</h2>{_text(str(statistics))}"


def _histograms(name: str, steps: Mapping[int, Numbers]) -> str:
    every = [*steps.values()]
    chosen = [every[i] for i in np.unique(np.linspace(0, len(every) - 1, RIDGES).astype(int))]
    low = min(max(n.low, n.mean - 4 * n.deviation) for n in chosen)
    high = max(min(n.high, n.mean + 4 * n.deviation) for n in chosen)
    if low == high:
        low, high = low - max(abs(low), 1e-9), high + max(abs(high), 1e-9)
    rows = [n.binned(low, high) / max(n.count, 1) for n in chosen]
    highest, drawn = max(float(row.max()) for row in rows) or 1.0, ""
    for i, row in enumerate(rows):
        x = [0.0, *((np.arange(len(row)) + 0.5) * 100 / len(row)), 100.0]
        y = 30 + 70 * (i + 1) / len(rows) - 30 * np.array([0.0, *row, 0.0]) / highest
        drawn += f'<path class="ridge" d="{_path(x, y)}"/>'
    if low < 0 < high:
        drawn += f'<path class="mark" d="M{100 * low / (low - high):.2f} 0V100"/>'
    said = ", ".join(
        f"{what} {getattr(every[0], what):.3g} → {getattr(every[-1], what):.3g}"
        for what in ("mean", "deviation", "norm")
    )
    bad = sum(n.bad for n in every)
    said += f" <b>✕ {bad} NaN or infinite</b>" if bad else ""
    below = f"<p>steps {min(steps)} to {max(steps)}: {said}</p>"
    return _figure(name, drawn, f"{low:.2g}", f"{high:.2g}", below)


def _figure(title: str, drawn: str, left: str, right: str, below: str) -> str:
    """A chart as wide as its place. Its texts are outside, so that they keep their size."""
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg role="img" viewBox="0 0 100 100" '
        f'preserveAspectRatio="none" aria-label="{escape(title)}">{drawn}</svg>'
        f'<div class="axis"><span>{left}</span><span>{right}</span></div>{below}</figure>'
    )


def _path(x: Any, y: Any) -> str:
    return "M" + "L".join(f"{a:.4g} {b:.4g}" for a, b in zip(x, y, strict=True)) + "Z"


def _text(table: str) -> str:
    return f'<pre tabindex="0">{escape(table)}</pre>'
