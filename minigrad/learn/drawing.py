"""A drawing of a learner's own answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import viz

__all__ = ["traced"]


def traced(function: Callable[..., Any], **inputs: Any) -> viz.Graph:
    """Run a function on tensors instead of arrays, and draw what it computed.

    Args:
        function: The learner's function; written in NumPy, it takes tensors as well.
        inputs: Its arguments by name. Arrays and floats become tensors; anything else stays.

    Returns:
        The graph.

    Example:
        >>> from minigrad.learn.drawing import traced
        >>> traced(lambda x: x * x, x=3.0)
        Graph(1 op, 1 input, 1 output)
    """
    tensors = {
        name: minigrad.tensor(value, requires_grad=True)
        if isinstance(value, float) or getattr(value, "dtype", None) in (np.float32, np.float64)
        else value
        for name, value in inputs.items()
    }
    with viz.trace() as trace:
        result = function(**tensors)
    results = result if isinstance(result, (tuple, list)) else [result]
    named = {k: v for k, v in tensors.items() if isinstance(v, minigrad.Tensor)}
    return trace.graph(*(one for one in results if isinstance(one, minigrad.Tensor)), **named)
