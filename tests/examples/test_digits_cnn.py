"""The convolutional reader of digits: what it writes and says, and how well it reads."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import digits
import digits_cnn
import numpy as np
import pytest
from example_runs import Call, Refuses, Smoke, accuracy_in, run

import minigrad


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


def test_one_seed_gives_one_result(tmp_path: Path) -> None:
    learned, held_out = digits.load()
    few = digits.Digits(learned.images[:128], learned.labels[:128])
    histories = []
    for seed in (1, 1, 2):
        minigrad.random.seed(seed)
        histories.append(
            digits.train(digits_cnn.DigitCNN(8), few, held_out, 2, tmp_path / "kept.npz")
        )
    first, same, other = histories
    assert first == same != other


def test_a_bad_value_gets_one_line(refuses: Refuses) -> None:
    mistakes = [
        (["--epochs", "0"], "--epochs"),
        (["--seed", "-1"], "--seed"),
        (["--smoke", "--epochs", "3"], "--smoke"),
        (["--out", "a file"], "a file"),
    ]
    for options, said in mistakes:
        refuses(digits_cnn, options, said)


def test_help_says_how_long_it_takes(call: Call) -> None:
    done = call(digits_cnn, "--help")
    assert (done.code, done.error) == (0, "")
    for part in ("--epochs", "--seed", "--out", "--smoke", "seconds"):
        assert part in done.out


@pytest.mark.long
def test_three_seeds_reach_98_percent(tmp_path: Path) -> None:
    accuracies = [accuracy_in(run(digits_cnn, tmp_path, "--seed", str(i)).out) for i in range(3)]
    assert statistics.median(accuracies) >= 98.0, accuracies
