"""The page's script beside Python: the same layout, the same state of the player, valid syntax."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

import minigrad
from minigrad import nn, viz
from minigrad.viz.fold import view
from minigrad.viz.layout import place, skeleton
from minigrad.viz.model import Diagram, Edge, Group, Node
from minigrad.viz.page import SCRIPTS, write_page

pytestmark = pytest.mark.needs("node")


def node(script: str, given: Any) -> Any:
    """Run a script that reads `given` and prints JSON."""
    program = f"const given = JSON.parse(require('fs').readFileSync(0));\n{script}"
    done = subprocess.run(
        ["node", "-e", program], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def source(name: str) -> str:
    return files("minigrad.viz").joinpath("page", f"{name}.js").read_text(encoding="utf-8")


def traced(model: Any, *inputs: Any) -> viz.Graph:
    with viz.trace() as trace:
        model(*inputs).sum().backward()
    return trace.graph()


def random_diagram(seed: int) -> Diagram:
    """Ops in nested modules that read what was computed before, also from far away."""
    rng = random.Random(seed)
    nodes, groups = [Node("n0", "input", "x", (3,))], list[Group]()
    edges, made = list[Edge](), ["n0"]

    def module(parent: str | None, depth: int) -> None:
        for _ in range(rng.randint(1, 4)):
            if depth < 3 and rng.random() < 0.35:
                group = f"g{len(groups)}"
                name = "m" * rng.randint(1, 12)
                groups.append(Group(group, name, name, "Module", parent, rng.choice([None, 12])))
                module(group, depth + 1)
                continue
            if rng.random() < 0.4:
                label = f"weight{'s' * rng.randint(0, 9)}"
                nodes.append(Node(f"n{len(nodes)}", "parameter", label, (3, 4), group=parent))
                made.append(nodes[-1].id)
            op = Node(
                f"n{len(nodes)}", "op", rng.choice(["add", "matmul", "f"]), (3,), group=parent
            )
            nodes.append(op)
            for slot in range(rng.randint(1, 3)):
                edges.append(Edge(rng.choice(made[-12:]), op.id, slot, "abc"[slot], (3,)))
            made.append(op.id)

    for _ in range(rng.randint(1, 12)):
        module(None, 0)
    used = {edge.source for edge in edges} | {edge.target for edge in edges}
    ends = [node for node in nodes if node.id in used]
    return Diagram(tuple(ends), tuple(edges), tuple(groups))


def test_the_layout_is_that_of_python() -> None:
    """To the last number, whatever is closed."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True)
    models = [
        (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)),
        (nn.TransformerEncoder(layer, 3), minigrad.randn(2, 3, 8)),
    ]
    diagrams = [view(traced(*model), None)[0] for model in models]
    diagrams += [random_diagram(seed) for seed in range(40)]
    rng = random.Random(0)
    cases = []
    for diagram in diagrams:
        bones = skeleton(diagram)
        for share in (0, 0.3, 0.7):
            closed = [group for group in bones.parents if rng.random() < share]
            cases.append((bones.to_row(), closed, place(bones, closed).to_row()))
    expected = json.loads(json.dumps([placement for _, _, placement in cases]))
    found = node(
        f"{source('place')}\n"
        "console.log(JSON.stringify(given.map(([s, closed]) => place(s, new Set(closed)))))",
        [case[:2] for case in cases],
    )
    assert len(found) == len(cases) > 100
    for one, other in zip(found, expected, strict=True):
        assert one == other
    assert any(placement["frames"] for placement in expected)
    assert max(len(placement["boxes"]) for placement in expected) > 30


def states(graph: Diagram) -> list[dict[str, Any]]:
    """The states of the player, worked out from the steps alone."""
    fused = {group.id for group in graph.groups if group.op is not None}
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
                if unit[edge.target] == step.node and unit[edge.source] == part.target:
                    if step.node in fused or edge.slot == part.slot:
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


def test_the_player_goes_as_the_engine_went() -> None:
    attention = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    graphs = [
        traced(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)),
        traced(lambda: attention(x, x, x) + x),
        traced(nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)),
    ]
    for graph in graphs:
        page = write_page(graph, None, "", "")
        data = page.partition('id="data">')[2].partition("</script>")[0]
        found = node(
            f"{source('data')}\n{source('player')}\n"
            "const data = unpack(given);\n"
            "console.log(JSON.stringify([...Array(data.steps.length + 1).keys()].map((count) => {\n"
            "  const { edges, came, done, inside } = progress(data, count);\n"
            "  return { edges: Object.fromEntries([...edges].map(([k, v]) => [k, v.state])), done: [...done],\n"
            "    came: Object.fromEntries([...came].map(([k, v]) => [k, [v.arrival, v.arrivals]])),\n"
            "    inside: Object.fromEntries(inside) };\n})))",
            json.loads(data),
        )
        assert found == states(graph)
        assert len(found) == len(graph.steps) + 1 > 3


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_file_is_valid(name: str) -> None:
    done = subprocess.run(
        ["node", "--check", "-"], input=source(name), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_so_is_what_the_page_holds() -> None:
    page = write_page(viz.graph(nn.ReLU(), minigrad.ones(3)), None, "", "")
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    done = subprocess.run(["node", "--check", "-"], input=script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"use strict"' in script
