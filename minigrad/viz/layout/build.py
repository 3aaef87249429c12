"""The order of boxes in ranks and lines: all of a layout but the positions.

Groups are ranked, ordered and aligned one after the other, children first, since the order of
their ports is known then. This happens once, in Python; packing does the rest.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from minigrad.viz.layout import labels
from minigrad.viz.layout.align import align
from minigrad.viz.layout.model import TOP, Box, End, Line, Scope, Skeleton
from minigrad.viz.layout.order import arrange
from minigrad.viz.layout.pack import INDENT
from minigrad.viz.layout.ranks import Link, Members, ranked
from minigrad.viz.record.fold import all_boxes
from minigrad.viz.record.model import LEAVES, Diagram, Group, Node
from minigrad.viz.record.repeats import Bundle, bundles
from minigrad.viz.record.roles import residuals

APART, PIN = 8, 16
"""Between two lines into a box: at least, and if there is room."""

Size = tuple[int, int] | None
"""Width and height of a title, if there is one."""

Numbers = Mapping[str, int]
"""The number of each item, or of its rank."""

RESIDUAL = "residual"
"""The text beside a residual connection."""


def skeleton(diagram: Diagram) -> Skeleton:
    """Rank, order and align the items of every group that a diagram has the inside of."""
    boxes = {node.id for node in diagram.nodes}
    open_ = {group.id: group for group in diagram.groups if group.id not in boxes}
    parents = {name: group.parent or TOP for name, group in open_.items()}
    work = _Work(diagram)
    members, links = _members(diagram, parents), _links(diagram, parents)
    scopes: dict[str, Scope] = {}
    for name in (*reversed(parents), TOP):
        size = _title_size(open_[name]) if name in open_ else None
        scopes[name] = work.scope(name, members[name], links[name], size)
    return Skeleton(scopes, parents, work.texts)


def _title_size(group: Group) -> tuple[int, int]:
    name, kind, size = (labels.text_width(line.text, line.style) for line in labels.title_of(group))
    return max(name + 6 + kind, size), 32 if size else 20


class _Work:
    """The state while groups are laid out, from the inside out."""

    def __init__(self, diagram: Diagram) -> None:
        self.texts = {
            name: (text, labels.text_width(text, "small"))
            for name, text in labels.tensor_texts(diagram).items()
        }
        self._residuals = residuals(diagram)
        if self._residuals:
            self.texts[RESIDUAL] = "residual", labels.text_width("residual", "small")
        self._named = labels.named_operands(diagram)
        self._shown = all_boxes(diagram)
        self._contents = labels.contents(diagram, self._shown.values())
        self._entries: Counter[str] = Counter()  # the lines into each box
        self._ports: dict[str, dict[str, int]] = {}  # by group and name: the number in the group
        self._port_places: dict[str, float] = {}  # where a port lies along its group, from 0 to 1
        self._sizes: dict[str, tuple[int, int]] = {}

    def scope(self, name: str, members: Members, links: Sequence[Link], title: Size) -> Scope:
        """Lay out one group; its child groups are laid out already."""
        leaves = {item for item, node in members.items() if node and node.kind in LEAVES}
        ranks, links = ranked(members, links)
        ranks = arrange(ranks, links, self._port_places, leaves)
        number = {item: index for index, item in enumerate(chain.from_iterable(ranks))}
        row = {item: index for index, rank in enumerate(ranks) for item in rank}
        self._entries.update(link.target for link in links)
        self._sizes |= {item: self._size(self._shown[item]) for item in members}
        anchors = self._anchors(links, members, number)
        lanes = _lanes(links, row)
        lines = []
        for index, link in enumerate(links):
            out = self._end(link.source, f"out:{link.tensor}")
            into = anchors.get(index) or self._end(link.target, f"in:{link.tensor}")
            lane = lanes[link.tensor] if link.far else -1
            lines.append(
                Line(tuple(map(number.__getitem__, link.way)), out, into, lane, link.edges)
            )
        boxes = self._boxes(members, links, lines, number)
        self._ports[name] = {port: number[port] for port in (*ranks[0], *ranks[-1])}
        for ports in (ranks[0], ranks[-1]):
            for index, port in enumerate(ports):
                self._port_places[f"{name}/{port}"] = (index + 0.5) / len(ports)
        scope = Scope(title, tuple(map(len, ranks)), tuple(boxes), tuple(lines), ())
        return replace(scope, blocks=align(scope))

    def _boxes(
        self, members: Members, links: Sequence[Link], lines: Sequence[Line], number: Numbers
    ) -> list[Box]:
        """The members with the texts about their tensors, and points for ports and dummies."""
        fed = {link.target for link in links}
        texts: dict[str, dict[str, int]] = defaultdict(dict)
        for link, line in zip(links, lines, strict=True):
            if link.source in members and link.tensor in self.texts:
                texts[link.source][link.tensor] = line.out[0]
        boxes = [Box()] * len(number)
        for item in members:
            (width, height), written = self._sizes[item], tuple(texts[item].items())
            ends = [shift + INDENT + self.texts[tensor][1] for tensor, shift in written]
            reach = max(width // 2, *ends, 0)
            boxes[number[item]] = Box(item, width, height, reach, item in fed, written)
        for link in links:  # a residual says what it is, half-way to where it is added
            if len(link.way) > 2 and link.target in members and self._residuals & {*link.edges}:
                reach = INDENT + self.texts[RESIDUAL][1]
                middle = number[link.way[len(link.way) // 2]]
                boxes[middle] = Box(reach=reach, texts=((RESIDUAL, 0),))
        return boxes

    def _size(self, node: Node) -> tuple[int, int]:
        """The size of a box: there is room for its text, for its lines and their texts."""
        width, height = labels.box_size(node, self._contents[node.id])
        ways, exits = self._entries[node.id], [0]
        if node.id in self._ports:
            ports = self._ports[node.id]
            exits = [self.texts.get(p[4:], ("", 0))[1] for p in ports if p.startswith("out:")]
            ways = len(ports) - len(exits)
        least = max(APART * (ways + 1), (max(exits, default=0) + APART + 2) * len(exits))
        return max(width, least + least % 2), height

    def _end(self, item: str, port: str) -> End:
        """Where a line leaves an item or enters a group: at a port, or in the middle of a node."""
        if item not in self._ports:
            return 0, 0
        side = [name for name in self._ports[item] if name[:3] == port[:3]]
        number = self._ports[item][port]
        return _share(self._sizes[item][0], side.index(port), len(side)), number

    def _anchors(self, links: Sequence[Link], members: Members, number: Numbers) -> dict[int, End]:
        """Where the lines into nodes meet them: side by side, as they come from left to right."""
        fed = {link.target for link in links}
        into: dict[str, list[tuple[bool, int, int, int, int]]] = defaultdict(list)
        for index, link in enumerate(links):
            if members.get(link.target):
                upper = link.way[-2]
                weight = 2 if link.source in fed or link.source not in members else 0
                if link.far or len(link.way) > 2:
                    weight = 1  # most matters a line from an op near by, least one from a leaf
                door = self._end(upper, f"out:{link.tensor}")[0]
                into[link.target].append((link.far, link.far or number[upper], door, index, weight))
        anchors: dict[int, End] = {}
        for target, found in into.items():
            found.sort()
            width, count = self._sizes[target][0], len(found)
            weights = [weight for *_, weight in found]
            middle = weights.index(max(weights)) * 2  # in half steps
            if weights.count(max(weights)) > 1:
                middle = count - 1
            step = min(PIN, (width - 16) // max(middle, 2 * (count - 1) - middle, 1))
            for place, (*_, index, _) in enumerate(found):
                named = target in self._named
                anchor = _share(width, place, count) if named else (2 * place - middle) * step // 2
                anchors[index] = anchor, 0
        return anchors


def _share(width: int, index: int, count: int) -> int:
    """How far right of the middle the middle of one of so many equal parts is."""
    return width * (2 * index + 1) // (2 * count) - width // 2


def _lanes(links: Sequence[Link], row: Numbers) -> dict[str, int]:
    """The number of the lane of each tensor that runs to the right of everything."""
    spans: dict[str, tuple[int, int]] = {}
    for link in links:
        if link.far:
            first, last = spans.get(link.tensor, (row[link.source], 0))
            spans[link.tensor] = first, max(last, row[link.target])
    lanes: dict[str, int] = {}
    free: list[int] = []  # where each lane is free again
    for tensor, (first, last) in spans.items():
        lane = next((i for i, rank in enumerate(free) if rank <= first), len(free))
        free[lane : lane + 1] = [last]
        lanes[tensor] = lane
    return lanes


def _members(diagram: Diagram, parents: Mapping[str, str]) -> dict[str, dict[str, Node | None]]:
    """The nodes and groups directly in each group, in order of their first op.

    A group is where its ops are, not where the tensors that it owns were made.
    """
    members: dict[str, dict[str, Node | None]] = {scope: {} for scope in (*parents, TOP)}
    for leaf in (False, True):
        for node in diagram.nodes:
            if leaf == (node.kind in LEAVES):
                scope, item = node.group or TOP, node.id
                members[scope][item] = node
                while scope != TOP and scope not in members[parents[scope]]:
                    members[parents[scope]][scope] = None
                    scope = parents[scope]
    return members


def _links(diagram: Diagram, parents: Mapping[str, str]) -> dict[str, list[Link]]:
    """Take every edge out of the groups around its source, across, and into those of its target."""
    home = {node.id: node.group or TOP for node in diagram.nodes}
    found: dict[str, dict[tuple[str, str, str, int], list[int]]] = {
        scope: defaultdict(list) for scope in (*parents, TOP)
    }
    around: dict[str, tuple[str, ...]] = {TOP: (TOP,)}  # outermost first
    for scope, parent in parents.items():
        around[scope] = (*around[parent], scope)
    together = bundles(diagram)
    for index, edge in enumerate(diagram.edges):
        outwards, inwards = around[home[edge.source]], around[home[edge.target]]
        shared = sum(a == b for a, b in zip(outwards, inwards, strict=False))
        item = tensor = edge.source
        bundle = together.get(index, Bundle("", tensor, index, ""))
        for scope in reversed(outwards[shared:]):
            port = bundle.tensor if scope == bundle.group else tensor
            found[scope][item, f"out:{port}", tensor, -1].append(index)
            item, tensor = scope, port
        for scope, inner in zip(inwards[shared - 1 :], inwards[shared:], strict=False):
            found[scope][item, inner, tensor, -1].append(index)
            item = f"in:{tensor}"
        # Each operand has a line of its own: x * x has two.
        found[inwards[-1]][item, edge.target, tensor, bundle.first].append(index)
    return {
        scope: [
            Link((source, target), tensor, tuple(edges))
            for (source, target, tensor, _), edges in table.items()
        ]
        for scope, table in found.items()
    }
