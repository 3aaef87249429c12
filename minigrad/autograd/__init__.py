"""The engine: recording ops, and carrying gradients back through what was recorded.

Read in this order: `node` (what is recorded), `op` and `plan` (what is known of an op, and what it
saves), `calls` (how it is called), `graph` (the backward pass), `mutation` (what in-place writes
may do).
"""

from minigrad.autograd import functional
from minigrad.autograd.anomaly import detect_anomaly
from minigrad.autograd.cuts import why_no_grad
from minigrad.autograd.dtypes import get_default_dtype, set_default_dtype
from minigrad.autograd.gradient_checks import (
    GradientError,
    NotDifferentiableError,
    gradcheck,
    gradgradcheck,
)
from minigrad.autograd.gradients import backward, grad
from minigrad.autograd.graph import Update
from minigrad.autograd.hooks import Removable
from minigrad.autograd.memory import GraphMemory, OpMemory, graph_memory
from minigrad.autograd.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minigrad.autograd.node import Leaf, Node, Variable
from minigrad.autograd.observer import Observer
from minigrad.autograd.op import Primitive
from minigrad.autograd.primitive import primitive
from minigrad.autograd.recomputation import checkpoint

__all__ = [
    "GradientError", "GraphMemory", "Leaf", "Node", "NotDifferentiableError", "Observer",
    "OpMemory", "Primitive", "Removable", "Update", "Variable", "backward", "checkpoint",
    "detect_anomaly", "enable_grad", "functional", "get_default_dtype", "grad", "gradcheck",
    "gradgradcheck", "graph_memory", "is_grad_enabled", "no_grad", "primitive", "set_default_dtype",
    "set_grad_enabled", "why_no_grad",
]  # fmt: skip
