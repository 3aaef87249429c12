"""What Python learns of a tensor or a size: a file that is written is right at every size."""

import enum
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import Model

import minigrad
from minigrad import Tensor, ops
from minigrad.nn import functional as F
from minigrad.onnx import export

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

AXES = {"x": {0: "batch", 1: "length"}}
Program = Callable[[Any, Tensor], Any]


def exported(function: Program, folder: Path, **options: Any) -> Any:
    options = {"dynamic_axes": AXES} | options
    return export(Model(function), minigrad.randn(2, 5, 4), folder / "m.onnx", **options)


# Values

# Every way out of a tensor is told by one event: tests/tracing/test_record.py.
VALUES: dict[str, Program] = {
    "item": lambda m, x: x * 2 if x.mean().item() > 100 else x * 3,
    "if": lambda m, x: x * 2 if x.mean() > 100 else x * 3,
    "if, of what an op made": lambda m, x: x * 2 if m.linear(x).isnan().any() else x * 3,
    "numpy": lambda m, x: x + x.numpy().max(),
    "a function of NumPy": lambda m, x: x * 2 if np.array_equal(x, x + 1) else x * 3,
    "detached": lambda m, x: x * 2 if x.detach().mean().item() > 100 else x * 3,
    "a copy": lambda m, x: x * 2 if minigrad.tensor(x.mean()).item() > 100 else x * 3,
    "a number of classes": lambda m, x: F.one_hot(x.argmax(-1)).sum() * x,
}  # fmt: skip


@pytest.mark.parametrize("axes", [AXES, {}], ids=["any size", "fixed"])
@pytest.mark.parametrize("name", VALUES)
def test_values_that_leave_the_graph_are_refused_with_their_line(
    name: str, axes: Any, tmp_path: Path
) -> None:
    line = r"takes values that depend on an input .*test_onnx_branches\.py:\d+: .*x"
    with pytest.raises(NotImplementedError, match=line):
        exported(VALUES[name], tmp_path, dynamic_axes=axes)
    assert not [*tmp_path.iterdir()]


def test_a_shape_that_depends_on_values_is_refused(tmp_path: Path) -> None:
    """Where only the shape is read, too."""
    with pytest.raises(NotImplementedError, match="unique: this op has no ONNX operator"):
        exported(lambda m, x: x * 2 if ops.unique(x).shape[0] > 3 else x * 3, tmp_path)
    with pytest.raises(NotImplementedError, match="getitem: a bool array"):
        exported(lambda m, x: x * 2 if x[x > 0].shape[0] > 99 else x * 3, tmp_path)


CONSTANT = minigrad.tensor([3.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x: x * m.scale.item(),
        lambda m, x: x * float((m.scale * 2).sum()),
        lambda m, x: x * 2 if (CONSTANT * 2).item() > 1 else x,
        lambda m, x: x * np.asarray(m.linear.bias),
        lambda m, x: (f"{x} {x.shape} {np.shape(x)} {np.size(x)}", x * 2)[1],
        lambda m, x: x + np.zeros_like(x[0, 0]),
    ],
)
def test_values_of_parameters_and_constants_may_leave(function: Program, tmp_path: Path) -> None:
    assert exported(function, tmp_path).difference <= 1e-6


def go_on(_m: Any, x: Tensor) -> Tensor:
    try:
        return x * float(x.sum())
    except Exception:  # noqa: BLE001  # export sees through it
        return x


def test_a_model_that_goes_on_after_a_refusal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"takes values .*return x \* float"):
        exported(go_on, tmp_path)


def test_numbers_of_subclasses_are_numbers(tmp_path: Path) -> None:
    def local(_m: Any, x: Tensor) -> Tensor:
        return x * enum.IntEnum("Choice", {"THREE": 3}).THREE  # another class in each run

    assert exported(local, tmp_path).difference == 0


# Sizes

BRANCHES: dict[str, Program] = {
    "more than": lambda m, x: x * 2 if x.shape[1] > 16 else x * 3,
    "one": lambda m, x: x * 2 if 0.5 * x.shape[1] == 0.5 else x * 3,
    "both one": lambda m, x: x * 2 if x.shape[0] * x.shape[1] == 1 else x * 3,
    "the batch": lambda m, x: x * 2 if len(x) >= 30 else x * 3,
    "more than runs": lambda m, x: x * 2 if x.shape[1] > 6 else x * 3,
    "other ops": lambda m, x: x * 2 if x.shape[1] > 6 else x + 3,
    "a slice": lambda m, x: x[:, : min(x.shape[1], 100)],
    "the bytes": lambda m, x: x * 2 if x.nbytes > 4000 else x * 3,
}  # fmt: skip


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_on_a_size_is_found_where_file_and_model_are_compared(
    name: str, tmp_path: Path
) -> None:
    function = BRANCHES[name]
    with pytest.raises((NotImplementedError, RuntimeError), match=r"dynamic_axes"):
        exported(function, tmp_path)
    assert not [*tmp_path.iterdir()]
    assert exported(function, tmp_path, dynamic_axes={}).difference <= 1e-6


def test_sizes_that_the_model_refuses_are_not_compared(tmp_path: Path) -> None:
    def between(m: Any, x: Tensor) -> Tensor:
        if x.shape[1] > 16 or x.shape[1] < 3:
            raise ValueError("a length from 3 to 16 expected")
        return m.linear(x) * x.shape[1]

    assert exported(between, tmp_path).difference <= 1e-5


def test_a_number_that_fits_no_size_is_shown_at_different_sizes(tmp_path: Path) -> None:
    said = (
        "(?s)index is 2 with batch=2, length=5, 4 with batch=5, length=8, .*Compute it with ops on "
    )
    with pytest.raises(
        NotImplementedError, match=f"{said}tensors, give it as an input, or fix the size"
    ):
        exported(lambda m, x: x[:, : x.shape[1] // 2], tmp_path)


def test_one_hot_of_a_known_number_of_classes(tmp_path: Path) -> None:
    written = exported(lambda m, x: F.one_hot(x.argmax(-1), 4) * x, tmp_path)
    assert written.difference == 0
