"""`lucid.nn`: PyTorch's modules with Lucid 3's arguments, whose tensors are Lucid's."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad import nn as _ours
from minigrad import torch as _torch
from minigrad.lucid import build as _build
from minigrad.lucid import table as _table
from minigrad.lucid.classes import Tensor
from minigrad.torch.nn import classes as _classes


class Parameter(_classes.Parameter, Tensor):
    """A trainable tensor of a module; it shares the memory of `data`.

    Args:
        data: A tensor; empty if it is left out.
        requires_grad: Whether it is trained.
    """

    __init__ = _classes.Parameter.__init__


class Buffer(_classes.Buffer, Tensor):
    """A tensor of a module that is not trained, but saved.

    Args:
        data: A tensor.
        persistent: Whether it is saved.
    """

    __init__ = _classes.Buffer.__init__


class Module(_classes.Module):
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

    def _check_child(self, name: str, child: Any) -> None:
        super()._check_child(name, child)
        _adopted(child)

    def register_buffer(  # type: ignore[override]
        self, name: str, tensor: Any, persistent: Any = True, **options: Any
    ) -> None:
        """Add a tensor that is not trained, but saved unless it is not persistent."""
        super().register_buffer(name, tensor, persistent, **options)
        _adopted(self.__dict__.get(name))


_TENSORS: dict[type, type] = {
    minigrad.Tensor: Tensor, _torch.Tensor: Tensor, _ours.Parameter: Parameter,
    _classes.Parameter: Parameter, _ours.Buffer: Buffer, _classes.Buffer: Buffer,
}  # fmt: skip
_KINDS: dict[type, type] = {_classes.Module: Module}


def _adopted(value: Any) -> Any:
    """Make a value that is assigned to a module of Lucid's, with all in it, Lucid's."""
    if isinstance(value, _ours.Module):
        for each in _ours.Module.modules(_classes.adopt_module(value)):
            if not isinstance(each, Module):
                each.__class__ = _kind_of(type(each))
                for name in each._registered:
                    _adopted(each.__dict__.get(name))
    elif value.__class__ in _TENSORS:
        value.__class__ = _TENSORS[value.__class__]
    return value


def _of_attention(module: Any, dropout: Any) -> None:
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
    _build.only(past_key_value=past_key_value, use_cache=use_cache, cache_position=cache_position)
    return _ATTENTION.forward(
        self, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights,
        is_causal,
    )  # fmt: skip


_ATTENTION: Any = _classes.CLASSES["MultiheadAttention"]
_INITS = _build.constructors(_table.LAYERS, of_attention=_of_attention)
_FORWARDS: dict[str, Any] = {"MultiheadAttention": {"forward": _without_cache}}


def _kind_of(kind: type) -> type:
    """The class of Lucid's for one of PyTorch's modules; other classes are themselves."""
    if not issubclass(kind, _ours.Module):
        return kind
    if kind not in _KINDS:
        name = kind.__name__
        _KINDS[kind] = _build.subclass(
            kind, (kind, Module), _INITS.get(name), __name__, **_FORWARDS.get(name, {})
        )
    return _KINDS[kind]


globals().update(_build.exported(_torch.nn, _kind_of))
_F, _init = _torch.nn.functional, _torch.nn.init
functional: Any = _build.view(
    "nn.functional", **_build.lines(_table.FUNCTIONAL, {"F": _F}, __name__)
)
init: Any = _build.view(
    "nn.init",
    **{
        name: getattr(_init, f"{name}_")
        for name in (
            "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
            "sparse", "uniform", "xavier_normal", "xavier_uniform",
        )
    },
)  # fmt: skip
utils: Any = _build.view(
    "nn.utils", clip_grad_norm=_torch.nn.utils.clip_grad_norm_,
    **_build.exported(_torch.nn.utils.rnn),
)  # fmt: skip
_missing = _build.missing(__name__, _torch.nn)


def __getattr__(name: str) -> Any:
    return _missing(name)
