"""Tables of events: time and bytes, by module, line or op."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from minigrad.autograd.scope import Scope, ancestry
from minigrad.debugging.memory import readable
from minigrad.support.checks import check_choice

By = Literal["module", "line", "op"]
OUTSIDE, REST = "outside of modules", "(no op)"
"""Instead of a module, and of an op: the time behind the last one."""


@dataclass(eq=False, slots=True)
class Event:
    """A call of an op, or a step of a backward pass."""

    op: str  # the name of the op
    backward: bool  # whether it is a step of a backward pass
    scope: Scope | None  # the module call that the op was made in, None outside of any
    line: str  # the line of the program that called the op; empty if unknown
    start: float  # when it began, in seconds
    seconds: float  # how long it took; 0 if that was not measured
    saved: int = 0  # the bytes that it saved for the backward pass, and nothing before it
    peak: int = 0  # the bytes that it made and that were alive at the peak

    @property
    def module(self) -> str:
        """The path of the innermost module; its class if it is the outermost, too."""
        return OUTSIDE if self.scope is None else self.scope.path or self.scope.kind


class Text(str):
    """A text that shows itself as it prints, at a prompt and in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def table(events: Sequence[Event], by: By) -> Text:
    """Add up events in a table: `minigrad.debugging.Profile.table` describes it."""
    check_choice("table", "by", by, get_args(By))
    groups: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        names: tuple[str, ...] = (getattr(event, by) or "no line",)
        if by == "module":
            calls = ancestry(event.scope)[::-1]
            names = tuple([call.label for call in calls]) or (OUTSIDE,)
        for level in range(len(names)):
            groups.setdefault(names[: level + 1], []).append(event)
    order = {key: i for i, key in enumerate(groups)}
    keys = sorted(groups, key=lambda key: -_seconds(groups[key]))
    if by == "module":  # as they were called, each followed by those within it
        keys.sort(key=lambda key: [order[key[: n + 1]] for n in range(len(key))])
    groups["in all",] = list(events)
    rows = [(key, _costs(groups[key], _seconds(events))) for key in [*keys, ("in all",)]]
    shown = [i for i in range(len(COLUMNS)) if any(costs[i] for _, costs in rows)]
    lines = [[by, *(COLUMNS[i][0] for i in shown)]]
    for key, costs in rows:
        cells = [COLUMNS[i][1](costs[i]) if costs[i] else "" for i in shown]
        lines.append(["  " * (len(key) - 1) + key[-1], *cells])
    return aligned(lines)


def _costs(events: Sequence[Event], whole: float) -> list[Any]:
    """The numbers of a row, in the order of `COLUMNS`."""
    return [
        sum(not e.backward and e.op != REST for e in events),
        _seconds(e for e in events if not e.backward),
        _seconds(e for e in events if e.backward),
        whole and _seconds(events) / whole,
        *(sum(getattr(e, name) for e in events) for name in ("saved", "peak")),
    ]


def _seconds(events: Iterable[Event]) -> float:
    return sum(event.seconds for event in events)


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> Text:
    """Set rows in columns, the first few to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [*map(str.ljust, row[:left], widths), *map(str.rjust, row[left:], widths[left:])]
        lines.append("  ".join(cells).rstrip())
    return Text("\n".join(lines))


def time_text(seconds: float) -> str:
    """A time with its unit: ``1.23 ms``."""
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, size = next((u for u in units if seconds >= u[1]), units[-1])
    return f"{seconds / size:.3g} {unit}"


COLUMNS: list[tuple[str, Callable[[Any], str]]] = [
    ("calls", str), ("forward", time_text), ("backward", time_text), ("share", "{:.0%}".format),
    ("saved", readable), ("at the peak", readable),
]  # fmt: skip
