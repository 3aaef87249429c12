"""RNN, LSTM and GRU: parts of a sequence, dropout, open gates, packing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor

KINDS = ["RNN", "LSTM", "GRU"]


def states_of(result: Any) -> list[Tensor]:
    return list(result[1]) if isinstance(result[1], tuple) else [result[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sequence_in_two_parts(kind: str) -> None:
    """The states behind the first part are those before the second."""
    layer = getattr(nn, kind)(3, 4, num_layers=2, batch_first=True).double()
    x = minigrad.randn(2, 7, 3, dtype=np.float64)
    whole = layer(x)
    first, states = layer(x[:, :3])
    second, last = layer(x[:, 3:], states)
    np.testing.assert_allclose(
        np.concatenate([first.numpy(), second.numpy()], axis=1), whole[0].numpy(), atol=1e-12
    )
    for one, other in zip(states_of((0, last)), states_of(whole), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-12)


def test_dropout_is_between_layers_and_in_training_only() -> None:
    minigrad.random.seed(0)
    layer = nn.LSTM(3, 40, num_layers=2, batch_first=True, dropout=0.5)
    x = minigrad.randn(2, 5, 3)
    assert (layer(x)[0].numpy() != layer(x)[0].numpy()).any()
    lower = nn.LSTM(3, 40, batch_first=True)
    lower.load_state_dict({k: v for k, v in layer.state_dict().items() if k.endswith("l0")})
    np.testing.assert_array_equal(layer(x)[1][0].numpy()[0], lower(x)[1][0].numpy()[0])
    layer.eval()
    np.testing.assert_array_equal(layer(x)[0].numpy(), layer(x)[0].numpy())


def test_dropout_of_a_single_layer_is_told_to_be_none() -> None:
    with pytest.warns(UserWarning, match="LSTM: dropout .*layers"):
        layer = nn.LSTM(3, 4, batch_first=True, dropout=0.5)
    x = minigrad.randn(2, 5, 3)
    np.testing.assert_array_equal(layer(x)[0].numpy(), layer(x)[0].numpy())


def test_gates_that_are_wide_open_do_not_overflow() -> None:
    for kind in KINDS:
        layer = getattr(nn, kind)(1, 2, batch_first=True)
        x = tensor(np.full((1, 3, 1), 1e6, np.float32), requires_grad=True)
        with np.errstate(all="raise", under="ignore"):
            output = layer(x)[0]
            output.sum().backward()
        assert np.isfinite(output.numpy()).all()
        assert np.isfinite(x.grad.numpy()).all()


class TestPacking:
    def test_integers_and_dtypes(self) -> None:
        ids = nn.utils.rnn.pad_sequence([minigrad.tensor([1, 2]), minigrad.tensor([3])], True, -1)
        assert ids.dtype == np.int64
        assert ids.tolist() == [[1, 2], [3, -1]]
        for dtype in (np.float16, np.float32, np.float64):
            x = minigrad.ones((2, 3, 4), dtype=dtype)[:, ::-1]
            layer = nn.LSTM(4, 2).to(dtype)
            output, (h, c) = layer(nn.utils.rnn.pack_padded_sequence(x, [2, 1, 1]))
            assert {output.data.dtype, h.dtype, c.dtype} == {np.dtype(dtype)}
