"""Function transforms, under the names of ``torch.func``, with `value_and_grad` and `hvp` of JAX.

A transform takes a function and gives its derivatives, or the function for many samples at once. A
module becomes a function of its parameters with `functional_call`.
"""

from minigrad.nn.layers.normalization import replace_all_batch_norm_modules_
from minigrad.nn.module.stateless import functional_call, stack_module_state
from minigrad.transforms import derivatives
from minigrad.transforms.derivatives import *  # noqa: F403
from minigrad.transforms.vectorization import functionalize, vmap

__all__ = [
    "functional_call", "functionalize", "replace_all_batch_norm_modules_", "stack_module_state",
    "vmap",
]  # fmt: skip
__all__ += derivatives.__all__
