"""JAX, compiled by XLA before it is timed."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _work import (
    Arrays,
    Size,
    Task,
    encoder_input,
    encoder_weights,
    model_input,
    model_weights,
    perceptron_input,
    perceptron_weights,
)


def linear(x: Any, weights: Any, name: str) -> Any:
    return x @ weights[f"{name}weight"].T + weights[f"{name}bias"]


def layer_norm(x: Any, weights: Any, name: str) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    normal = centred * jax.lax.rsqrt(variance + 1e-5)
    return normal * weights[f"{name}weight"] + weights[f"{name}bias"]


def dropped(x: Any, key: Any, p: float) -> Any:
    """Dropout; JAX's own generator, as its users have it."""
    return jnp.where(jax.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0) if p else x


def attention(x: Any, weights: Any, name: str, heads: int, key: Any, p: float) -> Any:
    batch, length, width = x.shape
    projected = linear(x, weights, f"{name}in_proj_")  # (N, L, 3 E)
    split = projected.reshape(batch, length, 3, heads, width // heads)
    q, k, v = split.transpose(2, 0, 3, 1, 4)  # each (N, H, L, E/H)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(width // heads)
    out = dropped(jax.nn.softmax(scores, axis=-1), key, p) @ v
    return linear(
        out.transpose(0, 2, 1, 3).reshape(batch, length, width), weights, f"{name}out_proj."
    )


def stack(
    weights: Any, x: Any, size: Size, prefix: str = "", key: Any = None, p: float = 0.0
) -> Any:
    for i in range(size.depth):
        layer = f"{prefix}layers.{i}."
        keys = jax.random.split(jax.random.fold_in(key, i), 4) if p else (key,) * 4
        out = attention(x, weights, f"{layer}self_attn.", size.heads, keys[0], p)
        x = layer_norm(x + dropped(out, keys[1], p), weights, f"{layer}norm1.")
        hidden = dropped(jax.nn.relu(linear(x, weights, f"{layer}linear1.")), keys[2], p)
        out = linear(hidden, weights, f"{layer}linear2.")
        x = layer_norm(x + dropped(out, keys[3], p), weights, f"{layer}norm2.")
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


def cross_entropy(scores: Any, wanted: Any) -> Any:
    rows = jax.nn.log_softmax(scores, axis=-1)
    return -jnp.take_along_axis(rows, wanted[:, None], axis=1).mean()


def adamw(loss: Any, state: Any, *arguments: Any) -> tuple[Any, Any]:
    """A step of AdamW with PyTorch's defaults: the loss, and the next state."""
    weights, first, second, steps = state
    key = jax.random.fold_in(jax.random.key(0), steps)
    found, gradients = jax.value_and_grad(loss)(weights, key, *arguments)
    steps += 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)

    def moved(w: Any, m: Any, v: Any) -> Any:
        root = jnp.sqrt(v / (1 - 0.999**steps)) + 1e-8
        return w * (1 - 1e-3 * 1e-2) - 1e-3 * m / (1 - 0.9**steps) / root

    return found, (jax.tree.map(moved, weights, first, second), first, second, steps)


def trained(loss: Any, weights: Arrays, *arguments: Any) -> Any:
    """A function that makes one step, and returns its loss."""
    values = {name: jnp.asarray(array) for name, array in weights.items()}
    zeros = {name: jnp.zeros_like(array) for name, array in values.items()}
    update = jax.jit(lambda state, *given: adamw(loss, state, *given), donate_argnums=0)
    state = values, zeros, dict(jax.tree.map(jnp.copy, zeros)), jnp.zeros((), int)

    def step() -> float:
        nonlocal state
        found, state = update(state, *arguments)
        jax.block_until_ready(state)
        return float(found)

    return step


def training(size: Size, dropout: float) -> Task:
    ids, wanted = model_input(size)

    def step(p: float) -> Any:
        def loss(weights: Any, key: Any, ids: Any, wanted: Any) -> Any:
            x = weights["tokens.weight"][ids] + weights["positions.weight"]
            x = stack(weights, x, size, "encoder.", key, p)
            return cross_entropy(linear(x, weights, "head.").reshape(wanted.size, -1), wanted)

        return trained(loss, model_weights(size), jnp.asarray(ids), jnp.asarray(wanted.reshape(-1)))

    def answer() -> Arrays:
        fresh = step(0.0)
        return {"losses": np.array([fresh() for _ in range(5)], np.float32)}

    return Task(step(dropout), answer)


def perceptron(width: int) -> Task:
    arguments = [jnp.asarray(array) for array in perceptron_input(width)]

    def loss(weights: Any, _key: Any, x: Any, wanted: Any) -> Any:
        for name in ("0.", "2."):
            x = jax.nn.relu(linear(x, weights, name))
        return cross_entropy(linear(x, weights, "4."), wanted)

    def answer() -> Arrays:
        fresh = trained(loss, perceptron_weights(width), *arguments)
        return {"losses": np.array([fresh() for _ in range(5)], np.float32)}

    return Task(trained(loss, perceptron_weights(width), *arguments), answer)
