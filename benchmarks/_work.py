"""The work of every library: sizes, and weights and inputs from a seed, as NumPy arrays.

The names of weights are PyTorch's, so that each library can load them or look them up.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Size:
    """The size of a stack of encoder layers and of what goes through it."""

    batch: int
    length: int
    width: int
    heads: int
    hidden: int
    depth: int = 1

    def __str__(self) -> str:
        layers = f", {self.depth} layers" if self.depth > 1 else ""
        return (
            f"batch {self.batch}, length {self.length}, width {self.width}, {self.heads} heads, "
            f"{self.hidden} hidden units{layers}"
        )


SIZES = {
    "S": Size(8, 32, 64, 4, 256),
    "M": Size(8, 128, 256, 8, 1024),
    "L": Size(4, 512, 512, 8, 2048),
}
TINY = {"tiny": Size(2, 5, 8, 2, 16)}
VOCABULARY = 1000


@dataclass(frozen=True)
class Layer:
    """A layer with the same name in every library, and the shape of its input.

    Attributes:
        kind: The name of its class.
        arguments: Its arguments.
        options: Its keyword arguments.
        shape: The shape of its input.
    """

    kind: str
    arguments: tuple[int, ...]
    options: dict[str, Any]
    shape: tuple[int, ...]

    def __str__(self) -> str:
        given = [*map(str, self.arguments), *(f"{k}={v}" for k, v in self.options.items())]
        return f"{self.kind}({', '.join(given)}) of {' × '.join(map(str, self.shape))}"


PICTURES, SEQUENCES = (32, 16, 28, 28), (32, 100, 64)
LAYERS = [
    Layer("Conv2d", (16, 32, 3), {"padding": 1}, PICTURES),
    Layer("Conv2d", (16, 32, 3), {"padding": 1, "stride": 2}, PICTURES),
    Layer("Conv2d", (16, 16, 3), {"padding": 1, "groups": 16}, PICTURES),
    Layer("Conv1d", (64, 64, 5), {"padding": 2}, (32, 64, 100)),
    Layer("MaxPool2d", (2,), {}, PICTURES),
    Layer("AvgPool2d", (2,), {}, PICTURES),
    Layer("BatchNorm2d", (16,), {}, PICTURES),
    Layer("GroupNorm", (4, 16), {}, PICTURES),
    Layer("InstanceNorm2d", (16,), {"affine": True}, PICTURES),
    Layer("LSTM", (64, 128), {"batch_first": True}, SEQUENCES),
    Layer("GRU", (64, 128), {"batch_first": True}, SEQUENCES),
    Layer("RNN", (64, 128), {"batch_first": True}, SEQUENCES),
]

ATTENTION = [
    Size(batch, length, 32 * heads, heads, 0)
    for batch, heads, length in (
        (32, 8, 128), (4, 8, 512), (1, 8, 2048), (1, 4, 4096), (1, 2, 8192),
    )
]  # fmt: skip
"""Heads of width 32, fewer of them the longer the sequence, so that no run takes a second."""
WORDS = 50_000
WIDTHS = (32, 256, 1024)

FAR = np.float32(4)
"""The mean distance of a hidden unit from the kink of its ReLU, in standard deviations.

Near the kink, rounding would decide on which side a unit is, and correct libraries would differ. So
half of the units are active and half are not; the next bias compensates.
"""


def smallest(argument: Any) -> Any:
    """Arguments for a rehearsal of some work: a tiny size, a small number."""
    if isinstance(argument, Size):
        return TINY["tiny"]
    if isinstance(argument, Layer):
        return Layer("Linear", (3, 2), {}, (2, 3))
    return min(argument, 10) if isinstance(argument, int) else argument


@dataclass(frozen=True)
class Task:
    """Work to be timed.

    Attributes:
        run: Does it once.
        answer: The arrays that it computes, by name.
    """

    run: Callable[[], Any]
    answer: Callable[[], Arrays]


class Draw:
    """Arrays of float32 from one seed."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0) -> np.ndarray:
        return self._rng.standard_normal(shape, np.float32) * np.float32(scale) + np.float32(mean)

    def ids(self, *shape: int, below: int = VOCABULARY) -> np.ndarray:
        return self._rng.integers(0, below, shape)


def encoder_weights(size: Size) -> Arrays:
    """The weights of the layers: a linear map's have shape (out, in)."""
    draw, weights = Draw(1), {}

    def linear(name: str, out: int, into: int, joint: str = ".") -> None:
        weights[f"{name}{joint}weight"] = draw.normal(out, into, scale=1 / math.sqrt(into))
        weights[f"{name}{joint}bias"] = draw.normal(out, scale=0.1)

    for i in range(size.depth):
        layer = f"layers.{i}"
        linear(f"{layer}.self_attn.in_proj", 3 * size.width, size.width, joint="_")
        linear(f"{layer}.self_attn.out_proj", size.width, size.width)
        linear(f"{layer}.linear1", size.hidden, size.width)
        linear(f"{layer}.linear2", size.width, size.hidden)
        for norm in ("norm1", "norm2"):
            weights[f"{layer}.{norm}.weight"] = draw.normal(size.width, scale=0.1, mean=1)
            weights[f"{layer}.{norm}.bias"] = draw.normal(size.width, scale=0.1)
        on = weights[f"{layer}.linear1.bias"]
        on[:] = np.where(on > 0, FAR, -FAR)
        weights[f"{layer}.linear2.bias"] -= FAR * (weights[f"{layer}.linear2.weight"] @ (on > 0))
    return weights


def encoder_input(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """The input of the first layer, and the gradient of the output of the last."""
    draw, shape = Draw(2), (size.batch, size.length, size.width)
    return draw.normal(*shape), draw.normal(*shape)


def layer_weights(shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Small weights for a layer, by the names and shapes of its parameters."""
    draw = Draw(5)
    return {name: draw.normal(*shapes[name], scale=0.1) for name in sorted(shapes)}


def model_weights(size: Size) -> Arrays:
    """The weights of a model that reads tokens: embeddings, encoder, head."""
    draw = Draw(3)
    return {
        "tokens.weight": draw.normal(VOCABULARY, size.width),
        "positions.weight": draw.normal(size.length, size.width, scale=0.1),
        **{f"encoder.{name}": array for name, array in encoder_weights(size).items()},
        "head.weight": draw.normal(VOCABULARY, size.width, scale=1 / math.sqrt(size.width)),
        "head.bias": draw.normal(VOCABULARY, scale=0.1),
    }


def model_input(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """The input tokens and the target tokens of the model."""
    draw = Draw(4)
    return draw.ids(size.batch, size.length), draw.ids(size.batch, size.length)


def product_input(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Two square matrices."""
    draw = Draw(14)
    return draw.normal(width, width), draw.normal(width, width)


def attention_input(size: Size) -> list[np.ndarray]:
    """Queries, keys, values, and the gradient of the output: (batch, heads, length, width)."""
    draw, width = Draw(10), size.width // size.heads
    return [draw.normal(size.batch, size.heads, size.length, width) for _ in range(4)]


def words_input(words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table of vectors of width 64 for so many words, the ids of 512 of them, and of the next."""
    draw = Draw(11)
    return draw.normal(words, 64, scale=0.1), *draw.ids(2, 512, below=words)


def table_input() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table of vectors of width 64 for all words, 256 of their ids, and the gradient of these."""
    draw = Draw(15)
    return draw.normal(WORDS, 64, scale=0.1), draw.ids(256, below=WORDS), draw.normal(256, 64)


def adamw_input(width: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The weights and biases of four square layers, each with its gradient."""
    draw = Draw(12)
    return [(draw.normal(*s), draw.normal(*s)) for s in [(width, width), (width,)] * 4]


def perceptron_weights(width: int) -> Arrays:
    """The weights of three linear layers, to ten classes."""
    draw, weights = Draw(8), {}
    for name, out in (("0", width), ("2", width), ("4", 10)):
        weights[f"{name}.weight"] = draw.normal(out, width, scale=1 / math.sqrt(width))
        weights[f"{name}.bias"] = draw.normal(out, scale=0.1)
    return weights


def perceptron_input(width: int) -> tuple[np.ndarray, np.ndarray]:
    """A batch of 32 inputs, and their classes."""
    draw = Draw(9)
    return draw.normal(32, width), draw.ids(32) % 10


FUNCTIONS = {
    "perceptron": "gradients of 64 rows: an MLP of width 64",
    "pictures": "gradients of 64 rows: a CNN on 28 × 28 pictures",
    "encoder": "gradients of 64 rows: an encoder layer of width 64, length 32",
    "jacobian": "Jacobians of 64 rows: an MLP of width 32",
    "hessian": "Hessian of an MLP of width 32",
    "jvp": "derivative along a direction: an MLP of width 32, 64 rows",
}


def function_arrays(name: str, small: bool) -> tuple[Size, Arrays, list[np.ndarray]]:
    """The size, the weights and the arguments of a function that is transformed."""
    draw, rows = Draw(13), 3 if small else 64
    size = TINY["tiny"] if small else Size(1, 32, 64, 4, 256)
    if name == "encoder":
        prefix = "layers.0."
        weights = {key.removeprefix(prefix): a for key, a in encoder_weights(size).items()}
        return size, weights, [draw.normal(rows, size.length, size.width) for _ in range(2)]
    if name == "pictures":
        side = 8 if small else 28
        weights = {}
        for i, shape in ((0, (8, 1, 3, 3)), (3, (16, 8, 3, 3)), (6, (10, side * side))):
            weights[f"{i}.weight"] = draw.normal(*shape, scale=1 / math.sqrt(math.prod(shape[1:])))
            weights[f"{i}.bias"] = draw.normal(shape[0], scale=0.1)
        return size, weights, [draw.normal(rows, 1, side, side), draw.ids(rows, below=10)]
    width = 8 if small else 64 if name == "perceptron" else 32
    given = {
        "perceptron": [draw.normal(rows, width), draw.ids(rows, below=10)],
        "jacobian": [draw.normal(rows, width)],
        "hessian": [draw.normal(width)],
        "jvp": [draw.normal(rows, width), draw.normal(rows, width)],
    }[name]
    return size, perceptron_weights(width), given
