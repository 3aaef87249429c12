"""`save` and `load` with open files: PyTorch's format is written, all are read."""

import gzip
import io
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.io import LoadError

SUFFIXES = [".npz", ".pt", pytest.param(".safetensors", marks=pytest.mark.needs("safetensors"))]
VALUE = {"step": 3, "names": ["a", None], "weight": minigrad.ones(2, 3)}


def same(found: Any) -> bool:
    return found | {"weight": found["weight"].tolist()} == VALUE | {"weight": [[1.0] * 3] * 2}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_format_is_found_by_its_content(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"value{suffix}"
    minigrad.save(VALUE, path)
    file = io.BytesIO(b"before" + path.read_bytes())
    file.seek(6)
    assert same(minigrad.load(file))
    with path.open("rb") as opened:
        assert same(minigrad.load(opened))


def test_an_open_file_holds_what_a_path_does(tmp_path: Path) -> None:
    path, file = tmp_path / "value.pt", io.BytesIO(b"before")
    minigrad.save(VALUE, path)
    file.seek(6)
    minigrad.save(VALUE, file)
    assert file.getvalue() == b"before" + path.read_bytes()


def test_streams_that_cannot_go_back(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "value.gz", "wb") as file:
        minigrad.save(VALUE, file)
    with gzip.open(tmp_path / "value.gz", "rb") as file:
        assert same(minigrad.load(file))
    end, start = os.pipe()
    with os.fdopen(start, "wb") as written, os.fdopen(end, "rb") as read:
        writer = threading.Thread(target=lambda: (minigrad.save(VALUE, written), written.close()))
        writer.start()
        assert same(minigrad.load(read))
        writer.join()


def test_numpys_is_read() -> None:
    theirs = io.BytesIO()
    np.savez(theirs, x=np.arange(3.0))
    theirs.seek(0)
    assert minigrad.load(theirs)["x"].tolist() == [0, 1, 2]


def test_what_cannot_be_saved_writes_nothing() -> None:
    file = io.BytesIO()
    with pytest.raises(TypeError, match="save: an open file"):
        minigrad.save({"x": minigrad.ones(2), "y": object()}, file)
    assert file.getvalue() == b""


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0"


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\3\4", b"PK\3\4" + bytes(100), b"\x80\2", b"text", POINTER]
)
def test_damaged_content(content: bytes) -> None:
    said = "git lfs pull" if content is POINTER else ""
    with pytest.raises(LoadError, match=f"load: an open file.*{said}"):
        minigrad.load(io.BytesIO(content))
