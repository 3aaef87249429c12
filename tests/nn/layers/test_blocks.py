"""Lucid's blocks of layers, against the same built of plain layers and of PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.autograd import gradcheck, gradgradcheck
from minigrad.nn import functional as F


def draw(*shape: int) -> Any:
    return minigrad.tensor(np.random.default_rng(0).standard_normal(shape))


def conv_bn_relu(block: Any, x: Any) -> Any:
    convolved = F.conv2d if x.ndim == 4 else F.conv1d
    out = convolved(
        x, block.conv.weight, block.conv.bias, block.conv.stride, block.conv.padding,
        block.conv.dilation, block.conv.groups,
    )  # fmt: skip
    axes = (0, *range(2, x.ndim))
    mean, var = out.mean(axes, keepdims=True), out.var(axes, keepdims=True)
    scale, shift = (p.reshape(1, -1, *[1] * (x.ndim - 2)) for p in (block.bn.weight, block.bn.bias))
    return F.relu((out - mean) / (var + block.bn.eps) ** 0.5 * scale + shift)


def separable(block: Any, x: Any) -> Any:
    """One convolution whose kernel of each output and input channel is their product."""
    deep, point = block.depthwise, block.pointwise
    mix = point.weight.reshape(*point.weight.shape[:2], *[1] * (x.ndim - 2))
    kernel = mix * deep.weight.swapaxes(0, 1)
    bias = point.bias + (point.weight.reshape(point.weight.shape[:2]) @ deep.bias)
    convolved = F.conv2d if x.ndim == 4 else F.conv1d
    return convolved(x, kernel, bias, deep.stride, deep.padding, deep.dilation)


def squeezed(block: Any, x: Any) -> Any:
    hidden = F.relu(F.linear(x.mean((2, 3)), block.fc1.weight, block.fc1.bias))
    gate = F.sigmoid(F.linear(hidden, block.fc2.weight, block.fc2.bias))
    return minigrad.einsum("nchw,nc->nchw", x, gate)


def selected(block: Any, x: Any) -> Any:
    outs = [branch(x) for branch in block.branches]
    means = sum(outs).mean((2, 3))
    first, norm, last = block.attention[1], block.attention[2], block.attention[4]
    hidden = means @ first.weight.reshape(first.weight.shape[:2]).T
    hidden = (hidden - hidden.mean(0)) / (hidden.var(0) + norm.eps) ** 0.5
    scores = F.relu(hidden) @ last.weight.reshape(last.weight.shape[:2]).T
    weights = F.softmax(scores, -1)
    return sum(out * weights[:, i].reshape(-1, 1, 1, 1) for i, out in enumerate(outs))


BLOCKS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "ConvBNReLU1d": (
        lambda: nn.ConvBNReLU1d(4, 6, 3, 2, 1, 2, 2, False, 1e-3), conv_bn_relu, (3, 4, 9)),
    "ConvBNReLU2d": (
        lambda: nn.ConvBNReLU2d(4, 6, (3, 2), 2, (1, 0), groups=2), conv_bn_relu, (2, 4, 3, 4)),
    "DepthSeparableConv1d": (
        lambda: nn.DepthSeparableConv1d(3, 4, 3, 1, 2, 2), separable, (2, 3, 7)),
    "DepthSeparableConv2d": (
        lambda: nn.DepthSeparableConv2d(3, 4, (2, 3), 2, 1), separable, (2, 3, 5, 6)),
    "SEModule": (lambda: nn.SEModule(6, 2), squeezed, (2, 6, 3, 2)),
    "SelectiveKernel": (
        lambda: nn.SelectiveKernel(2, 4, [1, 3], 2, groups=2, reduction=2), selected,
        (3, 2, 3, 4)),
}  # fmt: skip


def build(name: str) -> tuple[Any, Any, Any]:
    minigrad.random.seed(0)
    make, plain, shape = BLOCKS[name]
    return make().double(), plain, draw(*shape)


@pytest.mark.parametrize("name", BLOCKS)
def test_it_is_its_plain_layers(name: str) -> None:
    block, plain, x = build(name)
    np.testing.assert_allclose(block(x).numpy(), plain(block, x).numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", BLOCKS)
def test_derivatives(name: str) -> None:
    block, _, x = build(name)
    x.requires_grad_()
    tensors = [x, *block.parameters()]
    assert gradcheck(lambda *_: block(x), tensors)
    assert gradgradcheck(lambda *_: block(x), tensors)


@pytest.mark.parametrize("name", BLOCKS)
def test_it_is_pytorchs_layers(name: str) -> None:
    """With PyTorch's own layers under the same keys: outputs, gradients, running statistics."""
    torch = pytest.importorskip("torch")
    block, _, x = build(name)
    twin = torchs(torch, name)
    states = {key: torch.tensor(value.numpy()) for key, value in block.state_dict().items()}
    twin.load_state_dict(states, strict=True)
    theirs = torch.tensor(x.numpy(), requires_grad=True)
    x.requires_grad_()
    for training in (True, False):
        block.train(training), twin.train(training)
        out, wanted = block(x), twin(theirs)
        np.testing.assert_allclose(out.numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-12)
        (out**2).sum().backward()
        (wanted**2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), theirs.grad.numpy(), rtol=1e-8, atol=1e-11)
    for key, value in twin.state_dict().items():
        np.testing.assert_allclose(block.state_dict()[key].numpy(), value.numpy(), rtol=1e-9)


def torchs(torch: Any, name: str) -> Any:
    """The same network of PyTorch's layers, by Lucid's description of the class."""
    of = torch.nn
    axes = 1 if name.endswith("1d") else 2

    class Block(of.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            given: tuple[Any, ...]
            conv, norm = (of.Conv1d, of.BatchNorm1d) if axes == 1 else (of.Conv2d, of.BatchNorm2d)
            if name.startswith("ConvBN"):
                given = (4, 6, 3, 2, 1, 2, 2, False) if axes == 1 else (4, 6, (3, 2), 2, (1, 0))
                self.conv = conv(*given, **({} if axes == 1 else {"groups": 2}))
                self.bn = norm(6, 1e-3 if axes == 1 else 1e-5)
            elif name.startswith("Depth"):
                given = (3, 3, 3, 1, 2, 2, 3) if axes == 1 else (3, 3, (2, 3), 2, 1, 1, 3)
                self.depthwise, self.pointwise = conv(*given), conv(3, 4, 1)
            elif name == "SEModule":
                self.fc1, self.fc2 = of.Linear(6, 3), of.Linear(3, 6)
            else:
                self.branches = of.ModuleList(
                    of.Conv2d(2, 4, k, 2, k // 2, groups=2, bias=False) for k in (1, 3)
                )
                self.attention = of.Sequential(
                    of.AdaptiveAvgPool2d(1), of.Conv2d(4, 2, 1, bias=False), of.BatchNorm2d(2),
                    of.ReLU(), of.Conv2d(2, 2, 1, bias=False),
                )  # fmt: skip

        def forward(self, x: Any) -> Any:
            if name.startswith("ConvBN"):
                return torch.relu(self.bn(self.conv(x)))
            if name.startswith("Depth"):
                return self.pointwise(self.depthwise(x))
            if name == "SEModule":
                gate = torch.sigmoid(self.fc2(torch.relu(self.fc1(x.mean((2, 3))))))
                return x * gate[:, :, None, None]
            outs = torch.stack([branch(x) for branch in self.branches], 1)
            weights = torch.softmax(self.attention(outs.sum(1)), 1)
            return (outs * weights[:, :, None]).sum(1)

    return Block().double()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.SEModule(8), r"SEModule: reduction \(16\) must be at most in_channels \(8\)"),
        (lambda: nn.SEModule(8, 0), "SEModule: reduction"),
        (lambda: nn.SEModule(4, 2)(draw(2, 4, 5)), r"SEModule: images .* got shape \(2, 4, 5\)"),
        (lambda: nn.SelectiveKernel(3, 8, [3], reduction=9), "reduction .* out_channels"),
        (lambda: nn.SelectiveKernel(3, 16, [3, 4]), r"odd numbers.*got \[3, 4\].*padding="),
        (lambda: nn.SelectiveKernel(3, 16, []), r"SelectiveKernel: kernel_sizes .* got \[\]"),
        (lambda: nn.ConvBNReLU2d(3, 8, 3, groups=2), "Conv2d: in_channels .* groups"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_same_padding_serves_kernels_of_even_size() -> None:
    block = nn.SelectiveKernel(3, 16, [2, 4], padding="same")
    assert block(minigrad.ones((2, 3, 6, 7))).shape == (2, 16, 6, 7)


def test_three_axes_are_out() -> None:
    for name in ("ConvBNReLU3d", "DepthSeparableConv3d"):
        with pytest.raises(AttributeError, match=name):
            getattr(nn, name)


def test_a_drawing_frames_the_block_and_its_layers() -> None:
    model = nn.Sequential(nn.ConvBNReLU2d(3, 4, 3), nn.SEModule(4, 2))
    drawn = minigrad.viz.graph(model, minigrad.ones((2, 3, 5, 5)))
    frames = {group.module for group in drawn.groups}
    for frame in ("ConvBNReLU2d", "BatchNorm2d", "SEModule"):
        assert frame in frames
