"""The convolutional reader of digits: what it writes and says, and how well it reads."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import digits
import digits_cnn
import numpy as np
import pytest
from example_runs import Smoke, accuracy_in, run


@pytest.fixture
def ran(smoke: Smoke) -> tuple[Path, str]:
    """The folder in which it ran for a few seconds, and what it printed."""
    folder, output = smoke(digits_cnn, "--seed", "3")
    return folder / "out/digits_cnn", output


@pytest.mark.slow
def test_it_ends_with_the_places_of_all_files_and_the_accuracy(ran: tuple[Path, str]) -> None:
    folder, output = ran
    named = re.findall(r"^[\w ]+: +(out\S+)$", output, re.MULTILINE)
    assert {Path(name).name for name in named} == {file.name for file in folder.iterdir()}
    assert {"training.svg", "confusion.svg"} < {file.name for file in folder.iterdir()}
    graph = (folder / "graph.svg").read_text(encoding="utf-8")
    assert "DigitCNN" in graph
    assert "AdaptiveAvgPool2d" in graph
    assert accuracy_in(output) > 60  # after two epochs


@pytest.mark.slow
def test_the_weights_are_those_of_the_accuracy(ran: tuple[Path, str]) -> None:
    """The running statistics of the normalisation among them."""
    folder, output = ran
    model = digits_cnn.DigitCNN()
    with np.load(folder / "weights.npz") as weights:
        assert not any(model.load_state_dict(weights))
    _, held_out = digits.load()
    _, predicted = digits.evaluate(model, held_out)
    accuracy = 100 * (predicted == held_out.labels).mean()
    assert f"{accuracy:.1f}" == f"{accuracy_in(output):.1f}"


@pytest.mark.long
def test_three_seeds_reach_98_percent(tmp_path: Path) -> None:
    accuracies = [accuracy_in(run(digits_cnn, tmp_path, "--seed", str(i)).out) for i in range(3)]
    assert statistics.median(accuracies) >= 98.0, accuracies
