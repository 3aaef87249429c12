"""What cannot be said as a graph is refused by name, and no file is left that is wrong."""

import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import Wrapped

import minigrad
from minigrad import Tensor, nn, ops
from minigrad.autograd import primitive
from minigrad.autograd.primitives import registry
from minigrad.nn import functional as F
from minigrad.onnx import export
from minigrad.onnx.exporter import TABLE
from minigrad.onnx.sizes import Size, fit

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


class Outer(nn.Module):
    """One with such a module as a part."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.inner = Wrapped(function)

    def forward(self, x: Tensor, mask: Any = None) -> Any:
        return self.inner(self.linear(x), mask)


AXES = {"x": {0: "batch", 1: "length"}}


def selected(x: Tensor) -> Tensor:
    y = x * 1
    y[x[..., 0] < 99] = x.reshape(-1, 4) * 2
    return y


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "an op without an operator": (ops.median, r"median: this op has no ONNX op.*\[in inner\]"),
    "dropout that never stops": (lambda x: F.dropout(x, 0.5, training=True), "dropout: .*inner"),
    "an array from sizes": (lambda x: x + np.hanning(x.shape[1])[:, None],
                            r"add: an array of float64.*\[in inner\]"),
    "an index from sizes": (lambda x: x[:, np.arange(x.shape[1]) * 7 % x.shape[1]],
                            "getitem: an array of int64"),
    "a root of a size": (lambda x: x / math.sqrt(x.shape[1]), "divide: b is .* fix the size"),
    "a mask of a size": (
        lambda x: ops.where((np.arange(x.shape[1]) == x.shape[1] // 2)[:, None], x, 0.0),
        "where: .*bool",
    ),
    "a loop": (lambda x: ops.stack([x[:, i] for i in range(x.shape[1])]), "runs instead|it reads"),
    "axes that may be 1": (ops.squeeze, "squeeze: which axes have length 1"),
    "a bool array in an index": (lambda x: x[x > 0], "getitem: a bool array"),
    "what a bool array selects": (selected, "setitem: only values that are the same"),
    "rounding to digits": (lambda x: ops.round(x, 2), "round: decimals=2"),
    "the larger bool": (lambda x: ops.maximum(x > 0, x < 1), "maximum: on bools"),
    "bits": (lambda x: ops.astype(x, np.int64) & 1, "bitwise_and: only bools are exp.* not int64"),
    "another norm": (lambda x: ops.norm(x, ord=3), "norm: ord=3: only 1, 2 and inf"),
    "repeats of each": (lambda x: ops.repeat(x, [1, 2, 1, 0], -1) * x[..., :1], "repeat: only one"),
    "windows of an open axis": (lambda x: ops.unfold(x, 1, 2, 1), "unfold: the number of windows"),
    "another padding": (lambda x: ops.pad(x, 1, mode="symmetric"), "pad: mode .symmetric."),
    "a bool as index": (lambda x: x[:, True], "getitem: a bool in an index"),
    "pooled integers": (lambda x: F.max_pool1d(ops.astype(x, np.int64), 2), "max_pool: only fl"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    function, message = REFUSED[name]
    with pytest.raises(NotImplementedError, match=message):
        export(Outer(function), minigrad.randn(2, 5, 4), tmp_path / "model.onnx", dynamic_axes=AXES)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_computes_something_else_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.onnx"
    export(nn.ReLU(), minigrad.randn(2, 5), path)
    before = path.read_bytes()
    monkeypatch.setitem(TABLE, registry["relu"], TABLE[registry["sigmoid"]])
    with pytest.raises(RuntimeError, match="differs by"):
        export(nn.ReLU(), minigrad.randn(2, 5), path)
    assert path.read_bytes() == before
    assert len([*tmp_path.iterdir()]) == 1
    assert export(nn.ReLU(), minigrad.randn(2, 5), path, verify=False).difference is None


def test_without_onnxruntime_onnx_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    found = {"onnxruntime": lambda name: None}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found.get(name, real)(name))
    model, x, path = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 5, 8), tmp_path / "m"
    assert export(model, x, path.with_suffix(".onnx")).difference <= 1e-5
    monkeypatch.setitem(TABLE, registry["relu"], TABLE[registry["sigmoid"]])
    with pytest.raises(RuntimeError, match="differs by"):
        export(model, x, path.with_suffix(".onnx"))


def test_without_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx onnxruntime"):
        export(nn.ReLU(), minigrad.ones(2, 3), tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("model", "inputs", "options", "message"),
    [
        (lambda x: x, np.ones(3), {}, "a module expected"),
        (nn.ReLU(), {"y": np.ones(3)}, {}, "do not fit ReLU.forward"),
        (nn.ReLU(), (3.0,), {}, "no tensor or array"),
        (Wrapped(lambda x: x.shape), np.ones(3), {}, "output_0 is a int"),
        (nn.ReLU(), np.ones(3), {"dynamic_axes": {"x": {0: "n"}}}, "names 'x'; the inputs are"),
        (nn.ReLU(), np.ones(3), {"dynamic_axes": {"input": {1: "n"}}}, "has no axis 1"),
        (nn.ReLU(), np.ones((3, 4)), {"dynamic_axes": {"input": {0: "n", 1: "n"}}}, "'n' is 3"),
        (nn.Linear(4, 2).double(), np.ones((3, 4)), {"dynamic_axes": {"input": {1: "n"}}}, "does"),
        (nn.Linear(4, 2).double(), np.ones((3, 5)), {}, "linear"),
    ],
)  # fmt: skip
def test_bad_arguments(model: Any, inputs: Any, options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        export(model, inputs, tmp_path / "model.onnx", **options)


def test_outputs_are_named(tmp_path: Path) -> None:
    model = Wrapped(lambda x: {"first": x, "rest": (x + 1, [x * 2])})
    written = export(model, minigrad.randn(2, 3), tmp_path / "model.onnx")
    assert [*written.outputs] == ["output_first", "output_rest_0", "output_rest_1_0"]


@pytest.mark.parametrize("name", ["leaky_for_export", "relu", "tanh", "add", "getitem", "softmax"])
def test_an_op_of_ones_own_is_not_exported_as_what_has_its_name(name: str, tmp_path: Path) -> None:
    """It is exported by its meaning, if it has one."""

    def forward(x: Any) -> Any:
        return np.where(x > 0, x, 0.1 * x)

    forward.__name__ = name
    leaky = primitive(forward)
    model, x = Wrapped(leaky), minigrad.randn(2, 3)
    with pytest.raises(NotImplementedError, match=rf"[ .]{name}: "):
        export(model, x, tmp_path / "model.onnx", verify=False)
    leaky.defdecomposition(lambda x: minigrad.where(x > 0, x, 0.1 * x))
    assert export(model, x, tmp_path / "model.onnx").difference <= 1e-6


def test_a_cache_cannot_be_part_of_a_file(tmp_path: Path) -> None:
    layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)
    inputs = {"src": x, "kv_cache": nn.DynamicKVCache(), "use_cache": True}
    with pytest.raises(TypeError, match="kv_cache"):
        export(layer, inputs, tmp_path / "model.onnx")


def test_parameters_are_stored_once(tmp_path: Path) -> None:
    """Tied ones under their first name, as in `named_parameters`."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    export(model, minigrad.randn(2, 4), tmp_path / "model.onnx")
    names = [one.name for one in onnx.load(tmp_path / "model.onnx").graph.initializer]
    assert sorted(names) == ["0.bias", "0.weight", "1.bias"]


SIZES = [{"n": n, "t": t} for n, t in ((2, 5), (3, 4), (4, 6), (3, 8), (5, 9), (2, 7))]


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda n, t: 7, 7),
        (lambda n, t: t, Size(((1, ("t",)),))),
        (lambda n, t: 2 * t - 1, Size(((2, ("t",)),), -1)),
        (lambda n, t: 8 * n * t, Size(((8, ("n", "t")),))),
        (lambda n, t: n + 2 * t + 1, Size(((1, ("n",)), (2, ("t",))), 1)),
        (lambda n, t: t // 2, None),
        (lambda n, t: max(t, 6), None),
        (lambda n, t: t * t, None),
    ],
)
def test_sizes_are_found_from_numbers(function: Callable[..., int], found: Any) -> None:
    assert fit([function(**sizes) for sizes in SIZES], SIZES) == found
