"""The convolutional reader of digits: what it writes and says, and how well it reads."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minigrad

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "digits_cnn.py"

pytestmark = [pytest.mark.slow, pytest.mark.needs("sklearn", "matplotlib")]


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the example in a folder."""
    return subprocess.run(
        [sys.executable, SCRIPT, *options], cwd=folder, env=os.environ.copy(),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def accuracy_in(output: str) -> float:
    match = re.fullmatch(r"held-out accuracy: (\d+\.\d) %", output.splitlines()[-1])
    assert match, output
    return float(match[1])


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which it ran for a few seconds, and what it printed."""
    folder = tmp_path_factory.mktemp("smoke")
    result = run(folder, "--smoke", "--seed", "3")
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return folder / "out/digits_cnn", result.stdout


def test_it_ends_with_the_places_of_all_files_and_the_accuracy(smoke: tuple[Path, str]) -> None:
    folder, output = smoke
    named = re.findall(r"^[\w ]+: +(out\S+)$", output, re.MULTILINE)
    assert {Path(name).name for name in named} == {file.name for file in folder.iterdir()}
    for name in ("training.png", "confusion.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    graph = (folder / "graph.svg").read_text(encoding="utf-8")
    assert "DigitCNN" in graph
    assert "AdaptiveAvgPool2d" in graph
    assert accuracy_in(output) > 60  # after two epochs


def test_the_weights_are_those_of_the_accuracy(smoke: tuple[Path, str]) -> None:
    """The running statistics of the normalisation among them."""
    import digits
    import digits_cnn

    folder, output = smoke
    model = digits_cnn.DigitCNN()
    with np.load(folder / "weights.npz") as weights:
        assert not any(model.load_state_dict(weights))
    _, held_out = digits.load()
    _, predicted = digits.evaluate(model, held_out)
    accuracy = 100 * (predicted == held_out.labels).mean()
    assert f"{accuracy:.1f}" == f"{accuracy_in(output):.1f}"


def test_one_seed_gives_one_result(tmp_path: Path) -> None:
    import digits
    import digits_cnn

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


def test_a_bad_value_gets_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import digits_cnn

    monkeypatch.chdir(tmp_path)
    Path("a file").write_text("in the way")
    mistakes = [
        (["--epochs", "0"], "--epochs"),
        (["--seed", "-1"], "--seed"),
        (["--smoke", "--epochs", "3"], "--smoke"),
        (["--out", "a file"], "a file"),
    ]
    for options, said in mistakes:
        monkeypatch.setattr(sys, "argv", ["digits_cnn.py", *options])
        with pytest.raises(SystemExit) as ended:
            digits_cnn.main()
        output, error = capsys.readouterr()
        assert ended.value.code == 2, options
        assert not output, options
        assert error.count("\n") == 1, error
        assert error.startswith("digits_cnn.py: "), error
        assert said in error, (options, error)
        assert "--help" in error, (options, error)


def test_help_says_how_long_it_takes(tmp_path: Path) -> None:
    result = run(tmp_path, "--help")
    assert result.returncode == 0, result.stderr
    for part in ("--epochs", "--seed", "--out", "--smoke", "seconds"):
        assert part in result.stdout


@pytest.mark.long
def test_three_seeds_reach_98_percent(tmp_path: Path) -> None:
    accuracies = [accuracy_in(run(tmp_path, "--seed", str(seed)).stdout) for seed in range(3)]
    assert statistics.median(accuracies) >= 98.0, accuracies
