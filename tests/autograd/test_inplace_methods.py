"""The in-place family equals its out-of-place forms, in values and gradients of every operand.

Functions of one tensor are compared with PyTorch's in tests/one_world/test_views_and_writes.py.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, no_grad, ops, tensor

BINARY: dict[str, Callable[[Any, Any], Tensor]] = {
    "add_": ops.add, "sub_": ops.subtract, "mul_": ops.multiply, "div_": ops.divide,
    "power_": ops.power, "maximum_": ops.maximum, "minimum_": ops.minimum,
    "__iadd__": operator.add, "__isub__": operator.sub, "__imul__": operator.mul,
    "__itruediv__": operator.truediv, "__ifloordiv__": operator.floordiv,
    "__imod__": operator.mod, "__ipow__": operator.pow,
}  # fmt: skip
LOGICAL: dict[str, Callable[[Any, Any], Any]] = {
    "__iand__": operator.and_, "__ior__": operator.or_, "__ixor__": operator.xor,
}  # fmt: skip
SHIFTS: dict[str, Callable[[Any, Any], Any]] = {
    "__ilshift__": operator.lshift, "__irshift__": operator.rshift,
}  # fmt: skip


def twins(seed: int = 1, shape: tuple[int, ...] = (2, 3)) -> tuple[Tensor, Tensor]:
    """Two equal leaves: one for the op in place, one for the op that is not."""
    one, other = (tensor(draw(seed, *shape), requires_grad=True) for _ in range(2))
    return one, other


def same(y: Tensor, wanted: Tensor, *pairs: tuple[Tensor, Tensor]) -> None:
    """The values, and the gradients of each pair of leaves, bit for bit."""
    np.testing.assert_array_equal(y.numpy(), wanted.numpy())
    for result in (y, wanted):
        (result * draw(9, *y.shape)).sum().backward()
    for leaf, twin in pairs:
        np.testing.assert_array_equal(leaf.grad.numpy(), twin.grad.numpy())


def draw(seed: int, *shape: int) -> np.ndarray:
    """Positive, distinct for each seed: equal operands would hide a swapped gradient."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def test_every_inplace_operator_is_covered() -> None:
    dunders = {name for name in dir(Tensor) if name.startswith("__i") and name in dir(operator)}
    others = {"__invert__", "__index__"}
    operators = {name for name in (*BINARY, *LOGICAL, *SHIFTS) if name.startswith("__")}
    assert dunders == operators | others


@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 1), ()], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, shape: tuple[int, ...]) -> None:
    (a, twin_a), (b, twin_b) = twins(1), twins(2, shape)
    y = a * 1.5
    assert getattr(y, name)(b) is y
    same(y, BINARY[name](twin_a * 1.5, twin_b), (a, twin_a), (b, twin_b))


@pytest.mark.parametrize("operand", [2, 1.5, np.float64(1.5), np.array(1.5), draw(3, 3)], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_with_constants(name: str, operand: Any) -> None:
    a, twin = twins()
    same(getattr(a * 1.5, name)(operand), BINARY[name](twin * 1.5, operand), (a, twin))


@pytest.mark.parametrize("bounds", [(0.8, 1.6), (None, 1.6), (0.8, None)])
def test_clip(bounds: tuple[Any, Any]) -> None:
    a, twin = twins()
    same((a * 1.5).clip_(*bounds), ops.clip(twin * 1.5, *bounds), (a, twin))


@pytest.mark.parametrize("name", BINARY)
def test_without_history_the_memory_is_kept(name: str) -> None:
    """Constants and no_grad: the same array is written, so that every view sees it."""
    for requires_grad in (False, True):
        x = tensor(0.5 * draw(1, 2, 3), requires_grad=requires_grad)
        view, data, wanted = x.T, x._data, BINARY[name](x.detach().clone(), 1.25).numpy()
        with no_grad():
            assert getattr(x, name)(1.25) is x
        assert x._data is data
        np.testing.assert_array_equal(x.numpy(), wanted)
        np.testing.assert_array_equal(view.numpy(), wanted.T)


@pytest.mark.parametrize("name", LOGICAL)
def test_bits(name: str) -> None:
    for values, other in (([True, True, False], [True, False, True]), ([6, 3, 1], [5, 5, 5])):
        for operand in (np.array(other), tensor(other), other[0]):
            x = tensor(values)
            view, wanted = x[::-1], LOGICAL[name](np.array(values), np.asarray(operand))
            assert getattr(x, name)(operand) is x
            assert x.tolist() == wanted.tolist()
            assert view.tolist() == wanted.tolist()[::-1]
    with pytest.raises(TypeError, match="bitwise"):
        getattr(Tensor([1.0]), name)(True)


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts(name: str) -> None:
    x = tensor([6, 3, 1])
    assert getattr(x, name)(2) is x
    assert x.tolist() == SHIFTS[name](np.array([6, 3, 1]), 2).tolist()
    with pytest.raises(TypeError, match="shift"):
        getattr(Tensor([1.0]), name)(1)


def test_a_result_of_another_shape_is_refused() -> None:
    x = tensor(draw(0, 3))
    for attempt in (lambda: x.add_(np.ones((2, 3))), lambda: x.__iadd__(np.ones((1, 3)))):
        with pytest.raises(ValueError, match=r"(add_|__iadd__): .*shape \(\d, 3\).*\(3,\)"):
            attempt()
    np.testing.assert_array_equal(x.numpy(), draw(0, 3))


def test_an_array_is_not_augmented_by_a_tensor() -> None:
    """``array += tensor`` would lose the history: NumPy is told so."""
    array = np.ones(3)
    with pytest.raises(TypeError, match="out"):
        array += tensor(draw(0, 3), requires_grad=True)
    assert array.tolist() == [1.0, 1.0, 1.0]
