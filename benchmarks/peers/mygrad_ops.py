"""MyGrad: it has no transformer, so this one is written in its operations."""

import math
from typing import Any

import mygrad as mg
import numpy as np
from _work import Arrays, Size, Task, encoder_input, encoder_weights
from mygrad.nnet import relu

mg.turn_memory_guarding_off()  # for speed, as its documentation advises


def linear(x: Any, weights: Any, name: str) -> Any:
    """A linear map of rows (N, in): one product is faster than one for each sequence."""
    return mg.matmul(x, weights[f"{name}weight"].T) + weights[f"{name}bias"]


def layer_norm(x: Any, weights: Any, name: str) -> Any:
    centred = x - mg.mean(x, axis=-1, keepdims=True)
    variance = mg.mean(centred * centred, axis=-1, keepdims=True)
    normal = centred / mg.sqrt(variance + np.float32(1e-5))
    return normal * weights[f"{name}weight"] + weights[f"{name}bias"]


def softmax(x: Any) -> Any:
    raised = mg.exp(x - x.data.max(axis=-1, keepdims=True))
    return raised / mg.sum(raised, axis=-1, keepdims=True)


def attention(x: Any, weights: Any, name: str, size: Size) -> Any:
    width, each = size.width, size.width // size.heads
    projected = linear(x, weights, f"{name}in_proj_")  # (N L, 3 E)
    split = projected.reshape(size.batch, size.length, 3, size.heads, each)
    q, k, v = (mg.transpose(split[:, :, i], (0, 2, 1, 3)) for i in range(3))  # (N, H, L, E/H)
    scores = mg.matmul(q, mg.swapaxes(k, -1, -2)) * np.float32(1 / math.sqrt(each))
    out = mg.matmul(softmax(scores), v)
    rows = mg.transpose(out, (0, 2, 1, 3)).reshape(size.batch * size.length, width)
    return linear(rows, weights, f"{name}out_proj.")


def stack(weights: Any, x: Any, size: Size) -> Any:
    shape = x.shape
    x = x.reshape(-1, size.width)
    for i in range(size.depth):
        layer = f"layers.{i}."
        x = x + attention(x, weights, f"{layer}self_attn.", size)
        x = layer_norm(x, weights, f"{layer}norm1.")
        hidden = relu(linear(x, weights, f"{layer}linear1."))
        x = layer_norm(x + linear(hidden, weights, f"{layer}linear2."), weights, f"{layer}norm2.")
    return x.reshape(shape)


def encoder(size: Size) -> Task:
    weights = {name: mg.tensor(array) for name, array in encoder_weights(size).items()}
    start, g = encoder_input(size)
    x = mg.tensor(start)

    def run() -> Any:
        x.null_grad()
        for weight in weights.values():
            weight.null_grad()
        out = stack(weights, x, size)
        out.backward(g)
        return out

    def answer() -> Arrays:
        out = run()
        return {
            "output": out.data,
            "gradient of input": x.grad,
            **{f"gradient of {name}": weight.grad for name, weight in weights.items()},
        }

    return Task(run, answer)
