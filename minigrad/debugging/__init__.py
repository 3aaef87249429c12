"""Debugging: where a NaN came from, why a gradient is missing, what a step costs.

- `anomaly`: `detect_anomaly` stops at the first op that makes a NaN or an infinity.
- `missing_gradients`: `why_no_grad` says why a parameter gets no gradient.
- `memory`: `graph_memory` counts the bytes that a graph keeps alive, by op, module and line.
- `profiler`: `Profile` records the time, the operations and the memory of a step.
- `training_statistics`: `Statistics` follows a training: its loss, and each of its layers.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.debugging.anomaly import detect_anomaly as detect_anomaly
    from minigrad.debugging.memory import GraphMemory as GraphMemory
    from minigrad.debugging.memory import OpMemory as OpMemory
    from minigrad.debugging.memory import graph_memory as graph_memory
    from minigrad.debugging.missing_gradients import why_no_grad as why_no_grad
    from minigrad.debugging.profiler import Profile as Profile
    from minigrad.debugging.training_statistics import Statistics as Statistics

__all__ = [
    "GraphMemory", "OpMemory", "Profile", "Statistics", "detect_anomaly", "graph_memory",
    "why_no_grad",
]  # fmt: skip

_MODULES = {
    "GraphMemory": "memory",
    "OpMemory": "memory",
    "Profile": "profiler",
    "Statistics": "training_statistics",
    "detect_anomaly": "anomaly",
    "graph_memory": "memory",
    "why_no_grad": "missing_gradients",
}
"""Where each is: they are imported on first use, since most programs use none."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'minigrad.debugging' has no attribute {name!r}")
    return getattr(importlib.import_module(f"minigrad.debugging.{_MODULES[name]}"), name)
