"""The caches: one that grows, one of fixed size, and the pair of them that a decoder needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad._creation import made
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.autograd.mutation import mark_written
from minigrad.nn.attention.cache_base import Cache, KVCache, behind
from minigrad.nn.module.checks import check_size


class DynamicKVCache(KVCache):
    """A cache that grows with the sequence, and through which gradients flow.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> layer = nn.TransformerEncoderLayer(16, 2, 32).eval()
        >>> x, cache = minigrad.randn(1, 5, 16), nn.DynamicKVCache()
        >>> steps = [
        ...     layer(x[:, i : i + 1], is_causal=True, kv_cache=cache, use_cache=True)
        ...     for i in range(5)
        ... ]
        >>> whole = layer(x, is_causal=True)
        >>> bool(abs(minigrad.concatenate(steps, axis=1) - whole).max() < 1e-5)
        True
        >>> cache.get_seq_length()
        5
    """

    def __init__(self) -> None:
        self._layers: dict[int, tuple[Tensor, Tensor]] = {}

    def get(self, layer_idx: int) -> tuple[Tensor, Tensor] | None:
        return self._layers.get(check_size("DynamicKVCache", "layer_idx", layer_idx, least=0))

    def get_seq_length(self, layer_idx: int = 0) -> int:
        both = self.get(layer_idx)
        return 0 if both is None else both[0].shape[2]

    def get_max_cache_shape(self) -> int | None:
        return None

    def cached_layers(self) -> list[int]:
        return sorted(self._layers)

    def reset(self) -> None:
        self._layers.clear()

    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        past = self._layers.get(layer_idx)
        both = (key, value) if past is None or not start else behind(past, key, value, start)
        self._layers[layer_idx] = both

    def __repr__(self) -> str:
        return f"DynamicKVCache(layers={len(self._layers)}, length={_longest(self)})"


class StaticKVCache(KVCache):
    """A cache of fixed size, written in place: no step copies what earlier ones cached.

    It takes no part in differentiation: decode under `minigrad.no_grad()`.

    Args:
        max_cache_len: How many positions there is room for.
        num_layers: How many layers there is room for.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> attention = nn.MultiHeadAttention(16, 2)
        >>> x, cache = minigrad.randn(1, 3, 16), nn.StaticKVCache(max_cache_len=8, num_layers=1)
        >>> with minigrad.no_grad():
        ...     output = attention(x, x, x, is_causal=True, kv_cache=cache, use_cache=True)
        >>> cache.get_seq_length(), cache.get_max_cache_shape()
        (3, 8)
    """

    def __init__(self, max_cache_len: int, num_layers: int) -> None:
        self.max_cache_len = check_size("StaticKVCache", "max_cache_len", max_cache_len)
        self.num_layers = check_size("StaticKVCache", "num_layers", num_layers)
        self._buffers: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._lengths = [0] * num_layers

    def get(self, layer_idx: int) -> tuple[Tensor, Tensor] | None:
        length = self.get_seq_length(layer_idx)
        if layer_idx not in self._buffers:
            return None
        keys, values = self._buffers[layer_idx]
        return made(keys[:, :, :length], False), made(values[:, :, :length], False)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        if check_size("StaticKVCache", "layer_idx", layer_idx, least=0) >= self.num_layers:
            raise ValueError(
                located(
                    f"StaticKVCache: layer_idx {layer_idx} given, there is room for num_layers="
                    f"{self.num_layers}"
                )
            )
        return self._lengths[layer_idx]

    def get_max_cache_shape(self) -> int | None:
        return self.max_cache_len

    def cached_layers(self) -> list[int]:
        return sorted(self._buffers)

    def reset(self) -> None:
        self._buffers.clear()
        self._lengths = [0] * self.num_layers

    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        end = start + key.shape[2]
        if end > self.max_cache_len:
            raise ValueError(
                located(
                    f"StaticKVCache: {end} positions do not fit into max_cache_len="
                    f"{self.max_cache_len}"
                )
            )
        if key.requires_grad or value.requires_grad:
            raise RuntimeError(
                located(
                    "StaticKVCache: what is written in place has no gradient; decode under "
                    "minigrad.no_grad(), or use a DynamicKVCache"
                )
            )
        buffers = self._buffers.get(layer_idx)
        if buffers is None or len(buffers[0]) != len(key):
            buffers = (self._room_for(key), self._room_for(value))
            self._buffers[layer_idx] = buffers
        for buffer, new in zip(buffers, (key, value), strict=True):
            buffer[:, :, start:end] = new.data
            mark_written(buffer)
        self._lengths[layer_idx] = end

    def _room_for(self, x: Tensor) -> np.ndarray:
        n, heads, _, width = x.shape
        return np.zeros((n, heads, self.max_cache_len, width), x.dtype)

    def __repr__(self) -> str:
        return (
            f"StaticKVCache(max_cache_len={self.max_cache_len}, num_layers={self.num_layers}, "
            f"length={_longest(self)})"
        )


class EncoderDecoderCache(Cache):
    """Both caches of a decoder: one for the target so far, one for the memory.

    The memory is projected at the first step of each layer. Later steps use what is cached,
    whatever memory they are given.

    Args:
        self_attention_cache: A cache for the target, by default one that grows.
        cross_attention_cache: A cache for the memory, by default one that grows.

    Attributes:
        is_updated: For each layer, whether its keys of the memory are cached.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> layer = nn.TransformerDecoderLayer(16, 2, 32).eval()
        >>> tgt, memory = minigrad.randn(1, 4, 16), minigrad.randn(1, 6, 16)
        >>> cache = nn.EncoderDecoderCache()
        >>> steps = [
        ...     layer(tgt[:, i : i + 1], memory, tgt_is_causal=True, kv_cache=cache, use_cache=True)
        ...     for i in range(4)
        ... ]
        >>> cache.get_seq_length(), cache.get_seq_length(is_cross_attention=True)
        (4, 6)
    """

    def __init__(
        self,
        self_attention_cache: KVCache | None = None,
        cross_attention_cache: KVCache | None = None,
    ) -> None:
        self.self_attention_cache = self_attention_cache or DynamicKVCache()
        self.cross_attention_cache = cross_attention_cache or DynamicKVCache()

    @property
    def is_updated(self) -> dict[int, bool]:
        """For each layer that has keys of the memory cached: True."""
        return dict.fromkeys(self.cross_attention_cache.cached_layers(), True)

    def _chosen(self, is_cross_attention: bool) -> KVCache:
        return self.cross_attention_cache if is_cross_attention else self.self_attention_cache

    def update(
        self,
        key: Tensor,
        value: Tensor,
        layer_idx: int,
        cache_position: Any = None,
        is_cross_attention: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Put new keys and values into one of the two: see `KVCache.update`."""
        cache = self._chosen(is_cross_attention)
        return cache.update(key, value, layer_idx, cache_position)

    def get(self, layer_idx: int, is_cross_attention: bool = False) -> tuple[Tensor, Tensor] | None:
        """The cached keys and values of a layer, or None."""
        return self._chosen(is_cross_attention).get(layer_idx)

    def get_seq_length(self, layer_idx: int = 0, is_cross_attention: bool = False) -> int:
        return self._chosen(is_cross_attention).get_seq_length(layer_idx)

    def get_max_cache_shape(self) -> int | None:
        return self.self_attention_cache.get_max_cache_shape()

    def crop(self, max_length: int) -> None:
        """Forget every position of the target from `max_length` on; the memory stays."""
        self.self_attention_cache.crop(max_length)

    def reset(self) -> None:
        for cache in (self.self_attention_cache, self.cross_attention_cache):
            cache.reset()

    def batch_select_indices(self, indices: Any) -> None:
        for cache in (self.self_attention_cache, self.cross_attention_cache):
            cache.batch_select_indices(indices)

    def batch_repeat_interleave(self, repeats: int) -> None:
        for cache in (self.self_attention_cache, self.cross_attention_cache):
            cache.batch_repeat_interleave(repeats)

    def __repr__(self) -> str:
        return f"EncoderDecoderCache({self.self_attention_cache!r}, {self.cross_attention_cache!r})"


def _longest(cache: KVCache) -> int:
    return max((cache.get_seq_length(i) for i in cache.cached_layers()), default=0)
