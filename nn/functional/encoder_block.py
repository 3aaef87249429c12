"""Parts of an encoder block: heads, the feed-forward network, a stack of blocks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn.functional.framing import framed
from minigrad.nn.functional.masks import MaskLike
from minigrad.tensors.tensor import Tensor

__all__ = ["feed_forward", "merge_heads", "split_heads", "stack_encoder_blocks"]


@framed
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split the last axis into heads: (batch, seq, d_model) -> (batch, heads, seq, d_k).

    Head i is the i-th slice of the last axis; d_k = d_model / num_heads.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.functional.split_heads(randn(2, 10, 512), num_heads=8).shape
        minigrad.Size([2, 8, 10, 64])
    """
    if x.ndim != 3:
        raise value_error(
            f"split_heads: x must have shape (batch, seq, d_model), got {tuple(x.shape)}"
        )
    batch, seq, d_model = x.shape
    if num_heads < 1 or d_model % num_heads:
        raise value_error(
            f"split_heads: d_model ({d_model}) must be divisible by num_heads ({num_heads})"
        )
    return x.reshape(batch, seq, num_heads, d_model // num_heads).swapaxes(1, 2)


@framed
def merge_heads(x: Tensor) -> Tensor:
    """Concatenate heads on the last axis: the inverse of `split_heads`.

    Example:
        >>> from minigrad import nn, randn
        >>> nn.functional.merge_heads(randn(2, 8, 10, 64)).shape
        minigrad.Size([2, 10, 512])
    """
    if x.ndim != 4:
        raise value_error(
            f"merge_heads: x must have shape (batch, num_heads, seq, d_k), got {tuple(x.shape)}"
        )
    batch, num_heads, seq, d_k = x.shape
    return x.swapaxes(1, 2).reshape(batch, seq, num_heads * d_k)


@framed
def feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    r"""Apply a position-wise feed-forward network: :math:`\max(x W_1 + b_1, 0)\, W_2 + b_2`.

    x has shape (batch, seq, d_model), W1 (d_model, d_ff), b1 (d_ff,), W2 (d_ff, d_model) and
    b2 (d_model,).

    Example:
        >>> from minigrad import nn, eye, ones, tensor, zeros
        >>> x, one = tensor([[[-1.0, 2.0]]]), eye(2)
        >>> nn.functional.feed_forward(x, one, zeros(2), one, ones(2)).tolist()
        [[[1.0, 3.0]]]
    """
    if W1.ndim != 2 or x.shape[-1:] != W1.shape[:1]:
        raise value_error(
            f"feed_forward: W1 must have shape (d_model, d_ff) for x {tuple(x.shape)}, got "
            f"{tuple(W1.shape)}"
        )
    d_model, d_ff = W1.shape
    wanted = ("b1", b1, (d_ff,)), ("W2", W2, (d_ff, d_model)), ("b2", b2, (d_model,))
    for name, parameter, shape in wanted:
        if parameter.shape != shape:
            raise value_error(
                f"feed_forward: {name} must have shape {shape} for W1 {tuple(W1.shape)}, "
                f"got {tuple(parameter.shape)}"
            )
    hidden = ops.relu(ops.matmul(x, W1) + b1)  # (batch, seq, d_ff)
    return ops.matmul(hidden, W2) + b2


@functools.partial(framed, calls_modules=True)
def stack_encoder_blocks(
    x: Tensor, blocks: Iterable[Callable[..., Tensor]], mask: MaskLike = None
) -> Tensor:
    """Apply encoder blocks in order.

    Args:
        x: A tensor of shape (batch, seq, d_model).
        blocks: Callables of a tensor and a mask, such as an `nn.ModuleList` of
            `nn.TransformerEncoderBlock`.
        mask: As `attn_mask` everywhere; the same for every block. Bool: True = may attend.

    Example:
        >>> from minigrad import nn, randn
        >>> from minigrad.nn import functional as F
        >>> blocks = nn.ModuleList(nn.TransformerEncoderBlock(16, 4) for _ in range(3))
        >>> x, mask = randn(2, 10, 16), F.create_causal_mask(10)
        >>> F.stack_encoder_blocks(x, blocks, mask).shape
        minigrad.Size([2, 10, 16])
    """
    for block in blocks:
        x = block(x, mask)
    return x
