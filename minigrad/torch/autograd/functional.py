"""`torch.autograd.functional`: derivatives of functions at a tensor or a tuple of tensors."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad.autograd import functional as ours
from minigrad.autograd import set_grad_enabled
from minigrad.torch.func import seen
from minigrad.torch.modules import missing
from minigrad.torch.tensor import Tensor, adopt

__getattr__ = missing(__name__)


def _given(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _like(inputs: Any, found: Any) -> Any:
    """The results for all inputs; for a single tensor, its result."""
    return found if isinstance(inputs, (tuple, list)) else found[0]


def jacobian(
    func: Any, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian: a tensor, a tuple of one for each input, or a tuple of those for each output.

    Example:
        >>> from minigrad import torch
        >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
        Tensor([[2., 0.],
                [0., 4.]], dtype=float32)
    """
    given = _given(inputs)
    with set_grad_enabled(create_graph):
        found = adopt(ours.jacobian(seen(func), tuple(range(len(given))))(*given))
    if found and isinstance(found[0], Tensor):
        return _like(inputs, found)
    return tuple(_like(inputs, each) for each in found)


def hessian(
    func: Any, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function of one number; for a tuple, a tuple of tuples."""
    given = _given(inputs)
    with set_grad_enabled(create_graph):
        found = adopt(ours.hessian(seen(func), tuple(range(len(given))))(*given))
    return _like(inputs, tuple(_like(inputs, each) for each in found))


def vjp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The value, and the product of `v` and the Jacobian."""
    with set_grad_enabled(create_graph):
        value, pull = ours.vjp(seen(func), *_given(inputs))
        v = minigrad.ones_like(value) if v is None else tuple(v) if isinstance(v, list) else v
        return adopt((value, _like(inputs, pull(v))))


def jvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The value, and the product of the Jacobian and `v`."""
    given = _given(inputs)
    along = tuple(map(minigrad.ones_like, given)) if v is None else _given(v)
    with set_grad_enabled(create_graph):
        return adopt(ours.jvp(seen(func), given, along))


def hvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """The value of a function of one number, and the product of the Hessian and `v`."""
    given = _given(inputs)
    along = tuple(map(minigrad.ones_like, given)) if v is None else _given(v)
    with set_grad_enabled(create_graph):
        value, product = adopt(ours.hvp(seen(func), given, along))
    return value, _like(inputs, product)


vhp = hvp
