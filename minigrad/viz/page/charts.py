"""Pages of charts: the memory of a step over its time; curves and histograms of a training."""

import os
from collections.abc import Mapping

import numpy as np

from minigrad.debugging.memory import readable
from minigrad.debugging.profiler import Profile
from minigrad.debugging.tables import By
from minigrad.debugging.training_statistics import Numbers, Statistics
from minigrad.viz.drawing import curves
from minigrad.viz.drawing.colour_scale import byte_colours, to_levels
from minigrad.viz.drawing.elements import escape
from minigrad.viz.drawing.heatmap import image
from minigrad.viz.page.explorer import Page, written
from minigrad.viz.page.html import colours, static

POINTS = 300
"""Of time, in a chart of the memory."""


def charts(record: Profile | Statistics, path: str | os.PathLike[str] | None = None) -> Page:
    """Write a page: memory and tables of a profile, or curves and histograms of a training.

    Args:
        record: A `minigrad.debugging.Profile` or `minigrad.debugging.Statistics`.
        path: The file to write; a new one in a temporary folder if None.

    Returns:
        The page: its path, which shows itself in a notebook. The file needs nothing else.

    Raises:
        TypeError: `record` is neither.
        ValueError: `path` does not end in ".html".

    Example:
        >>> from minigrad import nn, ones, viz
        >>> from minigrad.debugging import Profile
        >>> with Profile() as profile:
        ...     nn.Linear(3, 2)(ones(5, 3)).sum().backward()
        >>> viz.charts(profile).path.name
        'Profile.html'
    """
    title = type(record).__name__
    if not isinstance(record, (Profile, Statistics)):
        raise TypeError(f"charts: a Profile or Statistics expected, got {title}")
    return written(static("charts.html").format(title, inline(record)), title, path)


def inline(record: Profile | Statistics) -> str:
    """The charts as a part of another page: their style sheet reaches nothing else."""
    body = _profile(record) if isinstance(record, Profile) else _statistics(record)
    style = colours(".minigrad-charts") + static("charts.css")
    style += curves.STYLE.replace("@media", "@media screen and")
    title = f"<h1>{type(record).__name__}</h1>"
    return f'<style>{style}</style><div class="minigrad-charts">{title}{body}</div>'


def _profile(profile: Profile) -> str:
    text = f"<p>{escape(str(profile).splitlines()[0])}</p>"
    text += f'<div class="memory">{_memory(profile, "module")}{_memory(profile, "line")}</div>'
    text += f"<h2>The peak</h2>{_text(profile.owners())}"
    for by in ("module", "line", "op"):
        text += f"<h2>By {by}</h2>{_text(profile.table(by))}"
    return text


def _memory(profile: Profile, by: By) -> str:
    """The memory over time: of all, and of those who own most of it at the peak."""
    times, owners = profile.memory(by)
    if not owners:
        return ""
    total = np.sum([*owners.values()], axis=0)
    peak, end = int(total.argmax()), float(times[-1]) or 1.0
    largest = sorted(owners, key=lambda name: -owners[name][peak])[: len(curves.LINES) - 1]
    moments = np.unique([*np.linspace(times[0], end, POINTS), times[peak]])
    rows = np.stack([total, *(owners[name] for name in largest)])
    rows = rows[:, np.searchsorted(times, moments, side="right") - 1]
    changes = np.flatnonzero(np.diff(rows).any(axis=0))
    kept = np.unique([0, *changes, *(changes + 1), len(moments) - 1])
    after = (1e3 * moments[kept]).round(6).tolist()  # apart, also in a short run
    lines = {
        name: dict(zip(after, row[kept].tolist(), strict=True))
        for name, row in zip(["all", *largest], rows, strict=True)
    }
    unit = 1 << (max(int(total[peak]), 1).bit_length() - 1) // 10 * 10  # a byte, KiB, MiB ...
    axis = curves.Axis([0.0, float(total[peak])], True, lambda size: readable(int(size)), unit)
    return curves.chart(f"Memory by {by}: {readable(total[peak])} at the peak", lines, axis, "ms")


def _statistics(statistics: Statistics) -> str:
    drawn = "".join(curves.draw(statistics, whole=True))
    text = f'<h2>Curves</h2><div class="curves">{drawn}</div>'
    text += "<p>Below: a histogram for each step, the first on top; the darker, the more of the "
    text += "numbers are there. Dashed: zero.</p>"
    for kind, series in statistics.series():
        cards = "".join(_histograms(name, steps) for name, steps in series.items())
        text += f'<h2>{kind.capitalize()}</h2><div class="cards">{cards}</div>'
    return f"{text}<h2>The last step</h2>{_text(str(statistics))}"


def _histograms(name: str, steps: Mapping[int, Numbers]) -> str:
    """A heatmap: a row for each step, a column for each bin. Its texts are outside."""
    every = [*steps.values()]
    low = min(max(n.low, n.mean - 4 * n.deviation) for n in every)
    high = max(min(n.high, n.mean + 4 * n.deviation) for n in every)
    if low == high:
        low, high = low - max(abs(low), 1e-9), high + max(abs(high), 1e-9)
    rows = np.array([n.binned(low, high) / max(n.count, 1) for n in every])
    levels = to_levels(rows, 0.0, float(rows.max()))
    drawn = image('width="100" height="100"', levels, byte_colours())
    if low < 0 < high:
        drawn += f'<path class="mark" d="M{100 * low / (low - high):.2f} 0V100"/>'
    said = ", ".join(
        f"{what} {getattr(every[0], what):.3g} → {getattr(every[-1], what):.3g}"
        for what in ("mean", "deviation", "norm")
    )
    bad = sum(n.bad for n in every)
    said += f" <b>✕ {bad} NaN or infinite</b>" if bad else ""
    title = escape(name)
    return (
        f'<figure><figcaption>{title}</figcaption><svg role="img" viewBox="0 0 100 100" '
        f'preserveAspectRatio="none" aria-label="{title}">{drawn}</svg>'
        f'<div class="axis"><span>{low:.2g}</span><span>{high:.2g}</span></div>'
        f"<p>steps {min(steps)} to {max(steps)}: {said}</p></figure>"
    )


def _text(table: str) -> str:
    return f'<pre tabindex="0">{escape(table)}</pre>'
