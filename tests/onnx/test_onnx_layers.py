"""Every layer of a transformer as an ONNX file: the same numbers at any batch and length."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import CASES, Case

import minigrad
from minigrad import Tensor, nn
from minigrad.onnx import export
from minigrad.onnx.runs import flat

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

WITHIN = 1e-5
SEQUENCE = {"input": {0: "batch", 1: "length"}}


def run(path: Path, inputs: dict[str, Any]) -> list[np.ndarray]:
    """What onnxruntime makes of a file."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {name: np.asarray(inputs[name]) for name in [one.name for one in session.get_inputs()]}
    return session.run(None, given)


def arrays(result: Any) -> list[np.ndarray]:
    return [np.asarray(tensor.detach()) for _, tensor in flat(result)]


def difference_of(model: nn.Module, inputs: Any, path: Path, **options: Any) -> float:
    """Export a model, and compare at the same inputs."""
    export(model, inputs, path, **options)
    return difference(model, path, inputs)


def difference(model: nn.Module, path: Path, inputs: dict[str, Any]) -> float:
    """The largest difference between a model and its file, as numbers."""
    with minigrad.no_grad():
        wanted = arrays(model(**inputs))
    found = run(path, inputs)
    assert [a.shape for a in wanted] == [a.shape for a in found]
    assert [a.dtype for a in wanted] == [a.dtype for a in found]
    return max(float(np.abs(a - b).max()) for a, b in zip(wanted, found, strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_layer(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    model = case.make().eval()
    inputs = case.inputs(2, 5)
    written = export(model, inputs, path, dynamic_axes=case.axes)

    content = onnx.load(path)
    onnx.checker.check_model(content, full_check=True)
    named = {one.name: tuple(one.dims) for one in content.graph.initializer}
    shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
    assert shapes.items() <= named.items()
    tensors = [k for k, v in inputs.items() if isinstance(v, (Tensor, np.ndarray))]
    assert {one.name for one in content.graph.input} == {*tensors} == {*written.inputs}

    assert written.difference <= WITHIN
    for size in case.at:
        assert difference(model, path, case.inputs(*size)) <= WITHIN, size


def test_the_table_of_the_page_is_that_of_the_cases() -> None:
    page = Path(__file__).parents[2] / "docs" / "onnx.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line.startswith("| ")]
    listed = [row[1].strip() for row in rows if re.fullmatch(r"0|\d\.\de-\d\d", row[-2].strip())]
    assert listed == [case.name for case in CASES]


def test_training_mode_is_not_exported_and_not_changed(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9))
    x = minigrad.randn(2, 4)
    export(model, x, tmp_path / "model.onnx")
    assert model.training
    assert model[1].training
    assert difference(model.eval(), tmp_path / "model.onnx", {"input": x}) <= WITHIN


def test_double_precision(tmp_path: Path) -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16).double().eval()
    inputs = {"src": minigrad.randn(2, 5, 8).astype(np.float64)}
    assert difference_of(model, inputs, tmp_path / "model.onnx", tolerance=1e-12) <= 1e-12


@pytest.mark.parametrize(
    "mask",
    [np.array([[True, False, False], [False] * 3, [True] * 3]),
     np.where(np.tri(3, dtype=bool), 0, -np.inf).astype(np.float32)],
    ids=["a query that attends nowhere", "floats"],
)  # fmt: skip
def test_masks_of_infinities(mask: np.ndarray, tmp_path: Path) -> None:
    """Softmax of nothing but -inf is zeros here, and NaN in ONNX."""
    x = minigrad.randn(2, 3, 8)
    inputs = {"query": x, "key": x, "value": x, "attn_mask": mask}
    model, path = nn.MultiHeadAttention(8, 2).eval(), tmp_path / "model.onnx"
    assert difference_of(model, inputs, path, dynamic_axes={}) <= WITHIN


def test_a_constant_mask(tmp_path: Path) -> None:
    model = nn.ScaledDotProductAttention(attn_mask=np.tri(5, dtype=bool)).eval()
    x, path = minigrad.randn(2, 5, 8), tmp_path / "model.onnx"
    axes = {name: {0: "batch"} for name in ("query", "key", "value")}
    written = export(model, (x, x, x), path, dynamic_axes=axes)
    assert written.outputs == {"output": ("batch", 5, 8)}
    assert difference(model, path, dict.fromkeys(axes, x)) <= WITHIN


def test_a_table_ends_with_an_error(tmp_path: Path) -> None:
    """Beyond the last position the file refuses, as the model does."""
    path = tmp_path / "model.onnx"
    model, x = nn.LearnedPosEmbedding(12, 8), minigrad.randn(2, 5, 8)
    written = export(model, x, path, dynamic_axes=SEQUENCE)
    assert written.limits == {"length": 12}
    assert run(path, {"input": minigrad.randn(1, 12, 8)})[0].shape == (1, 12, 8)
    with pytest.raises(Exception, match="13"):
        run(path, {"input": minigrad.randn(1, 13, 8)})


@pytest.mark.parametrize("used_before", [0, 100])
def test_a_table_without_an_end_is_as_long_as_asked(tmp_path: Path, used_before: int) -> None:
    path = tmp_path / "model.onnx"
    model = nn.SinusoidalPosEmbedding(embed_dim=8)
    model(minigrad.zeros(1, used_before, 8))
    x = minigrad.randn(2, 5, 8)
    written = export(model, x, path, table_size=300, dynamic_axes=SEQUENCE)
    assert 300 <= written.limits["length"] < 600
    assert len(model.table) < 300  # the model itself was not used
    assert difference(model, path, {"input": minigrad.randn(3, 300, 8)}) <= WITHIN


def test_a_table_that_the_model_does_not_accept(tmp_path: Path) -> None:
    model, x = nn.RotaryPosEmbedding(4, max_seq_len=12), minigrad.randn(2, 5, 4)
    with pytest.raises(ValueError, match=r"length=1024, .*as table_size: .*there are only 12"):
        export(model, x, tmp_path / "model.onnx", dynamic_axes=SEQUENCE)
    written = export(model, x, tmp_path / "model.onnx", dynamic_axes=SEQUENCE, table_size=12)
    assert written.limits == {"length": 12}


def test_a_loop_over_many_steps(tmp_path: Path) -> None:
    """The states of all steps and the last ones, at a length far from the example's."""
    model, path = nn.LSTM(4, 3, num_layers=2, batch_first=True).double().eval(), tmp_path / "a.onnx"
    x = minigrad.randn(2, 5, 4, dtype=np.float64)
    written = export(model, x, path, tolerance=1e-12, dynamic_axes=SEQUENCE)
    assert written.outputs["output_0"] == ("batch", "length", 3)
    assert written.outputs["output_1_1"] == (2, "batch", 3)
    assert difference(model, path, {"input": minigrad.randn(3, 500, 4, dtype=np.float64)}) < 1e-12
    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert kinds.count("Scan") == 2  # and nothing that grows with the length
    assert len(kinds) < 60


def test_loops_have_no_float16(tmp_path: Path) -> None:
    model = nn.GRU(4, 3, batch_first=True).half()
    with pytest.raises(NotImplementedError, match=r"gru: .*float16.*model\.float\(\)"):
        export(model, minigrad.randn(2, 5, 4, dtype=np.float16), tmp_path / "model.onnx")


FIXED = [
    nn.AvgPool2d(3, 2, 1), nn.AvgPool2d(3, 2, 1, ceil_mode=True),
    nn.AvgPool2d(3, 2, 1, True, False), nn.MaxPool2d(3, 2, 1, ceil_mode=True),
    nn.AdaptiveAvgPool2d((3, 2)), nn.AdaptiveMaxPool2d((3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("model", FIXED, ids=repr)
def test_pooling_whose_windows_depend_on_the_size(tmp_path: Path, model: Any) -> None:
    """For images of one size, any number of them."""
    model, path = model.eval(), tmp_path / "model.onnx"
    x = minigrad.randn(2, 3, 8, 7)
    written = export(model, x, path, dynamic_axes={"input": {0: "batch"}})
    assert written.outputs["output"][:2] == ("batch", 3)
    assert difference(model, path, {"input": minigrad.randn(5, 3, 8, 7)}) <= WITHIN
    with pytest.raises(NotImplementedError, match="dynamic_axes"):
        export(model, x, path, dynamic_axes={"input": [2, 3]})


def test_an_image_size_that_is_not_a_polynomial_has_a_name(tmp_path: Path) -> None:
    model, x, axes = nn.MaxPool2d(2), minigrad.randn(2, 3, 8, 7), {"input": [0, 2, 3]}
    written = export(model, x, tmp_path / "model.onnx", dynamic_axes=axes)
    assert written.outputs == {"output": ("input_0", 3, "output_2", "output_3")}


def test_an_axis_of_one_is_dynamic_where_it_is_named(tmp_path: Path) -> None:
    """Issue 45: the batch of an example (1, 1, 28, 28) was fixed at 1."""
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 26 * 26, 3))
    x, path = minigrad.randn(1, 1, 28, 28), tmp_path / "model.onnx"
    written = export(model, x, path, dynamic_axes={"input": {0: "batch"}})
    assert written.inputs == {"input": ("batch", 1, 28, 28)}
    assert difference(model.eval(), path, {"input": minigrad.randn(7, 1, 28, 28)}) <= WITHIN
    assert export(model, x, path).inputs == {"input": (1, 1, 28, 28)}
