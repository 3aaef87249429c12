"""`Size`: the lengths of the axes of a tensor."""

from __future__ import annotations

import math

from minigrad.autograd import dtype_class

__all__ = ["Size"]


class Size(tuple[int, ...]):
    """A shape: a tuple that knows the number of elements.

    Source: PyTorch 2.13, "torch.Size".

    Example:
        >>> import minigrad
        >>> shape = minigrad.ones(2, 3).shape
        >>> shape == (2, 3), shape.numel()
        (True, 6)
        >>> shape
        minigrad.Size([2, 3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"{dtype_class.shown_as}.Size({[*self]})"

    def __format__(self, spec: str) -> str:
        """In an f-string a plain tuple, as messages say shapes; PyTorch's scripts get their own."""
        return format(repr(self if dtype_class.shown_as == "torch" else tuple(self)), spec)
