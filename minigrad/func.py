"""Function transforms, under the names of ``torch.func``, with `value_and_grad` and `hvp` of JAX.

A transform takes a function and gives its derivatives, or the function for many samples at once. A
module becomes a function of its parameters with `functional_call`.
"""

from minigrad.nn.layers.normalization import replace_all_batch_norm_modules_
from minigrad.nn.module.stateless import functional_call, stack_module_state
from minigrad.transforms.derivatives import (
    grad,
    grad_and_value,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from minigrad.transforms.vectorization import functionalize, vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "hvp", "jacfwd",
    "jacrev", "jvp", "linearize", "replace_all_batch_norm_modules_", "stack_module_state",
    "value_and_grad", "vjp", "vmap",
]  # fmt: skip
