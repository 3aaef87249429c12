"""What a reader sees of a real model: residuals, projections, attention, within 40 boxes."""

from __future__ import annotations

from collections import defaultdict

import hypothesis.strategies as st
import pytest
from hypothesis import given
from random_graphs import Plan, Random, plans

import minigrad
from minigrad import nn, viz
from minigrad.viz.record.fold import BUDGET
from minigrad.viz.record.roles import residuals


@pytest.mark.parametrize(
    ("model", "inputs", "most"),
    [
        (nn.MultiHeadAttention(16, 4), 3, 20),
        (nn.TransformerEncoderLayer(16, 4, 32), 1, 20),
        (nn.TransformerEncoderLayer(16, 4, 32, norm_first=True), 1, 20),
        (nn.TransformerDecoderLayer(16, 4, 32), 2, 20),
        (nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 6), 1, 40),
        (nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 12), 1, 40),
        (nn.Transformer(16, 4, 6, 6, 32), 2, 40),
    ],
    ids=["attention", "post-norm", "pre-norm", "decoder layer", "6 layers", "12 layers", "both"],
)
@pytest.mark.parametrize("training", [True, False])
def test_a_picture_can_be_taken_in(
    model: nn.Module, inputs: int, most: int, training: bool
) -> None:
    model.train(training)
    graph = viz.graph(model, *(minigrad.ones(2, 5, 16) for _ in range(inputs)))
    assert 8 < len(graph.collapse().nodes) <= most


@pytest.mark.parametrize("layers", [1, 2, 6, 12])
def test_a_picture_has_at_most_forty_boxes(layers: int) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), layers)
    view = viz.graph(model, minigrad.ones(2, 5, 16)).collapse()
    assert len(view.nodes) <= BUDGET
    labels = {node.label for node in view.nodes}
    assert {"attention", "add"} <= labels  # one layer at least is open
    assert len(residuals(view)) >= 2


def test_a_cell_without_a_name_is_called_by_its_class() -> None:
    cell, x = nn.LSTMCell(4, 8), minigrad.randn(2, 4)
    h = c = minigrad.zeros(2, 8)
    with viz.trace() as traced:
        for _ in range(50):
            h, c = cell(x, (h, c))
    labels = [node.label for node in traced.graph(x=x).collapse().nodes]
    assert "LSTMCell, calls 2 … 50" in labels


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
