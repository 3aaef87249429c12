"""Losses at their seams, of extreme inputs, of ignored and weighted classes."""

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.nn import functional as F

float64 = minigrad.float64


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=True)


def test_none_is_no_reduction() -> None:
    x, y = draw(2, 3), draw(2, 3)
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss):
        found, expected = (loss(x, y, reduction=name).data for name in (None, "none"))
        np.testing.assert_array_equal(found, expected)


def test_logits_of_any_size() -> None:
    x = Tensor([-1e4, -1e4, 0.0, 1e4, 1e4], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, [0.0, 1.0, 0.5, 0.0, 1.0], reduction="none")
    np.testing.assert_allclose(loss.data, [0, 1e4, np.log(2), 1e4, 0])
    loss.sum().backward()
    assert x.grad.tolist() == [0, -1, 0, 1, 0]


class TestClasses:
    def test_minus_infinity_counts_only_where_it_is_the_target(self) -> None:
        log_p = tensor([[0.0, -np.inf], [-np.inf, 0.0]], requires_grad=True)
        loss = F.nll_loss(log_p, [0, 1])
        loss.backward()
        assert loss.item() == 0
        assert log_p.grad.tolist() == [[-0.5, 0], [0, -0.5]]
        ignored = F.nll_loss(log_p, [0, 0], ignore_index=0, reduction="sum")
        assert ignored.item() == 0

    @pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
    def test_scores_of_ignored_targets_may_be_minus_infinity(self, label_smoothing: float) -> None:
        x = tensor([[-np.inf, 0.0, -np.inf], [0.0, 0.0, 0.0]], requires_grad=True)
        loss = F.cross_entropy(x, [-1, 0], ignore_index=-1, label_smoothing=label_smoothing)
        (gradient,) = minigrad.autograd.grad(loss, [x], create_graph=True)
        assert loss.item() == pytest.approx(np.log(3))
        assert not gradient.data[0].any()
        loss.backward()
        np.testing.assert_allclose(x.grad.data, gradient.data, atol=1e-7)

    def test_nothing_but_ignored_targets(self) -> None:
        for loss in (F.nll_loss, F.cross_entropy):
            x = draw(2, 3)
            assert np.isnan(loss(x, [-100, -100], ignore_index=-100).item())
            total = loss(x, [-100, -100], ignore_index=-100, reduction="sum")
            total.backward()
            assert total.item() == 0
            assert not x.grad.data.any()


def test_weights_of_modules_are_buffers() -> None:
    loss = nn.CrossEntropyLoss([1.0, 2.0])
    assert list(loss.state_dict()) == ["weight"]
    assert loss.double().weight.dtype == np.float64
    assert not list(nn.CrossEntropyLoss().state_dict())
    both = nn.BCEWithLogitsLoss([1.0, 2.0], pos_weight=[3.0, 4.0])
    assert list(both.state_dict()) == ["weight", "pos_weight"]


# Losses at the edge --------------------------------------------------------------------------


def test_a_prediction_that_is_exactly_wrong_is_learned() -> None:
    """Its loss is clamped to 100, its slope to 1e12, as in PyTorch."""
    for create_graph in (False, True):
        x = Tensor([0.0, 1.0, 0.0, 1.0, 0.5], requires_grad=True)
        loss = F.binary_cross_entropy(x, [1.0, 0.0, 0.0, 1.0, 1.0], reduction="none")
        assert loss.tolist()[:4] == [100.0, 100.0, 0.0, 0.0]
        (slope,) = minigrad.autograd.grad(loss.sum(), x, create_graph=create_graph)
        np.testing.assert_allclose(slope.numpy(), [-1e12, 1e12, 1.0, -1.0, -2.0])


NO_WEIGHT = {
    "weights": ([0, 1, 2], {"weight": [0.0, 0.0, 0.0, 0.0]}),
    "the weight of the target": ([3, 3, 3], {"weight": [1.0, 1.0, 1.0, 0.0]}),
    "and an ignored row": ([3, -100, 3], {"weight": [1.0, 1.0, 1.0, 0.0]}),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", NO_WEIGHT)
def test_a_loss_that_is_nan_has_a_gradient_that_is_nan(name: str, create_graph: bool) -> None:
    """In the rows that count; without a mean, weights of 0 are just that."""
    target, options = NO_WEIGHT[name]
    for loss in (F.cross_entropy, F.nll_loss):
        for reduction in ("mean", "sum"):
            x = draw(3, 4)
            x.requires_grad_()
            with np.errstate(invalid="ignore"):
                found = loss(x, target, reduction=reduction, **options)
            slope = minigrad.autograd.grad(found, x, create_graph=create_graph)[0].numpy()
            assert np.isnan(found.item()) == (reduction == "mean")
            for row, wanted in zip(slope, target, strict=True):
                if reduction == "sum" or wanted < 0:
                    assert not row.any()
                else:
                    assert np.isnan(row[wanted])


def test_the_curvature_of_kl_div_at_a_small_target() -> None:
    y = Tensor([1e-30, 0.5, 0.0], requires_grad=True)
    loss = F.kl_div(Tensor([-1.0, -2.0, -3.0]), y, reduction="sum")
    (slope,) = minigrad.autograd.grad(loss, y, create_graph=True)
    np.testing.assert_allclose(slope.numpy()[1:], [np.log(0.5) + 3, 3.0], rtol=1e-6)
    bend = minigrad.autograd.grad(slope.sum(), y)[0].numpy()
    np.testing.assert_allclose(bend, [1e30, 2.0, 0.0], rtol=1e-6)


def test_lists_arrays_and_other_floats_are_probabilities_of_classes() -> None:
    x = tensor([[2.0, 0.0, -1.0]], requires_grad=True)
    rows = [[0.5, 0.25, 0.25]]
    wanted = F.cross_entropy(x, tensor(rows)).item()
    for target in (rows, np.array(rows), np.array(rows, np.float16)):
        loss = F.cross_entropy(x, target)
        assert loss.item() == wanted
        assert loss.dtype == np.float32
    one_hot = F.cross_entropy(x, [[0.0, 1.0, 0.0]])
    np.testing.assert_allclose(one_hot.item(), F.cross_entropy(x, [1]).item(), rtol=1e-6)


def test_an_impossible_class_of_probability_zero_counts_nothing() -> None:
    """0 · log 0 is 0, forward and backward; PyTorch answers NaN."""
    x = tensor([[0.0, -np.inf, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, [[1.0, 0.0, 0.0]])
    loss.backward()
    np.testing.assert_allclose(loss.item(), np.log(2), rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [[-0.5, 0.0, 0.5]], rtol=1e-6)
