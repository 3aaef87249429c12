"""Convolutions and pooling: what they refuse and how they say it, blocks, dtypes, empty batches."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from printed import gist

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.nn import functional as F
from minigrad.ops._windows import Window, padded


def ones(*shape: int) -> Tensor:
    return minigrad.ones(shape)


REFUSALS: list[tuple[Any, type[Exception], str]] = [
    (lambda: nn.Conv2d(3, 8, 3)(ones(2, 4, 8, 8)), ValueError,
     "convolution: ... (2, 4, 8, 8) ... (8, 3, 3, 3) ... 4 channels ... 3"),
    (lambda: nn.Conv2d(3, 8, 5)(ones(2, 3, 4, 9)), ValueError,
     "kernel ... (5, 5) ... (4, 9)"),
    (lambda: nn.Conv2d(3, 8, 3, dilation=4, padding=1)(ones(2, 3, 6, 6)), ValueError,
     "kernel ... (9, 9) ... (8, 8)"),
    (lambda: nn.Conv2d(3, 8, 3)(ones(2, 3, 8)), ValueError,
     "convolution: ... (1, 2, 3, 8)"),
    (lambda: nn.Conv2d(3, 8, 3)(ones(2, 3)), ValueError,
     "Conv2d: ... (N, C, H, W) ... (C, H, W) ... (2, 3)"),
    (lambda: nn.Conv1d(3, 8, 3)(ones(2, 3, 8, 8)), ValueError,
     "Conv1d: ... (N, C, L) ... (C, L) ... (2, 3, 8, 8)"),
    (lambda: nn.Conv2d(3, 8, 3, groups=2), ValueError,
     "Conv2d: in_channels (3) ... groups (2)"),
    (lambda: nn.Conv2d(4, 7, 3, groups=2), ValueError,
     "Conv2d: out_channels (7) ... groups (2)"),
    (lambda: nn.Conv2d(3, 8, 0), ValueError, "Conv2d: kernel_size ... 1 ... 0"),
    (lambda: nn.Conv2d(3, 8, 3.0), TypeError, "Conv2d: kernel_size ... int ... 3.0"),  # type: ignore[arg-type]
    (lambda: nn.Conv2d(3, 8, (3, 3, 3)), ValueError,
     "Conv2d: kernel_size ... int or 2 ints ... (3, 3, 3)"),
    (lambda: nn.Conv2d(3, 8, 3, padding=-1), ValueError, "padding ... 0 ... -1"),
    (lambda: nn.Conv2d(3, 8, 3, padding="full"), ValueError,  # type: ignore[arg-type]
     "Conv2d: padding ... \"same\" or \"valid\" ... 'full'"),
    (lambda: nn.Conv2d(3, 8, 3, stride=2, padding="same"), ValueError,
     'Conv2d: padding="same" ... stride ... 1 ... (2, 2)'),
    (lambda: nn.Conv2d(3, 8, 3, padding_mode="mirror"), ValueError,  # type: ignore[arg-type]
     "Conv2d: padding_mode ... 'zeros' ... 'reflect', 'replicate', 'circular'"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(8, 3, 3, 3), ones(7)), ValueError,
     "bias ... (8,) ... (7,)"),
    (lambda: F.conv2d(ones(2, 3, 8, 8), ones(8, 3, 3)), ValueError,
     "conv2d: ... weight ... 4 axes ... (8, 3, 3)"),
    (lambda: F.conv1d(ones(2, 4, 8), ones(3, 2, 3), groups=2), ValueError,
     "3 channels ... 2 groups"),
    (lambda: nn.ConvTranspose2d(3, 8, 3)(ones(2, 4, 8, 8)), ValueError,
     "4 channels ... 3"),
    (lambda: nn.ConvTranspose1d(3, 8, 3, stride=2, output_padding=2)(ones(2, 3, 4)), ValueError,
     "output_padding (2,) ... stride (2,) ... dilation (1,)"),
    (lambda: nn.ConvTranspose2d(3, 8, 3, dilation=(2, 1), output_padding=1)(ones(2, 3, 4, 4)),
     ValueError,
     "output_padding (1, 1) ... stride (1, 1) ... dilation (2, 1)"),
    (lambda: nn.ConvTranspose1d(3, 8, 2, padding=3)(ones(2, 3, 4)), ValueError,
     "(-1,) ... padding (3,)"),
    (lambda: nn.MaxPool2d(3)(ones(2, 3, 2, 5)), ValueError,
     "max_pool: ... (3, 3) ... (2, 3, 2, 5)"),
    (lambda: nn.MaxPool2d(2, padding=2)(ones(2, 3, 5, 5)), ValueError,
     "max_pool2d: padding (2, 2) ... half ... (2, 2)"),
    (lambda: nn.AvgPool1d(2)(ones(2, 3, 4, 5)), ValueError,
     "avg_pool1d: ... (N, C, L) ... (C, L)"),
    (lambda: nn.AvgPool2d((2, 2, 2)), ValueError, "AvgPool2d: kernel_size ... int or 2"),
    (lambda: nn.MaxPool1d(2, stride=0), ValueError, "MaxPool1d: stride ... 1"),
    (lambda: nn.AdaptiveAvgPool2d(2)(ones(2, 3, 0, 5)), ValueError,
     "adaptive_avg_pool2d: ... (2, 3, 0, 5)"),
    (lambda: nn.AdaptiveMaxPool2d((2, 2, 2))(ones(2, 3, 4, 5)), ValueError,
     "AdaptiveMaxPool2d: output_size ... int or 2 ... (2, 2, 2)"),
    (lambda: nn.AdaptiveMaxPool1d(0)(ones(2, 3, 4)), ValueError, "output_size ... 1"),
    (lambda: nn.Unflatten(1, (2, 3))(ones(2, 5)), ValueError,
     "Unflatten: axis 1 ... (2, 5) ... (2, 3)"),
    (lambda: nn.Unflatten(1, (-1, -1))(ones(2, 6)), ValueError, "(-1, -1)"),
    (lambda: nn.Unflatten(1, (4, -1))(ones(2, 6)), ValueError, "(4, -1)"),
    (lambda: nn.Unflatten(1, (0, -1))(ones(2, 6)), ValueError, "(0, -1)"),
    (lambda: nn.Unflatten(2, (2, 3))(ones(2, 6)), IndexError, "axis 2 ... (2, 6)"),
    (lambda: nn.Unflatten(-3, (1, 2))(ones(2, 6)), IndexError, "axis -3 ... (2, 6)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=gist(message)):
        call()


def test_an_error_names_the_layer_within_a_model() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(8, 4, 3))
    with pytest.raises(ValueError, match=r"4 channels.*\[in 2\]"):
        model(ones(2, 1, 8, 8))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Conv1d(2, 3, 2), (4, 2, 5)),
        (lambda: nn.Conv2d(2, 3, 2, padding=1), (4, 2, 5, 4)),
        (lambda: nn.ConvTranspose2d(2, 3, 2), (4, 2, 5, 4)),
        (lambda: nn.MaxPool2d(2), (4, 2, 5, 4)),
        (lambda: nn.AvgPool2d(3, 1, 1, count_include_pad=False), (4, 2, 5, 4)),
        (lambda: nn.AdaptiveAvgPool2d((2, 3)), (4, 2, 5, 4)),
        (lambda: nn.AdaptiveMaxPool2d((2, 3)), (4, 2, 5, 4)),
    ],
)
def test_dtypes_and_empty_batches(make: Any, shape: tuple[int, ...], dtype: Any) -> None:
    layer = make().to(dtype)
    for batch in (shape[0], 0):
        layer.zero_grad()
        x = minigrad.ones((batch, *shape[1:]), dtype=dtype, requires_grad=True)
        y = layer(x)
        assert y.dtype == dtype
        assert y.shape[0] == batch
        y.sum().backward()
        for leaf in (x, *layer.parameters()):
            assert leaf.grad is not None
            assert leaf.grad.dtype == dtype
            assert leaf.grad.shape == leaf.shape
            if not batch:
                assert not leaf.grad.numpy().any()


def test_blocks_of_images_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One image at a time, or all of them: the same values and gradients."""

    module = sys.modules["minigrad.ops._window_matrix"]
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((7, 4, 6, 5)), rng.standard_normal((6, 2, 3, 2))
    found = []
    for size in (1, 2500, 1 << 30):
        monkeypatch.setattr(module, "_CACHED", size)
        leaves = [Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)]
        y = F.conv2d(*leaves, padding=1, groups=2)
        found.append([y.numpy(), *(g.numpy() for g in grad((y * y).sum(), leaves))])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-11)


@pytest.mark.needs("threadpoolctl")
def test_several_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is done once, and sums over blocks are made in their order."""
    monkeypatch.setattr(sys.modules["minigrad.ops._window_matrix"], "_CACHED", 1)
    monkeypatch.setattr(sys.modules["minigrad.ops._parallel"], "WORTHWHILE", 0)
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((9, 4, 14, 13)), rng.standard_normal((6, 4, 3, 2))
    before, found = minigrad.get_num_threads(), []
    for threads in (1, 3):
        minigrad.set_num_threads(threads)
        try:
            leaves = [Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)]
            y = F.conv2d(*leaves, padding=1)
            found.append([y.numpy(), *(g.numpy() for g in grad((y * y).sum(), leaves))])
        finally:
            minigrad.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_pooling_of_integers() -> None:
    x = np.arange(8).reshape(1, 1, 8)
    assert F.max_pool1d(Tensor(x), 3, 2, 1).tolist() == [[[1, 3, 5, 7]]]
    assert F.avg_pool1d(Tensor(x), 4).tolist() == [[[1.5, 5.5]]]


def test_a_mean_of_an_image_is_the_mean() -> None:
    x = minigrad.randn(2, 3, 5, 7)
    for layer in (nn.AdaptiveAvgPool2d(1), nn.AvgPool2d((5, 7))):
        np.testing.assert_allclose(
            layer(x).numpy()[:, :, 0, 0], x.numpy().mean(axis=(2, 3)), rtol=1e-5, atol=1e-6
        )


def test_what_padding_adds() -> None:
    x = np.ones((1, 2))
    assert padded(x, ((0, 0),)) is x
    assert padded(x, ((1, 2),), -1.0).tolist() == [[-1, 1, 1, -1, -1]]
    assert Window((3,), (2,), ((1, 0),), (2,)).counts((6,)) == (2,)


def test_how_layers_show_themselves() -> None:
    shown = {
        nn.Conv2d(3, 8, 3): "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))",
        nn.Conv1d(4, 8, 3, 2, "valid", 2, 4, False, "reflect"):
            "Conv1d(4, 8, kernel_size=(3,), stride=(2,), padding='valid', dilation=(2,), groups=4, "
            "padding_mode='reflect', bias=False)",
        nn.ConvTranspose2d(3, 8, 4, 2, (1, 0), 1):
            "ConvTranspose2d(3, 8, kernel_size=(4, 4), stride=(2, 2), padding=(1, 0), "
            "output_padding=(1, 1))",
        nn.MaxPool2d(2): "MaxPool2d(kernel_size=2, stride=2, padding=0)",
        nn.AdaptiveAvgPool2d((1, None)): "AdaptiveAvgPool2d(output_size=(1, None))",
        nn.Flatten(): "Flatten(start_axis=1, end_axis=-1)",
        nn.Unflatten(1, [2, 3]): "Unflatten(axis=1, unflattened_size=(2, 3))",
    }  # fmt: skip
    for layer, text in shown.items():
        assert repr(layer) == text


def test_reset_parameters_draws_anew() -> None:
    minigrad.random.seed(0)
    layer = nn.Conv2d(6, 50, 3, groups=2)
    before = layer.weight.numpy().copy()
    layer.reset_parameters()
    assert (before != layer.weight.numpy()).all()
    bound = 1 / np.sqrt(3 * 9)
    assert 0.9 * bound < np.abs(layer.weight.numpy()).max() <= bound
    assert layer.bias is not None
    assert np.abs(layer.bias.numpy()).max() <= bound


def test_a_convolution_learns() -> None:
    """It finds the kernel that made its targets."""
    minigrad.random.seed(0)
    x = minigrad.randn(16, 2, 8, 8)
    target = nn.Conv2d(2, 3, 3, padding=1)
    wanted = target(x).detach()
    layer = nn.Conv2d(2, 3, 3, padding=1)
    optimizer = minigrad.optim.Adam(layer.parameters(), lr=0.03)
    for _step in range(200):
        loss = F.mse_loss(layer(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    np.testing.assert_allclose(layer.weight.numpy(), target.weight.numpy(), atol=0.02)


# With AVX-512, OpenBLAS computes beside the matrix, and reports what it finds there.
@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul:RuntimeWarning")
def test_an_infinity_stays_in_its_windows() -> None:
    """Windows that a line of pixels has in vain are multiplied by 0, which would make NaN of it."""
    x, w = np.ones((1, 1, 12, 12)), np.ones((4, 1, 3, 3))
    far = x.copy()
    far[0, 0, 3, 0] = np.inf
    leaves = [Tensor(far, requires_grad=True), Tensor(w, requires_grad=True)]
    F.conv2d(*leaves).sum().backward()
    expected = np.broadcast_to([[np.inf, 100, 100]] * 3, w.shape)
    np.testing.assert_array_equal(leaves[1].grad.numpy(), expected)
    far = w.copy()
    far[:, :, 0, 2] = np.inf
    leaves = [Tensor(x, requires_grad=True), Tensor(far, requires_grad=True)]
    F.conv2d(*leaves).sum().backward()
    assert not np.isnan(leaves[0].grad.numpy()).any()


def test_the_first_nan_of_a_window_is_its_maximum() -> None:
    x = Tensor([[[1.0, np.nan, np.nan, 5.0]]], requires_grad=True)
    F.max_pool1d(x, 4).sum().backward()
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0, 0.0]]]


def test_the_gradient_of_a_bias_in_float16_counts_on() -> None:
    """2,048 + 1 is 2,048 in float16."""
    x = Tensor(np.zeros((4100, 1, 1), np.float16))
    weight = Tensor(np.zeros((2, 1, 1), np.float16))
    bias = Tensor(np.zeros(2, np.float16), requires_grad=True)
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
def test_windows_see_nothing_of_what_is_outside(
    name: str, value: float, create_graph: bool
) -> None:
    """An element that is not finite reaches its own windows only, and so does a cotangent."""
    pool, windows = POOLS[name]
    plain = np.array([[[3.0, 1.0, 4.0, 2.0, 5.0]]])
    expected = pool(Tensor(plain)).numpy()
    for place in range(5):
        values = plain.copy()
        values[..., place] = value
        found = pool(Tensor(values)).numpy()
        outside = [place not in window for window in windows]
        np.testing.assert_array_equal(found[..., outside], expected[..., outside])
    for number, window in enumerate(windows):
        x = Tensor(plain, requires_grad=True)
        g = np.zeros(expected.shape)
        g[..., number] = value
        found = grad(pool(x), x, g, create_graph=create_graph).numpy()
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
