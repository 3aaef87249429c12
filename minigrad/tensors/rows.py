"""`SparseRows`: the gradient of a table of which few rows were read."""

from __future__ import annotations

from typing import Self

import numpy as np

from minigrad.autograd import dtype_class
from minigrad.ops.indexing import RowUpdate
from minigrad.tensors.creation import Size
from minigrad.tensors.tensor import Tensor

__all__ = ["SparseRows", "held"]


class SparseRows(Tensor):
    """A tensor that is zero but for a few rows, which it holds: the gradient of a large table.

    With ``sparse=True``, an embedding makes it. SGD, Adagrad and SparseAdam read it as it is, in
    time and memory for these rows. Whatever else reads its array makes an ordinary tensor of it.

    Attributes:
        indices: The numbers of the rows, each once, ascending: int64, shape (n,).
        values: The rows, of shape (n, ...).

    Example:
        >>> from minigrad import nn
        >>> words = nn.Embedding(50_000, 64, sparse=True)
        >>> words([[7, 3, 7]]).sum().backward()
        >>> words.weight.grad
        SparseRows([3, 7] of 50000, dtype=minigrad.float32)
        >>> words.weight.grad.values.shape
        (2, 64)
        >>> type(words.weight.grad + 0) is type(words.weight.grad)  # now both are ordinary
        True
    """

    indices: np.ndarray
    values: np.ndarray
    _shape: tuple[int, ...]

    @classmethod
    def _of(cls, indices: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> Self:
        rows = cls.__new__(cls)
        rows.indices, rows.values, rows._shape = indices, values, shape
        return rows

    @property
    def _data(self) -> np.ndarray:
        dense = np.zeros(self._shape, self.values.dtype)
        dense[self.indices] = self.values
        self._data = dense
        return dense

    @_data.setter
    def _data(self, array: np.ndarray) -> None:
        self.__dict__.clear()
        self.__class__ = Tensor  # type: ignore[assignment]
        self._data = array

    @property
    def shape(self) -> Size:
        """The shape of the table."""
        return Size(self._shape)

    @property
    def ndim(self) -> int:
        """The number of axes of the table."""
        return len(self._shape)

    @property
    def dtype(self) -> dtype_class.dtype:
        """The dtype of the rows."""
        return dtype_class.DTYPES[self.values.dtype]

    def __repr__(self) -> str:
        shown = np.array2string(self.indices, separator=", ", threshold=8)
        return f"SparseRows({shown} of {self._shape[0]}, dtype={self.dtype})"


def held(gradient: Tensor) -> np.ndarray:
    """The numbers that a gradient holds: those of its rows if it is sparse."""
    return gradient.values if isinstance(gradient, SparseRows) else gradient._data


RowUpdate.tensor_class = SparseRows
