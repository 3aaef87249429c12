"""`Variable`: the name that a tensor had in PyTorch's first versions."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import node
from minigrad.autograd.engine import detach

__all__ = ["Variable"]


class _OfTensors(type):
    """The class of `Variable`: every tensor is an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, node.Variable)


class Variable(metaclass=_OfTensors):
    """A tensor of the same data, without history; every tensor is an instance.

    Args:
        data: A tensor.
        requires_grad: Whether the new one requires a gradient.

    Raises:
        TypeError: `data` is not a tensor.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Variable
        >>> x = Variable(minigrad.ones(2), requires_grad=True)
        >>> x.requires_grad, isinstance(x, Variable)
        (True, True)
    """

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        """Make the tensor."""
        if not isinstance(data, node.Variable):
            raise TypeError(f"Variable: a tensor expected, got {type(data).__name__}")
        tensor: Any = detach(data)
        tensor.requires_grad = requires_grad
        return tensor
