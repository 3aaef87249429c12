"""The engine: recording ops, and carrying gradients back through what was recorded.

Read in this order: `primitive` (what an op is), `plan` (what it saves), `node` (what is recorded),
`graph` (how the backward pass runs), `mutation` (what in-place writes may do).
"""

from minigrad.autograd import functional
from minigrad.autograd.dtypes import get_default_dtype, set_default_dtype
from minigrad.autograd.finite_differences import GradientError, gradcheck, gradgradcheck
from minigrad.autograd.graph import Update, backward, grad
from minigrad.autograd.hooks import Removable
from minigrad.autograd.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minigrad.autograd.node import Leaf, Node, Variable
from minigrad.autograd.primitive import Primitive, primitive

__all__ = [
    "GradientError", "Leaf", "Node", "Primitive", "Removable", "Update", "Variable", "backward",
    "enable_grad", "functional", "get_default_dtype", "grad", "gradcheck", "gradgradcheck",
    "is_grad_enabled", "no_grad", "primitive", "set_default_dtype", "set_grad_enabled",
]  # fmt: skip
