"""A trace: what a finished graph no longer knows, and the backward pass step by step."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import by_id, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import checkpoint, primitive
from minigrad.nn import functional as F
from minigrad.viz import Graph


def leaf(*values: float, dtype: str = "float32") -> Tensor:
    return minigrad.tensor(list(values), dtype=dtype, requires_grad=True)


def boxes(graph: Graph, kind: str) -> list[str]:
    return [node.label for node in graph.nodes if node.kind == kind]


def links(graph: Graph) -> set[tuple[str, str, str]]:
    names = by_id(graph)
    return {(names[edge.source], names[edge.target], edge.name) for edge in graph.edges}


def test_lines_and_what_is_saved() -> None:
    x = leaf(1.0, 2.0)
    with viz.trace() as traced:
        _ = minigrad.exp(x)  # this very line
    (op,) = [node for node in traced.graph().nodes if node.kind == "op"]
    assert Path(__file__).name in op.line
    assert op.line.endswith("# this very line")
    assert [(saved.name, saved.nbytes) for saved in op.saved] == [("out", 8)]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_an_op_in_place_is_what_its_tensor_is_from_then_on(requires_grad: bool) -> None:
    x = Tensor([1.0, 2.0], requires_grad=requires_grad)
    with viz.trace() as traced:
        y = x * 3
        y += 1
        _ = y.exp()
    arrows = {(source, target) for source, target, _ in links(traced.graph(x=x))}
    assert {("multiply", "add"), ("add", "exp")} <= arrows
    assert ("multiply", "exp") not in arrows


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

    def test_the_leaves_get_what_the_steps_sent(self) -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
        x = leaf(1.0, 2.0, 3.0, dtype="float64")
        graph = watched(lambda: (model(x) ** 2).sum().backward(), x=x)
        named = dict(model.named_parameters()) | {"x": x}
        for node in graph.nodes:
            if node.kind in ("parameter", "input"):
                parts = [p for step in graph.steps for p in step.parts if p.target == node.id]
                total: Any = sum(np.array(part.sent.values) for part in parts)
                grad = named[node.label].grad
                np.testing.assert_allclose(total.reshape(grad.shape), grad.numpy(), rtol=1e-14)

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

    def test_a_wrong_rule_is_seen(self) -> None:
        @primitive
        def planted(x: Any) -> Any:
            return x * x

        planted.defvjp(x=lambda g, x: g * x)
        (part,) = watched(lambda: planted(leaf(1.0, 2.0)).sum().backward()).steps[1].parts
        assert part.check > 0.1

    def test_large_arrays_are_not_checked_and_say_so(self) -> None:
        (part,) = (
            watched(lambda: minigrad.ones(400, 300, requires_grad=True).sum().backward())
            .steps[0]
            .parts
        )
        assert (part.check, part.unchecked) == (None, "more than 100,000 elements")
        assert part.sent.values is None

    def test_indexing_several_outputs_and_second_passes(self) -> None:
        x = leaf(1.0, 2.0, 3.0, 4.0)
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
        x = leaf(1.0, 2.0)
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
        results.append([one.grad.numpy().copy() for one in (x, *layer.parameters())])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


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
    shapes = {
        (part.sent.shape, None if part.total is None else part.total.shape)
        for step in trace.graph(w=w).steps
        for part in step.parts
        if step.op in ("sum", "multiply")
    }
    assert shapes == {((2,), None), ((2,), (2,)), ((3, 2), None), ((3, 2), (3, 2))}
