"""Cut a tall layout into columns, so that it fills a page.

It is cut where no box, text or bow is. A frame that is cut is drawn in each column as wide as what
it holds there. A line that is cut goes on around the foot of its column to the head of the next.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from minigrad.viz.layout.model import Placement, Rect, Skeleton
from minigrad.viz.layout.pack import MARGIN, PAD

LANE, GUTTER, GAP, STEP = 9, 20, 28, 20
"""Between two lines that go on, between columns, and between two things in one of them, at most;
heights that are this near to each other are equal."""


SCREEN = 1600, 900
"""In units of the drawing: 1920 × 1080 pixels."""

MOST = 6
"""The most columns."""


class _Shift(NamedTuple):
    """Where the things in one column go."""

    gaps: list[tuple[int, int]]  # where there is nothing, and how much of that is taken out
    right: int
    down: int

    def x(self, x: int) -> int:
        """Where something that was at `x` is now."""
        return x + self.right - sum(width for gap, width in self.gaps if gap < x)

    def move(self, place: Any) -> Any:
        """Move a point or a rectangle."""
        x, y, *size = place
        if size:
            size[0] = self.x(x + size[0]) - self.x(x)
        return (self.x(x), y + self.down, *size)


class Columns:
    """A layout to cut into columns, or into rows if tensors run to the right."""

    def __init__(self, skeleton: Skeleton, placement: Placement) -> None:
        self.across = skeleton.direction == "right"
        self.placement = placement.mirrored() if self.across else placement
        self.parents = skeleton.parents
        titles: list[Any] = [
            (*at, *(skeleton.scopes[group].title or (0, 0))[:: -1 if self.across else 1])
            for group, at in self.placement.titles.items()
        ]
        texts = [(x, y, skeleton.texts[tensor][1], 12) for tensor, x, y in self.placement.texts]
        self.solid: list[Rect] = [*self.placement.boxes.values(), *titles, *texts]
        self.lines = {(*p, *q) for way in self.placement.edges.values() for p, q in pairwise(way)}
        self.places = self._places()

    def cut(self, count: int) -> Placement:
        """Cut the layout into up to `count` columns, and put them side by side."""
        old, cuts = self.placement, self._cuts(count)
        new = Placement(parts={group: [] for group in old.frames})
        shifts: list[_Shift] = []
        ends: list[int] = []  # how far right each column reaches
        passing = [self._passing(cut) for cut in cuts]
        head = LANE * (1 + max(map(len, passing))) * (len(cuts) > 2)
        for (start, end), into, out in zip(pairwise(cuts), passing, passing[1:], strict=False):
            parts = self._parts(start, end)
            rects = [*parts.values(), *self._within(start, end)]
            low = min((x for x, *_ in rects), default=0)
            room = ends[-1] + LANE * len(into) + GUTTER if ends else MARGIN
            shift = _Shift(
                self._gaps(start, end, parts.values()), room - low, head + MARGIN - start
            )
            shifts.append(shift)
            ends.append(shift.x(max((x + w for x, _, w, _ in rects), default=0)))
            for group, part in parts.items():
                new.parts[group].append(shift.move(part))
            foot = LANE * (1 + len(out)) * (end != cuts[-1])
            new.height = max(new.height, end - start + head + foot + 2 * MARGIN)
        new.width = ends[-1] + MARGIN

        def moved(place: Any) -> Any:
            return shifts[bisect_left(cuts, place[1], 1, len(cuts) - 1) - 1].move(place)

        new.boxes = {item: moved(box) for item, box in old.boxes.items()}
        new.frames = {group: parts[0] for group, parts in new.parts.items()}
        new.titles = {group: moved(point) for group, point in old.titles.items()}
        new.ports = list(map(moved, old.ports))
        new.texts = [(tensor, *moved((x, y))) for tensor, x, y in old.texts]
        for edge, points in old.edges.items():
            way = [moved(points[0])]
            for (x, y), (_, below) in pairwise(points):
                for column, cut in enumerate(cuts[1:-1]):
                    if y <= cut < below:  # around the foot of the column to the head of the next
                        place = passing[column + 1].index(x) + 1
                        before, after = shifts[column : column + 2]
                        foot, lane = cut + before.down + LANE * place, ends[column] + LANE * place
                        top = cut + after.down + LANE * (place - 1 - len(passing[column + 1]))
                        way += [(before.x(x), foot), (lane, foot), (lane, top), (after.x(x), top)]
                way.append(moved((_, below)))
            new.edges[edge] = way
        return new.mirrored() if self.across else new

    def _gaps(self, start: int, end: int, parts: Iterable[Rect]) -> list[tuple[int, int]]:
        """Where a column has nothing over some width but lines across, and how much too wide."""
        taken = [(x, x + w) for x, y, w, _ in self.solid if start <= y < end]
        bows = (line for line in self.lines if line[1] < end and start < line[3])
        sides = ((x, x + w) for x, _, w, _ in parts)
        taken += [(x, x) for left, _, right, *_ in bows for x in (left, right)]
        taken += [(x, x) for both in sides for x in both]
        found = []
        reached = min(taken, default=(0, 0))[0]
        for left, right in sorted(taken):
            if left - reached > GAP:
                found.append((reached, left - reached - GAP))
            reached = max(reached, right)
        return found

    def _places(self) -> list[int]:
        """Where it can be cut, and its ends: of places near to each other, one."""
        end = self.placement.height - MARGIN
        closed = [(y - 10, y + h + 1) for _, y, _, h in self.solid]
        closed += [(y, below) for x, y, far, below in self.lines if x != far]
        for _, top, _, h in self.placement.frames.values():
            closed += [(top - 12, top + 2 * PAD), (top + h - 2 * PAD, top + h + 4)]
        wished = {y for _, top, _, h in self.solid for y in (top - 10, top + h + 1)}
        wished |= {y for _, y, _, below in self.lines for y in (y, below)}
        found = [MARGIN]
        for y in sorted(wished):
            if MARGIN + STEP < y < end and not any(a < y < b for a, b in closed):
                if found[-1] > max(y - STEP // 2, MARGIN):
                    y = min(found.pop(), y, key=lambda place: len(self._passing(place)))
                found.append(y)
        return [*found, end]

    def _cuts(self, count: int) -> list[int]:
        """Where to cut: columns of about the same height, few lines that are cut."""
        lanes = {y: 2 * LANE * len(self._passing(y)) for y in self.places}
        best = {MARGIN: ((0, 0), [MARGIN])}
        for left in reversed(range(count)):
            best = {
                y: min(
                    (
                        (max(tall, (y - x + lanes[x] + lanes[y]) // STEP), lines + lanes[y]),
                        [*way, y],
                    )
                    for x, ((tall, lines), way) in best.items()
                    if x <= y
                )
                for y in (self.places if left else self.places[-1:])
            }
        return sorted({*best[self.places[-1]][1]})

    def _passing(self, cut: int) -> list[int]:
        """Where lines pass a cut, from right to left."""
        return sorted({x for x, y, _, below in self.lines if y <= cut < below}, reverse=True)

    def _within(self, start: int, end: int) -> Iterator[Rect]:
        """The part between two cuts: boxes, titles, texts and lines."""
        for x, y, w, h in self.solid:
            if start <= y < end:
                yield x, y, w, h
        for x, y, far, below in self.lines:
            top, bottom = max(y, start), min(below, end)
            if top < bottom:
                yield min(x, far), top, abs(far - x), bottom - top

    def _parts(self, start: int, end: int) -> dict[str, Rect]:
        """The parts of frames between two cuts, each as wide as what it holds."""
        found: dict[str, Rect] = {}
        for group in reversed(self.parents):  # the inner ones first
            if group not in self.placement.frames:
                continue
            left, top, width, height = self.placement.frames[group]
            above, below = max(top, start), min(top + height, end)
            held = [part for child, part in found.items() if self.parents[child] == group]
            held += [
                rect for rect in self._within(above, below)
                if left <= rect[0] and rect[0] + rect[2] <= left + width
            ]  # fmt: skip
            if start <= top and top + height <= end:
                found[group] = left, top, width, height
            elif above < below and held:
                low = max(min(x for x, *_ in held) - PAD, left)
                high = min(max(x + w for x, _, w, _ in held) + PAD, left + width)
                found[group] = low, above, high - low, below - above
        return found


def on_screen(skeleton: Skeleton, placement: Placement) -> Placement:
    """Cut a layout that is much longer than a screen into as many columns as a screen has room for.

    One that runs to the right is cut into rows, as wide as a screen. One that is far too long for
    that stays as it is.
    """
    width, height = SCREEN
    across = skeleton.direction == "right"
    long, most = (placement.width, width) if across else (placement.height, 1.5 * height)
    if not most < long <= MOST * most:
        return placement
    best, whole = placement, Columns(skeleton, placement)
    for count in range(2, MOST + 1):
        cut = whole.cut(count)
        if cut.width > width and not across:
            break
        best = cut
        if cut.width <= width if across else cut.height <= height:
            break
    return best
