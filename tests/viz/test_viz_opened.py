"""Fused ops that are opened: the ops inside, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reading import data_of, explored, watched

import minigrad
from minigrad import nn, no_grad, ops, viz
from minigrad.nn import functional as F
from minigrad.viz.record.steps import with_inner
from minigrad.viz.record.tracing import fused_ops


def random(*shape: int) -> Any:
    return minigrad.randn(*shape, requires_grad=True)


CALLS: dict[str, Any] = {
    "attention": lambda: ops.attention(random(2, 3, 4), random(2, 5, 4), random(2, 5, 6)),
    "cross_entropy": lambda: F.cross_entropy(random(4, 3), np.array([0, 2, 1, 1])),
    "det": lambda: minigrad.linalg.det(random(3, 3)),
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
        (out * np.cos(np.arange(out.size, dtype=np.float32)).reshape(out.shape)).sum().backward()
    return traced.graph()


def test_every_one_is_tried() -> None:
    assert fused_ops().keys() - {"ring_attention"} == CALLS.keys()  # it needs processes


@pytest.mark.parametrize("name", CALLS)
def test_the_parts_give_what_the_op_gives_and_change_nothing(name: str) -> None:
    graph = opened(name, name)
    [group] = [group for group in graph.groups if group.op is not None]
    [step] = [step for step in graph.steps if step.inner]
    assert 0 <= group.opened < 1e-5
    assert (step.op, step.node) == (name, group.id)
    inner = [part for one in step.inner for part in one.parts]
    last = {part.target: part.total or part.sent for part in inner}
    for part in step.parts:
        ours, values = last[part.target], np.array(part.sent.values)
        assert ours.shape == part.sent.shape
        np.testing.assert_allclose(ours.values, values, atol=2e-5 * np.abs(values).max())
    # Each part is recorded as any op.
    inside = [node for node in graph.nodes if node.group == group.id and node.kind == "op"]
    assert all(node.value is not None for node in inside)
    assert {one.node for one in step.inner} == {node.id for node in inside if node.recorded}
    assert inner
    assert max(part.check for part in inner) < 1e-3
    # The engine's own results are the same.
    plain = opened(name)
    assert all(group.opened is None for group in plain.groups)
    for one, other in zip(graph.steps, plain.steps, strict=True):
        assert (one.op, one.cotangent, one.parts) == (other.op, other.cotangent, other.parts)
    assert not any(step.inner for step in plain.steps)


def arrivals(steps: Any, target: str) -> list[str]:
    parts = [part for step in steps for part in step.parts if part.target == target]
    return [f"{part.arrival}/{part.arrivals}" for part in parts]


class TestContributions:
    def test_those_inside_and_outside_are_counted_together(self) -> None:
        """x is normalized and added; inside, centring reads it twice."""
        x = random(3, 4)
        graph = watched(
            lambda: (ops.layer_norm(x) + x).sum().backward(), viz.trace(open=["layer_norm"]), x=x
        )
        [source] = [node.id for node in graph.nodes if node.label == "x"]
        assert arrivals(graph.steps, source) == ["1/2", "2/2"]
        flat = with_inner(graph.steps)
        assert arrivals(flat, source) == ["1/3", "2/3", "3/3"]
        *_, total = [p.total for step in flat for p in step.parts if p.target == source]
        np.testing.assert_allclose(total.values, x.grad.numpy().ravel(), atol=1e-5)

    def test_one_tensor_as_three_arguments(self) -> None:
        x = random(3, 4)
        graph = watched(lambda: ops.attention(x, x, x).sum().backward(), x=x)
        assert graph.groups[0].opened < 1e-5
        assert arrivals(with_inner(graph.steps), "n0") == ["1/3", "2/3", "3/3"]

    def test_several_passes(self) -> None:
        x = random(3, 4)
        with viz.trace() as traced:
            y = ops.attention(x, x, x)
            for _ in range(2):
                y.sum().backward(retain_graph=True)
        steps = with_inner(traced.graph(x=x).steps)
        half = len(steps) // 2
        assert [step.op for step in steps[:half]] == [step.op for step in steps[half:]]
        assert [step.run for step in steps] == [1] * half + [2] * half
        assert {p.arrivals for s in steps for p in s.parts if p.target == "n0"} == {3}


class TestWhatIsOpened:
    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'softmax' is not a fused op; these are: attention, "):
            viz.trace(open=["softmax"])

    def test_without_a_gradient_there_are_values(self) -> None:
        with viz.trace() as traced, no_grad():
            ops.attention(random(3, 4), random(3, 4), random(3, 4))
        graph = traced.graph()
        [group] = graph.groups
        assert group.opened < 1e-6
        assert all(n.value is not None for n in graph.nodes if n.group == group.id)

    def test_a_mismatch_is_told(self) -> None:
        decomposition = ops.rms_norm.op.decomposition
        try:
            ops.rms_norm.op.decomposition = lambda x, weight, **options: (
                1.01 * decomposition(x, weight, **options)
            )
            graph = opened("rms_norm", "rms_norm")
        finally:
            ops.rms_norm.op.decomposition = decomposition
        [group] = graph.groups
        assert group.opened == pytest.approx(0.01, rel=1e-3)
        [found] = [group["opened"] for group in data_of(graph.to_html())["groups"]]
        assert found == pytest.approx(0.01, rel=1e-3)


class TestPage:
    def test_what_is_named_is_open_at_first(self) -> None:
        layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)
        data = explored(layer, x, open=["layer_norm", "linear1"])
        by_name = {group["name"]: group for group in data["groups"]}
        assert by_name["layer_norm"]["opened"] < 1e-5
        assert by_name["attention"]["opened"] is None
        assert not {by_name[name]["id"] for name in ("layer_norm", "linear1")} & {*data["closed"]}
        with pytest.raises(ValueError, match="softmax"):
            viz.explore(layer, x, open=["softmax"])
