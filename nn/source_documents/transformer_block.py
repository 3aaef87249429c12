"""A post-norm transformer block of linear layers and attention, without an activation."""

from __future__ import annotations

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.nn.attention.multi_head import MultiHeadAttention
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.layers.linear import Linear
from minigrad.nn.layers.normalization import LayerNorm
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_divisible, check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["TransformerBlock"]


class TransformerBlock(Module):
    r"""A post-norm transformer block without an activation.

    Source document: the attention concept.

    .. math::

        Q, K, V = \operatorname{Linear}(x), \qquad a = \operatorname{MultiHeadAttention}(Q, K, V)

    .. math::

        y = \operatorname{LayerNorm}(\operatorname{Linear}(a) + x), \qquad
        z = \operatorname{LayerNorm}(\operatorname{Linear}(y) + y)

    Q, K and V come from three linear maps. The first sum needs hidden_dim = input_dim, the second
    output_dim = hidden_dim; anything else is an error. The only nonlinear parts
    are the attention and the normalization.

    Args:
        input_dim: The width of the input x.
        hidden_dim: The width of Q, K, V, a and y.
        num_heads: The number of attention heads; it divides hidden_dim.
        output_dim: The width of the output z.

    Attributes:
        query: The `Linear` that makes Q.
        key: The one that makes K.
        value: The one that makes V.
        attention: The `MultiHeadAttention`, without biases.
        linear1: The `Linear` of y.
        norm1: The `LayerNorm` of y.
        linear2: The `Linear` of z.
        norm2: The `LayerNorm` of z.

    Example:
        >>> from minigrad import nn, randn
        >>> block = nn.TransformerBlock(input_dim=16, hidden_dim=16, num_heads=4, output_dim=16)
        >>> block(randn(10, 16)).shape
        minigrad.Size([10, 16])
        >>> block(randn(2, 10, 16), is_causal=True).shape
        minigrad.Size([2, 10, 16])
    """

    repr_fields = ("input_dim", "hidden_dim", "num_heads", "output_dim")

    def __init__(self, input_dim: int, hidden_dim: int, num_heads: int, output_dim: int) -> None:
        super().__init__()
        owner = "TransformerBlock"
        self.input_dim = check_size(owner, "input_dim", input_dim)
        self.hidden_dim = check_size(owner, "hidden_dim", hidden_dim)
        self.num_heads = check_size(owner, "num_heads", num_heads)
        self.output_dim = check_size(owner, "output_dim", output_dim)
        check_divisible(owner, hidden_dim=hidden_dim, num_heads=num_heads)
        if hidden_dim != input_dim:
            raise ValueError(
                f"{owner}: in `intermediate_output = LayerNorm(Linear(attention_output, "
                f"hidden_dim) + input)`, hidden_dim ({hidden_dim}) must be input_dim ({input_dim})"
            )
        if output_dim != hidden_dim:
            raise ValueError(
                f"{owner}: in `output = LayerNorm(Linear(intermediate_output, output_dim) + "
                f"intermediate_output)`, output_dim ({output_dim}) must be hidden_dim "
                f"({hidden_dim})"
            )
        self.query = Linear(input_dim, hidden_dim)
        self.key = Linear(input_dim, hidden_dim)
        self.value = Linear(input_dim, hidden_dim)
        self.attention = MultiHeadAttention(hidden_dim, num_heads, bias=False)
        self.linear1 = Linear(hidden_dim, hidden_dim)
        self.norm1 = LayerNorm(hidden_dim)
        self.linear2 = Linear(hidden_dim, output_dim)
        self.norm2 = LayerNorm(output_dim)

    def forward(
        self, input: Tensor, key_padding_mask: MaskLike = None, attn_mask: MaskLike = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """Transform a sequence, or a batch of them.

        Args:
            input: A tensor of shape (L, input_dim) or (N, L, input_dim).
            key_padding_mask: A bool mask of shape (N, L): True = padding, ignored. For a single
                sequence N is 1.
            attn_mask: A mask of shape (L|1, L), (N|1, L|1, L) or (N|1, H|1, L|1, L). Bool: True =
                may attend. Float: added to the scores, with a gradient if it requires one.
            is_causal: Each position attends to itself and those before it only.
        """
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_dim:
            raise value_error(
                f"TransformerBlock: the input must have shape (L, {self.input_dim}) or "
                f"(N, L, {self.input_dim}), got {input.shape}"
            )
        x = ops.expand_dims(input, 0) if input.ndim == 2 else input  # (N, L, input_dim)
        masks = (key_padding_mask, attn_mask, is_causal)
        attended = self.attention(self.query(x), self.key(x), self.value(x), *masks)
        x = self.norm1(self.linear1(attended) + x)
        x = self.norm2(self.linear2(x) + x)
        return ops.squeeze(x, 0) if input.ndim == 2 else x
