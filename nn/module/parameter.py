"""Parameter, a trainable tensor of a module, and Buffer, one that is not trained."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.dtypes import to_array
from minigrad.autograd.events import tell
from minigrad.autograd.mode import state
from minigrad.support.checks import check_flag, on_cpu
from minigrad.tensors.tensor import Tensor

__all__ = ["Buffer", "Parameter"]


class _Part(Tensor):
    """A tensor that belongs to a module; it shares the memory of a tensor that it is made of."""

    of_module = True

    def _take(self, data: Any, dtype: Any, device: Any) -> None:
        """Take the memory of a tensor, or a copy of other data; without data there is nothing."""
        on_cpu(device)
        if isinstance(data, Tensor) and data._data.flags.writeable and dtype in (None, data.dtype):
            self._data = data._data
        else:
            self._data = to_array(() if data is None else data, dtype, name=type(self).__name__)
        if state.get().observers:
            tell("created", self)

    def _shown_as(self) -> str:
        return "tensor"


class Parameter(_Part):
    """A trainable tensor of a module.

    Assigned to an attribute of a `Module`, it appears in `Module.parameters()`, in the state dict
    and in drawings. It requires a gradient, also when created under `no_grad`.

    Args:
        data: A tensor of any shape and a floating dtype, whose memory it shares; numbers, a nested
            list or an array are copied. Empty if it is left out.
        requires_grad: False for a parameter that is saved and loaded but not trained.
        dtype: The dtype to store; by default that of `data`, the default dtype for Python numbers.
        device: "cpu".

    Attributes:
        divided_among: The `minigrad.distributed.Communicator` of the ranks each of which holds a
            part of it; None for a whole parameter.

    Source: PyTorch 2.13, "torch.nn.parameter.Parameter".

    Example:
        >>> from minigrad import nn, zeros
        >>> nn.Parameter(zeros(2, 3)).requires_grad, nn.Parameter(zeros(2), False).requires_grad
        (True, False)
    """

    divided_among: Any = None

    def __init__(
        self, data: Any = None, requires_grad: bool = True, dtype: Any = None, device: Any = None
    ) -> None:
        check_flag("Parameter", "requires_grad", requires_grad)
        self._take(data, dtype, device)
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(_Part):
    """A tensor of a module that is not trained, but converted by `Module.to` and saved.

    Assigned to an attribute of a `Module`, it is registered: see `Module.register_buffer`. It
    shares the memory of a tensor; one that is not `persistent` is not in the state dict.

    Source: PyTorch 2.13, "torch.nn.parameter.Buffer".

    Example:
        >>> from minigrad import nn
        >>> module = nn.Module()
        >>> module.steps = nn.Buffer([0, 1])
        >>> list(module.state_dict())
        ['steps']
    """

    persistent = True

    def __init__(
        self, data: Any = None, *, persistent: bool = True, dtype: Any = None, device: Any = None
    ) -> None:
        self._take(data, dtype, device)
        self.persistent = persistent
