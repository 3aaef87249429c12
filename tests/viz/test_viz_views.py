"""What a reader sees of a real model: residuals, projections, attention, within 40 boxes."""

from __future__ import annotations

from collections import defaultdict

import hypothesis.strategies as st
import pytest
from hypothesis import given
from random_graphs import Plan, Random, plans

import minigrad
from minigrad import nn, viz
from minigrad.viz import Graph
from minigrad.viz.record.fold import BUDGET
from minigrad.viz.record.roles import residuals


def encoder_layer(norm_first: bool) -> Graph:
    layer = nn.TransformerEncoderLayer(16, 4, 32, norm_first=norm_first).eval()
    return viz.graph(layer, minigrad.ones(2, 5, 16))


def links(graph: Graph) -> list[tuple[str, str]]:
    names = {node.id: node.label for node in graph.nodes}
    return [(names[edge.source], names[edge.target]) for edge in graph.edges]


def residual_sources(graph: Graph) -> list[str]:
    names = {node.id: node.label for node in graph.nodes}
    return [names[graph.edges[index].source] for index in sorted(residuals(graph))]


def test_a_post_norm_layer_shows_both_residuals() -> None:
    view = encoder_layer(norm_first=False).collapse(depth=1)
    boxes = [node.label for node in view.nodes]
    assert boxes == [
        "src", "self_attn", "add", "norm1", "linear1", "relu", "linear2", "add", "norm2", "output",
    ]  # fmt: skip
    assert residual_sources(view) == ["src", "norm1"]
    assert ("src", "self_attn") in links(view)
    assert ("src", "add") in links(view)
    assert ("norm1", "add") in links(view)


def test_a_pre_norm_layer_shows_both_residuals() -> None:
    view = encoder_layer(norm_first=True).collapse(depth=1)
    assert residual_sources(view) == ["src", "add"]
    assert ("src", "norm1") in links(view)
    assert ("norm1", "self_attn") in links(view)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_residuals_are_seen_at_every_depth(norm_first: bool, depth: int) -> None:
    assert len(residuals(encoder_layer(norm_first).collapse(depth))) == 2


def test_attention_shows_its_projections() -> None:
    attention = nn.MultiHeadAttention(16, 4).eval()
    x = minigrad.ones(2, 5, 16)
    view = viz.graph(attention, x, x, x).collapse(depth=1)
    readers = [target for source, target in links(view) if source == "query, key, value"]
    assert readers == ["q_proj", "k_proj", "v_proj"]
    names = {node.id: node for node in view.nodes}
    (core,) = (node for node in view.nodes if node.label == "attention")
    assert [edge.name for edge in view.edges if edge.target == core.id] == [
        "query",
        "key",
        "value",
    ]
    assert names[view.edges[-1].source].label == "out_proj"


@pytest.mark.parametrize("layers", [1, 2, 6, 12])
def test_a_picture_has_at_most_forty_boxes(layers: int) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), layers)
    view = viz.graph(model, minigrad.ones(2, 5, 16)).collapse()
    assert len(view.nodes) <= BUDGET
    labels = {node.label for node in view.nodes}
    assert {"attention", "add"} <= labels  # one layer at least is open
    assert len(residuals(view)) >= 2


def test_an_explicit_depth_is_honoured() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 6)
    graph = viz.graph(model, minigrad.ones(2, 5, 16))
    assert [node.label for node in graph.collapse(0).nodes] == ["src", "", "output"]
    assert len(graph.collapse(100).nodes) == len(graph.nodes)
    sizes = [len(graph.collapse(depth).nodes) for depth in range(5)]
    assert sizes == sorted(sizes)


@given(plans, st.sampled_from([None, 0, 1, 2, 3]))
def test_closing_modules_makes_no_cycle_and_loses_no_tensor(plan: Plan, depth: int | None) -> None:
    x, extra = minigrad.zeros(3), minigrad.zeros(3)
    whole = viz.graph(Random(plan), x, extra)
    view = whole.collapse(depth)
    position = {node.id: index for index, node in enumerate(view.nodes)}
    assert len(position) == len(view.nodes)
    for edge in view.edges:
        assert position[edge.source] < position[edge.target]  # so there is no cycle, no loop
    groups = {group.id: group for group in view.groups}
    for node in view.nodes:
        assert node.group is None or groups[node.group].id not in position
    kinds = defaultdict(set)
    for node in view.nodes:
        kinds[node.kind].add(node.label)
    assert kinds["input"] == {"x", "extra"}
    for node in view.nodes:  # nothing hangs in the air
        assert any(node.id in (edge.source, edge.target) for edge in view.edges)


@pytest.mark.needs("dot")
@pytest.mark.parametrize("depth", [None, 1, 2, 3])
def test_graphviz_draws_every_box_and_edge(depth: int | None) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 3)
    graph = viz.graph(model, minigrad.ones(2, 5, 16))
    view = graph.collapse(depth)
    plain = graph.to_graphviz(depth).pipe(format="plain", encoding="utf-8")
    lines = [line.split()[0] for line in plain.splitlines()]
    assert lines.count("node") == len(view.nodes)
    assert lines.count("edge") == len(view.edges)
