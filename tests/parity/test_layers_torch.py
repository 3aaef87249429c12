"""Layers that PyTorch has, beside it: pooling, padding, normalization, grids, recurrence too."""

import itertools
from typing import Any

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


# Pooling, padding, normalization and grids against PyTorch ----------------------------------------


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_in_every_width(mode: str) -> None:
    """The same values and gradients, and no answer where PyTorch has none."""
    x = draw(2, 3, 4)
    for before, after in itertools.product(range(-1, 6), (0, 1, 4)):
        for widths in ((before, after), (before, after, 1, 0)):
            ours = lambda x, widths=widths: F.pad(x, widths, mode)
            theirs = lambda x, widths=widths: torch.nn.functional.pad(x, widths, mode)
            try:
                # Beyond what is left, PyTorch repeats what it has not written yet.
                possible = mode != "circular" or after <= 4 + min(before, 0)
                theirs(torch.tensor(x))
            except RuntimeError:
                possible = False
            if possible:
                both(ours, theirs, x)
            else:
                with pytest.raises(ValueError, match=f"^pad: mode='{mode}' cannot pad an axis of"):
                    ours(tensor(x))


def test_interpolation_of_infinities_and_nan() -> None:
    """They reach the neighbours that read them, with a weight of 0 too, and no others."""
    x = np.array([[[1.0, np.inf, 2.0, 3.0, np.nan, 4.0, -np.inf]]])
    for options in ({"size": 9}, {"size": 13, "align_corners": True}, {"scale_factor": 2}):
        with np.errstate(invalid="ignore"):
            ours = F.interpolate(tensor(x), mode="linear", **options).numpy()
        theirs = torch.nn.functional.interpolate(torch.tensor(x), mode="linear", **options)
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("kernel", range(1, 5))
def test_pooling_in_every_size(size: int, kernel: int) -> None:
    """Where windows, strides, paddings and sizes meet: as many windows, and the same in them."""
    x, functional = draw(1, 1, size), torch.nn.functional
    y, bools = torch.tensor(x), (False, True)
    for stride, padding, ceil in itertools.product(range(1, 5), range(kernel // 2 + 1), bools):
        if size + 2 * padding - kernel <= -(stride if ceil else 1):
            continue  # no window fits
        window = (kernel, stride, padding)
        theirs = functional.max_pool1d(y, *window, ceil_mode=ceil)
        assert_close(F.max_pool1d(tensor(x), *window, ceil_mode=ceil), theirs, f"{window}")
        for counted in bools:
            theirs = functional.avg_pool1d(y, *window, ceil, counted)
            assert_close(F.avg_pool1d(tensor(x), *window, ceil, counted), theirs, f"{window}")


NORMS = [
    ("BatchNorm1d", (5, 3)), ("BatchNorm1d", (4, 3, 5)), ("BatchNorm2d", (3, 3, 4, 2)),
    ("InstanceNorm1d", (5, 3, 4)), ("InstanceNorm2d", (2, 3, 4, 2)), ("InstanceNorm2d", (3, 4, 2)),
]  # fmt: skip


OPTIONS = [
    {"momentum": 0.3, "eps": 0.1}, {"affine": False, "track_running_stats": False},
    {"momentum": None, "affine": True, "track_running_stats": True},
]  # fmt: skip


@pytest.mark.parametrize(("kind", "shape"), NORMS, ids=map(str, NORMS))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batch_and_instance_norm(kind: str, shape: tuple[int, ...], options: Any) -> None:
    """Three batches of training, then one of evaluation, with the same running statistics."""
    mine = getattr(nn, kind)(3, **options).double()
    other = randomise(getattr(torch.nn, kind)(3, **options))
    for seed in range(3):
        compare(mine, other, [2 + 3 * draw(*shape, seed=seed)], mine, other)
        mine.zero_grad()
        other.zero_grad()
        buffers, expected = dict(mine.named_buffers()), dict(other.named_buffers())
        assert buffers.keys() == expected.keys()
        for name, buffer in buffers.items():
            assert_close(buffer, expected[name], name)
    mine.eval()
    other.eval()
    compare(mine, other, [draw(*shape, seed=9)], mine, other)


def test_tiny_inputs_meet_the_default_eps() -> None:
    theirs, x = randomise(torch.nn.RMSNorm(3)), draw(2, 3) * 1e-8
    ours = nn.RMSNorm(3).double()
    compare(ours, theirs, [x], ours, theirs)


# Sampling at the points of a grid -----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("sizes", [(4, 5), (1, 3), (1, 1)])
def test_grid_sample(mode: str, padding_mode: str, align_corners: bool, sizes: Any) -> None:
    """Inside, outside, far outside, and at the very edges."""
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    grid = 1.5 * draw(2, 6, 7, 2)
    grid[0, 0] *= 10
    edges = np.array([-1.0, 1.0, 0.0, -2.0, 3.0, 0.5])
    grid[1, 0, :6, 0], grid[1, 1, :6, 1] = edges, edges
    both(
        lambda x, g: F.grid_sample(x, g, **options),  # type: ignore[arg-type]
        lambda x, g: torch.nn.functional.grid_sample(x, g, **options),
        draw(2, 3, *sizes), grid,
    )  # fmt: skip


def test_a_grid_of_float16_and_of_nan() -> None:
    x = tensor(draw(1, 1, 3, 3), dtype=np.float16)
    assert F.grid_sample(x, tensor(np.zeros((1, 1, 1, 2)), dtype=np.float16)).dtype == np.float16
    nothing = F.grid_sample(x, np.full((1, 1, 1, 2), np.nan, np.float16), padding_mode="border")
    assert nothing.item() == x[0, 0, 0, 0].item()


# RNN, LSTM, GRU and their cells against PyTorch ---------------------------------------------------


KINDS = ["RNN", "LSTM", "GRU"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("layers", "both", "batch_first"), [(1, False, True), (1, True, False), (2, True, True)]
)
@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 5, 1, 4]], ids=str)
def test_packed_sequences(
    kind: str, layers: int, both: bool, batch_first: bool, lengths: list[int]
) -> None:
    """The padding, also NaN, reaches nothing."""
    options = {"num_layers": layers, "bidirectional": both, "batch_first": batch_first}
    ours = getattr(nn, kind)(3, 4, **options).double()
    theirs = randomise(getattr(torch.nn, kind)(3, 4, **options))
    x = draw(4, 5, 3)
    for row, length in zip(x, lengths, strict=True):
        row[length:] = np.nan
    x = x if batch_first else x.swapaxes(0, 1).copy()
    states = [draw(layers * (1 + both), 4, 4, seed=i) for i in range(2 if kind == "LSTM" else 1)]
    sorted_lengths = lengths == sorted(lengths, reverse=True)

    def run(model: Any, room: Any) -> Any:
        def call(x: Any, *states: Any) -> tuple[Any, ...]:
            packed = room.pack_padded_sequence(x, lengths, batch_first, sorted_lengths)
            out, last = model(packed, *([states] if kind == "LSTM" and states else states))
            last = last if isinstance(last, tuple) else (last,)
            assert isinstance(out, room.PackedSequence)
            padded, found = room.pad_packed_sequence(out, batch_first, -1.5, 6)
            assert found.tolist() == lengths
            return (padded, out.data if sorted_lengths else padded, *last)

        return call

    pair = run(ours, nn.utils.rnn), run(theirs, torch.nn.utils.rnn)
    compare(ours, theirs, [x], *pair)
    ours.zero_grad()
    theirs.zero_grad()
    compare(ours, theirs, [x, *states], *pair)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("lengths", [(3, 1, 4), (2,), (0, 2), (0,)], ids=str)
def test_padding(batch_first: bool, side: Any, lengths: tuple[int, ...]) -> None:
    arrays = [draw(n, 2, seed=i) for i, n in enumerate(lengths)]
    rooms = nn.utils.rnn, torch.nn.utils.rnn
    both(*(lambda *x, m=m: m.pad_sequence([*x], batch_first, 7.0, side) for m in rooms), *arrays)
    if min(lengths):
        packed = rooms[0].pack_sequence([*map(tensor, arrays)], enforce_sorted=False)
        expected = rooms[1].pack_sequence([*map(torch.tensor, arrays)], enforce_sorted=False)
        for part, wanted in zip(packed, expected, strict=True):
            assert_close(part, wanted)
