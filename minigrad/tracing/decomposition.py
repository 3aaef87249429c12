"""Running the decomposition of a fused op beside the op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.events import Observer
from minigrad.autograd.mode import changed
from minigrad.autograd.primitives import Primitive
from minigrad.support.tree import mapped


def decomposed(
    op: Primitive, values: Sequence[Any], observer: Observer, recording: bool = False
) -> Any:
    """Run the decomposition of a fused op while only one observer is told of it.

    Args:
        op: The op.
        values: Its arguments in the order of ``op.params``. Arrays are passed as tensors.
        observer: Who is told.
        recording: Whether the ops of the decomposition build a graph.

    Returns:
        What the decomposition returns.
    """
    assert op.decomposition is not None
    with changed(recording=recording, observers=(observer,)):
        return op.call_with(op.decomposition, mapped(wrap, [*values], np.ndarray))
