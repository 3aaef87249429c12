"""BatchNorm and GroupNorm: modes, running statistics, refusals, numbers far from zero."""

import copy
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor
from minigrad.nn import functional as F


def test_training_learns_statistics_and_evaluation_uses_them() -> None:
    minigrad.random.seed(0)
    norm = nn.BatchNorm2d(3)
    assert [name for name, _ in norm.named_buffers()] == [
        "running_mean", "running_var", "num_batches_tracked"
    ]  # fmt: skip
    x = minigrad.randn(8, 3, 4, 4)
    norm(x)
    norm.eval()
    before = copy.deepcopy(norm.state_dict())
    one = norm(x[:1])
    np.testing.assert_allclose(one.numpy(), norm(x).numpy()[:1], rtol=1e-5)
    assert all((value == before[name]).all() for name, value in norm.state_dict().items())
    norm.reset_parameters()
    assert norm.running_mean.tolist() == [0.0] * 3
    assert norm.running_var.tolist() == [1.0] * 3
    assert norm.num_batches_tracked.item() == 0


def test_a_graph_through_two_calls_of_one_layer() -> None:
    """The running statistics change between the calls; no gradient needs the old ones."""
    norm = nn.BatchNorm1d(2).double()
    x = tensor(np.random.default_rng(0).standard_normal((5, 2)), requires_grad=True)
    (norm(x) * norm(x * x)).sum().backward()
    assert x.grad is not None
    assert np.isfinite(x.grad.numpy()).all()
    norm.eval()
    scale = 1 / np.sqrt(norm.running_var.numpy() + norm.eps)
    y = norm(x)
    norm.train()(x)
    x.grad = None
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(scale, (5, 2)))


def test_numbers_far_from_zero() -> None:
    """In float32, where the mean takes all the digits that a variance would need."""
    x = np.random.default_rng(0).integers(-8, 9, (64, 2)).astype(np.float64)
    far = tensor((x + 2.0**20).astype(np.float32))
    expected = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    np.testing.assert_allclose(
        F.batch_norm(far, None, None, training=True).numpy(), expected, atol=1e-4
    )
    rows = far.T.reshape(2, 1, 64)
    np.testing.assert_allclose(F.group_norm(rows, 1).numpy()[:, 0].T, expected, atol=1e-4)


def test_half_precision_sums_do_not_overflow() -> None:
    x = minigrad.full((70_000, 1), 2.0, dtype=np.float16)
    x = minigrad.concatenate([x, -x])
    np.testing.assert_allclose(F.batch_norm(x, None, None, training=True).numpy()[:2], 1.0, 1e-3)


def test_a_variance_that_float16_cannot_hold_warns_of_nothing() -> None:
    x = tensor(np.array([[300], [-400], [500], [100]], np.float16), requires_grad=True)
    out = F.batch_norm(x, None, None, training=True)
    assert np.abs(out.numpy()).max() < 2
    (out * np.arange(4.0, dtype=np.float16)[:, None]).sum().backward()
    assert (x.grad.numpy() != 0).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_constant_channel_has_finite_gradients(dtype: Any) -> None:
    x = tensor(np.full((8, 2), 3.0, dtype), requires_grad=True)
    y = F.batch_norm(x, None, None, training=True)
    assert not y.numpy().any()
    y.backward(np.arange(16).reshape(8, 2).astype(dtype))
    assert x.grad is not None
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize("affine", [True, False])
def test_a_state_without_the_count_of_batches_loads(affine: bool) -> None:
    """Lucid's layers keep none, and PyTorch's first ones kept none."""
    other = nn.Sequential(nn.BatchNorm2d(3, affine=affine))
    other(minigrad.randn(4, 3, 2, 2))
    state = copy.deepcopy(other.state_dict())
    del state["0.num_batches_tracked"]
    model = nn.Sequential(nn.BatchNorm2d(3, affine=affine))
    model(minigrad.randn(4, 3, 2, 2))
    assert model.load_state_dict(state) == ([], [])
    for name, value in state.items():
        np.testing.assert_array_equal(model.state_dict()[name].numpy(), value.numpy())
    assert model[0].num_batches_tracked.item() == 1
    del state["0.running_var"]
    with pytest.raises(RuntimeError, match="0.running_var: missing"):
        model.load_state_dict(state)
    with pytest.raises(RuntimeError, match="0.num_batches_tracked: missing"):
        model.load_state_dict({})


def test_one_number_for_each_channel_is_evaluated() -> None:
    assert nn.BatchNorm1d(3).eval()(minigrad.ones((1, 3))).shape == (1, 3)
    assert nn.BatchNorm1d(3)(minigrad.ones((1, 3, 2))).shape == (1, 3, 2)
