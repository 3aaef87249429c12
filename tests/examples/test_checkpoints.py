"""Ctrl-C in an example: a step is completed first, and what is saved is all of it."""

import signal
from pathlib import Path
from typing import Any

import pytest
from _checkpoints import Checkpoint

import minigrad
from minigrad import nn


def test_nothing_is_saved_unasked(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Checkpoint(tmp_path / "a.npz", {}, model=nn.Linear(1, 1)) as checkpoint:
        checkpoint.reached()
    assert signal.getsignal(signal.SIGINT) is before
    assert not [*tmp_path.iterdir()]


def test_a_step_is_completed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    model, done = nn.Linear(1, 1), {"steps": 0, "losses": [0.5]}
    path = tmp_path / "a.npz"
    with (  # noqa: PT012  # what ends the block is the subject
        pytest.raises(KeyboardInterrupt, match=r"a.npz.*--resume"),
        Checkpoint(path, done, model=model) as checkpoint,
    ):
        while True:
            signal.raise_signal(signal.SIGINT)
            done["steps"] = 1
            minigrad.rand(3)
            checkpoint.reached()
    assert signal.getsignal(signal.SIGINT) is before
    drawn = minigrad.rand(3).tolist()

    other: dict[str, Any] = {"steps": 0, "losses": []}
    resumed = Checkpoint(path, other, model=nn.Linear(1, 1))
    resumed.load()
    assert other == {"steps": 1, "losses": [0.5]}
    assert minigrad.rand(3).tolist() == drawn


def test_the_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    steps = 0
    with pytest.raises(KeyboardInterrupt), Checkpoint(tmp_path / "a.npz", {}):  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        steps += 1
        signal.raise_signal(signal.SIGINT)
        steps += 1
    assert steps == 1
    assert not [*tmp_path.iterdir()]
