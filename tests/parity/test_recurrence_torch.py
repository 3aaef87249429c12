"""RNN, LSTM, GRU and their cells against PyTorch: values, gradients, state dicts."""

from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, both, compare, draw, randomise, torch

from minigrad import nn, tensor

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
