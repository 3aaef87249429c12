"""The layout: nothing overlaps, tensors run downward; what a tensor is for."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, combinations, pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from random_graphs import Plan, Random, diagrams, plans
from reading import Box, by_id, encoder_layer, holds, overlap, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Edge, Graph, Group, Node
from minigrad.viz.layout import Placement, model, order, place, skeleton
from minigrad.viz.layout.align import align
from minigrad.viz.layout.pack import measure, pack
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


def check(graph: Graph, closed: set[str]) -> Placement:
    """Everything that holds of every layout."""
    bones = skeleton(graph)
    placement = place(bones, closed)
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
    titles = [(*at, *bones.scopes[group].title) for group, at in placement.titles.items()]
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


@given(diagrams(), st.data())
def test_every_diagram(graph: Graph, data: st.DataObject) -> None:
    closed = st.sets(st.sampled_from([g.id for g in graph.groups] or ["none"]))
    check(graph, data.draw(closed))


@given(plans, st.data())
def test_every_module_with_any_groups_closed(plan: Plan, data: st.DataObject) -> None:
    x, extra = minigrad.zeros(3), minigrad.zeros(3)
    graph = viz.graph(Random(plan), x, extra)
    closed = st.sets(st.sampled_from([group.id for group in graph.groups]))
    check(graph, data.draw(closed))


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


def test_sweeps_undo_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(0)
    made = [minigrad.ones(3, requires_grad=True)]
    for _ in range(60):
        one, two = draw.choices(made[-20:], k=2)
        made.append(one * two)
    graph = viz.graph(minigrad.stack(made[-20:]))
    swept = crossings(graph, place(skeleton(graph)))
    monkeypatch.setattr(order, "SWEEPS", 0)
    assert swept < crossings(graph, place(skeleton(graph)))


def test_what_cannot_be_laid_out_is_refused() -> None:
    nodes = tuple(Node(f"n{i}", "op", "f", group=f"g{i % 2}") for i in range(3))
    groups = tuple(Group(f"g{i}", f"m{i}", f"m{i}", "Module") for i in range(2))
    graph = Graph(nodes, (Edge("n0", "n1"), Edge("n1", "n2")), groups)
    with pytest.raises(ValueError, match="g0, g1 feed each other"):
        skeleton(graph)
    [(kind, text)] = graph._repr_mimebundle_().items()
    assert kind == "text/plain"
    assert "feed each other" in text


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
        check(Graph(nodes, edges, (Group("g0", name, name, "Module", None, 1_000_000),)), set())


def test_an_empty_diagram_has_a_size() -> None:
    placement = place(skeleton(Graph((), ())))
    assert placement.width > 0
    assert placement.height > 0


def by_hand(x: Tensor, added: bool) -> Tensor:
    """Attention of plain ops, with a mask and a residual."""
    scores, allowed = x @ x.swapaxes(-1, -2), np.tril(np.ones((5, 5), bool))
    if added:
        scores = scores + np.where(allowed, 0, -1e9).astype(np.float32)
    else:
        scores = minigrad.where(allowed, scores, -np.inf)
    return x + minigrad.softmax(scores, dim=-1) @ x


@pytest.mark.parametrize("added", [False, True], ids=["where", "added"])
@pytest.mark.parametrize("traced", [False, True], ids=["graph", "trace"])
def test_attention_by_hand_has_a_mask_and_a_residual(traced: bool, added: bool) -> None:
    x = minigrad.ones(2, 3, 5, 4, requires_grad=True)
    graph = watched(lambda: by_hand(x, added)) if traced else viz.graph(by_hand(x, added))
    labels = by_id(graph)
    if traced or not added:  # a sum keeps nothing of its operands
        assert [node.shape for node in graph.nodes if node.label == "mask"] == [(5, 5)]
    assert [labels[graph.edges[index].target] for index in residuals(graph)] == ["add"]
