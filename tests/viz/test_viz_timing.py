"""Time and bytes of each op: on request, beside the results; never in a drawing otherwise."""

from __future__ import annotations

import pytest

import minigrad
from minigrad import nn, viz
from minigrad.viz.layout.labels import cost
from minigrad.viz.record.model import Node


def traced(timed: bool) -> viz.Trace:
    minigrad.random.seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16)
    with viz.trace(timed=timed) as watched:
        model(minigrad.randn(2, 3, 8)).sum().backward()
    return watched


def test_every_op_that_ran_has_a_time() -> None:
    graph = traced(timed=True).graph()
    decompositions = {group.id: group.op for group in graph.groups if group.op is not None}
    ran = [node for node in graph.nodes if node.kind == "op" and node.group not in decompositions]
    assert len(ran) > 10
    assert len(decompositions) > 2
    for op in (*ran, *decompositions.values()):
        assert 0 < op.seconds < 1, op.label
    for node in graph.nodes:
        if node not in ran:
            assert node.seconds is None, node.label


def test_a_closed_module_has_the_time_of_its_ops() -> None:
    graph = traced(timed=True).graph()
    (whole,) = [node for node in graph.collapse(0).nodes if node.kind == "module"]
    parts = [node.seconds for node in graph.collapse(1).nodes if node.seconds is not None]
    times = [node.seconds for node in graph.nodes if node.kind == "op" and node.seconds is not None]
    fused = [group.op.seconds for group in graph.groups if group.op is not None]
    loss = [node.seconds for node in graph.nodes if node.label == "sum" and node.group is None]
    assert whole.seconds + loss[0] == pytest.approx(sum(times) + sum(fused))
    assert sum(parts) == pytest.approx(whole.seconds + loss[0])


def test_a_slow_op_takes_longer_than_a_fast_one() -> None:
    small, large = minigrad.ones(2, 2), minigrad.ones(400, 400)
    with viz.trace(timed=True) as watched:
        small @ small
        large @ large
    first, second = (node.seconds for node in watched.graph().nodes if node.kind == "op")
    assert second > 3 * first


def test_it_changes_no_result_and_draws_no_random_number() -> None:
    layer = nn.Dropout(0.5)
    x = minigrad.ones(100, requires_grad=True)
    found = []
    for timed in (False, True):
        minigrad.random.seed(1)
        with viz.trace(timed=timed):
            y = layer(x)
        found.append((y.tolist(), minigrad.rand(3).tolist()))
    assert found[0] == found[1]


def test_it_stands_in_the_boxes_and_in_the_page() -> None:
    graph = traced(timed=True).graph()
    add = next(node for node in graph.nodes if node.label == "add")
    assert cost(add).endswith("µs, 192 B")  # 2×3×8 numbers of 4 bytes
    assert f">{cost(add)}</text>" in graph.to_svg(1)
    assert cost(add) in graph.to_html()
    assert viz.Graph.from_json(graph.to_json()) == graph


def test_without_it_nothing_is_timed_and_drawings_are_equal() -> None:
    first, second = traced(timed=False).graph(), traced(timed=False).graph()
    assert all(node.seconds is None for node in first.nodes)
    assert "µs" not in first.to_svg()
    assert "µs" not in first.to_text()
    assert first == second
    for draw in ("to_json", "to_svg", "to_html", "to_text"):
        assert getattr(first, draw)() == getattr(second, draw)(), draw


def test_explore_takes_times_of_a_module_only() -> None:
    model, x = nn.Linear(3, 2), minigrad.ones(5, 3)
    assert "µs" in viz.explore(model, x, timed=True).path.read_text(encoding="utf-8")
    assert "µs" not in viz.explore(model, x).path.read_text(encoding="utf-8")
    with pytest.raises(TypeError, match=r"trace\(timed=True\)"):
        viz.explore(model(x).sum(), timed=True)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, ""), (2.5, "2.5 s, 4 B"), (0.0123, "12.3 ms, 4 B"), (3e-7, "0.3 µs, 4 B")],
)
def test_units(seconds: float | None, said: str) -> None:
    assert cost(Node("n0", "op", "exp", (), seconds=seconds)) == said


def test_operations_are_counted_in_boxes_and_in_the_table() -> None:
    watched = traced(timed=True)
    graph = watched.graph()
    products = 2 * 2 * 3 * 8 * (4 * 8 + 2 * 16) + 2 * 2 * 2 * 3 * 3 * 4 * 2  # and of attention
    (whole,) = [node for node in graph.collapse(0).nodes if node.kind == "module"]
    assert whole.flops == products
    assert cost(whole).endswith("6.72 k FLOPs")
    assert sum(node.flops for node in graph.collapse(1).nodes) == products
    table = watched.to_text().splitlines()
    assert table[0].split() == ["op", "calls", "forward", "share", "FLOPs"]
    assert table[-1].split()[-3:] == ["100%", "6.72", "k"]
    assert {line.split()[0] for line in table} >= {"linear", "attention", "layer_norm", "add"}
    rows = watched.to_text("module").splitlines()
    assert rows[1].split()[:2] == ["TransformerEncoderLayer", "23"]
    assert any(line.strip().startswith("linear1: Linear") for line in rows)
    assert traced(timed=False).to_text().split()[:2] == ["op", "calls"]
