"""Parameter, a trainable tensor of a module, and Buffer, one that is not trained."""

from __future__ import annotations

from typing import Any

from minigrad.tensors.tensor import Tensor

__all__ = ["Buffer", "Parameter"]


class Parameter(Tensor):
    """A trainable tensor of a module.

    Assigned to an attribute of a `Module`, it appears in `Module.parameters()`, in the state dict
    and in drawings. It requires a gradient, also when created under `no_grad`. `data` is copied.

    Args:
        data: A number, a nested list, an ndarray or a Tensor, of any shape and a floating dtype.
        dtype: The dtype to store; by default that of `data`, the default dtype for Python numbers.
        device: "cpu".
        requires_grad: False for a parameter that is saved and loaded but not trained.

    Attributes:
        divided_among: The `minigrad.distributed.Communicator` of the ranks each of which holds a
            part of it; None for a whole parameter.

    Example:
        >>> import numpy as np
        >>> from minigrad import nn
        >>> nn.Parameter(np.zeros((2, 3))).requires_grad
        True
    """

    divided_among: Any = None

    def __init__(
        self, data: Any, dtype: Any = None, device: str = "cpu", *, requires_grad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(data, requires_grad=requires_grad, dtype=dtype, device=device)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def _shown_as(self) -> str:
        return "tensor"


class Buffer(Tensor):
    """A tensor of a module that is not trained, but converted by `Module.to` and saved.

    Assigned to an attribute of a `Module`, it is registered: see `Module.register_buffer`. `data`
    is copied; a buffer that is not `persistent` is not in the state dict.

    Example:
        >>> from minigrad import nn
        >>> module = nn.Module()
        >>> module.steps = nn.Buffer([0, 1])
        >>> list(module.state_dict())
        ['steps']
    """

    persistent = True

    def __init__(
        self, data: Any, dtype: Any = None, device: str = "cpu", *, persistent: bool = True
    ) -> None:
        super().__init__(data, dtype=dtype, device=device)
        self.persistent = persistent

    def _shown_as(self) -> str:
        return "tensor"
