"""The smaller layers, losses and clipping against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases
from side_by_side import assert_close, compare, draw, randomise, torch

from minigrad import Tensor, nn
from minigrad.nn import functional as F

THEIRS = {"HardSwish": "Hardswish", "HardSigmoid": "Hardsigmoid"}
OTHERWISE = ("RNN", "LSTM", "GRU", "Cell", "Attention", "Transformer", "Drop")
"""Layers that other files compare: their results or their arguments are others, or random."""
LINES = cases(
    line
    for line in LAYERS
    if line.shapes
    and hasattr(torch.nn, THEIRS.get(line.kind, line.kind))
    and not any(part in line.kind for part in OTHERWISE)
)


@pytest.mark.parametrize("line", LINES)
def test_layer(line: Layer) -> None:
    ours = line.make().double()
    theirs = randomise(
        getattr(torch.nn, THEIRS.get(line.kind, line.kind))(*line.sizes, **line.options)
    )
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(line.shapes)]
    # PyTorch multiplies a gradient by one sixth in float32.
    rtol = 1e-7 if line.kind == "HardSigmoid" else 1e-9
    compare(ours, theirs, arrays, ours, theirs, rtol)


def test_layers_in_a_row() -> None:
    ours = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    compare(ours, randomise(theirs), [draw(5, 3)], ours, theirs)


PAIRS: dict[str, tuple[Any, Any, list[tuple[int, ...]], tuple[Any, ...]]] = {
    # both layers, the shapes of the inputs, and what comes after them
    **{
        f"TripletMarginLoss {reduction} {options}": (
            nn.TripletMarginLoss(reduction=reduction, **options),
            torch.nn.TripletMarginLoss(reduction=reduction, **options), [(6, 3)] * 3, ())
        for reduction in ("mean", "sum", "none")
        for options in ({}, {"margin": 0.3, "p": 1.0}, {"swap": True, "eps": 0.01}, {"p": 3.0})
    },
    "TripletMarginLoss of one": (
        nn.TripletMarginLoss(2.0), torch.nn.TripletMarginLoss(2.0), [(3,)] * 3, ()),
    **{
        f"{name} {reduction} {margin}": (
            getattr(nn, name)(margin, reduction),
            getattr(torch.nn, name)(margin, reduction=reduction), shapes,
            (np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0]),))
        for name, shapes in (
            ("MarginRankingLoss", [(6,)] * 2), ("CosineEmbeddingLoss", [(6, 3)] * 2))
        for reduction in ("mean", "sum", "none")
        for margin in (0.0, 0.4)
    },
    "CosineEmbeddingLoss of one": (
        nn.CosineEmbeddingLoss(), torch.nn.CosineEmbeddingLoss(), [(3,)] * 2, (np.array(-1.0),)),
}  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "shapes", "others"), PAIRS.values(), ids=PAIRS)
def test_layer_of_several_inputs(ours: Any, theirs: Any, shapes: Any, others: Any) -> None:
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    tensors = [torch.tensor(other) for other in others]
    compare(
        ours.double(), randomise(theirs), arrays,
        lambda *x: ours(*x, *others), lambda *x: theirs(*x, *tensors),
    )  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(4, 3), (4, 1), (4,)])
def test_gaussian_loss(reduction: Any, full: bool, shape: tuple[int, ...]) -> None:
    """A variance below eps is raised to it, and still receives its gradient."""
    var = np.abs(draw(*shape)) + 0.1
    var.flat[1] = 0.0
    options = {"full": full, "eps": 0.01, "reduction": reduction}
    ours, theirs = nn.GaussianNLLLoss(**options), torch.nn.GaussianNLLLoss(**options)
    compare(ours, theirs, [draw(4, 3), draw(4, 3, seed=1), var], ours, theirs)
    x, y = draw(4, 3), draw(4, 3, seed=1)
    number = ours(Tensor(x), y, 0.3), theirs(torch.tensor(x), torch.tensor(y), 0.3)
    assert_close(*number)


def test_similar_functions_with_their_options() -> None:
    x, y, zeros = draw(4, 3, 2), draw(4, 3, 2, seed=1), np.zeros((4, 3, 2))
    zeros[1] = 1.0
    functional = torch.nn.functional
    for p in (1.0, 2.0, 3.0, 0.5, float("inf")):
        for array in (x, zeros):
            for axis in (1, -1):
                ours = F.normalize(Tensor(array), p, axis)
                assert_close(ours, functional.normalize(torch.tensor(array), p, axis), f"{p}")
        ours = F.pairwise_distance(Tensor(x), Tensor(y), p, 0.1, True)
        theirs = functional.pairwise_distance(torch.tensor(x), torch.tensor(y), p, 0.1, True)
        assert_close(ours, theirs, f"{p}")


IN_PLACE = [
    "ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "SiLU", "Mish", "HardSwish", "HardSigmoid",
    "Hardtanh",
]  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    """The input holds the result, and gradients are PyTorch's, for a leaf and after what saves."""
    ours = getattr(nn, name)(inplace=True)
    theirs = getattr(torch.nn, THEIRS.get(name, name))(inplace=True)
    assert "inplace=True" in repr(ours)
    x, w = draw(4, 5) * 3, draw(5, 5)
    mine, its = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    h, t = mine @ Tensor(w), its @ torch.tensor(w)
    out = ours(h)
    assert out is h
    (out * x).sum().backward()
    (theirs(t) * torch.tensor(x)).sum().backward()
    assert_close(h.numpy(), t.detach().numpy())
    np.testing.assert_allclose(mine.grad.numpy(), its.grad.numpy(), rtol=1e-7)
    with pytest.raises(RuntimeError, match="leaf.*requires grad"):
        ours(mine)
    saved = mine.exp()
    ours(saved)
    with pytest.raises(RuntimeError, match="exp: .*output.* in place"):
        saved.sum().backward()
    constant = Tensor(x)
    assert ours(constant) is constant
    assert_close(constant.numpy(), theirs(torch.tensor(x)).numpy())


def test_dropout_in_place() -> None:
    x = Tensor(draw(40, 5), requires_grad=True)
    drop, h = nn.Dropout(0.5, inplace=True), x * 2.0
    out = drop(h)
    assert out is h
    kept = out.numpy() != 0
    assert 60 < kept.sum() < 140
    assert_close(out.numpy(), np.where(kept, 4 * x.numpy(), 0))
    out.sum().backward()
    assert_close(x.grad.numpy(), np.where(kept, 4.0, 0))
    before = h.numpy().copy()
    assert drop.eval()(h) is h
    assert_close(h.numpy(), before)


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"max_norm": 0.8},
                {"max_norm": 0.8, "norm_type": 1.0}], ids=str,
)  # fmt: skip
def test_embedding(options: dict[str, Any]) -> None:
    ours = nn.Embedding(5, 3, **options).double()
    theirs = randomise(torch.nn.Embedding(5, 3, **options))
    ids = np.array([[0, 1, 4], [4, 2, 0]])
    compare(ours, theirs, [], lambda: ours(ids), lambda: theirs(torch.tensor(ids)))
    assert_close(ours.weight, theirs.weight)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"max_norm": 0.8}], ids=str)
def test_embedding_bag(mode: Any, options: dict[str, Any]) -> None:
    """Bags as rows, and one after the other: empty ones, and ones of padding alone."""
    ids = np.array([0, 1, 4, 4, 2, 0, 1, 1, 3])
    for given in (
        (ids.reshape(3, 3),),
        (ids, np.array([0, 2, 2, 6, 8])),
        (ids, np.array([0, 2, 9]), True),
    ):
        last = {"include_last_offset": True} if len(given) == 3 else {}
        ours = nn.EmbeddingBag(5, 3, mode=mode, **options, **last).double()
        theirs = randomise(torch.nn.EmbeddingBag(5, 3, mode=mode, **options, **last))
        arrays = [torch.tensor(array) for array in given[:2]]
        compare(ours, theirs, [], lambda: ours(*given[:2]), lambda: theirs(*arrays))  # noqa: B023
        assert_close(ours.weight, theirs.weight)


def test_weights_of_an_embedding_bag() -> None:
    ours = nn.EmbeddingBag(5, 3, mode="sum", padding_idx=2).double()
    theirs = randomise(torch.nn.EmbeddingBag(5, 3, mode="sum", padding_idx=2))
    ids, offsets = np.array([0, 1, 2, 4, 2, 0]), np.array([0, 4])
    compare(
        ours, theirs, [draw(6)],
        lambda w: ours(ids, offsets, w),
        lambda w: theirs(torch.tensor(ids), torch.tensor(offsets), w),
    )  # fmt: skip


def losses() -> dict[str, tuple[Any, Any, np.ndarray, np.ndarray]]:
    x, y, p = draw(3, 4), draw(3, 4, seed=1), np.abs(np.sin(draw(3, 4)))
    hard = np.array([0, 3, 2])
    deep, positions = draw(2, 4, 3), np.array([[0, 3, 2], [1, 1, 0]])
    weight = np.array([1.0, 0.5, 2.0, 0.0])
    soft = torch.tensor(weight)
    t = torch.nn
    return {
        "mse": (nn.MSELoss, t.MSELoss, x, y),
        "l1": (nn.L1Loss, t.L1Loss, x, y),
        "huber": (
            lambda reduction: nn.HuberLoss(reduction, delta=0.7),
            lambda reduction: t.HuberLoss(reduction, delta=0.7),
            x,
            y,
        ),
        "smooth l1": (
            lambda reduction: nn.SmoothL1Loss(reduction, beta=0.7),
            lambda reduction: t.SmoothL1Loss(reduction=reduction, beta=0.7),
            x,
            y,
        ),
        "smooth l1 without a parabola": (
            lambda reduction: nn.SmoothL1Loss(reduction, beta=0.0),
            lambda reduction: t.SmoothL1Loss(reduction=reduction, beta=0.0),
            x,
            y,
        ),
        "kl": (nn.KLDivLoss, t.KLDivLoss, x, np.where(p > 0.3, p, 0.0)),
        "kl of logarithms": (
            lambda reduction: nn.KLDivLoss(reduction, log_target=True),
            lambda reduction: t.KLDivLoss(reduction=reduction, log_target=True),
            x,
            y,
        ),
        "bce": (
            lambda reduction: nn.BCELoss(weight, reduction),
            lambda reduction: t.BCELoss(soft, reduction=reduction),
            p * 0.9 + 0.05,
            np.abs(np.cos(y)),
        ),
        "bce with logits": (
            lambda reduction: nn.BCEWithLogitsLoss(weight, reduction, pos_weight=1 + weight),
            lambda reduction: t.BCEWithLogitsLoss(soft, reduction=reduction, pos_weight=1 + soft),
            40 * x,
            p,
        ),
        "nll": (
            lambda reduction: nn.NLLLoss(weight, reduction, ignore_index=2),
            lambda reduction: t.NLLLoss(soft, reduction=reduction, ignore_index=2),
            x,
            hard,
        ),
        "nll, ignoring as PyTorch does": (
            lambda reduction: nn.NLLLoss(reduction=reduction),
            lambda reduction: t.NLLLoss(reduction=reduction),
            x,
            np.array([0, -100, 2]),
        ),
        "cross-entropy, ignoring as PyTorch does": (
            lambda reduction: nn.CrossEntropyLoss(reduction=reduction),
            lambda reduction: t.CrossEntropyLoss(reduction=reduction),
            x,
            np.array([-100, 3, 2]),
        ),
        "nll of positions": (
            lambda reduction: nn.NLLLoss(reduction=reduction),
            lambda reduction: t.NLLLoss(reduction=reduction),
            deep,
            positions,
        ),
        "cross-entropy": (
            lambda reduction: nn.CrossEntropyLoss(reduction=reduction),
            lambda reduction: t.CrossEntropyLoss(reduction=reduction),
            x,
            hard,
        ),
        "cross-entropy of positions, with everything": (
            lambda reduction: nn.CrossEntropyLoss(
                weight, reduction, ignore_index=1, label_smoothing=0.1
            ),
            lambda reduction: t.CrossEntropyLoss(
                soft, reduction=reduction, ignore_index=1, label_smoothing=0.1
            ),
            deep,
            positions,
        ),
    }


LOSSES = losses()


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # PyTorch, of its own divergence
@pytest.mark.parametrize(("ours", "theirs", "x", "target"), LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_loss(ours: Any, theirs: Any, x: np.ndarray, target: np.ndarray, reduction: str) -> None:
    compare(
        ours(reduction=reduction).double(),
        theirs(reduction=reduction),
        [x],
        lambda x: ours(reduction=reduction)(x, target),
        lambda x: theirs(reduction=reduction)(x, torch.tensor(target)),
    )


def test_divergence_over_a_batch() -> None:
    x, y = draw(3, 4), np.abs(draw(3, 4, seed=1))
    ours, theirs = nn.KLDivLoss("batchmean"), torch.nn.KLDivLoss(reduction="batchmean")
    compare(ours, theirs, [x], lambda x: ours(x, y), lambda x: theirs(x, torch.tensor(y)))


@pytest.mark.parametrize(
    "name",
    ["relu6", "leaky_relu", "elu", "selu", "mish", "hardtanh", "logsigmoid", "softsign"],
)
def test_activations_far_from_zero(name: str) -> None:
    """No overflow, no NaN, and the same values and slopes."""
    x = np.array([-1e4, -1000.0, -50.0, -6.0, -1e-8, 0.0, 1e-8, 6.0, 50.0, 1000.0, 1e4])
    ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    with np.errstate(all="raise", under="ignore"):
        y = getattr(F, name)(ours)
    y.sum().backward()
    expected = getattr(torch.nn.functional, name)(theirs)
    expected.sum().backward()
    assert_close(y, expected, rtol=1e-12)
    assert_close(ours.grad, theirs.grad, rtol=1e-12)


def test_hard_sigmoid() -> None:
    """PyTorch's slope is 1/6 in float32."""
    ours, theirs = nn.HardSigmoid(), torch.nn.Hardsigmoid()
    compare(ours, theirs, [3 * draw(40, 5)], ours, theirs, rtol=1e-7)


def test_one_hot() -> None:
    ids = np.array([[0, 2], [1, 1]])
    expected = torch.nn.functional.one_hot(torch.tensor(ids), 4)
    np.testing.assert_array_equal(F.one_hot(ids, 4).data, expected.numpy())


@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 1e3])
def test_clip_grad_norm(norm_type: float, max_norm: float) -> None:
    arrays = [draw(3, 4), draw(5)]
    mine = [Tensor(np.zeros_like(a), requires_grad=True) for a in arrays]
    other = [torch.zeros(a.shape, dtype=torch.float64, requires_grad=True) for a in arrays]
    for a, b, array in zip(mine, other, arrays, strict=True):
        a.grad, b.grad = Tensor(array), torch.tensor(array)
    total = nn.utils.clip_grad_norm(mine, max_norm, norm_type, eps=1e-6)
    expected = torch.nn.utils.clip_grad_norm_(other, max_norm, norm_type)
    assert total == pytest.approx(expected.item())
    for a, b in zip(mine, other, strict=True):
        assert_close(a.grad, b.grad)


class TestStateDicts:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_parameters_that_require_grad_and_any_dtype(self, dtype: str) -> None:
        theirs = torch.nn.Linear(3, 2).to(getattr(torch, dtype))
        ours = nn.Linear(3, 2)
        ours.load_state_dict(dict(theirs.named_parameters()))
        np.testing.assert_array_equal(ours.weight.data, theirs.weight.detach().float().numpy())

    def test_our_state_loads_there(self) -> None:
        ours = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
        theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))
        theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
        x = draw(2, 3).astype(np.float32)
        assert_close(ours(Tensor(x)), theirs(torch.tensor(x)), rtol=1e-5)

    def test_a_wrong_shape_is_named(self) -> None:
        theirs = torch.nn.TransformerEncoderLayer(6, 2, 9, batch_first=True)
        with pytest.raises(ValueError, match=r"linear1.bias: .*\(9,\).*\(8,\)"):
            nn.TransformerEncoderLayer(6, 2, 8).load_state_dict(theirs.state_dict())
