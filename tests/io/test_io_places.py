"""What is at a path, and is not a regular file, is never replaced by whatever writes a file."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad import debugging, distributed, nn, optim, viz
from minigrad.io import load, save, save_training
from minigrad.learn.command import Folder

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)  # a whole path may be too long


def link_to_a_pipe(path: Path) -> None:
    target = path.parent / "far" / "pipe"
    target.parent.mkdir(exist_ok=True)
    os.mkfifo(target)
    path.symlink_to(target)


def link_to_a_link_to_a_folder(path: Path) -> None:
    (path.parent / "far").mkdir()
    (path.parent / "link").symlink_to(path.parent / "far")
    path.symlink_to(path.parent / "link")


OBSTACLES = {
    "a named pipe": os.mkfifo, "a folder": Path.mkdir, "a socket": a_socket,
    "a named pipe, by a link": link_to_a_pipe, "a folder, by a link": link_to_a_link_to_a_folder,
}  # fmt: skip


def graph() -> Any:
    x = minigrad.ones(3, requires_grad=True)
    return viz.graph(x * x)


def statistics() -> Any:
    model = nn.Linear(2, 1)
    kept = debugging.Statistics(model)
    model(minigrad.ones(3, 2)).sum().backward()
    kept.step()
    return kept


def export(path: Path) -> None:
    from minigrad import onnx

    onnx.export(nn.Linear(2, 1), minigrad.ones(3, 2), path)


FILES: dict[str, Callable[[Path], Any]] = {
    "x.npz": lambda path: save([1], path), "x.safetensors": lambda path: save([1], path),
    "training.npz": lambda path: save_training(path, model=nn.Linear(2, 1)),
    "page.html": lambda path: viz.explore(nn.Linear(2, 1), minigrad.ones(3, 2), path=path),
    "charts.html": lambda path: viz.charts(statistics(), path=path), "x.onnx": export,
    "graph.svg": lambda path: graph().save(path), "graph.html": lambda path: graph().save(path),
}  # fmt: skip


def gpt2(path: Path) -> None:
    from minigrad import pretrained

    config = pretrained.GPT2Config(vocab_size=5, n_positions=4, n_embd=4, n_layer=1, n_head=1)
    pretrained.save_gpt2(pretrained.GPT2(config), path)


def parts_of_ranks(path: Path) -> None:
    model = nn.Linear(2, 1)
    distributed.save_training(path, model=model, optimizer=optim.SGD(model.parameters(), lr=0.1))


def exercises(path: Path) -> None:
    folder = Folder(path)
    folder.of(1)
    folder.save(1)


FOLDERS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "gpt2": (gpt2, ["model.safetensors", "config.json"]),
    "ranks": (parts_of_ranks, ["index.npz"]),
    "exercises": (exercises, ["progress.json"]),
}  # fmt: skip


def seen(path: Path) -> list[tuple[str, int, int]]:
    """Everything below a folder: its path, its kind and its identity."""
    found = [(each, each.lstat()) for each in sorted(path.rglob("*"))]
    return [(str(each), stat.S_IFMT(s.st_mode), s.st_ino) for each, s in found]


NEEDS = {
    "gpt2": "safetensors", "x.safetensors": "safetensors",
    "x.onnx": "onnx.helper",  # tests/onnx can be imported as onnx
}  # fmt: skip


@pytest.fixture(autouse=True)
def packages(request: pytest.FixtureRequest) -> None:
    call = getattr(request.node, "callspec", None)
    name = "" if call is None else call.params.get("name")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])


@pytest.mark.parametrize("kind", OBSTACLES)
@pytest.mark.parametrize("name", FILES)
def test_what_is_not_a_file_stays(name: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    OBSTACLES[kind](path)
    before = seen(tmp_path)
    with pytest.raises(OSError, match=kind.partition(",")[0]) as caught:
        FILES[name](path)
    assert name in str(caught.value)
    assert "another path" in str(caught.value)
    assert not path.is_symlink() or f"{tmp_path}/far" in str(caught.value)
    assert seen(tmp_path) == before


@pytest.mark.parametrize("name", FILES)
def test_the_file_that_a_link_leads_to_is_replaced(name: str, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, path = tmp_path / "far" / "target", tmp_path / name
    target.write_text("old")
    path.symlink_to(target)
    FILES[name](path)
    assert path.is_symlink()
    assert path.resolve() == target
    assert target.is_file()
    assert target.read_bytes() != b"old"
    assert [*target.parent.iterdir()] == [target]


@pytest.mark.parametrize("kind", OBSTACLES)
@pytest.mark.parametrize("name", FOLDERS)
def test_all_of_a_folder_or_nothing(name: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    make, files = FOLDERS[name]
    for i, file in enumerate(files):
        path = tmp_path / str(i) / file
        path.parent.mkdir(parents=True)
        monkeypatch.chdir(path.parent)
        OBSTACLES[kind](path)
        before = seen(tmp_path)
        with pytest.raises(OSError, match=kind.partition(",")[0]) as caught:
            make(tmp_path / str(i))
        assert path.name in str(caught.value)
        assert seen(tmp_path) == before


@pytest.mark.parametrize("kind", [kind for kind in OBSTACLES if "pipe" in kind or "socket" in kind])
@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_not_a_folder_stays(name: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    OBSTACLES[kind](tmp_path / name)
    before = seen(tmp_path)
    with pytest.raises(OSError, match=f"{kind.partition(',')[0]}|Not a directory"):
        FOLDERS[name][0](tmp_path / name)
    assert seen(tmp_path) == before


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_may_be_a_link(name: str, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far")
    FOLDERS[name][0](tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert [*(tmp_path / "far").iterdir()]


@pytest.mark.parametrize("kind", OBSTACLES)
def test_what_came_meanwhile_stays(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    from minigrad.support.files import replacing

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x"
    with pytest.raises(OSError, match=kind.partition(",")[0]), replacing(path):  # noqa: PT012
        OBSTACLES[kind](path)
        before = stat.S_IFMT(path.lstat().st_mode)
    assert stat.S_IFMT(path.lstat().st_mode) == before
    assert not [*tmp_path.glob(".*")]


def test_a_link_to_nothing_is_filled(tmp_path: Path) -> None:
    (tmp_path / "x.npz").symlink_to(tmp_path / "far.npz")
    save([1], tmp_path / "x.npz")
    assert load(tmp_path / "far.npz") == [1]
    assert (tmp_path / "x.npz").is_symlink()


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.npz").symlink_to(tmp_path / "x.npz")
    with pytest.raises(OSError, match=r"save: .*x\.npz was not written"):
        save([1], tmp_path / "x.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]
