"""The values of the forward pass on the explorer page, and on the page of attention maps."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

import minigrad
from browser.graphs import explored, perceptron, recorded
from browser.waiting import PHONE, PIXELS, Open, expect, expect_shown, expect_status, press, until
from minigrad import nn, viz
from minigrad.viz.drawing.colour_scale import diverging
from minigrad.viz.page.html import SHADES

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]


def micrograd() -> viz.Graph:
    """2 · 3 + 2, to differentiate: a is used twice."""
    a, b = (minigrad.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    return recorded(lambda: (a * b + a).backward(), a=a, b=b)


NUMBERS = """[...document.querySelectorAll('#stage .box text.data')]
    .map((text) => text.textContent).filter(Boolean).sort()"""
"""The text in the boxes of numbers, but for those that are not computed yet."""


class TestValue:
    def test_an_array_is_shown_as_a_whole(self, open_page: Open) -> None:
        x = minigrad.randn(5, 3)
        page = open_page(recorded(lambda: x.relu(), x=x), "#box=x")
        rows = page.locator("#box .values tr")
        expect(rows).to_have_count(5)
        cells = [[float(c.replace("−", "-")) for c in r.split()] for r in rows.all_inner_texts()]
        np.testing.assert_allclose(cells, x.numpy(), rtol=6e-3)
        facts = page.locator("#box .numbers .facts").inner_text().replace("−", "-")
        assert facts.startswith("5×3 · norm ")
        assert "deviation" in facts
        assert f"{x.numpy().max():.3g}" in facts

    def test_of_a_large_one_the_beginning_and_the_call_for_more(self, open_page: Open) -> None:
        model = nn.Sequential(nn.Linear(80, 60))
        graph = recorded(lambda: model(minigrad.randn(90, 80)))
        page = open_page(graph, "#box=Sequential/0/linear")
        expect_shown(page, {"#box": ("It begins with", 'values=["0"]'), "#box .values": 0})
        open_page(graph, "#box=Sequential/0/0.weight", page)
        expect_shown(page, {"#box": 'values=["0.weight"]'})
        open_page(viz.graph(model, minigrad.ones(9, 80)), "#box=Sequential/0/linear", page)
        expect_shown(page, {"#box": "viz.trace() record"})

    def test_data_and_grad_of_numbers(self, open_page: Open) -> None:
        page = open_page(micrograd())
        until(page, NUMBERS, ["data 2", "data 3", "data 6", "data 8", "data 8"])
        for key, shares in (("ArrowRight", ["Σ 1/2"]), ("End", 0)):  # of a
            press(page, key)
            expect_shown(page, {"#stage .badge": shares})
        graded = ["data 2 | grad 4", "data 3 | grad 2", "data 6 | grad 1", "data 8"]
        until(page, NUMBERS, [*graded, "data 8 | grad 1"])
        page.locator("#stage .box", has_text="a").first.click()
        expect_shown(
            page, {"#box .scalar": ["data 2 | grad 4"], "#facts": re.compile("^output = 8 · ")}
        )


def pixels(image: Any) -> np.ndarray:
    """The colours of a picture of a matrix, (rows, columns, 3)."""
    rows, columns, data = image.page.evaluate(PIXELS, image.get_attribute("href"))
    return np.array(data).reshape(rows, columns, 4)[..., :3]


Traced = tuple[nn.MultiHeadAttention, viz.Graph]


class TestHeatmap:
    @pytest.fixture
    def traced(self) -> Traced:
        minigrad.random.seed(0)
        model, x = nn.MultiHeadAttention(16, 2), minigrad.randn(2, 5, 16)
        return model, recorded(lambda: (model(x, x, x) ** 2).sum().backward(), x=x)

    def test_value_and_gradient_side_by_side(self, traced: Traced, open_page: Open) -> None:
        """Each on its own scale: the largest element has the last colour."""
        model, graph = traced
        page = open_page(graph, "#box=MultiHeadAttention/k_proj/k_proj.weight")
        figures = page.locator("#box .pair figure")
        expect(figures.locator("figcaption")).to_have_text(["value", "gradient"])
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

    def test_the_element_under_the_mouse(self, traced: Traced, open_page: Open) -> None:
        model, graph = traced
        page = open_page(graph, "#box=MultiHeadAttention/q_proj/q_proj.weight")
        figure = page.locator("#box .pair figure").nth(1)
        expect(figure.locator(".map image")).to_be_visible()
        rows = figure.locator(".map text.end").all_text_contents()
        assert rows[0] == "0"
        assert int(rows[1]) >= 1
        box, place = figure.locator(".map image").bounding_box(), (3, 11)
        x = box["x"] + (place[1] + 0.5) * box["width"] / 16
        page.mouse.move(x, box["y"] + (place[0] + 0.5) * box["height"] / 16)
        expect(figure.locator("output")).to_have_text(re.compile(r"^\[3, 11\] = "))
        said = figure.locator("output").inner_text().replace("−", "-")
        grad = model.q_proj.weight.grad
        assert grad is not None
        assert float(said.split()[-1]) == pytest.approx(float(grad.numpy()[place]), rel=1e-2)

    def test_all_numbers_and_every_matrix(self, traced: Traced, open_page: Open) -> None:
        page = open_page(traced[1], "#box=x")
        figure = page.locator("#box .numbers").first
        expect_shown(figure, {".map": 2, ".map .head": ["[0]", "[1]"], "td": 0})
        figure.get_by_text("all numbers").click()
        expect_shown(figure, {"td": 160})
        open_page(traced[1], "#step=2", page)  # what comes, and what is sent
        expect_shown(page, {"#step .numbers .map": 2 * 2, "#step .values": 0})

    def test_small_ones_are_tinted_numbers(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#box=Sequential/0/0.weight")
        expect_shown(page, {"#box .pair td": 2 * 12, "#box .map": 0})
        read = "all => new Set(all.map(one => getComputedStyle(one).backgroundColor)).size"
        assert page.locator("#box .pair td").evaluate_all(read) > 6

    def test_numbers_are_numbers_not_norms(self, open_page: Open) -> None:
        a = minigrad.tensor(2.0, requires_grad=True)
        page = open_page(recorded(lambda: (-a * 3.0).backward(), a=a), "#step=1")
        expect_status(page, re.compile("^step 1 of"))
        expect(page.locator("#step")).not_to_contain_text("norm")
        press(page, "End")
        expect_shown(page, {"#step .end": "a Σ = −3."})

    def test_text_lies_in_its_box_and_boxes_lie_apart(self, open_page: Open) -> None:
        a, b = (minigrad.tensor(value, requires_grad=True) for value in (-4.12345, 2.0))
        with viz.trace() as traced:
            c = a + b
            (a * b + b**3 + (c + c + 1 - a).relu() * 0.001 + (b - a).relu()).backward()
        page = open_page(traced.graph(a=a, b=b), "#step=99")
        expect_status(page, re.compile("^step [1-9]"))
        boxes = page.locator("#stage .box").all()
        areas = [box.locator(".shape").bounding_box() for box in boxes]
        for box, area in zip(boxes, areas, strict=True):
            for text in box.locator("text").all():
                inner = text.bounding_box()
                assert area["x"] <= inner["x"]
                assert inner["x"] + inner["width"] <= area["x"] + area["width"]
        for one, other in itertools.permutations(areas, 2):
            assert any(one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at]
                       for at, size in (("x", "width"), ("y", "height")))  # fmt: skip


def test_on_a_phone_the_title_has_room(open_page: Open) -> None:
    text = explored(nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8))
    page = open_page(text, viewport=PHONE)
    title = "document.querySelector('h1')"
    until(page, f"{title}.clientWidth >= 300 && {title}.scrollWidth <= {title}.clientWidth", True)


def test_on_a_large_screen_text_can_be_read(open_page: Open) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 6)
    graph = viz.graph(model, minigrad.randn(2, 3, 8))
    page = open_page(graph, viewport={"width": 1920, "height": 1080})
    page.wait_for_function("""() => {
        const one = document.querySelector("#stage .layers, #stage > svg > g");
        return 10 * one.getBoundingClientRect().width / one.getBBox().width >= 11.9;
    }""")


class TestForward:
    def test_op_by_op_and_on_into_the_backward_pass(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph)
        ops = [node for node in graph.nodes if node.kind == "op"]
        press(page, "Home")
        expect_status(page, "forward 0 of 4")
        expect(page.locator("#stage .later[data-id]").nth(len(ops) - 1)).to_be_attached()
        for at, op in enumerate(ops, 1):
            press(page, "ArrowRight")
            expect(page.locator("#stage .computes").first).to_have_attribute("data-id", op.id)
            reads = sum(edge.target == op.id for edge in graph.edges)
            expect_shown(page, {
                "#status": [f"forward {at} of 4: {op.label}"], "#step h2": [op.label],
                f'#stage [data-id="{op.id}"].later': 0, "#step section >> nth=0 >> li": reads,
            })  # fmt: skip
        expect_shown(page, {"#stage .flows": 1})
        done = "forward pass done; the backward pass begins (4 steps)"
        for status in (done, "step 1 of 4: sum"):
            press(page, "ArrowRight")
            expect_status(page, status)
            expect_shown(page, {"#stage .later, #stage .computes, #stage .flows": 0})

    def test_a_number_shows_when_it_is_computed(self, open_page: Open) -> None:
        page = open_page(micrograd(), "#step=-2")
        expect_status(page, "forward 1 of 2: multiply")
        until(page, NUMBERS, ["data 2", "data 3", "data 6"])

    def test_the_ways_there(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.get_by_role("button", name="Watch it").click()
        expect_shown(page, {"#status": ["forward 0 of 4"], "#step": "5 tensors"})
        expect(page).to_have_url(re.compile("#step=-5"))
        expect(page.get_by_role("button", name="To the beginning")).to_be_disabled()
        for key, status in (("End", re.compile("^forward pass done")), ("f", "forward 0 of 4")):
            press(page, key)
            expect_status(page, status)
        page.locator("#slider").fill("-1")
        expect_status(page, "forward 4 of 4: sum")

    def test_without_a_backward_pass(self, open_page: Open) -> None:
        with minigrad.no_grad():
            page = open_page(explored(nn.ReLU(), minigrad.ones(3)))
        expect_status(page, "forward pass done; no backward pass")
        press(page, "ArrowLeft")
        expect_status(page, "forward 1 of 1: relu")

    def test_in_a_closed_module(self, open_page: Open) -> None:
        page = open_page(perceptron().to_html(depth=1), "#step=-4")
        expect_status(page, "forward 1 of 4: linear")
        computing = page.locator("#stage .computes text").first
        expect(computing).to_have_text("0")
        page.get_by_role("button", name="Open the modules").click()
        expect(computing).to_have_text("linear")


def test_where_nan_is_born_is_marked_and_a_button_leads_there(open_page: Open) -> None:
    x = minigrad.tensor([0.0, -1.0, 1.0], requires_grad=True)
    with np.errstate(all="ignore"):
        graph = recorded(lambda: (minigrad.log(x) * 2.0).sum().backward(), x=x)
    page = open_page(graph)
    expect_shown(page, {"#stage .badge.born": ["⬣ NaN"]})
    page.get_by_role("button", name="NaN born in log: go there").click()
    expect_shown(page, {
        "#stage .box.selected text:has-text('log')": 1, "#box": "⬣ NaN ×1, ∞ ×1",
        "#box .values >> nth=0 >> td": ["−∞", "NaN", "0"],
    })  # fmt: skip
    open_page(perceptron(), page=page)  # nothing is marked without one
    expect(page.locator("#stage .box").first).to_be_attached()
    expect_shown(page, {".born": 0})
