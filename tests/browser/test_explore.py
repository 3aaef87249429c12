"""The explorer page in a browser, opened from a file: everything that its script does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from minigrad import nn, no_grad, viz
from minigrad.debugging import Profile, Statistics
from minigrad.viz.layout import place, skeleton
from minigrad.viz.record.fold import view
from minigrad.viz.record.steps import with_inner

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

Open = Callable[..., Any]


def perceptron() -> viz.Graph:
    model, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), minigrad.randn(5, 3)
    with viz.trace() as traced:
        model(x).sum().backward()
    return traced.graph(x=x)


def encoder() -> viz.Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, norm_first=True), 3)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    with viz.trace(open=()) as traced:
        model(x).sum().backward()
    return traced.graph(x=x)


def boxes(page: Any) -> dict[str, str]:
    """Where each box is, as the picture has it."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#stage .box[data-id]')]"
        ".map((box) => [box.dataset.id, box.getAttribute('transform')]))"
    )
    return found


def status(page: Any) -> str:
    text: str = page.locator("#status").inner_text()
    return text


def lit(page: Any) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('#stage .lit')].map((one) => one.dataset.id)"
    )
    return found


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
        for graph in (perceptron(), encoder()):
            drawn = [open_page(graph), open_page(graph, java_script_enabled=False)]
            groups = [page.evaluate(read) for page in drawn]
            if graph.groups[0].module == "TransformerEncoder":
                # What is closed leaves some room in the page: boxes are the same, elsewhere.
                groups = [
                    sorted(([kind, box, parts] for kind, box, _, parts in found if "box" in kind),
                           key=json.dumps)
                    for found in groups
                ]  # fmt: skip
            assert groups[0] == groups[1]

    def test_opening_and_closing_is_python_s_layout(self, open_page: Open) -> None:
        graph = encoder()
        diagram, closed = view(graph, None)
        page, bones, now = open_page(graph), skeleton(diagram), set(closed)

        def expect() -> None:
            placed = place(bones, now).boxes
            assert boxes(page) == {box: f"translate({x} {y})" for box, (x, y, *_) in placed.items()}

        expect()
        page.keyboard.press("0")  # all of it is in view
        group = next(group for group in bones.parents if group in boxes(page))
        page.locator(f'.box[data-id="{group}"]').dblclick()
        now.discard(group)
        expect()
        assert page.locator(f'[data-id="{group}"] .handle').get_attribute("aria-expanded") == "true"
        page.locator(f'[data-id="{group}"] .handle').focus()
        page.keyboard.press("Enter")
        now.add(group)
        expect()
        assert page.locator(f'[data-id="{group}"]').get_attribute("aria-expanded") == "false"
        assert page.evaluate("document.activeElement.dataset.id") == group
        page.get_by_role("button", name="Open all").click()
        now.clear()
        expect()
        page.get_by_role("button", name="Close all").click()
        now = {group.id for group in diagram.groups if group.parent or group.op}
        expect()

    def test_zoom_and_pan(self, open_page: Open) -> None:
        page = open_page(perceptron())

        def seen() -> list[float]:
            found: list[float] = page.evaluate(
                "[...document.querySelectorAll('#stage > svg > g')].map((canvas) => {"
                "const { a, e, f } = new DOMMatrix(getComputedStyle(canvas).transform);"
                "return [-e / a, -f / a, canvas.ownerSVGElement.clientWidth / a]; })[0]"
            )
            return found

        first = seen()
        page.keyboard.press("+")
        assert seen()[2] < first[2]
        page.keyboard.press("0")
        page.mouse.move(300, 300)
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(100)
        assert seen()[2] < first[2]
        page.keyboard.press("0")
        before = seen()
        page.mouse.down()
        page.mouse.move(360, 340, steps=4)
        page.mouse.up()
        x, y, width = seen()
        scale = before[2] / page.locator("#stage").bounding_box()["width"]
        assert (x, y) == pytest.approx((before[0] - 60 * scale, before[1] - 40 * scale), abs=0.5)
        assert width == before[2]
        assert "box=" not in page.url  # a drag selects nothing

    def test_hovering_and_tracing(self, open_page: Open) -> None:
        graph = perceptron()
        names = {node.id: node.label for node in graph.nodes}
        page = open_page(graph)
        relu = next(box for box, name in names.items() if name == "relu")

        def bright() -> set[str]:
            ids = page.evaluate(
                "[...document.querySelectorAll('.dimmed .box.near')].map((one) => one.dataset.id)"
            )
            return {names[box] for box in ids}

        page.locator(f'.box[data-id="{relu}"]').hover()
        assert bright() == {"relu", "linear"}
        page.mouse.move(5, 400)
        assert bright() == set()


class TestPlayer:
    def test_to_the_end_by_keyboard(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph)
        assert status(page) == "before the first of 4 steps"
        assert lit(page) == []
        for at, step in enumerate(graph.steps):
            page.keyboard.press("ArrowRight")
            assert status(page) == f"step {at + 1} of 4: {step.op}"
            assert lit(page) == [step.node]
            assert page.locator("#step h2").inner_text() == step.op
        page.keyboard.press("ArrowRight")
        assert status(page) == "step 4 of 4: linear"
        page.keyboard.press("ArrowLeft")
        assert status(page) == "step 3 of 4: relu"
        page.keyboard.press("Home")
        assert status(page) == "before the first of 4 steps"
        assert page.locator("#stage .gradient").count() == 0
        assert page.locator("#stage .badge:not(.value)").all_inner_texts() == []
        page.keyboard.press("End")
        assert status(page) == "step 4 of 4: linear"
        assert page.locator("#stage .gradient").count() == 8  # every edge that is on the way

    def test_every_leaf_shows_its_norm_in_the_end(self, open_page: Open) -> None:
        graph = perceptron()
        page = open_page(graph, "#step=4")
        sent = {part.target: part.sent.norm for step in graph.steps for part in step.parts}
        leaves = {n.label: sent[n.id] for n in graph.nodes if n.kind == "parameter"}
        listed = page.locator(".end li").all_inner_texts()
        assert len(listed) == len(leaves) == 4
        for text in listed:
            name, _, rest = text.partition(" ‖Σ‖ = ")
            norm, _, held = rest.partition(". ")
            assert float(norm) == pytest.approx(leaves[name], rel=1e-2)
            assert held == ".grad holds this sum."

    def test_play_and_pause(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.keyboard.press(" ")
        page.locator("#status", has_text="step 1 of 4").wait_for()
        page.get_by_role("button", name="Pause").click()
        page.wait_for_timeout(1600)
        assert status(page).startswith("step 1")
        page.locator("#slider").fill("3")
        assert status(page).startswith("step 3")

    def test_a_step_tells_everything(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=2")
        text = page.locator("#step").inner_text()
        for part in (
            "It came from step 1", "the rule for weight reads it", "Why a sum?", "Why a transpose?",
            "5 times: once for each n", "ḡᵀ @ x", "un-broadcast: 5×2 → 2", "✓ agrees with",
            "the sum over axis 0", "Not kept: no rule reads", "test_explore.py",
        ):  # fmt: skip
            assert part in text
        namespaces = page.evaluate(
            "[...document.querySelectorAll('#step math, #step math *')].map((e) => e.namespaceURI)"
        )
        assert len(namespaces) > 30
        assert set(namespaces) == {"http://www.w3.org/1998/Math/MathML"}
        page.get_by_role("button", name="step 1").first.click()
        assert status(page).startswith("step 1")

    def test_a_step_quotes_the_program_around_its_line(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=2")
        quoted = page.locator("#step .line pre")
        assert quoted.inner_text().split("\n") == [
            "with viz.trace() as traced:",
            "    model(x).sum().backward()",
            "return traced.graph(x=x)",
        ]
        assert quoted.locator("b").inner_text() == "    model(x).sum().backward()"

    def test_an_entry_that_the_reader_picks_is_worked_out(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=2")
        assert "x is the output of 1.relu, weight is 2.weight" in page.locator("#step").inner_text()
        weight = page.locator("#step article").nth(1)
        worked = weight.locator(".worked")
        assert worked.inner_text().startswith("The entry [")  # the largest
        weight.locator("td").nth(0).click()
        assert "ḡ[0,\u00a00] · x[0,\u00a00]" in worked.locator(".equations").inner_text()
        assert weight.locator(".chosen").count() == 1
        page.keyboard.press("ArrowDown")  # the click has given the table the focus
        assert worked.inner_text().startswith("The entry [1, 0]")
        assert status(page).startswith("step 2")

    def test_so_is_an_entry_of_a_value_and_a_sum_of_shares(self, open_page: Open) -> None:
        x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        with viz.trace() as traced:
            (x * 2.0 + minigrad.exp(x)).sum().backward()
        page = open_page(traced.graph(x=x), "#box=x")
        value, gradient = page.locator("#box figure").all()
        value.locator("td").first.click()
        assert value.locator(".whatif input").count() == 2  # nothing made it: it can be another
        gradient.locator("td").first.click()
        said = gradient.locator(".worked").inner_text()
        assert "(step 3: exp, x) + (step 4: multiply, a)" in said
        assert "≈ 2.72 + 2 ≈ 4.72" in said
        page.goto(page.url.split("#")[0] + "#box=exp")
        made = page.locator("#box figure").first
        made.locator("td").nth(1).click()
        assert "exp(x[0,\u00a01])" in made.locator(".worked").inner_text()

    def test_so_is_an_entry_of_a_large_array(self, open_page: Open) -> None:
        model, x = nn.Linear(12, 10), minigrad.randn(3, 12)
        with viz.trace() as traced:
            model(x).sum().backward()
        page = open_page(traced.graph(x=x), "#step=2")
        weight = page.locator("#step article", has_text="weight").first
        picture = weight.locator(".map")
        picture.click(position={"x": 30, "y": 20})
        assert weight.locator(".worked").inner_text().startswith("The entry [0, 0] is")
        page.keyboard.press("ArrowRight")
        assert weight.locator(".worked").inner_text().startswith("The entry [0, 1] is")

    def test_what_was_saved_is_named_as_in_the_formula(self, open_page: Open) -> None:
        page = open_page(perceptron(), "#step=3")
        text = page.locator("#step").inner_text()
        assert "out, the output, y in the formula, 5×4, 80 B: the rule for x reads it" in text
        assert "What the op's rules read of the forward pass" in text
        formula = page.locator("#step .formula").first.text_content()
        assert formula.replace("\N{FUNCTION APPLICATION}", "") == "x = g⊙[y>0]"

    def test_times_where_they_were_taken(self, open_page: Open) -> None:
        model, x = nn.Linear(3, 2), minigrad.randn(5, 3)
        with viz.trace(timed=True) as traced:
            model(x)
        page = open_page(traced.graph(x=x), "#box=Linear/linear")
        assert re.search(r"forward [\d.]+ µs, 40 B", page.locator("#box").inner_text())
        page = open_page(perceptron(), "#box=Sequential/0/linear")
        assert "forward" not in page.locator("#box .facts").first.inner_text()

    def test_shares_add_up(self, open_page: Open) -> None:
        attention = nn.MultiHeadAttention(8, 2)
        x = minigrad.randn(2, 3, 8, requires_grad=True)
        with viz.trace(open=()) as traced:
            attention(x, x, x).sum().backward()
        graph = traced.graph(x=x)
        page = open_page(graph)
        badge, arrivals = page.locator("#stage .badge text"), []
        for _ in graph.steps:
            page.keyboard.press("ArrowRight")
            arrivals += [text for text in badge.all_text_contents() if text.startswith("Σ")]
        assert list(dict.fromkeys(arrivals))[:2] == ["Σ 1/3", "Σ 2/3"]
        assert arrivals[-1].startswith("Σ ‖ḡ‖ ")
        assert "Σ 3/3" in page.locator("#step").inner_text()

    def test_a_fused_op_is_one_step_that_opens(self, open_page: Open) -> None:
        graph = encoder()
        at = next(i for i, step in enumerate(graph.steps) if step.op == "attention")
        page = open_page(graph, f"#step={at + 1}")
        page.get_by_role("button", name="Open the modules around it").click()
        group = graph.steps[at].node
        assert lit(page) == [group]
        page.locator(f'.box[data-id="{group}"]').dblclick()
        assert lit(page) == [group]
        assert page.locator(".frame.lit").count() == 1
        assert page.locator("#stage .gradient.out").count() >= 3

    def test_what_is_saved_is_told_where_it_is_known(self, open_page: Open) -> None:
        """Not of the parts of a fused op, nor of an op whose graph a backward pass has freed."""
        attention, x = nn.MultiHeadAttention(8, 2), minigrad.randn(2, 3, 8)
        with viz.trace(open=()) as traced:
            attention(x, x, x).sum().backward()
        page = open_page(traced.graph())
        for name in ("softmax", "matmul"):
            page.keyboard.press("/")
            page.keyboard.type(f"{name} op")
            page.keyboard.press("Enter")
            saved = page.locator("#box section", has_text="Saved for the backward pass")
            assert "Nothing was recorded of this op by itself" in saved.inner_text()
            assert "shapes at most" not in saved.inner_text()
            saved.get_by_role("button", name="attention").click()
            assert "the joint rule reads it" in page.locator("#box .saved").inner_text()
        y = minigrad.exp(minigrad.randn(3, requires_grad=True))
        y.sum().backward()
        page = open_page(viz.graph(y), "#box=exp")
        assert "let go of it" in page.locator("#box section").nth(1).inner_text()

    @pytest.mark.parametrize(("value", "sign"), [(0.0, "∞ ×1"), (-1.0, "NaN")])
    def test_what_is_not_finite_is_marked_in_words(
        self, open_page: Open, value: float, sign: str
    ) -> None:
        import numpy as np

        x = minigrad.tensor([value, 1.0], requires_grad=True)
        with viz.trace() as traced, np.errstate(all="ignore"):
            minigrad.sqrt(x).sum().backward()
        page = open_page(traced.graph(x=x), "#step=2")
        assert any(
            "⬣ " in t and sign in t for t in page.locator("#stage .badge text").all_text_contents()
        )
        assert f"⬣ {sign}" in page.locator("#step").inner_text()

    def test_a_gradient_of_zero(self, open_page: Open) -> None:
        x = minigrad.tensor([-1.0, -2.0], requires_grad=True)
        with viz.trace() as traced:
            nn.functional.relu(x).sum().backward()
        page = open_page(traced.graph(x=x), "#step=2")
        assert "○ zero everywhere" in page.locator("#step").inner_text()
        assert "○ ‖ḡ‖ 0" in page.locator("#stage .badge text").all_text_contents()
        assert page.locator("#stage .gradient.zero").count() == 1


class TestMissing:
    def test_why_is_there_no_gradient(self, open_page: Open) -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        model[0].weight.requires_grad_(False)
        x = minigrad.ones(5, 3, requires_grad=True)
        with viz.trace() as traced:
            with no_grad():
                scale = minigrad.exp(x)
            (model(x) * scale[:, :2]).sum().backward()
        page = open_page(traced.graph(x=x))
        for name, reason in (("0.weight", "frozen"), ("exp", "no_grad()")):
            page.keyboard.press("/")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            assert "Why is there no gradient here?" in page.locator("#box").inner_text()
            assert reason in page.locator("#box .missing").inner_text()


class TestAddress:
    def test_it_restores_what_was(self, open_page: Open) -> None:
        graph = encoder()
        page = open_page(graph)
        page.get_by_role("button", name="Open all").click()
        page.keyboard.press("End")
        page.keyboard.press("/")
        page.keyboard.type("softmax")
        page.keyboard.press("Enter")
        address = page.url.partition("#")[2]
        assert f"step={len(graph.steps)}" in address
        assert "open=TransformerEncoder/" in (address.replace("%2F", "/"))
        again = open_page(graph, f"#{address}")
        assert boxes(again) == boxes(page)
        assert status(again) == status(page)
        assert again.locator("#box h2").inner_text() == "softmax"
        assert again.url.partition("#")[2] == address

    @pytest.mark.parametrize(
        "address", ["#step=99", "#step=-99&open=%", "#box=nobody&open=,,x", "#"]
    )
    def test_nonsense_does_no_harm(self, open_page: Open, address: str) -> None:
        page = open_page(perceptron(), address)
        assert status(page) in {
            "before the first of 4 steps",
            "step 4 of 4: linear",
            "forward 0 of 4",
        }

    def test_it_can_be_changed_by_hand(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.evaluate("location.hash = '#step=2'")
        page.locator("#status", has_text="step 2 of 4").wait_for()


class TestSearch:
    def test_by_name_shape_and_module(self, open_page: Open) -> None:
        graph = encoder()
        page = open_page(graph)
        page.keyboard.press("/")
        page.keyboard.type("layers.1.l weight 8x16")
        options = page.locator("#found [role=option]")
        assert [t.split(" ")[0] for t in options.all_inner_texts()] == ["layers.1.linear2.weight"]
        page.keyboard.press("Enter")
        assert page.locator("#box h2").inner_text() == "layers.1.linear2.weight"
        found = page.evaluate("document.activeElement.dataset.id")
        assert found in boxes(page)
        assert page.locator("#found").is_hidden()

    def test_choosing_and_leaving(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.keyboard.press("/")
        page.keyboard.type("linear")
        assert page.locator("#found [aria-selected=true]").count() == 1
        first = page.locator("#query").get_attribute("aria-activedescendant")
        page.keyboard.press("ArrowDown")
        assert page.locator("#query").get_attribute("aria-activedescendant") != first
        page.keyboard.press("Escape")
        assert page.locator("#found").is_hidden()
        assert page.locator("#query").input_value() == ""
        page.keyboard.press("/")
        page.keyboard.type("nobody")
        assert "nothing found" in page.locator("#found").inner_text()


class TestAccess:
    def test_every_box_and_button_has_a_role_and_a_name(self, open_page: Open) -> None:
        page = open_page(encoder(), "#step=1")
        for role in ("button", "tab", "slider", "combobox", "option"):
            for one in page.get_by_role(role).all():
                name = one.get_attribute("aria-label") or one.inner_text()
                assert name.strip(), (role, one.evaluate("(e) => e.outerHTML"))
        for box in page.locator("#stage .box[data-id]").all():
            assert box.get_attribute("role") == "button"
            assert box.get_attribute("tabindex") == "0"
            assert box.get_attribute("aria-label")
        assert page.locator("#status").get_attribute("aria-live") == "polite"
        assert page.locator("html").get_attribute("lang") == "en"

    def test_arrows_go_along_lines(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.keyboard.press("/")
        page.keyboard.type("relu op")
        page.keyboard.press("Enter")
        heading = page.locator("#box h2")
        walked = []
        for key in ("ArrowUp", "ArrowUp", "Shift+ArrowRight", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
            walked.append(heading.inner_text())
        assert walked[0] == "linear"
        assert walked[1] in {"x", "0.weight", "0.bias"}
        assert walked[2] in {"x", "0.weight", "0.bias"} - {walked[1]}
        assert walked[3:] == ["linear", "relu"]
        ring = "getComputedStyle(document.activeElement.querySelector('.shape')).strokeWidth"
        assert page.evaluate(ring) == "3px"

    def test_targets_are_large_enough(self, open_page: Open) -> None:
        page = open_page(perceptron())
        for button in page.locator("button:visible").all():
            area = button.bounding_box()
            assert min(area["width"], area["height"]) >= 24, button.inner_text()

    def test_tabs_by_keyboard(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.get_by_role("tab", name="Guide").focus()
        shown = []
        for _ in range(4):
            page.keyboard.press("ArrowRight")
            shown.append(page.locator("[role=tabpanel]:visible").get_attribute("id"))
        assert shown == ["step", "box", "list", "guide"]
        assert status(page) == "before the first of 4 steps"

    def test_the_list_leads_to_the_boxes(self, open_page: Open) -> None:
        page = open_page(perceptron())
        page.get_by_role("tab", name="List").click()
        page.locator("#list tbody tr", has_text="relu").first.click()
        assert page.locator("#box h2").inner_text() == "relu"

    def test_motion_only_where_it_is_wanted(self, open_page: Open) -> None:
        moves = "getComputedStyle(document.querySelector('.gradient.out .way')).animationName"
        still = open_page(perceptron(), "#step=2")
        assert still.evaluate(moves) == "none"
        moving = open_page(perceptron(), "#step=2", reduced_motion="no-preference")
        assert moving.evaluate(moves) == "flow"

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_light_and_dark(self, open_page: Open, scheme: str) -> None:
        page = open_page(perceptron(), color_scheme=scheme)
        style = "getComputedStyle(document.body)"
        ground, words = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
        light = [sum(map(int, re.findall(r"\d+", colour))) for colour in (ground, words)]
        assert (light[0] > light[1]) == (scheme == "light")

    def test_a_narrow_window(self, open_page: Open) -> None:
        page = open_page(encoder(), viewport={"width": 420, "height": 760})
        for part in ("header", "#stage", "#panel", "#player"):
            assert page.locator(part).bounding_box()["width"] == 420
        assert page.locator("#stage").bounding_box()["height"] > 150


def test_without_a_script_the_picture_and_the_table_remain(open_page: Open) -> None:
    graph = perceptron()
    page = open_page(graph, java_script_enabled=False)
    assert page.locator("#stage svg .box").first.is_visible()
    assert page.locator("#list tbody tr").count() == len(graph.nodes)
    assert page.locator("#list tbody tr").first.is_visible()
    for hidden in ("#player", "#search", "#tools", "#tabs"):
        assert not page.locator(hidden).is_visible()


def test_hostile_names_run_nothing(open_page: Open) -> None:
    text = perceptron().to_json()
    evil = "</script><img src=x onerror=alert(1)><script>alert(2)</script>\"'&{data}"
    for name in ("linear", "0.weight", "Sequential", "ReLU"):
        text = text.replace(json.dumps(name), json.dumps(evil + name))
    page = open_page(viz.Graph.from_json(text).to_html(title=evil), "#step=2")
    assert page.title() == evil
    page.keyboard.press("/")
    page.keyboard.type("onerror op linear")
    page.keyboard.press("Enter")
    assert evil in page.locator("#box h2").inner_text()
    for tab in ("Step", "Box", "List", "Guide"):
        page.get_by_role("tab", name=tab).click()
    assert page.locator("img").count() == 0


def test_within_a_notebook(open_page: Open) -> None:
    """In a frame without an address, several on a page."""
    page = viz.explore(nn.Linear(3, 2), minigrad.randn(5, 3))
    frames = page._repr_html_() * 2
    shown = open_page(f"<!DOCTYPE html><title>notebook</title>{frames}")
    for index in range(2):
        frame = shown.frame_locator("iframe").nth(index)
        frame.get_by_role("button", name="Take the first step").click()
        assert frame.locator("#status").inner_text() == "step 1 of 1: linear"


def test_attention_weights(open_page: Open) -> None:
    attention = nn.MultiHeadAttention(8, 2)
    for length in (4, 20):
        x = minigrad.randn(1, length, 8)
        with viz.trace() as traced:
            attention(x, x, x, is_causal=True).sum().backward()
        graph = traced.graph()
        (map_,) = graph.heatmaps
        page = open_page(graph)
        page.keyboard.press("/")
        page.keyboard.type("attention fused")
        page.keyboard.press("Enter")
        assert page.locator("#box .heatmap image").count() == 2 * (2 + 1)  # two heads, the scale
        assert page.locator("#box .heatmap path.masked").count() == 4
        texts = page.locator("#box .heatmap").first.locator("g > text").all_text_contents()
        numbers = [text for text in texts if re.fullmatch(r"0|1|[.]\d+", text)]
        weights = map_.values()[~map_.masked()] if length == 4 else map_.values()[:0]
        for text, weight in zip(numbers[: weights.size], weights.ravel(), strict=True):
            assert float(text) == pytest.approx(weight, abs=0.006)

    def test_so_do_both_passes_at_the_softmax_of_attention(_self, open_page: Open) -> None:
        attention = nn.MultiHeadAttention(8, 2)
        x = minigrad.randn(1, 3, 8)
        with viz.trace() as traced:
            attention(x, x, x).sum().backward()
        graph = traced.graph()
        (map_,) = graph.heatmaps
        steps = [step.node for step in with_inner(graph.steps)]
        at = 1 + steps.index(map_.node)
        page = open_page(graph, f"#step={at}")
        assert page.locator("#step h3", has_text="Who attends to whom").count() == 1
        assert page.locator("#step .heatmap").count() == 2  # the weights and their gradient
        page.evaluate("location.hash = '#step=1'")
        assert page.locator("#step .heatmap").count() == 0


def test_charts_fit_a_phone_and_have_an_area(open_page: Open) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with Profile() as profile, Statistics(model) as statistics:
        model(minigrad.randn(5, 3)).sum().backward()
        statistics.step(0.00012345)
    for record, charts in ((profile, 2), (statistics, 7)):
        text = viz.charts(record).path.read_text(encoding="utf-8")
        page = open_page(text, viewport={"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("figure svg").count() == charts
        for path in page.locator("path.band, path.ridge").all():
            left, right = path.evaluate(  # from its corners: browsers only estimate the box
                "e => { const b = e.ownerSVGElement.getBoundingClientRect(),"
                "x = e.getAttribute('d').match(/(?<=[ML])[^ ]+/g).map(Number);"
                "return [Math.min(...x), Math.max(...x)].map(a => b.x + a * b.width / 100) }"
            )
            assert right - left > 100
            assert left >= 0
            assert right <= 390
        for chart in page.locator(".minigrad-curves").all():
            assert chart.evaluate(  # no text is small, and none is cut off
                "e => { const b = e.getBoundingClientRect(); return b.right <= 390 &&"
                "[...e.querySelectorAll('text')].every(t => { const c = t.getBoundingClientRect();"
                "return parseFloat(getComputedStyle(t).fontSize) >= 12 && c.left >= b.left &&"
                "c.right <= b.right && c.top >= b.top && c.bottom <= b.bottom }) }"
            )
