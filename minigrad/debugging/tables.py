"""Tables of events: time, floating-point operations and bytes, by module, line or op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from minigrad._scope import Scope
from minigrad.debugging.memory import readable

__all__ = ["REST", "By", "Event", "Table", "aligned", "count_text", "keys", "table", "time_text"]

By = Literal["module", "line", "op"]
OUTSIDE, REST = "outside of modules", "(no op)"
"""Instead of a module, and of an op: the time behind the last one."""


@dataclass(eq=False, slots=True)
class Event:
    """A call of an op, or a step of a backward pass.

    Attributes:
        op: The name of the op.
        backward: Whether it is a step of a backward pass.
        scope: The module call that the op was made in, None outside of any.
        line: The line of the program that called the op; empty if unknown.
        start: When it began, in seconds.
        seconds: How long it took; None if that was not measured.
        flops: Its floating-point operations: see `minigrad.debugging.flops`.
        saved: The bytes that it saved for the backward pass and that nothing had saved before.
        peak: The bytes that it made and that were alive at the peak.
    """

    op: str
    backward: bool
    scope: Scope | None
    line: str
    start: float
    seconds: float | None
    flops: int = 0
    saved: int = 0
    peak: int = 0

    @property
    def end(self) -> float:
        """When it ended."""
        return self.start + (self.seconds or 0.0)

    @property
    def module(self) -> str:
        """The path of the innermost module; its class if it is the outermost, too."""
        return OUTSIDE if self.scope is None else self.scope.path or self.scope.kind


class Table(str):
    """A table as text, which shows itself at a prompt as it prints."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def table(events: Sequence[Event], by: By) -> Table:
    """Add up events in a table, with a row for each module, line or op.

    A module's row includes the modules within it. The other rows are sorted by time, or by bytes
    where no time was measured. Columns without any entry are left out.

    Raises:
        ValueError: `by` is none of the three.
    """
    if by not in ("module", "line", "op"):
        raise ValueError(f"table: by should be 'module', 'line' or 'op', not {by!r}")
    groups: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        for key in keys(event, by):
            groups.setdefault(key, []).append(event)
    order = {key: i for i, key in enumerate(groups)}
    rows = sorted(groups.items(), key=lambda row: (-_seconds(row[1]), -_total(row[1], "saved")))
    if by == "module":
        rows = sorted(groups.items(), key=lambda row: [
            order[row[0][:n]] for n in range(1, len(row[0]) + 1)
        ])  # fmt: skip
    rows.append((("in all",), list(events)))
    whole = _seconds(events)
    columns: list[tuple[str, Callable[[list[Event]], float], Callable[[Any], str]]] = [
        ("calls", lambda e: sum(not one.backward and one.op != REST for one in e), str),
        ("forward", lambda e: _seconds(e, False), time_text),
        ("backward", lambda e: _seconds(e, True), time_text),
        ("share", lambda e: _seconds(e) / whole if whole else 0, "{:.0%}".format),
        ("FLOPs", lambda e: _total(e, "flops"), count_text),
        ("saved", lambda e: _total(e, "saved"), readable),
        ("at the peak", lambda e: _total(e, "peak"), readable),
    ]
    values = [[value(part) for _, value, _ in columns] for _, part in rows]
    shown = [i for i in range(len(columns)) if any(row[i] for row in values)]
    lines = [[by, *(columns[i][0] for i in shown)]]
    for (key, _), row in zip(rows, values, strict=True):
        indent = "  " * (len(key) - 1) if by == "module" else ""
        lines.append([indent + key[-1], *(columns[i][2](row[i]) if row[i] else "" for i in shown)])
    return aligned(lines)


def keys(event: Event, by: By) -> Iterable[tuple[str, ...]]:
    """The rows that an event belongs to; that of a module also to those around it."""
    if by == "op":
        return [(event.op,)]
    if by == "line":
        return [(event.line or "no line",)]
    names: tuple[str, ...] = ()
    scope = event.scope
    while scope is not None:
        names = (f"{scope.name}: {scope.kind}" if scope.parent else scope.kind, *names)
        scope = scope.parent
    names = names or (OUTSIDE,)
    return [names[:n] for n in range(1, len(names) + 1)]


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Set rows in columns, the first few to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [*map(str.ljust, row[:left], widths), *map(str.rjust, row[left:], widths[left:])]
        lines.append("  ".join(cells).rstrip())
    return Table("\n".join(lines))


def _seconds(events: Iterable[Event], backward: bool | None = None) -> float:
    return sum(e.seconds or 0 for e in events if backward is None or e.backward == backward)


def _total(events: Iterable[Event], name: str) -> int:
    return sum(getattr(event, name) for event in events)


def time_text(seconds: float) -> str:
    """A time with its unit: ``1.23 ms``."""
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, size = next((u for u in units if seconds >= u[1]), units[-1])
    return f"{seconds / size:.3g} {unit}"


def count_text(count: float) -> str:
    """A count in thousands: ``1.2 M``."""
    for unit in ("", " k", " M", " G"):
        if count < 1000:
            return f"{count:.3g}{unit}"
        count /= 1000
    return f"{count:.3g} T"
