"""What a tensor is for is pointed out where it is: residuals, heads, masks, query and key."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from reading import by_id, classed, parse, texts, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph
from minigrad.viz.layout import Direction, place, skeleton
from minigrad.viz.page.html import write_page
from minigrad.viz.record.roles import heads, residuals


class ByHand(nn.Module):
    """Attention of plain ops, with heads, a mask and a residual."""

    def __init__(self, number: int, added: bool) -> None:
        super().__init__()
        self.project = nn.Linear(12, 36, bias=False)
        self.number, self.added = number, added

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        packed = self.project(x).reshape(n, length, 3, self.number, width // self.number)
        q, k, v = packed.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2)
        allowed = np.tril(np.ones((length, length), bool))
        if self.added:
            scores = scores + np.where(allowed, 0, -1e9).astype(np.float32)
        else:
            scores = minigrad.where(allowed, scores, -np.inf)
        y = minigrad.softmax(scores, axis=-1) @ v
        return x + y.swapaxes(1, 2).reshape(n, length, width)


def traced(module: nn.Module, *inputs: Tensor, **more: object) -> Graph:
    return watched(lambda: module(*inputs, **more))


def notes(graph: Graph) -> list[str]:
    labels = by_id(graph)
    return [f"{labels[box]}: {text}" for box, text in heads(graph).items()]


@pytest.mark.parametrize("added", [False, True], ids=["where", "added"])
@pytest.mark.parametrize("watch", [viz.graph, traced], ids=["graph", "trace"])
def test_attention_by_hand_has_heads_a_mask_and_a_residual(watch: object, added: bool) -> None:
    graph = watch(ByHand(3, added), minigrad.ones(2, 5, 12, requires_grad=True))
    assert notes(graph) == ["reshape: 3 heads of 4", "reshape: 3 heads joined"]
    labels = by_id(graph)
    if watch is traced or not added:  # a sum keeps nothing of its operands
        (mask,) = (node for node in graph.nodes if node.label == "mask")
        assert mask.shape == (5, 5)
    assert [labels[graph.edges[index].target] for index in residuals(graph)] == ["add"]


def test_a_reshape_that_makes_no_heads_is_not_called_so() -> None:
    x = minigrad.ones(2, 5, 12, requires_grad=True)
    for y in (
        x.reshape(2, 5, 3, 4).exp(),  # nothing changes places
        x.reshape(2, 5, 3, 4).swapaxes(0, 1),
        x.reshape(10, 12).swapaxes(0, 1),
        x.exp().swapaxes(1, 2).reshape(2, 60),
    ):
        assert notes(viz.graph(y)) == []


def slots(svg: str) -> list[str]:
    return [item.text or "" for item in classed(parse(svg), "slot")]


@pytest.mark.parametrize("direction", get_args(Direction))
@pytest.mark.parametrize("watch", [viz.graph, traced], ids=["graph", "trace"])
def test_query_key_and_value_keep_their_names(watch: object, direction: Direction) -> None:
    x = minigrad.ones(2, 5, 12)
    graph = watch(nn.MultiHeadAttention(12, 3), x, x, x)
    svg = graph.to_svg(hide=["reshape", "swapaxes"], direction=direction)
    assert slots(svg) == ["query", "key", "value"]
    view = graph.collapse()
    (box,) = (node.id for node in view.nodes if node.label == "attention")
    assert [(e.slot, e.name) for e in view.edges if e.target == box] == [
        (0, "query"), (1, "key"), (2, "value")
    ]  # fmt: skip


def test_the_closed_box_of_a_page_names_them_where_they_come_in() -> None:
    x = minigrad.ones(2, 5, 12)
    graph = traced(nn.MultiHeadAttention(12, 3), x, x, x)
    (group,) = (group for group in graph.groups if group.op is not None)
    assert [edge.name for edge in group.operands] == ["query", "key", "value"]
    page = write_page(graph, 1, "attention")
    svg = page[page.index("<svg xmlns") : page.index("</svg>", page.index("<svg xmlns")) + 6]
    assert slots(svg) == ["query", "key", "value"]
    placement = place(skeleton(graph), {group.id})
    left = placement.boxes[group.id][0]
    ends = sorted(
        points[-1][0] - left
        for index, points in placement.edges.items()
        if graph.edges[index].source in {edge.source for edge in group.operands}
    )
    assert ends == [int(item.get("x", "")) for item in classed(parse(svg), "slot")]


def test_a_residual_says_so_beside_its_line() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32)
    view = viz.graph(layer, minigrad.ones(2, 5, 16)).collapse(1)
    placement = place(skeleton(view))
    told = [(x, y) for tensor, x, y in placement.texts if tensor == "residual"]
    assert len(told) == 2
    around = residuals(view)
    for x, y in told:  # the line runs down at its left
        assert any(
            0 < x - a < 8 and a == c and b <= y < d
            for index in around
            for (a, b), (c, d) in zip(
                placement.edges[index], placement.edges[index][1:], strict=False
            )
        )
    assert texts(parse(view.to_svg(direction="right"))).count("+ residual") == 2
