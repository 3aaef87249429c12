"""What surrounds attention in an encoder: the feed-forward network, and blocks in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from minigrad import ops
from minigrad._tensor import Tensor
from minigrad.autograd.mode import located
from minigrad.nn.attention.masks import MaskLike


def feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    r"""Pass each position through one hidden layer: :math:`\max(x W_1 + b_1, 0)\, W_2 + b_2`.

    Args:
        x: A tensor of shape (batch, seq, d_model).
        W1: The weight of the first layer, of shape (d_model, d_ff).
        b1: Its bias, of shape (d_ff,).
        W2: The weight of the second layer, of shape (d_ff, d_model).
        b2: Its bias, of shape (d_model,).

    Returns:
        A tensor of the shape of x.

    Raises:
        ValueError: Shapes do not fit.

    Example:
        >>> import minigrad
        >>> from minigrad.nn import functional as F
        >>> x, one = minigrad.tensor([[[-1.0, 2.0]]]), minigrad.eye(2)
        >>> F.feed_forward(x, one, minigrad.zeros(2), one, minigrad.ones(2)).tolist()
        [[[1.0, 3.0]]]
    """
    if W1.ndim != 2 or x.shape[-1:] != W1.shape[:1]:
        raise ValueError(
            located(
                f"feed_forward: W1 must have shape (d_model, d_ff) for x {x.shape}, got {W1.shape}"
            )
        )
    d_model, d_ff = W1.shape
    wanted = ("b1", b1, (d_ff,)), ("W2", W2, (d_ff, d_model)), ("b2", b2, (d_model,))
    for name, parameter, shape in wanted:
        if parameter.shape != shape:
            raise ValueError(
                located(
                    f"feed_forward: {name} must have shape {shape} for W1 {W1.shape}, "
                    f"got {parameter.shape}"
                )
            )
    hidden = ops.relu(ops.matmul(x, W1) + b1)  # (batch, seq, d_ff)
    return ops.matmul(hidden, W2) + b2


def stack_encoder_blocks(
    x: Tensor, blocks: Iterable[Callable[..., Tensor]], mask: MaskLike = None
) -> Tensor:
    """Pass a batch of sequences through encoder blocks, one after the other.

    Args:
        x: A tensor of shape (batch, seq, d_model).
        blocks: The blocks, such as an `nn.ModuleList` of `nn.TransformerEncoderBlock`; any module
            will do that takes a tensor and a mask.
        mask: As `attn_mask` everywhere; the same for every block. Bool: True = may attend.

    Returns:
        A tensor of the shape of x.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> from minigrad.nn import functional as F
        >>> blocks = nn.ModuleList(nn.TransformerEncoderBlock(16, 4) for _ in range(3))
        >>> x, mask = minigrad.randn(2, 10, 16), F.create_causal_mask(10)
        >>> F.stack_encoder_blocks(x, blocks, mask).shape
        (2, 10, 16)
    """
    for block in blocks:
        x = block(x, mask)
    return x
