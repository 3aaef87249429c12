"""Reading a graph, and what ops save for the backward pass, as PyTorch's module has them."""

from minigrad.debugging.grad_fn import GradFn as Node
from minigrad.debugging.saved_tensors import save_on_cpu, saved_tensors_hooks

__all__ = ["Node", "save_on_cpu", "saved_tensors_hooks"]
