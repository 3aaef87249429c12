"""The demo and the convolutional reader, run as a user runs them: what they write and say."""

import os
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import digits
import digits_cnn
import numpy as np
import pytest
from example_runs import Call, Smoke, accuracy_in, run

import minigrad
from minigrad import Tensor, nn

Ran = tuple[Path, str]
READERS = {"digits": (digits, digits.DigitReader), "digits_cnn": (digits_cnn, digits_cnn.DigitCNN)}


@pytest.fixture
def ran(smoke: Smoke) -> Ran:
    """The folder in which the demo ran for a few seconds, and what it printed."""
    return smoke(digits, "--seed", "3", "--out", "results/digits")


@pytest.fixture(params=READERS)
def either(request: pytest.FixtureRequest, smoke: Smoke) -> tuple[str, Path, str]:
    """The name of one of the readers, the folder of its files, and what it printed."""
    out = Path("results") / request.param
    folder, output = smoke(READERS[request.param][0], "--seed", "3", "--out", str(out))
    return request.param, folder / out, output


def test_a_batch_in_parts_teaches_the_same(tmp_path: Path) -> None:
    learned, held_out = digits.load()
    few = digits.Digits(learned.images[:150], learned.labels[:150])  # the last batch has 22
    weights = []
    for parts in (1, 5, 40):
        minigrad.random.seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        digits.train(model, few, held_out, 2, tmp_path / "kept.npz", parts=parts)
        weights.append(model[1].weight.numpy())
    for other in weights[1:]:
        np.testing.assert_allclose(other, weights[0], atol=1e-5)


BOTH_WRITE = {"training.svg", "confusion.svg", "graph.svg", "weights.npz"}


@pytest.mark.slow
def test_it_ends_with_the_places_of_all_files_and_the_accuracy(either: Any) -> None:
    """What is in the pictures: tests/viz/test_golden.py."""
    name, folder, output = either
    named = re.findall(r"^[\w ]+: +(results[^\s,]+)(?:, .*)?$", output, re.MULTILINE)
    assert {*named} == {f"results/{name}/{file.name}" for file in folder.iterdir()}
    more = {"attention.svg", "explore.html"} if name == "digits" else set()
    assert {Path(file).name for file in named} == BOTH_WRITE | more
    assert output.splitlines()[-1 - len(named) : -1] == re.findall(r".*results.*", output)
    assert accuracy_in(output) > {"digits": 20, "digits_cnn": 60}[name]  # guessing has 10
    for file, part in (
        ("training.svg", f"Accuracy: {accuracy_in(output)}% of the held-out digits"),
        ("graph.svg", READERS[name][1].__name__),
        ("explore.html", "It begins at the output of cross_entropy."),
    ):
        if file in BOTH_WRITE | more:
            assert part in (folder / file).read_text(encoding="utf-8"), file


@pytest.mark.slow
def test_the_check_of_gradients_is_printed_and_passes(ran: Ran) -> None:
    rows = re.findall(r"^ +(-?\d\S+) +(-?\d\S+) +\d\S+$", ran[1], re.MULTILINE)
    analytic, numeric = np.array(rows, float).T
    assert len(analytic) == 5
    error = np.linalg.norm(analytic - numeric) / np.linalg.norm(numeric)
    said = re.search(r"^relative error (\S+), below 1e-06$", ran[1], re.MULTILINE)
    assert said
    assert float(said[1]) == pytest.approx(error, rel=0.5)
    assert error < 1e-6


def test_the_check_of_gradients_sees_a_wrong_one() -> None:
    class Wrong(digits.DigitReader):  # type: ignore[misc, name-defined]
        def forward(self, images: Tensor) -> Tensor:
            scores: Tensor = super().forward(images)
            return scores - 1e-3 * scores.detach()  # whose gradient is lost

    _, held_out = digits.load()
    few = digits.Digits(held_out.images[:8], held_out.labels[:8])
    assert digits.check_gradients(digits.DigitReader(), few, seed=0) < digits.TOLERANCE
    assert digits.check_gradients(Wrong(), few, seed=0) > 1e-4


@pytest.mark.slow
def test_the_weights_are_those_of_the_accuracy(either: Any) -> None:
    """The running statistics of a normalisation among them."""
    name, folder, output = either
    model = READERS[name][1]()
    with np.load(folder / "weights.npz") as weights:
        assert not any(model.load_state_dict(weights))
    _, held_out = digits.load()
    _, predicted = digits.evaluate(model, held_out)
    accuracy = 100 * (predicted == held_out.labels).mean()
    assert f"{accuracy:.1f}" == f"{accuracy_in(output):.1f}"


def test_nothing_held_out_is_learned_from() -> None:
    learned, held_out = digits.load()
    assert (len(learned.images), len(held_out.images)) == (1437, 360)
    seen = {image.tobytes() for image in learned.images}
    assert not [image for image in held_out.images if image.tobytes() in seen]
    assert np.bincount(held_out.labels).min() >= 25


def test_a_seed_gives_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that training begins with; those that it ends with, the test of Ctrl-C sees."""
    begun: list[np.ndarray] = []

    def train(model: nn.Module, *_: object) -> None:
        begun.append(next(model.parameters()).numpy().copy())
        raise KeyboardInterrupt

    monkeypatch.setattr(digits, "train", train)
    for seed in ("3", "3", "4"):
        monkeypatch.setattr(sys, "argv", ["digits.py", "--seed", seed, "--out", str(tmp_path)])
        with pytest.raises(KeyboardInterrupt):
            digits.main()
    first, same, other = begun
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
def test_a_folder_that_may_not_be_written_to_is_said_at_once(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    target = Path("/proc/digits") if os.geteuid() == 0 else folder  # nothing is closed to root
    done = call(digits, "--out", str(target))
    assert (done.code, done.out) == (2, "")
    assert f"cannot write into --out {target}" in done.error


@contextmanager
def listening_to_control_c() -> Iterator[None]:
    """What is started here does not ignore it, as jobs of a shell in the background do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_control_c_saves_it_and_it_goes_on_as_if_nothing_had_been(ran: Ran, tmp_path: Path) -> None:
    """It goes on without tqdm and Graphviz, from another folder."""
    command = [sys.executable, str(digits.__file__), "--smoke", "--seed", "3"]
    with listening_to_control_c():
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    with process:
        assert process.stdout
        assert process.stdout.readline().startswith("epoch 1/2: ")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = "the training is in out/digits/training.npz, --resume goes on"
    assert said.split("\n") == ["", f"digits.py: stopped; {kept}", ""]
    assert [file.name for file in (tmp_path / "out/digits").iterdir()] == ["training.npz"]

    here = tmp_path / "elsewhere"
    here.mkdir()
    (here / "sitecustomize.py").write_text("import sys; sys.modules['tqdm'] = None")
    path = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH", "")]))
    environment = {"PYTHONPATH": path, "PATH": str(here)}  # nor is there a program `dot`
    result = run(digits, here, "--resume", "--out", str(tmp_path / "out/digits"), **environment)
    assert (result.code, result.error) == (0, "")
    assert result.out.startswith("epoch 2/2: loss ")
    graph = str(tmp_path / "out/digits/graph.svg")  # not below where it ran: said in full
    assert graph in result.out
    assert accuracy_in(result.out) == accuracy_in(ran[1])
    resumed = np.load(tmp_path / "out/digits/weights.npz")
    for name, whole in np.load(ran[0] / "results/digits/weights.npz").items():
        np.testing.assert_array_equal(resumed[name], whole)


@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "seeds", "percent"), [(digits, 5, 97.0), (digits_cnn, 3, 98.0)]
)
def test_most_digits_are_read(example: Any, seeds: int, percent: float, tmp_path: Path) -> None:
    accuracies = [accuracy_in(run(example, tmp_path, "--seed", str(i)).out) for i in range(seeds)]
    assert statistics.median(accuracies) >= percent, accuracies
