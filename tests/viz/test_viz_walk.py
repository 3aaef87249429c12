"""Walks through an explorer page: how stops are named, and that prepared texts hold."""

from __future__ import annotations

import math
from typing import Any

import pytest
from reading import by_id, data_of, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz.page.walk import places
from minigrad.viz.record.model import Node
from minigrad.viz.record.steps import final_gradients, with_inner

MASK = minigrad.ones(4, 4).tril().astype(bool)


def x(length: int = 4, **options: Any) -> Tensor:
    return minigrad.randn(2, length, 8, **options)


def walk_of(page: viz.Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data_of(page.path.read_text(encoding="utf-8"))["walk"]
    return found


def titles(page: viz.Page) -> list[str]:
    return [stop["title"] for stop in walk_of(page)]


def traced(model: nn.Module, *inputs: Any, **named: Any) -> viz.Graph:
    return watched(lambda: (model(*inputs, **named) ** 2).sum().backward())


def place(graph: viz.Graph, **where: Any) -> Any:
    [found] = places(graph, [viz.Stop("title", "text", **where)])
    return found["at"]


class TestNames:
    def test_a_box_by_its_address_or_the_end_of_it(self) -> None:
        graph = traced(nn.MultiHeadAttention(8, 2), *[x()] * 3)
        boxes = {node.id: node for node in graph.nodes}
        [softmax] = [node.id for node in graph.nodes if node.label == "softmax"]
        matmuls = [node.id for node in graph.nodes if node.label == "matmul"]
        for name in ("softmax", "attention/softmax", "MultiHeadAttention/attention/softmax"):
            assert place(graph, box=name) == softmax
        assert boxes[place(graph, box="k_proj.bias")].label == "k_proj.bias"
        assert place(graph, box="MultiHeadAttention/attention/matmul") == matmuls[0]
        assert [place(graph, box=f"matmul~{n}") for n in (1, 2)] == matmuls
        assert place(graph, box="softmax~1") == softmax
        [k_proj] = [group.id for group in graph.groups if group.path == "k_proj"]
        assert place(graph, box="k_proj") == k_proj

    def test_a_step_by_its_number_or_its_op(self) -> None:
        graph = traced(nn.Sequential(nn.Linear(8, 3), nn.ReLU()), x())
        assert place(graph, step=2) == 2
        assert graph.steps[place(graph, step="relu") - 1].op == "relu"
        assert graph.steps[place(graph, step="linear") - 1].op == "linear"

    @pytest.mark.parametrize(
        ("where", "message"),
        [
            ({"box": "k_proj.bais"}, "no box is called 'k_proj.bais'; similar: k_proj.bias"),
            ({"box": "unknown thing"}, "no box is called 'unknown thing'$"),
            ({"box": "matmul"}, r"'matmul' is the name of 2 boxes: .*/matmul~1, .*/matmul~2$"),
            ({"box": "linear"}, r"'linear' is the name of 4 boxes: MultiHeadAttention/q_proj/lin"),
            ({"box": "matmul~3"}, "no box is called 'matmul~3'"),
            ({"step": "k_proj.bias"}, "'k_proj.bias' has no step in the backward pass"),
            ({"step": 99}, "there is no step 99; the backward pass has 17"),
            ({"gradient": "output"}, "'output' gets no gradient here"),
        ],
    )
    def test_an_error_names_the_stop(self, where: dict[str, Any], message: str) -> None:
        good = viz.Stop("good", "text", box="softmax")
        walk = [good, viz.Stop("Where?", "text", **where)]
        data = x()
        with pytest.raises(ValueError, match=rf"^explore: walk, stop 2, 'Where\?': {message}"):
            viz.explore(nn.MultiHeadAttention(8, 2), data, data, data, walk=walk)

    def test_what_is_not_a_walk(self) -> None:
        layer = nn.Linear(8, 2)
        for walk in ("MultiHeadAttention", [("linear", "text")]):
            with pytest.raises(TypeError, match="walk must be a sequence of viz.Stop, got"):
                viz.explore(layer, x(), walk=walk)
        with pytest.raises(ValueError, match="graph has the box or the step of none of its stops"):
            viz.explore(layer, x(), walk=viz.walks.TRANSFORMER_ENCODER_LAYER)

    @pytest.mark.parametrize("where", [{}, {"box": "x", "step": 1}])
    def test_a_stop_has_one_place(self, where: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"Stop 'T': give one of box, gradient and step, got"):
            viz.Stop("T", "text", **where)


class TestPrepared:
    def test_what_a_run_lacks_is_left_out(self) -> None:
        data = x()
        bare = titles(viz.explore(nn.MultiHeadAttention(8, 2, bias=False), data, data, data))
        full = [stop.title for stop in viz.walks.MULTI_HEAD_ATTENTION]
        gone = [title for title in full if title not in bare]
        assert gone == [
            "What does dropout do to the gradient?",
            "Why has the mask no gradient?",
            "What does a mask of numbers do to the gradient?",
            "Is the gradient of `k_proj.bias` zero?",
        ]
        assert [title for title in full if title in bare] == bare

    def test_only_exactly_these_classes_have_one(self) -> None:
        class Own(nn.TransformerEncoderLayer):
            pass

        assert titles(viz.explore(nn.TransformerEncoderLayer(8, 2, 16), x()))
        assert not titles(viz.explore(Own(8, 2, 16), x()))
        assert not titles(viz.explore(nn.TransformerEncoderLayer(8, 2, 16), x(), walk=()))

    def test_a_prepared_walk_can_be_extended(self) -> None:
        data, own = x(), viz.Stop("Mine", "text", box="k_proj")
        walk = [*viz.walks.MULTI_HEAD_ATTENTION, own]
        found = titles(viz.explore(nn.MultiHeadAttention(8, 2), data, data, data, walk=walk))
        assert len(found) > 5
        assert found[-1] == "Mine"

    @pytest.mark.parametrize(
        ("model", "named"),
        [
            ({}, {}),
            ({"dropout": 0.5}, {"attn_mask": MASK}),
            ({"dropout": 0.5, "bias": False}, {"attn_mask": minigrad.zeros(4, 4)}),
            ({"dropout": 0.5}, {"attn_mask": minigrad.zeros(4, 4), "is_causal": True}),
            ({"num_kv_heads": 1}, {"is_causal": True}),
            ({"add_bias_kv": True, "add_zero_attn": True}, {"attn_mask": MASK}),
            ({}, {"key_padding_mask": minigrad.arange(8).reshape(2, 4) > 5}),
        ],
    )
    def test_attention_s_stops_are_where_the_texts_say(
        self, model: dict[str, Any], named: dict[str, Any]
    ) -> None:
        data = x(requires_grad=True)
        graph = traced(nn.MultiHeadAttention(8, 2, **model), data, data, data, **named)
        boxes = {node.id: node for node in graph.nodes}
        steps = with_inner(graph.steps)
        into, anywhere = graph.into(), viz.Stop("last", "text", step=1)
        at: dict[str, Node] = {}
        for stop in viz.walks.MULTI_HEAD_ATTENTION:
            for found in places(graph, [stop, anywhere])[:-1]:
                box = steps[found["at"] - 1].node if found["tab"] == "step" else found["at"]
                if box in boxes:
                    at[str(stop.box or stop.gradient or stop.step)] = boxes[box]

        def reads(node: Node) -> list[str]:
            return [boxes[edge.source].label for edge in into[node.id]]

        assert at["attention/multiply~1"].notes == (f"b = {1 / math.sqrt(4):g}",)
        assert reads(at["MultiHeadAttention/reshape"]) == ["linear"]
        weights = at["attention/softmax"]
        if "dropout" in model:
            assert reads(at["attention/multiply~2"]) == ["softmax", "b"]
            weights = at["attention/multiply~2"]
        assert into[at["attention/matmul~2"].id][0].source == weights.id
        assert reads(at["attention/matmul~1"])[0] == "multiply"
        mask = named.get("attn_mask")
        numbers = mask is not None and mask.dtype == "float32"
        assert ("attention/add" in at) == numbers
        yes_or_no = bool(named) and (not numbers or "is_causal" in named)
        assert ("attention/where" in at) == yes_or_no
        if yes_or_no:
            assert boxes[into[at["attention/where"].id][0].source].dtype == "bool"
        if "k_proj.bias" in at:
            gradient = final_gradients(steps)[at["k_proj.bias"].id]
            assert (gradient.norm < 1e-5) == ("add_bias_kv" not in model)

    @pytest.mark.parametrize("norm_first", [False, True])
    @pytest.mark.parametrize("activation", ["relu", "gelu"])
    def test_the_stops_of_an_encoder_layer(self, norm_first: bool, activation: str) -> None:
        layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=norm_first, activation=activation)
        walk = walk_of(viz.explore(layer, x(requires_grad=True)))
        other = {"relu": "gelu", "gelu": "relu"}[activation]
        assert [f"`{other}`" in stop["title"] for stop in walk] == [False] * 11
        graph = traced(layer, x(requires_grad=True))
        first = graph.steps[place(graph, step="TransformerEncoderLayer/add") - 1].node
        labels = by_id(graph)
        if norm_first:
            assert [labels[edge.source] for edge in graph.into()[first]][1] == "dropout"
