"""Function transforms, and checkpointing.

- `derivatives`: `grad`, `vjp`, `jvp`, `hessian` and others make a function of a function.
- `evaluation`: calls the function for them, with variables of its own.
- `mapped`: `vmap` runs a function of one sample for many; `batching` has the rules of the ops.
- `checkpointing`: `checkpoint` saves memory by running a function again.
- `structure`: tensors in tuples, lists and dicts.
"""

from minigrad.transforms.checkpointing import checkpoint
from minigrad.transforms.derivatives import (
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from minigrad.transforms.mapped import vmap

__all__ = [
    "checkpoint", "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jvp", "linearize",
    "value_and_grad", "vjp", "vmap",
]  # fmt: skip
