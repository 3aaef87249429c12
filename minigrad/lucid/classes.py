"""Lucid 3's Tensor: PyTorch's, with the methods whose answers differ."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import torch

__all__ = ["Tensor", "adopt", "adopting"]


def adopt(value: Any) -> Any:
    """Make results Lucid's: a tensor of minigrad's or PyTorch's door, also in tuples and lists."""
    if value.__class__ is minigrad.Tensor or value.__class__ is torch.Tensor:
        value.__class__ = Tensor
    elif isinstance(value, dict):
        adopt(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for part in value:
            adopt(part)
    return value


def adopting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose results are Lucid's tensors whatever it is given."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return adopt(function(*args, **kwargs))

    return call


class Tensor(torch.Tensor, results=True):
    """A tensor with Lucid 3's methods: ``x.max(dim=1)`` gives the values alone, for example.

    Args:
        data: Numbers, nested lists, an array or a tensor.
        dtype: The dtype; that of the data if None.
        device: "cpu".
        requires_grad: Whether gradients are kept for it.

    Source: Lucid 3.8, "lucid.Tensor".

    Example:
        >>> from minigrad import lucid
        >>> x = lucid.Tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> x.max(dim=1), x.argmax()
        (Tensor([3., 4.], dtype=float32), Tensor([1, 0], dtype=int64))
    """

    def __init__(
        self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> None:
        place = "cpu" if device is None else str(getattr(device, "type", device))
        minigrad.Tensor.__init__(self, data, requires_grad, dtype, place)

    @property
    def grad(self) -> Any:
        """The gradient that backward passes have added up; None before the first."""
        return adopt(super().grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        minigrad.Tensor.grad.fset(self, value)  # type: ignore[attr-defined]

    @property
    def is_metal(self) -> bool:
        """False: tensors are on the CPU."""
        return False

    def metal(self) -> Any:
        """An error: there is no GPU."""
        raise RuntimeError("metal: minigrad runs on the CPU; leave out .metal()")

    def eval(self) -> Any:
        """The tensor itself: values are there when a call returns."""
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Have a function called with the gradient; what it returns takes the gradient's place."""
        return super().register_hook(lambda gradient: hook(adopt(gradient)))


for _name, _method in vars(torch.Tensor).items():
    if callable(_method) and not _name.startswith("_") and _name not in vars(Tensor):
        setattr(Tensor, _name, adopting(_method))
