"""Convolutions, pooling and normalization by channel against PyTorch: values and gradients."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, compare, draw, randomise, torch

from minigrad import Tensor, nn
from minigrad.nn import functional as F

CONVOLUTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("Conv1d", (3, 4, 2), {}, (2, 3, 7)),
    ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 2, "groups": 2, "bias": False}, (2, 4, 8)),
    ("Conv1d", (2, 3, 4), {"padding": "same"}, (2, 2, 6)),
    ("Conv1d", (2, 3, 3), {"padding": "same", "dilation": 2, "padding_mode": "circular"},
     (2, 2, 6)),
    ("Conv1d", (2, 3, 3), {}, (2, 6)),
    ("Conv2d", (3, 4, 3), {}, (2, 3, 5, 6)),
    ("Conv2d", (3, 4, 1), {"padding": "valid"}, (2, 3, 5, 6)),
    ("Conv2d", (4, 2, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)},
     (2, 4, 6, 7)),
    ("Conv2d", (4, 4, 3), {"groups": 4, "padding": 1}, (1, 4, 4, 4)),
    ("Conv2d", (2, 3, (4, 3)), {"padding": "same", "dilation": (1, 2)}, (2, 2, 6, 6)),
    ("Conv2d", (2, 3, 3), {"padding": 1, "padding_mode": "reflect"}, (2, 2, 4, 5)),
    ("Conv2d", (2, 3, 3), {"padding": (2, 1), "padding_mode": "replicate"}, (2, 2, 4, 5)),
    ("Conv2d", (2, 3, 2), {}, (2, 4, 5)),
    ("Conv2d", (2, 3, 2), {}, (0, 2, 4, 5)),
    ("ConvTranspose1d", (3, 4, 3), {"stride": 2, "padding": 1, "output_padding": 1}, (2, 3, 5)),
    ("ConvTranspose1d", (3, 4, 3), {"dilation": 3, "output_padding": 2}, (2, 3, 5)),
    ("ConvTranspose1d", (3, 4, 3), {"dilation": 4, "padding": 1, "output_padding": 3}, (3, 5)),
    ("ConvTranspose1d", (3, 4, 3), {}, (3, 5)),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "groups": 2, "dilation": 2}, (2, 4, 3, 4)),
    ("ConvTranspose2d", (2, 3, (2, 3)),
     {"stride": (3, 2), "padding": (0, 1), "output_padding": (2, 1), "bias": False}, (2, 2, 3, 3)),
    ("ConvTranspose2d", (2, 4, 2),
     {"stride": (1, 2), "dilation": (3, 1), "output_padding": (2, 1), "groups": 2}, (2, 2, 3, 3)),
    ("ConvTranspose2d", (2, 3, 2),
     {"stride": 2, "dilation": 4, "padding": 3, "output_padding": 3}, (2, 2, 3, 3)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch, of its own speed
@pytest.mark.parametrize(
    ("name", "sizes", "options", "shape"), CONVOLUTIONS, ids=[str(c) for c in CONVOLUTIONS]
)
def test_convolution(
    name: str, sizes: tuple[Any, ...], options: dict[str, Any], shape: tuple[int, ...]
) -> None:
    ours = getattr(nn, name)(*sizes, **options).double()
    theirs = randomise(getattr(torch.nn, name)(*sizes, **options))
    compare(ours, theirs, [draw(*shape)], ours, theirs)


def test_functions_take_what_layers_do() -> None:
    """The functions of convolutions, with all their arguments in PyTorch's order."""
    x, y = draw(2, 4, 6), draw(2, 4, 5, 6)
    for name, array, kernel, arguments in [
        ("conv1d", x, (6, 2, 3), (draw(6), 2, 1, 2, 2)),
        ("conv2d", y, (6, 2, 3, 2), (draw(6), (2, 1), "valid", 1, 2)),
        ("conv_transpose1d", x, (4, 3, 3), (draw(6), 2, 1, 1, 2, 2)),
        ("conv_transpose2d", y, (4, 3, 3, 2), (draw(6), 2, (1, 0), 1, 2, 1)),
    ]:
        weight = draw(*kernel)
        bias, *rest = arguments
        ours = getattr(F, name)(Tensor(array), Tensor(weight), Tensor(bias), *rest)
        tensors = map(torch.tensor, (array, weight, bias))
        assert_close(ours, getattr(torch.nn.functional, name)(*tensors, *rest), name)


POOLS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("MaxPool1d", (2,), {}, (2, 3, 7)),
    ("MaxPool1d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, (2, 3, 8)),
    ("MaxPool1d", (2,), {}, (3, 7)),
    ("MaxPool2d", (2,), {}, (2, 3, 6, 5)),
    ("MaxPool2d", ((3, 2),), {"stride": (2, 1), "padding": 1}, (2, 3, 6, 5)),
    ("MaxPool2d", (2,), {"stride": 1, "dilation": (2, 3)}, (2, 3, 6, 5)),
    ("MaxPool2d", (3,), {"stride": 2, "ceil_mode": True}, (2, 3, 6, 8)),
    ("MaxPool2d", (2,), {"stride": 3, "padding": 1, "ceil_mode": True}, (2, 1, 7, 8)),
    ("MaxPool2d", (2,), {}, (3, 4, 4)),
    ("AvgPool1d", (3,), {"stride": 2, "padding": 1}, (2, 3, 8)),
    ("AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False}, (2, 3, 8)),
    ("AvgPool1d", (2,), {}, (3, 8)),
    ("AvgPool2d", (2,), {}, (2, 3, 6, 5)),
    ("AvgPool2d", ((2, 3),), {"stride": (1, 2), "padding": (1, 0)}, (2, 3, 6, 5)),
    ("AvgPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, (2, 3, 6, 8)),
    ("AvgPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True,
                         "count_include_pad": False}, (2, 3, 6, 8)),
    ("AvgPool2d", (2,), {"stride": 3, "padding": 1, "ceil_mode": True}, (2, 1, 7, 8)),
    ("AdaptiveAvgPool1d", (3,), {}, (2, 3, 7)),
    ("AdaptiveAvgPool1d", (9,), {}, (2, 3, 7)),
    ("AdaptiveAvgPool2d", (1,), {}, (2, 3, 5, 7)),
    ("AdaptiveAvgPool2d", ((3, 2),), {}, (2, 3, 6, 4)),
    ("AdaptiveAvgPool2d", ((None, 3),), {}, (2, 3, 5, 7)),
    ("AdaptiveAvgPool2d", ((2, 3),), {}, (3, 5, 7)),
    ("AdaptiveMaxPool1d", (3,), {}, (2, 3, 7)),
    ("AdaptiveMaxPool2d", (1,), {}, (2, 3, 5, 7)),
    ("AdaptiveMaxPool2d", ((3, 4),), {}, (2, 3, 6, 7)),
    ("AdaptiveMaxPool2d", ((2, None),), {}, (3, 5, 7)),
    ("Unfold", (2,), {}, (2, 3, 4, 5)),
    ("Unfold", ((3, 2),), {"dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)}, (2, 3, 4, 5)),
    ("Unfold", (2,), {"padding": 1}, (3, 4, 5)),
    ("Unfold", (2,), {}, (0, 3, 4, 5)),
    ("Fold", ((4, 5), 2), {}, (2, 8, 12)),
    ("Fold", ((4, 5), (3, 2)), {"dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)},
     (2, 12, 6)),
    ("Fold", ((4, 5), 2), {}, (8, 12)),
    ("PixelShuffle", (2,), {}, (2, 8, 3, 4)),
    ("PixelShuffle", (3,), {}, (2, 2, 9, 3, 4)),
    ("ZeroPad2d", (1,), {}, (2, 3, 4)),
    ("ZeroPad2d", ((1, 0, -2, 3),), {}, (2, 3, 4, 5)),
    *[
        (f"{kind}Pad1d", (padding,), {}, shape)
        for kind in ("Reflection", "Replication", "Circular", "Zero")
        for padding, shape in ((2, (2, 3, 4)), ((1, 3), (3, 4)))
    ],
    *[(f"{kind}Pad2d", ((1, 0, 2, 3),), {}, (2, 3, 4, 5)) for kind in ("Replication", "Circular")],
    ("ConstantPad1d", ((1, -1), 2.5), {}, (2, 3, 4)),
    ("ConstantPad2d", (2, -1.5), {}, (2, 3, 4, 5)),
    ("ReflectionPad2d", (2,), {}, (2, 3, 4, 5)),
    ("ReflectionPad2d", ((1, 0, 2, 3),), {}, (3, 4, 5)),
    *[
        ("Upsample", (), {"mode": mode, **options}, shape)
        for modes, shape in (
            (("nearest", "nearest-exact", "linear", "area"), (2, 3, 5)),
            (("nearest", "nearest-exact", "bilinear", "area"), (2, 3, 4, 5)),
        )
        for mode in modes
        for options in (
            {"size": 3}, {"size": 11}, {"scale_factor": 2}, {"scale_factor": 2.3},
            {"scale_factor": 0.7},
            {"scale_factor": 1.7, "recompute_scale_factor": True},
            *([{"size": 11, "align_corners": True}, {"size": 1, "align_corners": True},
               {"scale_factor": 1.7, "align_corners": False}] if "linear" in mode else []),
        )
    ],
    ("Upsample", ((3, 9),), {}, (2, 3, 4, 5)),
    ("Upsample", (), {"scale_factor": (2.0, 0.5)}, (2, 3, 4, 5)),
    ("Upsample", (), {"scale_factor": 2, "mode": "bilinear"}, (0, 3, 4, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sizes", "options", "shape"), POOLS, ids=[str(c) for c in POOLS])
def test_pooling(
    name: str, sizes: tuple[Any, ...], options: dict[str, Any], shape: tuple[int, ...]
) -> None:
    ours, theirs = (getattr(lib, name)(*sizes, **options) for lib in (nn, torch.nn))
    compare(ours, theirs, [draw(*shape)], ours, theirs)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_in_every_width(mode: str) -> None:
    """The same values and gradients, and no answer where PyTorch has none."""
    x = draw(2, 3, 4)
    for before, after in itertools.product(range(-1, 6), (0, 1, 4)):
        for widths in ((before, after), (before, after, 1, 0)):
            ours, theirs = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
            try:
                expected = torch.nn.functional.pad(theirs, widths, mode)
            except RuntimeError:
                expected = None
            if expected is None or (before < 0 and mode != "constant"):
                with pytest.raises(ValueError, match=f"^pad: mode='{mode}' cannot pad an axis of"):
                    F.pad(ours, widths, mode)  # type: ignore[arg-type]
                continue
            padded = F.pad(ours, widths, mode)  # type: ignore[arg-type]
            assert_close(padded, expected, f"{widths}")
            cotangent = draw(*padded.shape)
            (padded * cotangent).sum().backward()
            (expected * torch.tensor(cotangent)).sum().backward()
            assert_close(ours.grad, theirs.grad, f"{widths}")


def test_interpolation_of_infinities_and_nan() -> None:
    """They reach the neighbours that read them, with a weight of 0 too, and no others."""
    x = np.array([[[1.0, np.inf, 2.0, 3.0, np.nan, 4.0, -np.inf]]])
    for options in ({"size": 9}, {"size": 13, "align_corners": True}, {"scale_factor": 2}):
        with np.errstate(invalid="ignore"):
            ours = F.interpolate(Tensor(x), mode="linear", **options).numpy()
        theirs = torch.nn.functional.interpolate(torch.tensor(x), mode="linear", **options)
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-12)


def test_pooling_in_every_size() -> None:
    """Where windows, strides, paddings and sizes meet: as many windows, and the same in them."""
    for size in range(1, 9):
        x = draw(1, 1, size)
        for kernel in range(1, 5):
            for stride in range(1, 5):
                for padding in range(kernel // 2 + 1):
                    if size + 2 * padding < kernel:
                        continue
                    for ceil in (False, True):
                        said = f"{size} {kernel} {stride} {padding} {ceil}"
                        window = (kernel, stride, padding)
                        ours = F.max_pool1d(Tensor(x), *window, ceil_mode=ceil)
                        theirs = torch.nn.functional.max_pool1d(
                            torch.tensor(x), *window, ceil_mode=ceil
                        )
                        assert_close(ours, theirs, said)
                        for include in (False, True):
                            assert_close(
                                F.avg_pool1d(Tensor(x), *window, ceil, include),
                                torch.nn.functional.avg_pool1d(
                                    torch.tensor(x), *window, ceil, include
                                ),
                                said,
                            )


def test_ties_infinities_and_nan() -> None:
    """The first of equal elements gets the gradient; of minus infinities it is one of them."""
    x = np.array([[[1.0, 1.0, -np.inf, -np.inf, 0.0, 0.0, np.nan, 2.0, -np.inf]]])
    for window in ((2,), (3, 2, 1), (2, 1, 1)):
        one = F.max_pool1d(Tensor(x), *window)
        other = torch.nn.functional.max_pool1d(torch.tensor(x), *window)
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    leaf = Tensor(x[..., :6], requires_grad=True)
    F.max_pool1d(leaf, 2).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[[1, 0, 1, 0, 1, 0]]]
    lowest = Tensor(np.full((1, 1, 4), -np.inf), requires_grad=True)
    F.max_pool1d(lowest, 2, 2, 1).sum().backward()
    assert lowest.grad is not None
    assert lowest.grad.tolist() == [[[1, 1, 0, 1]]]


NORMS: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "BatchNorm1d": (nn.BatchNorm1d, torch.nn.BatchNorm1d, (5, 3)),
    "BatchNorm1d of sequences": (nn.BatchNorm1d, torch.nn.BatchNorm1d, (4, 3, 5)),
    "BatchNorm2d": (nn.BatchNorm2d, torch.nn.BatchNorm2d, (3, 3, 4, 2)),
    "InstanceNorm1d": (nn.InstanceNorm1d, torch.nn.InstanceNorm1d, (5, 3, 4)),
    "InstanceNorm2d": (nn.InstanceNorm2d, torch.nn.InstanceNorm2d, (2, 3, 4, 2)),
    "InstanceNorm2d of one": (nn.InstanceNorm2d, torch.nn.InstanceNorm2d, (3, 4, 2)),
}


@pytest.mark.parametrize(("ours", "theirs", "shape"), NORMS.values(), ids=NORMS)
@pytest.mark.parametrize(
    "options",
    [{}, {"momentum": 0.3, "eps": 0.1}, {"momentum": None}, {"affine": False},
     {"track_running_stats": False}, {"affine": True, "track_running_stats": True}],
    ids=str,
)  # fmt: skip
def test_batch_and_instance_norm(
    ours: Any, theirs: Any, shape: tuple[int, ...], options: Any
) -> None:
    """Three batches of training, then one of evaluation, with the same running statistics."""
    mine, other = ours(3, **options).double(), randomise(theirs(3, **options))
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


def test_a_state_dict_of_batch_norm() -> None:
    theirs = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3))
    x = draw(4, 2, 5, 5).astype(np.float32)
    theirs(torch.tensor(x))
    ours = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3))
    assert not any(ours.load_state_dict(theirs.state_dict()))
    assert_close(ours.eval()(Tensor(x)), theirs.eval()(torch.tensor(x)), rtol=1e-5)
    back = {name: torch.tensor(value.numpy()) for name, value in ours.state_dict().items()}
    theirs.load_state_dict(back)
    assert ours[1].num_batches_tracked.item() == 1


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 3), (2, 6, 3, 2)])
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(groups: int, shape: tuple[int, ...], affine: bool) -> None:
    ours = nn.GroupNorm(groups, 6, 1e-3, affine).double()
    theirs = randomise(torch.nn.GroupNorm(groups, 6, 1e-3, affine))
    compare(ours, theirs, [draw(*shape)], ours, theirs)
