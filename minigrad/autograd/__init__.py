"""The engine: recording ops, and carrying gradients back through what was recorded.

Read it in this order: `node` (what is recorded), `plan` (what an op saves and runs), `primitive`
(how an op is defined), `call` (how it is called), `engine` (the backward pass), `api` (`backward`
and `grad`), `mode` (the state of a thread), `events` (what observers are told), `mutation`
(in-place writes), `errors`.
"""

from minigrad._dtypes import get_default_dtype, set_default_dtype
from minigrad._grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minigrad._hooks import Removable
from minigrad.autograd.api import backward, grad
from minigrad.autograd.engine import Update
from minigrad.autograd.node import Leaf, Node, Output, Variable
from minigrad.autograd.primitive import Primitive, primitive

# What stands on the engine has rooms of its own; users find it here all the same.
# isort: split
from minigrad.autograd import functional
from minigrad.autograd.events import Observer
from minigrad.checking import GradientError, NotDifferentiableError, gradcheck, gradgradcheck
from minigrad.debugging import GraphMemory, OpMemory, detect_anomaly, graph_memory, why_no_grad
from minigrad.debugging.grad_fn import GradFn
from minigrad.debugging.saved_tensors import saved_tensors_hooks
from minigrad.transforms.checkpointing import checkpoint
from minigrad.transforms.custom_function import Function

__all__ = [
    "Function", "GradFn", "GradientError", "GraphMemory", "Leaf", "Node", "NotDifferentiableError",
    "Observer", "OpMemory", "Output", "Primitive", "Removable", "Update", "Variable", "backward",
    "checkpoint", "detect_anomaly", "enable_grad", "functional", "get_default_dtype", "grad",
    "gradcheck", "gradgradcheck", "graph_memory", "is_grad_enabled", "no_grad", "primitive",
    "saved_tensors_hooks", "set_default_dtype", "set_grad_enabled", "why_no_grad",
]  # fmt: skip
