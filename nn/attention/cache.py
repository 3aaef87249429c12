"""Key-value caches for decoding token by token.

The keys and values of earlier positions do not change. A cache stores them, so that a step projects
one position instead of the whole sequence. Positions count from the start of the cached sequence.
New keys go after the cached ones, or to `cache_position`, which drops cached ones from there.
Each module has a slot of its own: see `slots`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, cast

import numpy as np

from minigrad import ops
from minigrad.autograd.call import leaf_of
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.autograd.mode import located
from minigrad.autograd.mutation import mark_written
from minigrad.nn.attention.slots import Slots
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["Cache", "DynamicKVCache", "EncoderDecoderCache", "KVCache", "StaticKVCache"]


class Cache(ABC):
    """The base class of all caches.

    Example:
        >>> from minigrad import nn
        >>> issubclass(nn.DynamicKVCache, nn.Cache), issubclass(nn.EncoderDecoderCache, nn.Cache)
        (True, True)
    """

    @abstractmethod
    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return the number of cached positions of a layer."""

    @abstractmethod
    def get_max_cache_shape(self) -> int | None:
        """Return the largest number of positions; None without a limit."""

    @abstractmethod
    def crop(self, max_length: int) -> None:
        """Drop the positions from `max_length` on."""

    @abstractmethod
    def reset(self) -> None:
        """Empty the cache."""

    @abstractmethod
    def batch_select_indices(self, indices: Any) -> None:
        """Keep these sequences of the batch, in this order (for beam search)."""

    @abstractmethod
    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeat each sequence of the batch `repeats` times."""


class KVCache(Cache):
    """The base class of caches of keys and values per layer.

    Example:
        >>> from minigrad import nn
        >>> isinstance(nn.StaticKVCache(max_cache_len=8, num_layers=1), nn.KVCache)
        True
    """

    def __init__(self) -> None:
        self.slots = Slots()
        """Which module owns which slot."""
        self._layers: dict[int, tuple[Any, Any]] = {}

    def get(self, layer_idx: int) -> tuple[Tensor, Tensor] | None:
        """Return the cached keys and values of a layer, (N, H, length, d) each, or None."""
        return self._layers.get(check_size(type(self).__name__, "layer_idx", layer_idx, least=0))

    def get_seq_length(self, layer_idx: int = 0) -> int:
        both = self.get(layer_idx)
        return 0 if both is None else both[0].shape[2]

    def get_max_cache_shape(self) -> int | None:
        return None

    def cached_layers(self) -> list[int]:
        """Return the indices of the layers that have a cache."""
        return sorted(self._layers)

    def reset(self) -> None:
        self._layers.clear()
        self.slots = Slots()

    @abstractmethod
    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        """Write keys and values at `start`; the cached sequence ends after them."""

    def update(
        self, key: Tensor, value: Tensor, layer_idx: int, cache_position: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Append new keys (N, H, L, d) and values (N, H, L, d_v) to those of a layer; return all.

        `cache_position` holds their positions, consecutive ints of shape (L,), by default after the
        cached ones. Earlier positions replace the cached ones from there.
        """
        start = self._checked(key, value, layer_idx, cache_position)
        self._write(layer_idx, key, value, start)
        self.slots.forget_memory(layer_idx)
        return cast("tuple[Tensor, Tensor]", self.get(layer_idx))

    def joined(
        self, key: Tensor, value: Tensor, layer_idx: int, cache_position: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Return what `update` would return, without storing the new keys and values."""
        start = self._checked(key, value, layer_idx, cache_position)
        return appended(self.get(layer_idx), key, value, start)

    def first_position(self, count: int, layer_idx: int, cache_position: Any = None) -> int:
        """Return the position of the first new key."""
        length = self.get_seq_length(layer_idx)
        if cache_position is None:
            return length
        positions = np.asarray(cache_position)
        if positions.dtype.kind in "iu" and positions.shape == (count,):
            start = int(positions[0]) if count else length
            if 0 <= start <= length and (np.diff(positions) == 1).all():
                return start
        wanted = f"cache_position must hold {count} consecutive ints, the first from 0 to {length}"
        raise value_error(f"{type(self).__name__}: {wanted}; got {positions.tolist()}")

    def crop(self, max_length: int) -> None:
        check_size(f"{type(self).__name__}.crop", "max_length", max_length, least=0)
        self._map(lambda x: x[:, :, :max_length])

    def batch_select_indices(self, indices: Any) -> None:
        name = f"{type(self).__name__}.batch_select_indices"
        refuse_shapes(np.ndim(indices) != 1, name, "ints of shape (n,)", indices)
        self._map(lambda x: ops.take(x, indices, 0))

    def batch_repeat_interleave(self, repeats: int) -> None:
        check_size(f"{type(self).__name__}.batch_repeat_interleave", "repeats", repeats)
        self._map(lambda x: x[np.repeat(np.arange(len(x)), repeats)])

    def _map(self, change: Any) -> None:
        for layer_idx in self.cached_layers():
            both = self.get(layer_idx)
            if both is not None:
                self._write(layer_idx, change(both[0]), change(both[1]), 0)
                self.slots.forget_memory(layer_idx)

    def __repr__(self) -> str:
        length = max(map(self.get_seq_length, self.cached_layers()), default=0)
        return f"{type(self).__name__}(layers={len(self._layers)}, length={length})"

    def _checked(self, key: Tensor, value: Tensor, layer_idx: int, cache_position: Any) -> int:
        """The position of the first of new keys and values that fit together and to the cache."""
        owner = type(self).__name__
        start = self.first_position(key.shape[-2], layer_idx, cache_position)
        wrong = key.ndim != 4 or value.ndim != 4 or key.shape[:3] != value.shape[:3]
        wanted = "a key (N, H, L, d) and a value (N, H, L, d_v)"
        refuse_shapes(wrong, owner, wanted, key, value)
        past = self.get(layer_idx)
        wanted = f"batch, heads and width as in layer {layer_idx} of the cache, or a reset(),"
        for new, old in zip((key, value), past or (), strict=False):
            wrong = new.shape[:2] + new.shape[3:] != old.shape[:2] + old.shape[3:]
            refuse_shapes(wrong, owner, wanted, new, old)
        return start


def appended(
    past: tuple[Tensor, Tensor] | None, key: Tensor, value: Tensor, start: int
) -> tuple[Tensor, Tensor]:
    """Concatenate the cached keys and values up to `start` and the new ones."""
    if past is None or not start:
        return key, value
    if not key.shape[2] and start == past[0].shape[2]:
        return past
    keys, values = (x[:, :, :start] for x in past)
    return ops.concatenate([keys, key], axis=2), ops.concatenate([values, value], axis=2)


class DynamicKVCache(KVCache):
    """A cache that grows with the sequence; gradients flow through it.

    Example:
        >>> from minigrad import cat, nn, randn
        >>> layer = nn.TransformerEncoderLayer(16, 2, 32).eval()
        >>> x, cache = randn(1, 5, 16), nn.DynamicKVCache()
        >>> steps = [
        ...     layer(x[:, i : i + 1], is_causal=True, kv_cache=cache, use_cache=True)
        ...     for i in range(5)
        ... ]
        >>> whole = layer(x, is_causal=True)
        >>> bool(abs(cat(steps, dim=1) - whole).max() < 1e-5)
        True
        >>> cache.get_seq_length()
        5
    """

    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        self._layers[layer_idx] = appended(self._layers.get(layer_idx), key, value, start)


class StaticKVCache(KVCache):
    """A cache of fixed size that is written in place, without copying earlier steps.

    It has room for `max_cache_len` positions in each of `num_layers` layers. It is not
    differentiable: decode under `minigrad.no_grad()`.

    Example:
        >>> from minigrad import nn, no_grad, randn
        >>> attention = nn.MultiHeadAttention(16, 2)
        >>> x, cache = randn(1, 3, 16), nn.StaticKVCache(max_cache_len=8, num_layers=1)
        >>> with no_grad():
        ...     output = attention(x, x, x, is_causal=True, kv_cache=cache, use_cache=True)
        >>> cache.get_seq_length(), cache.get_max_cache_shape()
        (3, 8)
    """

    def __init__(self, max_cache_len: int, num_layers: int) -> None:
        super().__init__()
        self.max_cache_len = check_size("StaticKVCache", "max_cache_len", max_cache_len)
        self.num_layers = check_size("StaticKVCache", "num_layers", num_layers)
        self._lengths = [0] * num_layers

    def get(self, layer_idx: int) -> tuple[Tensor, Tensor] | None:
        length = self.get_seq_length(layer_idx)
        if layer_idx not in self._layers:
            return None
        keys, values = self._layers[layer_idx]
        return leaf_of(keys[:, :, :length], False), leaf_of(values[:, :, :length], False)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        if check_size("StaticKVCache", "layer_idx", layer_idx, least=0) >= self.num_layers:
            what = f"no slot for layer_idx {layer_idx}, there are num_layers={self.num_layers}"
            raise value_error(f"StaticKVCache: {what}")
        return self._lengths[layer_idx]

    def get_max_cache_shape(self) -> int | None:
        return self.max_cache_len

    def reset(self) -> None:
        super().reset()
        self._lengths = [0] * self.num_layers

    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        end = start + key.shape[2]
        if end > self.max_cache_len:
            what = f"{end} positions do not fit into max_cache_len={self.max_cache_len}"
            raise value_error(f"StaticKVCache: {what}")
        if key.requires_grad or value.requires_grad:
            remedy = "decode under minigrad.no_grad(), or use a DynamicKVCache"
            raise RuntimeError(located(f"StaticKVCache: its writes have no gradient; {remedy}"))
        buffers = self._layers.get(layer_idx)
        if buffers is None or len(buffers[0]) != len(key):
            buffers = self._layers[layer_idx] = (self._room_for(key), self._room_for(value))
        for buffer, new in zip(buffers, (key, value), strict=True):
            buffer[:, :, start:end] = values_of(new)
            mark_written(buffer)
        self._lengths[layer_idx] = end

    def _room_for(self, x: Tensor) -> np.ndarray:
        n, heads, _, width = x.shape
        return np.zeros((n, heads, self.max_cache_len, width), x.dtype)


class EncoderDecoderCache(Cache):
    """The two caches of a decoder: for self-attention and for cross-attention.

    By default they are a `DynamicKVCache` each. The memory is projected in the first step of each
    layer. Later steps use the cached projection; another memory is then an error. After a change of
    the batch, the memory that is given next counts as the cached one.

    Example:
        >>> from minigrad import nn, randn
        >>> layer = nn.TransformerDecoderLayer(16, 2, 32).eval()
        >>> tgt, memory = randn(1, 4, 16), randn(1, 6, 16)
        >>> cache = nn.EncoderDecoderCache()
        >>> steps = [
        ...     layer(tgt[:, i : i + 1], memory, tgt_is_causal=True, kv_cache=cache, use_cache=True)
        ...     for i in range(4)
        ... ]
        >>> cache.get_seq_length(), cache.get_seq_length(is_cross_attention=True)
        (4, 6)
    """

    def __init__(
        self, self_attention_cache: KVCache | None = None,
        cross_attention_cache: KVCache | None = None,
    ) -> None:  # fmt: skip
        self.self_attention_cache = self_attention_cache or DynamicKVCache()
        self.cross_attention_cache = cross_attention_cache or DynamicKVCache()

    def get_seq_length(self, layer_idx: int = 0, is_cross_attention: bool = False) -> int:
        chosen = self.cross_attention_cache if is_cross_attention else self.self_attention_cache
        return chosen.get_seq_length(layer_idx)

    def get_max_cache_shape(self) -> int | None:
        return self.self_attention_cache.get_max_cache_shape()

    def crop(self, max_length: int) -> None:
        """Drop the target's positions from `max_length` on; the memory stays."""
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
