"""JAX: function transforms, compiled by XLA before they are timed."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _work import Task, function_arrays

from peers.jax_compiled import stack


def transform(name: str, small: bool) -> Task:
    size, weights, arrays = function_arrays(name, small)
    tensors = {key: jnp.asarray(array) for key, array in weights.items()}
    x, *given = map(jnp.asarray, arrays)

    def linear(x: Any, w: Any, i: int) -> Any:
        return x @ w[f"{i}.weight"].T + w[f"{i}.bias"]

    def perceptron(w: Any, x: Any) -> Any:
        x = jax.nn.relu(linear(x, w, 0))
        return linear(jax.nn.relu(linear(x, w, 2)), w, 4)

    def smooth(x: Any) -> Any:
        x = jnp.tanh(linear(x, tensors, 0))
        return jnp.tanh(linear(x, tensors, 2)) @ tensors["4.weight"].T

    def convolved(x: Any, w: Any, i: int) -> Any:
        out = jax.lax.conv(x, w[f"{i}.weight"], (1, 1), "SAME") + w[f"{i}.bias"][:, None, None]
        return jax.lax.reduce_window(
            jax.nn.relu(out), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"
        )

    def pictures(w: Any, x: Any) -> Any:
        return linear(convolved(convolved(x[None], w, 0), w, 3).reshape(-1), w, 6)

    def encoder(w: Any, x: Any) -> Any:
        return stack({f"layers.0.{key}": value for key, value in w.items()}, x[None], size)[0]

    def per_sample(loss: Callable[..., Any]) -> Callable[..., Any]:
        return jax.vmap(jax.grad(loss), (None, 0, 0))

    def entropy(model: Callable[..., Any]) -> Callable[..., Any]:
        return lambda w, x, y: -jax.nn.log_softmax(model(w, x))[y]

    if name == "encoder":
        function = per_sample(lambda w, x, g: (encoder(w, x) * g).sum())
    elif name in ("perceptron", "pictures"):
        function = per_sample(entropy({"perceptron": perceptron, "pictures": pictures}[name]))
    elif name == "jacobian":
        function = jax.vmap(jax.jacrev(smooth))
    elif name == "hessian":
        function = jax.hessian(lambda x: (smooth(x) ** 2).sum())
    else:

        def function(x: Any, v: Any) -> Any:
            return dict(zip(("value", "derivative"), jax.jvp(smooth, (x,), (v,)), strict=True))

    compiled = jax.jit(function)
    every = (tensors, x, *given) if name in ("encoder", "perceptron", "pictures") else (x, *given)

    def run() -> Any:
        return jax.block_until_ready(compiled(*every))

    def answer() -> dict[str, Any]:
        found = run()
        named = found if isinstance(found, dict) else {name: found}
        return {key: np.asarray(value) for key, value in named.items()}

    return Task(run, answer)
