"""Write a product of matrices and its rules with indices.

In ``out[n, o] = Σᵢ x[n, i] · weight[o, i]`` each element of the weight is used once for every n. So
its gradient is a sum over n: ``Σₙ ḡ[n, o] · x[n, i]``. A product of matrices sums over the last
axis of its left factor and the first of its right one, so the rule has a transpose.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

Shape = tuple[int, ...]

STACK = "qrst"
"""The indices of the leading axes of a stack of matrices; a stack of one axis takes the last."""


class Term(NamedTuple):
    """A factor with its indices: ``g`` and ``"no"`` for ``ḡ[n, o]``."""

    name: str
    indices: str


class Share(NamedTuple):
    """The gradient of one factor of a product."""

    target: Term
    factors: tuple[Term, Term]  # ``g`` and the other argument
    sums: dict[str, int]  # the indices that are summed over, and their lengths
    # As a product of matrices: the factors in order, and whether each is transposed; may be empty
    matrices: tuple[tuple[Term, bool], ...]

    @property
    def uses(self) -> int:
        """How often the forward pass used each element of the argument."""
        return math.prod(self.sums.values())


def share_of(op: str, argument: str, shapes: Mapping[str, Shape]) -> Share | None:
    """The gradient of an argument when the output gets ``g``; None if it is not a factor.

    The op is written with its indices, such as ``ni,oi->no`` for a linear layer. None for other
    ops, and if an axis of length 1 is broadcast.
    """
    if op == "linear" and {"x", "weight"} <= set(shapes):
        rows = len(shapes["x"]) - 1
        leading = _stack(rows - 1) + "n" * (rows > 0)
        out, factors = leading + "o", (Term("x", leading + "i"), Term("weight", "oi"))
    elif op == "matmul" and {"a", "b"} <= set(shapes):
        a, b = len(shapes["a"]), len(shapes["b"])
        leading = _stack(max(a, b) - 2)
        one = leading[max(len(leading) - a + 2, 0) :] + "nk"[-a:]
        two = leading[max(len(leading) - b + 2, 0) :] + "km"[:b]
        out = leading + "n" * (a > 1) + "m" * (b > 1)
        factors = (Term("a", one), Term("b", two))
    else:
        return None
    lengths: dict[str, int] = {}
    for name, indices in factors:
        if len(indices) != len(shapes[name]):
            return None  # more axes than there are letters
        for index, length in zip(indices, shapes[name], strict=True):
            if lengths.setdefault(index, length) != length:
                return None
    for target, other in (factors, factors[::-1]):
        if target.name == argument:
            g = Term("g", out)
            summed = (i for i in g.indices + other.indices if i not in target.indices)
            sums = {index: lengths[index] for index in summed}
            return Share(target, (g, other), sums, _as_matrices(target, g, other))
    return None


def _stack(count: int) -> str:
    return STACK[-count:] if count > 0 else ""


def _as_matrices(target: Term, g: Term, other: Term) -> tuple[tuple[Term, bool], ...]:
    """Write a share as a product of two matrices; empty if it is not one."""
    if min(len(term.indices) for term in (target, g, other)) < 2:
        return ()
    row, column = target.indices[-2], target.indices[-1]
    own, stack = target.indices[:-2], g.indices[:-2]
    stacked = own == stack and (row in g.indices or stack == other.indices[:-2])
    if not stacked and g.indices[:-1] != other.indices[:-1]:  # nor is the sum over all rows
        return ()
    left, right = (g, other) if row in g.indices else (other, g)
    return (left, left.indices[-1] == row), (right, right.indices[-1] != column)
