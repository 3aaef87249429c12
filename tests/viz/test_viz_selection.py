"""Modules to open, and boxes to hide: chosen by path, name, pattern or class."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from random_graphs import Plan, Random, diagrams, plans

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph
from minigrad.viz.layout import place, skeleton
from minigrad.viz.record.selection import hidden


def encoder(layers: int = 6) -> Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), layers)
    return viz.graph(model, minigrad.ones(2, 5, 16))


def labels(graph: Graph) -> list[str]:
    return [node.label for node in graph.nodes]


def test_a_line_through_hidden_boxes_has_the_shape_at_its_start() -> None:
    view = encoder().collapse(hide=["reshape", "swapaxes"])
    nodes = {node.id: node for node in view.nodes}
    assert all(edge.shape == nodes[edge.source].shape for edge in view.edges)


@given(diagrams())
def test_hiding_keeps_the_order_and_loses_no_way_from_input_to_output(graph: Graph) -> None:
    view = hidden(graph, ["add"]) if "add" in labels(graph) else graph
    position = {node.id: index for index, node in enumerate(view.nodes)}
    assert all(position[edge.source] < position[edge.target] for edge in view.edges)
    assert {group.parent for group in view.groups} <= {None, *(group.id for group in view.groups)}
    kept = {node.id for node in view.nodes if node.kind == "op"}
    assert ways(view) == {(a, b) for a, b in ways(graph) if a in kept and b in kept}
    place(skeleton(view))


def ways(graph: Graph) -> set[tuple[str, str]]:
    """From which op each op can be reached."""
    ops = {node.id for node in graph.nodes if node.kind == "op"}
    above: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    for node in graph.nodes:
        for edge in graph.edges:
            if edge.target == node.id:
                above[node.id] |= {edge.source, *above[edge.source]}
    return {(a, b) for b in ops for a in above[b] & ops}


def test_a_fused_op_opens_by_its_name() -> None:
    layer = nn.LayerNorm(4)
    with viz.trace() as traced:
        layer(minigrad.randn(3, 4))
    graph = traced.graph()
    assert "fused" in {node.kind for node in graph.collapse().nodes}
    assert "fused" not in {node.kind for node in graph.collapse(open=["layer_norm"]).nodes}


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(4)]
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        start = x
        for layer in self.layers:
            x = layer(x)
        return start + x


def test_repeats_within_a_repeated_block_are_folded_too() -> None:
    graph = viz.graph(nn.Sequential(*(Block() for _ in range(6))), minigrad.ones(2, 8))
    view = graph.collapse(open=["3"])
    assert {"1 … 2", "4 … 5"} < {*labels(view)}
    inside = [node.label for node in view.nodes if node.group and "…" in node.label]
    assert inside.count("layers.1 … layers.3") == 2  # in the example, and in what was opened


@given(plans)
def test_any_module_can_be_opened_and_hidden(plan: Plan) -> None:
    x, extra = (minigrad.ones(2, 3, requires_grad=True) for _ in range(2))
    graph = viz.graph(Random(plan), x, extra)
    for path in {group.path for group in graph.groups if group.path}:
        view = graph.collapse(1, open=[path])
        assert path in {group.path for group in view.groups if group.id not in labels(view)}
        place(skeleton(graph.collapse(hide=[path])))


@pytest.mark.parametrize("what", ["open", "hide"])
def test_a_choice_that_nothing_fits_is_refused_with_what_is_like_it(what: str) -> None:
    with pytest.raises(ValueError, match=rf"{what}: .*'layer.2'; similar: .*layers.2"):
        encoder().collapse(1, **{what: ["layer.2"]})
    with pytest.raises(ValueError, match=f"{what}: .*'GELU'"):
        encoder().collapse(**{what: [nn.GELU]})
    with pytest.raises(ValueError, match="hide: .*'reshap'; similar: reshape"):
        encoder().to_svg(hide=["reshap"])


def test_files_show_what_was_chosen(tmp_path: Path) -> None:
    for ending in ("svg", "dot"):
        path = encoder().save(tmp_path / f"chosen.{ending}", depth=1, open=["layers.3"],
                              hide=["relu"])  # fmt: skip
        text = path.read_text(encoding="utf-8")
        assert "linear1" in text
        assert "relu" not in text
