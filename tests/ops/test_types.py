"""Which dtype meets which, spelled out by hand; and what integers do in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from together import together

import minigrad
from minigrad import Tensor, ops, tensor

# Operands, by the name used in the tables below.
CODES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32,
    "u8": np.uint8, "bool": np.bool_,
}  # fmt: skip
OPERANDS: dict[str, Any] = {
    **{code: tensor(np.ones(2, dtype)) for code, dtype in CODES.items()},
    **{
        f"{code}()": tensor(np.ones((), CODES[code]))
        for code in ("f16", "f32", "f64", "i64", "bool")
    },
    **{f"array {code}": np.ones(2, CODES[code]) for code in ("f64", "f32", "i64", "bool")},
    "int": 2, "float": 2.0, "True": True, "np.float64": np.float64(2.0),
    "np.float32": np.float32(2.0), "np.float16": np.float16(2.0), "np.int64": np.int64(2),
    "np.bool": np.True_, "0-d float64": np.array(2.0), "0-d int64": np.array(2),
    "list of floats": [1.0, 2.0], "list of ints": [1, 2],
}  # fmt: skip

# The dtype of a + b and of a * b, in both orders: of an operand with others, by the result.
MEETINGS: dict[str, dict[str, str]] = {
    "f32": {
        "f32": "int, float, True, np.float64, np.float32, np.float16, np.int64, np.bool, "
        "0-d float64, 0-d int64, f64(), f16(), f32(), i64(), bool(), array i64, "
        "array bool, array f32, list of floats, list of ints, i64, i32, u8, bool, f16, "
        "f32",
        "f64": "array f64, f64",
    },
    "f16": {
        "f16": "int, float, True, np.float64, np.float32, np.int64, 0-d float64, f32(), "
        "f64(), i64(), array i64, array bool, i64, i32, u8, bool, f16, list of ints",
        "f32": "array f32, f32, list of floats",
        "f64": "array f64, f64",
    },
    "f64": {
        "f64": "int, float, True, np.float64, np.float32, np.int64, 0-d float64, f32(), "
        "array i64, array f32, array f64, list of floats, i64, bool, f16, f64"
    },
    "i64": {
        "i64": "int, True, np.int64, np.bool, 0-d int64, array i64, array bool, list of ints, "
        "i64, i32, u8, bool, i64()",
        "f32": "float, np.float64, np.float16, array f32, list of floats",
        "f64": "0-d float64, f64(), array f64",
    },
    "i32": {
        "i32": "int, True, np.int64, i64(), 0-d int64, bool, u8, i32",
        "f32": "float",
        "i64": "array i64",
    },
    "bool": {
        "i64": "int, array i64",
        "f32": "float",
        "bool": "True, np.bool, bool(), array bool, bool",
        "u8": "u8",
        "f64": "array f64",
    },
    "f32()": {
        "f32": "int, float, True, np.float64, i64(), bool(), f32(), array i64, i64",
        "f64": "f64",
    },
    "f64()": {
        "f64": "int, float, np.float32, f64(), i64(), i64, array i64",
        "f32": "f32",
        "f16": "f16",
    },
    "i64()": {"i64": "int, i64(), bool()", "f32": "float", "f16": "f16"},
}
PAIRS = [
    (a, b, dtype)
    for a, row in MEETINGS.items()
    for dtype, others in row.items()
    for b in others.split(", ")
]


@together(pair=PAIRS)
def test_promotion(pair: tuple[str, str, str]) -> None:
    a, b, dtype = pair
    x, y = OPERANDS[a], OPERANDS[b]
    wanted = np.dtype(CODES[dtype])
    for result in (x + y, y + x, x * y, y * x, ops.maximum(x, y), ops.where(True, y, x)):
        assert isinstance(result, Tensor)
        assert result.dtype == wanted
    quotient = wanted if wanted.kind == "f" else np.dtype(np.float32)
    for op in (ops.divide, ops.arctan2, ops.hypot, ops.logaddexp, ops.copysign):
        assert op(x, y).dtype == op(y, x).dtype == quotient, op.__name__
    if dtype != "bool":
        assert (x - y).dtype == wanted
        assert (x**y).dtype == (x // y).dtype == (x % y).dtype == wanted


@together(a=["f16", "f32", "f64", "f32()", "f64()"], b=OPERANDS)
def test_gradients_keep_the_dtype_of_their_input(a: str, b: str) -> None:
    """Whatever the operand, in both orders, and for the operand too."""
    for op in (ops.add, ops.multiply, ops.divide, ops.power, ops.maximum, ops.hypot, ops.remainder):
        for swapped in (False, True):
            x = tensor(OPERANDS[a], requires_grad=True)
            y = OPERANDS[b]
            other = None
            if isinstance(y, Tensor) and y.dtype.kind == "f":
                y = other = tensor(y, requires_grad=True)
            (op(y, x) if swapped else op(x, y)).sum().backward()
            assert x.grad.dtype == x.dtype
            assert x.grad.shape == x.shape
            if other is not None:
                assert other.grad.dtype == other.dtype
                assert other.grad.shape == other.shape


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, bool])
def test_integers_cannot_require_grad(dtype: Any) -> None:
    with pytest.raises(TypeError, match="float.*grad"):
        tensor(np.ones(2, dtype), requires_grad=True)
    x = tensor(np.ones(2, dtype))
    for attempt in (lambda: setattr(x, "requires_grad", True), lambda: x.requires_grad_()):
        with pytest.raises(TypeError, match="float.*grad"):
            attempt()
    assert not x.requires_grad


def test_integer_outputs_record_nothing() -> None:
    x = Tensor([1.0, -2.0], requires_grad=True)
    for out in (
        x > 0, x >= 0, x == x, x != 1, x.argmax(), x.astype(int), x.astype(bool), ops.isnan(x),
        ops.isfinite(x), ~(x > 0), (x > 0) & (x < 5), (x > 0) | (x < 5), (x > 0) ^ True, x.any(),
        x.all(), x.count_nonzero(), x.argmin(), x.isinf(), x.logical_and(True), x.logical_or(x),
        x.logical_xor(x), x.logical_not(),
    ):  # fmt: skip
        assert out.dtype.kind in "bi"
        assert not out.requires_grad
        assert out._node is None


# astype: the op that the table of cases cannot hold --------------------------------------------


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("target", [np.float16, np.float32, np.float64])
def test_astype_hands_gradients_back_in_the_source_s_dtype(source: Any, target: Any) -> None:
    x = Tensor([0.5, -1.5], requires_grad=True, dtype=source)
    y = x.astype(target)
    assert y.dtype == target
    assert (y is x) == (source == target)
    for create_graph in (False, True):
        x.zero_grad()
        (y * y * 3.0).sum().backward(create_graph=create_graph, retain_graph=True)
        assert x.grad.dtype == source
        assert x.grad.tolist() == [3.0, -9.0]
    (first,) = minigrad.autograd.grad((y**3).sum(), x, create_graph=True)
    assert minigrad.autograd.grad(first.sum(), x)[0].tolist() == [3.0, -9.0]


def test_astype_to_integers_and_back() -> None:
    x = Tensor([1.7, -1.7], requires_grad=True)
    assert x.astype(np.int64).tolist() == [1, -1]
    assert ops.astype(x, bool).tolist() == [True, True]
    assert ops.astype(np.array([1, 2]), np.float32).dtype == np.float32
    assert tensor([1, 2]).astype(float).dtype == np.float64  # as in NumPy and PyTorch
    assert x.to(minigrad.float64).dtype == np.float64
    assert x.to("cpu") is x
    for wrong in ("complex128", "U3", object, "M8[s]"):
        with pytest.raises(TypeError):
            x.astype(wrong)


def test_the_default_dtype() -> None:
    try:
        minigrad.set_default_dtype(minigrad.float64)
        assert Tensor(1.0).dtype == np.float64
        assert (tensor([1, 2]) / 2).dtype == np.float64
        assert minigrad.zeros(2).dtype == np.float64
        assert minigrad.randn(2).dtype == np.float64
        assert tensor([1, 2]).exp().dtype == np.float64
    finally:
        minigrad.set_default_dtype(minigrad.float32)
    assert Tensor(1.0).dtype == np.float32
    for wrong in (int, bool, np.complex64, np.longdouble):
        if np.dtype(wrong) != np.float64:
            with pytest.raises(TypeError, match="set_default_dtype"):
                minigrad.set_default_dtype(wrong)


def test_constructing_keeps_or_chooses_a_dtype() -> None:
    table: list[tuple[Any, Any]] = [
        (1.0, np.float32), ([1.0, 2], np.float32), (1, np.int64), ([True], np.bool_),
        (np.ones(2), np.float64), (np.float64(1.0), np.float64), ([], np.float32),
        (np.ones(2, np.float16), np.float16), ([[]], np.float32), (np.ones(2, ">f8"), np.float64),
        (np.ones(2, ">f4"), np.float32), (tensor(np.ones(2)), np.float64), (range(3), np.int64),
        ([np.float64(1.0)], np.float64), ((1.0, 2.0), np.float32),
    ]  # fmt: skip
    for value, dtype in table:
        assert tensor(value).dtype == dtype, value
        assert tensor(value).numpy().dtype.isnative
    assert tensor([1, 2], dtype=np.float64).dtype == np.float64
    assert Tensor([1.5], dtype=int).tolist() == [1]
    for wrong in ("text", [None], [1 + 2j], object(), {"a": 1}, np.array(["x"]), np.ones(2, "c8")):
        with pytest.raises(TypeError, match="tensor holds"):
            tensor(wrong)
    with pytest.raises(ValueError, match="got a ragged list"):
        Tensor([[1.0], [1.0, 2.0]])
