# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
import contextlib

import minigrad.debugging.grad_fn
from minigrad.debugging.saved_tensors import saved_tensors_hooks as saved_tensors_hooks

Node = minigrad.debugging.grad_fn.GradFn

def save_on_cpu(pin_memory: bool = False) -> contextlib.nullcontext: ...
