"""The layout: nothing overlaps, tensors run downward; cut for a slide; what a tensor is for."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import accumulate, combinations, pairwise
from typing import Any, get_args

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from random_graphs import Plan, Random, diagrams, plans
from reading import Box, by_id, classed, encoder_layer, holds, overlap, parse, texts, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Edge, Graph, Group, Node
from minigrad.viz.drawing.svg import draw, insides
from minigrad.viz.layout import Direction, Placement, model, order, place, skeleton
from minigrad.viz.layout.align import align
from minigrad.viz.layout.columns import Columns
from minigrad.viz.layout.labels import SIZES
from minigrad.viz.layout.pack import GAP, PAD, measure, pack
from minigrad.viz.layout.ranks import FAR
from minigrad.viz.record.roles import residuals

Segment = tuple[tuple[int, int], tuple[int, int]]


def segments(placement: Placement) -> Iterator[tuple[int, Segment]]:
    for edge, points in placement.edges.items():
        for segment in pairwise(points):
            yield edge, segment


def around(segment: Segment) -> Box:
    """The rectangle that a line or a bow stays in; of a line, a strip."""
    (x, y), (a, b) = segment
    return min(x, a), y, max(abs(a - x), 1), b - y


def crossings(graph: Graph, placement: Placement) -> int:
    """How many tensors cross: a bow crosses what its chord crosses."""
    lines = {(graph.edges[edge].source, segment) for edge, segment in segments(placement)}
    count = 0
    for (one, (p, q)), (two, (r, s)) in combinations(sorted(lines), 2):
        top, bottom = max(p[1], r[1]), min(q[1], s[1])
        if one != two and top < bottom:
            at = [
                a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1])
                for a, b in ((p, q), (r, s)) for y in (top, bottom)
            ]  # fmt: skip
            count += (at[0] - at[2]) * (at[1] - at[3]) < 0
    return count


def check(graph: Graph, closed: set[str], direction: Direction = "down") -> Placement:
    """Everything that holds of every layout; one to the right is checked in the mirror."""
    bones = skeleton(graph, direction)
    placement = place(bones, closed)
    if direction == "right":
        assert placement.mirrored().mirrored() == placement
        placement = placement.mirrored()
    parents = {group.id: group.parent for group in graph.groups}
    homes = {node.id: node.group for node in graph.nodes}

    def ancestry(group: str | None) -> list[str]:
        return [] if group is None else [group, *ancestry(parents[group])]

    def shown(item: str, group: str | None) -> str:
        """The box that an item is seen as: itself, or the outermost closed group around it."""
        return next((g for g in reversed(ancestry(group)) if g in closed), item)

    homes |= {group: parents[group] for group in parents}
    boxes, frames = placement.boxes, placement.frames
    # What shows is what should.
    assert set(boxes) == {shown(node.id, node.group) for node in graph.nodes}
    opened = {g for g in parents if not closed & set(ancestry(g))}
    assert set(frames) == opened == set(placement.titles)
    items = [box for scope in bones.scopes.values() for box in scope.items if box]
    sizes = {box.id: (box.width, box.height) for box in items}
    for item, box in boxes.items():
        assert box[2:] == sizes[item]

    # Nothing overlaps but what is in each other; everything is in the whole.
    whole = (0, 0, placement.width, placement.height)
    for item, box in (boxes | frames).items():
        assert holds(whole, box)
        if homes[item] is not None:
            assert holds(frames[homes[item]], box)
    for (one, box), (two, other) in combinations((boxes | frames).items(), 2):
        if one not in ancestry(homes[two]) and two not in ancestry(homes[one]):
            assert not overlap(box, other), (one, two)
    turn = -1 if direction == "right" else 1
    titles = [(*at, *bones.scopes[group].title[::turn]) for group, at in placement.titles.items()]
    for (group, _), title in zip(placement.titles.items(), titles, strict=True):
        assert holds(frames[group], title)
        assert not any(overlap(title, box) for box in boxes.values())
    texts = [(x, y, bones.texts[tensor][1], 12) for tensor, x, y in placement.texts]
    for one, two in combinations([*texts, *titles, *boxes.values()], 2):
        assert not overlap(one, two)

    for _, segment in segments(placement):
        assert not any(overlap(around(segment), text) for text in (*texts, *titles))

    # Every edge runs from its source down to its target, and through nothing on its way.
    for index, edge in enumerate(graph.edges):
        source, target = (shown(end, homes[end]) for end in (edge.source, edge.target))
        assert (index in placement.edges) == (source != target)
        if source != target:
            start, end = placement.edges[index][0], placement.edges[index][-1]
            (x, y, w, h), (a, b, c, _) = boxes[source], boxes[target]
            assert x < start[0] < x + w
            assert start[1] == y + h
            assert a < end[0] < a + c
            assert end[1] == b
    for _, segment in segments(placement):
        (_, y), (_, b) = segment
        assert y < b
        strip = around(segment)
        assert holds(whole, strip)
        assert not any(overlap(strip, box) for box in boxes.values()), segment
        for frame in frames.values():
            if segment[0][0] != segment[1][0]:  # a bow stays within the frames that it is in
                assert not overlap(strip, frame) or holds(frame, strip)
    return placement


directions = st.sampled_from(get_args(Direction))


@given(diagrams(), directions, st.data())
def test_every_diagram(graph: Graph, direction: Direction, data: st.DataObject) -> None:
    closed = st.sets(st.sampled_from([g.id for g in graph.groups] or ["none"]))
    check(graph, data.draw(closed), direction)


@given(plans, directions, st.data())
def test_every_module_with_any_groups_closed(
    plan: Plan, direction: Direction, data: st.DataObject
) -> None:
    x, extra = minigrad.zeros(3), minigrad.zeros(3)
    graph = viz.graph(Random(plan), x, extra)
    closed = st.sets(st.sampled_from([group.id for group in graph.groups]))
    check(graph, data.draw(closed), direction)


@given(plans, st.sampled_from([None, 0, 1, 2, 3]))
def test_every_view_of_every_module(plan: Plan, depth: int | None) -> None:
    x, extra = minigrad.zeros(3), minigrad.zeros(3)
    view = viz.graph(Random(plan), x, extra).collapse(depth)
    nodes = {node.id for node in view.nodes}
    closed = {group.id for group in view.groups if group.id in nodes}
    placement = place(skeleton(view))
    assert set(placement.boxes) == nodes
    assert set(placement.frames) == {group.id for group in view.groups} - closed
    assert set(placement.edges) == set(range(len(view.edges)))


@pytest.mark.parametrize("closed", [set(), {"g2"}, {"g3"}, {"g2", "g4"}, {"g2", "g3", "g4"}])
def test_opening_and_closing_keeps_the_order(closed: set[str]) -> None:
    graph = encoder_layer()
    placement = place(skeleton(graph), closed)
    shown = placement.boxes | placement.frames
    q, k, v = (shown[group.id][0] for group in graph.groups if group.name in QKV)
    assert q < k < v


QKV = ("q_proj", "k_proj", "v_proj")


def test_it_is_plain_data() -> None:
    bones = skeleton(encoder_layer(norm_first=True))
    for data in map(asdict, (bones, place(bones, {"g1"}))):
        assert json.loads(json.dumps(data))


def attention(inputs: int) -> Graph:
    xs = [minigrad.ones(2, 5 + (index > 0), 16) for index in range(inputs)]
    return viz.graph(nn.MultiHeadAttention(16, 4), *(xs[min(i, inputs - 1)] for i in range(3)))


def decoder_layer() -> Graph:
    layer = nn.TransformerDecoderLayer(16, 4, 32)
    return viz.graph(layer, minigrad.ones(2, 5, 16), minigrad.ones(2, 7, 16))


PLANAR = {
    "q = k = v": attention(1), "k = v": attention(2), "q, k, v": attention(3),
    "post-norm": encoder_layer(), "pre-norm": encoder_layer(norm_first=True),
    "decoder": decoder_layer(),
}  # fmt: skip


@pytest.mark.parametrize("depth", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("name", PLANAR)
def test_nothing_crosses_in_attention_and_in_layers(name: str, depth: int | None) -> None:
    if name != "decoder" or depth in (1, 2):
        view = PLANAR[name].collapse(depth)
        assert crossings(view, place(skeleton(view))) == 0


def test_crossings_are_counted() -> None:
    """Each of two reads both of two others: on paper, one crossing."""
    nodes = [Node(f"n{i}", "input", "x") for i in range(2)]
    nodes += [Node(f"n{i}", "op", "add") for i in range(2, 4)]
    edges = [Edge(f"n{i}", f"n{j}", i) for j in (2, 3) for i in (0, 1)]
    graph = Graph(tuple(nodes), tuple(edges))
    assert crossings(graph, place(skeleton(graph))) == 1


def test_neighbours_change_places_where_sweeps_leave_crossings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(0)
    made = [minigrad.ones(3, requires_grad=True)]
    for _ in range(60):
        one, two = draw.choices(made[-20:], k=2)
        made.append(one * two)
    graph = viz.graph(minigrad.stack(made[-20:]))
    exchanged = crossings(graph, place(skeleton(graph)))
    monkeypatch.setattr(order, "EXCHANGES", 0)
    swept = crossings(graph, place(skeleton(graph)))
    monkeypatch.setattr(order, "SWEEPS", 0)
    assert exchanged < swept < crossings(graph, place(skeleton(graph)))


def test_what_follows_in_a_line_stands_in_a_line() -> None:
    """Main lines are straight, whatever is beside them."""
    for graph in (encoder_layer().collapse(1), encoder_layer(norm_first=True).collapse(2)):
        placement = place(skeleton(graph))
        main = ("add", "relu", "output")
        boxes = [placement.boxes[node.id] for node in graph.nodes if node.label in main]
        assert len({x + width / 2 for x, _, width, _ in boxes}) == 1


def test_operands_come_in_from_left_to_right_as_their_sources_stand() -> None:
    x, y = (minigrad.ones(2, 2, requires_grad=True) for _ in range(2))
    graph = viz.graph(y.tanh() @ x.exp(), x=x, y=y)
    names, lines = by_id(graph), place(skeleton(graph)).edges
    one, two = (lines[i] for i, e in enumerate(graph.edges) if names[e.target] == "matmul")
    assert one[-1][0] < two[-1][0]
    assert one[-1][1] == two[-1][1]


@pytest.mark.parametrize("direction", get_args(Direction))
def test_operands_are_named_where_their_lines_come_in(direction: Direction) -> None:
    """Also those that come from outside of the group."""
    graph = viz.graph(nn.LSTM(3, 2, batch_first=False), minigrad.ones(5, 1, 3))
    bones = skeleton(graph, direction)
    (op,) = (node for node in graph.nodes if node.label == "linear")
    slots = re.findall(
        r'class="small slot[^"]*" x="(\d+)" y="(\d+)">(\w+)', insides(graph, bones, [op])[op.id]
    )
    placement = place(bones)
    axis = 0 if direction == "down" else 1
    start, into = placement.boxes[op.id][axis], [e for e in graph.edges if e.target == op.id]
    ends = {edge.name: placement.edges[graph.edges.index(edge)][-1][axis] - start for edge in into}
    assert ends == {name: int(x) if axis == 0 else int(y) - 3 for x, y, name in slots}
    assert len(ends) == 3


def test_what_cannot_be_laid_out_is_refused() -> None:
    with pytest.raises(ValueError, match="'down' or 'right', not 'up'"):
        encoder_layer().to_svg(direction="up")
    nodes = tuple(Node(f"n{i}", "op", "f", group=f"g{i % 2}") for i in range(3))
    groups = tuple(Group(f"g{i}", f"m{i}", f"m{i}", "Module") for i in range(2))
    graph = Graph(nodes, (Edge("n0", "n1"), Edge("n1", "n2")), groups)
    with pytest.raises(ValueError, match="g0, g1 feed each other"):
        skeleton(graph)
    assert list(graph._repr_mimebundle_()) == ["text/plain"]
    assert "feed each other" in graph._repr_mimebundle_()["text/plain"]


def test_a_tensor_that_passes_many_ranks_runs_outside() -> None:
    """One lane beside everything, for all of its readers; no dummy in each rank."""
    x = y = minigrad.ones(3, requires_grad=True)
    for _ in range(2 * FAR):
        y = (y * x).tanh()
    graph = viz.graph(y, x=x)
    bones = skeleton(graph)
    assert all(box.id for box in bones.scopes[""].items)
    placement = check(graph, set())
    assert len(outside(placement)) == 2 * FAR - 1  # the first reads it from above
    assert len(set(outside(placement))) == 1


def outside(placement: Placement) -> list[int]:
    """How far right the edges run that run beside everything."""
    right = max(x + w for x, _, w, _ in placement.boxes.values())
    furthest = [max(x for x, _ in points) for points in placement.edges.values()]
    return [x for x in furthest if x > right]


def test_lanes_are_shared_by_those_that_do_not_meet() -> None:
    y = minigrad.ones(3, requires_grad=True)
    for _ in range(3):
        start = y
        for _ in range(FAR + 2):
            y = y.tanh()
        y = y + start
    lanes = outside(check(viz.graph(y), set()))
    assert len(lanes) == 3
    assert len(set(lanes)) == 1


def test_a_parameter_stands_just_above_what_reads_it() -> None:
    """So does what is made of parameters only, however long the way of the data is."""
    x, w = minigrad.ones(2, 2, requires_grad=True), nn.Parameter(minigrad.ones(2, 2))
    y = x
    for _ in range(4):
        y = y.tanh()
    graph = viz.graph(y @ w.swapaxes(0, 1), x=x, w=w)
    boxes = place(skeleton(graph)).boxes
    tops = {node.label: boxes[node.id][1] for node in graph.nodes}  # of several the last
    middles = {node.label: boxes[node.id][1] + boxes[node.id][3] / 2 for node in graph.nodes}
    assert middles["swapaxes"] == middles["tanh"]
    assert tops["x"] < tops["w"] < tops["swapaxes"] < tops["matmul"]
    assert tops["swapaxes"] - tops["w"] < 80


def test_what_is_given_stands_at_the_lower_end_of_its_rank() -> None:
    tall = Node("n1", "op", "tall", notes=("a", "b", "c", "d"))
    nodes = Node("n0", "input", "x"), tall, Node("n2", "input", "y"), Node("n3", "op", "add")
    edges = (Edge("n0", "n1"), Edge("n1", "n3"), Edge("n2", "n3", 1))
    boxes = place(skeleton(Graph(nodes, edges))).boxes
    assert boxes["n2"][1] > boxes["n1"][1] + 20
    assert boxes["n2"][1] + boxes["n2"][3] >= boxes["n1"][1] + boxes["n1"][3]


@given(st.data())
def test_items_keep_their_order_and_their_distances(data: st.DataObject) -> None:
    """Whatever the lines, also those that cross and should be straight; then for other sizes."""
    rows = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    starts = [0, *accumulate(rows)]
    lines = []
    for upper, lower in pairwise(range(a, b) for a, b in pairwise(starts)):
        for way in data.draw(st.sets(st.tuples(*map(st.sampled_from, (upper, lower))))):
            ends = [(data.draw(st.integers(-20, 20)), 0) for _ in way]
            lines.append(model.Line(way, *ends, -1, ()))
    fed = {line.way[1] for line in lines}
    passed = [item in fed and data.draw(st.booleans()) for item in range(starts[-1])]
    blocks: tuple[model.Block, ...] = ()
    for _ in range(2):
        boxes = [
            model.Box() if way else model.Box("n", data.draw(st.integers(1, 60)), 9, 40, True, ())
            for way in passed
        ]
        scope = model.Scope(None, tuple(rows), tuple(boxes), tuple(lines), blocks)
        blocks = blocks or align(scope)
        group = pack(replace(scope, blocks=blocks), {})
        sizes = measure(scope, {})
        for start, end in pairwise(starts):
            for one, two in pairwise(range(start, end)):
                apart = sizes.right[one] + sizes.left[two]
                assert group.x[two] - group.x[one] >= apart


def test_a_title_makes_room_for_itself() -> None:
    nodes = (Node("n0", "input", "x"), Node("n1", "op", "f", group="g0"))
    name = "a_module_with_a_long_name_indeed"
    for edges in ((Edge("n0", "n1"),), ()):
        graph = Graph(nodes, edges, (Group("g0", name, name, "Module", None, 1_000_000),))
        check(graph, set())


def test_an_empty_diagram_has_a_size() -> None:
    placement = place(skeleton(Graph((), ())))
    assert placement.width > 0
    assert placement.height > 0


def cut(graph: Graph, count: int, direction: Direction) -> Placement:
    layout = skeleton(graph, direction)
    return Columns(layout, place(layout)).cut(count)


def check_cut(graph: Graph, count: int, direction: Direction) -> None:
    """Everything that holds of every picture that is cut."""
    placement = cut(graph, count, direction)
    slices = placement.parts
    nodes = {node.id: node for node in graph.nodes}
    parents = {group.id: group.parent for group in graph.groups if group.id not in nodes}
    whole = (0, 0, placement.width, placement.height)
    assert set(placement.boxes) == set(nodes)
    assert set(slices) == set(parents) == set(placement.frames) == set(placement.titles)
    for one, two in combinations(placement.boxes.values(), 2):
        assert not overlap(one, two)
    for item, box in placement.boxes.items():
        assert holds(whole, box)
        if (home := nodes[item].group) is not None:
            assert any(holds(part, box) for part in slices[home])
    for group, parts in slices.items():
        assert parts[0] == placement.frames[group]
        assert len(parts) <= count
        for part in parts:
            assert holds(whole, part)
            if (outer := parents[group]) is not None:
                assert any(holds(around, part) for around in slices[outer])
            held = {item for item, box in placement.boxes.items() if overlap(part, box)}
            for item in held:  # the items in a part of a frame belong there
                homes = [nodes[item].group]
                while homes[-1] is not None:
                    homes.append(parents[homes[-1]])
                assert group in homes
    for index, edge in enumerate(graph.edges):
        (x, y), (a, b) = placement.edges[index][0], placement.edges[index][-1]
        source, target = placement.boxes[edge.source], placement.boxes[edge.target]
        along, across = ((x, a), (y, b)) if direction == "right" else ((y, b), (x, a))
        axis = 0 if direction == "right" else 1
        assert along == (source[axis] + source[axis + 2], target[axis])
        for place_of, box in zip(across, (source, target), strict=True):
            assert box[1 - axis] < place_of < box[1 - axis] + box[3 - axis]
        for one, two in pairwise(placement.edges[index]):
            strip = (
                *map(min, one, two), *(max(abs(p - q), 1) for p, q in zip(one, two, strict=True))
            )  # fmt: skip
            assert holds(whole, strip)
            assert not any(overlap(strip, box) for box in placement.boxes.values())


@given(diagrams(), st.integers(1, 5), st.sampled_from(get_args(Direction)))
def test_every_diagram_can_be_cut(graph: Graph, count: int, direction: Direction) -> None:
    check_cut(graph, count, direction)


def encoder(layers: int = 6) -> Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128), layers)
    return viz.graph(model, minigrad.ones(2, 10, 64))


@pytest.mark.parametrize("direction", get_args(Direction))
@pytest.mark.parametrize("count", [2, 3, 4])
def test_an_encoder_is_cut_into_as_many_columns_of_about_the_same_height(
    direction: Direction, count: int
) -> None:
    view = encoder().collapse()
    check_cut(view, count, direction)
    placement, before = cut(view, count, direction), cut(view, 1, direction)
    if direction == "right":
        placement, before = placement.mirrored(), before.mirrored()
    assert len(placement.parts[view.groups[0].id]) == count
    assert placement.height < 1.3 * before.height / count + 60
    backwards = [
        points for points in placement.edges.values()
        if any(b < y for (_, y), (_, b) in pairwise(points))
    ]  # fmt: skip
    assert len({points[0] for points in backwards}) >= count - 1


def test_one_column_is_the_layout_itself() -> None:
    view = encoder().collapse()
    layout = skeleton(view)
    placement = cut(view, 1, "down")
    plain = place(layout)
    for part in ("boxes", "frames", "edges"):
        assert getattr(placement, part) == getattr(plain, part)
    assert placement.parts == {group: [frame] for group, frame in plain.frames.items()}


def test_a_column_leaves_no_room_beside_what_it_holds() -> None:
    """The second half of a layer is narrower than its attention, which is in the first."""
    placement = cut(encoder(1).collapse(), 3, "down")
    widths = [width for _, _, width, _ in next(iter(placement.parts.values()))]
    assert widths[0] > widths[-1] + 2 * PAD + GAP


def small_text(svg: str) -> float:
    """The height of the smallest type, in pixels."""
    root = parse(svg)
    _, _, width, height = map(int, root.get("viewBox", "").split())
    sizes = [int(size) for size in re.findall(r"\.minigrad-graph [^{]*\{font-size:(\d+)px", svg)]
    unit = min(int(root.get("width", "")) / width, int(root.get("height", "")) / height)
    return min(sizes) * unit


def test_six_layers_and_a_transformer_can_be_read_on_a_slide() -> None:
    given = minigrad.ones(2, 10, 64), minigrad.ones(2, 7, 64)
    transformer = viz.graph(nn.Transformer(64, 4, 6, 6, 128), *given)
    for graph, least in ((encoder(), 20), (transformer, 15)):
        svg = graph.to_svg(fit=(16, 9), title="A model")
        root = parse(svg)
        assert (root.get("width"), root.get("height")) == ("1920", "1080")
        assert small_text(svg) >= 14
        boxes = [item for item in classed(root, "box") if item.get("data-id")]
        assert len(boxes) >= least
        assert any("…" in text for text in texts(root))


@pytest.mark.parametrize("aspect", [(16, 9), (4, 3), (1, 1), (9, 16)])
def test_the_picture_has_the_aspect_and_is_in_its_middle(aspect: tuple[int, int]) -> None:
    root = parse(encoder(2).to_svg(fit=aspect))
    width, height = int(root.get("width", "")), int(root.get("height", ""))
    assert width / height == pytest.approx(aspect[0] / aspect[1], rel=0.01)
    assert width * height == pytest.approx(1920 * 1080, rel=0.01)
    left, top, wide, high = map(int, root.get("viewBox", "").split())
    assert wide / high == pytest.approx(aspect[0] / aspect[1], rel=0.01)
    assert min(left, top) <= 0 == max(left, top) or min(left, top) > -4
    (page,) = classed(root, "page")
    assert [page.get(name) for name in ("x", "y", "width", "height")] == [
        str(left), str(top), str(wide), str(high)
    ]  # fmt: skip


def test_a_depth_and_a_direction_that_are_given_stay() -> None:
    graph = encoder(3)
    for depth in (1, 2):
        root = parse(graph.to_svg(depth, fit=(16, 9)))
        boxes = [item for item in classed(root, "box") if item.get("data-id")]
        assert len(boxes) == len(graph.collapse(depth).nodes)
    for direction, head in {"right": "l-7 -4", "down": "l-4 -7"}.items():
        svg = graph.to_svg(fit=(16, 9), direction=direction)
        assert {*re.findall(r'class="head" d="M\d+ \d+(l-\d -\d)', svg)} == {head}


@pytest.mark.parametrize("aspect", [(0, 9), (16,), (16, -9), (1, float("inf"))])
def test_what_is_no_aspect_is_refused(aspect: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"fit should be an aspect such as \(16, 9\)"):
        encoder(1).to_svg(fit=aspect)


class TestScreen:
    """Without an aspect: text of 12 pixels, and columns where a picture is much too long."""

    def size(self, svg: str) -> tuple[float, float, float]:
        root = parse(svg)
        *_, wide, high = map(int, root.get("viewBox", "").split())
        width, height = int(root.get("width", "")), int(root.get("height", ""))
        return width, height, min(width / wide, height / high)

    @pytest.mark.parametrize("direction", ["down", "right"])
    @pytest.mark.parametrize("depth", [None, 2, 3])
    def test_a_deep_model(self, depth: int | None, direction: Any) -> None:
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 6)
        graph = viz.graph(model, minigrad.randn(2, 3, 16))
        width, height, unit = self.size(graph.to_svg(depth, direction=direction))
        assert width <= 1920
        assert height <= 1.5 * 1080
        assert min(SIZES.values()) * unit >= 11.9

    def test_a_small_one_is_whole(self) -> None:
        graph = viz.graph(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), minigrad.ones(5, 3))
        assert graph.to_svg() == draw(graph.collapse())


class ByHand(nn.Module):
    """Attention of plain ops, with heads, a mask and a residual."""

    def __init__(self, number: int, added: bool) -> None:
        super().__init__()
        self.project = nn.Linear(12, 36, bias=False)
        self.number, self.added = number, added

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        packed = self.project(x).reshape(n, length, 3, self.number, width // self.number)
        q, k, v = packed.permute(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2)
        allowed = np.tril(np.ones((length, length), bool))
        if self.added:
            scores = scores + np.where(allowed, 0, -1e9).astype(np.float32)
        else:
            scores = minigrad.where(allowed, scores, -np.inf)
        y = minigrad.softmax(scores, dim=-1) @ v
        return x + y.swapaxes(1, 2).reshape(n, length, width)


def traced(module: nn.Module, *inputs: Tensor, **more: object) -> Graph:
    return watched(lambda: module(*inputs, **more))


@pytest.mark.parametrize("added", [False, True], ids=["where", "added"])
@pytest.mark.parametrize("watch", [viz.graph, traced], ids=["graph", "trace"])
def test_attention_by_hand_has_a_mask_and_a_residual(watch: object, added: bool) -> None:
    graph = watch(ByHand(3, added), minigrad.ones(2, 5, 12, requires_grad=True))
    labels = by_id(graph)
    if watch is traced or not added:  # a sum keeps nothing of its operands
        (mask,) = (node for node in graph.nodes if node.label == "mask")
        assert mask.shape == (5, 5)
    assert [labels[graph.edges[index].target] for index in residuals(graph)] == ["add"]


def slots(svg: str) -> list[str]:
    return [item.text or "" for item in classed(parse(svg), "slot")]
