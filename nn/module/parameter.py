"""Parameter: a tensor that a model learns."""

from __future__ import annotations

from typing import Any

from minigrad._tensor import Tensor

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A tensor that belongs to a module and is learned.

    Assigned to an attribute of a `Module`, it appears in `Module.parameters()`, in the state dict
    and, by its name, in drawings. It requires a gradient wherever it is created, under `no_grad`
    too. Its values are a copy of `data`.

    Args:
        data: A number, a nested list, an ndarray or a Tensor, of any shape and a floating dtype.
        dtype: The dtype to store; by default that of `data`, the default dtype for Python numbers.
        device: "cpu".
        requires_grad: False for a parameter that is saved and loaded but not trained.

    Example:
        >>> import numpy as np
        >>> from minigrad import nn
        >>> nn.Parameter(np.zeros((2, 3))).requires_grad
        True
    """

    def __init__(
        self,
        data: Any,
        dtype: Any = None,
        device: str = "cpu",
        *,
        requires_grad: bool = True,
    ) -> None:
        super().__init__(data, requires_grad=requires_grad, dtype=dtype, device=device)
