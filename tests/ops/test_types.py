"""Which dtype meets which, spelled out by hand; integers in a graph; dtype= of reductions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from together import together

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd import gradcheck

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
ROWS = [(a, others, dtype) for a, row in MEETINGS.items() for dtype, others in row.items()]
PAIRS = [(a, b, dtype) for a, others, dtype in ROWS for b in others.split(", ")]


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


def test_constructing_takes_any_byte_order_and_no_other_kind() -> None:
    for dtype in (">f4", ">f8"):
        assert tensor(np.ones(2, dtype)).dtype == np.dtype(dtype).newbyteorder("=")
        assert tensor(np.ones(2, dtype)).numpy().dtype.isnative
    for wrong in ("text", [None], [1 + 2j], object(), {"a": 1}, np.array(["x"]), np.ones(2, "c8")):
        with pytest.raises(TypeError, match="tensor holds"):
            tensor(wrong)
    with pytest.raises(ValueError, match="got a ragged list"):
        Tensor([[1.0], [1.0, 2.0]])


# dtype= of reductions and scans: what is computed in, and the dtype of the result ---------------


NAMES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
]  # fmt: skip
EXACT = ["sum", "nansum", "prod", "cumsum", "cumprod", "trace"]
AVERAGES = ["mean", "nanmean", "var", "std"]
WAYS: dict[str, Callable[[str, Tensor, Any], Tensor]] = {
    "function": lambda name, x, dtype: getattr(ops, name)(x, dtype=dtype),
    "by name": lambda name, x, dtype: getattr(ops, name)(x=x, dtype=dtype),
    "of an array": lambda name, x, dtype: getattr(ops, name)(x.numpy(), dtype=dtype),
    "NumPy's": lambda name, x, dtype: getattr(np, name)(x, dtype=dtype),
    "NumPy's by position": lambda name, x, dtype: (
        np.trace(x, 0, 0, 1, dtype) if name == "trace" else getattr(np, name)(x, None, dtype)
    ),
}


def values(source: str) -> np.ndarray:
    """Sums and products of them leave the range of 8 bits, and of 16."""
    numbers = [[200, 100, 3], [77, 1, 255]]
    return np.array(numbers, np.int64).astype(source)


@together(name=EXACT, source=NAMES, target=NAMES, way=WAYS)
def test_it_is_numpys(name: str, source: str, target: str, way: str) -> None:
    """In all pairs of dtypes, also of equal ones."""
    x, dtype = values(source), np.dtype(target)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x, dtype=dtype)
        result = WAYS[way](name, minigrad.tensor(x), dtype)
    assert result.dtype == wanted.dtype == dtype
    # NumPy's float16 rounds after each step.
    rtol = 2e-3 if target == "float16" else 1e-6 if dtype.kind == "f" else 0
    np.testing.assert_allclose(result.numpy(), wanted, rtol=rtol)


@together(name=AVERAGES, source=NAMES, target=NAMES, way=WAYS)
def test_averages_take_a_float(name: str, source: str, target: str, way: str) -> None:
    x, dtype = values(source), np.dtype(target)
    if dtype.kind != "f":
        with pytest.raises(TypeError, match=f"^{name}: dtype must be a float, got {target}"):
            WAYS[way](name, minigrad.tensor(x), dtype)
        return
    result = WAYS[way](name, minigrad.tensor(x), dtype)
    assert result.dtype == dtype
    wanted = getattr(np, name)(x.astype(dtype).astype(np.float64))
    np.testing.assert_allclose(result.numpy(), wanted, rtol=4 * np.finfo(dtype).eps)


@together(name=[*EXACT, *AVERAGES], way=WAYS)
def test_none_is_no_dtype(name: str, way: str) -> None:
    x = minigrad.tensor(values("uint8"))
    assert WAYS[way](name, x, None).dtype == getattr(ops, name)(x).dtype


@pytest.mark.parametrize("name", [*EXACT, *AVERAGES])
def test_axes_and_what_is_refused(name: str) -> None:
    x, axes = minigrad.tensor(values("uint8")), {} if name == "trace" else {"axis": 1}
    wanted = getattr(np, name)(x.numpy(), dtype=np.float64, **axes)
    np.testing.assert_allclose(getattr(ops, name)(x, dtype=np.float64, **axes).numpy(), wanted)
    owner = "sum" if name == "trace" else name.removeprefix("nan")
    with pytest.raises(TypeError, match=f"^{owner}: .*complex|^{name}: .*float"):
        getattr(ops, name)(x, dtype=complex)
    with pytest.raises(TypeError, match=rf"^{name}(: |\(\)).*wrong"):
        getattr(ops, name)(x, dtype=np.float64, wrong=1)


@pytest.mark.parametrize("name", [*EXACT, *AVERAGES])
def test_a_wider_float_is_what_is_computed_in(name: str) -> None:
    numbers = np.array([[1e8, 1.0, 3.0], [-1e8, 1.0, 1.0]], np.float32)
    result = getattr(ops, name)(minigrad.tensor(numbers), dtype=np.float64)
    np.testing.assert_allclose(result.numpy(), getattr(np, name)(numbers.astype(np.float64)))
    x = minigrad.tensor(numbers / 1e8, requires_grad=True)
    getattr(ops, name)(x, dtype=np.float64).sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32
    wide = minigrad.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    assert gradcheck(lambda x: getattr(ops, name)(x, dtype=np.float64), [wide])


def test_integers_of_floats_leave_out_nan() -> None:
    x = minigrad.tensor([1.5, float("nan"), 2.5])
    assert minigrad.nansum(x, dtype=int).item() == np.nansum(x.numpy(), dtype=int) == 3
