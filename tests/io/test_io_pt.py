"""Files of PyTorch without PyTorch: what is saved comes back."""

import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pt_files import archive, called, named, old, storage, tensor, text

import minigrad
from minigrad import Tensor, optim
from minigrad.autograd.views import owner
from minigrad.io import load, save


def round_trip(value: Any, folder: Path) -> Any:
    save(value, folder / "file.pt")
    return load(folder / "file.pt")


def memory(tensor: Tensor) -> int:
    """The address of the memory of a tensor."""
    return owner(tensor._data).__array_interface__["data"][0]


# What is saved comes back


def test_what_is_shared_stays_shared(tmp_path: Path) -> None:
    x = minigrad.arange(12.0).reshape(3, 4)
    apart = np.arange(6.0)
    value = {
        "x": x, "again": x, "turned": x.T[1:], "row": x[1], "left": apart[:3], "right": apart[3:],
        "bits": x.numpy().view(np.int32),
    }  # fmt: skip
    found = round_trip(value, tmp_path)
    assert found["x"] is found["again"]
    assert {memory(found[name]) for name in ("x", "turned", "row")} == {memory(found["x"])}
    alone = {memory(found[name]) for name in ("x", "left", "right", "bits")}
    assert len(alone) == 4
    found["x"][...] = 0
    assert not found["turned"].numpy().any()
    assert not found["row"].numpy().any()
    assert found["bits"].numpy().any()


def test_what_lies_between_is_not_written(tmp_path: Path) -> None:
    secret = np.frombuffer(b"secret..secret..", np.float32).copy()
    secret[::2] = 1
    assert round_trip(secret[::2], tmp_path).tolist() == [1, 1]
    assert b"..secret" not in (tmp_path / "file.pt").read_bytes()
    assert b"et.." not in (tmp_path / "file.pt").read_bytes()


def test_numbers_come_back_plain(tmp_path: Path) -> None:
    value = [np.float16(0.5), np.bool_(True), np.int64(-7), minigrad.ones(1).device]
    found = round_trip(value, tmp_path)
    assert found == [0.5, True, -7, "cpu"]
    assert [type(part) for part in found[:3]] == [float, bool, int]
    large = [2**31, -(2**31) - 1, 2**63, -(2**64), 2**2039, -(2**2039), 2**3000]
    assert round_trip(large, tmp_path) == large


def test_the_records_of_a_file(tmp_path: Path) -> None:
    save({"x": minigrad.ones(3), "e": minigrad.zeros(0), "y": np.arange(3)}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as file:
        assert file.testzip() is None
        records = {name.removeprefix("archive/"): file.read(name) for name in file.namelist()}
    assert [*records] == ["data.pkl", "byteorder", "data/0", "data/1", "data/2", "version"]
    assert records["version"] == b"3\n"
    assert records["byteorder"] == sys.byteorder.encode()
    assert records["data/0"] == np.ones(3, np.float32).tobytes()
    assert records["data/1"] == b""


def test_the_fields_of_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are used from 4 GiB on; here they are used from some bytes on."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    value = {"x": np.arange(100.0), "y": np.arange(3)}
    found = round_trip(value, tmp_path)
    assert all(np.array_equal(found[name].numpy(), value[name]) for name in value)
    with zipfile.ZipFile(tmp_path / "file.pt") as file:
        assert file.testzip() is None


# What others write


def test_a_file_by_hand(tmp_path: Path) -> None:
    for path in (archive(tmp_path / "a.pt", tensor()), old(tmp_path / "b.pt", tensor())):
        assert load(path).tolist() == [1, 2, 3, 4]


def test_names_of_python_2(tmp_path: Path) -> None:
    name = "é".encode()
    content = b"}U" + bytes([len(name)]) + name + b"K\x01s"
    assert load(archive(tmp_path / "a.pt", content, {})) == {"é": 1}
    pairs = b"](](" + text("a") + b"K\x01ee"
    content = called("collections OrderedDict", pairs)
    assert load(archive(tmp_path / "a.pt", content, {})) == OrderedDict(a=1)


def test_an_untyped_storage_of_a_big_endian_machine(tmp_path: Path) -> None:
    bytes_ = storage(count=4, kind="torch.storage UntypedStorage")
    content = tensor((2,), of=bytes_, more=named("torch uint16"), version=3)
    x = load(archive(tmp_path / "a.pt", content, {"0": b"\0\1\2\0"}, byteorder=b"big"))
    assert x.tolist() == [1, 512]
    assert x.dtype == np.uint16


@pytest.mark.parametrize("write", [archive, old])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_bfloat16_becomes_float32(tmp_path: Path, write: Any, byteorder: str) -> None:
    values = np.array([1.5, -0.0, np.inf, np.nan, 1e-40, -3e38], np.float32)
    bits = (values.view(np.uint32) >> 16).astype("<u2")
    of = storage(count=6, kind="torch BFloat16Storage")
    content = b"(" + tensor((6,), of=of) + tensor((2, 2), (1, 2), 1, of=of) + b"t"
    options: Any = {"itemsize": 2} if write is old else {"byteorder": byteorder.encode()}
    stored = bits.byteswap() if byteorder == "big" and write is archive else bits
    path = write(tmp_path / "a.pt", content, {"0": stored.tobytes()}, **options)
    x, part = load(path)
    assert x.dtype == np.float32
    assert memory(x) == memory(part)
    expected = (bits.astype(np.uint32) << 16).view(np.float32)
    assert x.numpy().tobytes() == expected.tobytes()
    assert part.numpy().tobytes() == expected[1:5].reshape(2, 2).T.tobytes()
    assert load(write(tmp_path / "b.pt", named("torch bfloat16"), {})) == np.float32


def test_a_leaf_that_repeats_its_elements_gets_memory(tmp_path: Path) -> None:
    content = tensor((3, 4), (0, 1), requires=b"\x88")
    x = load(archive(tmp_path / "a.pt", content))
    assert x.tolist() == [[1, 2, 3, 4]] * 3
    assert x.requires_grad
    optim.SGD([x], lr=1.0)
    x.sum().backward()
    assert x._data.flags.writeable
