"""JAX, compiled by XLA before it is timed."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _work import Arrays, Size, Task, encoder_input, encoder_weights


def linear(x: Any, weights: Any, name: str) -> Any:
    return x @ weights[f"{name}weight"].T + weights[f"{name}bias"]


def layer_norm(x: Any, weights: Any, name: str) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    normal = centred * jax.lax.rsqrt(variance + 1e-5)
    return normal * weights[f"{name}weight"] + weights[f"{name}bias"]


def attention(x: Any, weights: Any, name: str, heads: int) -> Any:
    batch, length, width = x.shape
    projected = linear(x, weights, f"{name}in_proj_")  # (N, L, 3 E)
    split = projected.reshape(batch, length, 3, heads, width // heads)
    q, k, v = split.transpose(2, 0, 3, 1, 4)  # each (N, H, L, E/H)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(width // heads)
    out = jax.nn.softmax(scores, axis=-1) @ v
    return linear(
        out.transpose(0, 2, 1, 3).reshape(batch, length, width), weights, f"{name}out_proj."
    )


def stack(weights: Any, x: Any, size: Size) -> Any:
    for i in range(size.depth):
        layer = f"layers.{i}."
        x = x + attention(x, weights, f"{layer}self_attn.", size.heads)
        x = layer_norm(x, weights, f"{layer}norm1.")
        hidden = jax.nn.relu(linear(x, weights, f"{layer}linear1."))
        x = layer_norm(x + linear(hidden, weights, f"{layer}linear2."), weights, f"{layer}norm2.")
    return x


def encoder(size: Size) -> Task:
    weights = {name: jnp.asarray(array) for name, array in encoder_weights(size).items()}
    x, g = map(jnp.asarray, encoder_input(size))

    def scalar(weights: Any, x: Any, g: Any) -> Any:
        out = stack(weights, x, size)
        return (out * g).sum(), out

    compiled = jax.jit(jax.value_and_grad(scalar, argnums=(0, 1), has_aux=True))

    def run() -> Any:
        return jax.block_until_ready(compiled(weights, x, g))

    def answer() -> Arrays:
        (_, out), (gradients, of_input) = run()
        return {
            "output": np.asarray(out),
            "gradient of input": np.asarray(of_input),
            **{f"gradient of {name}": np.asarray(array) for name, array in gradients.items()},
        }

    return Task(run, answer)
