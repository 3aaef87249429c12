"""The oscillator and the pages of the source documents."""

import re
from pathlib import Path

import document_pages
import numpy as np
import oscillator
import pytest
from example_runs import Call, run

import minigrad
from minigrad import nn, optim


@pytest.mark.slow
def test_captured_and_plain_print_the_same(tmp_path: Path) -> None:
    done = [run(oscillator, tmp_path, "--smoke", *options) for options in ((), ("--plain",))]
    assert [one.code for one in done] == [0, 0], done
    captured, plain = (re.sub(r"in \S+ s", "", one.out) for one in done)
    assert captured == plain
    assert re.search(r"^step 20/20: loss \d+\.\d+$", captured, re.MULTILINE)


def test_the_exact_solution_solves_the_equation() -> None:
    t = np.linspace(0, 4, 4001)
    x = oscillator.exact(t)
    speed = np.gradient(x, t)
    rest = np.gradient(speed, t) + oscillator.DAMPING * speed + oscillator.STIFFNESS * x
    assert x[0] == 1
    assert abs(speed[0]) < 1e-2
    assert abs(rest[5:-5]).max() < 1e-4


def test_it_learns() -> None:
    minigrad.random.seed(0)
    model = oscillator.Motion()
    step = minigrad.capture(oscillator.step_of(model, optim.Adam(model.parameters(), lr=5e-3)))
    losses = [step(minigrad.random.uniform(0.0, 4.0, (64, 1))).item() for _ in range(60)]
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])
    assert step.program is not None


PAGE = Path(document_pages.__file__).parent.parent / "docs" / "source_documents.md"


@pytest.mark.needs("einops")
def test_a_page_for_each_system(call: Call, tmp_path: Path) -> None:
    done = call(document_pages, "--out", "pages")
    assert done.code == 0
    for name, (module, _) in document_pages.SYSTEMS.items():
        page = Path("pages") / f"{name}.html"
        assert str(page) in done.out
        assert type(module()).__name__ in (tmp_path / page).read_text(encoding="utf-8")


@pytest.mark.needs("einops")
def test_the_documentation_leads_to_every_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    classes = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    of_documents = {kind for kind in classes if kind.__module__.startswith("minigrad.nn.source_")}
    assert of_documents <= {type(module()) for module, _ in document_pages.SYSTEMS.values()}
    for name in document_pages.SYSTEMS:
        assert f"`{name}.html`" in text
