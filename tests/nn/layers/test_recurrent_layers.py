"""RNN, LSTM, GRU and cells: steps one by one, parts of a sequence, dropout, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from printed import gist

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.nn import functional as F

KINDS = ["RNN", "LSTM", "GRU"]


def states_of(result: Any) -> list[Tensor]:
    return list(result[1]) if isinstance(result[1], tuple) else [result[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_cell_step_by_step_is_the_layer(kind: str) -> None:
    minigrad.random.seed(0)
    layer, cell = getattr(nn, kind)(3, 4, batch_first=True), getattr(nn, f"{kind}Cell")(3, 4)
    cell.load_state_dict(
        {name.removesuffix("_l0"): value for name, value in layer.state_dict().items()}
    )
    x = minigrad.randn(2, 5, 3)
    result = layer(x)
    state: Any = None
    for t in range(5):
        state = cell(x[:, t], state)
        h = state[0] if kind == "LSTM" else state
        np.testing.assert_allclose(result[0].numpy()[:, t], h.numpy(), rtol=1e-5, atol=1e-6)
    last = list(state) if kind == "LSTM" else [state]
    for one, other in zip(states_of(result), last, strict=True):
        np.testing.assert_allclose(one.numpy()[0], other.numpy(), rtol=1e-5, atol=1e-6)


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


@pytest.mark.parametrize("kind", KINDS)
def test_no_output_sees_a_later_input(kind: str) -> None:
    for both in (False, True):
        layer = getattr(nn, kind)(3, 4, num_layers=2, batch_first=True, bidirectional=both)
        x = minigrad.randn(1, 6, 3, requires_grad=True)
        (slope,) = grad(layer(x)[0][:, 2].sum(), [x])
        seen = np.abs(slope.numpy()).sum(axis=(0, 2)) > 0
        assert seen.tolist() == [True] * 3 + [both] * 3


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_and_empty_batches(kind: str, dtype: Any) -> None:
    layer = getattr(nn, kind)(3, 4, num_layers=2, batch_first=True, bidirectional=True).to(dtype)
    for batch in (2, 0):
        x = minigrad.ones((batch, 5, 3), dtype=dtype, requires_grad=True)
        output, _ = result = layer(x)
        assert output.shape == (batch, 5, 8)
        assert output.dtype == dtype
        assert all(s.shape == (4, batch, 4) and s.dtype == dtype for s in states_of(result))
        output.sum().backward()
        for leaf in (x, *layer.parameters()):
            assert leaf.grad is not None
            assert leaf.grad.dtype == dtype
            assert leaf.grad.shape == leaf.shape


def test_gates_that_are_wide_open_do_not_overflow() -> None:
    for kind in KINDS:
        layer = getattr(nn, kind)(1, 2, batch_first=True)
        x = Tensor(np.full((1, 3, 1), 1e6, np.float32), requires_grad=True)
        with np.errstate(all="raise", under="ignore"):
            output = layer(x)[0]
            output.sum().backward()
        assert np.isfinite(output.numpy()).all()
        assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_time_comes_first_unless_told(kind: str) -> None:
    minigrad.random.seed(0)
    first, default = getattr(nn, kind)(3, 4, batch_first=True), getattr(nn, kind)(3, 4)
    default.load_state_dict(first.state_dict())
    x = minigrad.randn(2, 5, 3)
    turned = default(x.swapaxes(0, 1))[0]
    np.testing.assert_array_equal(turned.swapaxes(0, 1).numpy(), first(x)[0].numpy())


REFUSALS: list[tuple[Any, str]] = [
    (lambda: nn.LSTM(3, 4, batch_first=True)(minigrad.ones((2, 5, 4))),
     "LSTM: ... (N, L, I) ... (L, I) ... I = 3 ... (2, 5, 4)"),
    (lambda: nn.GRU(3, 4)(minigrad.ones(3)),
     "GRU: ... (L, N, I) ... (L, I) ... I = 3 ... (3,)"),
    (lambda: nn.LSTM(3, 4, batch_first=True)(minigrad.ones((2, 0, 3))),
     "LSTM: ... without steps ... (2, 0, 3)"),
    (lambda: nn.LSTM(3, 4, batch_first=True)(minigrad.ones((2, 5, 3)), minigrad.ones((1, 2, 4))),
     "LSTM: ... pair (h_0, c_0) ... Tensor"),
    (lambda: nn.LSTM(3, 4, batch_first=True)(
        minigrad.ones((2, 5, 3)), (minigrad.ones((1, 2, 4)),) * 3),
     "LSTM: ... pair (h_0, c_0) ... tuple"),
    (lambda: nn.LSTM(3, 4, batch_first=True)(
        minigrad.ones((2, 5, 3)), (minigrad.ones((1, 2, 4)), minigrad.ones((2, 1, 4)))),
     "LSTM: c_0 ... (1, 2, 4)"),
    (lambda: nn.GRU(3, 4, 2, batch_first=True)(minigrad.ones((2, 5, 3)), minigrad.ones((1, 2, 4))),
     "GRU: h_0 ... (2, 2, 4)"),
    (lambda: nn.RNN(3, 4, nonlinearity="gelu"),  # type: ignore[arg-type]
     "RNN: nonlinearity ... \"tanh\" or \"relu\" ... 'gelu'"),
    (lambda: nn.LSTM(3, 4, 2, dropout=1.5), "LSTM: dropout ... 0 to 1 ... 1.5"),
    (lambda: nn.LSTM(0, 4), "LSTM: input_size ... 1 ... 0"),
    (lambda: nn.LSTMCell(3, 4)(minigrad.ones((2, 5, 3))),
     "LSTMCell: ... (N, I) ... (I,) ... (2, 5, 3) ... nn.LSTM"),
    (lambda: nn.GRUCell(3, 4)(minigrad.ones((2, 3)), minigrad.ones((2, 3))),
     "GRUCell: h ... (2, 4) ... (2, 3)"),
    (lambda: minigrad.ops.lstm(*[minigrad.ones((2, 2))] * 4),
     "lstm: ... weight ... (4·H, H) ... (2, 2)"),
    (lambda: minigrad.ops.gru(
        minigrad.ones((5, 2, 9)), minigrad.ones((9, 3)), None, minigrad.ones((3, 3))),
     "gru: h0 ... (2, 3) ... (3, 3)"),
    (lambda: minigrad.ops.gru(
        minigrad.ones((5, 2, 9)), minigrad.ones((9, 3)), minigrad.ones(3), minigrad.ones((2, 3))),
     "gru: ... bias ... (9,) ... (3,)"),
    (lambda: minigrad.ops.rnn(
        minigrad.ones((0, 2, 3)), minigrad.ones((3, 3)), minigrad.ones((2, 3))),
     "rnn: ... at least one step ... (0, 2, 3)"),
    (lambda: minigrad.ops.rnn(
        minigrad.ones((5, 2, 4)), minigrad.ones((3, 3)), minigrad.ones((2, 3))),
     "rnn: ... (5, 2, 4) ... (3, 3) ... (L, N, 3)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=gist(message)):
        call()


def test_how_layers_show_themselves() -> None:
    assert repr(nn.LSTM(3, 4)) == "LSTM(3, 4)"
    assert repr(nn.GRU(3, 4, 2, False, True, 0.1, True)) == (
        "GRU(3, 4, num_layers=2, batch_first=True, dropout=0.1, bidirectional=True, bias=False)"
    )
    assert repr(nn.LSTMCell(3, 4, bias=False)) == "LSTMCell(3, 4, bias=False)"


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_to_remember(kind: str) -> None:
    """The sign of the first step, asked for at the last."""
    minigrad.random.seed(0)
    layer, head = getattr(nn, kind)(1, 8, batch_first=True), nn.Linear(8, 1)
    x = minigrad.randn(64, 6, 1)
    target = (x.numpy()[:, 0] > 0).astype(np.float32)
    optimizer = minigrad.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.03)
    for _ in range(150):
        scores = head(layer(x)[0][:, -1])
        loss = F.binary_cross_entropy_with_logits(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert ((scores.numpy() > 0) == (target > 0)).mean() > 0.95


class TestPacking:
    x = minigrad.ones((4, 5, 3))

    @pytest.mark.parametrize(
        ("lengths", "options", "error", "message"),
        [
            ([1, 2, 3, 4], {}, ValueError, "must not grow.*enforce_sorted=False"),
            ([5, 0, 1, 1], {}, ValueError, "4 lengths from 1 to 5 expected"),
            ([6, 1, 1, 1], {}, ValueError, r"of shape \(4, 5, 3\), got \[6, 1, 1, 1\]"),
            ([1, 1], {}, ValueError, "4 lengths"),
            ([1.0, 1, 1, 1], {}, TypeError, "lengths must be integers, got float64"),
            ([1, 1, 1, 1], {"enforce_sorted": "no"}, TypeError, "must be True or False"),
        ],
    )
    def test_lengths_that_do_not_fit(
        self, lengths: Any, options: Any, error: Any, message: str
    ) -> None:
        with pytest.raises(error, match=f"^pack_padded_sequence: .*{message}"):
            nn.utils.rnn.pack_padded_sequence(self.x, lengths, True, **options)

    def test_other_refusals(self) -> None:
        rnn, gru = nn.utils.rnn, nn.GRU(3, 2)
        packed = rnn.pack_padded_sequence(self.x, [3, 2, 2, 1], True)
        with pytest.raises(ValueError, match="^pack_padded_sequence: 0 lengths .*got \\[\\]"):
            rnn.pack_padded_sequence(self.x[:0], np.empty(0, int), True)
        with pytest.raises(ValueError, match="^pad_sequence: .*got \\[\\]"):
            rnn.pad_sequence([])
        with pytest.raises(ValueError, match="^pad_sequence: .*equal but for the first axis"):
            rnn.pad_sequence([minigrad.ones((2, 3)), minigrad.ones((2, 4))])
        with pytest.raises(ValueError, match="padding_side must be .*, got 'up'"):
            rnn.pad_sequence([minigrad.ones(2)], padding_side="up")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="total_length must be at least 3.*got 2"):
            rnn.pad_packed_sequence(packed, total_length=2)
        with pytest.raises(TypeError, match="a PackedSequence expected, got Tensor"):
            rnn.pad_packed_sequence(self.x)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"^GRU: packed data .* I = 3 expected, got \(8, 2\)"):
            gru(packed._replace(data=packed.data[:, :2]))
        with pytest.raises(ValueError, match="^PackedSequence: batch_sizes .* add up to 7"):
            gru(packed._replace(data=packed.data[:7]))
        with pytest.raises(TypeError, match="^Linear: input_ must be a Tensor, got PackedSequence"):
            nn.Linear(3, 2)(packed)

    def test_integers_and_dtypes(self) -> None:
        ids = nn.utils.rnn.pad_sequence([minigrad.tensor([1, 2]), minigrad.tensor([3])], True, -1)
        assert ids.dtype == np.int64
        assert ids.tolist() == [[1, 2], [3, -1]]
        for dtype in (np.float16, np.float32, np.float64):
            x = minigrad.ones((2, 3, 4), dtype=dtype)[:, ::-1]
            layer = nn.LSTM(4, 2).to(dtype)
            output, (h, c) = layer(nn.utils.rnn.pack_padded_sequence(x, [2, 1, 1]))
            assert {output.data.dtype, h.dtype, c.dtype} == {np.dtype(dtype)}
