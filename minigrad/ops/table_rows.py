"""Embedding: rows of a table, by index; and a gradient of few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import formula
from minigrad.ops.indexing import IndexUpdate

__all__ = ["RowUpdate", "embedding"]


class RowUpdate(IndexUpdate):
    """The same for rows of a large table, of which `index` has the numbers, in one axis."""

    sparse = True
    tensor_class: Any
    """The tensor of such rows, `SparseRows`, which is defined with tensors."""

    def joined(self, other: RowUpdate) -> RowUpdate:
        value = np.concatenate([self.value, other.value])
        return RowUpdate(value, np.concatenate([self.index, other.index]), self.shape)

    def as_tensor(self, known: Any = None) -> Any:
        if known is not None and not isinstance(known, self.tensor_class):
            sums = known._data.copy()
            self.add_to(sums)
            return wrap(sums)
        if known is not None:
            return self.joined(RowUpdate(known.values, known.indices, self.shape)).as_tensor()
        indices, places = np.unique(self.index, return_inverse=True)
        values = np.zeros((len(indices), *self.shape[1:]), self.value.dtype)
        IndexUpdate(self.value, places, values.shape).add_to(values)
        return self.tensor_class._of(indices, values, self.shape)


@primitive
def embedding(ids: Any, weight: Any, padding_idx: int | None = None, sparse: bool = False) -> Any:
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
    g: Any, ids: Any, weight_shape: tuple[int, ...], padding_idx: int | None, sparse: bool
) -> IndexUpdate:
    if sparse:
        kept = ids != (-1 if padding_idx is None else padding_idx % weight_shape[0])
        return RowUpdate(g[kept], ids[kept], weight_shape)
    if padding_idx is not None:
        g = np.where((ids == padding_idx % weight_shape[0])[..., None], 0, g)
    return IndexUpdate(g, ids, weight_shape)


embedding.defvjp(weight=_embedding_weight)
