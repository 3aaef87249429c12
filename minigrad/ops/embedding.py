"""Embedding: rows of a table, by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.primitive import primitive
from minigrad.ops._numerics import formula
from minigrad.ops.indexing import IndexUpdate

__all__ = ["embedding"]


@primitive
def embedding(ids: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """Rows of a table (rows, width) by index, ``weight[ids]``: see `nn.functional.embedding`."""
    if ids.dtype.kind not in "iu":
        raise TypeError(f"the indices must be integers, got {ids.dtype}")
    rows = len(weight)
    if ids.size and (ids.min() < 0 or ids.max() >= rows):
        bad = ids[(ids < 0) | (ids >= rows)].flat[0]
        raise IndexError(f"index {bad} is outside of a table with {rows} rows (0 to {rows - 1})")
    return weight[ids]


@formula("IndexUpdate(where((ids != padding_idx)[..., None], g, 0), ids, weight_shape)")
def _embedding_weight(
    g: Any, ids: Any, weight_shape: tuple[int, ...], padding_idx: int | None
) -> IndexUpdate:
    if padding_idx is not None:
        g = np.where((ids == padding_idx % weight_shape[0])[..., None], 0, g)
    return IndexUpdate(g, ids, weight_shape)


embedding.defvjp(weight=_embedding_weight)
