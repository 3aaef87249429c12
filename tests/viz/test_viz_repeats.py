"""Layers that repeat each other become one box, which says how many and whose parameters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph
from minigrad.viz.record.repeats import is_repeat, wrap_repeats


def encoder(layers: int, change: Callable[[nn.Module], object] = lambda model: None) -> Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), layers)
    change(model)
    return viz.graph(model, minigrad.ones(2, 5, 16))


def repeats(graph: Graph) -> list[tuple[str, str, int | None]]:
    found = [group for group in wrap_repeats(graph).groups if is_repeat(group)]
    return [(group.name, group.module, group.size) for group in found]


def test_the_layers_after_the_first_are_one_group() -> None:
    kind = "TransformerEncoderLayer ×5"
    assert repeats(encoder(6)) == [("layers.1 … layers.5", kind, 5 * 2224)]


def test_two_layers_are_no_run() -> None:
    """One example and one repetition: folding would save nothing."""
    assert repeats(encoder(2)) == []
    assert len(repeats(encoder(3))) == 1


def test_the_box_says_how_many_parameters_each_has() -> None:
    (box,) = (node for node in encoder(6).collapse().nodes if "…" in node.label)
    assert box.notes == ("5 × 2,224 parameters",)
    svg = encoder(6).to_svg()
    assert "layers.1 … layers.5" in svg
    assert "5 × 2,224 parameters" in svg


def test_a_layer_that_differs_ends_a_run() -> None:
    def widen(model: nn.Module) -> None:
        model.layers[3] = nn.TransformerEncoderLayer(16, 4, 64)

    assert sorted(name for name, _, _ in repeats(encoder(8, widen))) == [
        "layers.1 … layers.2",
        "layers.5 … layers.7",
    ]


def test_a_layer_in_another_mode_differs() -> None:
    """Without dropout there are other ops inside."""
    assert repeats(encoder(5, lambda model: model.layers[2].eval())) == []
    assert repeats(encoder(5, lambda model: model.layers[1].eval())) == [
        ("layers.3 … layers.4", "TransformerEncoderLayer ×2", 2 * 2224)
    ]


class Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(4, 4) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        return minigrad.concatenate([part(x) for part in self.parts])


def test_what_stands_side_by_side_is_not_a_repetition() -> None:
    """The parts are alike and follow each other, but none reads what another computed."""
    assert repeats(viz.graph(Wide(), minigrad.ones(2, 4))) == []


def test_decoder_layers_read_the_memory_and_repeat_all_the_same() -> None:
    model = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32), 4)
    graph = viz.graph(model, minigrad.ones(2, 5, 16), minigrad.ones(2, 7, 16))
    assert [name for name, _, _ in repeats(graph)] == ["layers.1 … layers.3"]


class Loop(nn.Module):
    def __init__(self, between: bool = False) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.between = between

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(5):
            x = self.block(x)
            if self.between:
                x = x.tanh()
        return x


def test_calls_of_one_module_say_that_they_share_their_parameters() -> None:
    kind = "Sequential ×4 with the same parameters"
    graph = viz.graph(Loop(), minigrad.ones(2, 4))
    assert repeats(graph) == [("block, calls 2 … 5", kind, 20)]


def test_what_lies_between_ends_a_run() -> None:
    assert repeats(viz.graph(Loop(between=True), minigrad.ones(2, 4))) == []


def test_a_weight_tied_between_layers_is_no_parameter_of_the_others() -> None:
    def tie(model: nn.Module) -> None:
        for layer in model.layers[1:]:
            layer.linear1.weight = model.layers[0].linear1.weight

    (box,) = (node for node in encoder(6, tie).collapse().nodes if "…" in node.label)
    assert box.notes == ("5 × 1,712 parameters",)  # 32 × 16 fewer


def test_groups_are_only_added() -> None:
    graph = encoder(6)
    wrapped = wrap_repeats(graph)
    assert wrapped.nodes == graph.nodes
    assert wrapped.edges == graph.edges
    assert [group.id for group in wrapped.groups if not is_repeat(group)] == [
        group.id for group in graph.groups
    ]
    held = {None}
    for group in wrapped.groups:  # a parent comes before its children
        assert group.parent in held
        held.add(group.id)


def test_repetitions_open_like_any_module() -> None:
    wrapped = wrap_repeats(encoder(4))
    assert wrapped.collapse(100).nodes == wrapped.nodes
    labels = [node.label for node in wrapped.collapse(2).nodes]
    assert labels[-4:] == ["layers.1", "layers.2", "layers.3", "output"]


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


def test_a_depth_folds_what_repeats() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 6)
    graph = viz.graph(model, minigrad.randn(2, 3, 16))
    boxes = graph.collapse(depth=2).nodes
    assert len(boxes) <= 20
    assert [n.label for n in boxes].count("self_attn") == 1
    assert "layers.1 … layers.5" in [node.label for node in boxes]
    assert len(graph.collapse(depth=99).nodes) == len(graph.nodes)
    chosen = [node.label for node in graph.collapse(depth=2, open=["layers.3"]).nodes]
    assert chosen.count("self_attn") == 2


def test_a_cell_without_a_name_is_called_by_its_class() -> None:
    cell, x = nn.LSTMCell(4, 8), minigrad.randn(2, 4)
    h = c = minigrad.zeros(2, 8)
    with viz.trace() as traced:
        for _ in range(50):
            h, c = cell(x, (h, c))
    labels = [node.label for node in traced.graph(x=x).collapse().nodes]
    assert "LSTMCell, calls 2 … 50" in labels
