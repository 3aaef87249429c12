"""Every layer of the table that PyTorch has, and embeddings, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases
from side_by_side import (
    assert_close,
    compare,
    draw,
    randomise,
    run_theirs,
    their_class,
    theirs_of,
    torch,
)

from minigrad import nn, tensor
from minigrad.nn import functional as F

OTHERWISE = ("RNN", "LSTM", "GRU", "Cell", "Attention", "Transformer", "Drop", "Lazy")
"""Layers that other files compare: their results or their arguments are others, or random."""
OTHER_DEFAULTS = {"Softmax()", "LogSoftmax()"}  # PyTorch warns
OTHER_GRADIENT = {"CosineSimilarity(-1, 1.5)"}  # below eps, PyTorch's passes by it
LINES = [
    line
    for line in LAYERS
    if line.is_called
    and their_class(line)
    and not any(part in line.kind for part in OTHERWISE)
    and str(line) not in OTHER_DEFAULTS | OTHER_GRADIENT
]


def check(line: Layer) -> None:
    ours, theirs = line.make().double(), randomise(theirs_of(line))
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(line.shapes)]
    # PyTorch multiplies a gradient by one sixth in float32.
    rtol = 1e-7 if line.kind == "Hardsigmoid" else 1e-9
    compare(
        ours, theirs, arrays, lambda *x: tuple(line.run(ours, *x)),
        lambda *x: run_theirs(line, theirs, *x), rtol,
    )  # fmt: skip
    for name, value in theirs.state_dict().items():  # running statistics too
        assert_close(ours.state_dict()[name], value, name)


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # PyTorch, of its own divergence
@pytest.mark.parametrize("line", cases(LINES))
def test_layer(line: Layer) -> None:
    check(line)


REDUCED = [line for line in LINES if hasattr(line.make(), "reduction")]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # PyTorch, of its own divergence
@pytest.mark.parametrize("line", cases(REDUCED))
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_reductions(line: Layer, reduction: str) -> None:
    check(line._replace(options={**line.options, "reduction": reduction}))


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
    number = ours(tensor(x), y, 0.3), theirs(torch.tensor(x), torch.tensor(y), 0.3)
    assert_close(*number)


def test_similar_functions_with_their_options() -> None:
    x, y, zeros = draw(4, 3, 2), draw(4, 3, 2, seed=1), np.zeros((4, 3, 2))
    zeros[1] = 1.0
    functional = torch.nn.functional
    for p in (1.0, 2.0, 3.0, 0.5, float("inf")):
        for array in (x, zeros):
            for axis in (1, -1):
                ours = F.normalize(tensor(array), p, axis)
                assert_close(ours, functional.normalize(torch.tensor(array), p, axis), f"{p}")
        ours = F.pairwise_distance(tensor(x), tensor(y), p, 0.1, True)
        theirs = functional.pairwise_distance(torch.tensor(x), torch.tensor(y), p, 0.1, True)
        assert_close(ours, theirs, f"{p}")


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
    offsets, to_the_end = np.array([0, 2, 2, 6, 8]), np.array([0, 2, 9])
    for given in ((ids.reshape(3, 3),), (ids, offsets), (ids, to_the_end, True)):
        last = {"include_last_offset": True} if len(given) == 3 else {}
        ours = nn.EmbeddingBag(5, 3, mode=mode, **options, **last).double()
        theirs = randomise(torch.nn.EmbeddingBag(5, 3, mode=mode, **options, **last))
        arrays = [torch.tensor(array) for array in given[:2]]
        compare(ours, theirs, [], lambda: ours(*given[:2]), lambda: theirs(*arrays))  # noqa: B023
        assert_close(ours.weight, theirs.weight)


@pytest.mark.parametrize(
    "name", ["relu6", "leaky_relu", "elu", "selu", "mish", "hardtanh", "logsigmoid", "softsign"]
)
def test_activations_far_from_zero(name: str) -> None:
    """No overflow, no NaN, and the same values and slopes."""
    x = np.array([-1e4, -1000.0, -50.0, -6.0, -1e-8, 0.0, 1e-8, 6.0, 50.0, 1000.0, 1e4])
    ours, theirs = tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    with np.errstate(all="raise", under="ignore"):
        y = getattr(F, name)(ours)
    y.sum().backward()
    expected = getattr(torch.nn.functional, name)(theirs)
    expected.sum().backward()
    assert_close(y, expected, rtol=1e-12)
    assert_close(ours.grad, theirs.grad, rtol=1e-12)
