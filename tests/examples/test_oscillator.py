"""The oscillator: the network learns the motion, captured and plainly, with the same numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import oscillator as example
import pytest
from example_runs import run

import minigrad
from minigrad import optim


@pytest.mark.slow
def test_captured_and_plain_print_the_same(tmp_path: Path) -> None:
    done = [run(example, tmp_path, "--smoke", *options) for options in ((), ("--plain",))]
    assert [one.code for one in done] == [0, 0], done
    captured, plain = (re.sub(r"in \S+ s", "", one.out) for one in done)
    assert captured == plain
    assert re.search(r"^step 20/20: loss \d+\.\d+$", captured, re.MULTILINE)


def test_the_exact_solution_solves_the_equation() -> None:
    t = np.linspace(0, 4, 4001)
    x = example.exact(t)
    speed = np.gradient(x, t)
    rest = np.gradient(speed, t) + example.DAMPING * speed + example.STIFFNESS * x
    assert x[0] == 1
    assert abs(speed[0]) < 1e-2
    assert abs(rest[5:-5]).max() < 1e-4


def test_it_learns() -> None:
    minigrad.random.seed(0)
    model = example.Motion()
    step = minigrad.capture(example.step_of(model, optim.Adam(model.parameters(), lr=5e-3)))
    losses = [step(minigrad.random.uniform(0.0, 4.0, (64, 1))).item() for _ in range(60)]
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])
    assert step.program is not None
