"""`viz.diff`: what two graphs do not have in common."""

from __future__ import annotations

from typing import Any

import pytest
from reading import watched

import minigrad
from minigrad import nn, viz


def traced(model: Any, seed: int = 0, batch: int = 2) -> viz.Graph:
    minigrad.random.seed(seed)
    return watched(lambda: (model(minigrad.randn(batch, 3, 8)) ** 3).sum().backward())


def lines(found: viz.Difference) -> list[str]:
    return [" ".join(line.split()) for line in str(found).splitlines()]


def test_two_runs_from_the_same_seed_are_the_same() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    found = viz.diff(traced(layer), traced(layer))
    assert not found
    assert str(found) == "no difference"
    assert found == viz.Difference()


def test_another_seed_changes_numbers_and_nothing_else() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    found = viz.diff(traced(layer, seed=0), traced(layer, seed=1))
    assert found.changed
    assert not found.added
    assert not found.removed
    facts = [fact for change in found.changed for fact in change.facts]
    assert all(fact.startswith(("gradient norm", "norm of saved")) for fact in facts)
    assert any(fact.startswith("gradient norm") for fact in facts)
    names = {change.name for change in found.changed}
    assert {"self_attn: attention", "self_attn.q_proj.weight"} <= names
    assert not viz.diff(traced(layer, seed=0), traced(layer, seed=1), rtol=1e9)


def test_an_op_is_not_taken_for_a_module_of_its_name() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: minigrad.Tensor) -> minigrad.Tensor:
            return self.linear(nn.functional.linear(x, self.linear.weight)).exp()

    graphs = [viz.graph(Model(), minigrad.ones(n, 3)) for n in (1, 2)]
    names = [change.name for change in viz.diff(*graphs).changed]
    assert names == ["x", "linear", "linear: linear", "exp", "output"]


def test_a_fused_op_is_one_op_with_and_without_its_decomposition() -> None:
    attention = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    with viz.trace() as trace:
        y = attention(x, x, x)
    found = viz.diff(trace.graph(x=x), viz.graph(y, x=x))
    assert not found.added
    assert not found.removed
    assert "attention" not in {change.name for change in found.changed}


def test_a_long_chain() -> None:
    x = minigrad.ones(3, requires_grad=True)
    graphs = []
    for length in (2_000, 2_001):
        y = x
        for _ in range(length):
            y = y + 1.0
        graphs.append(viz.graph(y))
    assert lines(viz.diff(*graphs)) == [
        "+ add #2001 3",
        "≠ output reads: add #2000 → add #2001",
        "? 2,000 boxes of which not all is known",
    ]


def test_what_it_refuses() -> None:
    graph = viz.graph(nn.Linear(2, 2), minigrad.ones(1, 2))
    with pytest.raises(TypeError, match="graphs.*Linear"):
        viz.diff(graph, nn.Linear(2, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rtol"):
        viz.diff(graph, graph, rtol=-1.0)
