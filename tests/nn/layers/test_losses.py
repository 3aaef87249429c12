"""Losses: values by hand, derivatives, extreme inputs, reductions, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import gradcheck, gradgradcheck
from minigrad.nn import functional as F

float64 = minigrad.float64


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=True)


Y = np.array([[0.5, -1.0, 2.0], [0.0, 3.0, -0.25]])
P = np.array([[0.0, 1.0, 0.3], [1.0, 0.0, 0.9]])
ELEMENTWISE: dict[str, tuple[Any, Any, Any]] = {
    # the loss, its target, and the same with NumPy
    "mse": (F.mse_loss, Y, lambda x: (x - Y) ** 2),
    "l1": (F.l1_loss, Y, lambda x: np.abs(x - Y)),
    "huber": (
        F.huber_loss,
        Y,
        lambda x: np.where(abs(x - Y) <= 1, (x - Y) ** 2 / 2, abs(x - Y) - 0.5),
    ),
    "bce with logits": (
        F.binary_cross_entropy_with_logits,
        P,
        lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0) - x * P,
    ),
    "bce": (
        lambda x, y, **kw: F.binary_cross_entropy(x.sigmoid(), y, **kw),
        P,
        lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0) - x * P,
    ),
}
elementwise = pytest.mark.parametrize(
    ("loss", "target", "expected"), ELEMENTWISE.values(), ids=ELEMENTWISE
)


@elementwise
class TestElementwise:
    def test_values_under_each_reduction(self, loss: Any, target: Any, expected: Any) -> None:
        x = draw(2, 3)
        values = expected(x.data)
        for reduction, wanted in (
            ("none", values), (None, values), ("mean", values.mean()), ("sum", values.sum())
        ):  # fmt: skip
            found = loss(x, target, reduction=reduction).data
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert loss(x, target).item() == loss(x, target, reduction="mean").item()

    def test_derivatives(self, loss: Any, target: Any, expected: Any) -> None:
        x, y = draw(2, 3), Tensor(target, requires_grad=True)
        gradcheck(loss, [x, y])
        gradgradcheck(loss, [x, y])

    def test_refusals(self, loss: Any, target: Any, expected: Any) -> None:
        with pytest.raises(ValueError, match=r"\(3,\).*target.*\(2, 3\)"):
            loss(minigrad.ones(3), target)
        with pytest.raises(ValueError, match='reduction .*"mean", "sum".* "none"'):
            loss(minigrad.ones(2, 3), target, reduction="avg")


class TestSpecialValues:
    def test_huber_at_its_seams(self) -> None:
        x = Tensor([-2.0, -0.5, 0.0, 0.5, 2.0], dtype=float64, requires_grad=True)
        loss = F.huber_loss(x, np.zeros(5), delta=0.5, reduction="none")
        assert loss.tolist() == [0.875, 0.125, 0.0, 0.125, 0.875]
        (first,) = minigrad.autograd.grad(loss.sum(), [x], create_graph=True)
        assert first.tolist() == [-0.5, -0.5, 0.0, 0.5, 0.5]
        (second,) = minigrad.autograd.grad(first.sum(), [x])
        assert second.tolist()[2] == 1.0
        with pytest.raises(ValueError, match="delta .*0"):
            F.huber_loss(x, np.zeros(5), delta=0)

    def test_logits_of_any_size(self) -> None:
        x = Tensor([-1e4, -1e4, 0.0, 1e4, 1e4], requires_grad=True)
        loss = F.binary_cross_entropy_with_logits(x, [0.0, 1.0, 0.5, 0.0, 1.0], reduction="none")
        np.testing.assert_allclose(loss.data, [0, 1e4, np.log(2), 1e4, 0])
        loss.sum().backward()
        assert x.grad.tolist() == [0, -1, 0, 1, 0]

    def test_probabilities_of_zero_and_one(self) -> None:
        x = Tensor([0.0, 0.0, 1.0, 1.0], requires_grad=True)
        loss = F.binary_cross_entropy(x, [0.0, 1.0, 0.0, 1.0], reduction="none")
        assert loss.tolist() == [0, 100, 100, 0]
        loss.sum().backward()
        assert np.isfinite(x.grad.data).all()

    @pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
    def test_no_probability(self, value: float) -> None:
        with pytest.raises(ValueError, match="binary_cross_entropy: .*input"):
            F.binary_cross_entropy(Tensor([0.5, value]), [0.0, 1.0])

    def test_weights(self) -> None:
        x = draw(2, 3)
        weight, positive = np.array([1.0, 2.0, 0.0]), np.array([3.0, 1.0, 0.5])
        log_p = -np.logaddexp(0, -x.data)
        log_q = -np.logaddexp(0, x.data)
        expected = -weight * (positive * P * log_p + (1 - P) * log_q)
        loss = F.binary_cross_entropy_with_logits(x, P, weight, "none", pos_weight=positive)
        np.testing.assert_allclose(loss.data, expected, rtol=1e-12)
        loss = F.binary_cross_entropy(x.sigmoid(), P, weight, "none")
        np.testing.assert_allclose(loss.data, -weight * (P * log_p + (1 - P) * log_q), rtol=1e-9)


CLASSES: dict[str, tuple[tuple[int, ...], Any]] = {
    "one": ((4,), 2),
    "batch": ((3, 4), [0, 3, 1]),
    "positions": ((2, 4, 3), [[0, 1, 3], [2, 2, 0]]),
    "pictures": ((1, 4, 2, 2), [[[0, 1], [2, 3]]]),
}
classes = pytest.mark.parametrize(("shape", "target"), CLASSES.values(), ids=CLASSES)
WEIGHT = np.array([1.0, 0.0, 2.0, 0.5])
THREE = np.array([1.0, 2.0, 3.0])


class TestClasses:
    @classes
    @pytest.mark.parametrize("weight", [None, WEIGHT])
    @pytest.mark.parametrize("ignore_index", [None, 3])
    @pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
    def test_nll_of_log_softmax_is_cross_entropy(
        self, shape: Any, target: Any, weight: Any, ignore_index: Any, reduction: Any
    ) -> None:
        x = draw(*shape)
        options = {"weight": weight, "ignore_index": ignore_index, "reduction": reduction}
        log_p = F.log_softmax(x, axis=min(1, x.ndim - 1))
        nll = F.nll_loss(log_p, target, **options)
        entropy = F.cross_entropy(x, target, **options)
        np.testing.assert_allclose(nll.data, entropy.data, rtol=1e-12)
        assert nll.shape == (np.shape(target) if reduction == "none" else ())
        cotangent = draw(*nll.shape)
        np.testing.assert_allclose(
            minigrad.autograd.grad(nll, x, cotangent).data,
            minigrad.autograd.grad(entropy, x, cotangent).data,
            atol=1e-12,
        )

    @classes
    def test_derivatives(self, shape: Any, target: Any) -> None:
        x = draw(*shape)
        gradcheck(lambda x: F.nll_loss(x, target, WEIGHT), x)
        gradcheck(lambda x: F.cross_entropy(x, target, WEIGHT, label_smoothing=0.1), x)
        gradgradcheck(lambda x: F.cross_entropy(x, target, WEIGHT, label_smoothing=0.1), x)

    def test_by_hand(self) -> None:
        log_p = Tensor(np.log([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]))
        loss = F.nll_loss(log_p, [1, 0], np.array([4.0, 1.0, 1.0]), "none")
        np.testing.assert_allclose(loss.data, [np.log(4), 4 * np.log(10)])
        mean = F.nll_loss(log_p, [1, 0], np.array([4.0, 1.0, 1.0]))
        np.testing.assert_allclose(mean.item(), (np.log(4) + 4 * np.log(10)) / 5)

    def test_minus_infinity_counts_only_where_it_is_the_target(self) -> None:
        log_p = Tensor([[0.0, -np.inf], [-np.inf, 0.0]], requires_grad=True)
        loss = F.nll_loss(log_p, [0, 1])
        loss.backward()
        assert loss.item() == 0
        assert log_p.grad.tolist() == [[-0.5, 0], [0, -0.5]]
        ignored = F.nll_loss(log_p, [0, 0], ignore_index=0, reduction="sum")
        assert ignored.item() == 0

    @pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
    def test_scores_of_ignored_targets_may_be_minus_infinity(self, label_smoothing: float) -> None:
        x = Tensor([[-np.inf, 0.0, -np.inf], [0.0, 0.0, 0.0]], requires_grad=True)
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

    @pytest.mark.parametrize("loss", [F.nll_loss, F.cross_entropy])
    @pytest.mark.parametrize(
        ("target", "error", "message"),
        [
            ([0, 3], IndexError, "target 3 .*0 to 2"),
            ([-1, 0], IndexError, "ignore_index=-1"),
            ([0.0, 1.0], TypeError, "class indices"),
            ([0, 1, 2], ValueError, r"target .*\(2,\).*\(3,\)"),
        ],
    )
    def test_refusals(self, loss: Any, target: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=f"^{loss.__name__}: .*{message}"):
            loss(minigrad.zeros(2, 3), target)
        with pytest.raises(ValueError, match=r"weight .*\(3,\)"):
            loss(minigrad.zeros(2, 3), [0, 1], np.ones(2))


class TestModules:
    @pytest.mark.parametrize(
        ("module", "x", "target", "expected"),
        [
            (nn.MSELoss("sum"), draw(2, 3), Y, lambda x: F.mse_loss(x, Y, "sum")),
            (nn.L1Loss("sum"), draw(2, 3), Y, lambda x: F.l1_loss(x, Y, "sum")),
            (nn.HuberLoss("sum", 0.3), draw(2, 3), Y, lambda x: F.huber_loss(x, Y, 0.3, "sum")),
            (nn.BCELoss([1.0, 2, 3]), Tensor(P), P, lambda x: F.binary_cross_entropy(x, P, THREE)),
            (
                nn.BCEWithLogitsLoss([1.0, 2, 3], "sum", pos_weight=[2.0]),
                draw(2, 3),
                P,
                lambda x: F.binary_cross_entropy_with_logits(x, P, THREE, "sum", pos_weight=2),
            ),
            (
                nn.CrossEntropyLoss(WEIGHT, "sum", ignore_index=2, label_smoothing=0.1),
                draw(3, 4),
                [0, 2, 3],
                lambda x: F.cross_entropy(
                    x, [0, 2, 3], WEIGHT, "sum", ignore_index=2, label_smoothing=0.1
                ),
            ),
            (
                nn.NLLLoss(WEIGHT, "none", ignore_index=2),
                draw(3, 4),
                [0, 2, 3],
                lambda x: F.nll_loss(x, [0, 2, 3], WEIGHT, "none", ignore_index=2),
            ),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
    )
    def test_they_pass_their_options_on(
        self, module: Any, x: Tensor, target: Any, expected: Any
    ) -> None:
        np.testing.assert_allclose(module(x, target).data, expected(x).data, rtol=1e-12)

    def test_weights_are_buffers(self) -> None:
        loss = nn.CrossEntropyLoss([1.0, 2.0])
        assert list(loss.state_dict()) == ["weight"]
        assert loss.double().weight.dtype == np.float64
        assert not list(nn.CrossEntropyLoss().state_dict())

    @pytest.mark.parametrize("kind", [nn.MSELoss, nn.L1Loss, nn.HuberLoss])
    def test_refusals(self, kind: Any) -> None:
        with pytest.raises(ValueError, match='Loss: reduction .*"mean", "sum".* "none"'):
            kind("avg")
        with pytest.raises(ValueError, match="HuberLoss: delta .*0"):
            nn.HuberLoss(delta=-1)


# Losses at the edge --------------------------------------------------------------------------


def test_a_prediction_that_is_exactly_wrong_is_learned() -> None:
    """Its loss is clamped to 100, its slope to 1e12, as in PyTorch."""
    for create_graph in (False, True):
        x = Tensor([0.0, 1.0, 0.0, 1.0, 0.5], requires_grad=True)
        loss = F.binary_cross_entropy(x, [1.0, 0.0, 0.0, 1.0, 1.0], reduction="none")
        assert loss.tolist()[:4] == [100.0, 100.0, 0.0, 0.0]
        slope = minigrad.autograd.grad(loss.sum(), x, create_graph=create_graph)
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
            slope = minigrad.autograd.grad(found, x, create_graph=create_graph).numpy()
            assert np.isnan(found.item()) == (reduction == "mean")
            for row, wanted in zip(slope, target, strict=True):
                if reduction == "sum" or wanted < 0:
                    assert not row.any()
                else:
                    assert np.isnan(row[wanted])


def test_the_curvature_of_kl_div_at_a_small_target() -> None:
    y = Tensor([1e-30, 0.5, 0.0], requires_grad=True)
    loss = F.kl_div(Tensor([-1.0, -2.0, -3.0]), y, "sum")
    slope = minigrad.autograd.grad(loss, y, create_graph=True)
    np.testing.assert_allclose(slope.numpy()[1:], [np.log(0.5) + 3, 3.0], rtol=1e-6)
    bend = minigrad.autograd.grad(slope.sum(), y).numpy()
    np.testing.assert_allclose(bend, [1e30, 2.0, 0.0], rtol=1e-6)
