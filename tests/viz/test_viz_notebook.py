"""What a notebook shows, and pages of charts; never an error, never a flood."""

import html
import html.parser
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from reading import variable

import minigrad
from minigrad import nn, viz
from minigrad.debugging import Profile, Statistics
from minigrad.debugging.memory import readable
from minigrad.viz.drawing import curves
from minigrad.viz.page.notebook import MOST_BOXES


def charts(text: str) -> list[str]:
    """The charts of the memory in a page."""
    return re.findall(r'<svg[^>]*aria-label="Memory by.*?</svg>', text, re.DOTALL)


def test_of_many_owners_the_largest_are_drawn() -> None:
    with Profile() as profile:
        kept = [getattr(minigrad.ones(9), name)() for name in ("exp", "sin", "cos", "tan")]
        kept.append(minigrad.ones(90).tanh())
        kept.append(minigrad.ones(80).sqrt())
    assert len(kept) == 6
    page = viz.charts(profile).path.read_text(encoding="utf-8")
    names = re.findall("<title>(.*?)</title>", charts(page)[1])
    assert len(names) == 4
    assert [name.partition("ones(")[2][:2] for name in names[1:]] == ["90", "80", "9)"]


def followed(net: nn.Module, loss: float) -> Statistics:
    with Statistics(net) as statistics:
        net(minigrad.ones(1, 2)).sum().backward()
        statistics.step(loss)
    return statistics


def test_curves_are_shown_while_and_after_a_training() -> None:
    net = nn.Linear(2, 2)
    for statistics, told in ((followed(net, 1.0), "1 steps, loss 1"), (Statistics(net), "0 steps")):
        shown = bundle(statistics)
        assert shown["text/plain"] == f"Statistics({told})"
        for kind in ("text/html", "image/svg+xml"):
            ElementTree.fromstring(f"<p>{shown[kind]}</p>")


def test_long_paths_stay_apart() -> None:
    short = [curves._short(f"layers.layers.{i}.self_attn.k_proj") for i in (1, 12)]
    assert short == ["l.l.1.s.k_proj", "l.l.12.s.k_proj"]
    assert curves._short("encoder.head") == "encoder.head"
    assert len(curves._short("a_very_long_name_of_one_module")) <= curves.LONGEST


def test_hostile_names_and_empty_records() -> None:
    model = nn.ModuleDict({"<b>&": nn.Linear(2, 2)})
    with Statistics(model) as statistics, Profile() as profile:
        model["<b>&"](minigrad.ones(1, 2)).sum().backward()  # called <b>&
        statistics.step()
    for record in (statistics, profile, Profile()):
        page, shown = viz.charts(record).path.read_text("utf-8"), bundle(record)["text/html"]
        for text in (page, shown):
            assert not re.search(r"<b>&|[ \"M]nan\b", text)
        assert "src=" not in page


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


VALUES: dict[str, tuple[Callable[[], Any], bool]] = {
    "constant": (lambda: minigrad.ones(3), False),
    "leaf": (lambda: variable(1.0), False),
    "parameter": (lambda: nn.Parameter(minigrad.ones(3)), False),
    "small": (lambda: chain(MOST_BOXES - 2), True),  # with the input and the output
    "large": (lambda: chain(MOST_BOXES - 1), False),
    "huge": (lambda: chain(30_000), False),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_tensor_shows_its_picture_if_it_is_small(name: str) -> None:
    make, small = VALUES[name]
    shown = bundle(make())
    assert ("text/html" in shown) == small
    assert small or [*shown] == ["text/plain"]


def test_showing_a_value_runs_nothing() -> None:
    x = minigrad.ones(3, requires_grad=True)
    y = x * x
    with viz.trace() as traced:
        bundle(y)
    assert repr(traced) == "Trace(no op yet)"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert "<svg" in bundle(y)["text/html"]  # though its graph was used up


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
    told = html.unescape(shown)
    for by in ("module", "line"):
        assert f"Memory by {by}: {readable(profile.peak)} at the peak" in told
        assert profile.table(by).splitlines()[1].strip() in told
    for line in (profile.owners().splitlines()[1].strip(), str(profile).splitlines()[0]):
        assert line in told
    assert shown in viz.charts(profile).path.read_text(encoding="utf-8")
