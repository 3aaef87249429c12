"""A damaged or hostile file is refused with an error that says why, and believed in nothing."""

import io
import json
import re
import struct
import sys
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python
from refusals import lies, refused

import minigrad
from minigrad.io import LoadError, load, save
from minigrad.io.tree import pack

pytest.importorskip("safetensors")

PROGRAM = Path(__file__).with_name("damaged_files.py")


# By chance


def fuzz(suffix: str, count: int, seed: int) -> tuple[int, int, int]:
    done = python(PROGRAM, suffix, str(count), str(seed), timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    counts = re.fullmatch(r"\d+ files: (\d+) refused, (\d+) unharmed, (\d+) foreign\n", done.stdout)
    assert counts, done.stdout
    return int(counts[1]), int(counts[2]), int(counts[3])


suffixes = pytest.mark.parametrize("suffix", [".npz", ".pt", ".safetensors"])


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited")
@suffixes
@pytest.mark.parametrize(
    ("count", "seed"),
    [(600, 0), *(pytest.param(5000, seed, marks=pytest.mark.long) for seed in range(1, 5))],
)
def test_files_damaged_by_chance(suffix: str, count: int, seed: int) -> None:
    refused, unharmed, foreign = fuzz(suffix, count, seed)
    assert refused + unharmed + foreign == count
    if seed == 0:  # damage to the padding of a record of .pt harms nothing
        assert refused > (480 if suffix == ".pt" else 540)
        assert foreign < 10


@suffixes
def test_every_truncation_and_every_bit_of_the_values(tmp_path: Path, suffix: str) -> None:
    """One that changed is noticed: nobody goes on from weights that are a little wrong."""
    path = tmp_path / f"file{suffix}"
    x = np.frombuffer(b"sixteen bytes! ;", np.float32)
    save({"x": minigrad.tensor(x), "step": 2}, path)
    data = path.read_bytes()
    place, whole = 8 * data.index(x.tobytes()), int.from_bytes(data, "little")
    turned = [whole ^ 1 << bit for bit in range(place, place + 8 * x.nbytes)]
    damaged = [data[:length] for length in range(len(data))]
    for content in [*damaged, *(number.to_bytes(len(data), "little") for number in turned)]:
        path.write_bytes(content)
        with pytest.raises(LoadError):
            load(path)


# npz


def npy(header: str | bytes, data: bytes = b"", version: bytes = b"\1\0") -> bytes:
    """A member of a header of one's own."""
    text = header.encode("latin1") if isinstance(header, str) else header
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def described(descr: Any = "<f4", shape: Any = (2,), order: Any = False) -> str:
    return repr({"descr": descr, "fortran_order": order, "shape": shape})


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


@lies({
    "x should have 4,398,046,511,104 bytes": [npy(described(shape=(1 << 40,)), b"12345678")],
    "but has 8": [npy(described(shape=(1 << 62, 4)), b"12345678")],
    "damaged": [
        npy(described(shape=(1 << 62, 0))), npy(described(shape=(0, 1 << 70))),
        npy(described(shape=(1,) * 100), b"1234"), b"\x93NUMPY\1\0"],
    "x is not an npy array": [
        npy(described(shape=(2.0,)), b"12345678"), npy(described("V4000000000"), b""),
        npy(described(shape=2), b"12345678"), npy(described("<f3"), b"12345678"),
        npy(described("("), b"12345678"), npy("{'descr': '<f4', 'shape': (2,)}", b"12345678"),
        npy("{'descr': __import__('os')}"), npy("[" * 9000), npy("(" * 100 + ")" * 100),
        npy("-" * 9000 + "1"), npy("9" * 9000), npy(b"\0" * 20), npy("{"),
        npy(described(shape=("2",)), b"12345678"), npy(described(order=1), b"12345678")],
    "damaged: x has shape (": [
        npy(described(shape=(-1, -2)), b"12345678"), npy(described(shape=(True,)), b"1234"),
        npy(described(shape=(2, False)), b"")],
    "x should have 8 bytes, but has 7": [npy(described(), b"1234567")],
    "x should have 8 bytes, but has 9": [npy(described(), b"123456789")],
    "x has dtype object": [npy(described("|O"), b"12345678" * 2)],
    "x has dtype <U1": [npy(described("<U1"), b"12345678")],
    "x has dtype complex64": [npy(described("<c8"), b"12345678" * 2)],
    "x has dtype [(": [
        npy(described("<f4,<f4"), b"12345678" * 2), npy(described([("a", "<f4")]), b"12345678")],
    "not an npy array (": [
        npy(described(), b"12345678", b"\3\0"), b"\x93NUMPY", b"\x80\x04K\x01.", b"",
        npy(" " * 20000), b"\x93NUMPY\2\0\xff\xff\xff\xff{}"],
    "x has bools that are neither": [npy(described("|b1"), b"\1\2")],
})  # fmt: skip
def test_a_member_that_lies(tmp_path: Path, content: bytes, said: str) -> None:
    refused(archive(tmp_path / "a.npz", x=content), said)


class Dangerous:
    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("run", "w")


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    array = np.array([Dangerous()], object)
    np.savez("a.npz", x=array)
    refused(Path("a.npz"), "x has dtype object")
    np.save("a.npy", array)
    content = Path("a.npy").read_bytes()
    header = content[: content.index(b"\n") + 1].replace(b"|O", b"<i4")
    for name in ("x.npy", "x.pkl", "x"):
        with zipfile.ZipFile("a.npz", "w") as file:
            file.writestr(name, header + content[len(header) :])
        with pytest.raises(LoadError):
            load("a.npz")
    assert {file.name for file in tmp_path.iterdir()} == {"a.npz", "a.npy"}


def test_compressed_members_could_be_of_any_size(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1 << 24, np.uint8))
    assert (tmp_path / "a.npz").stat().st_size < 20_000
    refused(tmp_path / "a.npz", "x.npy is compressed")


def changed(path: Path, change: Any, *fields: tuple[bytes, int, str]) -> None:
    """Write numbers into an archive: each behind a signature, at a place, in a format."""
    data = bytearray(path.read_bytes())
    for signature, place, form in fields:
        struct.pack_into(form, data, data.index(signature) + place, change)
    path.write_bytes(data)


DIRECTORY, LOCAL, END = b"PK\1\2", b"PK\3\4", b"PK\5\6"


FIELDS = [
    ([(DIRECTORY, 20, "<I"), (DIRECTORY, 24, "<I")], 0xFFFFFFF0),  # both sizes
    ([(DIRECTORY, 24, "<I")], 0x7FFFFFFF),
    ([(DIRECTORY, 20, "<I")], 0),
    ([(DIRECTORY, 42, "<I")], 0x7FFFFFFF),  # where the member is
    ([(DIRECTORY, 28, "<H")], 0xFFFF),  # how long its name is
    ([(DIRECTORY, 30, "<H")], 0xFFFF),
    ([(DIRECTORY, 32, "<H")], 1),
    ([(DIRECTORY, 8, "<H"), (LOCAL, 6, "<H")], 1),  # encrypted
    ([(DIRECTORY, 10, "<H"), (LOCAL, 8, "<H")], 99),  # compressed in an unknown way
    ([(END, 10, "<H")], 0),  # how many members there are
    ([(END, 12, "<I")], 0x7FFFFFFF),  # how long the directory is
    ([(END, 16, "<I")], 0xFFFFFFFE),
    ([(END, 20, "<H")], 9),
]


@pytest.mark.parametrize(("fields", "number"), FIELDS, ids=str)
def test_an_archive_that_lies(tmp_path: Path, fields: Any, number: int) -> None:
    path = tmp_path / "a.npz"
    save({"x": minigrad.ones(4), "y": minigrad.ones(4)}, path)
    changed(path, number, *fields)
    refused(path, "")


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    """A thousand entries of the directory for the same bytes: a small file that claims much."""
    content = npy(described("|u1", (30_000,)), bytes(30_000))
    path = archive(tmp_path / "a.npz", x=content)
    data = path.read_bytes()
    start, end = data.index(DIRECTORY), data.index(END)
    entries = data[start:end] * 1000
    last = struct.pack("<4s4H2IH", END, 0, 0, 1000, 1000, len(entries), start, 0)
    path.write_bytes(data[:start] + entries + last)
    refused(path, "bytes claimed, the file has")
    with zipfile.ZipFile(path, "w") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            file.writestr("x.npy", npy(described("|u1", (1,)), b"1"))
    refused(path, "two members have the same name")


# safetensors


def headed(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def entry(dtype: str = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@lies({
    "": [
        (entry(shape=[1 << 40], offsets=[0, 1 << 42]), b"12345678"),
        (entry(shape=[1 << 63, 4], offsets=[0, 0]), b""),
        (entry(shape=[2], offsets=[0, 4]), b"1234"),
        (entry(shape=[1], offsets=[4, 8]), b"12345678"),
        (entry(shape=[-2]), b"12345678"),
        (entry(shape=[1] * 70, offsets=[0, 4]), b"1234"),
        (entry("BF16", [2]), b"12345678"), (entry("O", [1]), b"12345678"),
        (entry(), b"123456789"), ({**entry(), "y": entry()["x"]}, b"12345678"),
        ({}, b"", 1 << 63), ({}, b"", 90_000_000), (b"", b"", 0), (b"\xff\xfe", b""),
        (b"[" * 90_000, b""), (b'{"x":' * 90_000, b""), ([], b"")],
    "too big": [(entry(shape=[1 << 62, 0], offsets=[0, 0]), b"")],
    "x has dtype F8_E4M3": [(entry("F8_E4M3", [8]), b"12345678")],
    "x has dtype C64": [(entry("C64", [1]), b"12345678")],
    "x has bools that are neither": [(entry("BOOL", [8]), b"\0\1\2\0\0\0\0\0")],
})  # fmt: skip
def test_a_header_that_lies(tmp_path: Path, content: Any, said: str) -> None:
    refused(headed(tmp_path / "a.safetensors", *content), said)


@pytest.mark.parametrize("content", [b"", b"PK\5\6", b"not a file of this kind", bytes(1000)])
@suffixes
def test_what_is_another_file_altogether(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    refused(path, f" {suffix[1:]} file")


# The structure


def beside(path: Path, text: str, **arrays: np.ndarray) -> Path:
    """A file with a text of one's own."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            file.writestr(f"{name}.npy", content.getvalue())
        file.writestr("minigrad.json", text)
    return path


def document(value: Any) -> str:
    """The text for an entry, with the right checksum."""
    text = json.loads(pack(0).structure)
    text["crc32"] = zlib.crc32(json.dumps(value, separators=(",", ":")).encode())
    return json.dumps({**text, "value": value})


def test_such_a_text_is_right_if_its_value_is(tmp_path: Path) -> None:
    assert load(beside(tmp_path / "a.npz", document([1, {"$tuple": [2]}]))) == [1, (2,)]


@lies({
    "structure is invalid": [
        "", "[" * 100_000, "9" * 5000, document({"$float": "much"}), document({"$float": [1]}),
        document({"$tuple": 3}), document({"$dict": [[1]]}), document({"$dict": [[[], 1]]}),
        document({"$array": "x"}), document({"$array": ["x"], "crc32": 0})],
    "not written by minigrad": ["[]", '{"value": 1}'],
    "version 2": ['{"minigrad": 2, "crc32": 0, "value": 1}'],
    "another checksum": ['{"minigrad": 1, "crc32": 0, "value": 1}'],
    "unknown kind of entry $unknown": [document([0, {"$unknown": 1}])],
    "the array y is missing": [document({"$array": "y", "crc32": 0})],
    "the array x has another checksum": [document({"$array": "x", "crc32": 0})],
    "arrays that the structure does not use: x": [document(1)],
})  # fmt: skip
def test_a_text_that_lies(tmp_path: Path, content: str, said: str) -> None:
    refused(beside(tmp_path / "a.npz", content, x=np.zeros(2)), said)


def test_one_array_is_not_handed_out_twice(tmp_path: Path) -> None:
    """A million times a large one would be more than there is memory."""
    x = np.zeros(1000)
    ((item,),) = json.loads(pack([[x]]).structure)["value"]
    once = beside(tmp_path / "a.npz", document([item]), **{item["$array"]: x})
    assert load(once)[0].shape == (1000,)
    twice = beside(tmp_path / "b.npz", document([item, item]), **{item["$array"]: x})
    refused(twice, "is missing")
