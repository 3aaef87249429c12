"""What is saved comes back: every kind of value, every dtype and layout, in each format."""

import collections
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from same_values import same

import minigrad
from minigrad import nn
from minigrad.io import LoadError, load, save

SAFETENSORS = pytest.mark.needs("safetensors")
SUFFIXES = [".npz", pytest.param(".safetensors", marks=SAFETENSORS), ".pt"]
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
]  # fmt: skip


@pytest.fixture(params=SUFFIXES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"file{request.param}"


@pytest.fixture(params=SUFFIXES[:2])
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where arrays stay arrays; what is special of .pt is in test_io_pt.py."""
    return tmp_path / f"file{request.param}"


def round_trip(value: Any, path: Path) -> Any:
    save(value, path)
    return load(path)


# Values


def nested_in(leaves: Any, keys: Any, *kinds: Any) -> Any:
    """Lists, tuples and dicts of values, and other dicts."""

    def collected(inner: Any) -> Any:
        some, pairs = st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)
        return st.one_of(some, some.map(tuple), pairs, *(pairs.map(kind) for kind in kinds))

    return st.recursive(leaves, collected, max_leaves=12)


texts = st.text(st.characters(), max_size=5)
scalars = st.none() | st.booleans() | st.integers() | texts
arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))
)
tensors = arrays.map(lambda a: a.dtype.type(1)) | arrays.map(minigrad.tensor)
atoms = scalars | st.floats(allow_nan=False) | st.binary(max_size=5)
keys = atoms | st.tuples(atoms, atoms)
in_arrays = nested_in(scalars | st.floats() | arrays | tensors, scalars)
in_pickles = nested_in(atoms | st.sets(keys, max_size=3), keys, collections.OrderedDict)
VALUES = {".npz": in_arrays, ".safetensors": in_arrays, ".pt": in_pickles}


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(drawn=st.data())
def test_nested_values_come_back(suffix: str, drawn: Any, tmp_path_factory: Any) -> None:
    value = drawn.draw(VALUES[suffix])
    assert same(round_trip(value, tmp_path_factory.getbasetemp() / f"drawn{suffix}"), value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(path: Path, dtype: str) -> None:
    info = np.iinfo(dtype) if dtype.startswith(("int", "uint")) else None
    ends = [info.min, info.max] if info else [0, 1] if dtype == "bool" else [-1.5, math.inf]
    array = np.array(ends, dtype)
    value = {"x": array, "t": minigrad.tensor(array)}
    if path.suffix == ".pt":
        assert round_trip(array.dtype, path) == dtype
        value["x"] = minigrad.tensor(array)
        assert same(round_trip({"x": array, "t": array}, path), value)
    assert same(round_trip(value, path), value)


def test_every_layout(path: Path) -> None:
    base = np.arange(24.0).reshape(2, 3, 4)
    layouts = {
        "transposed": base.copy().T, "column": base.copy()[:, 0],
        "reversed": base.copy()[::-1, :, ::-2], "fortran": np.asfortranarray(base),
        "spread": np.broadcast_to(base[0, 0].copy(), (3, 4)),
        "windows": np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3),
        "big_endian": base.astype(">f4"), "zero_dim": np.array(3.0),
        "empty": np.zeros((0, 3), np.float16), "field": np.zeros(3, "f4,i2")["f0"],
        "read_only": np.frombuffer(b"12345678", np.int32),
        "odd": np.frombuffer(b"x12345678", np.uint8)[1:].view(np.int64),
        "one": np.ones((3, 4))[:1, ::-1][:, :1],
    }  # fmt: skip
    pickled = path.suffix == ".pt"
    for name, x in round_trip(layouts, path).items():
        found = x._data if pickled else x
        assert same(found, layouts[name]), name
        assert found.dtype.isnative, name
        repeated = name in ("spread", "windows")
        assert found.flags.writeable == (not pickled or not repeated), name
        if not pickled:
            assert found.flags.c_contiguous, name
        elif repeated or name in ("transposed", "column"):
            assert found.strides == layouts[name].strides, name


def test_what_is_shared_is_saved_in_each_place(plain: Path) -> None:
    array = np.arange(4.0)
    x = minigrad.tensor([1.0, 2.0])
    value = {"a": array, "view": array[1:], "again": [array, array], "x": x, "y": x}
    found = round_trip(value, plain)
    assert same(found, value)
    found["a"][:] = 0
    assert found["view"][0] == 1
    assert found["again"][0][1] == 1
    assert not np.shares_memory(found["x"].numpy(), found["y"].numpy())


def test_what_is_loaded_stands_alone(path: Path) -> None:
    """It can be written, differentiated, and survives its file."""
    save({"x": minigrad.tensor([1.0, 2.0], requires_grad=True)}, path)
    x = load(path)["x"]
    path.write_bytes(bytes(path.stat().st_size))
    assert x.tolist() == [1, 2]
    assert x.is_leaf
    assert x.requires_grad == (path.suffix == ".pt")
    x.requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


OWN = [
    collections.OrderedDict(b=1, a=2), collections.defaultdict(list, a=[1]),
    collections.namedtuple("Point", "x y")(1, 2), type("Whole", (int,), {})(3),
    type("Number", (float,), {})(math.nan),
]  # fmt: skip


@pytest.mark.parametrize("value", OWN, ids=lambda value: type(value).__name__)
def test_classes_of_ones_own_come_back_plain(path: Path, value: Any) -> None:
    if path.suffix != ".pt" or type(value) is not collections.OrderedDict:
        kind = next(kind for kind in (dict, tuple, int, float) if isinstance(value, kind))
        assert same(round_trip(value, path), kind(value))


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


endless: list[Any] = []
endless.append(endless)


def test_what_can_be_saved_can_be_loaded(path: Path) -> None:
    """The limits of both are the same."""
    assert round_trip(nested(100), path) == nested(100)
    if path.suffix == ".pt":
        key = tuple(range(100))
        assert round_trip({key: {key}}, path) == {key: {key}}


SGD = minigrad.optim.SGD(nn.Linear(1, 1).parameters())
REFUSED: dict[str, list[tuple[Any, str]]] = {
    "each": [
        ([object()], "0 is of type object"),
        ({"a": {"b": [0, 1j]}}, "a.b.1 is of type complex"),
        ([SGD], "0 is of type SGD; what can"), (SGD, "of them; pass its state_dict()"),
        ({"f": len}, "f is of type builtin_function_or_method"),
        ({"x": np.array([None])}, "x has dtype object"),
        ({"x": np.zeros(2, complex)}, "x has dtype complex128"),
        ({"x": np.datetime64(0, "s")}, "x has dtype datetime64"),
        (endless, "contains itself"), (nested(1000), "nested too deep"),
    ],
    "plain": [
        ({"a": {"b": [0, b"bytes"]}}, "a.b.1 is of type bytes"),
        ([nn.Linear(1, 1)], "0 is of type Linear; what can"),
        ({"a": {1, 2}}, "a is of type set"),
        (1j, "the value is of type complex"), ({"a": {(1, 2): 0}}, "a has the key (1, 2)"),
        ({"x": np.array(["a"])}, "x has dtype <U1"),
        ({"x": np.zeros(2, "f4,i4")}, "x has dtype [("),
    ],
    ".pt": [
        ([frozenset()], "0 is of type frozenset"),
        ({"x": np.dtype("c8")}, "x is of type "),
        ({"a": {frozenset(): 0}}, "a has the key frozenset()"),
        ({"a": {tuple(range(101)): 1}}, "a has the key (0, 1, 2"),
        ({"a": {((1,), 2)}}, "a has the element ((1,), 2)"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [(kind, value, said) for kind, rows in REFUSED.items() for value, said in rows],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_saved_is_named(path: Path, kind: str, value: Any, said: str) -> None:
    if kind == ("plain" if path.suffix == ".pt" else ".pt"):
        return
    path.write_text("what was there")
    error = ValueError if said in ("contains itself", "nested too deep") else TypeError
    with pytest.raises(error) as caught:
        save(value, path)
    assert str(caught.value).startswith(f"save: {path}: ")
    assert said in str(caught.value)
    assert path.read_text() == "what was there"
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("name", ["weights", "weights.bin", "weights.pkl", "weights.npy"])
def test_other_suffixes_are_pytorchs_format(tmp_path: Path, name: str) -> None:
    value = {"x": minigrad.ones(2), "names": {"a", b"b"}}
    save(value, tmp_path / name)
    save(value, tmp_path / "weights.pt")
    assert (tmp_path / name).read_bytes() == (tmp_path / "weights.pt").read_bytes()
    assert load(tmp_path / name)["names"] == {"a", b"b"}


def test_one_array_is_numpys(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones(2))
    with pytest.raises(LoadError, match="it is one array of NumPy's: np.load reads it"):
        load(tmp_path / "a.npy")


@pytest.mark.parametrize(
    "place",
    [None, "cpu", minigrad.zeros(1).device, {"cuda:0": "cpu"}, lambda storage, name: storage],
)
def test_where_tensors_go(path: Path, place: Any) -> None:
    save({"x": minigrad.ones(2)}, path)
    for only in (None, True, False):
        found = load(path, place, weights_only=only, mmap=True)
        assert found["x"].tolist() == [1, 1]


@pytest.mark.parametrize("place", ["cuda", {"cpu": "cuda:1"}])
def test_where_no_tensors_go(path: Path, place: Any) -> None:
    save({"x": minigrad.ones(2)}, path)
    with pytest.raises(ValueError, match=r'device="cpu" expected, got .cuda'):
        load(path, map_location=place)


@pytest.mark.parametrize(
    "suffix", [".NPZ", pytest.param(".SafeTensors", marks=SAFETENSORS), ".PT", ".pth"]
)
def test_the_suffix_may_be_written_large(tmp_path: Path, suffix: str) -> None:
    path = str(tmp_path / f"file{suffix}")
    model, other = nn.TransformerEncoderLayer(8, 2, 16), nn.TransformerEncoderLayer(8, 2, 16)
    save(model.state_dict(), path)
    assert other.load_state_dict(load(path)) == ([], [])
    for name, x in model.state_dict().items():
        assert np.array_equal(x.numpy(), other.state_dict()[name].numpy())


def test_equal_values_make_equal_files(path: Path) -> None:
    files = []
    for _ in range(2):
        names = {"a", "b", "c"} if path.suffix == ".pt" else ["a", "b"]
        save({"x": minigrad.ones(3), "steps": [1, 2], "y": np.arange(3), "names": names}, path)
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(path)
    path.mkdir()
    with pytest.raises(LoadError, match="no file"):
        load(path)


# What other programs read and write


def test_numpy_reads_a_state_dict(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    save(model.state_dict(), tmp_path / "weights.npz")
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        assert arrays.files == ["weight", "bias"]
        np.testing.assert_array_equal(arrays["weight"], model.weight.numpy())


def test_a_state_dict_of_numpys_is_read(tmp_path: Path) -> None:
    b = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrays = {"b": b, "a/b": np.arange(3, dtype=">i2")}
    np.savez(tmp_path / "weights.npz", **arrays)
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()}
    expected = {name: minigrad.tensor(array) for name, array in native.items()}
    assert same(load(tmp_path / "weights.npz"), expected)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_both_versions_of_headers(tmp_path: Path, version: tuple[int, int]) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array(member, np.arange(5), version=version)
    assert load(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2, 3, 4]


@SAFETENSORS
def test_safetensors_reads_and_is_read(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    model = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
    save(model.state_dict(), tmp_path / "ours.safetensors")
    arrays = load_file(tmp_path / "ours.safetensors")
    state = model.state_dict()
    assert arrays.keys() == state.keys()
    assert all(np.array_equal(arrays[name], state[name].numpy()) for name in state)
    assert [*load(tmp_path / "ours.safetensors")] == [*state]  # in their order, too

    save_file(arrays, tmp_path / "theirs.safetensors", {"format": "np"})
    found = load(tmp_path / "theirs.safetensors")
    assert all(np.array_equal(found[name].numpy(), arrays[name]) for name in state)
    model.load_state_dict(found)


@SAFETENSORS
def test_bfloat16_is_widened(tmp_path: Path) -> None:
    """Other programs write it; its values are those of float32 with the lower half cut off."""
    values = np.array([[1.5, -0.0, np.inf], [np.nan, 1e-40, -3e38]], np.float32)
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    parts = {
        "all": ("BF16", bits), "none": ("BF16", bits[:0]), "one": ("BF16", bits[0, 0]),
        "beside": ("F32", values),
    }  # fmt: skip
    header, end = {}, 0
    for name, (dtype, part) in parts.items():
        offsets = [end, end + part.nbytes]
        header[name] = {"dtype": dtype, "shape": part.shape, "data_offsets": offsets}
        end = offsets[1]
    text = json.dumps(header).encode()
    start = len(text).to_bytes(8, "little") + text
    data = b"".join(part.tobytes() for _, part in parts.values())
    (tmp_path / "theirs.safetensors").write_bytes(start + data)
    found = {name: tensor.numpy() for name, tensor in load(tmp_path / "theirs.safetensors").items()}
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert [found[name].shape for name in parts] == [(2, 3), (0, 3), (), (2, 3)]
    assert np.array_equal(found["all"].view(np.uint32), bits.astype(np.uint32) << 16)
    assert found["one"] == 1.5
    assert np.array_equal(found["beside"], values, equal_nan=True)


def test_names_that_no_format_takes(plain: Path) -> None:
    names = ["__metadata__", "a\0b", "", "a\\b", "../up", "x" * 300, "a.b", "a_b", "é", "file"]
    state = {name: minigrad.full((2,), float(i)) for i, name in enumerate(names)}
    state |= {"minigrad.json": minigrad.ones(1), "minigrad": minigrad.ones(2)}
    assert same(round_trip(state, plain), state)
    nest = {"a.b": np.arange(1), "a": {"b": np.arange(2)}, "a ": {"b": np.arange(3)}}
    assert same(round_trip(nest, plain), nest)


def test_what_stands_beside_the_arrays_is_json(tmp_path: Path) -> None:
    save({"step": 3, "loss": math.inf}, tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        text = archive.read("minigrad.json").decode()
    document = json.loads(text, parse_constant=pytest.fail)
    assert document["value"] == {"step": 3, "loss": {"$float": "inf"}}


@pytest.mark.parametrize("action", ["save({}, path)", "load(path)"])
def test_a_missing_package_gets_one_line(tmp_path: Path, action: str) -> None:
    path = tmp_path / "file.safetensors"
    path.write_text("what was there")
    program = "import sys; sys.modules['safetensors'] = None; from minigrad import load, save; "
    done = python("-c", f"{program} path = {str(path)!r}; {action}")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "pip install safetensors" in last
    assert path.read_text() == "what was there"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.slow
@SAFETENSORS
def test_a_header_has_a_greatest_size(tmp_path: Path) -> None:
    value, path = "x" * 101_000_000, tmp_path / "file.safetensors"
    with pytest.raises(ValueError, match=f"save: {path}: .*too large.*npz"):
        save(value, path)
    assert not [*tmp_path.iterdir()]
