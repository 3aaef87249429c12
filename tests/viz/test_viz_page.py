"""The explorer page as text: what it holds, how large it is, what may run in it; and its walks."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reading import Document, data_of, explored, variable, watched

import minigrad
from minigrad import Tensor, nn, no_grad, viz
from minigrad.viz.drawing.style import DARK, LIGHT
from minigrad.viz.page.walk import places

HOSTILE = "</script><script>document.title='x'</script><img src=x onerror=alert(1)>\"'{data}&amp;\n"


@cache
def page_of(name: str) -> str:
    """The page of one of the models that the budgets are about."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, norm_first=True)
    models = {
        "attention": nn.MultiHeadAttention(32, 4), "layer": layer, "linear": layer.linear1,
        "encoder": nn.TransformerEncoder(layer, 6).eval(),
    }  # fmt: skip
    inputs = [minigrad.randn(2, 8, 32)] * (3 if name == "attention" else 1)
    return viz.explore(models[name], *inputs).path.read_text(encoding="utf-8")


class TestBudget:
    """The only place that says how large a page may be."""

    @pytest.mark.parametrize(("name", "kilobytes"), [("attention", 252), ("encoder", 600)])
    def test_the_page(self, name: str, kilobytes: int) -> None:
        assert len(page_of(name).encode()) <= kilobytes * 1024

    def test_its_code_and_what_an_op_takes(self) -> None:
        page = page_of("linear")
        styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        code = Document(page).scripts[1] + "".join(styles)
        assert 10_000 < len(code.encode()) <= 128 * 1024
        packed = Document(page_of("encoder")).scripts[0]
        ops = sum(node["kind"] == "op" for node in data_of(page_of("encoder"))["nodes"])
        assert len(packed.encode()) / ops <= 1024


@pytest.mark.parametrize("name", ["attention", "layer"])
def test_a_page_opens_with_a_picture_that_can_be_read(name: str) -> None:
    """The ops of the attention that it opens are there, in a box that is closed."""
    page = page_of(name)
    assert 5 < len(re.findall(r'class="box \w+" data-id', page.partition("</svg>")[0])) <= 20
    [group] = [group for group in data_of(page)["groups"] if group["fused"]]
    assert group["id"] in data_of(page)["closed"]


class TestOffline:
    @pytest.mark.parametrize("name", ["linear", "attention", "encoder"])
    def test_nothing_is_loaded(self, name: str) -> None:
        page = page_of(name)
        addresses = set(re.findall(r"\w+://[^\"'\s<]*", page))
        assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
        words = "@import url( fetch( XMLHttpRequest import( WebSocket eval("
        assert not [word for word in words.split(" ") if word in page]
        for tag, attributes in Document(page).elements:
            assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
            assert not {"src", "href", "action"} & set(attributes)

    def test_the_policy_stands_before_everything(self) -> None:
        elements = Document(page_of("linear")).elements
        first = [tag for tag, _ in elements].index("style")
        policies = [a["content"] for tag, a in elements[:first] if "http-equiv" in a]
        assert policies == [
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            "img-src data:"
        ]


class TestHostileNames:
    def page(self) -> str:
        model = nn.Sequential(nn.Linear(3, 2))
        graph = watched(lambda: model(minigrad.ones(4, 3, requires_grad=True)).sum().backward())
        text = graph.to_json()
        for name in ("0.weight", "linear", "Sequential"):
            text = text.replace(json.dumps(name), json.dumps(HOSTILE + name))
        return viz.Graph.from_json(text).to_html(title=HOSTILE)

    def test_nothing_of_them_is_markup(self) -> None:
        elements = Document(self.page()).elements
        tags = [tag for tag, _ in elements]
        assert (tags.count("script"), tags.count("img")) == (2, 0)
        assert not [name for _, named in elements for name in named if name.startswith("on")]

    def test_they_come_through_whole(self) -> None:
        page = self.page()
        labels = [node["label"] for node in data_of(page)["nodes"]]
        assert {HOSTILE + "linear", HOSTILE + "0.weight"} <= {*labels}
        shown = HOSTILE.replace("\n", "\\n")
        assert any(row[0].startswith(shown) for row in Document(page).rows)
        assert page.count("default-src") == 1  # "{data}" in a name was not filled in


def test_depth_and_file(tmp_path: Path) -> None:
    graph = viz.graph(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), minigrad.ones(5, 3))
    assert data_of(graph.to_html(depth=0))["closed"] == ["g0", "g1", "g2"]
    assert data_of(graph.to_html(depth=2))["closed"] == []
    with pytest.raises(ValueError, match="-1 levels"):
        graph.to_html(depth=-1)
    path = graph.save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == graph.to_html()


class TestExplore:
    def test_where_it_writes(self, tmp_path: Path) -> None:
        relu, x = nn.ReLU(), minigrad.ones(3)
        page = viz.explore(relu, x, path=tmp_path / "my page.html")
        assert str(page) == str(page.path) == str(tmp_path / "my page.html")
        assert Path(page).read_text().startswith("<!DOCTYPE html>")
        assert viz.explore(relu, x).path.name == "ReLU.html"
        assert viz.explore(lambda x: x * 2, x).path.name == "lambda.html"
        page = viz.explore(viz.graph(relu, x), path=tmp_path / "my_relu.html")
        assert "<title>my relu</title>" in page.path.read_text()

    @pytest.mark.parametrize("shape", [(4,), ()])
    def test_the_backward_pass_begins_at_weights_on_the_output_or_at_a_scalar(
        self, shape: Any
    ) -> None:
        page = viz.explore(lambda w: w * 2.0, minigrad.ones(*shape)).path.read_text("utf-8")
        data = data_of(page)
        [came] = [step["cotangent"]["values"] for step in data["steps"]]
        if shape:
            assert data["start"].startswith("the output, with fixed pseudo-random numbers")
            assert len(set(came)) == 4
            assert f"It begins at {data['start']}." in page
        else:
            assert (data["start"], came) == ("the output", [1])

    def test_a_loss_among_several_outputs_comes_first(self) -> None:
        def both(x: Tensor) -> dict[str, Tensor]:
            return {"sum": x.sum(), "loss": (x * x).sum()}

        page = viz.explore(both, minigrad.tensor([1.0, 2.5])).path.read_text()
        assert '<p id="facts">output[&quot;loss&quot;] = 7.25 · 3 ops' in page
        data = data_of(page)
        assert data["start"] == 'output["loss"]'
        outputs = [node["label"] for node in data["nodes"] if node["kind"] == "output"]
        assert outputs == ['output["sum"]', 'output["loss"]']

    def test_a_graph_ends_at_what_was_given(self) -> None:
        x = minigrad.exp(minigrad.randn(5, 3, requires_grad=True))
        nodes = explored(nn.Linear(3, 2), x)["nodes"]
        assert [n["label"] for n in nodes if n["kind"] == "op"] == ["linear"]

    def test_without_a_backward_pass(self) -> None:
        with no_grad():
            data = explored(nn.Linear(3, 2), minigrad.randn(5, 3))
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
            (computed, [minigrad.ones(3)], "are not run on inputs"),
            ("a model", [], "str"),
        ):
            with pytest.raises(TypeError, match=why):
                viz.explore(target, *inputs)
        with pytest.raises(ValueError, match=r"ends in \.html, got 'x\.png'"):
            viz.explore(drawn, path="x.png")
        with pytest.raises(TypeError, match="charts: a Profile .*got int"):
            viz.charts(3)

    def test_a_notebook_shows_the_page_in_a_frame(self) -> None:
        page = viz.explore(nn.Linear(3, 2), minigrad.randn(5, 3))
        document = Document(page._repr_html_())
        [(tag, attributes)] = document.elements
        assert (tag, attributes["srcdoc"]) == ("iframe", page.path.read_text(encoding="utf-8"))
        page.path.unlink()
        assert page._repr_html_() is None
        assert repr(page) == f"Page({str(page.path)!r})"


class Forces(nn.Module):
    """The negative gradient of an energy, with respect to a leaf of its own."""

    def forward(self, x: Tensor) -> Tensor:
        own = x.detach().requires_grad_()
        return -minigrad.autograd.grad(own.tanh().sum(), own, create_graph=True)[0]


def test_a_leaf_that_is_made_within_stands_where_it_is_read() -> None:
    """At the top, above what it is made from, it could not be laid out (2026-11-28)."""
    data = explored(Forces(), minigrad.randn(2, 3))
    nodes = {node["id"]: node for node in data["nodes"]}
    (within,) = [n for n in nodes.values() if n["kind"] == "input" and n["label"] == "input"]
    sources = [nodes[e["source"]]["label"] for e in data["edges"] if e["target"] == within["id"]]
    assert sources == ["detach"]
    assert within["group"] is not None


def test_the_page_and_the_picture_have_the_same_colours() -> None:
    style = page_of("linear").partition("<style>")[2].partition("</style>")[0]
    used = set(re.findall(r"var\(--([\w-]+)\)", style)) - {"sans", "mono", "shadow"}
    named = {"gradient": "error", "gradient-fill": "error fill"}
    assert len(used) >= 10
    for text, palette in zip(style.split(":root {")[1:3], (LIGHT, DARK), strict=True):
        found = dict(re.findall(r"--([\w-]+): (#\w{6});", text))
        for name in used:
            colour = palette[named.get(name, name.replace("-", " "))]
            assert found[named.get(name, name).replace(" ", "-")] == colour


MASK = minigrad.ones(4, 4).tril().astype(bool)


def x(length: int = 4, **options: Any) -> Tensor:
    return minigrad.randn(2, length, 8, **options)


def walk_of(page: viz.Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data_of(page.path.read_text(encoding="utf-8"))["walk"]
    return found


def titles(page: viz.Page) -> list[str]:
    return [stop["title"] for stop in walk_of(page)]


def traced(model: nn.Module, *inputs: Any, **named: Any) -> viz.Graph:
    run = viz.trace(open=["attention"])
    return watched(lambda: (model(*inputs, **named) ** 2).sum().backward(), run)


def place(graph: viz.Graph, **where: Any) -> Any:
    [found] = places(graph, [viz.Stop("title", "text", **where)])
    return found["at"]


class TestNames:
    def test_a_box_by_its_address_or_the_end_of_it(self) -> None:
        graph = traced(nn.MultiHeadAttention(8, 2), *[x()] * 3)
        softmax, one, other, bias = (
            node.id for name in ("softmax", "matmul", "k_proj.bias")
            for node in graph.nodes if node.label == name
        )  # fmt: skip
        [k_proj] = [group.id for group in graph.groups if group.path == "k_proj"]
        for name, box in {
            "softmax": softmax, "attention/softmax": softmax, "softmax~1": softmax,
            "MultiHeadAttention/attention/softmax": softmax, "matmul~1": one, "matmul~2": other,
            "MultiHeadAttention/attention/matmul": one, "k_proj.bias": bias, "k_proj": k_proj,
        }.items():  # fmt: skip
            assert place(graph, box=name) == box, name

    def test_a_step_by_its_number_or_its_op(self) -> None:
        graph = traced(nn.Sequential(nn.Linear(8, 3), nn.ReLU()), x())
        assert place(graph, step=2) == 2
        assert graph.steps[place(graph, step="relu") - 1].op == "relu"
        assert graph.steps[place(graph, step="linear") - 1].op == "linear"

    @pytest.mark.parametrize(
        ("where", "message"),
        [
            ({"box": "k_proj.bais"}, "no box is called 'k_proj.bais'; similar: k_proj.bias"),
            ({"box": "unknown thing"}, "no box is called 'unknown thing'$"),
            ({"box": "matmul"}, r"'matmul' is the name of 2 boxes: .*/matmul~1, .*/matmul~2$"),
            ({"box": "linear"}, r"'linear' is the name of 4 boxes: MultiHeadAttention/q_proj/lin"),
            ({"box": "matmul~3"}, "no box is called 'matmul~3'"),
            ({"step": "k_proj.bias"}, "'k_proj.bias' has no step in the backward pass"),
            ({"step": 99}, "there is no step 99; the backward pass has 17"),
            ({"gradient": "output"}, "'output' gets no gradient here"),
        ],
    )
    def test_an_error_names_the_stop(self, where: dict[str, Any], message: str) -> None:
        walk = [viz.Stop("good", "text", box="softmax"), viz.Stop("Where?", "text", **where)]
        with pytest.raises(ValueError, match=rf"^explore: walk, stop 2, 'Where\?': {message}"):
            viz.explore(nn.MultiHeadAttention(8, 2), *[x()] * 3, walk=walk)

    def test_what_is_not_a_walk(self) -> None:
        with pytest.raises(ValueError, match="graph has the box or the step of none of its stops"):
            viz.explore(nn.Linear(8, 2), x(), walk=viz.walks.TRANSFORMER_ENCODER_LAYER)

    @pytest.mark.parametrize("where", [{}, {"box": "x", "step": 1}])
    def test_a_stop_has_one_place(self, where: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"Stop 'T': give one of box, gradient and step, got"):
            viz.Stop("T", "text", **where)


class TestPrepared:
    def test_what_a_run_lacks_is_left_out(self) -> None:
        data, own = x(), viz.Stop("Mine", "text", box="k_proj")
        walk = [*viz.walks.MULTI_HEAD_ATTENTION, own]  # a prepared walk can be extended
        bare = titles(viz.explore(nn.MultiHeadAttention(8, 2, bias=False), *[data] * 3, walk=walk))
        assert bare == [
            stop.title for stop in walk if stop.title not in (
                "What does dropout do to the gradient?",
                "Why has the mask no gradient?",
                "What does a mask of numbers do to the gradient?",
                "Why is the gradient of `k_proj.bias` zero?",
                "Why is the gradient of `k_proj.bias` not zero?",
            )
        ]  # fmt: skip

    def test_only_exactly_these_classes_have_one(self) -> None:
        class Own(nn.TransformerEncoderLayer):
            pass

        assert titles(viz.explore(nn.TransformerEncoderLayer(8, 2, 16), x()))
        assert not titles(viz.explore(Own(8, 2, 16), x()))
        assert not titles(viz.explore(nn.TransformerEncoderLayer(8, 2, 16), x(), walk=()))

    @pytest.mark.parametrize(
        ("options", "named", "zero"),
        [
            ({}, {}, True),
            ({"num_kv_heads": 1, "dropout": 0.5}, {"attn_mask": MASK}, True),
            ({}, {"key_padding_mask": minigrad.arange(8).reshape(2, 4) > 5}, True),
            ({"rope": nn.RotaryPosEmbedding(2)}, {}, False),
            ({"rope": nn.RotaryPosEmbedding(2)}, {"is_causal": True}, False),
            ({"add_bias_kv": True}, {}, False),
            ({"add_zero_attn": True}, {}, False),
        ],
    )
    def test_the_gradient_of_the_key_s_bias_is_said_to_be_zero_where_it_is(
        self, options: dict[str, Any], named: dict[str, Any], zero: bool
    ) -> None:
        layer, data = nn.MultiHeadAttention(8, 4, **options), x()
        found = titles(viz.explore(layer, *[data] * 3, **named))
        asked = "Why is the gradient of `k_proj.bias` zero?"
        assert (asked in found, asked.replace(" zero", " not zero") in found) == (zero, not zero)
        (layer(data, data, data, **named) * minigrad.randn(2, 4, 8)).sum().backward()
        assert (float(abs(layer.k_proj.bias.grad).max()) < 1e-5) == zero
