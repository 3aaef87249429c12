"""Pooling: from the vectors of a text's tokens to one vector for the text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minigrad import ops
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn import Module
from minigrad.nn.functional import MaskLike

POOLINGS = ("cls", "max", "mean")


class Pooling(Module):
    """Combine the vectors of a sequence's tokens into one vector; ignores padding.

    Args:
        modes: The poolings, whose results are concatenated: "cls" is the vector of the first token
            that is not padding, "max" the maximum of each feature, "mean" its mean.

    Example:
        >>> import minigrad, numpy
        >>> from minigrad import pretrained
        >>> hidden = minigrad.tensor([[[1.0, 8.0], [3.0, 4.0], [9.0, 9.0]]])
        >>> padding = numpy.array([[False, False, True]])
        >>> pretrained.Pooling(["cls", "mean"])(hidden, padding).tolist()
        [[1.0, 8.0, 2.0, 6.0]]
    """

    def __init__(self, modes: Sequence[str] = ("mean",)) -> None:
        super().__init__()
        if not modes or any(mode not in POOLINGS for mode in modes):
            raise ValueError(f"Pooling: modes must be some of {POOLINGS}, got {modes!r}")
        self.modes = tuple(modes)

    def forward(self, hidden: Tensor, key_padding_mask: MaskLike = None) -> Tensor:
        """Pool (N, L, D) to (N, D · number of modes); True in the mask (N, L) is padding, ignored.

        Raises:
            ValueError: The mask has another shape, or a sequence is all padding.
        """
        shape = hidden.shape[:2]
        padding = np.zeros(shape, bool) if key_padding_mask is None else key_padding_mask
        real = ~np.asarray(padding, bool)[..., None]  # (N, L, 1)
        if real.shape[:-1] != shape or not real.any(axis=1).all():
            raise ValueError(
                located(
                    f"Pooling: a mask of shape {shape} expected that leaves a token in each "
                    f"sequence, got {real.shape[:-1]}"
                )
            )
        return ops.concatenate([self._pooled(mode, hidden, real) for mode in self.modes], axis=1)

    def _pooled(self, mode: str, hidden: Tensor, real: np.ndarray) -> Tensor:
        if mode == "cls":
            return hidden[np.arange(len(real)), real[..., 0].argmax(axis=1)]
        if mode == "max":
            return ops.max(ops.where(real, hidden, -np.inf), axis=1)
        counts = ops.sum(ops.astype(real, hidden.dtype), axis=1)  # (N, 1)
        return ops.sum(ops.where(real, hidden, 0.0), axis=1) / counts

    def extra_repr(self) -> str:
        return f"modes={self.modes}"
