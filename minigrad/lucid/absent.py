"""What of Lucid 3 is not here, and why, or what to use instead: one table."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from minigrad.torch.absent import why_not

__all__ = ["ABSENT", "missing", "supported"]

_REASONS = {
    "it is Lucid 3's own, and not here": """
        diffeq signal models weights test metal NoisyLinear VectorQuantizer VectorQuantizerOutput
        nearest_codebook vector_quantize noisy_linear scaled_noise straight_through symexp symlog
        two_hot FusedLinear fused_linear_relu fused_linear_gelu TimestepEmbedding
        SinusoidalEmbedding2D sinusoidal_embedding_2d tokenizer rollout transforms""",
    "a file is one: save and load": "save_sharded load_sharded",
    "minigrad.nn.MultiHeadAttention(num_kv_heads=...)": """
        GroupedQueryAttention MultiQueryAttention num_kv_heads repeat_kv""",
    "minigrad.nn.MultiHeadAttention(...)(..., kv_cache=) decodes with a cache": """
        past_key_value use_cache cache_position layer_idx""",
    "minigrad.nn.RotaryPosEmbedding": "RotaryEmbedding apply_rotary_emb",
    "minigrad.nn.SinusoidalPosEmbedding": "SinusoidalEmbedding sinusoidal_embedding",
    "the rate ends at 0": "eta_min",
    "a file holds tensors only": "metadata",
}
ABSENT = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""The names of functions, classes, modules and arguments that PyTorch has not, and the reasons."""


def missing(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: an error that says why a name is not here."""

    def attribute(name: str) -> Any:
        path = f"{module}.{name}".removeprefix("minigrad.lucid.")
        if path == "einops":  # it needs a package
            return importlib.import_module(f"{module}.{name}")
        why = "" if name.startswith("__") else f": {ABSENT.get(name) or why_not(path)}"
        raise AttributeError(f"{module} has no {name!r}{why}")

    return attribute


def supported(owner: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options without those that are not here: an error, unless they are left out."""
    for name in ABSENT.keys() & options.keys():
        value = options.pop(name)
        if value not in (None, False, 0):
            raise NotImplementedError(f"{owner}: {name}={value!r} is refused: {ABSENT[name]}")
    return options
