"""The engine: recording ops, and carrying gradients back through the record.

The README of this folder says in which order to read it.
"""

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
from minigrad.support.lazy_names import lazy_names as _lazy_names

# Names that are built on the engine are in other folders. Users find them here all the same.
_LATER = {
    "checking": "GradientError NotDifferentiableError NotMeasurableError gradcheck gradgradcheck",
    "debugging": "GraphMemory detect_anomaly graph_memory why_no_grad",
    "debugging.anomaly": "set_detect_anomaly",
    "debugging.grad_fn": "GradFn",
    "debugging.saved_tensors": "saved_tensors_hooks",
    "tensors.kinds": "Variable",
    "transforms.checkpointing": "checkpoint checkpoint_sequential",
    "transforms.custom_function": "Function once_differentiable",
}

if _typing.TYPE_CHECKING:
    from minigrad.autograd import functional, graph
    from minigrad.checking import (
        GradientError,
        NotDifferentiableError,
        NotMeasurableError,
        gradcheck,
        gradgradcheck,
    )
    from minigrad.debugging import GraphMemory, detect_anomaly, graph_memory, why_no_grad
    from minigrad.debugging.anomaly import set_detect_anomaly
    from minigrad.debugging.grad_fn import GradFn
    from minigrad.debugging.saved_tensors import saved_tensors_hooks
    from minigrad.tensors.kinds import Variable
    from minigrad.transforms.checkpointing import checkpoint, checkpoint_sequential
    from minigrad.transforms.custom_function import Function, once_differentiable
else:
    _PLACES = {name: module for module, names in _LATER.items() for name in names.split()}
    __getattr__ = _lazy_names("minigrad.autograd", ("functional", "graph"), _PLACES)

__all__ = [
    "Function", "GradFn", "GradientError", "GraphMemory", "Leaf", "Node",
    "NotDifferentiableError", "NotMeasurableError", "Observer", "Output", "Primitive",
    "Removable", "Update", "Variable", "backward", "checkpoint", "checkpoint_sequential",
    "detect_anomaly", "enable_grad", "functional", "get_default_dtype", "grad", "gradcheck",
    "gradgradcheck", "graph", "graph_memory", "inference_mode", "is_grad_enabled", "no_grad",
    "once_differentiable", "primitive", "saved_tensors_hooks", "set_default_dtype",
    "set_detect_anomaly", "set_grad_enabled", "why_no_grad",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
