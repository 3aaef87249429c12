"""`torch.utils.checkpoint`: run a function again in the backward pass."""

from __future__ import annotations

from typing import Any

from minigrad import autograd
from minigrad.torch.tensor import adopt


def checkpoint(
    function: Any, *args: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Keep only the inputs of a call; random numbers are always the same in both runs.

    Running statistics of batch normalizations move in both, as in PyTorch.
    """
    return adopt(autograd.checkpoint(function, *args, **kwargs))
