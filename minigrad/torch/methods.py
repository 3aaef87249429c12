"""Functions of the module that are methods here: those that write over their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.tensors.methods import Methods
from minigrad.tensors.tensor import Tensor

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: value
    for name, value in vars(Methods).items()
    if name.endswith("_") and not name.startswith("__")
}
FUNCTIONS.update({name: getattr(Tensor, name) for name in ("detach", "detach_", "zero_", "ravel")})
FUNCTIONS["broadcast_to"] = lambda input, size: input.broadcast_to(size)
