"""Attention weights as data: for each head, how much each query takes of each key, in 8 bits."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Self

import numpy as np

LEVELS = 254
"""The byte of the highest value; the next byte means a number that is not finite."""


def to_levels(array: np.ndarray, low: float, high: float) -> np.ndarray:
    """Round numbers between `low` and `high` to bytes; byte 255 means not finite."""
    finite = np.isfinite(array)
    steps = (np.where(finite, array, low).astype(np.float64) - low) / ((high - low) or 1.0) * LEVELS
    return np.where(finite, np.rint(steps), LEVELS + 1).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Cells:
    """Numbers in 8 bits each.

    Attributes:
        low: The least of them, which is byte 0.
        high: The greatest, which is byte 254; byte 255 means not finite.
        data: The bytes in base64, row by row.

    Example:
        >>> import numpy as np
        >>> from minigrad.viz.record.heatmap import Cells
        >>> cells = Cells.of(np.array([0.0, 0.5, 1.0, np.nan]))
        >>> cells.data, cells.array((4,)).tolist()
        ('AH/+/w==', [0.0, 0.5, 1.0, nan])
    """

    low: float
    high: float
    data: str

    @classmethod
    def of(cls, array: np.ndarray) -> Self:
        """Round an array of any shape to 8 bits."""
        finite = array[np.isfinite(array)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        return cls(low, high, b64encode(to_levels(array, low, high).tobytes()).decode("ascii"))

    def levels(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the bytes as an array of a shape."""
        return np.frombuffer(b64decode(self.data), np.uint8).reshape(shape)

    def array(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the numbers as a float64 array of a shape, NaN where a number is not finite."""
        levels = self.levels(shape)
        values = self.low + levels * ((self.high - self.low) / LEVELS)
        return np.where(levels > LEVELS, np.nan, values)


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The weights of one attention, for the first element of its batch.

    Attributes:
        node: The id of the softmax that made them.
        name: The path of the module that it ran in.
        shape: How many heads, queries and keys there are here, at most 16 and `heatmap` each.
        whole: How many there were in all.
        weights: The weights (heads, queries, keys); rows sum to 1.
        mask: Which of the cells were masked, a bit each, in base64; empty if none was.
        gradients: The gradient of the loss with respect to the weights; None without a traced
            backward pass.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> attention = nn.MultiHeadAttention(8, 2)
        >>> x = randn(1, 3, 8)
        >>> with viz.trace(open=["attention"]) as traced:
        ...     attention(x, x, x, is_causal=True).sum().backward()
        >>> [heatmap] = traced.graph().heatmaps
        >>> heatmap.shape, heatmap.masked()[0].tolist()[0]
        ((2, 3, 3), [False, True, True])
    """

    node: str
    name: str
    shape: tuple[int, int, int]
    whole: tuple[int, int, int]
    weights: Cells
    mask: str = ""
    gradients: Cells | None = None

    def values(self) -> np.ndarray:
        """Return the weights, (heads, queries, keys), exact to 1/254 of their range."""
        return self.weights.array(self.shape)

    def gradient_values(self) -> np.ndarray:
        """Return the gradients of the weights, exact to 1/254 of their range.

        Returns:
            An array (heads, queries, keys).

        Raises:
            RuntimeError: No backward pass was traced.
        """
        if self.gradients is None:
            raise RuntimeError(
                "heatmap: there are no gradients; call loss.backward() within the block of "
                "viz.trace()"
            )
        return self.gradients.array(self.shape)

    def masked(self) -> np.ndarray:
        """Tell which cells were masked, bools (heads, queries, keys)."""
        if self.mask == "":
            return np.zeros(self.shape, dtype=bool)
        bits = np.frombuffer(b64decode(self.mask), np.uint8)
        size = int(np.prod(self.shape))
        return np.unpackbits(bits, count=size).astype(bool).reshape(self.shape)

    def to_svg(self, *, gradients: bool = False) -> str:
        """Draw a grid for each head: a query a row, a key a column.

        The darker a cell, the more of the key goes into the query; masked cells are hatched. Up to
        12 keys the numbers are in the cells. Gradients are blue below zero and amber above.

        Args:
            gradients: Draw the gradients of the weights in their place.

        Returns:
            The text of one ``<svg>`` element.

        Raises:
            RuntimeError: Gradients are asked for, and no backward pass was traced.
        """
        from minigrad.viz.drawing.heatmap import draw_heatmap

        return draw_heatmap(self, gradients)

    def _repr_svg_(self) -> str:
        return self.to_svg()
