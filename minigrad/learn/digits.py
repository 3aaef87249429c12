"""The digits model of examples/digits.py on any engine, and digits to train it on.

An engine is a namespace: `Tensor`, with ``+ * @ [] reshape swapaxes backward data grad``, and the
functions `concatenate`, `softmax`, `layer_norm`, `gelu` and `cross_entropy`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

import minigrad
from minigrad.nn import functional as F

__all__ = ["OURS", "digit_reader", "digits", "parameters", "train"]

OURS = SimpleNamespace(
    Tensor=lambda data: minigrad.tensor(data, dtype="float64", requires_grad=True),
    concatenate=minigrad.concatenate,
    softmax=lambda x: minigrad.softmax(x, -1),
    layer_norm=lambda x, weight, bias: F.layer_norm(x, weight.shape, weight, bias),
    gelu=F.gelu,
    cross_entropy=F.cross_entropy,
)
"""minigrad as such an engine."""


def digit_reader(engine: Any, p: Mapping[str, Any], images: np.ndarray, heads: int) -> Any:
    """The scores of the ten digits: patches after a class token, an encoder, a linear map.

    Args:
        engine: The engine.
        p: Its tensors, by the names of the parameters of examples/digits.py.
        images: Images, shape (N, 8, 8).
        heads: The number of attention heads.

    Returns:
        A tensor of the engine, shape (N, 10).
    """

    def linear(x: Any, name: str) -> Any:
        return x @ p[f"{name}.weight"].swapaxes(0, 1) + p[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        return engine.layer_norm(x, p[f"{name}.weight"], p[f"{name}.bias"])

    def split(x: Any) -> Any:  # (N, 17, W) -> (N, H, 17, W / H)
        return x.reshape(n, 17, heads, width // heads).swapaxes(1, 2)

    n, width = len(images), p["embed.weight"].shape[0]
    patches = images.reshape(n, 4, 2, 4, 2).swapaxes(2, 3).reshape(n, 16, 4)
    x = linear(engine.Tensor(patches), "embed") + p["positions"]  # (N, 16, W)
    first = p["class_token"] + engine.Tensor(np.zeros((n, 1, width)))  # (N, 1, W)
    x = engine.concatenate([first, x], 1)  # (N, 17, W)
    for at in sorted({name.split("self_attn")[0] for name in p if "self_attn" in name}):
        y = norm(x, f"{at}norm1")
        q, k, v = (split(linear(y, f"{at}self_attn.{one}_proj")) for one in "qkv")
        weights = engine.softmax(q @ k.swapaxes(-1, -2) * (width / heads) ** -0.5)
        y = (weights @ v).swapaxes(1, 2).reshape(n, 17, width)
        x = x + linear(y, f"{at}self_attn.out_proj")
        y = engine.gelu(linear(norm(x, f"{at}norm2"), f"{at}linear1"))
        x = x + linear(y, f"{at}linear2")
    return linear(norm(x, "encoder.norm")[:, 0], "head")


def parameters(width: int, layers: int) -> dict[str, np.ndarray]:
    """Draw the parameters of a model, the same ones each time.

    Args:
        width: The width of a token.
        layers: The number of encoder layers.

    Returns:
        Arrays of float64 by name.
    """
    random = np.random.default_rng(24)
    p = {
        "class_token": random.normal(0.0, 0.5, (1, 1, width)),
        "positions": random.normal(0.0, 0.5, (16, width)),
    }
    maps = {"embed": (4, width), "head": (width, 10)}
    norms = ["encoder.norm"]
    for i in range(layers):
        at = f"encoder.layers.{i}."
        maps |= {f"{at}self_attn.{one}_proj": (width, width) for one in ("q", "k", "v", "out")}
        maps |= {f"{at}linear1": (width, 2 * width), f"{at}linear2": (2 * width, width)}
        norms += [f"{at}norm1", f"{at}norm2"]
    for name, (size_in, size_out) in maps.items():
        p[f"{name}.weight"] = random.uniform(-1, 1, (size_out, size_in)) / math.sqrt(size_in)
        p[f"{name}.bias"] = np.zeros(size_out)
    for name in norms:
        p[f"{name}.weight"], p[f"{name}.bias"] = np.ones(width), np.zeros(width)
    return p


SHAPES = """
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ..##. .###. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. .#... ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. #.... ....# ...#. #...# #...# .#... #...# ....#
.###. .###. ##### ####. ...#. .###. .###. .#... .###. .###.
"""


def digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw digits, at two heights, in different ink, on noise.

    Args:
        count: How many.
        seed: Chooses them.

    Returns:
        Images of shape (count, 8, 8), from 0 to 1.3 in float64, and their labels, shape (count,).
    """
    rows = [line.split() for line in SHAPES.split("\n") if line]
    shapes = np.array([[[c == "#" for c in row[k]] for row in rows] for k in range(10)])
    random = np.random.default_rng(seed)
    images, labels = np.zeros((count, 8, 8)), np.arange(count) % 10
    for image, label in zip(images, labels, strict=True):
        top = random.integers(2)
        image[top : top + 7, 2:7] = shapes[label] * random.uniform(0.6, 1.0)
    return images + random.uniform(0.0, 0.3, images.shape), labels


def train(
    engine: Any, width: int = 16, heads: int = 2, layers: int = 2, steps: int = 40,
    rate: float = 0.01,
) -> Iterator[tuple[int, float, float]]:  # fmt: skip
    """Train a model with Adam, on 40 new digits in each step.

    Args:
        engine: The engine.
        width: The width of a token.
        heads: The number of attention heads.
        layers: The number of encoder layers.
        steps: The number of steps.
        rate: The learning rate.

    Yields:
        For each step its number, the loss, and the part of its digits that the model reads right
        before it learns from them.
    """
    values = parameters(width, layers)
    means = {name: (np.zeros(v.shape), np.zeros(v.shape)) for name, v in values.items()}
    for step in range(1, steps + 1):
        p = {name: engine.Tensor(value) for name, value in values.items()}
        images, labels = digits(40, step)
        scores = digit_reader(engine, p, images, heads)
        loss = engine.cross_entropy(scores, labels)
        loss.backward()
        for name, (m, v) in means.items():
            g = np.asarray(p[name].grad)
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            move = m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
            means[name], values[name] = (m, v), values[name] - rate * move
        read = np.asarray(scores.data).argmax(axis=1)
        yield step, float(loss.data), float((read == labels).mean())
