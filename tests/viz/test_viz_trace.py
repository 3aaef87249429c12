"""What a trace says is what happened: writes, updates, detached values, hooks, counts, steps."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import by_id, data_of, explored, labels, parts_of, variable, watched

import minigrad
from minigrad import Tensor, nn, no_grad, optim, tensor, viz
from minigrad.autograd import checkpoint, grad
from minigrad.nn import functional as F
from minigrad.viz.explanation.gradients import held, missing_gradients


def boxes(graph: viz.Graph, *labels: str) -> list[viz.Node]:
    return [node for node in graph.nodes if node.label in labels]


def sources(graph: viz.Graph, node: viz.Node) -> dict[str, str]:
    labels = by_id(graph)
    return {edge.name: labels[edge.source] for edge in graph.edges if edge.target == node.id}


def values(node: viz.Node) -> list[float]:
    return np.asarray(node.value.array()).ravel().tolist()


class TestWrites:
    @pytest.mark.parametrize("requires_grad", [True, False])
    def test_a_write_by_index_is_an_op(self, requires_grad: bool) -> None:
        x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=requires_grad)
        with viz.trace() as traced:
            out = x.clone()
            out[:, 0] = 0
            _ = out * 2.0
        graph = traced.graph(x=x)
        [write], [product] = boxes(graph, "setitem"), boxes(graph, "multiply")
        assert sources(graph, write)["x"] == "clone"
        assert values(write) == [0.0, 2.0, 0.0, 4.0]
        assert sources(graph, product) == {"a": "setitem"}
        assert values(boxes(graph, "clone")[0]) == [1.0, 2.0, 3.0, 4.0]
        with viz.trace() as traced:
            out = minigrad.zeros(2, 2)
            out[...] = x
            _ = out * 2.0
        graph = traced.graph(x=x)
        assert sources(graph, boxes(graph, "setitem")[0]) == {"value": "x"}
        assert [n.label for n in graph.nodes if n.kind in ("input", "constant")] == ["x"]

    def test_a_view_sees_a_write_to_another_one_and_a_fill_is_seen(self) -> None:
        with viz.trace() as traced:
            base, a = minigrad.ones(2, 2) / 1.0, minigrad.zeros(2)
            row = base[0]
            base[0, 1] = 5.0
            _ = row.sum(), a * 1.0
            a[...] = 3.0
            _ = a * 2.0
        graph = traced.graph()
        [total] = boxes(graph, "sum")
        assert values(total) == [6.0]
        assert sources(graph, total)["x"] in ("getitem", "setitem")
        assert [values(node) for node in boxes(graph, "multiply")] == [[0.0, 0.0], [6.0, 6.0]]


class TestUpdates:
    """In each picture, the numbers of an op are those of what it is drawn to have read."""

    def checked(self, graph: viz.Graph) -> int:
        nodes = {node.id: node for node in graph.nodes}
        checked = 0
        for node in boxes(graph, "linear", "multiply"):
            read = {e.name: np.array(values(nodes[e.source])).reshape(e.shape)
                    for e in graph.edges if e.target == node.id}  # fmt: skip
            if len(read) > 1:
                linear = node.label == "linear"
                product = read["x"] @ read["weight"].T if linear else read["a"] * read["b"]
                expected = (product + read.get("bias", 0)).ravel()
                np.testing.assert_allclose(values(node), expected, rtol=1e-5, atol=1e-6)
                checked += 1
        return checked

    def test_an_optimizer(self) -> None:
        model = nn.Linear(2, 2)
        optimizer = optim.SGD(model.parameters(), 0.1)
        with viz.trace() as traced:
            for _ in range(3):
                optimizer.zero_grad()
                model(minigrad.randn(4, 2)).sum().backward()
                optimizer.step()
        graph = traced.graph()
        assert self.checked(graph) == 3
        notes = [node.notes for node in boxes(graph, "weight")]
        assert notes == [(), ("after SGD.step",), ("after SGD.step",)]
        assert {len(step.parts) for step in graph.steps if step.op == "linear"} == {2}
        assert "2 parameters" in repr(graph)

    def test_an_op_in_place_under_no_grad(self) -> None:
        w, x = variable(2.0), minigrad.tensor([3.0])
        with viz.trace() as traced:
            (w * x).sum().backward()
            with no_grad():
                w -= 0.1 * w.grad
            (w * x).sum().backward()
        graph = traced.graph(w=w, x=x)
        assert self.checked(graph) == 2
        before, after = boxes(graph, "w")
        assert (values(before), values(after)) == ([2.0], [pytest.approx(1.7)])
        assert list(sources(graph, after).values()) == ["subtract"]
        targets = [part.target for step in graph.steps for part in step.parts if part.name == "a"]
        assert targets == [before.id, after.id]

    def test_running_statistics(self) -> None:
        norm = nn.BatchNorm1d(2)
        x = minigrad.randn(4, 2)
        with viz.trace() as traced:
            for train in (False, True, False):
                norm.train(train)
                norm(x)
        graph = traced.graph()
        first, second = boxes(graph, "running_mean")
        assert (first.kind, second.kind) == ("buffer", "buffer")
        assert values(first) == [0.0, 0.0]
        assert values(second) == pytest.approx(norm.running_mean.tolist())
        assert len([node for node in graph.nodes if node.kind == "output"]) == 3

    def test_the_data_of_a_parameter(self) -> None:
        w = variable(2.0)
        with viz.trace() as traced:
            _ = w * minigrad.tensor([3.0])
            w.data = np.array([5.0], np.float32)
            _ = w * minigrad.tensor([3.0])
        assert self.checked(traced.graph(w=w)) == 2


class TestDetached:
    def test_in_a_module(self) -> None:
        class Stop(nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                return x.detach()

        graph = watched(lambda: nn.Linear(2, 2)(Stop()(minigrad.ones(1, 2, requires_grad=True))))
        modules = {group.id: group.module for group in graph.groups}
        assert modules[boxes(graph, "detach")[0].group or ""] == "Stop"

    @pytest.mark.parametrize("door", [lambda x: tensor(x.numpy()), lambda x: x.numpy() * 1.0])
    def test_by_data(self, door: Callable[[Tensor], Any]) -> None:
        x = variable(1.0, 2.0)
        assert len(boxes(watched(lambda: minigrad.exp(x) * door(x), x=x), "x")) == 1

    def test_what_no_op_reads_is_not_drawn(self) -> None:
        x = variable(1.0)
        with viz.trace() as traced:
            loss = (x * x).sum()
            loss.backward()
            float(loss.detach())
        graph = traced.graph(x=x)
        assert not boxes(graph, "detach")
        assert len(boxes(graph, "output")) == 1


class TestWhatGradHolds:
    def told(self, graph: viz.Graph) -> str:
        [text] = held(graph).values()
        return text

    def test_earlier_gradients_and_two_losses(self) -> None:
        x = variable(3.0)

        def passed(times: int) -> viz.Graph:
            run = [lambda: (x * x).sum().backward()] * times
            return watched(lambda: [one() for one in run], x=x)

        assert self.told(passed(1)) == ".grad holds this sum."
        text = ".grad held a gradient of norm 6; this sum was added: now 12."
        assert self.told(passed(1)) == text
        x.grad = None
        graph = passed(2)
        assert self.told(graph) == text
        data = data_of(graph.to_html())
        assert [node["held"] for node in data["nodes"] if node["label"] == "x"] == [text]

    def test_hooks(self) -> None:
        def halved(g: Tensor) -> Tensor:
            return g * 0.5

        x, seen = variable(3.0), list[Any]()
        x.register_hook(halved)
        with viz.trace() as traced:
            y = x * x
            y.register_hook(seen.append)
            y.sum().backward()
        graph = traced.graph(x=x)
        assert self.told(graph) == ".grad holds what the hook halved made of it, of norm 3."
        assert boxes(graph, "x")[0].notes == ("hook halved changed its gradient",)
        assert boxes(graph, "multiply")[0].notes == ("hook append saw its gradient",)
        assert "in a hook" in boxes(graph, "multiply")[1].notes
        assert len(boxes(graph, "output")) == 1
        assert seen

    def test_no_grad_is_written(self) -> None:
        x = variable(3.0)
        assert self.told(watched(lambda: grad((x * x).sum(), x))) == "No .grad was written."
        nodes = explored(nn.Linear(2, 1), minigrad.ones(1, 2))["nodes"]
        told = {node["held"] for node in nodes if node["kind"] == "parameter"}
        assert told == {"No .grad was written."}


class TestReasons:
    def reasons(self, graph: viz.Graph) -> dict[str, str]:
        labels = by_id(graph)
        return {labels[box]: why for box, why in missing_gradients(graph).items() if box in labels}

    @pytest.mark.parametrize("depth", [None, 9])
    def test_class_indices_are_read_by_the_loss(self, depth: int | None) -> None:
        logits, target = minigrad.randn(4, 3, requires_grad=True), np.array([0, 2, 1, 0])
        with viz.trace() as traced:
            traced.name(target, "target")
            F.cross_entropy(logits, target).backward()
        graph = traced.graph()
        assert self.reasons(graph)["target"].startswith("It holds integers")
        view = graph.collapse(depth)
        [box] = boxes(view, "target")
        assert any(edge.source == box.id for edge in view.edges)

    def test_masks_and_ids(self) -> None:
        embedding = nn.Embedding(5, 3)
        ids, mask = np.array([1, 2]), np.array([[True], [False]])
        graph = watched(lambda: minigrad.where(mask, embedding(ids), 0.0).sum().backward())
        told = {why.split(",")[0] for why in self.reasons(graph).values()}
        assert told == {"It holds bools", "It holds integers"}

    def test_what_a_checkpoint_ran(self) -> None:
        x = variable(1.0, 2.0)
        graph = watched(lambda: checkpoint(lambda x: (x * 2.0).exp(), x).sum().backward(), x=x)
        missing = missing_gradients(graph)
        [first, again] = boxes(graph, "exp")
        assert "runs it again" in missing[first.id]
        assert again.id not in missing
        assert again.notes == ("in the backward pass of checkpoint",)
        assert sources(graph, boxes(graph, "checkpoint")[0]) == {"": "exp"}
        assert len(boxes(graph, "output")) == 1


class TestHigherOrders:
    def test_ops_within_rules_are_marked_and_have_the_line_of_the_user(self) -> None:
        x = variable(1.0, 2.0)
        with viz.trace() as traced:
            y = F.softmax(x**3).sum()
            (slope,) = grad(y, x, create_graph=True)
            (slope * slope).sum().backward()
        graph = traced.graph(x=x)
        ops = [node for node in graph.nodes if node.kind == "op"]
        files = {node.line.partition(":")[0].rpartition("/")[2] for node in ops}
        assert files == {Path(__file__).name}
        marked = [n for n in ops if any(note.startswith("in the backward") for note in n.notes)]
        assert "in the backward pass of power" in {note for n in marked for note in n.notes}
        assert len(ops) - len(marked) == 5
        assert boxes(graph, "grad")
        assert not [n for n in graph.nodes if n.kind == "constant" and n.label == "x"]

    @pytest.mark.parametrize("order", [2, 3])
    def test_generated_code_is_not_the_users(self, order: int) -> None:
        x = variable(0.5)
        with viz.trace() as traced:
            y = (minigrad.tanh(x) / x).sum()
            for _ in range(order - 1):
                y = grad(y, x, create_graph=True)[0].sum()
            y.backward()
        assert not [node.line for node in traced.graph().nodes if node.line.startswith("<")]


MODELS: dict[str, Callable[[], tuple[nn.Module, Any]]] = {
    "linear": lambda: (nn.Linear(3, 2), minigrad.ones(4, 3)),
    "encoder": lambda: (nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(1, 3, 8)),
    "batch norm": lambda: (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), minigrad.randn(5, 3)),
    "tied": lambda: (nn.Sequential(*[nn.Linear(3, 3)] * 2), minigrad.randn(5, 3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_and_a_page_count_alike_and_as_it_ran(name: str) -> None:
    class Counter(minigrad.autograd.Observer):
        calls = 0

        def ran(self, call: Any) -> None:
            self.calls += call.op.name != "detach"

    model, x = MODELS[name]()
    with viz.trace() as traced, Counter() as counter:
        model(x)
    graph = traced.graph()
    assert graph.counts()["op"] == counter.calls + len(boxes(graph, "detach"))
    if name != "batch norm":
        counts, page = viz.graph(model, x).counts(), viz.explore(model, x, open=[]).path.read_text()
        found = re.search(r"([\d,]+) ops? · (\d+) parameters? of ([\d,]+) values?", page)
        told = [int(text.replace(",", "")) for text in found.groups()]
        assert told == [counts["op"], counts["parameter"], model.count_parameters()]


class TestWhatIsTaken:
    def test_a_function_is_explored(self) -> None:
        x = minigrad.ones(3, requires_grad=True)
        page = viz.explore(lambda x, scale: x * scale, x, scale=minigrad.ones(3))
        assert page.path.name == "lambda.html"
        labels = [node["label"] for node in data_of(page.path.read_text())["nodes"]]
        assert labels == ["x", "scale", "multiply", "output"]
        assert x.grad is None

    def test_outputs_in_a_tuple(self) -> None:
        x = variable(1.0)
        with viz.trace() as traced:
            a, b = x * 2.0, x * 3.0
        assert traced.graph((a, b), x=x) == traced.graph(a, b, x=x)
        assert len(boxes(traced.graph({"a": a}), "output")) == 1
        with pytest.raises(TypeError, match="an output should be a Tensor"):
            traced.graph(3)

    def test_a_class_of_any_name(self) -> None:
        class Layer(nn.Linear):
            pass

        Layer.__name__ = "../a/b c"
        page = viz.explore(Layer(2, 2), minigrad.ones(1, 2))
        assert page.path.name == ".._a_b_c.html"
        assert page.path.exists()


def test_a_tensor_that_is_known_is_called_by_what_made_it() -> None:
    """Not by the argument of the op that reads it."""
    w = variable(1.0, 2.0)
    (w * 3.0).sum().backward()
    with viz.trace() as traced:
        noise = minigrad.randn(2)
        _ = w.grad * noise
        _ = minigrad.where(np.array([True, False]), w, noise)
    constants = labels(traced.graph(w=w), "constant")
    assert sorted(constants) == ["condition", "grad", "randn"]


class TestSteps:
    def test_every_contribution_has_come_before_a_step(self) -> None:
        layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True)
        steps = watched(
            lambda: layer(minigrad.randn(2, 3, 8, requires_grad=True)).sum().backward()
        ).steps
        came: Counter[str] = Counter()
        due = {part.target: part.arrivals for step in steps for part in step.parts}
        for step in steps:
            assert came[step.node] == due.get(step.node, 0)
            came.update(part.target for part in step.parts)
        assert came == Counter(due)

    def test_what_modules_own_and_is_frozen(self) -> None:
        model = nn.Sequential(nn.Linear(3, 2), nn.SinusoidalPosEmbedding(5, 2))
        model[0].weight.requires_grad_(False)
        nodes = watched(lambda: model(minigrad.ones(1, 4, 3))).nodes
        told = {n.label: (n.kind, n.recorded) for n in nodes if n.kind in ("parameter", "buffer")}
        parameters = {"0.weight": ("parameter", False), "0.bias": ("parameter", True)}
        assert told == {**parameters, "1.table": ("buffer", True)}

    def test_each_step_agrees_with_a_difference(self) -> None:
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2)
        with viz.trace() as traced:
            loss = F.cross_entropy(layer(minigrad.randn(2, 5, 8))[:, 0], np.array([1, 2]))
            loss.backward()
        checks = [part.check for step in traced.graph().steps for part in step.parts]
        assert len(checks) > 30
        assert max(check for check in checks if check is not None) < 1e-4
        assert None not in checks

    def test_large_arrays_are_not_checked_and_say_so(self) -> None:
        x = minigrad.ones(400, 300, requires_grad=True)
        [part] = parts_of(watched(lambda: x.sum().backward()))
        assert (part.check, part.unchecked) == (None, "more than 100,000 elements")
        assert part.sent.values is None

    def test_indexing_several_outputs_and_second_passes(self) -> None:
        x = variable(1.0, 2.0, 3.0, 4.0)
        with viz.trace() as traced:
            a, b = minigrad.split(x, 2)
            loss = (a * b).sum() + x[[0, 0]].sum()
            loss.backward(retain_graph=True)
            loss.backward()
        graph = traced.graph(x=x)
        assert len(graph.steps) % 2 == 0
        first, second = graph.steps[: len(graph.steps) // 2], graph.steps[len(graph.steps) // 2 :]
        assert first == tuple(replace(step, run=1) for step in second)
        assert max(part.arrivals for step in first for part in step.parts) >= 2

    def test_a_graph_from_before_the_trace_and_a_checkpoint(self) -> None:
        x = variable(1.0, 2.0)
        loss = checkpoint(lambda x: minigrad.exp(x) * x, x * 2.0).sum()
        ops = [step.op for step in watched(lambda: loss.backward()).steps]
        assert (ops[0], ops[-1]) == ("sum", "multiply")
        assert {"checkpoint", "exp"} <= {*ops}


def test_tracing_changes_nothing() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    state = minigrad.random.get_state()
    results = []
    for context in (contextlib.nullcontext(), viz.trace()):
        minigrad.random.set_state(state)
        x.zero_grad()
        layer.zero_grad()
        with context:
            layer(x).sum().backward()
        gradients = [one.grad.numpy().copy() for one in (x, *layer.parameters())]
        results.append([*gradients, minigrad.rand(3).numpy()])
    for plain, seen in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, seen)


def test_nothing_ran() -> None:
    with viz.trace() as traced:
        pass
    with pytest.raises(RuntimeError, match="no op ran"):
        traced.graph()


def test_shares_of_several_outputs_are_not_added_to_one_another() -> None:
    w = minigrad.tensor([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]], requires_grad=True)
    with viz.trace() as trace:
        u, s, _ = minigrad.linalg.svd(w, full_matrices=False)
        (s.sum() + s.sum() + (u * u).sum()).backward()
    steps = [step for step in trace.graph(w=w).steps if step.op in ("sum", "multiply")]
    parts = [part for step in steps for part in step.parts]
    shapes = {(part.sent.shape, part.total and part.total.shape) for part in parts}
    assert shapes == {((2,), None), ((2,), (2,)), ((3, 2), None), ((3, 2), (3, 2))}
