"""`torch.autograd`: gradients on request, custom functions, and switches."""

from __future__ import annotations

from typing import Any

import minigrad.autograd as ours
from minigrad.autograd import *
from minigrad.autograd.call import with_history
from minigrad.autograd.mutation import history
from minigrad.torch.autograd import functional as functional
from minigrad.torch.autograd import graph as graph
from minigrad.torch.build import adopting
from minigrad.torch.func import seen
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import Tensor, adopt

__getattr__ = _missing(__name__)

grad = adopting(ours.grad)
Variable = ours.Variable


def gradcheck(func: Any, inputs: Any, **options: Any) -> bool:
    """Compare the gradient of a function with central differences."""
    return ours.gradcheck(seen(func), inputs, **options)


def gradgradcheck(func: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """Compare the second derivatives of a function with differences of its gradient."""
    return ours.gradgradcheck(seen(func), inputs, grad_outputs, **options)


class Function(ours.Function):
    """An op with a forward and a backward of one's own, as PyTorch's."""

    @staticmethod
    def _shown(tensor: Any) -> Any:
        if tensor is None or isinstance(tensor, Tensor):
            return tensor
        return adopt(with_history(tensor._data, history(tensor)))

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the forward, and record it."""
        return adopt(super().apply(*args))
