"""Hostile and damaged files of PyTorch are refused with a reason, and nothing in them is run."""

import collections
import contextlib
import io
import pickle
import random
import tracemalloc
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pt_files import FLOATS, archive, called, named, old, pickled, storage, tensor, text
from refusals import lies, refused

import minigrad
from minigrad import nn
from minigrad.io import LoadError, load, save

CHAIN: list[Any] = [[0]]  # each of 150 lists holds the one before
for _ in range(150):
    CHAIN.append([CHAIN[-1]])
LISTS = b"](" + b"K\1" * 200 + b"eq\0"  # a list of 200 numbers, remembered


class Counting(nn.Module):
    """A module each of whose methods would be noticed."""

    ran: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.ran.append("__init__")

    def __new__(cls) -> Any:
        cls.ran.append("__new__")
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        self.ran.append("__setstate__")

    def __reduce__(self) -> Any:
        self.ran.append("__reduce__")
        return open, ("run", "w")

    def __setattr__(self, name: str, value: Any) -> None:
        self.ran.append("__setattr__")
        super().__setattr__(name, value)


class Guarded(nn.Module):
    """A module that would do something when it is freed."""

    def __del__(self) -> None:
        Counting.ran.append("__del__")


def an_object(where: str, name: str, parts: Any = None, **state: Any) -> bytes:
    """An object of a class, with attributes."""
    if parts is not None:
        state["_registered"] = parts
    return called("minigrad.io object", text(where), text(name), pickled(state))


@lies({
    "asks for os.system": [
        called("os system", text("touch run")), text("os") + text("system") + b"\x93"],
    "asks for posix.system": [called("posix system", text("touch run"))],
    "asks for builtins.eval": [called("builtins eval", text("open('run', 'w')"))],
    "builtins.getattr": [called("__builtin__ getattr", named("torch Size"), text("x"))],
    "asks for builtins.open": [called("builtins open", text("run"), text("w"))],
    "asks for torch.load": [called("torch load", text("x"))],
    "asks for torch.hub.load": [called("torch.hub load", text("x"))],
    "_rebuild_tensor_v2.__globals__": [called("torch._utils _rebuild_tensor_v2.__globals__")],
    "OrderedDict.fromkeys": [called("collections OrderedDict.fromkeys", b"]")],
    "copyreg._reconstructor": [called("copyreg _reconstructor", named("torch Size"))],
    "torch.storage._load_from_bytes": [called("torch.storage _load_from_bytes", b"C\0")],
    "asks for 'evil": [named("evil\x1b[31m thing")],
    "its pickle uses INST": [b"ios\nsystem\n", b"(" + text("x") + b"ios\nsystem\n"],
    "its pickle uses OBJ": [b"(" + named("torch Size") + b"o"],
    "its pickle uses NEWOBJ": [named("torch Size") + b")\x81"],
    "its pickle uses EXT1": [b"\x82\1"],
    "its pickle uses PERSID": [b"Pname\n"],
    "its pickle uses INT": [b"I1\n"],
    "its pickle uses STRING": [b"S'x'\n"],
    "sets attributes": [b"]K\1b"],
    "attributes": [called("collections OrderedDict") + b"}" + text("__class__") + b"K\1sb"],
    "adds to a list": [b"]}" + text("_metadata") + b"K\1sb"],
    "calls something that is not a function": [
        b"K\1)R", named("torch FloatStorage") + b")R", named("torch Size") + b"K\1R"],
    "holds a function": [named("torch Size")],
    "holds a kind": [named("torch FloatStorage")],
    "contains itself": [b"]q\0h\0a", b"}q\0K\1h\0s", b"]q\0(" + b"h\0" * 3 + b"e"],
    "nested too deep": [b"]" * 1000 + b"a" * 999],
    "pickle is invalid": [
        b"a", b"]a", b"t", b"h\7", b"", b"K\1K\2", pickled(3) + text("system") + b"\x93",
        b"\xff", b"X\xff\xff\xff\x7fab",
        b"\x8d" + b"\xff" * 8 + b"ab", b"\x8b\xff\xff\xff\x7fab", b"X\2\0\0\0\xff\xfe",
        b"r\xff\xff\xff\xff", called("__builtin__ set", pickled(3))],
    "asks for torch.S\\x69ze": [b"ctorch\nS\\x69ze\n"],
    "a key of type list": [b"}]K\1s", called("__builtin__ set", b"](]e")],
    "one that is nested": [b"})\x85K\1s"],
    "a key with 101 parts": [b"}" + pickled(tuple(range(101))) + b"K\1s"],
    "a key of 6,401 bits": [b"}" + pickled(1 << 6400) + b"K\1s"],
    "builtins.complex; there are no": [called("__builtin__ complex", pickled(1), pickled(2))],
    "torch.Size": [called("torch Size", b"]")],
    "a device of type 'meta'": [called("torch device", text("meta"))],
    "the encoding 'rot13'": [called("_codecs encode", text("x"), text("rot13"))],
    "tensor.to_dense()": [called("torch._utils _rebuild_sparse_tensor")],
    "tensor.dequantize()": [called("torch._utils _rebuild_qtensor"), named("torch QInt8Storage")],
    "no complex numbers": [named("torch ComplexFloatStorage"), named("torch complex64")],
    "NumPy has no such dtype": [named("torch float8_e4m3fn")],
    "class builtins.dict, which is not a subclass of Module": [
        an_object("builtins", "dict"), an_object("builtins", "dict", parts={"a": 1})],
    "class os.system": [an_object("os", "system")],
    "class minigrad.nn.layers.linear.Linear.forward": [
        an_object("minigrad.nn.layers.linear", "Linear.forward")],
    "test_io_pt_hostile.Guarded has __del__": [an_object(__name__, "Guarded")],
    "does not say what its parts are": [
        an_object(__name__, "Counting"), an_object(__name__, "Counting", parts=3),
        an_object(__name__, "Counting", parts={"forward": "method"})],
    "the attributes of a Counting": [
        called("minigrad.io object", text(__name__), text("Counting"), b"]"),
        called("minigrad.io object", text(__name__), text("Counting"), b"}K\1K\2s")],
    "the hooks of a Counting": [
        an_object(__name__, "Counting", _registered={}, _forward_hooks=[1])],
    "the function 'open'": [called("minigrad.io function", text("open"))],
    "asks for the function": [called("minigrad.io function", text("__builtins__"))],
    "asks for minigrad.io.load": [called("minigrad.io load", text("x"))],
    "state_dict() of a module": [named("torch.nn.modules.linear Linear")],
    "a number of Python": [named("numpy.core.multiarray scalar")],
    "without attributes": [named("torch._tensor _rebuild_from_type_v2")],
})  # fmt: skip
@pytest.mark.parametrize("write", [archive, old])
def test_a_pickle_that_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, said: str, write: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.pt")
    refused(write(path, content, {}), said)
    assert [*Path().iterdir()] == [path]


def test_a_module_is_made_without_its_methods(tmp_path: Path) -> None:
    module = Counting()
    path = tmp_path / "module.pt"
    Counting.ran.clear()
    save(module, path)
    loaded = load(path)
    assert type(loaded) is Counting
    assert loaded.training
    archive(path, an_object(__name__, "Guarded", parts={}))
    with pytest.raises(LoadError):
        load(path)
    assert not Counting.ran


@lies({
    "holds a storage": [storage()],
    "reaches out of its storage of 4 elements": [tensor((5,))],
    "reaches out": [
        tensor((4,), offset=1), tensor((1,), offset=4), tensor((), (), offset=4),
        tensor((), (), offset=2**80), tensor((2, 2), (3, 1)), tensor((2,), (2**62,)),
        tensor((2**62, 2), (1, 1))],
    "repeats its 4 elements": [tensor((2**40,), (0,)), tensor((2**62, 2**62), (0, 0))],
    "damaged": [
        tensor((0, 2**70), (1, 1)), tensor((1,) * 100, (1,) * 100),
        tensor(of=storage("../version", 2)),
        tensor(of=storage(count=16, kind="torch.storage UntypedStorage"))],
    "shape (-1,)": [tensor((-1,), (1,))],
    "strides (-1,)": [tensor((4,), (-1,), offset=3)],
    "offset -1": [tensor((1,), offset=-1)],
    "strides (1,)": [tensor((2, 2), (1,))],
    "shape (2.0,)": [tensor((2.0,))],
    "shape (True,)": [tensor((True,))],
    "shape ([2],)": [tensor(([2],))],
    "shape 4": [tensor(4, 1)],
    "not a view of a storage": [tensor(of=pickled(3))],
    "storage 0 should have 12 bytes, but has 16": [tensor((3,), of=storage(count=3))],
    "storage 0 should have 20 bytes, but has 16": [tensor(of=storage(count=5))],
    "storage 0 claims": [tensor(of=storage(count=2**62))],
    "storage 0 has no type, or no size": [tensor(of=storage(count=-1))],
    "storage 0 should have 32 bytes": [tensor(of=storage(kind="torch DoubleStorage"))],
    "storage 0 has no type": [tensor(of=storage(kind="torch Size"))],
    "storage 1 should have 16 bytes, but has 0": [tensor(of=storage("1"))],
    "storages are not": [
        tensor(of=b"(" + text("module") + named("torch Size") * 4 + b"tQ"),
        tensor(of=storage(more=pickled(("1", 0, 4))))],
    "pickle is invalid": [
        tensor(of=pickled(3) + b"Q"), tensor(of=b")Q"), called("torch._utils _rebuild_tensor_v2")],
    "its pickle uses STRING": [b"S'\\\xe1'\n"],
    "in two ways": [
        b"(" + tensor() + tensor(of=storage(kind="torch IntStorage")) + b"t",
        b"(" + tensor() + tensor(of=storage(count=2)) + b"t"],
    "requires a gradient": [tensor(requires=pickled(1))],
    "tensor of int32 requires": [tensor(of=storage(kind="torch IntStorage"), requires=b"\x88")],
    "neither True nor False": [tensor(of=storage(count=16, kind="torch BoolStorage"))],
    "has hooks": [tensor(hooks=b"}" + pickled(1) + pickled(2) + b"s")],
    "resolve_neg()": [tensor(more=b"}" + text("conj") + b"\x88s")],
    "bytes are read as minigrad.bool": [
        tensor(of=storage(count=16, kind="torch.storage UntypedStorage"), version=3,
               more=named("torch bool"))],
    "read as uint16": [tensor(of=storage(), version=3, more=named("torch uint16"))],
    "not a tensor": [called("torch._utils _rebuild_parameter", pickled(3), b"\x88", b"}")],
})  # fmt: skip
def test_a_tensor_that_lies(tmp_path: Path, content: bytes, said: str) -> None:
    refused(archive(tmp_path / "a.pt", content), said)


@lies({
    "copies the same": [
        b"(" + LISTS + called("__builtin__ set", b"h\0") * 200 + b"t",
        b"(" + text("x" * 9000) + b"q\0" + 20 * called("_codecs encode", b"h\0", text("latin1"))
        + b"t"],
    "nested too deep": [pickle.dumps(CHAIN, 2)[2:-1]],
    "so often that there are too many": [
        b"(" + b"K\1\x85q\0" + b"".join(
            b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60)) + b"t"],
})  # fmt: skip
def test_a_bomb(tmp_path: Path, content: bytes, said: str, monkeypatch: Any) -> None:
    """What would take much memory, or not end, also for whoever looks at the value."""
    monkeypatch.setattr("minigrad.io.pt.unpickler.MOST_PARTS", 10_000)
    refused(archive(tmp_path / "a.pt", content), said)


def test_parameters_that_would_be_copied(tmp_path: Path) -> None:
    """A parameter that repeats its elements gets memory of its own: not more than the file has."""
    leaf = tensor((1 << 24,), (0,), requires=b"\x88")
    arguments = leaf[leaf.index(b"(") : -1]
    content = b"(" + named("torch._utils _rebuild_tensor_v2") + b"q\0" + arguments + b"q\1R"
    path = archive(tmp_path / "a.pt", content + b"h\0h\1R" * 100 + b"t")
    tracemalloc.start()
    try:
        with pytest.raises(LoadError, match="repeat their elements"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()


# Archives that lie


def test_compressed_members_could_be_of_any_size(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pt", tensor((1 << 22,), of=storage(count=1 << 22)),
                   {"0": bytes(1 << 24)}, compression=zipfile.ZIP_DEFLATED)  # fmt: skip
    assert path.stat().st_size < 20_000
    refused(path, "is compressed")


def test_an_archive_in_an_archive_stays_packed(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", bytes(1 << 22))
    path = archive(tmp_path / "a.pt", b"K\1", {"0": inner.getvalue()})
    assert load(path) == 1
    path.write_bytes(inner.getvalue())
    refused(path, "is compressed")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_were_added(tmp_path: Path) -> None:
    for name, content, said in (("data/0", FLOATS, "two members have the same name"),
                                ("constants.pkl", b"", "torch.jit.save")):  # fmt: skip
        path = archive(tmp_path / "a.pt", tensor())
        with zipfile.ZipFile(path, "a") as file:
            file.writestr(f"archive/{name}", content)
        refused(path, said)


def test_a_wrong_checksum(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pt", tensor())
    data = bytearray(path.read_bytes())
    data[data.index(FLOATS)] ^= 1
    path.write_bytes(data)
    refused(path, "CRC")


@lies({
    "version b'11' of the format": [{"version": b"11\n"}],
    "version b'three' of the format": [{"version": b"three"}],
    "version b'' of the format": [{"version": b""}],
    "byte order is 'middle'": [{"byteorder": b"middle"}],
    "damaged": [{"byteorder": b"\xff"}],
    "storage 0 should have 16 bytes, but has 0": [{"storages": {}}],
})  # fmt: skip
def test_records_that_lie(tmp_path: Path, content: dict[str, Any], said: str) -> None:
    refused(archive(tmp_path / "a.pt", tensor(), **content), said)
    others = {"0": FLOATS, "../constants.pkl": b""}
    assert load(archive(tmp_path / "b.pt", tensor(), others)).tolist() == [1, 2, 3, 4]


def test_an_archive_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    with path.open("wb") as file:
        np.savez(file, x=np.zeros(3))
    refused(path, "not of torch.save")


def test_two_end_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pt"
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)  # more members get a second one
    save({"x": minigrad.ones(3)}, path)
    assert load(path)["x"].tolist() == [1, 1, 1]
    data = path.read_bytes()
    for at in range(len(data) - 22 - 20 - 56, len(data)):  # a damage harms nothing, or is noticed
        path.write_bytes(data[:at] + bytes([data[at] ^ 3]) + data[at + 1 :])
        with contextlib.suppress(LoadError):
            assert load(path)["x"].tolist() == [1, 1, 1]


# The old format


@lies({
    "not of torch.save": [{"magic": pickled(1)}, {"version": pickled(1000)}],
    "storages are not those": [
        {"names": b"]"}, {"names": b"K\1"}, {"names": b"](" + text("1") + b"e"}],
    "cut off": [{"names": b"](" + text("0") * 2 + b"e"}],
    "storage 0 has another size": [
        {"storages": {"0": FLOATS[:8]}}, {"storages": {"0": FLOATS * 2}}],
    "storage 0 claims": [{"content": tensor((2**40,), of=storage(count=2**40))}],
})  # fmt: skip
def test_an_old_file_that_lies(tmp_path: Path, content: dict[str, Any], said: str) -> None:
    refused(old(tmp_path / "a.pt", **{"content": tensor(), **content}), said)


def test_old_files_that_are_cut_off(tmp_path: Path) -> None:
    path = old(tmp_path / "a.pt", tensor())
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(LoadError):
            load(path)
    path.write_bytes(data + b"\0")
    refused(path, "bytes were added")


# Damage by chance, in archives whose checksums are right


def damaged_pickle(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        at, length = draw.randrange(len(changed)), draw.randrange(1, 12)
        match draw.randrange(5):
            case 0:
                changed[at] = draw.randrange(256)
            case 1:
                changed[at:at] = draw.randbytes(length)
            case 2:
                del changed[at : at + length]
            case 3:  # an opcode for another
                changed[at] = draw.choice(
                    b"(.]})aeubRsthjqrKJMXcNtQ\x81\x85\x86\x87\x88\x89\x8a\x93"
                )
            case 4:
                start = draw.randrange(len(changed))
                changed[at:at] = changed[start : start + 3 * length]
        changed = changed or bytearray(b".")
    return bytes(changed)


def fuzz(folder: Path, count: int, seed: int) -> collections.Counter[str]:
    """Damage pickles, and load each in both formats: a value, or an error, and little memory."""
    draw, outcomes = random.Random(seed), collections.Counter[str]()
    state: Any = OrderedDict(weight=nn.Parameter([[1.0, 2.0], [3.0, 4.0]]), bias=minigrad.ones(2))
    state._metadata = {"": {"version": 1}}
    value = {"model": state, "step": 3, "size": (1, 2), "names": {"a", "b"}, "raw": b"\0\1"}
    save(value, folder / "file.pt")
    with zipfile.ZipFile(folder / "file.pt") as file:
        content = file.read("archive/data.pkl")[2:-1]
        storages = {str(i): file.read(f"archive/data/{i}") for i in range(2)}
    tracemalloc.start()
    try:
        for i in range(count):
            write = old if i % 3 == 0 else archive
            path = write(folder / "damaged.pt", damaged_pickle(content, draw), storages)
            try:
                repr(load(path))
                outcomes["loaded"] += 1
            except LoadError as error:
                assert str(error).startswith(f"load: {path}: "), error
                assert len(str(error)) < 1000, error
                outcomes["refused"] += 1
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    return outcomes


@pytest.mark.parametrize(
    ("count", "seed"),
    [(300, 0), *(pytest.param(3000, seed, marks=pytest.mark.long) for seed in (1, 2, 3))],
)
def test_pickles_damaged_by_chance(tmp_path: Path, count: int, seed: int) -> None:
    outcomes = fuzz(tmp_path, count, seed)
    assert outcomes["refused"] > 2 * count // 3
    assert outcomes.total() == count
