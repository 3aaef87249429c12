"""What caches have in common: what attention has projected once, it need not project again.

Step by step, each new position attends to all before it. Their keys and values do not change, so a
cache keeps them, and a step costs one position instead of the whole sequence.

A position is counted from the beginning of what is cached. New keys go behind the cached ones, or,
with `cache_position`, to the positions it names; what was cached from the first of them on is gone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from minigrad import ops
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn.module.checks import check_size


class Cache(ABC):
    """What all caches can do.

    Example:
        >>> from minigrad import nn
        >>> issubclass(nn.DynamicKVCache, nn.Cache), issubclass(nn.EncoderDecoderCache, nn.Cache)
        (True, True)
    """

    @abstractmethod
    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many positions are cached for a layer: where the next one goes."""

    @abstractmethod
    def get_max_cache_shape(self) -> int | None:
        """How many positions there is room for; None without a limit."""

    @abstractmethod
    def crop(self, max_length: int) -> None:
        """Forget every position from `max_length` on."""

    @abstractmethod
    def reset(self) -> None:
        """Forget everything."""

    @abstractmethod
    def batch_select_indices(self, indices: Any) -> None:
        """Keep these sequences of the batch, in this order, as a beam search does."""

    @abstractmethod
    def batch_repeat_interleave(self, repeats: int) -> None:
        """Have each sequence of the batch `repeats` times, side by side."""


class KVCache(Cache):
    """A cache of keys and values, layer by layer: `DynamicKVCache` or `StaticKVCache`.

    Example:
        >>> from minigrad import nn
        >>> isinstance(nn.StaticKVCache(max_cache_len=8, num_layers=1), nn.KVCache)
        True
    """

    @abstractmethod
    def get(self, layer_idx: int) -> tuple[Tensor, Tensor] | None:
        """The cached keys and values of a layer, each of shape (N, H, length, d), or None."""

    @abstractmethod
    def cached_layers(self) -> list[int]:
        """The numbers of the layers that have anything cached."""

    @abstractmethod
    def _write(self, layer_idx: int, key: Tensor, value: Tensor, start: int) -> None:
        """Put keys and values at `start`, and let the layer end behind them."""

    def update(
        self, key: Tensor, value: Tensor, layer_idx: int, cache_position: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Put new keys and values behind the cached ones.

        Args:
            key: A tensor of shape (N, H, L, d).
            value: A tensor of shape (N, H, L, d_v).
            layer_idx: The number of the layer, from 0.
            cache_position: The positions of the new keys, consecutive ints of shape (L,); by
                default those behind the cached ones. Earlier ones replace what is cached from
                there on.

        Returns:
            All keys and values of the layer, of shapes (N, H, length, d) and (N, H, length, d_v).

        Raises:
            ValueError: Shapes or positions do not fit.
        """
        start = self.first_position(key.shape[-2], layer_idx, cache_position)
        self._check(key, value, layer_idx)
        self._write(layer_idx, key, value, start)
        both = self.get(layer_idx)
        return (key, value) if both is None else both

    def joined(
        self, key: Tensor, value: Tensor, layer_idx: int, cache_position: Any = None
    ) -> tuple[Tensor, Tensor]:
        """What `update` would return, without keeping the new keys and values.

        Args:
            key: A tensor of shape (N, H, L, d).
            value: A tensor of shape (N, H, L, d_v).
            layer_idx: The number of the layer, from 0.
            cache_position: As in `update`.

        Returns:
            Cached and new keys and values together.

        Raises:
            ValueError: Shapes or positions do not fit.
        """
        start = self.first_position(key.shape[-2], layer_idx, cache_position)
        self._check(key, value, layer_idx)
        past = self.get(layer_idx)
        return (key, value) if past is None else behind(past, key, value, start)

    def first_position(self, count: int, layer_idx: int, cache_position: Any = None) -> int:
        """The position of the first of some new keys.

        Args:
            count: L, how many new keys there are.
            layer_idx: The number of the layer, from 0.
            cache_position: As in `update`.

        Raises:
            ValueError: The positions are not consecutive, or would leave a gap.
        """
        length = self.get_seq_length(layer_idx)
        if cache_position is None:
            return length
        positions = np.asarray(cache_position)
        if positions.dtype.kind in "iu" and positions.shape == (count,):
            start = int(positions[0]) if count else length
            if 0 <= start <= length and (np.diff(positions) == 1).all():
                return start
        raise ValueError(
            located(
                f"{type(self).__name__}: cache_position must hold {count} consecutive ints, the "
                f"first from 0 to {length}, the number of positions cached; got "
                f"{positions.tolist()}"
            )
        )

    def crop(self, max_length: int) -> None:
        check_size(f"{type(self).__name__}.crop", "max_length", max_length, least=0)
        self._map(lambda x: x[:, :, :max_length])

    def batch_select_indices(self, indices: Any) -> None:
        chosen, owner = np.asarray(indices), type(self).__name__
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"{owner}.batch_select_indices: ints of shape (n,) expected, "
                f"got {chosen.dtype} {chosen.shape}"
            )
        self._map(lambda x: x[chosen])

    def batch_repeat_interleave(self, repeats: int) -> None:
        check_size(f"{type(self).__name__}.batch_repeat_interleave", "repeats", repeats)
        self._map(lambda x: x[np.repeat(np.arange(len(x)), repeats)])

    def _map(self, change: Any) -> None:
        for layer_idx in self.cached_layers():
            both = self.get(layer_idx)
            if both is not None:
                self._write(layer_idx, change(both[0]), change(both[1]), 0)

    def _check(self, key: Tensor, value: Tensor, layer_idx: int) -> None:
        """Refuse new keys and values that fit neither each other nor what is cached."""
        shapes = f"key {key.shape} and value {value.shape}"
        owner = type(self).__name__
        if key.ndim != 4 or value.ndim != 4 or key.shape[:3] != value.shape[:3]:
            raise ValueError(
                located(f"{owner}: {shapes}: (N, H, L, d) and (N, H, L, d_v) expected")
            )
        past = self.get(layer_idx)
        for new, old in zip((key, value), past or (), strict=False):
            if new.shape[:2] + new.shape[3:] != old.shape[:2] + old.shape[3:]:
                raise ValueError(
                    located(
                        f"{owner}: {shapes} do not go with {old.shape} that layer {layer_idx} has "
                        f"cached: batch, heads and width must be equal; reset() starts anew"
                    )
                )


def behind(
    past: tuple[Tensor, Tensor], key: Tensor, value: Tensor, start: int
) -> tuple[Tensor, Tensor]:
    """The cached keys and values up to `start`, and the new ones behind them."""
    if not key.shape[2] and start == past[0].shape[2]:
        return past
    keys, values = (x[:, :, :start] for x in past)
    return ops.concatenate([keys, key], axis=2), ops.concatenate([values, value], axis=2)
