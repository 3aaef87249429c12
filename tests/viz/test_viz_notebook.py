"""What a notebook shows: small pictures, trees of modules; never an error, never a flood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import minigrad
from minigrad import nn, viz
from minigrad.debugging import Profile, Statistics
from minigrad.viz.page.notebook import MOST_BOXES


def bundle(value: Any) -> dict[str, str]:
    """What IPython asks a value for."""
    found: dict[str, str] = value._repr_mimebundle_(include=None, exclude=None)
    assert found["text/plain"] == repr(value)
    return found


def chain(length: int) -> minigrad.Tensor:
    x = minigrad.ones(3, requires_grad=True)
    for _ in range(length):
        x = -x
    return x


@pytest.mark.parametrize(
    "value",
    [
        lambda: minigrad.ones(3),
        lambda: minigrad.ones(3, requires_grad=True),
        lambda: nn.Parameter(minigrad.ones(3)),
        lambda: chain(MOST_BOXES),
        lambda: chain(30_000),
    ],
    ids=["constant", "leaf", "parameter", "large", "huge"],
)
def test_other_tensors_show_their_text(value: Callable[[], minigrad.Tensor]) -> None:
    assert [*bundle(value())] == ["text/plain"]


def test_the_limit_counts_boxes() -> None:
    assert "text/html" in bundle(chain(MOST_BOXES - 2))  # with the input and the output
    assert "text/html" not in bundle(chain(MOST_BOXES - 1))


def test_a_graph_that_was_used_up_still_shows() -> None:
    x = minigrad.ones(3, requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    assert "<svg" in bundle(loss)["text/html"]


def test_showing_a_value_runs_nothing() -> None:
    x = minigrad.ones(3, requires_grad=True)
    y = x * x
    with viz.trace() as traced:
        bundle(y)
        bundle(nn.Linear(2, 3))
    assert repr(traced) == "Trace(no op yet)"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_module_with_hostile_names_is_text() -> None:
    class Evil(nn.Module):
        def extra_repr(self) -> str:
            return "</b><script>alert(1)</script>"

    model = nn.ModuleDict({"<img src=x onerror=alert(1)>": Evil()})
    page = bundle(model)["text/html"]
    assert "<script" not in page
    assert "<img" not in page
    ElementTree.fromstring(page)


def test_a_trace_shows_what_it_saw() -> None:
    x = minigrad.ones(3, requires_grad=True)
    with viz.trace() as traced:
        assert [*bundle(traced)] == ["text/plain"]
        (x * x).sum().backward()
    assert repr(traced) == "Trace(Graph(2 ops, 1 input, 1 output))"
    shown = bundle(traced)
    assert shown["image/svg+xml"] == traced.graph().to_svg()
    assert bundle(traced) == shown  # asked twice


def test_a_trace_of_a_failure_shows_how_far_it_came() -> None:
    x = minigrad.ones(3, requires_grad=True)
    traced = viz.trace()
    with pytest.raises(ValueError, match="add"), traced:
        x * x + minigrad.ones(4)
    assert "error" in bundle(traced)["image/svg+xml"]


def test_a_formula_shows_itself_set() -> None:
    formula = viz.formulas("multiply")["a"]
    shown = formula._repr_html_()
    assert formula.mathml in shown
    assert ".root" in shown  # with what draws a root in any font
    assert "<math" not in repr(formula)


def test_a_profile_shows_what_its_page_shows() -> None:
    with Profile() as profile:
        nn.Linear(3, 2)(minigrad.ones(5, 3)).sum().backward()
    shown = bundle(profile)["text/html"]
    assert str(profile).splitlines()[0] in shown.replace("&quot;", '"').replace("&#x27;", "'")
    assert "Memory by module" in shown
    assert "By line" in shown
    page = viz.charts(profile).path.read_text(encoding="utf-8")
    assert shown.replace("<h1>Profile</h1>", "") in page


def test_statistics_show_their_curves() -> None:
    layer = nn.Linear(3, 2)
    with Statistics(layer) as statistics:
        layer(minigrad.ones(5, 3)).sum().backward()
        statistics.step(0.5)
    shown = bundle(statistics)
    assert shown["text/plain"] == "Statistics(1 steps, loss 0.5)"
    for kind in ("text/html", "image/svg+xml"):
        root = ElementTree.fromstring(f"<p>{shown[kind]}</p>")
        assert "Loss: 0.5" in [text.text for text in root.iter()]


def test_nothing_needs_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    x = minigrad.ones(3, requires_grad=True)
    with viz.trace() as traced:
        y = (x * x).sum()
    for value in (y, traced, nn.Linear(2, 2), viz.graph(y)):
        assert len(bundle(value)) == 2
