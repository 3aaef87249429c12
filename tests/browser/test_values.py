"""The values of the forward pass on the explorer page, and stepping through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, viz
from minigrad.viz.drawing.colour_scale import diverging
from minigrad.viz.page.html import SHADES

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]


def micrograd() -> viz.Graph:
    """2 · 3 + 2, to differentiate: a is used twice."""
    a, b = (minigrad.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    with viz.trace() as traced:
        (a * b + a).backward()
    return traced.graph(a=a, b=b)


def perceptron() -> tuple[viz.Graph, Any]:
    minigrad.random.seed(0)
    model, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)
    with viz.trace() as traced:
        model(x).sum().backward()
    return traced.graph(x=x), x


def numbers(page: Any) -> list[str]:
    """The text in the boxes of numbers, but for those that are not computed yet."""
    found: list[str] = page.locator("#stage .box text.data").all_text_contents()
    return sorted(text for text in found if text)


def status(page: Any) -> str:
    text: str = page.locator("#status").inner_text()
    return text


class TestValue:
    def test_an_array_is_shown_as_a_whole(self, open_page: Any) -> None:
        graph, x = perceptron()
        page = open_page(graph, "#box=x")
        rows = page.locator("#box .values tr").all()
        cells = [[float(c.replace("−", "-")) for c in r.inner_text().split()] for r in rows]
        np.testing.assert_allclose(cells, x.numpy(), rtol=6e-3)
        facts = page.locator("#box .numbers .facts").inner_text().replace("−", "-")
        assert facts.startswith("5×3 · norm ")
        assert "deviation" in facts
        assert f"{x.numpy().max():.3g}" in facts

    def test_of_a_large_one_a_histogram_and_the_call_for_more(self, open_page: Any) -> None:
        model = nn.Sequential(nn.Linear(80, 60))
        with viz.trace() as traced:
            model(minigrad.randn(90, 80))
        page = open_page(traced.graph(), "#box=Sequential/0/linear")
        box = page.locator("#box")
        assert box.locator(".histogram rect").count() == 24
        assert 'values=["0"]' in box.inner_text()
        assert box.locator(".values").count() == 0
        page = open_page(traced.graph(), "#box=Sequential/0/0.weight")
        assert 'values=["0.weight"]' in page.locator("#box").inner_text()

    def test_without_a_trace_it_says_how(self, open_page: Any) -> None:
        graph = viz.graph(nn.Linear(3, 2), minigrad.ones(5, 3))
        page = open_page(graph, "#box=Linear/linear")
        assert "viz.trace() record" in page.locator("#box").inner_text()

    def test_data_and_grad_of_numbers(self, open_page: Any) -> None:
        page = open_page(micrograd())
        assert numbers(page) == ["data 2", "data 3", "data 6", "data 8", "data 8"]
        page.keyboard.press("ArrowRight")
        assert page.locator("#stage .badge").all_text_contents() == ["Σ 1/2"]  # of a
        page.keyboard.press("End")
        assert page.locator("#stage .badge").count() == 0
        assert numbers(page) == [
            "data 2 | grad 4", "data 3 | grad 2", "data 6 | grad 1", "data 8", "data 8 | grad 1"
        ]  # fmt: skip
        page.locator("#stage .box", has_text="a").first.click()
        assert page.locator("#box .scalar").inner_text() == "data 2 | grad 4"
        assert page.locator("#facts").inner_text().startswith("output = 8 · ")


PIXELS = """image => {
    const drawn = document.createElement("canvas").getContext("2d");
    const loaded = new Image();
    loaded.src = image.getAttribute("href");
    return loaded.decode().then(() => {
        drawn.canvas.width = loaded.width;
        drawn.canvas.height = loaded.height;
        drawn.drawImage(loaded, 0, 0);
        const { data } = drawn.getImageData(0, 0, loaded.width, loaded.height);
        return [loaded.height, loaded.width, [...data]];
    });
}"""


def pixels(image: Any) -> np.ndarray:
    """The colours of a picture of a matrix, (rows, columns, 3)."""
    rows, columns, data = image.evaluate(PIXELS)
    return np.array(data).reshape(rows, columns, 4)[..., :3]


class TestHeatmap:
    @pytest.fixture
    def model(self) -> nn.MultiHeadAttention:
        minigrad.random.seed(0)
        return nn.MultiHeadAttention(16, 2)

    def graph(self, model: nn.MultiHeadAttention) -> viz.Graph:
        x = minigrad.randn(2, 5, 16)
        with viz.trace() as traced:
            (model(x, x, x) ** 2).sum().backward()
        return traced.graph(x=x)

    def test_value_and_gradient_side_by_side(
        self, model: nn.MultiHeadAttention, open_page: Any
    ) -> None:
        """Each on its own scale: the largest element has the last colour."""
        address = "#box=MultiHeadAttention/k_proj/k_proj.weight"
        page = open_page(self.graph(model), address)
        figures = page.locator("#box .pair figure")
        assert figures.locator("figcaption").all_inner_texts() == ["value", "gradient"]
        left, right = (figure.bounding_box() for figure in figures.all())
        assert left["x"] + left["width"] <= right["x"]
        assert left["y"] == right["y"]
        weight = model.k_proj.weight
        assert weight.grad is not None
        scale = np.array(diverging(SHADES))
        for figure, tensor in zip(figures.all(), (weight, weight.grad), strict=True):
            array = tensor.numpy()
            places = np.rint((array / abs(array).max() + 1) * (SHADES - 1) / 2).astype(int)
            drawn = pixels(figure.locator(".map image"))
            close = np.abs(drawn - scale[places]).max(-1) <= 12  # a shade: three digits are kept
            assert drawn.shape == (16, 16, 3)
            assert close.all()
            ends = figure.locator(".scale").inner_text().replace("−", "-").split()
            far = float(abs(array).max())
            np.testing.assert_allclose([float(end) for end in ends[:2]], [-far, far], rtol=5e-3)

    def test_the_element_under_the_mouse(
        self, model: nn.MultiHeadAttention, open_page: Any
    ) -> None:
        page = open_page(self.graph(model), "#box=MultiHeadAttention/q_proj/q_proj.weight")
        figure = page.locator("#box .pair figure").nth(1)
        rows = figure.locator(".map text.end").all_text_contents()
        assert rows[0] == "0"
        assert int(rows[1]) >= 1
        box, place = figure.locator(".map image").bounding_box(), (3, 11)
        x = box["x"] + (place[1] + 0.5) * box["width"] / 16
        page.mouse.move(x, box["y"] + (place[0] + 0.5) * box["height"] / 16)
        said = figure.locator("output").inner_text().replace("−", "-")
        grad = model.q_proj.weight.grad
        assert grad is not None
        assert said.startswith("[3, 11] = ")
        assert float(said.split()[-1]) == pytest.approx(float(grad.numpy()[place]), rel=1e-2)

    def test_all_numbers_and_every_matrix(
        self, model: nn.MultiHeadAttention, open_page: Any
    ) -> None:
        page = open_page(self.graph(model), "#box=x")
        figure = page.locator("#box .numbers").first
        assert figure.locator(".map").count() == 2
        assert figure.locator(".map .head").all_text_contents() == ["[0]", "[1]"]
        assert figure.locator("td").count() == 0
        figure.get_by_text("all numbers").click()
        figure.locator("td").nth(159).wait_for()
        assert figure.locator("td").count() == 160

    def test_the_gradient_of_a_step(self, model: nn.MultiHeadAttention, open_page: Any) -> None:
        page = open_page(self.graph(model), "#step=2")
        assert page.locator("#step .numbers .map").count() == 2 * 2  # what comes, and what is sent
        assert page.locator("#step .values").count() == 0

    def test_small_ones_are_tinted_numbers(self, open_page: Any) -> None:
        graph, _ = perceptron()
        page = open_page(graph, "#box=Sequential/0/0.weight")
        cells = page.locator("#box .pair td")
        assert cells.count() == 2 * 12
        assert page.locator("#box .map").count() == 0
        colours = cells.evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
        assert len(set(colours)) > 6

    def test_numbers_are_numbers_not_norms(self, open_page: Any) -> None:
        a = minigrad.tensor(2.0, requires_grad=True)
        with viz.trace() as traced:
            (-a * 3.0).backward()
        page = open_page(traced.graph(a=a), "#step=1")
        assert "norm" not in page.locator("#step").inner_text()
        page.keyboard.press("End")
        assert "a Σ = −3." in page.locator("#step .end").inner_text()

    def test_text_lies_in_its_box_and_boxes_lie_apart(self, open_page: Any) -> None:
        a, b = (minigrad.tensor(value, requires_grad=True) for value in (-4.12345, 2.0))
        with viz.trace() as traced:
            c = a + b
            d = a * b + b**3
            c = c + c + 1 - a
            (d + c.relu() * 0.001 + (b - a).relu()).backward()
        page = open_page(traced.graph(a=a, b=b), "#step=99")
        boxes = page.locator("#stage .box").all()
        areas = [box.locator(".shape").bounding_box() for box in boxes]
        for box, area in zip(boxes, areas, strict=True):
            for text in box.locator("text").all():
                inner = text.bounding_box()
                assert area["x"] <= inner["x"]
                assert inner["x"] + inner["width"] <= area["x"] + area["width"]
        for one in areas:
            for other in areas:
                across = (
                    one["x"] < other["x"] + other["width"] and other["x"] < one["x"] + one["width"]
                )
                down = (
                    one["y"] < other["y"] + other["height"]
                    and other["y"] < one["y"] + one["height"]
                )
                assert one is other or not (across and down)


def test_on_a_phone_the_title_has_room(open_page: Any) -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16)
    page = open_page(
        viz.explore(model, minigrad.randn(2, 3, 8)).path.read_text(),
        viewport={"width": 390, "height": 844},
    )
    title = page.locator("h1")
    assert title.bounding_box()["width"] >= 300
    assert title.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_on_a_large_screen_text_can_be_read(open_page: Any) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 6)
    graph = viz.graph(model, minigrad.randn(2, 3, 8))
    page = open_page(graph, viewport={"width": 1920, "height": 1080})
    scale = page.locator("#stage .layers, #stage > svg > g").first.evaluate(
        "one => one.getBoundingClientRect().width / one.getBBox().width"
    )
    assert 10 * scale >= 11.9


class TestForward:
    def test_op_by_op_and_on_into_the_backward_pass(self, open_page: Any) -> None:
        graph, _ = perceptron()
        page = open_page(graph)
        ops = [node for node in graph.nodes if node.kind == "op"]
        page.keyboard.press("Home")
        assert status(page) == "forward 0 of 4"
        assert page.locator("#stage .later[data-id]").count() >= len(ops)
        for at, op in enumerate(ops, 1):
            page.keyboard.press("ArrowRight")
            assert status(page) == f"forward {at} of 4: {op.label}"
            lit = page.locator("#stage .computes").first.get_attribute("data-id")
            assert lit == op.id
            assert page.locator("#step h2").inner_text() == op.label
            assert page.locator(f'#stage [data-id="{op.id}"].later').count() == 0
            reads = [edge for edge in graph.edges if edge.target == op.id]
            assert page.locator("#step section").first.locator("li").count() == len(reads)
        assert page.locator("#stage .flows").count() == 1
        page.keyboard.press("ArrowRight")
        assert status(page) == "before the first of 4 steps"
        assert page.locator("#stage .later, #stage .computes, #stage .flows").count() == 0
        page.keyboard.press("ArrowRight")
        assert status(page) == "step 1 of 4: sum"

    def test_a_number_shows_when_it_is_computed(self, open_page: Any) -> None:
        page = open_page(micrograd(), "#step=-2")
        assert status(page) == "forward 1 of 2: multiply"
        assert numbers(page) == ["data 2", "data 3", "data 6"]

    def test_the_ways_there(self, open_page: Any) -> None:
        page = open_page(perceptron()[0])
        page.get_by_role("button", name="Watch it").click()
        assert status(page) == "forward 0 of 4"
        assert "#step=-5" in page.url
        assert "5 tensors" in page.locator("#step").inner_text()
        assert page.get_by_role("button", name="To the beginning").is_disabled()
        page.keyboard.press("End")
        assert status(page).startswith("before the first")
        page.keyboard.press("f")
        assert status(page) == "forward 0 of 4"
        page.locator("#slider").fill("-1")
        assert status(page) == "forward 4 of 4: sum"

    def test_without_a_backward_pass(self, open_page: Any) -> None:
        page = open_page(viz.explore(nn.ReLU(), minigrad.ones(3), backward=False).path.read_text())
        assert status(page) == "no backward pass"
        page.keyboard.press("ArrowLeft")
        assert status(page) == "forward 1 of 1: relu"

    def test_in_a_closed_module(self, open_page: Any) -> None:
        page = open_page(perceptron()[0].to_html(depth=1), "#step=-4")
        assert status(page) == "forward 1 of 4: linear"
        assert page.locator("#stage .computes text").first.text_content() == "0"
        page.get_by_role("button", name="Open the modules").click()
        assert page.locator("#stage .computes text").first.text_content() == "linear"


class TestBorn:
    def graph(self) -> viz.Graph:
        x = minigrad.tensor([0.0, -1.0, 1.0], requires_grad=True)
        with viz.trace() as traced, np.errstate(all="ignore"):
            (minigrad.log(x) * 2.0).sum().backward()
        return traced.graph(x=x)

    def test_it_is_marked_and_a_button_leads_there(self, open_page: Any) -> None:
        page = open_page(self.graph())
        mark = page.locator("#stage .badge.born")
        assert [text.strip() for text in mark.all_text_contents()] == ["⬣ NaN"]
        page.get_by_role("button", name="NaN born in log: go there").click()
        assert page.locator("#stage .box.selected").locator("text", has_text="log").count() == 1
        assert "⬣ NaN ×1, ∞ ×1" in page.locator("#box").inner_text()
        assert page.locator("#box .values").first.inner_text().split() == ["−∞", "NaN", "0"]

    def test_nothing_is_marked_without_one(self, open_page: Any) -> None:
        page = open_page(perceptron()[0])
        assert page.locator(".born").count() == 0
