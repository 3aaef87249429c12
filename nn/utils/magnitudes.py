"""Weight normalization: a weight as a direction and a length."""

from __future__ import annotations

from typing import TypeVar

from minigrad import ops
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.computed import computed, fix, set_computed
from minigrad.tensors.functions.arguments import spelled
from minigrad.tensors.tensor import Tensor

M = TypeVar("M", bound=Module)


class _WeightNorm:
    """Compute a weight from its length g and its direction v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def __call__(self, module: Module) -> Tensor:
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return v * (g / self.lengths(v))

    def lengths(self, v: Tensor) -> Tensor:
        """The norm over all axes but `dim`."""
        if self.dim is None:
            return ops.norm(v)
        axes = tuple(i for i in range(v.ndim) if i != self.dim)
        return ops.norm(v, axis=axes, keepdims=True)


@spelled
def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    r"""Replace a weight by its length g and its direction v: :math:`w = g\, v / \|v\|`.

    The parameters `<name>_g` and `<name>_v` are trained instead of `<name>`, which is computed
    from them whenever it is read. Their gradients are right for lengths from 1e-19 to 1e19.

    Source: Salimans and Kingma, "Weight normalization", 2016.

    Args:
        module: The module that has the weight.
        name: The name of the weight.
        dim: The axis with one length for each element; None or -1 for one length in all.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.weight_norm(nn.Linear(4, 3))
        >>> {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}
        {'bias': (3,), 'weight_g': (3, 1), 'weight_v': (3, 4)}
    """
    owner = type(module).__name__
    if _is_normalized(module, name):
        raise ValueError(f"weight_norm: {name!r} of {owner} is normalized already")
    own = dict(module._own_parameters())
    if name not in own:
        raise ValueError(
            f"weight_norm: {owner} has no parameter {name!r} of its own; it has {list(own)}"
        )
    weight = own[name]
    if dim == -1:
        dim = None
    if dim is not None and not 0 <= dim < weight.ndim:
        raise ValueError(
            f"weight_norm: dim {dim} is not one of those from 0 of shape {tuple(weight.shape)}"
        )
    norm = _WeightNorm(name, dim)
    with no_grad():
        length = norm.lengths(weight)
    delattr(module, name)
    setattr(module, f"{name}_g", Parameter(length))
    setattr(module, f"{name}_v", Parameter(weight))
    set_computed(module, {**computed(module), name: norm})
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`: the weight becomes a parameter again, with its present values.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(4, 3)))
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    if not _is_normalized(module, name):
        raise ValueError(
            f"remove_weight_norm: {name!r} of {type(module).__name__} is not normalized"
        )
    fix(module, name, getattr(module, name).detach(), "gv")
    return module


def _is_normalized(module: Module, name: str) -> bool:
    return isinstance(computed(module).get(name), _WeightNorm)
