"""`saved_tensors_hooks`: what ops save for the backward pass is packed, and unpacked when read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.mode import State
from minigrad.autograd.node import Variable


class saved_tensors_hooks(Observer):
    """Call `pack` for each tensor that an op in the block saves, and `unpack` to get it back.

    It shows the saved tensors, and can keep them elsewhere: rounded, compressed or in a file. Of
    blocks within each other, the innermost one packs.

    Args:
        pack: A function of the saved tensor; what it returns is kept instead.
        unpack: A function of that, which returns the tensor, whenever a backward pass reads it.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import saved_tensors_hooks
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> with saved_tensors_hooks(lambda t: print("saved", t.tolist()) or t, lambda t: t):
        ...     y = x.exp().sum()
        saved [2.7182817459106445, 7.389056205749512]
    """

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self._pack, self._unpack = pack, unpack

    def _state_inside(self, outer: State) -> State:
        others = [one for one in outer.observers if not isinstance(one, saved_tensors_hooks)]
        return outer._replace(observers=(*others, self))

    def ran(self, call: Call) -> None:
        """Pack what the op saved."""
        node = call.node
        if node is not None and isinstance(node.saved, tuple):
            node.saved = _Packed(node.saved, self._pack, self._unpack)


class _Packed(tuple[Any, ...]):
    """Saved values of which the arrays are packed; iterating unpacks them."""

    _unpack: Callable[[Any], Any]

    def __new__(
        cls, saved: tuple[Any, ...], pack: Callable[[Any], Any], unpack: Callable[[Any], Any]
    ) -> _Packed:
        values = [_Box(pack(wrap(x))) if isinstance(x, np.ndarray) else x for x in saved]
        packed = super().__new__(cls, values)
        packed._unpack = unpack
        return packed

    def __iter__(self) -> Iterator[Any]:
        for value in super().__iter__():
            if not isinstance(value, _Box):
                yield value
                continue
            tensor = self._unpack(value.content)
            if not isinstance(tensor, Variable):
                raise TypeError(
                    f"saved_tensors_hooks: unpack returned a {type(tensor).__name__}, a tensor was "
                    f"expected"
                )
            yield tensor._data


class _Box:
    """The result of `pack`."""

    def __init__(self, content: Any) -> None:
        self.content = content


def save_on_cpu(pin_memory: bool = False, device_type: str = "cpu") -> AbstractContextManager[None]:
    """Do nothing: what ops save is on the CPU.

    Args:
        pin_memory: PyTorch's.
        device_type: PyTorch's.

    Example:
        >>> import minigrad
        >>> with minigrad.autograd.graph.save_on_cpu():
        ...     y = minigrad.ones(2, requires_grad=True).exp()
    """
    return nullcontext()
