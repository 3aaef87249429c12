"""Each op that a file can hold, alone: what onnxruntime computes is what the op computes."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_cases import Wrapped

import minigrad
from minigrad import nn, ops
from minigrad.nn import functional as F
from minigrad.onnx import export
from minigrad.ops._windows import Window
from minigrad.ops.pooling import sum_parts
from minigrad.tracing import Trace

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


NAMES_OF_ONE = (
    "abs arctan arcsinh ceil cos cosh erf exp exp2 expm1 floor isinf isnan logical_not negative "
    "relu sigmoid sign sin sinh softplus silu square tan tanh round clone"
)
NAMES_OF_POSITIVE = "log log2 log10 log1p reciprocal sqrt arccosh"
NAMES_OF_SMALL = "arccos arcsin arctanh"
NAMES_OF_TWO = (
    "add subtract multiply divide maximum minimum equal not_equal less less_equal greater "
    "greater_equal floor_divide remainder"
)
NAMES_ALONG = "sum mean max min prod logsumexp var std any all"
NAMES_OF_BOOLS = "bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor"


def each(names: str, use: Callable[..., Any], note: str = "") -> dict[str, Callable[..., Any]]:
    """A use of each of some ops."""
    return {name + note: partial(use, getattr(ops, name)) for name in names.split()}


def in_place(x: Any) -> Any:
    y = x * 2
    y += x
    F.relu(y, inplace=True).sub_(0.5)
    return y * x


WEIGHT = minigrad.arange(36).reshape(6, 2, 3) * 0.05 - 0.8
STATE = minigrad.arange(16).reshape(4, 4) * 0.1 - 0.7


def written(index: Any, value: Any) -> Callable[..., Any]:
    """A function that writes to a copy by index."""

    def function(x: Any) -> Any:
        y = x * 1
        y[index] = value
        return y

    return function


def part_in_place(x: Any) -> Any:
    y = x * 1
    y[:, 1:] *= 3
    y[:, 0].add_(x[:, 1])
    return y


def view_in_place(x: Any) -> Any:
    y = x * 1
    view = y[:, 1:, ::2]
    y += 1
    view -= x[:, 1:, ::2]
    y[..., 0] *= 2
    return y, view


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **each(NAMES_OF_ONE, lambda f, x: f(x)),
    **each(NAMES_OF_POSITIVE, lambda f, x: f(abs(x) + 1.5)),
    **each(NAMES_OF_SMALL, lambda f, x: f(x * 0.2)),
    **each(NAMES_OF_TWO, lambda f, x: f(x, x[:, :1] + 0.3)),
    **each(NAMES_OF_TWO, lambda f, x: f(x, 2), " number"),
    **each(NAMES_OF_BOOLS, lambda f, x: f(x > 0, x < 1)),
    **each(NAMES_ALONG, lambda f, x: f(x)),
    **each(NAMES_ALONG, lambda f, x: f(x, axis=1), " along one"),
    **each(NAMES_ALONG, lambda f, x: f(x, axis=(0, -1), keepdims=True), " along two"),
    **each("any all sum mean", lambda f, x: f(x > 1, axis=-1), " of bools"),
    "var of a sample": lambda x: ops.var(x, axis=(0, 1), ddof=1),
    "argmax": ops.argmax, "argmin": ops.argmin,
    "argmax along one": lambda x: ops.argmax(x, axis=1),
    "argmin along one": lambda x: ops.argmin(x, axis=-1, keepdims=True),
    "norm": lambda x: ops.norm(x, axis=-1), "norm 1": lambda x: ops.norm(x, ord=1),
    "cumsum": lambda x: ops.cumsum(x, axis=1), "cumsum of all": ops.cumsum,
    "power": lambda x: abs(x) ** 1.5, "power of a number": lambda x: 2.0**x,
    "integers": lambda x: ops.astype(x * 9, np.int64) // 4 + ops.astype(x * 9, np.int64) % -4,
    "inverted": lambda x: ~(x > 0), "gelu": ops.gelu,
    "gelu by tanh": lambda x: ops.gelu(x, approximate="tanh"),
    "in place": in_place, "relu6": F.relu6, "hardswish": F.hardswish,
    "softplus, sharp": lambda x: ops.softplus(x, beta=3.0),
    "clip": lambda x: ops.clip(x, -0.5, 0.5), "clip below": lambda x: ops.clip(x, 0.0),
    "where": lambda x: ops.where(x > 0, x, 0.5 * x),
    "masked_fill": lambda x: ops.masked_fill(x, x > 0, -1.0),
    "astype": lambda x: ops.astype(x * 3, np.int32),
    "to float64": lambda x: ops.astype(x, np.float64) + x,
    "to bool": lambda x: ops.astype(x, bool),
    "matmul": lambda x: x @ x.swapaxes(-1, -2), "matmul of vectors": lambda x: x @ x[0, 0],
    "linear": lambda x: F.linear(x, minigrad.ones(2, 4), minigrad.ones(2)),
    "einsum": lambda x: ops.einsum("nld,nmd->nlm", x, x), "vecdot": lambda x: ops.vecdot(x, x),
    "softmax": lambda x: ops.softmax(x, axis=1), "log_softmax": ops.log_softmax,
    "layer_norm": lambda x: ops.layer_norm(x, ndim=1),
    "layer_norm of two axes": lambda x: ops.layer_norm(
        x.reshape(*x.shape[:2], 2, 2), minigrad.arange(4).reshape(2, 2) * 0.1, ndim=2, eps=0.5
    ),
    "rms_norm": lambda x: ops.rms_norm(x, ndim=1, eps=0.5),
    "reshape": lambda x: x.reshape(x.shape[0] * x.shape[1], 2, 2),
    "reshape, worked out": lambda x: x.reshape(-1, 2), "ravel": ops.ravel,
    "flatten": lambda x: ops.flatten(x, 1), "transpose": lambda x: ops.transpose(x, (2, 0, 1)),
    "transpose all": ops.transpose, "swapaxes": lambda x: x.swapaxes(-1, 0),
    "moveaxis": lambda x: ops.moveaxis(x, (0, 2), (1, 0)),
    "expand_dims": lambda x: ops.expand_dims(x, (0, -1)),
    "squeeze": lambda x: ops.squeeze(x[:, :1], 1),
    "broadcast_to": lambda x: ops.broadcast_to(x[:, :1], x.shape),
    "expand": lambda x: ops.expand(x[:, :1], -1, 3, -1),
    "concatenate": lambda x: ops.concatenate([x, x[:, 1:], 2 * x], axis=1),
    "stack": lambda x: ops.stack([x, -x], axis=-1), "tile": lambda x: ops.tile(x, (2, 1, 2, 1)),
    "repeat": lambda x: ops.repeat(x, 3, axis=1), "flip": lambda x: ops.flip(x, (0, 2)),
    "flip all": ops.flip, "unfold": lambda x: ops.unfold(x, -1, 2, 1),
    "pad": lambda x: ops.pad(x, ((0, 0), (1, 2), (0, 3)), constant_values=7.0),
    "pad with the edge": lambda x: ops.pad(x, ((0, 0), (1, 1), (2, 0)), mode="edge"),
    "tril": lambda x: ops.tril(x, 1), "triu": ops.triu,
    "embedding": lambda x: F.embedding(ops.argmax(x, axis=-1), minigrad.eye(4)),
    "take": lambda x: ops.take(x, np.array([1, 0]), axis=1),
    "take of all": lambda x: ops.take(x, ops.argmax(x, axis=-1)),
    "gather": lambda x: ops.gather(x, 2, ops.argmax(x, axis=-1, keepdims=True)),
    "take an axis": lambda x: x[:, -1], "getitem": lambda x: x[..., None, 1:, 2],
    "getitem by steps": lambda x: x[::-1, ::2, -3:-1],
    "getitem by array": lambda x: x[:, [1, 0, 1]],
    "getitem from an end": lambda x: x[:, x.shape[1] - 2 :],
    "getitem at the end": lambda x: x[:, x.shape[1] - 1],
    "getitem by arrays": lambda x: x[[0, 1, 1], :, [1, 0, 2]],
    "getitem by adjacent arrays": lambda x: x[:, [[0], [1]], [3, 0, -1]],
    "getitem by an array and a number": lambda x: x[:, None, 1, [1, 0]],
    "getitem of the last": lambda x: x[minigrad.arange(x.shape[0]), ops.argmax(x[..., 0], axis=1)],
    "setitem": written(np.s_[:, 0], 1.0), "setitem by steps": written(np.s_[::-1, 1:, ::2], 2.0),
    "setitem of a tensor": lambda x: written(np.s_[:, -1:], x[:, :1] * 2)(x),
    "setitem by arrays": written(np.s_[[0, 1], :, [1, 0]], 3.0),
    "setitem by an array": written(np.s_[..., [1, 3]], np.arange(2)),
    "setitem of all": written(..., 4.0), "setitem of the end": lambda x: written(
        np.s_[:, x.shape[1] - 1], x.shape[1])(x),
    "setitem by a mask": lambda x: written(x > 0, 0.0)(x),
    "setitem by a mask of rows": lambda x: written(x[..., 0] > 0, x[0, 0] * 2)(x),
    "setitem, often": lambda x: written(np.s_[:, 0], 1)(written(np.s_[1:], 5.0)(x)),
    "fill": lambda x: nn.init.constant(x * 1, 3.0) + x, "part in place": part_in_place,
    "view in place": view_in_place,
    "topk": lambda x: ops.topk(x, 2, axis=1), "topk, smallest": lambda x: ops.topk(
        x, x.shape[1], axis=1, largest=False),
    "topk, in order": lambda x: ops.topk(ops.round(x), 3, sorted=False),
    "norm of all": lambda x: ops.norm(x.ravel()), "norms": lambda x: tuple(
        ops.norm(x, order, (0, 2), keepdims) for order in (1, 2, math.inf)
        for keepdims in (True, False)),
    "sort": lambda x: (ops.sort(x, axis=1), ops.argsort(ops.round(x), axis=1)),
    "sort down": lambda x: (ops.sort(x, 0, True), ops.argsort(ops.round(x), descending=True)),
    "take_along_axis": lambda x: ops.take_along_axis(x, ops.argmax(x, 1, keepdims=True), 1),
    "take_along_axis of one": lambda x: ops.take_along_axis(
        x, ops.argmax(x[:1, :, :1], 1, keepdims=True), 1),
    "rotate_pairs": lambda x: ops.rotate_pairs(x, np.float32(0.6), np.float32(0.8)),
    "rotate halves": lambda x: ops.rotate_pairs(x, np.float32(0.6), np.float32(0.8), False),
    "sizes as numbers": lambda x: x.sum(axis=1) / x.shape[1] + x.shape[0] * x.shape[1],
    "a range": lambda x: x + minigrad.arange(x.shape[1])[:, None] * 2,
    "a range that goes down": lambda x: x + minigrad.arange(x.shape[1], 0, -1)[:, None],
    "zeros": lambda x: ops.concatenate([x, minigrad.zeros(x.shape[0], 1, x.shape[2])], axis=1),
    "a triangle": lambda x: ops.where(np.tri(x.shape[1], 4, 1, dtype=bool), x, 0),
    "not a triangle": lambda x: ops.masked_fill(x, ~np.tri(x.shape[1], 4, dtype=bool), 0),
    "split": lambda x: ops.split(x, 2, axis=-1), "elu": F.elu, "mish": F.mish,
    "cosine": lambda x: F.cosine_similarity(x, x + 1, axis=-1), "a number": lambda x: x.sum(),
    "convolution": lambda x: ops.convolution(
        x.swapaxes(1, 2), WEIGHT, minigrad.arange(6) * 0.5, Window((3,), (2,), ((3, 1),), (2,)), 2
    ),
    "convolution_transpose": lambda x: ops.convolution_transpose(
        x.swapaxes(1, 2), WEIGHT.swapaxes(0, 1).reshape(4, 3, 3), (3 * x.shape[1] + 1,),
        Window((3,), (3,), ((1, 0),), (1,)), 2
    ),
    "max_pool": lambda x: ops.max_pool(x, Window((2,), (1,), ((1, 0),), (1,))),
    "max_pool, dilated": lambda x: ops.max_pool(
        x[:, None], Window((1, 2), (2, 1), ((0, 0),) * 2, (1, 3))
    ),
    "sum_pool": lambda x: ops.sum_pool(x, Window((3,), (1,), ((0, 0),), (1,))),
    "sum_pool, padded": lambda x: ops.sum_pool(
        x[:, None], Window((1, 2), (1, 2), ((0, 0), (1, 2)), (1, 2))
    ),
    "sum_parts": lambda x: sum_parts(x, 2, 3),
    "rnn": lambda x: ops.rnn(x, STATE.T @ STATE, x[0] * 0.5),
    "lstm": lambda x: ops.lstm(x, STATE[:, :1], x[0, :, :1], x[0, :, 1:2]),
    "gru": lambda x: ops.gru(x[..., :3], STATE[:3, :1], STATE[:3, 1], x[0, :, :1]),
    "layer_norm of an open axis": lambda x: ops.layer_norm(x.swapaxes(1, 2), ndim=1, eps=0.5),
    "int masks": lambda x: (x > 0) == (x < 1), "itself": lambda x: x,
}  # fmt: skip


def example(n: int, length: int) -> np.ndarray:
    return minigrad.random.generator().standard_normal((n, length, 4)).astype(np.float32)


AXES = {"x": {0: "batch", 1: "length"}}

DIFFERS = {
    "nan": "max min argmax argmin embedding take gather take_along_axis max_pool sum_parts sort "
    "norms",
    "inf": "einsum sum_parts", "-inf": "einsum max_pool sum_parts",
    "large": "einsum layer_norm rms_norm std", "small": "std",
}  # fmt: skip
"""Where a runtime gives other values: NaN is not the largest element, 0 times inf is NaN, squares
overflow ..."""

if tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 32):
    for kind in ("nan", "inf", "-inf"):
        DIFFERS[kind] = DIFFERS.get(kind, "") + " erf logsumexp rms_norm sqrt topk"


def extremes() -> dict[str, np.ndarray]:
    """Inputs with values at which a formula may overflow, underflow or be undefined."""
    x = example(3, 8)
    found = {"large": x * 1e30, "small": x * 1e-30, "thousands": x * 1e3, "zero": x * 0,
             "whole": np.round(x * 3)}  # fmt: skip
    for name in ("nan", "inf", "-inf"):
        found[name] = x.copy()
        found[name][0, 0, 0] = found[name][1, 2, 3] = float(name)
    return {name: array.astype(np.float32) for name, array in found.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operator(name: str, tmp_path: Path) -> None:
    model, path = Wrapped(FUNCTIONS[name]), tmp_path / "model.onnx"
    export(model, example(2, 5), path, dynamic_axes=AXES, tolerance=1e-5)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def pairs(x: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            wanted = model(minigrad.tensor(x))
        wanted = wanted if isinstance(wanted, tuple) else [wanted]
        return zip(wanted, session.run(None, {"x": x}), strict=True)

    for size in ((2, 5), (3, 8), (2, 2)):
        for a, b in pairs(example(*size)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(b, a.numpy(), rtol=1e-5, atol=1e-5)
    for kind, x in extremes().items():
        if name.replace(",", "").split()[0] not in DIFFERS.get(kind, "").split():
            for a, b in pairs(x):
                array = np.asarray(a.numpy(), float)
                scale = np.abs(array[np.isfinite(array)]).max(initial=1e-25)
                np.testing.assert_allclose(b, array, 1e-4, 1e-5 * scale, err_msg=kind)


def test_every_operator_is_tried() -> None:
    from minigrad.onnx.exporter import TABLE

    with Trace(keep=False) as trace:
        for function in FUNCTIONS.values():
            function(minigrad.tensor(example(2, 5)))
    seen = {step.op for step in trace.steps}
    assert TABLE.keys() <= seen, TABLE.keys() - seen
