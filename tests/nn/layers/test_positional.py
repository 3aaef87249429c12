"""Positions: tables, rotations and biases by their formulas, gradients, offsets, refusals."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.nn import functional as F
from minigrad.nn.by_hand import sinusoidal_encoding as table


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, requires_grad=True)


def turned(x: np.ndarray, positions: Any, interleaved: bool, base: float = 10000.0) -> np.ndarray:
    """The rotation of the paper: pairs are complex numbers, each times one of length 1."""
    angles = np.asarray(positions)[..., None] * base ** (
        -np.arange(0, x.shape[-1], 2) / x.shape[-1]
    )
    if angles.ndim == 3:  # positions of each sequence, the same for its heads
        angles = angles.reshape(len(x), *(1,) * (x.ndim - 3), *angles.shape[1:])
    halves = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, axis=-1)
    found = (halves[0] + 1j * halves[1]) * np.exp(1j * angles)
    return np.stack([found.real, found.imag], axis=-1 if interleaved else -2).reshape(x.shape)


class TestSinusoids:
    def test_function(self) -> None:
        found = F.sinusoidal_pos_embedding(5, 6, dtype=np.float64)
        np.testing.assert_allclose(found.numpy(), table(5, 6), rtol=1e-12)
        assert F.sinusoidal_pos_embedding(5, 6).dtype == np.float32
        with pytest.raises(ValueError, match="minigrad runs on the CPU"):
            F.sinusoidal_pos_embedding(5, 6, "gpu")

    @pytest.mark.parametrize("sizes", [(), (9,), (9, 6), (None, 6)])
    @pytest.mark.parametrize("shape", [(4, 6), (2, 4, 6), (0, 4, 6), (2, 0, 6), (2, 1, 6)])
    def test_layer(self, sizes: Any, shape: Any) -> None:
        layer, x = nn.SinusoidalPosEmbedding(*sizes), draw(*shape)
        for offset in (0, 3, 0, 5):
            expected = x.numpy() + table(9, 6)[offset : offset + shape[-2]]
            np.testing.assert_allclose(layer(x, offset=offset).numpy(), expected, rtol=1e-12)
        layer(x).sum().backward()
        assert (x.grad.numpy() == 1).all()
        assert list(layer.state_dict()) == list(layer.parameters()) == []

    def test_it_follows_dtype_width_and_length(self) -> None:
        layer = nn.SinusoidalPosEmbedding()
        for length, width, dtype in [(2, 4, np.float32), (3, 8, np.float64), (9, 8, np.float32)]:
            found = layer(minigrad.zeros((length, width), dtype=dtype))
            assert found.dtype == dtype
            np.testing.assert_allclose(found.numpy(), table(length, width), atol=1e-6)
        assert layer.double()(minigrad.zeros((2, 4), dtype=np.float64)).dtype == np.float64


@pytest.mark.parametrize("interleaved", [False, True])
class TestRotary:
    @pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6), (2, 3, 5, 6), (2, 3, 1, 6), (0, 5, 6)])
    def test_value(self, interleaved: bool, shape: Any) -> None:
        x, length = draw(*shape), shape[-2]
        layer = nn.RotaryPosEmbedding(6, 20, interleaved, base=100.0)
        positions = np.random.default_rng(0).integers(0, 20, length)
        cases: list[Any] = [(None, 0), (None, 4), (positions, 0), (tensor(positions), 0)]
        if len(shape) > 2:
            cases.append((np.random.default_rng(1).integers(0, 20, (shape[0], length)), 0))
        for position_ids, offset in cases:
            given = np.arange(offset, offset + length) if position_ids is None else position_ids
            expected = turned(x.numpy(), given, interleaved, 100.0)
            found = layer(x, position_ids, offset=offset)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-12)
            same = F.rotary_pos_embedding(x, position_ids, interleaved, offset=offset, base=100.0)
            np.testing.assert_array_equal(found.numpy(), same.numpy())
        default = F.rotary_pos_embedding(x, interleaved=interleaved)
        expected = turned(x.numpy(), np.arange(length), interleaved)
        np.testing.assert_allclose(default.numpy(), expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_late_positions_are_exact(self, interleaved: bool, dtype: Any) -> None:
        x = np.random.default_rng(0).standard_normal((2, 8))
        found = F.rotary_pos_embedding(tensor(x, dtype=dtype), [99998, 99999], interleaved)
        assert found.dtype == dtype
        expected = turned(x, [99998, 99999], interleaved)
        np.testing.assert_allclose(found.numpy(), expected, atol=10 * np.finfo(dtype).eps)


MAKE = [lambda: nn.LearnedPosEmbedding(9, 4), lambda: nn.SinusoidalPosEmbedding(9, 4),
        nn.SinusoidalPosEmbedding]  # fmt: skip


@pytest.mark.parametrize("make", MAKE)
def test_positions_of_its_own_for_each_sequence(make: Any) -> None:
    layer, x = make().double(), minigrad.randn(2, 3, 4, dtype=np.float64)
    for ids in ([5, 0, 8], [[5, 0, 8], [1, 1, 2]], minigrad.tensor([[0, 1, 2]] * 2)):
        found = layer(x, position_ids=ids).numpy()
        for row, places in enumerate(np.broadcast_to(np.asarray(ids), (2, 3))):
            for column, place in enumerate(places):
                one = layer(x[row, column : column + 1], offset=int(place)).numpy()[0]
                np.testing.assert_array_equal(found[row, column], one)
    np.testing.assert_array_equal(layer(x[0], position_ids=[0, 1, 2]).numpy(), layer(x[0]).numpy())
    for wrong, options, message in (
        ([0, 1], {}, r"shape \(3,\) or \(2, 3\), .* got "),
        ([0.0, 1.0, 2.0], {}, "got \\[0.0"),
        ([0, 1, 2], {"offset": 1}, "offset 1"),
        ([0, -1, 2], {}, "ints from 0"),
    ):
        with pytest.raises(ValueError, match=message):
            layer(x, position_ids=wrong, **options)
    if getattr(layer, "seq_len", None) or hasattr(layer, "max_len"):
        with pytest.raises(ValueError, match="position 9 is given, there are only 9"):
            layer(x, position_ids=[0, 9, 2])
