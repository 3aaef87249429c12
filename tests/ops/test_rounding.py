"""What goes in steps: values as NumPy's, gradients 0 and never an error, remainders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad

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
