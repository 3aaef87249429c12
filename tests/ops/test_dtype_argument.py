"""``dtype=`` of reductions and scans: what is computed in, and the dtype of the result."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from together import together

import minigrad
from minigrad import Tensor, ops
from minigrad.autograd import gradcheck

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
