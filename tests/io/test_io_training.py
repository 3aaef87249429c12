"""A training that was killed goes on bit for bit; one that does not fit changes nothing."""

import itertools
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim
from minigrad.data import DataLoader, TensorDataset
from minigrad.io import LoadError, load, load_training, save, save_training
from minigrad.io.tree import pack

pytest.importorskip("safetensors")

PROGRAM = Path(__file__).with_name("resumed_training.py")
STEPS = 30  # more than four epochs of seven batches
SUFFIXES = [".npz", ".safetensors"]


# Killed, and gone on


def run(path: Path, every: int, option: str, steps: int = STEPS + 1, delay: float = 0) -> list[str]:
    """Train to the end, or for so many steps until killed; return the lines it has printed."""
    command = [sys.executable, str(PROGRAM), str(path), str(STEPS), str(every), option]
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("step "):
                steps -= 1
                if steps == 0:
                    time.sleep(delay)
                    process.kill()
    assert process.returncode in (0, -signal.SIGKILL)
    return lines


def killed_and_resumed(path: Path, seed: int, option: str) -> str:
    """Kill a training again and again at random moments, until it ends; return its last line."""
    draw = random.Random(seed)
    every, kills, begun = draw.choice([1, 3, 7]), 0, 0
    while True:
        lines = run(path, every, option, draw.randrange(1, 12), draw.uniform(0, 0.01))
        if lines[0].startswith("from "):
            begun, earlier = int(lines[0].removeprefix("from ")), begun
            assert begun >= earlier
            assert begun % every == 0
        if lines[-1].startswith("end "):
            assert kills > 0
            assert begun > 0
            return lines[-1]
        kills += 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What trainings came to that nobody stopped."""
    path = tmp_path_factory.mktemp("whole") / "never.npz"
    ends = {option: run(path, STEPS + 1, option)[-1] for option in ("", "generator")}
    assert all(re.fullmatch(r"end \d+", end) for end in ends.values())
    assert ends[""] != ends["generator"]
    return ends


FEW = [(0, ".npz", ""), (0, ".safetensors", ""), (0, ".npz", "generator")]
MANY = itertools.product(range(1, 11), SUFFIXES, ("", "generator"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    ("seed", "suffix", "option"),
    [*(pytest.param(*row, marks=pytest.mark.slow) for row in FEW),
     *(pytest.param(*row, marks=pytest.mark.long) for row in MANY)],
)  # fmt: skip
def test_a_killed_training_goes_on_bit_for_bit(
    tmp_path: Path, whole: dict[str, str], seed: int, suffix: str, option: str
) -> None:
    assert killed_and_resumed(tmp_path / f"a{suffix}", seed, option) == whole[option]


# All or nothing


class Training:
    """A model, its optimizer, scheduler and loader, in the middle of an epoch."""

    def __init__(
        self, width: int = 3, optimizer: Callable[..., optim.Optimizer] = optim.AdamW,
        scheduler: Callable[..., Any] = optim.lr_scheduler.ExponentialLR, batch: int = 4,
    ) -> None:  # fmt: skip
        self.model = nn.Linear(2, width)
        self.optimizer = optimizer(self.model.parameters(), lr=0.1)
        self.scheduler = scheduler(self.optimizer, gamma=0.5)
        data = minigrad.arange(40.0).reshape(20, 2)
        self.loader = DataLoader(TensorDataset(data), batch, shuffle=True)
        self.batches = iter(self.loader)
        self.step()

    def step(self) -> None:
        (x,) = next(self.batches)
        self.optimizer.zero_grad()
        nn.functional.dropout(self.model(x)).sum().backward()
        self.optimizer.step()
        self.scheduler.step()

    @property
    def parts(self) -> dict[str, Any]:
        names = ("model", "optimizer", "scheduler", "loader")
        return {name: getattr(self, name) for name in names}

    def state(self) -> Any:
        """Everything that may not change, as one text."""
        states = {name: part.state_dict() for name, part in self.parts.items()}
        (options,) = self.optimizer.param_groups
        groups = {name: value for name, value in options.items() if name != "params"}
        return pack([states, groups, minigrad.random.get_state()])[1]


@pytest.fixture(params=[*SUFFIXES, ".pt"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"training{request.param}"


def test_all_of_it_comes_back(path: Path) -> None:
    first = Training()
    save_training(path, **first.parts, step=1, history=[{"loss": 0.5}], best=None)
    drawn = minigrad.rand(3).tolist()
    expected = first.state()
    second = Training()
    values = load_training(path, **second.parts)
    assert values == {"step": 1, "history": [{"loss": 0.5}], "best": None}
    assert minigrad.rand(3).tolist() == drawn
    assert second.state() == expected
    for (one,), (other,) in zip(first.batches, second.loader, strict=True):
        np.testing.assert_array_equal(one, other)


def step_lr(optimizer: optim.Optimizer, gamma: float) -> optim.lr_scheduler.StepLR:
    return optim.lr_scheduler.StepLR(optimizer, 2, gamma)


MISFITS = [
    ({"width": 5}, "(model: load_state_dict|optimizer: AdamW): "),
    ({"optimizer": optim.SGD}, "optimizer: AdamW"),
    ({"optimizer": optim.Adam}, "optimizer: AdamW"),
    ({"scheduler": step_lr}, "scheduler: ExponentialLR"),
    ({"batch": 5}, "loader: DataLoader: .*batch_size=4, this one has 5"),
]


@pytest.mark.parametrize(("options", "said"), MISFITS)
@pytest.mark.parametrize("order", [1, -1])
def test_what_does_not_fit_changes_nothing(path: Path, options: Any, said: str, order: int) -> None:
    save_training(path, **Training().parts)
    training = Training(**options)
    before = training.state()
    parts = dict([*training.parts.items()][::order])
    with pytest.raises(ValueError, match=f"(?s)load_training: {path}.* {said}") as caught:
        load_training(path, **parts)
    assert not isinstance(caught.value, LoadError)
    assert training.state() == before
    training.step()
    assert training.loader.state_dict()["position"] == 2  # the epoch goes on


@pytest.mark.parametrize("wrong", ["model", "optimizer", "scheduler", "loader", "random"])
def test_a_part_that_is_wrong_spoils_all(path: Path, wrong: str) -> None:
    """Whichever comes to nothing, those that were loaded before it are put back."""
    save_training(path, **Training().parts, step=1)
    saved = load(path)
    if wrong == "random":
        saved["random"] = {"bit_generator": "PCG64", "state": {"state": 1}}
    else:
        state = saved["states"][wrong]
        state.pop(next(iter(state)))
    save(saved, path)
    training = Training()
    before = training.state()
    with pytest.raises(ValueError, match=f"nothing was changed: .*{wrong}"):
        load_training(path, **training.parts)
    assert training.state() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_changes_nothing(path: Path, error: Any, monkeypatch: Any) -> None:
    def interrupted(state: Any) -> None:
        real(state)
        monkeypatch.undo()
        raise error

    save_training(path, **Training().parts)
    training = Training()
    before, real = training.state(), training.scheduler.load_state_dict
    monkeypatch.setattr(training.scheduler, "load_state_dict", interrupted)
    with pytest.raises((error, ValueError)):
        load_training(path, **training.parts)
    assert training.state() == before


def test_options_that_came_with_a_state_go_with_it(path: Path) -> None:
    """A saved optimizer brings "initial_lr" along; without it a scheduler begins differently."""
    saved = Training()
    save_training(path, model=saved.model, optimizer=saved.optimizer, last=saved.scheduler)
    model = nn.Linear(2, 3)
    optimizer = optim.AdamW(model.parameters(), lr=0.7)
    wrong = optim.lr_scheduler.ExponentialLR(optim.SGD([minigrad.ones(1)], lr=1.0), gamma=0.5)
    wrong.base_lrs = [1.0, 2.0]
    with pytest.raises(ValueError, match="nothing was changed: last"):
        load_training(path, model=model, optimizer=optimizer, last=wrong)
    assert "initial_lr" not in optimizer.param_groups[0]
    assert optimizer.param_groups[0]["lr"] == 0.7
    assert not optimizer.state


@pytest.mark.parametrize("parts", [{}, {"model": 0, "optimizer": 0}, {"network": 0}])
def test_parts_have_their_names(path: Path, parts: dict[str, Any]) -> None:
    model = nn.Linear(2, 3)
    save_training(path, model=model, step=1)
    given = {"model": model, "network": model, "optimizer": optim.SGD(model.parameters(), lr=1.0)}
    parts = {name: given[name] for name in parts}
    with pytest.raises(ValueError, match=r"Linear.*minigrad.load\(path\)"):
        load_training(path, **parts)
    state = load(path)["states"]["model"]  # as the error says
    model.load_state_dict(state)


EMPTY: dict[str, Any] = {"classes": {}, "states": {}, "values": {}, "random": {}}


NO_TRAINING = [
    {"weight": minigrad.ones(2)},
    {},
    [1],
    EMPTY | {"random": 3},
    EMPTY | {"states": {"model": {}}},
]


@pytest.mark.parametrize("value", NO_TRAINING)
def test_a_file_that_holds_no_training(path: Path, value: Any) -> None:
    save(value, path)
    with pytest.raises(LoadError, match=f"load_training: {path}: .*save_training"):
        load_training(path)
    with pytest.raises(FileNotFoundError):
        load_training(path.with_name("none.npz"))


def test_names_are_free(path: Path) -> None:
    """None is taken by a parameter, or by what the file holds besides."""
    values = {"path": "a", "parts": 2, "states": [1], "random": 4, "classes": (5,), "self": None}
    save_training(path, **values, generator=nn.Linear(1, 1), critic=nn.Linear(2, 2))
    assert load_training(path, generator=nn.Linear(1, 1), critic=nn.Linear(2, 2)) == values


def test_whatever_has_a_state_is_a_part(path: Path) -> None:
    class Counter:
        count = 0

        def state_dict(self) -> int:
            return self.count

        def load_state_dict(self, state: int) -> None:
            self.count = state

    counter, other = Counter(), Counter()
    counter.count = 3
    save_training(path, counter=counter)
    assert load_training(path, counter=other) == {}
    assert other.count == 3
