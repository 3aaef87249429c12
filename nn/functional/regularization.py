"""Regularization: dropout."""

from __future__ import annotations

from minigrad import ops, random
from minigrad._checks import check_probability
from minigrad._inplace import overwritten
from minigrad._spelling import spelled
from minigrad._tensor import Tensor

__all__ = ["dropout"]


@spelled
def dropout(input_: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p, and scale the others by 1 / (1 - p).

    The mask comes from a key drawn from `minigrad.random`.

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting",
    2014.

    Args:
        input_: A tensor of any shape.
        p: The probability, from 0 to 1.
        training: If False, the input is returned unchanged.
        inplace: Whether to overwrite the input with the result.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: p is not a probability.

    Example:
        >>> from minigrad import nn, ones
        >>> sorted(set(nn.functional.dropout(ones(1000), 0.75).tolist()))
        [0.0, 4.0]
    """
    p = check_probability("dropout", "p", p)
    if not training or p == 0.0:
        return input_
    key = random.key()
    return overwritten(input_, ops.dropout, p, key) if inplace else ops.dropout(input_, p, key)
