"""`torch.nn.functional`: minigrad's, which has PyTorch's functions."""

from typing import Any

from minigrad.nn import Module
from minigrad.nn.functional import *
from minigrad.nn.functional import linear
from minigrad.support.checks import check_divisible
from minigrad.torch.answers import no
from minigrad.torch.nn.multihead import MultiheadAttention

has_torch_function = has_torch_function_unary = has_torch_function_variadic = no


def as_row(bias: Any) -> Any:
    """The bias of keys or values as the layer has it, with a batch and a position."""
    return None if bias is None else bias.reshape(1, 1, -1)


def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any,
    in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Any, out_proj_bias: Any, training: bool = True, key_padding_mask: Any = None,
    need_weights: bool = True, attn_mask: Any = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None,
    static_k: None = None, static_v: None = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:  # fmt: skip
    """What a `torch.nn.MultiheadAttention` computes, with these parameters."""
    owner = "multi_head_attention_forward"
    if not static_k is static_v is None:
        raise ValueError(f"{owner}: static_k and static_v must be None")
    check_divisible(owner, embed_dim=embed_dim_to_check, num_heads=num_heads)
    attention = MultiheadAttention.__new__(MultiheadAttention)
    Module.__init__(attention)
    vars(attention).update(
        embed_dim=embed_dim_to_check, kdim=key.shape[-1], vdim=value.shape[-1], dropout=dropout_p,
        num_heads=num_heads, num_kv_heads=num_heads, head_dim=embed_dim_to_check // num_heads,
        bias_k=as_row(bias_k), bias_v=as_row(bias_v), add_zero_attn=add_zero_attn, rope=None,
        batch_first=False,
        in_proj_weight=in_proj_weight, in_proj_bias=in_proj_bias, q_proj_weight=q_proj_weight,
        k_proj_weight=k_proj_weight, v_proj_weight=v_proj_weight, training=training,
        _qkv_same_embed_dim=not use_separate_proj_weight,
        out_proj=lambda x: linear(x, out_proj_weight, out_proj_bias),
    )  # fmt: skip
    options = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
    return attention(query, key, value, *options)
