"""Reductions: NumPy's values and dtypes, over every choice of axes; zeros in a product."""

import math

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad


def test_reductions_of_nothing_and_of_numbers() -> None:
    nothing = tensor(np.zeros((0, 3)))
    assert ops.prod(nothing).item() == 1.0
    assert ops.prod(nothing, axis=0).tolist() == [1.0] * 3
    assert (ops.any(nothing).item(), ops.all(nothing).item()) == (False, True)
    assert ops.count_nonzero(nothing).item() == 0
    with pytest.raises(ValueError, match="^argmin: "):
        ops.argmin(nothing)
    for op in (ops.prod, ops.any, ops.all, ops.count_nonzero, ops.argmin):
        assert op(Tensor(3.0)).shape == op(3.0).shape == ()
    assert tensor([True, False]).any()
    assert not tensor([True, False]).all()
    assert ops.any(tensor([0.0, math.nan])).item() is True


# prod; beside zeros: test_scans.py -----------------------------------------------------------


def test_products_in_low_precision() -> None:
    """The product is taken in float32: on the way it may leave the range of float16."""
    x = tensor(np.array([300.0, 300.0, 0.01, 0.01], np.float16), requires_grad=True)
    out = ops.prod(x)
    np.testing.assert_allclose(out.item(), 9.0, rtol=2e-3)
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.03, 0.03, 900.0, 900.0], rtol=2e-3)
    assert out.dtype == x.grad.dtype == np.float16
    columns = tensor(np.stack([x.numpy()] * 2, axis=1))
    np.testing.assert_allclose(ops.prod(columns, axis=0).numpy(), [9.0, 9.0], rtol=2e-3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_masked_product_that_overflows_has_gradient_zero() -> None:
    x = tensor(np.array([[1e200, 1e200, 0.5], [2.0, 3.0, 4.0]]), requires_grad=True)
    out = ops.where(np.array([False, True]), ops.prod(x, axis=1), 0.0)
    assert grad(out.sum(), x)[0].tolist() == [[0.0] * 3, [12.0, 8.0, 6.0]]


def test_an_axis_may_be_a_tensor() -> None:
    for op in (ops.sum, ops.mean, ops.max, ops.prod, ops.std, ops.logsumexp):
        x = Tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        y = Tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
        op(x, axis=tensor(1)).sum().backward()
        op(y, axis=1).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


@pytest.mark.parametrize("axis", [0, -1])
def test_the_last_axis_of_a_number_without_axes(axis: int) -> None:
    for op, expected in ((ops.softmax, 1.0), (ops.log_softmax, 0.0), (ops.logsumexp, 2.0)):
        x = Tensor(2.0, requires_grad=True)
        out = op(x, axis=axis)
        assert out.shape == ()
        assert out.item() == expected
        out.backward()
        assert x.grad.item() == (1.0 if op is ops.logsumexp else 0.0)
