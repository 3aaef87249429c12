"""The small programs whose pictures and texts `__snapshots__` holds.

Their numbers are few, simple and in float64: rounded to four digits, they are the same on every
processor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from reading import watched

import minigrad
from minigrad import Tensor, nn, optim, viz
from minigrad.autograd import Function, checkpoint, grad
from minigrad.debugging import Profile, Statistics
from minigrad.nn import functional as F
from minigrad.viz import AttentionMaps, Graph, ProgramDrawing

NUMBERS = np.array([4, -3, 1, 6, -7, 2, -1, 5, -4, 3, 0]) / 8


def numbers(*shape: int, start: int = 0, grad: bool = False) -> Tensor:
    """A tensor of simple numbers, which repeat; a leaf that gets a gradient if asked."""
    values = np.resize(np.roll(NUMBERS, -start), shape)
    return minigrad.tensor(values, dtype="float64", requires_grad=grad)


def simple(module: nn.Module) -> nn.Module:
    """The module with simple numbers for its parameters."""
    module.double()
    with minigrad.no_grad():
        for start, parameter in enumerate(module.parameters()):
            parameter[...] = numbers(*parameter.shape, start=start)
    return module


def square(out: Tensor) -> None:
    """A loss that no layer makes constant, and its backward pass."""
    (out * out).sum().backward()


def scalars() -> Graph:
    a, b = (minigrad.tensor(v, dtype="float64", requires_grad=True) for v in (2.0, -0.75))
    with viz.trace() as traced:
        c = a * b + b**3
        (c.tanh() / (c - 1.0)).backward()
    return traced.graph(a=a, b=b)


def broadcasting() -> Graph:
    x, row, column = numbers(2, 3), numbers(3, grad=True), numbers(2, 1, start=3, grad=True)
    return watched(
        lambda: square((x * row - column).mean(axis=0, keepdims=True) / 2),
        x=x,
        row=row,
        column=column,
    )


def detached() -> Graph:
    x = numbers(3, grad=True)
    with viz.trace() as traced:
        y = x.exp()
        (y.detach() * y + minigrad.argmax(x)).sum().backward()
    return traced.graph(x=x)


def island() -> Graph:
    """Ops under no_grad, a result that nothing reads, and two passes."""
    x, w = numbers(2, 3, grad=True), numbers(3, start=2, grad=True)
    with viz.trace() as traced:
        with minigrad.no_grad():
            scale = 1 / (abs(x).max() + 1)
        y = minigrad.maximum(x * scale, w)
        y.sin()
        loss = y.sum()
        loss.backward(retain_graph=True)
        loss.backward()
    return traced.graph(x=x, w=w)


class Many(nn.Module):
    def forward(self, pair: Any, *rest: Tensor, scale: Any) -> Any:
        low, high = minigrad.split(pair[0] * pair[1], 2)
        both = minigrad.concatenate([high, low, *rest])
        return {"sum": both.sum() * scale, "parts": (low, minigrad.stack([low, high]).exp())}


def several_outputs() -> Graph:
    pair = numbers(4, grad=True), numbers(4, start=4, grad=True)
    return viz.graph(Many(), pair, numbers(1, grad=True), scale=np.array(0.5))


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * g * x * x


def custom_function() -> Graph:
    x = numbers(3, grad=True)
    return watched(lambda: (Cube.apply(x) * x).sum().backward(), x=x)


def recomputed() -> Graph:
    x, layer = numbers(2, 3), simple(nn.Linear(3, 2))
    return watched(lambda: square(checkpoint(lambda x: layer(x).tanh(), x)), x=x)


def in_place() -> Graph:
    x = numbers(2, 3, grad=True)
    with viz.trace() as traced:
        y = x * 2
        y[0] = x[1] ** 2
        y += 1
        y[:, [0, 2]].prod().backward()
    return traced.graph(x=x)


def stopped() -> Graph:
    """A program that ends with an error, and numbers that are not finite."""
    x = numbers(2, 3, grad=True)
    with contextlib.suppress(ValueError), np.errstate(all="ignore"), viz.trace() as traced:
        y = minigrad.log(x - x)
        y.sum().backward()
        y @ x
    return traced.graph(x=x)


def perceptron() -> Graph:
    model = simple(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    x = numbers(2, 3, start=5)
    return watched(lambda: F.mse_loss(model(x), numbers(2, 2)).backward(), x=x)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.layer = nn.LayerNorm(4), nn.Linear(4, 4, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.gelu(self.layer(self.norm(x)))


def residual() -> Graph:
    block, x = simple(Residual()), numbers(2, 4, grad=True)
    return watched(lambda: square(block(x)), x=x)


def opened() -> Graph:
    """Layer normalization and softmax with the ops that they are made of."""
    norm, x = simple(nn.LayerNorm(3)), numbers(2, 3, grad=True)
    return watched(
        lambda: square(minigrad.softmax(norm(x), axis=-1)),
        viz.trace(open=["layer_norm", "cross_entropy"]),
        x=x,
    )


def attention() -> Graph:
    layer, x = simple(nn.MultiHeadAttention(4, 2, bias=False)), numbers(1, 3, 4, grad=True)
    return watched(lambda: square(layer(x, x, x, is_causal=True)), x=x)


def convolution() -> Graph:
    model = simple(nn.Sequential(nn.Conv2d(1, 2, 2), nn.MaxPool2d(2), nn.Flatten()))
    x = numbers(1, 1, 5, 5)
    return watched(lambda: square(model(x)), x=x)


def lstm() -> Graph:
    layer, x = simple(nn.LSTM(2, 2)), numbers(1, 2, 2)
    return watched(lambda: square(layer(x)[0]), x=x)


def shared() -> Graph:
    layer, x = simple(nn.Linear(3, 3)), numbers(2, 3)
    return watched(lambda: square(layer(layer(x).tanh())), x=x)


def classifier() -> Graph:
    model = simple(nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 4)))
    words = np.array([1, 4, 1])
    return watched(lambda: F.cross_entropy(model(words), np.array([0, 3, 2])).backward())


def repeated() -> Graph:
    """Layers that repeat, drawn as one; and a loop that does."""
    model = simple(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 5))
    x = numbers(1, 2, 4)

    def run(x: Tensor) -> Tensor:
        x = model(x)
        for _ in range(6):
            x = x * 0.5 + x.sin()
        return x

    return viz.graph(run, x)


def matrices() -> Graph:
    a, b = numbers(2, 2, 3, grad=True), numbers(3, 2, start=4, grad=True)
    with viz.trace() as traced:
        c = minigrad.einsum("bij,jk->bik", a, b) @ b.T
        square(minigrad.where(c > 0, c, minigrad.cumsum(a, axis=1)).reshape(4, 3).T)
    return traced.graph(a=a, b=b)


def second_derivative() -> Graph:
    x = numbers(3, grad=True)
    (slope,) = grad((x**3 / x.exp()).sum(), [x], create_graph=True)
    return viz.graph(slope, x=x)


GRAPHS: dict[str, Callable[[], Graph]] = {
    made.__name__: made
    for made in (
        scalars, broadcasting, detached, island, several_outputs, custom_function, recomputed,
        in_place, stopped, perceptron, residual, opened, attention, convolution, lstm, shared,
        classifier, repeated, matrices, second_derivative,
    )
}  # fmt: skip


def training() -> Statistics:
    """Four steps, one with a NaN, of a net with a dead unit; the loss falls by three decades."""
    model = simple(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    optimizer, x = optim.SGD(model.parameters(), lr=0.125), numbers(2, 3)
    with Statistics(model, optimizer=optimizer) as statistics:
        for loss in (2.5, 0.125, float("nan"), 0.0025):
            optimizer.zero_grad()
            square(model(x))
            statistics.step(loss)
            optimizer.step()
            optimizer.param_groups[0]["lr"] /= 2
    return statistics


def profiled() -> Profile:
    model, x = simple(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))), numbers(5, 3)
    with Profile() as profile:
        square(model(x))
    return profile


def attention_maps() -> AttentionMaps:
    model = simple(nn.TransformerDecoderLayer(4, 2, 4))
    x, memory = numbers(1, 3, 4), numbers(1, 2, 4, start=3)
    tokens = {
        "self_attn": [" a", "<b>", "\n"],
        "multihead_attn": (["a", "b", "extraordinarily-long"], ["x", "y"]),
    }
    mask = np.triu(np.full((3, 3), -np.inf), 1)
    return viz.attention(model, x, memory, tgt_mask=mask, tokens=tokens)


def captured() -> ProgramDrawing:
    @minigrad.capture
    def step(x: Tensor) -> Tensor:
        minigrad.exp(x)
        return (x * x).sum() + (x * x).tanh().sum()

    for _ in range(2):
        step(numbers(1000))
    return viz.program(step)
