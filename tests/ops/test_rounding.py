"""What goes in steps: values as NumPy's, gradients 0 and never an error, remainders."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad, gradcheck

INF, NAN = float("inf"), float("nan")
STEPS: dict[str, Callable[[Any], Any]] = {
    "floor": ops.floor, "ceil": ops.ceil, "trunc": ops.trunc, "round": ops.round,
    "round to tens": lambda x: ops.round(x, -1), "sign": ops.sign,
    "floor_divide": lambda x: ops.floor_divide(x, 0.7),
    "divided": lambda x: ops.floor_divide(0.7, x),
    "copysign of a number": lambda x: ops.copysign(2.0, x),
}  # fmt: skip
CORNERS = np.array([-INF, -2.5, -1.5, -1.0, -0.5, -0.2, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, 7.3, INF])


def variable(*values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


# Gradients ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of division by 0
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_gradient_of_a_step_is_zero(name: str, create_graph: bool) -> None:
    """At its jumps and at infinity too, whatever the cotangent; and so are higher derivatives."""
    x = variable(*CORNERS)
    y = STEPS[name](x)
    assert y.requires_grad
    for cotangent in (np.ones(14), np.full(14, INF)):
        (found,) = grad(y, x, cotangent, retain_graph=True, create_graph=create_graph)
        assert found.tolist() == [0.0] * 14
    x = variable(*CORNERS[1:-1])
    (first,) = grad((x * STEPS[name](x)).sum(), x, create_graph=True)
    assert grad(first.sum(), x)[0].tolist() == [0.0] * 12


@pytest.mark.parametrize("create_graph", [False, True])
def test_remainder_has_the_slopes_of_a_minus_b_times_the_quotient(create_graph: bool) -> None:
    a, b = variable(7.0, -7.0, 7.0, -7.0, 0.5), variable(3.0, 3.0, -3.0, -3.0, 2.0)
    found = grad((a % b).sum(), (a, b), create_graph=create_graph)
    assert found[0].tolist() == [1.0] * 5
    assert found[1].tolist() == [-2.0, 3.0, 3.0, -2.0, 0.0]


def test_copysign_turns_the_slope_with_the_sign() -> None:
    a, b = variable(2.0, -2.0, 2.0, -2.0, 0.0), variable(1.0, 1.0, -0.0, -3.0, -1.0)
    y = ops.copysign(a, b)
    assert y.tolist() == [2.0, 2.0, -2.0, -2.0, -0.0]
    found = grad(y.sum(), (a, b))
    assert found[0].tolist() == [1.0, -1.0, -1.0, 1.0, 0.0]
    assert found[1].tolist() == [0.0] * 5


# Values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [3, 1, 0, -1, -2])
def test_rounding_to_decimals(decimals: int) -> None:
    x = np.array([[1234.5678, -0.125], [55.0, 0.0449]])
    for ours in (ops.round(tensor(x), decimals), tensor(x).round(decimals=decimals)):
        np.testing.assert_array_equal(ours.numpy(), np.round(x, decimals))
    np.testing.assert_array_equal(np.round(tensor(x), decimals).numpy(), np.round(x, decimals))
    whole = np.array([15, 25, -15, 149])
    np.testing.assert_array_equal(ops.round(tensor(whole), decimals), np.round(whole, decimals))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.int64])
def test_whole_numbers_stay_what_they_are(dtype: Any) -> None:
    x = tensor(np.array([0, 1, 1, 0], dtype))
    for op in (ops.floor, ops.ceil, ops.trunc, ops.round):
        y = op(x)
        assert y.dtype == dtype
        assert y.tolist() == x.tolist()
        assert not np.shares_memory(y.numpy(), x.numpy())
    if dtype is not bool:
        assert ops.sign(x).dtype == dtype
        assert ops.sign(x).tolist() == [0, 1, 1, 0]
    assert ops.copysign(x, x).dtype == np.float32


def test_the_operators_on_both_sides() -> None:
    x = np.array([2.0, -1.5, 0.7])
    for op in (operator.floordiv, operator.mod):
        for other in (5, 5.0, np.float64(5), np.array([5.0, 4.0, -3.0]), [5, 4, 3], Tensor([5.0])):
            plain = other.numpy() if isinstance(other, Tensor) else other
            for ours, wanted in (
                (op(variable(*x), other), op(x, plain)),
                (op(other, variable(*x)), op(plain, x)),
            ):
                assert type(ours) is Tensor
                np.testing.assert_allclose(ours.numpy(), wanted, rtol=1e-15)
    assert gradcheck(lambda a: [a // 0.45, a % 0.45], variable(*x))
