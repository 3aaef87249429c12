"""Debugging: where a NaN came from, why a gradient is missing, what a step costs.

- `anomaly`: `detect_anomaly` stops at the first op that makes a NaN or an infinity.
- `missing_gradients`: `why_no_grad` says why a parameter gets no gradient.
- `memory`: `graph_memory` counts the bytes that a graph keeps alive, by op, module and line.
- `profiler`: `Profile` records the time, the operations and the memory of a step.
- `training_statistics`: `Statistics` follows a training: its loss, and each of its layers.
"""

from minigrad.debugging.anomaly import detect_anomaly
from minigrad.debugging.memory import GraphMemory, graph_memory
from minigrad.debugging.missing_gradients import why_no_grad
from minigrad.debugging.profiler import Profile
from minigrad.debugging.training_statistics import Statistics

__all__ = [
    "GraphMemory", "Profile", "Statistics", "detect_anomaly", "graph_memory", "why_no_grad",
]  # fmt: skip
