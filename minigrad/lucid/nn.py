"""`lucid.nn`: minigrad's modules, with Lucid 3's arguments where they differ."""

from __future__ import annotations

from typing import Any

from minigrad import nn as _ours
from minigrad import torch as _torch
from minigrad.lucid import build as _build
from minigrad.lucid import table as _table
from minigrad.nn import Buffer as Buffer
from minigrad.nn import Module as Module
from minigrad.nn import Parameter as Parameter


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


_ATTENTION: Any = _torch.nn.MultiheadAttention
_INITS = _build.constructors(_table.LAYERS, of_attention=_of_attention)
_FORWARDS: dict[str, Any] = {"MultiheadAttention": {"forward": _without_cache}}


def _kind_of(kind: type) -> type:
    """The class of Lucid's for one of PyTorch's: a subclass where the arguments differ."""
    name = kind.__name__
    if name not in _INITS and name not in _FORWARDS:
        return kind
    return _build.subclass(kind, (kind,), _INITS.get(name), __name__, **_FORWARDS.get(name, {}))


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
