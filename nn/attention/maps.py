"""Collecting the attention weights of a model with hooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from minigrad.nn.module.base import Module
from minigrad.support.signatures import signature_of
from minigrad.tensors.tensor import Tensor


@contextmanager
def attention_weights(model: Module) -> Iterator[dict[str, list[Tensor]]]:
    """Collect the attention weights of every attention layer within a block.

    A layer is one whose forward has the argument `need_weights`, and no layer inside it has: an
    encoder only passes it on. The block gets a dict: for the path of each layer, a list with one
    tensor per call, of shape (N, H, L, S).

    The model is called as usual and its outputs do not change. Hooks request the weights, so layers
    take the path that materializes them. The weights are those before dropout.

    Raises:
        ValueError: The model has no attention layer.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(16, 4, dim_feedforward=32)
        >>> with nn.utils.attention_weights(layer) as weights:
        ...     _ = layer(randn(2, 5, 16), randn(2, 7, 16))
        >>> {path: tuple(found[0].shape) for path, found in weights.items()}
        {'self_attn': (2, 4, 5, 5), 'multihead_attn': (2, 4, 5, 7)}
    """
    able = {
        path: module
        for path, module in model.named_modules()
        if "need_weights" in signature_of(module.forward).parameters
    }
    ids = set(map(id, able.values()))
    layers = {
        path: module
        for path, module in able.items()
        if sum(id(part) in ids for part in module.modules()) == 1
    }
    if not layers:
        raise ValueError(f"attention_weights: {type(model).__name__} has no attention layer in it")
    found: dict[str, list[Tensor]] = {path: [] for path in layers}
    with ExitStack() as stack:
        for path, layer in layers.items():
            _collect(layer, found[path], stack)
        yield found


def _collect(layer: Module, found: list[Tensor], stack: ExitStack) -> None:
    """Append a layer's weights to a list at each call, until the stack is closed."""
    asked: list[bool] = []  # whether each running call asked for the weights itself

    def ask(_: Module, args: Any, options: dict[str, Any]) -> Any:
        asked.append(bool(options.get("need_weights")))
        return args, {**options, "need_weights": True}

    def keep(_: Module, _args: Any, results: tuple[Tensor, Tensor]) -> Any:
        found.append(results[1])
        return results if asked.pop() else results[0]

    stack.callback(layer.register_forward_pre_hook(ask, with_kwargs=True))
    stack.callback(layer.register_forward_hook(keep))
