"""Files of PyTorch without PyTorch: what is saved comes back."""

from __future__ import annotations

import collections
import math
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pt_files import (
    archive,
    called,
    named,
    number,
    numbers,
    old,
    storage,
    tensor,
    text,
)  # fmt: skip
from refusals import refused

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.autograd.views import owner
from minigrad.io import load, save
from minigrad.io.pt import zip_writer

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
]  # fmt: skip


def round_trip(value: Any, folder: Path) -> Any:
    save(value, folder / "file.pt")
    return load(folder / "file.pt")


def memory(tensor: Tensor) -> int:
    """The address of the memory of a tensor."""
    return owner(tensor._data).__array_interface__["data"][0]


# What is saved comes back

atoms = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary(max_size=5)
    | st.text(st.characters(), max_size=5)
)  # fmt: skip
keys = atoms | st.tuples(atoms, atoms)
values = st.recursive(
    atoms | st.sets(keys, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4).map(OrderedDict)
    ),
    max_leaves=12,
)


@given(value=values)
def test_nested_values_come_back(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = round_trip(value, tmp_path_factory.getbasetemp())
    assert repr(found) == repr(value) or found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".PT"])
def test_a_state_dict(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"weights{suffix}"
    model, other = nn.TransformerEncoderLayer(8, 2, 16), nn.TransformerEncoderLayer(8, 2, 16)
    save(model.state_dict(), path)
    assert other.load_state_dict(load(path)) == ([], [])
    for name, x in model.state_dict().items():
        assert np.array_equal(x.numpy(), other.state_dict()[name].numpy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(tmp_path: Path, dtype: str) -> None:
    info = np.iinfo(dtype) if dtype.startswith(("int", "uint")) else None
    ends = [info.min, info.max] if info else [0, 1] if dtype == "bool" else [-1.5, math.inf]
    array = np.array(ends, dtype)
    found = round_trip({"x": array, "t": minigrad.tensor(array), "d": array.dtype}, tmp_path)
    for x in (found["x"], found["t"]):
        assert type(x) is Tensor
        assert x.dtype == dtype
        assert x.numpy().tobytes() == array.tobytes()
    assert found["d"] == dtype


def test_every_layout(tmp_path: Path) -> None:
    base = np.arange(24.0).reshape(2, 3, 4)
    layouts = {
        "transposed": base.copy().T,
        "column": base.copy()[:, 0],
        "reversed": base.copy()[::-1, :, ::-2],
        "spread": np.broadcast_to(base[0, 0].copy(), (3, 4)),
        "windows": np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3),
        "big_endian": base.astype(">f4"),
        "zero_dim": np.array(3.0),
        "empty": np.zeros((0, 3), np.float16),
        "field": np.zeros(3, "f4,i2")["f0"],
        "read_only": np.frombuffer(b"12345678", np.int32),
        "odd": np.frombuffer(b"x12345678", np.uint8)[1:].view(np.int64),
        "one": np.ones((3, 4))[:1, ::-1][:, :1],
    }
    found = round_trip(layouts, tmp_path)
    for name, array in layouts.items():
        x = found[name]._data
        assert x.shape == array.shape, name
        assert x.dtype.isnative, name
        assert x.tobytes() == array.astype(x.dtype).tobytes(), name
        if name in ("transposed", "column", "spread", "windows"):
            assert x.strides == array.strides, name
        assert x.flags.writeable == (name not in ("spread", "windows")), name


def test_what_is_shared_stays_shared(tmp_path: Path) -> None:
    x = minigrad.arange(12.0).reshape(3, 4)
    apart = np.arange(6.0)
    value = {
        "x": x, "again": x, "turned": x.T[1:], "row": x[1], "left": apart[:3], "right": apart[3:],
        "bits": x.data.view(np.int32),
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


def test_gradients_and_parameters(tmp_path: Path) -> None:
    weight = nn.Parameter([1.0, 2.0])
    value = {
        "weight": weight, "fixed": nn.Parameter([3.0], requires_grad=False),
        "leaf": minigrad.ones(2).requires_grad_(), "result": weight * 2, "plain": minigrad.ones(2),
    }  # fmt: skip
    found = round_trip(value, tmp_path)
    kinds = {name: (type(x), x.requires_grad) for name, x in found.items()}
    assert kinds == {
        "weight": (nn.Parameter, True), "fixed": (nn.Parameter, False), "leaf": (Tensor, True),
        "result": (Tensor, True), "plain": (Tensor, False),
    }  # fmt: skip
    (found["weight"] * found["leaf"]).sum().backward()
    assert found["leaf"].grad.tolist() == [1, 2]
    assert found["weight"].is_leaf
    optim.SGD([found["weight"]], lr=1.0).step()
    assert found["weight"].tolist() == [0, 1]


def test_the_metadata_of_a_state_dict(tmp_path: Path) -> None:
    state: Any = OrderedDict(weight=minigrad.ones(2))
    state._metadata = OrderedDict([("", {"version": 1})])
    found = round_trip({"model": state, "empty": OrderedDict()}, tmp_path)
    assert type(found["model"]) is type(found["empty"]) is OrderedDict
    assert found["model"]._metadata == state._metadata
    assert not vars(found["empty"])


def test_classes_of_ones_own_come_back_plain(tmp_path: Path) -> None:
    value = [
        collections.defaultdict(list, a=[1]), collections.namedtuple("Point", "x y")(1, 2),
        type("Whole", (int,), {})(3), np.float16(0.5), np.bool_(True), np.int64(-7),
        minigrad.ones(1).device,
    ]  # fmt: skip
    found = round_trip(value, tmp_path)
    assert found == [{"a": [1]}, (1, 2), 3, 0.5, True, -7, "cpu"]
    assert [type(part) for part in found[:6]] == [dict, tuple, int, float, bool, int]


@pytest.mark.parametrize(
    "value", [2**31, -(2**31) - 1, 2**63, -(2**64), 2**2039, -(2**2039), 2**3000]
)
def test_large_integers(tmp_path: Path, value: int) -> None:
    assert round_trip([value], tmp_path) == [value]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_what_can_be_saved_can_be_loaded(tmp_path: Path) -> None:
    """The limits of both are the same."""
    assert round_trip(nested(100), tmp_path) == nested(100)
    key = tuple(range(100))
    assert round_trip({key: {key}}, tmp_path) == {key: {key}}


endless: list[Any] = []
endless.append(endless)


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        ({"a": {"b": [0, 1j]}}, TypeError, "a.b.1 is of type complex"),
        ([object()], TypeError, "0 is of type object"),
        ([frozenset()], TypeError, "0 is of type frozenset"),
        (nn.Linear(1, 1), TypeError, "of them; pass its state_dict()"),
        ({"f": len}, TypeError, "f is of type builtin_function_or_method"),
        ({"x": np.array([None])}, TypeError, "x has dtype object"),
        ({"x": np.zeros(2, complex)}, TypeError, "x has dtype complex128"),
        ({"x": np.datetime64(0, "s")}, TypeError, "x is of type datetime64"),
        ({"x": np.dtype("c8")}, TypeError, "x is of type "),
        ({"a": {frozenset(): 0}}, TypeError, "a has the key frozenset()"),
        ({"a": {tuple(range(101)): 1}}, TypeError, "a has the key (0, 1, 2"),
        ({"a": {((1,), 2)}}, TypeError, "a has the element ((1,), 2)"),
        (endless, ValueError, "contains itself"),
        (nested(1000), ValueError, "nested too deep"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_saved_is_named(
    tmp_path: Path, value: Any, error: type[Exception], said: str
) -> None:
    path = tmp_path / "file.pt"
    path.write_text("what was there")
    with pytest.raises(error) as caught:
        save(value, path)
    message = str(caught.value)
    assert message.startswith(f"save: {path}: ")
    assert said in message
    assert path.read_text() == "what was there"
    assert [*tmp_path.iterdir()] == [path]


def test_equal_values_make_equal_files(tmp_path: Path) -> None:
    files = []
    for _ in range(2):
        value = {"x": minigrad.ones(3), "s": {"a", "b", "c"}, "y": np.arange(3)}
        save(value, tmp_path / "file.pt")
        files.append((tmp_path / "file.pt").read_bytes())
    assert files[0] == files[1]


def test_the_records_of_a_file(tmp_path: Path) -> None:
    save({"x": minigrad.ones(3), "e": minigrad.zeros(0), "y": np.arange(3)}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as file:
        assert file.testzip() is None
        records = {name.removeprefix("archive/"): file.read(name) for name in file.namelist()}
        for record in file.infolist():  # its content begins at a multiple of 64
            start = record.header_offset
            lengths = struct.unpack(
                "<2H", (tmp_path / "a.pt").read_bytes()[start + 26 : start + 30]
            )
            assert (start + 30 + sum(lengths)) % 64 == 0, record
    assert [*records] == [
        "data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0", "data/1",
        "data/2", "version", ".data/serialization_id",
    ]  # fmt: skip
    assert records["version"] == b"3\n"
    assert records["byteorder"] == sys.byteorder.encode()
    assert records["data/0"] == np.ones(3, np.float32).tobytes()
    assert records["data/1"] == b""
    assert len(records[".data/serialization_id"]) == 40


def test_the_fields_of_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are used from 4 GiB on; here they are used from some bytes on."""
    monkeypatch.setattr(zip_writer, "LARGE", 100)
    value = {"x": np.arange(100.0), "y": np.arange(3)}
    found = round_trip(value, tmp_path)
    assert all(np.array_equal(found[name].numpy(), value[name]) for name in value)
    with zipfile.ZipFile(tmp_path / "file.pt") as file:
        assert file.testzip() is None


def test_a_whole_training(tmp_path: Path) -> None:
    def trained() -> dict[str, Any]:
        model = nn.Linear(3, 2)
        optimizer = optim.AdamW(model.parameters(), lr=0.1)
        (model(minigrad.ones(4, 3)) ** 2).sum().backward()
        optimizer.step()
        return {"model": model, "optimizer": optimizer}

    parts, other = trained(), trained()
    path = tmp_path / "training.pt"
    minigrad.io.save_training(path, **parts, step=3)
    drawn = minigrad.random.rand(3).tolist()
    assert minigrad.io.load_training(path, **other) == {"step": 3}
    assert minigrad.random.rand(3).tolist() == drawn
    for part in parts:
        assert repr(parts[part].state_dict()) == repr(other[part].state_dict())


# What others write


def test_a_file_by_hand(tmp_path: Path) -> None:
    for path in (archive(tmp_path / "a.pt", tensor()), old(tmp_path / "b.pt", tensor())):
        assert load(path).tolist() == [1, 2, 3, 4]


def test_later_protocols(tmp_path: Path) -> None:
    value = {"a": [1, (2, {"x", 3})], "b": b"bytes" * 100, "long": "é" * 300, "n": [None, 2.5]}
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        content = pickle.dumps(value, protocol)[:-1]
        assert load(archive(tmp_path / "a.pt", content, {})) == value


def test_names_of_python_2(tmp_path: Path) -> None:
    name = "é".encode()
    content = b"}U" + bytes([len(name)]) + name + b"K\x01s"
    assert load(archive(tmp_path / "a.pt", content, {})) == {"é": 1}
    pairs = b"](](" + text("a") + b"K\x01ee"
    content = called("collections OrderedDict", pairs)
    assert load(archive(tmp_path / "a.pt", content, {})) == OrderedDict(a=1)


@pytest.mark.parametrize("dtype", ["<i2", "<f4", "<f8"])
def test_big_endian(tmp_path: Path, dtype: str) -> None:
    array = np.array([1, -2, 3], dtype)
    kind = {"<i2": "ShortStorage", "<f4": "FloatStorage", "<f8": "DoubleStorage"}[dtype]
    content = tensor((3,), of=storage(count=3, kind=f"torch {kind}"))
    data = {"0": array.astype(dtype.replace("<", ">")).tobytes()}
    x = load(archive(tmp_path / "a.pt", content, data, byteorder=b"big"))
    assert x.tolist() == [1, -2, 3]
    assert x.dtype.isnative
    bytes_ = storage(count=4, kind="torch.storage UntypedStorage")
    content = tensor((2,), of=bytes_, more=named("torch uint16"), version=3)
    x = load(archive(tmp_path / "a.pt", content, {"0": b"\0\1\2\0"}, byteorder=b"big"))
    assert x.tolist() == [1, 512]
    assert x.dtype == np.uint16


@pytest.mark.parametrize("write", [archive, old])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_bfloat16_is_widened_on_request(tmp_path: Path, write: Any, byteorder: str) -> None:
    values = np.array([1.5, -0.0, np.inf, np.nan, 1e-40, -3e38], np.float32)
    bits = (values.view(np.uint32) >> 16).astype("<u2")
    of = storage(count=6, kind="torch BFloat16Storage")
    content = b"(" + tensor((6,), of=of) + tensor((2, 2), (1, 2), 1, of=of) + b"t"
    options: Any = {"itemsize": 2} if write is old else {"byteorder": byteorder.encode()}
    if byteorder == "big" and write is archive:
        data = bits.byteswap().tobytes()
    else:
        data = bits.tobytes()
    path = write(tmp_path / "a.pt", content, {"0": data}, **options)
    refused(path, 'bfloat16="float32"')
    x, part = load(path, bfloat16="float32")
    assert x.dtype == np.float32
    assert memory(x) == memory(part)
    expected = (bits.astype(np.uint32) << 16).view(np.float32)
    assert x.numpy().tobytes() == expected.tobytes()
    assert part.numpy().tobytes() == expected[1:5].reshape(2, 2).T.tobytes()
    refused(write(tmp_path / "b.pt", named("torch bfloat16"), {}), 'bfloat16="float32"')
    with pytest.raises(ValueError, match="bfloat16=.*'float16'"):
        load(path, bfloat16="float16")  # type: ignore[arg-type]


def test_a_leaf_that_repeats_its_elements_gets_memory(tmp_path: Path) -> None:
    content = tensor((3, 4), (0, 1), requires=b"\x88")
    x = load(archive(tmp_path / "a.pt", content))
    assert x.tolist() == [[1, 2, 3, 4]] * 3
    assert x.requires_grad
    optim.SGD([x], lr=1.0)
    x.sum().backward()
    assert x._data.flags.writeable


def test_devices_sizes_and_dtypes(tmp_path: Path) -> None:
    content = b"(" + called("torch device", text("cuda"), number(1)) + called(
        "torch Size", numbers(2, 3)
    ) + named("torch float16") + b"t"  # fmt: skip
    device, size, dtype = load(archive(tmp_path / "a.pt", content, {}))
    assert device == "cpu"
    assert device.type == "cpu"
    assert size == (2, 3)
    assert dtype == np.float16
