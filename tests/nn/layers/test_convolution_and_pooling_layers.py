"""Convolutions and pooling: what they refuse and how they say it, blocks, dtypes, empty batches."""

import sys
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor
from minigrad.autograd import grad
from minigrad.nn import functional as F
from minigrad.ops._windows import Window, padded


def convolved(x: Any, w: Any, **options: Any) -> list[np.ndarray]:
    """Values, and the gradients of both arrays."""
    leaves = [tensor(x, requires_grad=True), tensor(w, requires_grad=True)]
    y = F.conv2d(*leaves, padding=1, **options)
    return [y.numpy(), *(g.numpy() for g in grad((y * y).sum(), leaves))]


def test_blocks_of_images_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One image at a time, or all of them: the same values and gradients."""

    module = sys.modules["minigrad.ops._windows"]
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((7, 4, 6, 5)), rng.standard_normal((6, 2, 3, 2))
    found = []
    for size in (1, 2500, 1 << 30):
        monkeypatch.setattr(module, "_CACHED", size)
        found.append(convolved(x, w, groups=2))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-11)


@pytest.mark.needs("threadpoolctl")
def test_several_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is done once, and sums over blocks are made in their order."""
    monkeypatch.setattr(sys.modules["minigrad.ops._windows"], "_CACHED", 1)
    monkeypatch.setattr(sys.modules["minigrad.ops._parallel"], "WORTHWHILE", 0)
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((9, 4, 14, 13)), rng.standard_normal((6, 4, 3, 2))
    before, found = minigrad.get_num_threads(), []
    for threads in (1, 3):
        minigrad.set_num_threads(threads)
        try:
            found.append(convolved(x, w))
        finally:
            minigrad.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pooling_of_integers() -> None:
    x = np.arange(8).reshape(1, 1, 8)
    assert F.max_pool1d(tensor(x), 3, 2, 1).tolist() == [[[1, 3, 5, 7]]]


def test_what_padding_adds() -> None:
    x = np.ones((1, 1, 2))
    assert padded(x, Window((1,), (1,), ((0, 0),), (1,))) is x
    wide = padded(x, Window((1,), (1,), ((1, 2),), (1,)), -1.0)
    assert wide.tolist() == [[[-1, 1, 1, -1, -1]]]
    assert Window((3,), (2,), ((1, 0),), (2,)).counts((6,)) == (2,)


# With AVX-512, OpenBLAS computes beside the matrix, and reports what it finds there.
@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul:RuntimeWarning")
def test_an_infinity_stays_in_its_windows() -> None:
    """Windows that a line of pixels has in vain are multiplied by 0, which would make NaN of it."""
    x, w = np.ones((1, 1, 12, 12)), np.ones((4, 1, 3, 3))
    far = x.copy()
    far[0, 0, 3, 0] = np.inf
    leaves = [tensor(far, requires_grad=True), tensor(w, requires_grad=True)]
    F.conv2d(*leaves).sum().backward()
    expected = np.broadcast_to([[np.inf, 100, 100]] * 3, w.shape)
    np.testing.assert_array_equal(leaves[1].grad.numpy(), expected)
    far = w.copy()
    far[:, :, 0, 2] = np.inf
    leaves = [tensor(x, requires_grad=True), tensor(far, requires_grad=True)]
    F.conv2d(*leaves).sum().backward()
    assert not np.isnan(leaves[0].grad.numpy()).any()


def test_the_first_nan_of_a_window_is_its_maximum() -> None:
    x = tensor([[[1.0, np.nan, np.nan, 5.0]]], requires_grad=True)
    F.max_pool1d(x, 4).sum().backward()
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0, 0.0]]]


def test_the_gradient_of_a_bias_in_float16_counts_on() -> None:
    """2,048 + 1 is 2,048 in float16."""
    x = tensor(np.zeros((4100, 1, 1), np.float16))
    weight = tensor(np.zeros((2, 1, 1), np.float16))
    bias = tensor(np.zeros(2, np.float16), requires_grad=True)
    F.conv1d(x, weight, bias).backward(np.ones((4100, 2, 1), np.float16))
    assert bias.grad.tolist() == [4100.0, 4100.0]


POOLS: dict[str, tuple[Any, Any]] = {
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 2, 2, 1), [[-1, 0], [1, 2], [3, 4]]),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 3), [[0, 1], [1, 2, 3], [3, 4]]),
    "adaptive_avg_pool2d": (
        lambda x: F.adaptive_avg_pool2d(x[:, :, None], (1, 3))[:, :, 0],
        [[0, 1], [1, 2, 3], [3, 4]],
    ),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2, 2, 1), [[0], [1, 2], [3, 4]]),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 3), [[0, 1], [1, 2, 3], [3, 4]]),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("create_graph", [False, True])
def test_windows_see_nothing_outside(name: str, value: float, create_graph: bool) -> None:
    """An element that is not finite reaches its own windows only, and so does a cotangent."""
    pool, windows = POOLS[name]
    plain = np.array([[[3.0, 1.0, 4.0, 2.0, 5.0]]])
    expected = pool(tensor(plain)).numpy()
    for place in range(5):
        values = plain.copy()
        values[..., place] = value
        found = pool(tensor(values)).numpy()
        outside = [place not in window for window in windows]
        np.testing.assert_array_equal(found[..., outside], expected[..., outside])
    for number, window in enumerate(windows):
        x = tensor(plain, requires_grad=True)
        g = np.zeros(expected.shape)
        g[..., number] = value
        found = grad(pool(x), x, g, create_graph=create_graph)[0].numpy()
        outside = [place not in window for place in range(5)]
        np.testing.assert_array_equal(found[..., outside], 0)


def test_means_of_float16_are_added_up_in_float32() -> None:
    x = minigrad.full((1, 1, 5), 60_000.0, dtype=np.float16)
    for pool in (
        lambda x: F.avg_pool1d(x, 5),
        lambda x: F.avg_pool1d(x, 3, padding=1, count_include_pad=False),
        lambda x: F.adaptive_avg_pool1d(x, 1),
        lambda x: F.adaptive_avg_pool1d(x, 3),
    ):
        found = pool(x)
        assert found.dtype == np.float16
        assert np.unique(found.numpy()).tolist() == [60_000.0]


def test_a_stride_is_any_int_or_left_out() -> None:
    x = minigrad.randn(1, 1, 4, 6)
    for stride in (2, np.int64(2), minigrad.tensor(2), (2, 2), None, (), []):
        found = F.max_pool2d(x, 2, stride)
        np.testing.assert_array_equal(found.numpy(), F.max_pool2d(x, 2).numpy())
    with pytest.raises(TypeError, match="max_pool2d: stride must be an int"):
        F.max_pool2d(x, 2, minigrad.tensor(2.0))


def test_options_that_are_set_later_are_heeded() -> None:
    layer = nn.Conv2d(1, 1, 3)
    layer.stride, layer.padding, layer.dilation = (2, 2), (2, 2), (2, 2)
    x = minigrad.randn(1, 1, 5, 5)
    expected = F.conv2d(x, layer.weight, layer.bias, 2, 2, 2)
    np.testing.assert_array_equal(layer(x).numpy(), expected.numpy())
    assert nn.AvgPool1d(2, ())(x[0]).shape == (1, 5, 2)
    for padding, width in ((2, 2), ("same", 1), ("valid", 0)):
        layer.stride, layer.padding, layer.dilation = 1, padding, 1
        expected = F.conv2d(x, layer.weight, layer.bias, 1, width)
        np.testing.assert_array_equal(layer(x).numpy(), expected.numpy())
    layer.weight = nn.Parameter(minigrad.randn(1, 1, 5, 5))  # its kernel counts, as in PyTorch
    assert layer(x).shape == (1, 1, 1, 1)
