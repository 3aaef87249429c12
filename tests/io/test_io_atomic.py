"""A save that is killed, or fails, leaves the file that was there: at every byte, at every step."""

import errno
import io
import os
import re
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python

from minigrad import arange, ones
from minigrad.io import load, save
from minigrad.support import files

pytest.importorskip("safetensors")

PROGRAM = Path(__file__).with_name("killed_saves.py")
unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals and limits")


@pytest.fixture(params=[".npz", ".pt", ".safetensors"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"file{request.param}"


def assert_there_is_only(path: Path, value: Any) -> None:
    assert load(path) == value
    assert [*path.parent.iterdir()] == [path]


def run(path: Path, kills: int, seed: int) -> tuple[int, int]:
    """Kill so many saves; return how many went well, and how many files were left unfinished."""
    done = python(PROGRAM, path, str(kills), str(seed), timeout=600)
    assert done.returncode == 0, done.stderr
    counts = re.fullmatch(rf"{kills} kills, (\d+) saves, (\d+) unfinished files\n", done.stdout)
    assert counts, done.stdout
    return int(counts[1]), int(counts[2])


@unix
@pytest.mark.parametrize(
    ("kills", "seed"),
    [(20, 0), *(pytest.param(200, seed, marks=pytest.mark.long) for seed in range(1, 5))],
)
def test_a_killed_save_leaves_a_whole_file(path: Path, kills: int, seed: int) -> None:
    saves, unfinished = run(path, kills, seed)
    assert saves > 0
    assert unfinished >= kills // 2  # every limit strikes while something is written


# Failures

LIMITED = """
import resource, sys
import numpy as np
from minigrad.io import save
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    save({"x": np.zeros(10_000)}, sys.argv[1])
finally:  # what is said of it may be a file too
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@unix
@pytest.mark.parametrize("most", [0, 100, 50_000])
def test_a_full_disk_is_an_error_and_the_old_file_stays(path: Path, most: int) -> None:
    """The system refuses to write more than so many bytes, as it does when there is no room."""
    save({"x": 1}, path)
    done = python("-c", LIMITED, path, str(most))
    last = done.stderr.splitlines()[-1]
    assert last.startswith("OSError: ")
    assert f"save: {path} was not written" in last
    assert "File too large" in last
    assert_there_is_only(path, {"x": 1})


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise error

    return fail


def test_a_full_disk_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save([1], path)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "fsync", failing(full))
    with pytest.raises(OSError, match=f"save: {path} .*No space left") as caught:
        save([2], path)
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        files.write(path, "a page, a picture, a weight")
    assert_there_is_only(path, [1])


def test_a_folder_that_is_not_there(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"save: .*below/{path.name} "):
        save([1], path.parent / "below" / path.name)
    assert not [*path.parent.iterdir()]


@unix
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
def test_a_folder_that_may_not_be_written_to(path: Path) -> None:
    folder = path.parent / "closed"
    folder.mkdir(mode=0o500)
    target = Path("/proc") if os.geteuid() == 0 else folder  # nothing is closed to root
    with pytest.raises(OSError, match=f"save: {target}/{path.name} "):
        save([1], target / path.name)
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_leaves_nothing(
    path: Path, name: str, error: Any, monkeypatch: Any
) -> None:
    save([1], path)
    monkeypatch.setattr(os, name, failing(error()))
    with pytest.raises(error):
        save([2], path)
    assert_there_is_only(path, [1])


# The order of things


def test_it_is_on_the_disk_before_it_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{args[0]}")
            done.append("fsync of the folder" if folder else name)
            return real(*args)

        return call

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    save([1], path)
    last = ["fsync of the folder"] if sys.platform == "linux" else done[2:]
    assert done == ["fsync", "replace", *last]


def test_a_reader_sees_the_old_or_the_new(path: Path) -> None:
    save(np.zeros(50_000), path)
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            found = load(path)
            if found.min() != found.max():
                wrong.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(30):
            save(np.full(50_000, float(number)), path)
    finally:
        stop.set()
        reader.join()
    assert not wrong


# The file


@unix
def test_permissions_are_those_of_any_new_file_or_of_the_old(path: Path) -> None:
    mask = os.umask(0o027)
    try:
        save([1], path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        save([2], path)
        assert path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(mask)


@pytest.mark.parametrize("name", ["x" * 240, "é" * 120, "."])
def test_long_names(path: Path, name: str) -> None:
    path = path.with_name(name + path.suffix)
    save([1], path)
    assert_there_is_only(path, [1])


def test_unfinished_files_are_hidden_beside_theirs(path: Path) -> None:
    with files.replacing(path) as unfinished:
        assert unfinished.parent == path.parent
        assert unfinished.exists()
        hidden = rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.unfinished"
        assert re.fullmatch(hidden, unfinished.name)
        unfinished.write_bytes(b"new")
    assert path.read_bytes() == b"new"
    assert not unfinished.exists()


# What killed programs leave


@pytest.mark.parametrize("load_it", [False, True], ids=["save", "load"])
def test_what_only_a_killed_program_left_is_removed(path: Path, load_it: bool) -> None:
    save([1], path)
    other = path.with_name(f"{path.stem}.{'0' * 12}{path.suffix}")  # a name that begins alike
    left, written, of_other = (
        target.with_name(f".{target.name}.{digit * 12}.unfinished")
        for target, digit in ((path, "a"), (path, "b"), (other, "c"))
    )
    for unfinished, age in ((left, 3700), (written, 3500), (of_other, 3700)):
        unfinished.write_bytes(b"x" * 1000)
        os.utime(unfinished, (time.time() - age,) * 2)
    load(path) if load_it else save([2], path)
    assert {*path.parent.iterdir()} == {path, written, of_other}


def test_who_may_not_remove_what_is_left_loads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save([1], path)
    path.with_name(f".{path.name}.0123456789ab.unfinished").write_bytes(b"")
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    monkeypatch.setattr(os, "listdir", failing(denied))
    assert load(path) == [1]


class InParts(io.RawIOBase):
    """A file without a buffer, which takes a few bytes at a time, and then no more."""

    def __init__(self, most: int) -> None:
        self.content, self.most = b"", most

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        taken = bytes(part[: min(100, self.most - len(self.content))])
        self.content += taken
        return len(taken)


def test_a_file_without_a_buffer_gets_everything_or_an_error() -> None:
    whole, part = InParts(10**6), InParts(250)
    save({"a": arange(100)}, whole)
    assert load(io.BytesIO(whole.content))["a"].shape == (100,)
    with pytest.raises(BlockingIOError, match="the file took 250 bytes"):
        save({"a": arange(100)}, part)


@pytest.mark.parametrize("suffix", ["npz", "pt"])
def test_ctrl_c_within_a_save_stays_one(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while a member of the archive is open, which then cannot be closed."""
    opened = zipfile.ZipFile.open
    kept: list[Any] = []

    def interrupted(self: Any, *args: Any, **options: Any) -> Any:
        kept.append(opened(self, *args, **options))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "open", interrupted)
        patched.setattr(zipfile.ZipFile, "writestr", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save({"a": ones(2)}, tmp_path / f"x.{suffix}")
    assert not [*tmp_path.iterdir()]
    for member in kept:  # else zipfile complains when the archive is collected
        member._zipfile.fp = None
