"""Keep what a rule read when it ran, so that its numbers can be worked out later."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.autograd.events import Call
from minigrad.autograd.node import Node, Variable
from minigrad.debugging.memory import arrays
from minigrad.viz.record.rerun import runs_alone
from minigrad.viz.record.steps import Given

LARGEST = 100_000
"""The most elements, of all arrays together, that are kept of a step."""


def given_to(
    node: Node,
    call: Call | None,
    cotangent: Any,
    sent: Mapping[str, np.ndarray],
) -> Given | None:
    """Copy what a node's rule could read, and what it sent; None if that cannot be used again."""
    op, plan = node.plan.op, node.plan
    values = {"g": cotangent}
    if call is not None:
        values |= {**dict(zip(op.params, call.arguments, strict=True)), "out": call.result}
    values |= dict(zip(plan.saved_names, node.saved, strict=True))
    values |= {f"g_{name}": array for name, array in sent.items()}  # a recurrence reads its own
    values = {name: _copied(value) for name, value in values.items()}
    size = sum(array.size for array in arrays(tuple(values.values())))
    if size > LARGEST or not runs_alone(op) or _writes(values):
        return None  # a custom Function writes to its context when it runs
    for name in op.params:
        value = values.get(name)
        if op.variadic and name == op.params[0] and value is not None:
            values[f"{name}_shape"] = tuple(one.shape for one in value)
        elif isinstance(value, np.ndarray):
            values[f"{name}_shape"] = value.shape
    return Given(values)


def _writes(values: Mapping[str, Any]) -> bool:
    """Whether a function is among the arguments: when it runs again, it may change something."""
    return any(callable(value) and not isinstance(value, type) for value in values.values())


def _copied(value: Any) -> Any:
    """A value with copies of its arrays, floats as float64, and no tensors."""
    if isinstance(value, tuple | list):
        return tuple(map(_copied, value))
    if isinstance(value, Variable):
        value = value._data
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return np.array(value, np.float64 if value.dtype.kind == "f" else None)
