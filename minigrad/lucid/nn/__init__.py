"""`lucid.nn`: PyTorch's modules with Lucid 3's arguments, whose tensors are Lucid's."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import nn as _ours
from minigrad import torch as _torch
from minigrad.lucid.build import constructors as _constructors
from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import missing as _missing
from minigrad.lucid.build import only as _only
from minigrad.lucid.build import subclass as _subclass
from minigrad.lucid.table import LAYERS as _LAYERS
from minigrad.lucid.tensor import Tensor
from minigrad.torch.nn.classes import adopt_module as _adopt_module


class Parameter(_torch.nn.Parameter, Tensor):  # type: ignore[name-defined, misc]
    """A trainable tensor of a module; it shares the memory of `data`.

    Args:
        data: A tensor; empty if it is left out.
        requires_grad: Whether it is trained.
    """

    __init__ = _torch.nn.Parameter.__init__


class Buffer(_torch.nn.Buffer, Tensor):  # type: ignore[name-defined, misc]
    """A tensor of a module that is not trained, but saved.

    Args:
        data: A tensor.
        persistent: Whether it is saved.
    """

    __init__ = _torch.nn.Buffer.__init__


class Module(_torch.nn.Module):  # type: ignore[name-defined, misc]
    """The base class of modules, as Lucid 3's.

    Source: Lucid 3.8, "lucid.nn.Module".

    Example:
        >>> from minigrad import lucid
        >>> class Largest(lucid.nn.Module):
        ...     def forward(self, x):
        ...         return x.max(dim=-1)
        >>> Largest()(lucid.ones(2, 3))
        Tensor([1., 1.], dtype=float32)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _adopted(value))

    def register_buffer(self, name: str, tensor: Any, persistent: Any = True, **options: Any) -> None:
        """Add a tensor that is not trained, but saved unless it is not persistent."""
        super().register_buffer(name, tensor, persistent, **options)
        _adopted(self.__dict__.get(name))


_TENSORS: dict[type, type] = {
    minigrad.Tensor: Tensor, _torch.Tensor: Tensor, _ours.Parameter: Parameter,
    _torch.nn.Parameter: Parameter, _ours.Buffer: Buffer, _torch.nn.Buffer: Buffer,
}  # fmt: skip
_KINDS: dict[type, type] = {_torch.nn.Module: Module}


def _adopted(value: Any) -> Any:
    """A module or tensor that is assigned to a module of Lucid's becomes Lucid's, with all in it."""
    if isinstance(value, _ours.Module):
        for each in _ours.Module.modules(_adopt_module(value)):
            if not isinstance(each, Module):
                each.__class__ = _kind_of(type(each))
                for name in each._registered:
                    _adopted(each.__dict__.get(name))
    elif value.__class__ in _TENSORS:
        value.__class__ = _TENSORS[value.__class__]
    return value


def _of_attention(module: Any, dropout: float | None) -> None:
    """Set the dropout of the attention weights."""
    for each in module.modules() if dropout is not None else ():
        if isinstance(each, _ours.MultiHeadAttention):
            each.dropout = dropout


def _without_cache(
    self: Any, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
    need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
    is_causal: bool = False, *, past_key_value: Any = None, layer_idx: int = 0,
    cache_position: Any = None, use_cache: bool = False, is_cross_attention: bool = False,
) -> Any:  # fmt: skip
    """Apply attention, as PyTorch's; a cache is an error."""
    _only(past_key_value=past_key_value, use_cache=use_cache, cache_position=cache_position)
    return _torch.nn.MultiheadAttention.forward(
        self, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights,
        is_causal,
    )  # fmt: skip


_INITS = _constructors(_LAYERS, of_attention=_of_attention)
_FORWARDS: dict[str, Any] = {"MultiheadAttention": {"forward": _without_cache}}


def _kind_of(kind: type) -> type:
    """The class of Lucid's for one of PyTorch's modules; other classes are themselves."""
    if not issubclass(kind, _ours.Module):
        return kind
    if kind not in _KINDS:
        name = kind.__name__
        _KINDS[kind] = _subclass(
            kind, (kind, Module), _INITS.get(name), __name__, **_FORWARDS.get(name, {})
        )
    return _KINDS[kind]


globals().update(_exported(_torch.nn, _kind_of))

from minigrad.lucid.nn import functional as functional  # noqa: E402 - after the classes
from minigrad.lucid.nn import init as init  # noqa: E402
from minigrad.lucid.nn import utils as utils  # noqa: E402

__getattr__ = _missing(__name__, _torch.nn)
