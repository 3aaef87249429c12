"""What Python learns of a tensor or a size: a file that is written is right at every size."""

from __future__ import annotations

import copy
import enum
import functools
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import Model

import minigrad
from minigrad import Tensor, nn, ops
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

VALUES: dict[str, Program] = {
    "item": lambda m, x: x * 2 if x.mean().item() > 100 else x * 3,
    "if": lambda m, x: x * 2 if x.mean() > 100 else x * 3,
    "if, of what an op made": lambda m, x: x * 2 if m.linear(x).isnan().any() else x * 3,
    "float": lambda m, x: x * float(x.max()),
    "int": lambda m, x: x[:, : int(abs(x).sum()) % 2],
    "range": lambda m, x: x + len(range(ops.astype(x.max() * 0, np.int64))),
    "numpy": lambda m, x: x + x.numpy().max(),
    "data": lambda m, x: x + np.sort(x.numpy()),
    "tolist": lambda m, x: x + x.tolist()[0][0][0],
    "asarray": lambda m, x: x + np.asarray(x).max(),
    "an array of rows": lambda m, x: x + np.array(list(x[0])).max(),
    "in": lambda m, x: x * 2 if 100.0 in x else x * 3,
    "a function of NumPy": lambda m, x: x * 2 if np.array_equal(x, x + 1) else x * 3,
    "detached": lambda m, x: x * 2 if x.detach().mean().item() > 100 else x * 3,
    "a copy": lambda m, x: x * 2 if minigrad.tensor(x.mean()).item() > 100 else x * 3,
    "format": lambda m, x: x * 2 if f"{x.mean():.1f}" == "7.0" else x * 3,
    "dlpack": lambda m, x: x + np.from_dlpack(x),
    "a number of classes": lambda m, x: F.one_hot(x.argmax(-1)).sum() * x,
    "a shape of values": lambda m, x: x * 2 if ops.unique(x).shape[0] > 3 else x * 3,
    "a shape of a bool index": lambda m, x: x * 2 if x[x > 0].shape[0] > 30 else x * 3,
    "a number of a range": lambda m, x: (
        x * 2 if (minigrad.arange(x.shape[1]) * 2).max().item() > 99 else x * 3
    ),
}  # fmt: skip


@pytest.mark.parametrize("axes", [AXES, {}], ids=["any size", "fixed"])
@pytest.mark.parametrize("name", VALUES)
def test_values_that_leave_the_graph_are_refused_with_their_line(
    name: str, axes: Any, tmp_path: Path
) -> None:
    if name == "a number of a range" and not axes:
        assert exported(VALUES[name], tmp_path, dynamic_axes={}).difference == 0  # a constant
        return
    line = r"(takes values that depend on an input|because of) .*test_onnx_branches\.py:\d+: .*x"
    with pytest.raises(NotImplementedError, match=line):
        exported(VALUES[name], tmp_path, dynamic_axes=axes)
    assert not [*tmp_path.iterdir()]


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


KEPT: list[Any] = []


def test_what_a_model_keeps_is_as_any_other_tensor_afterwards(tmp_path: Path) -> None:
    def keeping(_model: Any, x: Tensor) -> Tensor:
        y = x * 2
        KEPT.extend([y, y.detach(), x.shape[1]])
        return y

    KEPT.clear()
    exported(keeping, tmp_path)
    size = KEPT[2]
    for tensor in KEPT[:2]:
        assert type(tensor) is Tensor
        assert vars(tensor).keys() <= {"_data"}
        assert tensor.numpy().shape == (2, 5, 4)
    assert ({size: 1}[5], int(size), size / 2) == (1, 5, 2.5)
    assert pickle.loads(pickle.dumps(size)) == copy.deepcopy(size) == 5


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


def counted(_m: Any, x: Tensor) -> Tensor:
    n = 0
    for _ in range(3):
        n += x.shape[1]
    return x * 2 if n > 60 else x * 3


def divided(_m: Any, x: Tensor) -> Tensor:
    whole, rest = divmod(x.shape[1], 40)
    return x * 2 if whole else x * 3 + rest * 0


BRANCHES: dict[str, Program] = {
    "more than": lambda m, x: x * 2 if x.shape[1] > 16 else x * 3,
    "one": lambda m, x: x * 2 if x.shape[1] == 1 else x * 3,
    "one size": lambda m, x: x * 2 if x.shape[1] == 1000 else x * 3,
    "of a number": lambda m, x: x * 2 if x.shape[1] >= 16.5 else x * 3,
    "after division": lambda m, x: x * 2 if x.shape[1] / 2 > 8 else x * 3,
    "after a root": lambda m, x: x * 2 if 1 / x.shape[1] ** 0.5 < 0.2 else x * 3,
    "rounded": lambda m, x: x * 2 if round(x.shape[1] * 0.1) > 2 else x * 3,
    "the batch": lambda m, x: x * 2 if x.shape[0] >= 30 else x * 3,
    "of what ops made": lambda m, x: (
        x * 2 if ops.concatenate([m.linear(x), x], axis=1).shape[1] > 32 else x * 3),
    "after arithmetic": lambda m, x: x * 2 if 2 * x.shape[1] - 1 > 33 else x * 3,
    "whole and rest": divided,
    "a sum in a loop": counted,
    "the larger": lambda m, x: x * max(x.shape[1], 8),
    "the smaller": lambda m, x: x[:, : min(x.shape[1], 100)],
    "truth": lambda m, x: x * 2 if x.shape[1] - 20 else x * 3,
    "membership": lambda m, x: x * 2 if x.shape[1] in (64, 128) else x * 3,
    "whole shapes": lambda m, x: x * 2 if x.shape == (2, 20, 4) else x * 3,
    "the size": lambda m, x: x * 2 if x.numel() > 1000 else x * 3,
    "the size of an axis": lambda m, x: x * 2 if x.size(1) == 1000 else x * 3,
    "the number of the shape": lambda m, x: x * 2 if x.shape.numel() > 1000 else x * 3,
    "the bytes": lambda m, x: x * 2 if x.nbytes > 4000 else x * 3,
    "the size for NumPy": lambda m, x: x * 2 if np.size(x) > 1000 else x * 3,
    "a product": lambda m, x: x * 2 if math.prod(x.shape) > 1000 else x * 3,
    "an even size": lambda m, x: x * 2 if x.shape[1] % 16 == 0 else x * 3,
    "of two sizes": lambda m, x: x * 2 if x.shape[0] > x.shape[1] + 9 else x * 3,
    "very long": lambda m, x: x * 2 if x.shape[1] > 10**8 else x * 3,
    "more than runs": lambda m, x: x * 2 if x.shape[1] > 6 else x * 3,
    "other ops": lambda m, x: x * 2 if x.shape[1] > 6 else x + 3,
}  # fmt: skip


HIDDEN: dict[str, Program] = {
    "len": lambda m, x: x * 2 if len(x) > 30 else x * 3,
    "int": lambda m, x: x * 2 if int(x.shape[1]) > 30 else x * 3,
    "a root": lambda m, x: x * 2 if math.sqrt(x.shape[1]) > 30 else x * 3,
    "a set": lambda m, x: x * 2 if x.shape[1] in {64, 128} else x * 3,
    "a dict": lambda m, x: x * {64: 2}.get(x.shape[1], 3),
    "a cache": lambda m, x: x * mask(x.shape[1]).sum(),
    "rows": lambda m, x: x * 2 if sum(1 for _ in x) > 30 else x * 3,
}  # fmt: skip


@functools.cache
def mask(n: int) -> np.ndarray:
    return np.tri(n)


@pytest.mark.parametrize("name", [*BRANCHES, *HIDDEN])
def test_what_may_come_out_otherwise_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    """A comparison, and a use that hides a size."""
    function = (BRANCHES | HIDDEN)[name]
    with pytest.raises(NotImplementedError, match=r"test_onnx_branches\.py:\d+: .*x") as caught:
        exported(function, tmp_path)
    assert name in HIDDEN or "dynamic_axes" in str(caught.value)
    assert not [*tmp_path.iterdir()]
    assert exported(function, tmp_path, dynamic_axes={}).difference <= 1e-6


def test_what_nothing_can_follow_is_compared_at_a_large_size(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="length=256, output .*differs"):
        exported(lambda m, x: x * 2 if 0.5 * x.shape[1] > 10 else x * 3, tmp_path)


# Promises


def between(m: Any, x: Tensor) -> Tensor:
    length = x.shape[1]
    if length > 16 or length < 3:
        raise ValueError("a length from 3 to 16 expected")
    return m.linear(x) * length


def asserted(m: Any, x: Tensor) -> Tensor:
    y = m.linear(x) if x.shape[1] <= 16 else x  # never: what is longer is refused
    assert x.shape[1] <= 16
    return y


def of_both(m: Any, x: Tensor) -> Tensor:
    assert x.shape[0] * x.shape[1] <= 64
    return m.linear(x)


def not_the_last(m: Any, x: Tensor) -> Tensor:
    if x.shape[1] == 2:
        raise ValueError("two")
    return m.linear(x)


PROMISES: list[tuple[Program, int, int | None, str]] = [
    (between, 3, 16, ""), (asserted, 1, 16, ""), (not_the_last, 3, None, ""),
    (of_both, 1, None, "assert x.shape[0] * x.shape[1] <= 64"),
    (lambda m, x: nn.RotaryPosEmbedding(4, max_seq_len=12)(x), 1, 12, ""),
    (lambda m, x: x if x.shape[2] < 100 else x * 2, 1, None, ""),
    (lambda m, x: x if x.shape[1] else x * 2, 1, None, ""),
    (lambda m, x: x if (x * 2).shape == x.shape else x * 2, 1, None, ""),
    (lambda m, x: x / math.sqrt(x.shape[-1]) + int(x.shape[2]) + {4: 1}[x.shape[2]], 1, None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("function", "low", "high", "condition"), PROMISES)
def test_a_comparison_that_only_guards_narrows_what_the_file_promises(
    function: Program, low: int, high: int | None, condition: str, tmp_path: Path
) -> None:
    written = exported(function, tmp_path)
    assert written.limits == ({"length": high} if high else {})
    assert written.least == ({"length": low} if low > 1 else {})
    assert [line.partition(": ")[2] for line in written.conditions] == [condition] * bool(condition)
    said = {one.key: one.value for one in onnx.load(written.path).metadata_props}
    assert said["size.length"] == (f"{low} to {high}" if high else f"{low} or more")
    assert said["size.batch"] == "1 or more"
    assert said.get("conditions", "").endswith(condition)
    assert str(tmp_path.anchor) not in said


def test_a_size_that_must_be_a_multiple_is_a_condition(tmp_path: Path) -> None:
    def blocks(_m: Any, x: Tensor) -> Tensor:
        assert x.shape[1] % 4 == 0
        return x * 2

    written = export(Model(blocks), minigrad.randn(2, 4, 4), tmp_path / "m.onnx", dynamic_axes=AXES)
    assert "assert x.shape[1] % 4 == 0" in written.conditions[0]


# The class


@pytest.mark.parametrize("name", [*BRANCHES, *HIDDEN, *VALUES, "between", "asserted"])
def test_no_file_is_wrong_within_what_it_promises(name: str, tmp_path: Path) -> None:
    """Each program, without the comparison of file and model, at every length up to 40."""
    function = {**BRANCHES, **HIDDEN, **VALUES, "between": between, "asserted": asserted}[name]
    model = Model(function).eval()
    x = minigrad.randn(2, 5, 4)
    try:
        written = export(model, x, tmp_path / "m.onnx", dynamic_axes=AXES, verify=False)
    except NotImplementedError:
        return
    session = onnxruntime.InferenceSession(written.path, providers=["CPUExecutionProvider"])
    for n in range(written.least.get("length", 1), written.limits.get("length", 40) + 1):
        x = minigrad.randn(3, n, 4)
        (found,) = session.run(None, {"x": x.numpy()})
        np.testing.assert_allclose(found, model(x).numpy(), rtol=1e-5, atol=1e-5)


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
