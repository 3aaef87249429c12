"""The page's script beside Python: layout, player, arithmetic, and valid syntax."""

import base64
import json
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import node_js
import numpy as np
import pytest
from op_samples import CASES
from random_graphs import diagrams
from reading import Document, differentiated, variable, watched

import minigrad
from minigrad import nn, viz
from minigrad.nn import functional as F
from minigrad.viz.layout import place, skeleton
from minigrad.viz.page.html import SCRIPTS, write_page
from minigrad.viz.page.payload import RAW, payload
from minigrad.viz.record.fold import view
from minigrad.viz.record.model import Diagram

pytestmark = pytest.mark.needs("playwright")


def source(name: str) -> str:
    return files("minigrad.viz.page").joinpath("static", f"{name}.js").read_text(encoding="utf-8")


def script(name: str) -> str:
    """A script of a test, which follows those of the page."""
    return f"\n{Path(__file__).with_name(name + '.js').read_text(encoding='utf-8')}"


MLP = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
X = minigrad.randn(2, 3, 8)


def traced(model: Any, *inputs: Any) -> viz.Graph:
    return watched(lambda: model(*inputs).sum().backward())


def compared(cases: list[tuple[Diagram, list[str]]]) -> list[dict[str, Any]]:
    """Lay diagrams out here and in JavaScript; return what both found."""
    given = [(skeleton(diagram), closed) for diagram, closed in cases]
    found = node_js.node(
        f"{source('pack')}\n"
        "const all = given.map(([bones, closed]) => place(bones, new Set(closed)));\n"
        "console.log(JSON.stringify(all))",
        [(asdict(bones), closed) for bones, closed in given],
    )
    placed = [asdict(place(bones, closed)) for bones, closed in given]
    expected: list[dict[str, Any]] = json.loads(json.dumps(placed))
    _near(found, expected)
    return expected


def _near(found: Any, expected: Any) -> None:
    """Equal, but for half a pixel."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = [found[key] for key in expected], list(expected.values())
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _near(one, other)
    else:
        assert found == (
            expected if isinstance(expected, str) else pytest.approx(expected, abs=0.5)
        )


def test_the_layout_is_that_of_python() -> None:
    """To half a pixel, whatever is closed."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True)
    graphs = traced(MLP, minigrad.randn(5, 3)), traced(nn.TransformerEncoder(layer, 3), X)
    rng = random.Random(0)
    cases = [
        (diagram, [group.id for group in diagram.groups if rng.random() < share])
        for diagram in (view(graph, None)[0] for graph in graphs)
        for share in (0, 0.2, 0.5, 0.8)
    ]
    placed = compared(cases)
    assert max(len(placement["boxes"]) for placement in placed) > 30
    x = minigrad.ones(3, requires_grad=True)
    far, other, y = x * 2.0, minigrad.exp(x), x
    for _ in range(40):  # the other tensors run past everything
        y = minigrad.sin(y)
    compared([(viz.graph(y * far + other + far, x=x), [])])


@pytest.mark.slow
@hypothesis.settings(max_examples=20)
@hypothesis.given(diagrams(most=30), st.randoms(use_true_random=False))
def test_so_it_is_of_any_graph(graph: Diagram, rng: random.Random) -> None:
    groups = [group.id for group in graph.groups]
    choices = [[g for g in groups if rng.random() < share] for share in (0, 0.3, 0.7)]
    compared([(graph, closed) for closed in choices])


def states(graph: Diagram) -> list[dict[str, Any]]:
    """The states of the player, worked out from the steps alone."""
    home = {node.id: node.group for node in graph.nodes}
    parents = {group.id: group.parent for group in graph.groups}
    output = {node.id for node in graph.nodes if node.kind == "output"}
    edges: dict[int, str] = {}
    came: dict[str, list[int]] = {}
    inside: Counter[str] = Counter()
    done: list[str] = []
    found: list[dict[str, Any]] = [{"edges": {}, "came": {}, "done": [], "inside": {}}]
    for step in graph.steps:
        edges = dict.fromkeys(edges, "done")
        for index, edge in enumerate(graph.edges):
            first = edge.target in output and step.node not in came
            if edge.source == step.node and (index in edges or first):
                edges[index] = "in"
        for part in step.parts:
            for index, edge in enumerate(graph.edges):
                ends = (edge.source, edge.target, edge.slot)
                if ends == (part.target, step.node, part.slot):
                    edges[index] = "out"
            came[part.target] = [part.arrival, part.arrivals]
        done.append(step.node)
        around = home[step.node]
        while around is not None:
            inside[around] += 1
            around = parents[around]
        state = {"edges": edges, "came": came, "done": done, "inside": dict(inside)}
        found.append(json.loads(json.dumps(state)))
    return found


def test_the_player_goes_as_the_engine_went() -> None:
    attention = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    graphs = [
        traced(MLP, minigrad.randn(5, 3)),
        traced(lambda: attention(x, x, x) + x),
        traced(lambda: minigrad.ops.layer_norm(x) + x),
        traced(nn.TransformerEncoderLayer(8, 2, 16), X),
    ]
    for graph in graphs:
        data, _ = Document(write_page(graph, None, "", "")).scripts
        found = node_js.node(
            f"{source('data')}\n{source('player')}\n{script('player_states')}", data
        )
        assert found == states(graph)
        assert len(found) == len(graph.steps) + 1 > 3


def test_a_module_shows_the_steps_of_the_pass_that_runs() -> None:
    """Of two passes, the modules of the first had no number of steps: `1/undefined`."""
    first, second = nn.Linear(2, 3), nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    x = minigrad.randn(4, 2)
    with viz.trace() as found:
        for model in (first, second):
            model(x).square().sum().backward()
    data, _ = Document(write_page(found.graph(x=x), None, "", "")).scripts
    told = node_js.node(
        f"{source('data')}\n{source('player')}\n"
        "unpack(given).then((data) => console.log(JSON.stringify(data.steps.map((step, at) =>"
        " [...progress(data, at + 1).inside].map(([id, n]) =>"
        " [id, n, data.inside.get(step.run).get(id)])))))",
        data,
    )
    assert [counts for counts in told if counts] == [
        [["g0", 1, 1]], [["g3", 1, 1], ["g1", 1, 2]],
        [["g3", 1, 1], ["g1", 2, 2], ["g2", 1, 1]],
    ]  # fmt: skip


def test_each_file_is_valid() -> None:
    """By itself, within the function whose scope they share."""
    program = ";\n".join(f"(async () => {{\n{source(name)}\n}})" for name in SCRIPTS)
    node_js.run("--check", "-", given=program)


ARITHMETIC = ["pack", "data", "player", "elements", "gradients", "arrays", "step", "numbers",
              "worked"]  # fmt: skip


SEVERAL = {
    "eigh", "qr", "svd", "slogdet", "getitem", "diagonal", "multiply"
}  # fmt: skip
"""Ops with several outputs, of which a graph has the value of the first, and what reads them."""

SPECIAL = {
    "std", "nan_to_num", "cumprod", "copysign", "softmax", "group_norm"
}  # fmt: skip
"""Ops with a case of zeros, NaN or a row of -inf, of which the formula says so in its notes."""

ROUNDED = 0.03
"""The share of entries that rounded numbers, or writes in place, may keep from agreeing."""


def worked_out(graphs: list[tuple[str, viz.Graph]]) -> list[tuple[str, str, str, Any]]:
    """What the page says of each output and each gradient, entry by entry; None without a term."""
    given = [(name, payload_of(graph)) for name, graph in graphs]
    return node_js.node("\n".join(map(source, ARITHMETIC)) + script("worked_entries"), given)


def payload_of(graph: viz.Graph) -> Any:
    text = payload(graph, [], residuals=[], start="", heatmaps=[], scale=[], dark=[], broken="")
    return json.loads(zlib.decompress(base64.b64decode(text), wbits=RAW))


@pytest.mark.slow
def test_every_op_computes_in_the_page_what_it_computes_in_python() -> None:
    """`worked` compares with the entry that was recorded, and says so if it is another."""
    seen: dict[str, int] = defaultdict(int)
    graphs = []
    for case in CASES:  # the first few cases of each function
        seen[str(case).partition("-")[0]] += 1
        with viz.trace() as trace:
            if seen[str(case).partition("-")[0]] <= 3:
                differentiated(case)
        if trace._entries:
            graphs.append((str(case), trace.graph()))
    right, wrong = set[tuple[str, str]](), list[tuple[str, str, str, str]]()
    entries = 0
    for name, op, argument, told in worked_out(graphs):
        for said in told or ():
            entries += 1
            if isinstance(said, str):
                wrong.append((name, op, argument, said))
            else:
                right.add((op, argument.partition("[")[0]))
    assert {one for _, one, _, _ in wrong} <= SEVERAL | SPECIAL
    assert len(wrong) < ROUNDED * entries
    assert len(right) > 200
    for op, argument in (
        ("matmul", "a"), ("linear", "weight"), ("softmax", "x"), ("layer_norm", "x"), ("sum", "x"),
        ("convolution", "weight"), ("cross_entropy", "logits"),
        ("getitem", "x"), ("concatenate", "tensors"), ("embedding", "weight"), ("dropout", "x"),
    ):  # fmt: skip
        assert {(op, argument), (op, "out")} <= right, op


def test_so_does_attention_as_one_op() -> None:
    q, k, v = (minigrad.randn(1, 2, 3, 4, requires_grad=True) for _ in range(3))
    attention = F.scaled_dot_product_attention
    run = viz.trace(open=[])
    graph = watched(lambda: attention(q, k, v, is_causal=True).sum().backward(), run)
    found = worked_out([("", graph)])
    told = {name: said for _, op, name, said in found if op == "attention"}
    assert told.keys() == {"out", "query", "key", "value"}
    assert not [said for each in told.values() for said in each if isinstance(said, str)]


@pytest.mark.slow
def test_large_arrays_are_worked_out_from_three_digits() -> None:
    x, layer = minigrad.randn(2, 6, 32), nn.TransformerEncoderLayer(32, 4, 48, dropout=0.0)
    graph = watched(lambda: layer(x).sum().backward(), viz.trace(open=["layer_norm"]))
    told = [said for _, _, _, each in worked_out([("layer", graph)]) for said in each or ()]
    assert len(told) > 500
    assert sum(isinstance(said, str) for said in told) < 0.1 * len(told)


def told_of(op: str, argument: str, program: Callable[[], Any]) -> list[list[str]]:
    """The equations of the first entry."""
    found = worked_out([("", watched(program))])
    return next(told[0] for _, one, name, told in found if (one, name) == (op, argument))


def test_the_texts() -> None:
    a = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = minigrad.tensor([[0.5, -1.0, 2.0], [0.0, 3.0, 1.0]], requires_grad=True)
    g = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.0]])
    x, long = variable(1.0, -2.0, 1 / 3), variable(*range(40))
    for op, argument, run, names, numbers in (
        ("matmul", "b", lambda: (a @ b).backward(g),
         "a[0, 0] · ḡ[0, 0] + a[1, 0] · ḡ[1, 0]", "= 1 · 1 + 3 · 0 = 1"),
        ("matmul", "out", lambda: (a @ b).backward(g),
         "a[0, 0] · b[0, 0] + a[0, 1] · b[1, 0]", "= 1 · 0.5 + 2 · 0 = 0.5"),
        ("relu", "x", lambda: (minigrad.relu(x) ** 2.0).sum().backward(),
         "ḡ[0] · [y[0] > 0]", "= 2 · [1 > 0] = 2"),
        ("mean", "out", lambda: (x * x.mean()).sum().backward(),
         "(x[0] + x[1] + x[2]) / 3", "≈ (1 − 2 + 0.333) / 3 ≈ −0.222"),
        ("clip", "out", lambda: minigrad.clip(x, -9.0, 9.0).sum().backward(),  # also far away
         "min(max(x[0], low), high)", "= min(max(1, −9), 9) = 1"),
        ("sum", "out", lambda: long.sum().backward(),  # of which the largest are written
         "x[36] + x[37] + x[38] + x[39] + … (36 more)", "= 36 + 37 + 38 + 39 + … (36 more) = 780"),
    ):  # fmt: skip
        assert told_of(op, argument, run)[0] == [names, numbers]
    row = minigrad.tensor([[1.0, 3.0, 4.0]], requires_grad=True)
    weight, g = minigrad.tensor([2.0, 1.0, 1.0]), [[1.0, 0.0, 0.0]]
    told = dict(told_of("layer_norm", "x", lambda: F.layer_norm(row, (3,), weight).backward(g)))
    assert told["u[0, 0] = ḡ[0, 0] · weight[0]"] == "= 1 · 2 = 2"
    assert any(left.startswith("rstd[0, 0] = 1 / √(") for left in told)
