"""A picture for a slide: cut into columns or rows, modules closed until the text can be read."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import Any, get_args

import hypothesis.strategies as st
import pytest
from hypothesis import given
from random_graphs import diagrams
from reading import classed, holds, overlap, parse, texts

import minigrad
from minigrad import nn, viz
from minigrad.viz import Graph
from minigrad.viz.drawing.svg import draw
from minigrad.viz.layout import Direction, Placement, place, skeleton
from minigrad.viz.layout.columns import Columns
from minigrad.viz.layout.labels import SIZES
from minigrad.viz.layout.pack import GAP, PAD


def cut(graph: Graph, count: int, direction: Direction) -> Placement:
    layout = skeleton(graph, direction)
    return Columns(layout, place(layout)).cut(count)


def check(graph: Graph, count: int, direction: Direction) -> None:
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
        if direction == "right":
            assert (x, a) == (source[0] + source[2], target[0])
            assert source[1] < y < source[1] + source[3]
            assert target[1] < b < target[1] + target[3]
        else:
            assert (y, b) == (source[1] + source[3], target[1])
            assert source[0] < x < source[0] + source[2]
            assert target[0] < a < target[0] + target[2]
        for one, two in pairwise(placement.edges[index]):
            strip = (
                *map(min, one, two), *(max(abs(p - q), 1) for p, q in zip(one, two, strict=True))
            )  # fmt: skip
            assert holds(whole, strip)
            assert not any(overlap(strip, box) for box in placement.boxes.values())


@given(diagrams(), st.integers(1, 5), st.sampled_from(get_args(Direction)))
def test_every_diagram_can_be_cut(graph: Graph, count: int, direction: Direction) -> None:
    check(graph, count, direction)


def encoder(layers: int = 6) -> Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128), layers)
    return viz.graph(model, minigrad.ones(2, 10, 64))


@pytest.mark.parametrize("direction", get_args(Direction))
@pytest.mark.parametrize("count", [2, 3, 4])
def test_an_encoder_is_cut_into_as_many_columns_of_about_the_same_height(
    direction: Direction, count: int
) -> None:
    view = encoder().collapse()
    check(view, count, direction)
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
    assert placement.boxes == plain.boxes
    assert placement.frames == plain.frames
    assert placement.edges == plain.edges
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


@pytest.mark.parametrize("hide", [(), (nn.Dropout,)], ids=["all", "without dropout"])
def test_six_layers_and_a_transformer_can_be_read_on_a_slide(hide: tuple[type, ...]) -> None:
    transformer = viz.graph(
        nn.Transformer(64, 4, 6, 6, 128), minigrad.ones(2, 10, 64), minigrad.ones(2, 7, 64)
    )
    for graph, least in ((encoder(), 20), (transformer, 15)):
        svg = graph.to_svg(fit=(16, 9), hide=hide, title="A model")
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
    heads = {
        direction: re.findall(r'class="head" d="M\d+ \d+(l-\d -\d)', svg)
        for direction in get_args(Direction)
        for svg in [graph.to_svg(fit=(16, 9), direction=direction)]
    }
    assert {*heads["right"]} == {"l-7 -4"}
    assert {*heads["down"]} == {"l-4 -7"}


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
