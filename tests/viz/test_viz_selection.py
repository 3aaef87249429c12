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


def reads(graph: Graph, label: str) -> list[tuple[str, int | None, str]]:
    """What the first box of a name reads: the source, the slot, the argument."""
    names = {node.id: node.label for node in graph.nodes}
    first = next(node.id for node in graph.nodes if node.label == label)
    return [(names[e.source], e.slot, e.name) for e in graph.edges if e.target == first]


def test_a_hidden_op_is_bypassed_with_the_slots_of_what_read_it() -> None:
    whole = encoder().collapse()
    assert {"reshape", "swapaxes", "dropout1"} < {*labels(whole)}
    view = encoder().collapse(hide=["reshape", "swapaxes", nn.Dropout])
    assert not {"reshape", "swapaxes", "dropout", "dropout1", "dropout2"} & {*labels(view)}
    attention = reads(view, "attention")
    assert [(source, name) for source, _, name in attention] == [
        ("q_proj", "query"), ("k_proj", "key"), ("v_proj", "value")
    ]  # fmt: skip
    assert [slot for _, slot, _ in attention] == [0, 1, 2]
    assert reads(view, "out_proj") == [("attention", None, "")]
    assert [source for source, _, _ in reads(view, "add")] == ["src", "out_proj"]


def test_a_line_through_hidden_boxes_has_the_shape_at_its_start() -> None:
    view = encoder().collapse(hide=["reshape", "swapaxes"])
    nodes = {node.id: node for node in view.nodes}
    assert all(edge.shape == nodes[edge.source].shape for edge in view.edges)


def test_parameters_of_what_is_hidden_go_with_it() -> None:
    view = encoder(1).collapse(9, hide=["*norm*"])
    assert not [label for label in labels(view) if "norm" in label]
    assert "layers.0.linear1.weight" in labels(view)
    bare = encoder(1).collapse(9, hide=["*.bias", "*.weight"])
    assert {node.kind for node in bare.nodes} == {"input", "op", "output"}
    assert "linear" in labels(bare)


def test_a_tied_parameter_stays_as_long_as_something_reads_it() -> None:
    w = minigrad.ones(3, 3, requires_grad=True)
    graph = viz.graph((w @ w).exp() + w.tanh(), w=w)
    assert labels(graph.collapse(hide=["tanh"])).count("w") == 1


def test_a_box_with_several_inputs_passes_each_of_them_on() -> None:
    x, y = (minigrad.ones(3, requires_grad=True) for _ in range(2))
    view = viz.graph(((x * y).exp()).sum(), x=x, y=y).collapse(hide=["multiply", "exp"])
    assert labels(view) == ["x", "y", "sum", "output"]
    assert [source for source, _, _ in reads(view, "sum")] == ["x", "y"]


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


def test_modules_open_by_path_pattern_and_class_with_those_around_them() -> None:
    graph = encoder(3)
    frames = [
        {group.path for group in graph.collapse(0, open=choice).groups}
        for choice in (["layers.1.self_attn"], ["*.1.self_attn"], [nn.MultiHeadAttention])
    ]
    assert {"", "layers.1", "layers.1.self_attn", "layers.1.self_attn.q_proj"} <= frames[0]
    assert "layers.0.self_attn.q_proj" not in frames[0]
    assert frames[0] == frames[1]
    assert {f"layers.{i}.self_attn.q_proj" for i in range(3)} <= frames[2]
    assert labels(graph.collapse(0, open=["MultiHeadAttention"])).count("attention") == 3


def test_a_fused_op_opens_by_its_name() -> None:
    layer = nn.LayerNorm(4)
    with viz.trace() as traced:
        layer(minigrad.randn(3, 4))
    graph = traced.graph()
    assert "fused" in {node.kind for node in graph.collapse().nodes}
    assert "fused" not in {node.kind for node in graph.collapse(open=["layer_norm"]).nodes}


def test_an_opened_layer_stands_apart_from_the_repeats_around_it() -> None:
    view = encoder().collapse(open=["layers.3"])
    names = [node.label for node in view.nodes if node.label.startswith("layers")]
    assert names == ["layers.1 … layers.2", "layers.4 … layers.5"]
    assert "layers.3" in {group.path for group in view.groups}


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
