"""Debugging: where a NaN came from, why a gradient is missing, what a step costs.

- `anomaly`: `detect_anomaly` stops at the first op that makes a NaN or an infinity.
- `missing_gradients`: `why_no_grad` says why a parameter gets no gradient.
- `memory`: `graph_memory` counts the bytes that a graph keeps alive, by op, module and line.
- `profiler`: `Profile` records the time, the operations and the memory of a step.
- `training_statistics`: `Statistics` follows a training: its loss, and each of its layers.
"""

from typing import TYPE_CHECKING, Any

from minigrad.debugging.anomaly import detect_anomaly
from minigrad.debugging.memory import GraphMemory, OpMemory, graph_memory
from minigrad.debugging.missing_gradients import why_no_grad

if TYPE_CHECKING:
    from minigrad.debugging.profiler import Profile as Profile
    from minigrad.debugging.training_statistics import Statistics as Statistics

__all__ = [
    "GraphMemory", "OpMemory", "Profile", "Statistics", "detect_anomaly", "graph_memory",
    "why_no_grad",
]  # fmt: skip

_LATER = {"Profile": "profiler", "Statistics": "training_statistics"}
"""Imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'minigrad.debugging' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"minigrad.debugging.{_LATER[name]}"), name)
