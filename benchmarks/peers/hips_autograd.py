"""HIPS autograd: it has no transformer, so this one is written in NumPy's functions."""

import math
from typing import Any

import autograd.numpy as np
from _work import Arrays, Size, Task, encoder_input, encoder_weights
from autograd import make_vjp


def linear(x: Any, weights: Any, name: str) -> Any:
    """A linear map of rows (N, in): one product is faster than one for each sequence."""
    return np.dot(x, weights[f"{name}weight"].T) + weights[f"{name}bias"]


def layer_norm(x: Any, weights: Any, name: str) -> Any:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    normal = centred / np.sqrt(variance + 1e-5)
    return normal * weights[f"{name}weight"] + weights[f"{name}bias"]


def softmax(x: Any) -> Any:
    raised = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return raised / np.sum(raised, axis=-1, keepdims=True)


def attention(x: Any, weights: Any, name: str, size: Size) -> Any:
    width, each = size.width, size.width // size.heads
    projected = linear(x, weights, f"{name}in_proj_")  # (N L, 3 E)
    split = np.reshape(projected, (size.batch, size.length, 3, size.heads, each))
    q, k, v = (np.transpose(split[:, :, i], (0, 2, 1, 3)) for i in range(3))  # (N, H, L, E/H)
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * (1 / math.sqrt(each))
    out = np.matmul(softmax(scores), v)
    rows = np.reshape(np.transpose(out, (0, 2, 1, 3)), (size.batch * size.length, width))
    return linear(rows, weights, f"{name}out_proj.")


def stack(weights: Any, x: Any, size: Size) -> Any:
    shape = x.shape
    x = np.reshape(x, (-1, size.width))
    for i in range(size.depth):
        layer = f"layers.{i}."
        x = x + attention(x, weights, f"{layer}self_attn.", size)
        x = layer_norm(x, weights, f"{layer}norm1.")
        hidden = np.maximum(linear(x, weights, f"{layer}linear1."), 0)
        x = layer_norm(x + linear(hidden, weights, f"{layer}linear2."), weights, f"{layer}norm2.")
    return np.reshape(x, shape)


def encoder(size: Size) -> Task:
    weights = encoder_weights(size)
    x, g = encoder_input(size)
    forward = make_vjp(lambda given: stack(given["weights"], given["x"], size))

    def run() -> Any:
        pull, out = forward({"weights": weights, "x": x})
        return out, pull(g)

    def answer() -> Arrays:
        out, gradients = run()
        return {
            "output": out,
            "gradient of input": gradients["x"],
            **{f"gradient of {name}": array for name, array in gradients["weights"].items()},
        }

    return Task(run, answer)
