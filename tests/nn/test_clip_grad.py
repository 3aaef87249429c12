"""Norms of gradients, and clipping them."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor
from minigrad.nn.utils import clip_grad_norm, clip_grad_value, get_total_norm, grad_norm


def with_gradient(values: Any, dtype: Any = np.float32) -> Tensor:
    tensor = minigrad.zeros(*np.shape(values), dtype=dtype, requires_grad=True)
    tensor.grad = minigrad.tensor(values, dtype=dtype)
    return tensor


def test_total_norm() -> None:
    tensors = [Tensor([3.0, -4.0]), Tensor([[12.0]]), minigrad.zeros(0)]
    assert get_total_norm(tensors).item() == pytest.approx(13)
    assert get_total_norm(tensors, 1.0).item() == pytest.approx(19)
    assert get_total_norm(tensors, np.inf) == 12
    assert get_total_norm([]) == 0


def test_parameters_without_gradient_do_not_count() -> None:
    without = minigrad.ones(3, requires_grad=True)
    assert grad_norm([with_gradient([3.0]), without, with_gradient([4.0])]) == pytest.approx(5)
    assert grad_norm(with_gradient([3.0, 4.0])) == pytest.approx(5)
    assert clip_grad_norm([without], 1.0) == 0
    assert without.grad is None


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, np.inf])
def test_clipped_to_the_norm(norm_type: float) -> None:
    parameters = [with_gradient([3.0, -4.0]), with_gradient([[12.0]])]
    gradients = [p.grad for p in parameters]
    before = [g.numpy().copy() for g in gradients]
    total = clip_grad_norm(iter(parameters), 2.0, norm_type)
    assert grad_norm(parameters, norm_type) == pytest.approx(2.0, rel=1e-5)
    for parameter, gradient, old in zip(parameters, gradients, before, strict=True):
        assert parameter.grad is gradient
        np.testing.assert_allclose(gradient.numpy(), old * 2.0 / total, rtol=1e-5)


def test_small_gradients_are_left_alone() -> None:
    parameter = with_gradient([3.0, 4.0])
    assert clip_grad_norm(parameter, 5.0 + 1e-5) == pytest.approx(5)
    assert parameter.grad.tolist() == [3.0, 4.0]


def test_float16_does_not_overflow() -> None:
    parameter = with_gradient([300.0] * 4, np.float16)
    assert clip_grad_norm(parameter, 60.0) == pytest.approx(600)
    assert parameter.grad.tolist() == [30.0] * 4


def test_what_is_not_finite() -> None:
    parameter = with_gradient([np.nan, 1.0])
    with pytest.raises(RuntimeError, match="norm .*nan"):
        clip_grad_norm(parameter, 1.0, error_if_nonfinite=True)
    assert parameter.grad.numpy()[1] == 1.0
    clip_grad_norm(parameter, 1.0)
    assert np.isnan(parameter.grad.numpy()).all()


def test_by_value() -> None:
    parameter = with_gradient([-3.0, 0.5, 7.0])
    clip_grad_value([parameter], 2.0)
    assert parameter.grad.tolist() == [-2.0, 0.5, 2.0]
