"""RNN, LSTM and GRU: parts of a sequence, dropout, open gates, packing."""

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor

KINDS = ["RNN", "LSTM", "GRU"]


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


def test_integers_and_dtypes_are_packed() -> None:
    ids = nn.utils.rnn.pad_sequence([minigrad.tensor([1, 2]), minigrad.tensor([3])], True, -1)
    assert ids.dtype == np.int64
    assert ids.tolist() == [[1, 2], [3, -1]]
    for dtype in (np.float16, np.float32, np.float64):
        x = minigrad.ones((2, 3, 4), dtype=dtype)[:, ::-1]
        layer = nn.LSTM(4, 2).to(dtype)
        output, (h, c) = layer(nn.utils.rnn.pack_padded_sequence(x, [2, 1, 1]))
        assert {output.data.dtype, h.dtype, c.dtype} == {np.dtype(dtype)}
