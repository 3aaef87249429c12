"""Files of PyTorch are read here, and files written here by PyTorch: bit for bit."""

import math
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from side_by_side import torch

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd.views import owner
from minigrad.io import LoadError, load, save

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64"]


@pytest.fixture(params=[True, False], ids=["zip", "old"])
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """What PyTorch saves in one of its formats, read here."""

    def read(value: Any, **options: Any) -> Any:
        path = tmp_path / "theirs.pt"
        torch.save(value, path, _use_new_zipfile_serialization=request.param)
        return load(path, **options)

    return read


@pytest.fixture(params=[True, False], ids=["mmap", "read"])
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """What is saved here, read by PyTorch."""

    def read(value: Any) -> Any:
        save(value, tmp_path / "ours.pt")
        return torch.load(tmp_path / "ours.pt", weights_only=True, mmap=request.param)

    return read


def array(dtype: str) -> np.ndarray:
    """The extreme values of a dtype."""
    if dtype == "bool":
        return np.array([True, False, True])
    if dtype.startswith("f"):
        info = np.finfo(dtype)
        return np.array([info.max, info.tiny, -0.0, math.nan, -math.inf], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, 1], dtype)


def address(x: Tensor) -> int:
    return owner(x._data).__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str, theirs: Any, ours: Any) -> None:
    values = array(dtype)
    x = theirs({"x": torch.from_numpy(values.copy()), "dtype": getattr(torch, dtype)})
    assert x["x"].dtype == dtype == x["dtype"]
    assert x["x"].numpy().tobytes() == values.tobytes()
    y = ours({"x": minigrad.tensor(values), "array": values, "dtype": np.dtype(dtype)})
    assert y["x"].dtype == y["array"].dtype == y["dtype"] == getattr(torch, dtype)
    for found in (y["x"], y["array"]):
        assert found.numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_of_a_big_endian_machine(dtype: str, tmp_path: Path) -> None:
    """Its files are those of this machine with the bytes of each element reversed."""
    values = array(dtype)
    torch.save(torch.from_numpy(values.copy()), tmp_path / "little.pt")
    reversed_ = {"byteorder": b"big", "0": values.byteswap().tobytes()}
    little, big = zipfile.ZipFile(tmp_path / "little.pt"), zipfile.ZipFile(tmp_path / "big.pt", "w")
    with little, big:
        for name in little.namelist():
            big.writestr(name, reversed_.get(name.rpartition("/")[2], little.read(name)))
    assert load(tmp_path / "big.pt").numpy().tobytes() == values.tobytes()


def test_layouts(theirs: Any, ours: Any) -> None:
    base = torch.arange(24.0).reshape(2, 3, 4)
    value = {
        "base": base, "turned": base.permute(2, 0, 1), "part": base[1, 1:, ::2], "row": base[0, 1],
        "number": torch.tensor(3.5), "of_base": base[1, 2, 3], "empty": torch.zeros(0, 3),
        "empty_part": base[:, 1:1], "spread": torch.arange(3.0).expand(2, 3),
        "windows": torch.arange(6.0).unfold(0, 3, 1), "channels_last":
        torch.arange(16.0).reshape(1, 4, 2, 2).to(memory_format=torch.channels_last),
        "again": base,
    }  # fmt: skip
    found = theirs(value)
    back = ours(found)
    assert [*found] == [*back] == [*value]
    assert found["again"] is found["base"]
    assert back["again"] is back["base"]
    for name, x in value.items():
        assert found[name].shape == tuple(x.shape) == tuple(back[name].shape), name
        assert found[name].tolist() == x.tolist() == back[name].tolist(), name
        if x.numel():
            steps = tuple(step * x.element_size() for step in x.stride())
            assert found[name]._data.strides == steps, name
            assert back[name].stride() == x.stride(), name
    shared = ("base", "turned", "part", "row", "of_base")
    assert {address(found[name]) for name in shared} == {address(found["base"])}
    storages = {back[name].untyped_storage().data_ptr() for name in shared}
    assert storages == {back["base"].untyped_storage().data_ptr()}
    found["base"][...] = 0
    assert not found["turned"].numpy().any()
    assert found["of_base"].item() == 0


def test_nested_values(theirs: Any, ours: Any) -> None:
    value = {
        "list": [1, -1, 255, 256, -(2**31), 2**31, 2**63, -(10**30)], "tuple": (1.5, (), ("é", "")),
        "set": {1, "a", (2, b"b")}, "raw": b"\x00\xff", "none": None, "bools": [True, False],
        "ordered": OrderedDict(b=[OrderedDict()], a={}), 3: {None: math.inf, 2.5: "keys"},
        "long": list(range(1000)), "text": "x" * 70000,
    }  # fmt: skip
    found = theirs(value)
    assert found == value
    assert ours(value) == value
    # The types and the order of dicts too; the order of a set depends on how it was made.
    assert repr({**found, "set": None}) == repr({**value, "set": None})


def test_sizes_and_devices(theirs: Any, ours: Any) -> None:
    value = [torch.Size([2, 3]), torch.device("cpu"), torch.device("cuda", 1), torch.float16]
    assert theirs(value) == [(2, 3), "cpu", "cpu", np.float16]
    assert ours([minigrad.ones(1).device]) == [torch.device("cpu")]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(tmp_path: Path, protocol: int) -> None:
    state = {**torch.nn.Linear(3, 2).state_dict(), "set": {1}, "raw": b"bytes"}
    torch.save(state, tmp_path / "a.pt", pickle_protocol=protocol)
    found = load(tmp_path / "a.pt")
    assert found["weight"].tolist() == state["weight"].tolist()
    assert found["set"] == {1}
    assert found["raw"] == b"bytes"


def test_state_dicts(theirs: Any, ours: Any) -> None:
    layer, model = torch.nn.TransformerEncoderLayer(8, 2, 16), nn.TransformerEncoderLayer(8, 2, 16)
    state = layer.state_dict()
    found = theirs(state)
    assert type(found) is OrderedDict
    assert found._metadata == state._metadata
    model.load_state_dict(found)
    back = ours(found)
    assert type(back) is OrderedDict
    assert back._metadata == state._metadata
    assert all(torch.equal(back[name], state[name]) for name in state)
    linear = nn.Linear(3, 2)
    torch.nn.Linear(3, 2).load_state_dict(ours(linear.state_dict()))


def test_parameters(theirs: Any, ours: Any) -> None:
    weight = torch.nn.Parameter(torch.ones(2, 3))
    value = {
        "weight": weight, "fixed": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "leaf": torch.ones(2, requires_grad=True), "plain": torch.ones(2), "tied": weight,
        "values": weight.data, "result": weight * 2,
    }  # fmt: skip
    found = theirs(value)
    back = ours(found)
    for name, x in value.items():
        parameter = isinstance(x, torch.nn.Parameter)
        assert isinstance(found[name], nn.Parameter) == parameter, name
        assert isinstance(back[name], torch.nn.Parameter) == parameter, name
        assert found[name].requires_grad == back[name].requires_grad == x.requires_grad, name
    assert found["tied"] is found["weight"]
    assert back["tied"] is back["weight"]
    assert address(found["values"]) == address(found["weight"])
    assert back["values"].data_ptr() == back["weight"].data_ptr()


def test_bfloat16(theirs: Any) -> None:
    x = torch.tensor([1.5, -0.0, math.inf, 1e-40, -3e38, math.nan], dtype=torch.bfloat16)
    found = theirs({"x": x, "part": x[1::2], "dtype": torch.bfloat16})
    assert found["x"].numpy().tobytes() == x.float().numpy().tobytes()
    assert found["part"].numpy().tobytes() == x[1::2].float().numpy().tobytes()
    assert address(found["x"]) == address(found["part"])
    assert found["dtype"] == np.float32


NOT_SUPPORTED = [
    (lambda: torch.ones(2).to_sparse(), "_rebuild_sparse_tensor.*to_dense"),
    (lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8), "dequantize"),
    (lambda: torch.ones(2, dtype=torch.complex64), "ComplexFloatStorage.*no complex"),
    (lambda: torch.ones(2, dtype=torch.complex64).conj().imag, "resolve_neg"),
    (lambda: 1j, "builtins.complex"),
    (lambda: torch.ones(2, device="meta"), "_rebuild_meta_tensor_no_storage"),
    (lambda: torch.ones(2).to(torch.float8_e4m3fn), "float8_e4m3fn"),
    (lambda: torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear.*state_dict"),
    (lambda: np.float64(1), r"numpy\..*scalar"),
    (lambda: np.ones(2), r"numpy\..*_reconstruct.*from_numpy"),
    (lambda: torch.ones(2).untyped_storage(), "storage"),
    (lambda: frozenset(), "frozenset"),
    (lambda: Path(), "pathlib"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "said"), NOT_SUPPORTED)
def test_what_is_not_supported_is_named(tmp_path: Path, make: Any, said: str) -> None:
    torch.save({"x": make()}, tmp_path / "a.pt")
    with pytest.raises(LoadError, match=f"load: {tmp_path}/a.pt: .*{said}"):
        load(tmp_path / "a.pt")


def test_programs_are_named(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning):
        torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), tmp_path / "a.pt")
    with pytest.raises(LoadError, match=r"compressed.* state_dict\(\)"):
        load(tmp_path / "a.pt")


@pytest.mark.parametrize("large", [False, True], ids=["as they are", "with the fields of 4 GiB"])
def test_where_storages_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """PyTorch finds them, also with the option that lets it compute the places."""
    from torch.utils.serialization import config

    monkeypatch.setenv("TORCH_SERIALIZATION_DEBUG", "1")
    if large:
        monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    value = {str(n): np.arange(n, dtype=np.int8) for n in [*range(130), 1000, 0, 5]}
    save(value, tmp_path / "a.pt")
    with config.patch("load.calculate_storage_offsets", True):
        found = torch.load(tmp_path / "a.pt", weights_only=True, mmap=True)
    assert all(np.array_equal(found[name].numpy(), value[name]) for name in value)
