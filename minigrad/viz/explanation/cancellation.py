"""By how much rounding may have changed a gradient: all of it, where its terms cancel.

A rule is linear in its cotangent, and rounding leaves a small error of random sign in each element.
So the rule runs once more, on a cotangent of such errors: what comes out is the error of what the
rule sends. A gradient that is no larger than its error is zero as far as its dtype can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Node

__all__ = ["errors_sent", "precision"]


def errors_sent(
    node: Node, cotangents: Sequence[np.ndarray], error: float, wanted: Sequence[bool]
) -> Sequence[Any]:
    """Run the rules of a node on what rounding does to their cotangent.

    Args:
        node: The node, with what it saved.
        cotangents: What came, an array for each output.
        error: The norm of the error that came with it.
        wanted: For which of the edges.

    Returns:
        What the rules return, one for each edge, in units of the precision of the cotangent: small
        errors are no numbers of a small dtype.
    """
    signs = np.random.default_rng(0)
    size = sum(g.size for g in cotangents)
    typical = error / precision(cotangents[0]) / np.sqrt(max(size, 1))
    with np.errstate(all="ignore"):
        noise = tuple(
            (np.hypot(g, typical) * signs.choice((-1.0, 1.0), g.shape)).astype(g.dtype)
            for g in cotangents
        )
        token = state.set(State(False, None, ()))
        try:
            plan = node.plan if all(wanted) else node.plan.narrow(tuple(wanted))
            return plan.pull(noise if node.plan.op.multiple_outputs else noise[0], *node.saved)
        finally:
            state.reset(token)


def precision(array: np.ndarray) -> float:
    """How far 1 is from the next number of the dtype of an array."""
    return float(np.finfo(array.dtype).eps)
