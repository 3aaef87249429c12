"""Every layer of the table that PyTorch has, and embeddings, against PyTorch."""

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases
from side_by_side import (
    assert_close,
    both,
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


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # PyTorch, of its own divergence
@pytest.mark.parametrize("line", cases(LINES))
def test_layer(line: Layer) -> None:
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


@pytest.mark.parametrize(
    "name", ["relu6", "leaky_relu", "elu", "selu", "mish", "hardtanh", "logsigmoid", "softsign"]
)
def test_activations_far_from_zero(name: str) -> None:
    """No overflow, no NaN, and the same values and slopes."""
    x = np.array([-1e4, -1000.0, -50.0, -6.0, -1e-8, 0.0, 1e-8, 6.0, 50.0, 1000.0, 1e4])
    with np.errstate(all="raise", under="ignore"):
        both(getattr(F, name), getattr(torch.nn.functional, name), x, rtol=1e-12)


@pytest.mark.parametrize("training", [False, True])
def test_running_statistics_that_are_switched_off_later(training: bool) -> None:
    ours, theirs = nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2)
    x = np.random.default_rng(0).normal(3.0, 2.0, (8, 2)).astype(np.float32)
    ours(tensor(x))
    theirs(torch.tensor(x))
    for norm in (ours, theirs):
        norm.track_running_stats = False
        norm.train(training)
    x = x[::-1] ** 2
    found, wanted = ours(tensor(x.copy())), theirs(torch.tensor(x.copy()))
    np.testing.assert_allclose(
        found.detach().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-5
    )
    for name, buffer in theirs.named_buffers():
        np.testing.assert_allclose(getattr(ours, name).numpy(), buffer.numpy(), rtol=1e-5)
