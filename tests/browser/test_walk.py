"""The walk through a page: every question is answered in two clicks."""

import re
from functools import cache
from typing import Any

import pytest

import minigrad
from browser.graphs import explored
from browser.waiting import PHONE, Open, expect, press, until
from minigrad import nn, viz

pytestmark = [pytest.mark.needs("playwright", "chromium"), pytest.mark.slow]

# Of each question, in the order of the walk: words of the answer, the tab, its heading, and words
# of the page's own panel below the text.
ATTENTION = [
    ("`swapaxes` puts heads before tokens", "box", "reshape", "shape = (2, 4, 2, 4)"),
    ("multiplied by `b` = 1/√d", "box", "multiply", "b = 0.5"),
    ("A row is a query, a column is a key", "box", "softmax", "Who attends to whom"),
    ("weighted sum over all heads", "box", "out_proj", "72 parameters"),
    ("The product ḡᵀx is this sum", "step", "linear", "Why a transpose?"),
    ("Section 2 of every step lists it", "step", "matmul", "as one op, it keeps 1.3 KiB"),
    ("the others by 1/(1 − p)", "step", "dropout", "x is the output of attention.softmax"),
    ("the row sum of ḡ ⊙ y", "step", "softmax", "g - spread_total(g * out, axis)"),
    ("True and False cannot change a little", "step", "where", "condition is attn_mask"),
    ("the rule for `a` multiplies ḡ by `b`", "step", "matmul",
     "b is the output of attention.swapaxes"),
    ("the terms of its gradient cancel", "box", "k_proj.bias", "zero up to rounding"),
    ("three layers read it", "box", "query, key, value", "Σ of 3 shares"),
]  # fmt: skip


@cache
def attention() -> str:
    """Attention with a mask, dropout and an input that requires a gradient: all questions."""
    minigrad.random.seed(0)
    x = minigrad.randn(2, 4, 8, requires_grad=True)
    mask = minigrad.ones(4, 4).tril().astype(bool)
    return explored(nn.MultiHeadAttention(8, 2, dropout=0.5), x, x, x, attn_mask=mask)


def to_stop(page: Any, number: int) -> Any:
    """Click on one of the questions, from 1."""
    page.get_by_role("tab", name="Walk").click()
    question = page.locator("#walk li button").nth(number - 1)
    question.click()
    return question


def expect_stop(page: Any, number: int) -> None:
    expect(page.locator("#stop")).to_contain_text(f"Stop {number} of 12")


def test_twelve_questions_in_two_clicks(open_page: Open) -> None:
    text, page, asked = attention(), None, []
    for number, (answer, tab, heading, words) in enumerate(ATTENTION, 1):
        page = open_page(text, page=page)
        question = to_stop(page, number)
        expect(page.locator("#stop")).to_be_visible()
        asked.append(question.text_content())
        expect(page.locator("#stop h2")).to_have_text(asked[-1])
        expect_stop(page, number)
        expect(page.locator("#stop-text")).to_contain_text(answer.replace("`", ""))
        expect(page.locator("[role=tabpanel]:visible")).to_have_id(tab)
        expect(page.locator(f"#{tab} h2").first).to_have_text(re.compile(f"^{re.escape(heading)}"))
        expect(page.locator(f"#{tab}")).to_contain_text(words)
        shown = page.locator("#stage .selected" if tab == "box" else "#stage .lit")
        expect(shown).to_have_count(1)
        expect(shown).to_be_in_viewport()
        inside = page.locator("#stage").bounding_box(), shown.bounding_box()
        assert inside[0]["y"] <= inside[1]["y"] < inside[0]["y"] + inside[0]["height"]
    assert len(set(asked)) == 12


def test_on_and_back(open_page: Open) -> None:
    page = open_page(attention())
    page.get_by_role("button", name="See the 12 stops").click()
    expect(page.locator("[role=tabpanel]:visible")).to_have_id("walk")
    page.locator("#walk li button").first.click()
    expect(page.locator("#stop-text")).to_be_focused()
    forth, back = (page.get_by_role("button", name=name) for name in ("next →", "← previous"))
    expect(back).to_be_disabled()
    for number in range(2, 13):
        forth.click()
        expect_stop(page, number)
    expect(forth).to_be_disabled()
    back.click()
    expect_stop(page, 11)
    page.get_by_role("tab", name="Walk").click()
    expect(page.locator("#walk [aria-current=step]")).to_contain_text("Why is the gradient of")
    for key, number in (("Shift+N", 10), ("n", 11)):
        press(page, key)
        expect_stop(page, number)


def test_the_text_goes_where_the_page_shows_something_else(open_page: Open) -> None:
    page = open_page(attention())
    to_stop(page, 8)
    stop = page.locator("#stop")
    expect(stop).to_be_visible()
    press(page, "ArrowRight")
    expect(stop).to_be_hidden()
    press(page, "ArrowLeft")
    expect(stop).to_be_visible()
    page.get_by_role("tab", name="List").click()
    expect(stop).to_be_hidden()


def test_an_address_leads_to_a_stop(open_page: Open) -> None:
    text = attention()
    page, there = open_page(text), open_page(text, "#walk=99")
    expect(there.locator("#stop")).to_be_hidden()
    for number in (3, 8, 11):
        to_stop(page, number)
        expect_stop(page, number)
        open_page(text, page.evaluate("location.hash"), there)
        expect_stop(there, number)
        expect(there.locator("#stop h2")).to_have_text(page.locator("#stop h2").inner_text())


def test_names_are_those_of_the_address(open_page: Open) -> None:
    layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(1, 3, 8)
    name, attended = "TransformerEncoderLayer", "TransformerEncoderLayer/self_attn"
    names = [
        f"{attended}/attention/matmul~2", f"{attended}/k_proj/self_attn.k_proj.bias",
        f"{attended}/self_attn.q_proj", f"{name}/norm2/layer_norm", name, "src",
    ]  # fmt: skip
    page = open_page(explored(layer, x, walk=[viz.Stop(one, "text", box=one) for one in names]))
    for one in names:
        press(page, "n")
        until(page, "decodeURIComponent(/box=([^&]*)/.exec(location.hash)?.[1])", one)


def test_a_text_is_only_text(open_page: Open) -> None:
    stop = viz.Stop("<b>`<i>`", "<img src=x onerror=alert(1)> `</script>`", step=1)
    shown = open_page(explored(nn.Linear(2, 2), minigrad.ones(1, 2), walk=[stop]))
    press(shown, "n")
    expect(shown.locator("#stop h2")).to_have_text("<b><i>")
    expect(shown.locator("#stop-text p")).to_have_text("<img src=x onerror=alert(1)> </script>")
    expect(shown.locator("#stop-text code")).to_have_text(["<i>", "</script>"])


def test_on_a_small_screen_text_and_numbers_scroll_together(open_page: Open) -> None:
    page = open_page(attention(), viewport=PHONE)
    to_stop(page, 3)
    page.locator("#box h3", has_text="Who attends to whom").scroll_into_view_if_needed()
    press(page, "n")
    top = "document.querySelector('{}').getBoundingClientRect().top".format
    until(page, f"{top('#stop h2')} > {top('#panel')}", True)


def test_without_a_walk_there_is_no_tab(open_page: Open) -> None:
    page = open_page(explored(nn.Linear(2, 2), minigrad.ones(1, 2)))
    press(page, "n")
    expect(page.get_by_role("tab")).to_have_count(4)
    expect(page.locator("#stop")).to_have_count(0)
