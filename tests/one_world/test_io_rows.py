"""`save` and `load` beside PyTorch's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import minigrad

torch = pytest.importorskip("torch")

NAMES = ["model", "model.bin", "model.ckpt", "model.pt", "model.pth", "model.pth.tar"]


@pytest.mark.parametrize("name", NAMES)
def test_each_reads_what_the_other_wrote(name: str, tmp_path: Path) -> None:
    path, expected = tmp_path / name, {"step": 3, "x": [0.0, 1.0]}
    for writes, reads in ((minigrad, torch), (torch, minigrad)):
        writes.save({"step": 3, "x": writes.tensor([0.0, 1.0])}, path)
        found = reads.load(path, map_location="cpu", weights_only=True)
        assert {**found, "x": found["x"].tolist()} == expected


def test_the_second_argument_is_a_path_or_a_file(tmp_path: Path) -> None:
    for writes, reads in ((minigrad, torch), (torch, minigrad)):
        file = io.BytesIO()
        writes.save(writes.arange(3), file)
        file.seek(0)
        assert reads.load(file, "cpu").tolist() == [0, 1, 2]
        writes.save(obj=writes.arange(3), f=str(tmp_path / "a"))
        assert reads.load(f=str(tmp_path / "a")).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("model.npz", b"PK"),
        pytest.param("model.safetensors", b"", marks=pytest.mark.needs("safetensors")),
    ],
)
def test_two_suffixes_are_other_formats(name: str, start: bytes, tmp_path: Path) -> None:
    minigrad.save({"x": minigrad.ones(2)}, tmp_path / name)
    minigrad.save({"x": minigrad.ones(2)}, tmp_path / "model")
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert content != (tmp_path / "model").read_bytes()
    assert minigrad.load(tmp_path / name, "cpu", weights_only=True)["x"].tolist() == [1, 1]


def test_a_failed_load_changes_nothing(tmp_path: Path) -> None:
    model = minigrad.nn.Linear(2, 2)
    before: Any = {name: x.tolist() for name, x in model.state_dict().items()}
    minigrad.save(model.state_dict(), tmp_path / "a")
    content = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(content[: len(content) // 2])
    with pytest.raises(minigrad.io.LoadError):
        model.load_state_dict(minigrad.load(tmp_path / "a"))
    assert {name: x.tolist() for name, x in model.state_dict().items()} == before
