"""One open group with numbers: its items, lines and ports, measured from its frame's upper left.

Lines bend only between ranks, where no box is; within a rank each keeps to the column of its box
or its dummy. So no line runs through a box, and lines cross only where the order says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from minigrad.viz.layout.align import Pull, align
from minigrad.viz.layout.ranks import Link
from minigrad.viz.layout.skeleton import TOP, Skeleton

__all__ = ["Packed", "Point"]

MARGIN, PAD = 16, 14
"""Around the whole, and within a frame."""

BESIDE, LANE, PIN = 22, 12, 16
"""Between two boxes, between two lines, and between two lines into a box."""

GAP, STEEP, WIDEST, SHORT = 24, 8, 48, 14
"""Between two ranks: at least, one more for so much sideways, at most; where no arrow ends."""

TEXT, INDENT = 15, 5
"""The height of what is written at the foot of a box, and how far from the line it is."""

Point = tuple[int, int]


class Segment(NamedTuple):
    """A stretch of a tensor's way, from one rank to the next."""

    upper: str
    lower: str
    leaves: int  # how far right of the middle of the upper item it starts
    enters: int  # the same for the lower item


class Packed:
    """An open group.

    Attributes:
        width: Of its frame.
        height: Of its frame.
        title: Left and top of its title.
        doors: How far from the left its ports are.
        corners: The left upper corner of each node and group in it.
        lines: The points of each of its links.
        texts: The node that computes a tensor, and left and top of what is written about it.
    """

    def __init__(self, scope: str, skeleton: Skeleton, inner: Mapping[str, Packed]) -> None:
        self._skeleton, self._inner = skeleton, inner
        self._ranks, self._links = skeleton.scopes[scope].ranks, skeleton.scopes[scope].links
        self._rank = {item: row for row, items in enumerate(self._ranks) for item in items}
        self._index = {item: index for items in self._ranks for index, item in enumerate(items)}
        self._sizes = {item: self._size(item) for item in self._rank}
        self._fed = {link.target for link in self._links}
        self._texts = self._find_texts()
        self._pins = self._set_pins()
        self._segments = self._find_segments()
        self._middles = self._align()
        self._lanes = self._find_lanes()
        self.width, self.title = self._frame(scope)
        self._tops, self._bottoms = self._stack(scope)
        self.height = self._bottoms[-1]
        self.doors = {port: self._middles[port] for row in (0, -1) for port in self._ranks[row]}
        self.corners = {
            item: (self._middles[item] - self._sizes[item][0] // 2, self._top(item))
            for item in self._rank
            if self._is_box(item)
        }
        self.lines = [self._line(*both) for both in zip(self._links, self._pins, strict=True)]
        self.texts = [
            (tensor, self._middles[item] + shift + INDENT, self._foot(item) + 2)
            for item, texts in self._texts.items()
            for tensor, shift in texts
        ]

    # What is known before anything is placed ----------------------------------------------------

    def _is_box(self, item: str) -> bool:
        return item in self._inner or item in self._skeleton.sizes

    def _is_dummy(self, item: str) -> bool:
        return not self._is_box(item) and 0 < self._rank[item] < len(self._ranks) - 1

    def _size(self, item: str) -> tuple[int, int]:
        if item in self._inner:
            return self._inner[item].width, self._inner[item].height
        return self._skeleton.sizes.get(item, (0, 0))

    def _outside(self, link: Link) -> bool:
        """Whether a tensor passes so many ranks that it runs at the side of them all."""
        return self._rank[link.target] - self._rank[link.source] > len(link.way) - 1

    def _door(self, item: str, port: str) -> int:
        """How far right of the middle of an item a tensor comes in or goes out."""
        width = self._sizes[item][0]
        if item in self._inner:
            return self._inner[item].doors[port] - width // 2
        if item in self._skeleton.scopes:
            ports = self._skeleton.scopes[item].ranks[0 if port.startswith("in:") else -1]
            return _share(width, ports.index(port), len(ports))
        return 0

    def _find_texts(self) -> dict[str, list[tuple[str, int]]]:
        """What is written at the foot of each box, and how far right of its middle."""
        texts: dict[str, dict[str, int]] = {}
        for link in self._links:
            closed = link.source not in self._inner and link.source in self._skeleton.sizes
            if closed and link.tensor in self._skeleton.texts:
                shift = self._door(link.source, f"out:{link.tensor}")
                texts.setdefault(link.source, {})[link.tensor] = shift
        return {item: list(found.items()) for item, found in texts.items()}

    def _set_pins(self) -> list[int]:
        """How far right of the middle of its target each link comes in."""
        pins = [0] * len(self._links)
        into: dict[str, list[tuple[bool, int, int, int, int]]] = {}
        for number, link in enumerate(self._links):
            target = link.target
            if target in self._skeleton.scopes:
                pins[number] = self._door(target, f"in:{link.tensor}")
            elif target in self._skeleton.sizes:
                upper, outside = link.way[-2], self._outside(link)
                door = self._door(upper, f"out:{link.tensor}")
                weight = self._weight(link)
                key = (outside, 0 if outside else self._index[upper], door, number, weight)
                into.setdefault(target, []).append(key)
        for target, found in into.items():
            found.sort()
            width, count = self._sizes[target][0], len(found)
            weights = [weight for *_, weight in found]
            middle = weights.index(max(weights)) * 2  # in half steps
            if weights.count(max(weights)) > 1:
                middle = count - 1
            widest = max(middle, 2 * (count - 1) - middle, 1)
            step = min(PIN, (width - 16) // widest)
            for index, (*_, number, _) in enumerate(found):
                if target in self._skeleton.named:
                    pins[number] = _share(width, index, count)
                else:
                    pins[number] = (2 * index - middle) * step // 2
        return pins

    def _weight(self, link: Link) -> int:
        """How much a line into a box matters: most from an op near by, least from a leaf."""
        if len(link.way) > 2 or self._outside(link):
            return 1
        return 2 if link.source in self._fed or not self._is_box(link.source) else 0

    def _find_segments(self) -> list[Segment]:
        """The ways of all links from rank to rank; those of one tensor share the first part."""
        found: dict[Segment, None] = {}
        for link, pin in zip(self._links, self._pins, strict=True):
            if not self._outside(link):
                leaves = self._door(link.source, f"out:{link.tensor}")
                for upper, lower in pairwise(link.way):
                    enters = pin if lower == link.target else 0
                    found[Segment(upper, lower, leaves, enters)] = None
                    leaves = 0
        return list(found)

    # From left to right -------------------------------------------------------------------------

    def _align(self) -> dict[str, int]:
        """The middle of every item."""
        items = list(self._rank)
        number = {item: index for index, item in enumerate(items)}
        ranks = [[number[item] for item in row] for row in self._ranks]
        left, right, pulls = [], [], []
        for item in items:
            margin = BESIDE if self._is_box(item) else LANE
            left.append((self._sizes[item][0] + margin) // 2)
            right.append(self._right(item) + margin // 2)
        shifts: dict[tuple[str, str], list[int]] = {}  # x * x goes two ways to one place
        for upper, lower, leaves, enters in self._segments:
            shifts.setdefault((upper, lower), []).append(leaves - enters)
        for (upper, lower), ways in shifts.items():
            dummies = self._is_dummy(upper) + self._is_dummy(lower)
            leaf = self._is_box(upper) and upper not in self._fed
            weight = 0.02 if dummies else 0.5 if leaf else 4.0
            shift = sum(ways) // len(ways)
            pulls.append(Pull(number[upper], number[lower], shift, weight, dummies == 2))
        return dict(zip(items, align(ranks, left, right, pulls), strict=True))

    def _right(self, item: str) -> int:
        """How far an item reaches to the right of its middle, with what is written beside it."""
        ends = [
            shift + INDENT + self._skeleton.texts[tensor][1]
            for tensor, shift in self._texts.get(item, ())
        ]
        return max(self._sizes[item][0] // 2, *ends, 0)

    def _find_lanes(self) -> dict[str, int]:
        """The number of the lane of each tensor that runs outside."""
        spans: dict[str, list[int]] = {}
        for link in self._links:
            if self._outside(link):
                first, last = self._rank[link.source], self._rank[link.target]
                spans.setdefault(link.tensor, [first, last])[1] = max(
                    last, spans.get(link.tensor, [0, 0])[1]
                )
        lanes: dict[str, int] = {}
        free: list[int] = []  # where each lane is free again
        for tensor, (first, last) in spans.items():
            lane = next((i for i, rank in enumerate(free) if rank <= first), len(free))
            free[lane : lane + 1] = [last]
            lanes[tensor] = lane
        return lanes

    def _frame(self, scope: str) -> tuple[int, Point]:
        """Shift everything into the frame; return its width and where the title stands."""
        pad = MARGIN if scope == TOP else PAD
        low = min((x - self._sizes[item][0] // 2 for item, x in self._middles.items()), default=0)
        high = max((x + self._right(item) for item, x in self._middles.items()), default=0)
        lanes = max(self._lanes.values(), default=-1) + 1
        width = high - low + lanes * LANE + 2 * pad
        shift, start = pad - low, pad
        if scope != TOP:
            ports = [self._middles[port] + shift for port in self._ranks[0]]
            start, lack = _beside(self._skeleton.titles[scope][0], ports, width)
            # What goes to the right brings the ports back to the middle.
            balance = ports[0] + ports[-1] + lack - width if ports else lack
            shift += lack
            width += lack + min(max(balance, 0), lack)
        for item in self._middles:
            self._middles[item] += shift
        self._lanes = {t: high + shift + (n + 1) * LANE for t, n in self._lanes.items()}
        return width + width % 2, (start, 6)

    # From the top down --------------------------------------------------------------------------

    def _stack(self, scope: str) -> tuple[list[int], list[int]]:
        """Where each rank begins and ends."""
        aside = [0] * len(self._ranks)  # how far lines run sideways below each rank
        arrows = [False] * len(self._ranks)
        for upper, lower, leaves, enters in self._segments:
            row = self._rank[upper]
            way = self._middles[lower] + enters - self._middles[upper] - leaves
            aside[row] = max(aside[row], abs(way))
            arrows[row] |= self._is_box(lower) and lower not in self._inner
        for link in self._links:
            if self._outside(link):
                for row in (self._rank[link.source], self._rank[link.target] - 1):
                    aside[row] = self.width
        y = MARGIN if scope == TOP else self._skeleton.titles[scope][1] + 8
        tops, bottoms = [0], [y]
        last = len(self._ranks) - 1
        for row in range(last):
            if row == last - 1 and not self._ranks[last]:
                y += MARGIN if scope == TOP else PAD
            elif row or self._ranks[0]:
                gap = GAP if arrows[row] or aside[row] else SHORT
                y += min(gap + aside[row] // STEEP, WIDEST)
            tops.append(y)
            y += max((self._tall(item) for item in self._ranks[row + 1]), default=0)
            bottoms.append(y)
        return tops, bottoms

    def _tall(self, item: str) -> int:
        return self._sizes[item][1] + TEXT * (item in self._texts)

    def _top(self, item: str) -> int:
        """The upper edge of an item: in the middle of its rank, leaves at the lower end."""
        row = self._rank[item]
        free = self._bottoms[row] - self._tops[row] - self._tall(item)
        return self._tops[row] + (free // 2 if item in self._fed else free)

    def _foot(self, item: str) -> int:
        return self._top(item) + self._sizes[item][1] if self._is_box(item) else 0

    # Lines --------------------------------------------------------------------------------------

    def _line(self, link: Link, pin: int) -> list[Point]:
        """The points of a link, from its source down to its target."""
        source, target = link.source, link.target
        x = self._middles[source] + self._door(source, f"out:{link.tensor}")
        points = [(x, self._foot(source)), (x, self._bottoms[self._rank[source]])]
        for dummy in link.way[1:-1]:
            x, row = self._middles[dummy], self._rank[dummy]
            points += [(x, self._tops[row]), (x, self._bottoms[row])]
        if self._outside(link):
            x = self._lanes[link.tensor]
            points.append((x, self._tops[self._rank[source] + 1]))
            points.append((x, self._bottoms[self._rank[target] - 1]))
        x = self._middles[target] + pin
        points.append((x, self._tops[self._rank[target]]))
        if self._is_box(target):
            points.append((x, self._top(target)))
        return points


def _share(width: int, index: int, count: int) -> int:
    """How far right of the middle the middle of one of so many equal parts is."""
    return width * (2 * index + 1) // (2 * count) - width // 2


def _beside(need: int, ports: list[int], width: int) -> tuple[int, int]:
    """The left end of a title beside the tensors that come in, and how much room it lacks."""
    starts = [PAD, *(port + 8 for port in ports)]
    ends = [*(port - 8 for port in ports), width - PAD]
    for start, end in zip(starts, ends, strict=True):
        if end - start >= need:
            return start, 0
    lack = need - (ends[0] - starts[0])
    return PAD, lack if ports else (lack + 1) // 2
