"""The values of a trace, and fused ops that are opened, forward and backward."""

import math
from typing import Any

import numpy as np
import pytest
from reading import came, data_of, entries_of, explored, labels, variable, watched

import minigrad
from minigrad import nn, no_grad, ops, viz
from minigrad.nn import functional as F
from minigrad.viz.record import steps
from minigrad.viz.record.steps import final_gradients
from minigrad.viz.record.tracing import fused_ops


def value_in(graph: viz.Graph, label: str) -> viz.Summary:
    """The value of the first box of a name."""
    return next(node.value for node in graph.nodes if node.label == label)


class TestSummary:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool"])
    def test_an_array_comes_back(self, dtype: str) -> None:
        array = (10 * np.random.default_rng(0).standard_normal((40, 30))).astype(dtype)
        kept = steps.summary(array)
        assert kept.whole()
        assert kept.array().dtype == array.dtype
        np.testing.assert_array_equal(kept.array(), array)
        assert kept.deviation == pytest.approx(float(array.astype(float).std()), rel=1e-6)

    def test_of_a_large_one_a_summary(self) -> None:
        array = np.random.default_rng(0).uniform(0, 1, (70, 60))
        array[0, :2] = np.nan, -np.inf
        kept = steps.summary(array)
        assert (kept.nans, kept.infs) == (1, 1)
        np.testing.assert_array_equal(kept.entries(), array.ravel()[: steps.FEW])
        with pytest.raises(RuntimeError, match=r"4,200 elements.*values=\["):
            kept.array()

    @pytest.mark.parametrize("value", [0.0, 3.0, np.nan, np.inf, 1e308])
    def test_all_the_same(self, value: float) -> None:
        kept = steps.summary(np.full(5000, value))
        assert (kept.low, kept.high) == ((value, value) if math.isfinite(value) else (0.0, 0.0))

    def test_the_largest_give_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(steps, "ROOM", 1000)
        w = minigrad.randn(10, 50)
        program, run = (
            lambda: minigrad.exp(w[:, :20]) + (w * w).sum(),
            viz.trace(values=["multiply"]),
        )
        graph = watched(program, run, w=w)
        whole = {name: value_in(graph, name).whole() for name in ("multiply", "exp", "w")}
        assert whole == {"multiply": True, "exp": True, "w": False}
        assert value_in(graph, "w").entries().size == steps.FEW

    def test_gradients_count_too_and_equal_arrays_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(steps, "ROOM", 2600)
        x = minigrad.randn(10, 50, requires_grad=True)
        for times, whole in ((1, True), (3, False)):
            with viz.trace() as traced:
                y = x
                for _ in range(times):
                    y = minigrad.exp(-y)
                y.sum().backward()
            graph = traced.graph(x=x)
            for step in graph.steps[1:]:
                sent = step.parts[0].sent
                assert step.cotangent.whole() == sent.whole() == whole
                assert sent.entries().size == (500 if whole else steps.FEW)
            assert value_in(graph, "x").whole() == whole


class TestGradients:
    def test_one_that_was_asked_for_is_whole(self) -> None:
        model, x = nn.Sequential(nn.Linear(80, 60), nn.Linear(60, 70)), minigrad.randn(3, 80)
        for asked in ("0.weight", "0"):
            model.zero_grad()
            graph = watched(lambda: model(x).sum().backward(), viz.trace(values=[asked]), x=x)
            sent = came(graph)
            np.testing.assert_array_equal(sent["0.weight"].array(), model[0].weight.grad)
            assert not sent["1.weight"].whole()
            assert sent["1.weight"].entries().size == steps.FEW
            assert not value_in(graph, "1.weight").whole()

    @pytest.mark.parametrize(("asked", "whole"), [(["attention"], True), ([], False)])
    def test_inside_an_opened_op(self, asked: list[str], whole: bool) -> None:
        x, attention = minigrad.randn(2, 70, 70, requires_grad=True), F.scaled_dot_product_attention
        run = viz.trace(values=asked, open=["attention"])
        graph = watched(lambda: attention(x, x, x).sum().backward(), run)
        inside = [node.id for node in graph.nodes if node.group]
        found = [step.cotangent.whole() for step in graph.steps if step.node in inside]
        assert found == [whole] * len(found) != []

    def test_each_array_is_written_once(self) -> None:
        minigrad.random.seed(0)
        x = minigrad.randn(9, 9, requires_grad=True)
        graph = watched(lambda: minigrad.exp(x.reshape(81).reshape(9, 9)).sum().backward(), x=x)
        arrays = [one for one in data_of(graph.to_html())["arrays"] if len(one) == 81]
        # x, exp(x) and ones: reshaping changes no element, and exp is its own derivative.
        assert len(arrays) == 3


class TestTrace:
    def test_it_is_what_it_was(self) -> None:
        x = minigrad.ones(3)
        with viz.trace() as traced:
            minigrad.exp(x)
        x[:] = 7.0
        assert value_in(traced.graph(x=x), "x").values == (1.0, 1.0, 1.0)

    @pytest.mark.parametrize(
        ("asked", "told"),
        [("0", "linear 0.weight"), ("linear", "linear"), ("x", "x"),
         ("*.weight", "0.weight"), ("0.weight", "0.weight")],
    )  # fmt: skip
    def test_what_is_asked_for_is_whole(self, asked: str, told: str) -> None:
        model, x = nn.Sequential(nn.Linear(80, 60), nn.ReLU()), minigrad.randn(70, 80)
        graph = watched(lambda: model(x), viz.trace(values=[asked]), x=x)
        whole = {n.label for n in graph.nodes if n.value and n.value.whole() and len(n.shape) > 1}
        assert whole == {*told.split()}

    def test_of_a_fused_op_too(self) -> None:
        x, made = minigrad.randn(70, 60), list[Any]()
        run = lambda: made.append(minigrad.ops.layer_norm(x))
        graph = watched(run, viz.trace(values=["layer_norm"]))
        np.testing.assert_array_equal(value_in(graph, "layer_norm").array(), made[0])

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="values: .* is called 'layer7'"):
            watched(lambda: nn.ReLU()(minigrad.ones(3)), viz.trace(values=["relu", "layer7"]))


class TestPage:
    def test_what_the_page_gets(self) -> None:
        """Three digits of each element: what it shows."""
        rng = np.random.default_rng(0)
        arrays = [
            rng.standard_normal((9, 9)), 1e-30 * rng.standard_normal((9, 9)),
            np.float64(1e200) * rng.standard_normal((9, 9)), rng.integers(-9, 99999, (9, 9)),
            np.where(rng.uniform(size=(9, 9)) < 0.5, np.nan, np.inf), np.zeros((9, 9)),
            rng.standard_normal(3), rng.uniform(size=(9, 9)) < 0.5,
        ]  # fmt: skip
        for array in arrays:
            data = data_of(watched(lambda x=array: minigrad.where(True, x, x)).to_html())
            found = entries_of(data["nodes"][0]["value"])
            np.testing.assert_allclose(found, array.ravel(), rtol=5e-3)
            if array.dtype.kind != "f":
                assert found.tolist() == array.ravel().tolist()

    def test_of_a_tensor_what_its_graph_still_has(self) -> None:
        x = variable(1.0, 2.0)
        nodes = explored((minigrad.exp(x) * 3.0).sum(), x=x)["nodes"]
        told = {
            node["label"]: node["value"] is not None for node in nodes if node["kind"] != "constant"
        }
        assert told == {"x": True, "exp": True, "multiply": False, "sum": True, "output": True}

    def test_explore_takes_names(self) -> None:
        model, x = nn.Linear(70, 60), minigrad.randn(2, 70)
        data = explored(model, x, values=["weight"])
        [weight] = [node["value"] for node in data["nodes"] if node["label"] == "weight"]
        np.testing.assert_allclose(entries_of(weight), model.weight.numpy().ravel(), rtol=5e-3)
        with pytest.raises(TypeError, match=r"viz.trace\(values="):
            viz.explore(viz.trace(), values=["weight"])

    def test_there_are_values_to_watch_a_loss(self) -> None:
        loss = F.mse_loss(minigrad.ones(3, requires_grad=True), minigrad.zeros(3))
        assert "output = 1 · " in viz.explore(loss).path.read_text()


def random(*shape: int) -> Any:
    return minigrad.randn(*shape, requires_grad=True)


CALLS: dict[str, Any] = {
    "attention": lambda: ops.attention(random(2, 3, 4), random(2, 5, 4), random(2, 5, 6)),
    "cross_entropy": lambda: F.cross_entropy(random(4, 3), np.array([0, 2, 1, 1])),
    "group_norm": lambda: ops.group_norm(random(2, 4, 3), random(4), random(4), groups=2),
    "gru": lambda: ops.gru(random(3, 2, 9), random(9, 3), random(9), random(2, 3)),
    "layer_norm": lambda: ops.layer_norm(random(4, 5), random(5), random(5)),
    "lstm": lambda: ops.lstm(random(2, 2, 12), random(12, 3), random(2, 3), random(2, 3)),
    "rms_norm": lambda: ops.rms_norm(random(4, 5), random(5)),
    "rnn": lambda: ops.rnn(random(4, 2, 3), random(3, 3), random(2, 3)),
}


def opened(name: str, *names: str) -> viz.Graph:
    """The graph of a call, with the ops that are named opened."""
    minigrad.random.seed(0)
    with viz.trace(open=[*names]) as traced:
        out = CALLS[name]()
        (out * np.cos(np.arange(out.numel(), dtype=np.float32)).reshape(out.shape)).sum().backward()
    return traced.graph()


def test_every_one_is_tried() -> None:
    assert fused_ops().keys() == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_the_parts_give_what_the_op_gives(name: str) -> None:
    graph, plain = opened(name, name), opened(name)
    [step] = [step for step in plain.steps if step.op == name]
    [group] = graph.groups
    inside = [node for node in graph.nodes if node.group == group.id and node.kind == "op"]
    assert (group.name, group.function) == (name, True)
    assert len(inside) > 1
    assert name not in labels(graph)
    [result], [ours] = (
        [node.value for node in one.nodes if node.kind == "output"] for one in (plain, graph)
    )
    np.testing.assert_allclose(ours.values, result.values, rtol=1e-4)
    came, told = final_gradients(graph.steps), {node.id: node for node in plain.nodes}
    gradients = {n.value: came[n.id] for n in graph.nodes if n.kind == "input"}
    for part in step.parts:
        found, values = gradients[told[part.target].value], np.array(part.sent.values)
        assert found.shape == part.sent.shape
        np.testing.assert_allclose(found.values, values, atol=2e-5 * np.abs(values).max())
    # Each part is recorded as any op.
    assert all(node.value is not None for node in inside)
    steps = [one for one in graph.steps if one.node in {node.id for node in inside}]
    assert {one.node for one in steps} == {node.id for node in inside if node.recorded}
    assert max(part.check for one in steps for part in one.parts) < 1e-3


def test_an_unknown_op_is_not_opened() -> None:
    with pytest.raises(ValueError, match="'softmax' is not a fused op; these are: attention, "):
        viz.trace(open=["softmax"])


def test_without_a_gradient_an_opened_op_has_values() -> None:
    with no_grad():
        graph = watched(CALLS["attention"], viz.trace(open=["attention"]))
    assert all(node.value is not None for node in graph.nodes if node.group)


def test_what_is_named_is_open_at_first() -> None:
    layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)
    data = explored(layer, x, open=["layer_norm", "linear1"])
    by_name = {group["name"]: group for group in data["groups"]}
    assert "attention" not in by_name
    assert not {by_name[name]["id"] for name in ("norm1", "linear1")} & {*data["closed"]}
    with pytest.raises(ValueError, match="softmax"):
        viz.explore(layer, x, open=["softmax"])
