"""The explorer page in a browser, opened from a file: everything that its script does."""

import html
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import minigrad
from browser.graphs import layers, perceptron, recorded
from browser.waiting import PHONE, Open, expect, expect_shown, expect_status, press, until
from minigrad import nn, no_grad, viz
from minigrad.debugging import Profile, Statistics
from minigrad.viz.layout import place, skeleton
from minigrad.viz.record.fold import view

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]


@cache
def encoder() -> viz.Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, norm_first=True), 3)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    return recorded(lambda: model(x).sum().backward(), viz.trace(open=()), x=x)


def self_attention(x: Any, trace: Any = None, **options: Any) -> viz.Graph:
    attention = nn.MultiHeadAttention(8, 2)
    trace = trace or viz.trace(open=["attention"])
    return recorded(lambda: attention(x, x, x, **options).sum().backward(), trace)


@pytest.fixture
def page(open_page: Open) -> Any:
    return open_page(perceptron())


BOXES = """Object.fromEntries([...document.querySelectorAll('#stage .box[data-id]')]
    .map((box) => [box.dataset.id, box.getAttribute('transform')]))"""
"""Where each box is, as the picture has it."""

FOCUSED = "document.activeElement.dataset.id"


def expect_lit(page: Any, node: str) -> None:
    """The one box that is lit."""
    expect(page.locator("#stage .lit")).to_have_attribute("data-id", node)


def search(page: Any, words: str) -> None:
    """Select the first of what is found."""
    press(page, "Enter", words=words)


class TestPicture:
    def test_the_script_draws_what_python_drew(self, open_page: Open) -> None:
        """Shapes, texts and lines: nothing jumps when the script takes over.

        Only the gradient of a number is not there before the first step.
        """
        read = """[...document.querySelectorAll('#stage svg .box[data-id], #stage svg .edge, '
                + '#stage svg .frame')].map((group) => [
            group.getAttribute('class'), group.dataset.id ?? null, group.getAttribute('transform'),
            [...group.querySelectorAll('rect:not(.grip), path, polygon, text')].map((part) => [
                part.tagName, part.getAttribute('class'),
                part.textContent.replace(/ [|] grad .*/, ''),
                ...['d', 'x', 'y', 'width', 'height', 'points', 'rx'].map(
                    (name) => part.getAttribute(name)),
            ])]).sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)"""
        pages: list[Any] = [None, None]
        for graph in (perceptron(), encoder()):
            for at, scripted in enumerate((True, False)):
                pages[at] = open_page(graph, page=pages[at], java_script_enabled=scripted)
            groups = [page.evaluate(read) for page in pages]
            if graph.groups[0].module == "TransformerEncoder":
                # What is closed leaves some room in the page: boxes are the same, elsewhere.
                groups = [sorted(json.dumps([kind, box, parts]) for kind, box, _, parts in found
                                 if "box" in kind) for found in groups]  # fmt: skip
            assert groups[0] == groups[1]

    def test_opening_and_closing_is_python_s_layout(self, open_page: Open) -> None:
        graph = encoder()
        diagram, closed = view(graph, None)
        page, bones, closed = open_page(graph), skeleton(diagram), {*closed}

        def expect_places(now: set[str]) -> None:
            boxes = place(bones, now).boxes.items()
            until(page, BOXES, {box: f"translate({x} {y})" for box, (x, y, *_) in boxes})

        expect_places(closed)
        press(page, "0")  # all of it is in view
        group = next(group for group in bones.parents if group in place(bones, closed).boxes)
        page.locator(f'.box[data-id="{group}"]').dblclick()
        expect_places(closed - {group})
        handle = page.locator(f'[data-id="{group}"] .handle')
        expect(handle).to_have_attribute("aria-expanded", "true")
        handle.focus()
        press(page, "Enter")
        expect_places(closed)
        expect(page.locator(f'[data-id="{group}"]')).to_have_attribute("aria-expanded", "false")
        until(page, FOCUSED, group)
        inner = {group.id for group in diagram.groups if group.parent}
        for button, now in (("Open all", set()), ("Close all", inner)):
            page.get_by_role("button", name=button).click()
            expect_places(now)

    def test_zoom_and_pan(self, open_page: Open) -> None:
        seen = """(() => {
            const canvas = document.querySelector('#stage > svg > g');
            const { a, e, f } = new DOMMatrix(getComputedStyle(canvas).transform);
            return [-e / a, -f / a, canvas.ownerSVGElement.clientWidth / a];
        })()"""
        page = open_page(perceptron())
        across, first = page.evaluate(f"[document.getElementById('stage').clientWidth, {seen}]")
        page.mouse.move(300, 300)
        for zoom_in in (lambda: press(page, "+"), lambda: page.mouse.wheel(0, -300)):
            zoom_in()
            page.wait_for_function(f"(first) => {seen}[2] < first[2]", arg=first)
            press(page, "0")
            page.wait_for_function(f"(first) => {seen}[2] >= first[2]", arg=first)
        x, y, width = page.evaluate(seen)
        page.mouse.down()
        page.mouse.move(360, 340, steps=4)
        page.mouse.up()
        scale = width / across
        until(page, seen, pytest.approx([x - 60 * scale, y - 40 * scale, width], abs=0.5))
        until(page, "location.hash.includes('box=')", False)  # a drag selects nothing

    def test_hovering_and_tracing(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph)
        near = sorted(node.id for node in graph.nodes if node.label in ("linear", "relu"))
        bright = """[...document.querySelectorAll('.dimmed .box.near')]
            .map((one) => one.dataset.id).sort()"""
        page.locator('#stage .box[aria-label^="op relu"]').hover()
        until(page, bright, near)
        page.mouse.move(5, 400)
        until(page, bright, [])


class TestPlayer:
    def test_to_the_end_by_keyboard(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph)
        start, end = "forward pass done; the backward pass begins (4 steps)", "step 4 of 4: linear"
        expect_shown(page, {"#status": [start], "#stage .lit": 0})
        for at, step in enumerate(graph.steps, 1):
            press(page, "ArrowRight")
            expect_status(page, f"step {at} of 4: {step.op}")
            expect_lit(page, step.node)
            expect_shown(page, {"#step h2": [step.op]})
            if at == 1:
                expect_shown(
                    page, {"#step": "the gradient of the loss with respect to itself is 1"}
                )
        for key, status in (("Right", end), ("Left", "step 3 of 4: relu")):
            press(page, f"Arrow{key}")
            expect_status(page, status)
        press(page, "Home")
        nothing = {"#stage .gradient": 0, "#stage .badge:not(.value)": 0}
        expect_shown(page, {"#status": [start], **nothing})
        press(page, "End")
        expect_shown(page, {"#status": [end], "#stage .gradient": 8})  # every edge on the way

    def test_every_leaf_shows_its_norm_in_the_end(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph, "#step=4")
        sent = {part.target: part.sent.norm for step in graph.steps for part in step.parts}
        leaves = {n.label: sent[n.id] for n in graph.nodes if n.kind == "parameter"}
        items = page.locator(".end li")
        expect(items).to_have_count(4)
        told = [re.fullmatch(r"(.*) ‖Σ‖ = (.*)\. \.grad holds this sum\.", text)
                for text in items.all_inner_texts()]  # fmt: skip
        assert {one[1]: float(one[2]) for one in told} == pytest.approx(leaves, rel=1e-2)

    def test_play_and_pause(self, page: Any) -> None:
        page.evaluate("""new MutationObserver(([{ target }]) => {
            if (target.textContent.startsWith("step 1 of 4"))
                document.querySelector("[aria-label=Pause]").click();
        }).observe(document.getElementById("status"), { childList: true })""")  # at once
        press(page, " ")
        expect_status(page, re.compile("^step 1 of 4"))
        page.wait_for_timeout(1600)
        expect_status(page, re.compile("^step 1"))
        page.locator("#slider").fill("3")
        expect_status(page, re.compile("^step 3"))

    def test_a_step_tells_everything_and_quotes_the_program(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=2")
        call = "    model(x).sum().backward()"
        expect_shown(page, {"#step": (
            "It came from step 1", "the rule for weight reads it", "Why a sum?",
            "Why a transpose?", "5 times: once for each n", "ḡᵀ @ x", "un-broadcast: 5×2 → 2",
            "✓ agrees with", "the sum over axis 0", "Not kept: no rule reads", "graphs.py",
        ), "#step .line pre b": [call]})  # fmt: skip
        lines = f"with viz.trace() as traced:\n{call}\nreturn traced.graph(x=x)"
        assert page.locator("#step .line pre").inner_text() == lines
        every = "[...document.querySelectorAll('#step math, #step math *')]"
        namespaces = page.evaluate(f"{every}.map((element) => element.namespaceURI)")
        assert len(namespaces) > 30
        assert set(namespaces) == {"http://www.w3.org/1998/Math/MathML"}
        page.get_by_role("button", name="step 1").first.click()
        expect_status(page, re.compile("^step 1"))

    def test_an_entry_that_the_reader_picks_is_worked_out(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=2")
        expect_shown(page, {"#step": "x is the output of 1.relu, weight is 2.weight"})
        weight = page.locator("#step article").nth(1)
        worked = weight.locator(".worked")
        expect(worked).to_have_text(re.compile(r"^The entry \["))  # the largest
        weight.locator("td").nth(0).click()
        expect(worked.locator(".equations")).to_contain_text("ḡ[0,\u00a00] · x[0,\u00a00]")
        expect(weight.locator(".chosen")).to_have_count(1)
        press(page, "ArrowDown")  # the click has given the table the focus
        expect(worked).to_have_text(re.compile(r"^The entry \[1, 0\]"))
        expect_status(page, re.compile("^step 2"))

    def test_so_is_an_entry_of_a_value_and_a_sum_of_shares(self, open_page: Open) -> None:
        x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        graph = recorded(lambda: (x * 2.0 + minigrad.exp(x)).sum().backward(), x=x)
        page = open_page(graph, "#box=x")
        figures = page.locator("#box figure")
        expect(figures).to_have_count(2)
        value, gradient = figures.all()
        value.locator("td").first.click()
        gradient.locator("td").first.click()
        terms = "(step 3: exp, x) + (step 4: multiply, a)", "≈ 2.72 + 2 ≈ 4.72"
        # Nothing made the value.
        expect_shown(value, {".whatif input": 2})
        expect_shown(gradient, {".worked": terms})
        page.evaluate("location.hash = '#box=exp'")
        expect_shown(page, {"#box h2": ["exp"]})
        page.locator("#box figure").first.locator("td").nth(1).click()
        expect_shown(page.locator("#box figure").first, {".worked": "exp(x[0,\u00a01])"})

    def test_so_is_an_entry_of_a_large_array(self, open_page: Open) -> None:
        model, x = nn.Linear(12, 10), minigrad.randn(3, 12)
        page = open_page(recorded(lambda: model(x).sum().backward(), x=x), "#step=2")
        weight = page.locator("#step article", has_text="weight").first
        weight.locator(".map").click(position={"x": 30, "y": 20})
        expect(weight.locator(".worked")).to_have_text(re.compile(r"^The entry \[0, 0\] is"))
        press(page, "ArrowRight")
        expect(weight.locator(".worked")).to_have_text(re.compile(r"^The entry \[0, 1\] is"))

    def test_shares_add_up(self, open_page: Open) -> None:
        x = minigrad.randn(2, 3, 8, requires_grad=True)
        graph = self_attention(x, viz.trace(open=()))
        page, arrivals = open_page(graph), []
        for at in range(1, len(graph.steps) + 1):
            press(page, "ArrowRight")
            expect_status(page, re.compile(f"^step {at} of"))
            badges = page.locator("#stage .badge text").all_text_contents()
            arrivals += [text for text in badges if text.startswith("Σ")]
        assert list(dict.fromkeys(arrivals))[:2] == ["Σ 1/3", "Σ 2/3"]
        assert arrivals[-1].startswith("Σ ‖ḡ‖ ")
        expect_shown(page, {"#step": "Σ 3/3"})

    def test_a_fused_op_is_one_step_and_says_how_to_open_it(self, open_page: Open) -> None:
        graph = encoder()
        at = next(i for i, step in enumerate(graph.steps) if step.op == "layer_norm")
        page = open_page(graph, f"#step={at + 1}")
        page.get_by_role("button", name="Open the modules around it").click()
        expect_lit(page, graph.steps[at].node)
        search(page, "layer_norm op")
        expect_shown(page, {"#box": 'viz.explore(…, open=["layer_norm"])'})


# What the page shows at an address, without a click ---------------------------------------------


def freed() -> viz.Graph:
    """Of an op whose graph a backward pass has let go of."""
    y = minigrad.exp(minigrad.randn(3, requires_grad=True))
    y.sum().backward()
    return viz.graph(y)


def elementwise(function: str, *values: float) -> viz.Graph:
    x = minigrad.tensor(values, requires_grad=True)
    with np.errstate(all="ignore"):
        return recorded(lambda: getattr(minigrad, function)(x).sum().backward(), x=x)


def without_gradients() -> viz.Graph:
    model, x = layers(), minigrad.ones(5, 3, requires_grad=True)
    model[0].weight.requires_grad_(False)
    with viz.trace() as traced:
        with no_grad():
            scale = minigrad.exp(x)
        (model(x) * scale[:, :2]).sum().backward()
    return traced.graph(x=x)


def attended() -> viz.Graph:
    return self_attention(minigrad.randn(1, 3, 8))


WHY = "Why is there no gradient here?"
NOT_FINITE = "#stage .badge text:has-text('⬣ ')"
SHOWN: dict[str, tuple[Callable[[], viz.Graph], str, dict[str, Any]]] = {
    "what was saved, as in the formula": (perceptron, "#step=3", {
        "#step": ("out, the output, y in the formula, 5×4, 80 B: the rule for x reads it",
                  "What the op's rules read of the forward pass"),
        "#step .formula": re.compile("^x = g⊙\\[y\N{FUNCTION APPLICATION}?>0\\]$"),
    }),
    "what was let go of": (freed, "#box=exp", {"#box section:has-text('let go of it')": 1}),
    "an infinity": (lambda: elementwise("sqrt", 0.0, 1.0), "#step=2", {
        "#step": "⬣ ∞ ×1", f"{NOT_FINITE} >> nth=0": "∞ ×1",
    }),
    "a NaN": (lambda: elementwise("sqrt", -1.0, 1.0), "#step=2", {
        "#step": "⬣ NaN", f"{NOT_FINITE} >> nth=0": "NaN",
    }),
    "a gradient of zero": (lambda: elementwise("relu", -1.0, -2.0), "#step=2", {
        "#step": "○ zero everywhere", "#stage .gradient.zero": 1,
        "#stage .badge text:text-is('○ ‖ḡ‖ 0')": 1,
    }),
    "why: frozen": (without_gradients, "#box=Sequential/0/0.weight", {
        "#box .missing": "frozen", "#box": WHY,
    }),
    "why: no_grad": (without_gradients, "#box=exp", {"#box .missing": "no_grad()", "#box": WHY}),
    "both passes at a softmax": (attended, "#step=6", {
        "#step h2": "softmax", "#step h3:has-text('Who attends to whom')": 1, "#step .heatmap": 2,
    }),
    "no weights elsewhere": (attended, "#step=1", {"#step .heatmap": 0}),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown(open_page: Open, name: str) -> None:
    graph, address, shown = SHOWN[name]
    page = open_page(graph(), address)
    expect(page.locator("#panel h2").first).to_be_attached()
    expect_shown(page, shown)


class TestAddress:
    def test_it_restores_what_was(self, open_page: Open) -> None:
        graph = encoder()
        page = open_page(graph)
        page.get_by_role("button", name="Open all").click()
        press(page, "End")
        search(page, "attention")
        expect(page.locator("#box h2")).to_have_text("attention")
        read = f"[location.hash, {BOXES}, document.getElementById('status').textContent]"
        address, shown, status = page.evaluate(read)
        assert f"step={len(graph.steps)}" in address
        assert "open=TransformerEncoder/" in (address.replace("%2F", "/"))
        again = open_page(graph, address)
        until(again, read, [address, shown, status])
        expect(again.locator("#box h2")).to_have_text("attention")

    @pytest.mark.parametrize(
        "address", ["#step=99", "#step=-99&open=%", "#box=nobody&open=,,x", "#"]
    )
    def test_nonsense_does_no_harm(self, open_page: Open, address: str) -> None:
        starts = r"forward pass done; .* \(4 steps\)", "step 4 of 4: linear", "forward 0 of 4"
        page = open_page(perceptron(), address)
        expect_status(page, re.compile(f"^({'|'.join(starts)})$"))


class TestSearch:
    def test_by_name_shape_and_module(self, open_page: Open) -> None:
        page = open_page(encoder())
        press(page, words="layers.1.l weight 8x16")
        expect_shown(page, {"#found [role=option]": [re.compile("^layers.1.linear2.weight ")]})
        press(page, "Enter")
        expect_shown(page, {"#box h2": ["layers.1.linear2.weight"]})
        until(page, f"{FOCUSED} in {BOXES}", True)
        expect(page.locator("#found")).to_be_hidden()

    def test_choosing_and_leaving(self, page: Any) -> None:
        press(page, words="linear")
        expect_shown(page, {"#found [aria-selected=true]": 1})
        query = page.locator("#query")
        first = query.get_attribute("aria-activedescendant")
        press(page, "ArrowDown")
        expect(query).not_to_have_attribute("aria-activedescendant", first)
        press(page, "Escape")
        expect(page.locator("#found")).to_be_hidden()
        expect(query).to_have_value("")
        press(page, words="nobody")
        expect_shown(page, {"#found": "nothing found"})


class TestAccess:
    def test_every_box_is_a_button_with_a_name(self, open_page: Open) -> None:
        """Names of buttons, tabs and fields: test_accessibility.py."""
        page = open_page(encoder(), "#step=1")
        expect_status(page, re.compile("^step 1 of"))
        for box in page.locator("#stage .box[data-id]").all():
            told = [box.get_attribute(name) for name in ("role", "tabindex", "aria-label")]
            assert told == ["button", "0", told[2] or "a name"]
        expect(page.locator("#status")).to_have_attribute("aria-live", "polite")

    def test_arrows_go_along_lines(self, page: Any) -> None:
        search(page, "relu op")
        heading, sources = page.locator("#box h2"), {"x", "0.weight", "0.bias"}
        expect(heading).to_have_text("relu")
        for name in ("linear", re.compile(f"^({'|'.join(sources)})$")):
            press(page, "ArrowUp")
            expect(heading).to_have_text(name)
        others = sources - {heading.inner_text()}
        press(page, "Shift+ArrowRight")
        expect(heading).to_have_text(re.compile(f"^({'|'.join(others)})$"))
        for name in ("linear", "relu"):
            press(page, "ArrowDown")
            expect(heading).to_have_text(name)
        ring = "getComputedStyle(document.activeElement.querySelector('.shape')).strokeWidth"
        until(page, ring, "3px")

    def test_targets_are_large_enough(self, open_page: Open) -> None:
        page = open_page(perceptron())
        for button in page.locator("button:visible").all():
            area = button.bounding_box()
            assert min(area["width"], area["height"]) >= 24, button.inner_text()

    def test_tabs_by_keyboard(self, page: Any) -> None:
        page.get_by_role("tab", name="Guide").focus()
        for name in ("step", "box", "list", "guide"):
            press(page, "ArrowRight")
            expect(page.locator("[role=tabpanel]:visible")).to_have_id(name)
        expect_status(page, "forward pass done; the backward pass begins (4 steps)")

    def test_the_list_leads_to_the_boxes(self, page: Any) -> None:
        page.get_by_role("tab", name="List").click()
        page.locator("#list tbody tr", has_text="relu").first.click()
        expect(page.locator("#box h2")).to_have_text("relu")

    @pytest.mark.parametrize(("wish", "name"), [("reduce", "none"), ("no-preference", "flow")])
    def test_motion_only_where_it_is_wanted(self, open_page: Open, wish: str, name: str) -> None:
        moves = "getComputedStyle(document.querySelector('.gradient.out .way')).animationName"
        until(open_page(perceptron(), "#step=2", reduced_motion=wish), moves, name)


def test_hostile_names_run_nothing(open_page: Open) -> None:
    text = perceptron().to_json()
    evil = "</script><img src=x onerror=alert(1)><script>alert(2)</script>\"'&{data}"
    for name in ("linear", "0.weight", "Sequential", "ReLU"):
        text = text.replace(json.dumps(name), json.dumps(evil + name))
    page = open_page(viz.Graph.from_json(text).to_html(title=evil), "#step=2")
    until(page, "document.title", evil)
    search(page, "onerror op linear")
    expect_shown(page, {"#box h2": evil})
    for tab in ("Step", "Box", "List", "Guide"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator("[role=tabpanel]:visible")).to_have_id(tab.lower())
    expect(page.locator("img")).to_have_count(0)


def test_within_a_notebook(open_page: Open) -> None:
    """In a frame without an address, several on a page."""
    frames = viz.explore(nn.Linear(3, 2), minigrad.randn(5, 3))._repr_html_() * 2
    shown = open_page(f"<!DOCTYPE html><title>notebook</title>{frames}")
    for index in range(2):
        frame = shown.frame_locator("iframe").nth(index)
        frame.get_by_role("button", name="Take the first step").click()
        expect_status(frame, "step 1 of 1: linear")


def test_in_a_frame_that_is_hidden_at_first(open_page: Open) -> None:
    """As in the playground, whose tab of steps may be shown later."""
    page = html.escape(perceptron().to_html())
    frame = f'<iframe hidden width="640" height="480" srcdoc="{page}"></iframe>'
    shown = open_page(f"<!DOCTYPE html><title>playground</title>{frame}")
    inside = shown.frame_locator("iframe")
    expect(inside.locator("html.scripted")).to_be_attached()
    shown.evaluate("document.querySelector('iframe').hidden = false")
    inside.locator('#stage .box[aria-label^="input x"]').click()
    expect(inside.locator("#box h2")).to_have_text("x")


@pytest.mark.parametrize("length", [4, 20])
def test_attention_weights(open_page: Open, length: int) -> None:
    graph = self_attention(minigrad.randn(1, length, 8), is_causal=True)
    (map_,) = graph.heatmaps
    page = open_page(graph)
    search(page, "softmax op")
    images = page.locator("#box .heatmap image")
    expect(images).to_have_count(2 * (2 + 1))  # two heads, the scale
    expect(page.locator("#box .heatmap path.masked")).to_have_count(4)
    texts = page.locator("#box .heatmap").first.locator("text[style]").all_text_contents()
    weights = map_.values()[~map_.masked()] if length == 4 else map_.values()[:0]
    for text, weight in zip(texts, weights.ravel(), strict=True):
        assert float(text) == pytest.approx(weight, abs=0.006)


def test_charts_fit_a_phone_and_have_an_area(open_page: Open) -> None:
    model = layers()
    with Profile() as profile, Statistics(model) as statistics:
        model(minigrad.randn(5, 3)).sum().backward()
        statistics.step(0.00012345)
    for record, charts, curves in ((profile, 0, 2), (statistics, 7, 5)):
        text = viz.charts(record).path.read_text(encoding="utf-8")
        page = open_page(text, viewport=PHONE)
        expect(page.locator("figure svg")).to_have_count(charts)
        expect(page.locator(".minigrad-curves")).to_have_count(curves)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for chart in page.locator(".minigrad-curves").all():
            assert chart.evaluate(  # no text is small, and none is cut off
                "e => { const b = e.getBoundingClientRect(); return b.right <= 390 &&"
                "[...e.querySelectorAll('text')].every(t => { const c = t.getBoundingClientRect();"
                "return parseFloat(getComputedStyle(t).fontSize) >= 12 && c.left >= b.left &&"
                "c.right <= b.right && c.top >= b.top && c.bottom <= b.bottom }) }"
            )
