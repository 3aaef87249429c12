"""Attention weights as data: for each head, how much each query takes of each key."""

from dataclasses import dataclass

import numpy as np

from minigrad.viz.record.steps import Summary


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The weights of one attention, for the first element of its batch.

    Attributes:
        node: The id of the softmax that made them.
        name: The path of the module that it ran in.
        whole: How many heads, queries and keys there were in all.
        weights: The weights (heads, queries, keys), at most 16, 32 and 32; rows sum to 1.
        mask: Which of them were masked.
        gradients: The gradient of the loss with respect to the weights; None without a traced
            backward pass.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> attention = nn.MultiHeadAttention(8, 2)
        >>> x = randn(1, 3, 8)
        >>> with viz.trace(open=["attention"]) as traced:
        ...     attention(x, x, x, is_causal=True).sum().backward()
        >>> [heatmap] = traced.graph().heatmaps
        >>> heatmap.values().shape, heatmap.masked()[0].tolist()[0]
        ((2, 3, 3), [False, True, True])
    """

    node: str
    name: str
    whole: tuple[int, int, int]
    weights: Summary
    mask: Summary
    gradients: Summary | None = None

    def values(self) -> np.ndarray:
        """Return the weights, an array (heads, queries, keys)."""
        return self.weights.array()

    def gradient_values(self) -> np.ndarray:
        """Return the gradients of the weights.

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
        return self.gradients.array()

    def masked(self) -> np.ndarray:
        """Tell which cells were masked, bools (heads, queries, keys)."""
        return self.mask.array()

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
