"""Function transforms, and checkpointing. `minigrad.func` and `minigrad.autograd` have the names.

- `derivatives`: `grad`, `vjp`, `jvp`, `hessian` and others make a function of a function.
- `at_inputs`: `jacobian`, `vhp` and others compute derivatives at once, as PyTorch's functions.
- `evaluation`: calls the function for them, with variables of its own.
- `vectorization`: `vmap` runs a function of one sample for many; `sample_trace` traces the one, and
  `batching` has rules for the ops.
- `checkpointing`: `checkpoint` saves memory by running a function again.
- `custom_function`: `Function`, an op with a derivative of its own, written as in PyTorch.
- `structure`: tensors in tuples, lists and dicts.
"""
