"""The attention weights of a whole model, without a change to it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from minigrad._tensor import Tensor
from minigrad.nn.module.base import Module


@contextmanager
def attention_weights(model: Module) -> Iterator[dict[str, list[Tensor]]]:
    """Collect what every attention layer of a model attends to while the block runs.

    The model is called as usual and returns what it always returns. Layers are asked by hooks, so
    they take the path that gives weights; the weights are those before dropout.

    Args:
        model: A module with attention layers in it, or such a layer: every module whose forward
            has the argument `need_weights`.

    Returns:
        A context manager that gives a dictionary. By the path of each layer, it holds one tensor a
        call, of shape (N, H, L, S).

    Raises:
        ValueError: There is no such layer in the model.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> layer = nn.TransformerDecoderLayer(16, 4, dim_feedforward=32)
        >>> with nn.utils.attention_weights(layer) as weights:
        ...     _ = layer(minigrad.randn(2, 5, 16), minigrad.randn(2, 7, 16))
        >>> [(path, found[0].shape) for path, found in weights.items()]
        [('self_attn', (2, 4, 5, 5)), ('multihead_attn', (2, 4, 5, 7))]
    """
    layers = {
        path: module
        for path, module in model.named_modules()
        if "need_weights" in inspect.signature(module.forward).parameters
    }
    if not layers:
        raise ValueError(f"attention_weights: {type(model).__name__} has no attention layer in it")
    found: dict[str, list[Tensor]] = {path: [] for path in layers}
    with ExitStack() as stack:
        for path, layer in layers.items():
            _collect(layer, found[path], stack)
        yield found


def _collect(layer: Module, found: list[Tensor], stack: ExitStack) -> None:
    """Have a layer leave its weights in a list, until the stack is closed."""
    asked: list[bool] = []  # by the caller itself, who then gets them too; a call within a call

    def ask(_: Module, args: Any, options: dict[str, Any]) -> Any:
        asked.append(bool(options.get("need_weights")))
        return args, {**options, "need_weights": True}

    def keep(_: Module, args: Any, results: tuple[Tensor, Tensor]) -> Any:
        found.append(results[1])
        return results if asked.pop() else results[0]

    stack.callback(layer.register_forward_pre_hook(ask, with_kwargs=True))
    stack.callback(layer.register_forward_hook(keep))
