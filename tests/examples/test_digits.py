"""The demo, run as a user runs it: what it writes, what it says, and what it says of mistakes."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "digits.py"
LAST_LINE = re.compile(r"held-out accuracy: (\d+\.\d) %")

pytestmark = [pytest.mark.slow, pytest.mark.needs("sklearn", "matplotlib")]


def run(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the demo in a folder."""
    return subprocess.run(
        [sys.executable, SCRIPT, *options], cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def accuracy_in(output: str) -> float:
    match = LAST_LINE.fullmatch(output.splitlines()[-1])
    assert match, output
    return float(match[1])


def without(folder: Path, *modules: str) -> dict[str, str]:
    """An environment in which some modules cannot be imported."""
    lines = ["import sys", *(f"sys.modules[{module!r}] = None" for module in modules)]
    (folder / "sitecustomize.py").write_text("\n".join(lines))
    path = [str(folder), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}


def assert_one_line(result: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    assert result.returncode == code, result.stderr
    (line,) = result.stderr.splitlines()
    for part in parts:
        assert part in line
    assert not result.stdout


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the demo ran for a few seconds, and what it printed."""
    folder = tmp_path_factory.mktemp("smoke")
    result = run(folder, "--smoke", "--seed", "3", "--out", "results/digits")
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def test_a_batch_in_parts_teaches_the_same(tmp_path: Path) -> None:
    import digits

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


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("digits", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_ends_with_the_places_of_all_files_and_the_accuracy(smoke: tuple[Path, str]) -> None:
    folder, output = smoke
    named = re.findall(r"^[\w ]+: +(results[^\s,]+)(?:, .*)?$", output, re.MULTILINE)
    written = {str(file.relative_to(folder)) for file in (folder / "results/digits").iterdir()}
    assert set(named) == written
    pictures = {"training.png", "confusion.png", "attention.png", "graph.svg"}
    assert {Path(name).name for name in named} == pictures | {"weights.npz", "explore.html"}
    assert output.splitlines()[-1 - len(named) : -1] == re.findall(r".*results.*", output)
    assert accuracy_in(output) > 20  # two epochs are more than guessing


def test_pictures_are_pictures(smoke: tuple[Path, str]) -> None:
    for name in ("training", "confusion", "attention"):
        picture = (smoke[0] / f"results/digits/{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 10_000


def test_the_graph_shows_the_model(smoke: tuple[Path, str]) -> None:
    picture = ElementTree.parse(smoke[0] / "results/digits/graph.svg")
    texts = {"".join(item.itertext()) for item in picture.iter("{http://www.w3.org/2000/svg}text")}
    for part in ("DigitReader", "class_token", "self_attn", "concatenate", "encoder", "head"):
        assert any(part in text for text in texts)


def test_the_page_walks_from_the_loss_to_every_parameter(smoke: tuple[Path, str]) -> None:
    page = (smoke[0] / "results/digits/explore.html").read_text(encoding="utf-8")
    size = re.search(r"explore\.html, (\d+) kB: the backward pass, step by step$", smoke[1], re.M)
    assert size
    assert abs(int(size[1]) - len(page.encode()) / 1000) < 1
    assert "It begins at the output of cross_entropy." in page
    assert "<title>DigitReader</title>" in page
    for part in ("images", "class_token", "69,130 parameters", "backward steps"):
        assert part in page


def test_the_check_of_gradients_is_printed_and_passes(smoke: tuple[Path, str]) -> None:
    rows = re.findall(r"^ +(-?\d\S+) +(-?\d\S+) +\d\S+$", smoke[1], re.MULTILINE)
    analytic, numeric = np.array(rows, float).T
    assert len(analytic) == 5
    error = np.linalg.norm(analytic - numeric) / np.linalg.norm(numeric)
    said = re.search(r"^relative error (\S+), below 1e-06$", smoke[1], re.MULTILINE)
    assert said
    assert float(said[1]) == pytest.approx(error, rel=0.5)
    assert error < 1e-6


def test_the_check_of_gradients_sees_a_wrong_one(digits: ModuleType) -> None:
    class Wrong(digits.DigitReader):  # type: ignore[misc, name-defined]
        def forward(self, images: Tensor) -> Tensor:
            scores: Tensor = super().forward(images)
            return scores - 1e-3 * scores.detach()  # whose gradient is lost

    _, held_out = digits.load()
    few = digits.Digits(held_out.images[:8], held_out.labels[:8])
    assert digits.check_gradients(digits.DigitReader(), few, seed=0) < digits.TOLERANCE
    assert digits.check_gradients(Wrong(), few, seed=0) > 1e-4


def test_the_weights_are_those_of_the_accuracy(smoke: tuple[Path, str], digits: ModuleType) -> None:
    folder, output = smoke
    model = digits.DigitReader()
    with np.load(folder / "results/digits/weights.npz") as weights:
        model.load_state_dict(weights)
    _, held_out = digits.load()
    _, predicted = digits.evaluate(model, held_out)
    accuracy = 100 * (predicted == held_out.labels).mean()
    assert f"{accuracy:.1f}" == f"{accuracy_in(output):.1f}"


def test_nothing_held_out_is_learned_from(digits: ModuleType) -> None:
    learned, held_out = digits.load()
    assert (len(learned.images), len(held_out.images)) == (1437, 360)
    seen = {image.tobytes() for image in learned.images}
    assert not [image for image in held_out.images if image.tobytes() in seen]
    assert np.bincount(held_out.labels).min() >= 34


def test_a_seed_gives_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digits: ModuleType
) -> None:
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


def test_a_bad_value_gets_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    digits: ModuleType,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a file").write_text("in the way")
    mistakes = [
        (["--epochs", "-1"], "--epochs"),
        (["--epochs", "0"], "--epochs"),
        (["--epochs", "many"], "many"),
        (["--epochs"], "--epochs"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "1.5"], "1.5"),
        (["--smoke", "--epochs", "3"], "--smoke"),
        (["--resume"], "there is no out/digits/training.npz"),
        (["--resume", "--smoke"], "--smoke"),
        (["--fast"], "--fast"),
        (["--smo"], "--smo"),
        (["digits"], "digits"),
        (["--out", "a file"], "a file"),
        (["--out", "a file/below"], "below"),
    ]
    for options, said in mistakes:
        monkeypatch.setattr(sys, "argv", ["digits.py", *options])
        with pytest.raises(SystemExit) as ended:
            digits.main()
        output, error = capsys.readouterr()
        assert ended.value.code == 2, options
        assert not output, options
        assert error.count("\n") == 1, error
        assert error.startswith("digits.py: "), error
        assert said in error, (options, error)
        assert "--help" in error, (options, error)
    assert [file.name for file in tmp_path.iterdir()] == ["a file"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
def test_a_folder_that_may_not_be_written_to_is_found_out_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    target = Path("/proc/digits") if os.geteuid() == 0 else folder  # nothing is closed to root
    assert_one_line(run(tmp_path, "--out", str(target)), 2, str(target), "cannot write")


def test_help_says_how_long_it_takes(tmp_path: Path) -> None:
    result = run(tmp_path, "--help", **without(tmp_path, "sklearn", "matplotlib", "tqdm"))
    assert result.returncode == 0, result.stderr
    for part in ("--epochs", "--seed", "--out", "--smoke", "seconds"):
        assert part in result.stdout


@pytest.mark.parametrize(
    ("module", "package"), [("sklearn", "scikit-learn"), ("matplotlib", "matplotlib")]
)
def test_a_missing_package_gets_one_line(tmp_path: Path, module: str, package: str) -> None:
    result = run(tmp_path, "--smoke", **without(tmp_path, module))
    assert_one_line(result, 1, module, f"pip install {package}")


@contextmanager
def listening_to_control_c() -> Iterator[None]:
    """What is started here does not ignore it, as jobs of a shell in the background do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_control_c_saves_it_and_it_goes_on_as_if_nothing_had_been(
    smoke: tuple[Path, str], tmp_path: Path
) -> None:
    """It goes on without tqdm and Graphviz, from another folder."""
    command = [sys.executable, str(SCRIPT), "--smoke", "--seed", "3"]
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
    environment = without(here, "tqdm") | {"PATH": str(here)}  # nor is there a program `dot`
    result = run(here, "--resume", "--out", str(tmp_path / "out/digits"), **environment)
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr
    assert result.stdout.startswith("epoch 2/2: loss ")
    graph = str(tmp_path / "out/digits/graph.svg")  # not below where it ran: said in full
    assert graph in result.stdout
    assert accuracy_in(result.stdout) == accuracy_in(smoke[1])
    whole, resumed = (
        dict(np.load(folder / "weights.npz"))
        for folder in (smoke[0] / "results/digits", tmp_path / "out/digits")
    )
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


@pytest.mark.long
def test_five_seeds_reach_97_percent_each_within_a_minute(tmp_path: Path) -> None:
    accuracies = []
    for seed in range(5):
        output = run(tmp_path, "--seed", str(seed)).stdout
        seconds = re.search(r"epochs in (\d+\.\d) s", output)
        assert seconds
        assert float(seconds[1]) < 60
        accuracies.append(accuracy_in(output))
    assert statistics.median(accuracies) >= 97.0, accuracies
