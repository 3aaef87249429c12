"""The engine: recording ops, and carrying gradients back through the record.

The README of this folder says in which order to read it.
"""

import importlib as _importlib
import typing as _typing

from minigrad.autograd.api import backward, grad
from minigrad.autograd.dtypes import get_default_dtype, set_default_dtype
from minigrad.autograd.engine import Update
from minigrad.autograd.events import Observer
from minigrad.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from minigrad.autograd.hooks import Removable
from minigrad.autograd.node import Leaf, Node, Output
from minigrad.autograd.primitives import Primitive, primitive

# Names that are built on the engine are in other folders. Users find them here all the same.
_LATER = {
    "Function": "transforms.custom_function",
    "GradFn": "debugging.grad_fn",
    "GradientError": "checking",
    "GraphMemory": "debugging",
    "NotDifferentiableError": "checking",
    "OpMemory": "debugging",
    "Variable": "tensors.kinds",
    "checkpoint": "transforms.checkpointing",
    "checkpoint_sequential": "transforms.checkpointing",
    "detect_anomaly": "debugging",
    "gradcheck": "checking",
    "gradgradcheck": "checking",
    "graph_memory": "debugging",
    "once_differentiable": "transforms.custom_function",
    "saved_tensors_hooks": "debugging.saved_tensors",
    "set_detect_anomaly": "debugging.anomaly",
    "why_no_grad": "debugging",
}

if _typing.TYPE_CHECKING:
    from minigrad.autograd import functional, graph
    from minigrad.checking import GradientError, NotDifferentiableError, gradcheck, gradgradcheck
    from minigrad.debugging import GraphMemory, OpMemory, detect_anomaly, graph_memory, why_no_grad
    from minigrad.debugging.anomaly import set_detect_anomaly
    from minigrad.debugging.grad_fn import GradFn
    from minigrad.debugging.saved_tensors import saved_tensors_hooks
    from minigrad.tensors.kinds import Variable
    from minigrad.transforms.checkpointing import checkpoint, checkpoint_sequential
    from minigrad.transforms.custom_function import Function, once_differentiable
else:

    def __getattr__(name: str) -> _typing.Any:
        if name in ("functional", "graph"):
            return _importlib.import_module(f"minigrad.autograd.{name}")
        if name in _LATER:
            return getattr(_importlib.import_module(f"minigrad.{_LATER[name]}"), name)
        raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")


__all__ = [
    "Function", "GradFn", "GradientError", "GraphMemory", "Leaf", "Node", "NotDifferentiableError",
    "Observer", "OpMemory", "Output", "Primitive", "Removable", "Update", "Variable", "backward",
    "checkpoint", "checkpoint_sequential", "detect_anomaly", "enable_grad", "functional",
    "get_default_dtype", "grad", "gradcheck", "gradgradcheck", "graph", "graph_memory",
    "inference_mode", "is_grad_enabled", "no_grad", "once_differentiable", "primitive",
    "saved_tensors_hooks", "set_default_dtype", "set_detect_anomaly", "set_grad_enabled",
    "why_no_grad",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
