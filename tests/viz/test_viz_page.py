"""The explorer page as text: what it holds, how large it is, what may run in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import Document, data_of, explored, variable, watched

import minigrad
from minigrad import Tensor, nn, no_grad, viz
from minigrad.nn import functional as F
from minigrad.viz.drawing.style import DARK, LIGHT
from minigrad.viz.page.html import write_page
from minigrad.viz.record.steps import with_inner

HOSTILE = "</script><script>document.title='x'</script><img src=x onerror=alert(1)>\"'{data}&amp;\n"


@cache
def page_of(name: str) -> str:
    """The page of one of the models that the budgets are about."""
    minigrad.random.seed(0)
    x = minigrad.randn(2, 8, 32)
    layer = nn.TransformerEncoderLayer(32, 4, 64, norm_first=True)
    if name == "attention":
        page = viz.explore(nn.MultiHeadAttention(32, 4), x, x, x)
    elif name == "encoder":
        page = viz.explore(nn.TransformerEncoder(layer, 6), x)
    else:
        mlp = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        page = viz.explore(mlp, minigrad.randn(5, 3))
    return page.path.read_text(encoding="utf-8")


class TestBudget:
    """The only place that says how large a page may be."""

    @pytest.mark.parametrize(("name", "kilobytes"), [("attention", 250), ("encoder", 600)])
    def test_the_page(self, name: str, kilobytes: int) -> None:
        assert len(page_of(name).encode()) <= kilobytes * 1024

    def test_its_code(self) -> None:
        page = page_of("perceptron")
        styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        code = Document(page).scripts[1] + "".join(styles)
        assert 10_000 < len(code.encode()) <= 128 * 1024

    def test_what_an_op_takes(self) -> None:
        page = page_of("encoder")
        data = data_of(page)
        ops = sum(node["kind"] == "op" for node in data["nodes"])
        assert len(Document(page).scripts[0].encode()) / ops <= 1024


class TestOffline:
    @pytest.mark.parametrize("name", ["perceptron", "attention", "encoder"])
    def test_nothing_is_loaded(self, name: str) -> None:
        page = page_of(name)
        addresses = set(re.findall(r"\w+://[^\"'\s<]*", page))
        assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
        for word in [
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "import(",
            "WebSocket",
            "eval(",
        ]:
            assert word not in page
        for tag, attributes in Document(page).elements:
            assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
            assert not {"src", "href", "action"} & set(attributes)

    def test_the_policy_stands_before_everything(self) -> None:
        elements = Document(page_of("perceptron")).elements
        first = [tag for tag, _ in elements].index("style")
        policies = [a["content"] for tag, a in elements[:first] if "http-equiv" in a]
        assert policies == [
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            "img-src data:"
        ]


class TestHostileNames:
    def page(self) -> str:
        class Odd(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = nn.ModuleDict({"plain": nn.Linear(3, 2)})

            def forward(self, x: Tensor) -> Tensor:
                return self.inner["plain"](x)

        model = Odd()
        graph = watched(lambda: model(minigrad.ones(4, 3, requires_grad=True)).sum().backward())
        text = graph.to_json()
        for name in ("inner.plain", "linear", "Odd"):
            text = text.replace(json.dumps(name), json.dumps(HOSTILE + name))
        return viz.Graph.from_json(text).to_html(title=HOSTILE)

    def test_nothing_of_them_is_markup(self) -> None:
        document = Document(self.page())
        tags = [tag for tag, _ in document.elements]
        assert tags.count("script") == 2
        assert "img" not in tags
        for _, attributes in document.elements:
            assert not any(name.startswith("on") for name in attributes)

    def test_they_come_through_whole(self) -> None:
        page = self.page()
        labels = [node["label"] for node in data_of(page)["nodes"]]
        assert HOSTILE + "linear" in labels
        shown = HOSTILE.replace("\n", "\\n")
        assert any(row[0].startswith(shown) for row in Document(page).rows)
        assert page.count("default-src") == 1  # "{data}" in a name was not filled in


@pytest.mark.slow
def test_the_same_in_every_process() -> None:
    program = (
        "import minigrad\nfrom minigrad import nn, viz\nminigrad.random.seed(0)\n"
        "layer = nn.TransformerEncoderLayer(8, 2, 16)\n"
        "page = viz.explore(layer, minigrad.randn(2, 3, 8))\n"
        "print(page.path.read_text(encoding='utf-8'), end='')"
    )
    command = [sys.executable, "-c", program]
    once, again = (subprocess.run(command, capture_output=True, check=True).stdout for _ in "12")
    assert once == again
    assert len(once) > 50_000


class TestContents:
    def test_the_data_is_the_graph(self) -> None:
        model = nn.TransformerEncoderLayer(8, 2, 16)
        graph = watched(lambda: model(minigrad.randn(2, 3, 8)).sum().backward())
        found = data_of(graph.to_html())
        for node, row in zip(graph.nodes, found["nodes"], strict=True):
            assert (node.id, node.kind, node.label) == (row["id"], row["kind"], row["label"])
            assert list(node.shape) == row["shape"]
            assert node.group == row["group"]
            assert len(node.saved) == len(row["saved"])
        assert [e.source for e in graph.edges] == [row["source"] for row in found["edges"]]
        for step, row in zip(with_inner(graph.steps), found["steps"], strict=True):
            assert (step.node, step.op) == (row["node"], row["op"])
            assert row["cotangent"]["norm"] == pytest.approx(step.cotangent.norm, rel=1e-6)
            assert [p.target for p in step.parts] == [p["target"] for p in row["parts"]]

    def test_the_last_total_of_a_leaf_is_its_gradient(self) -> None:
        attention = nn.MultiHeadAttention(8, 2)
        x = minigrad.randn(2, 3, 8, requires_grad=True)
        found = data_of(watched(lambda: (attention(x, x, x) * x).sum().backward(), x=x).to_html())
        boxes = {node["id"]: node["label"] for node in found["nodes"]}
        parts = [part for step in found["steps"] for part in step["parts"]]
        last = {boxes.get(part["target"]): part for part in parts}
        leaves = dict(attention.named_parameters()) | {"x": x}
        assert last["x"]["arrivals"] == 4
        for name, tensor in leaves.items():
            norm = float(np.linalg.norm(tensor.grad.numpy()))
            came = last[name]["total"] or last[name]["sent"]
            assert came["norm"] == pytest.approx(norm, rel=1e-5)

    def test_depth_and_file(self, tmp_path: Path) -> None:
        graph = viz.graph(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), minigrad.ones(5, 3))
        assert data_of(graph.to_html(depth=0))["closed"] == ["g0", "g1", "g2"]
        assert data_of(graph.to_html(depth=2))["closed"] == []
        with pytest.raises(ValueError, match="-1 levels"):
            graph.to_html(depth=-1)
        path = graph.save(tmp_path / "page.html")
        assert path.read_text(encoding="utf-8") == graph.to_html()


class TestExplore:
    def test_what_it_leaves_as_it_was(self) -> None:
        model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5)
        x = minigrad.randn(2, 3, 8, requires_grad=True)
        before = minigrad.random.get_state()
        viz.explore(model, x)
        assert str(minigrad.random.get_state()) == str(before)
        assert x.grad is None
        assert all(p.grad is None for p in model.parameters())

    def test_where_it_writes(self, tmp_path: Path) -> None:
        page = viz.explore(nn.ReLU(), minigrad.ones(3), path=tmp_path / "my page.html")
        assert page.path == tmp_path / "my page.html"
        assert str(page) == str(page.path)
        assert Path(page).read_text().startswith("<!DOCTYPE html>")
        assert viz.explore(nn.ReLU(), minigrad.ones(3)).path.name == "ReLU.html"
        drawing = viz.graph(nn.ReLU(), minigrad.ones(3))
        page = viz.explore(drawing, path=tmp_path / "my_relu.html")
        assert "<title>my relu</title>" in page.path.read_text()

    @pytest.mark.parametrize("shape", [(4,), ()])
    def test_the_backward_pass_begins_at_weights_on_the_output_or_at_a_scalar(
        self, shape: Any
    ) -> None:
        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.w = nn.Parameter(minigrad.ones(*shape))

            def forward(self) -> Tensor:
                return self.w * 2.0

        page = viz.explore(Model()).path.read_text(encoding="utf-8")
        data = data_of(page)
        [came] = [step["cotangent"]["values"] for step in data["steps"]]
        if shape:
            assert data["start"].startswith("the output, with fixed pseudo-random numbers")
            assert len(set(came)) == 4
            assert f"It begins at {data['start']}." in page
        else:
            assert (data["start"], came) == ("the output", [1])

    def test_a_loss_among_several_outputs(self) -> None:
        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.head = nn.Linear(3, 2)

            def forward(self, x: Tensor) -> dict[str, Tensor]:
                logits = self.head(x)
                return {"logits": logits, "loss": F.cross_entropy(logits, np.array([0, 1]))}

        data = explored(Model(), minigrad.randn(2, 3))
        assert data["start"] == 'output["loss"]'
        outputs = [node["label"] for node in data["nodes"] if node["kind"] == "output"]
        assert outputs == ['output["logits"]', 'output["loss"]']

    def test_a_graph_ends_at_what_was_given(self) -> None:
        x = minigrad.exp(minigrad.randn(5, 3, requires_grad=True))
        nodes = explored(nn.Linear(3, 2), x)["nodes"]
        assert [n["label"] for n in nodes if n["kind"] == "op"] == ["linear"]

    def test_without_a_backward_pass(self) -> None:
        layer, x = nn.Linear(3, 2), minigrad.randn(5, 3)
        data = explored(layer, x, backward=False)
        assert (data["steps"], data["start"]) == ([], "No backward pass was asked for.")
        with no_grad():
            data = explored(layer, x)
        assert data["steps"] == []
        assert "made under no_grad()" in data["start"]

    def test_tensors_graphs_and_traces(self) -> None:
        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
        for _ in range(2):  # the tensor's own graph is still there
            found = explored(loss, x=x)
            assert [step["op"] for step in found["steps"]] == ["sum", "multiply"]
            assert found["nodes"][0]["label"] == "x"
        assert x.grad is None
        loss.backward()
        with viz.trace() as traced:
            (x * x).sum().backward()
        pages = [viz.explore(target) for target in (traced, traced.graph())]
        assert pages[0].path.read_bytes() == pages[1].path.read_bytes()

    def test_what_it_refuses(self) -> None:
        drawn, computed = viz.graph(nn.ReLU(), minigrad.ones(3)), variable(1.0) * 2.0
        for target, inputs, why in (
            (nn.Linear(3, 2), [], r"Linear\.forward: missing"),
            (drawn, [minigrad.ones(3)], "takes no inputs"),
            (computed, [minigrad.ones(3)], "have run already"),
            ("a model", [], "str"),
        ):
            with pytest.raises(TypeError, match=why):
                viz.explore(target, *inputs)

    def test_a_notebook_shows_the_page_in_a_frame(self) -> None:
        page = viz.explore(nn.Linear(3, 2), minigrad.randn(5, 3))
        document = Document(page._repr_html_())
        [(tag, attributes)] = document.elements
        assert (tag, attributes["srcdoc"]) == ("iframe", page.path.read_text(encoding="utf-8"))
        page.path.unlink()
        assert page._repr_html_() is None
        assert repr(page) == f"Page({str(page.path)!r})"


def test_no_field_of_the_template_is_left_over() -> None:
    page = write_page(viz.graph(nn.ReLU(), minigrad.ones(3)), None, "a {style} title", "no start")
    assert "<h1>a {style} title</h1>" in page
    assert not re.search(r"\{(facts|picture|guide|table|script|legend|start)\}", page)


def test_the_page_and_the_picture_have_the_same_colours() -> None:
    style = page_of("perceptron").partition("<style>")[2].partition("</style>")[0]
    used = set(re.findall(r"var\(--([\w-]+)\)", style)) - {"sans", "mono", "shadow"}
    named = {"gradient": "error", "gradient-fill": "error fill"}
    assert len(used) >= 10
    for text, palette in zip(style.split(":root {")[1:3], (LIGHT, DARK), strict=True):
        found = dict(re.findall(r"--([\w-]+): (#\w{6});", text))
        for name in used:
            colour = palette[named.get(name, name.replace("-", " "))]
            assert found[named.get(name, name).replace(" ", "-")] == colour
