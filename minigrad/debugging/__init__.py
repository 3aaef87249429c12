"""Debugging: where a NaN came from, why a gradient is missing, what a graph keeps alive.

- `anomaly`: `detect_anomaly` stops at the first op that makes a NaN or an infinity.
- `missing_gradients`: `why_no_grad` says why a parameter gets no gradient.
- `memory`: `graph_memory` counts the bytes that a graph keeps alive, by op.
"""

from minigrad.debugging.anomaly import detect_anomaly
from minigrad.debugging.memory import GraphMemory, OpMemory, graph_memory
from minigrad.debugging.missing_gradients import why_no_grad

__all__ = ["GraphMemory", "OpMemory", "detect_anomaly", "graph_memory", "why_no_grad"]
