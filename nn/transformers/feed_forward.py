"""Gated feed-forward networks."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.layers.linear import Linear
from minigrad.nn.module.base import Module
from minigrad.support.checks import check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["SwiGLU"]


class SwiGLU(Module):
    r"""The gated feed-forward network :math:`(\operatorname{SiLU}(x W_g) \odot x W_u)\, W_d`.

    Source: Shazeer, "GLU variants improve transformer", 2020.

    Args:
        d_model: The width of input and output.
        d_ff: The hidden width, by default ⌊8/3 · d_model⌋: then the three matrices have as many
            parameters as the usual two with 4 · d_model.
        bias: Whether the three linear layers have a bias.

    Attributes:
        gate_proj: The projection to the gate, weight W_g of shape (d_ff, d_model).
        up_proj: The projection that is gated, weight W_u of the same shape.
        down_proj: The output projection, weight W_d of shape (d_model, d_ff).

    Example:
        >>> from minigrad import nn, randn
        >>> network = nn.SwiGLU(12)
        >>> network.up_proj.weight.shape, network(randn(2, 5, 12)).shape
        (minigrad.Size([32, 12]), minigrad.Size([2, 5, 12]))
    """

    def __init__(self, d_model: int, d_ff: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.d_model = check_size("SwiGLU", "d_model", d_model)
        self.d_ff = 8 * d_model // 3 if d_ff is None else check_size("SwiGLU", "d_ff", d_ff)
        self.gate_proj = Linear(d_model, self.d_ff, bias)
        self.up_proj = Linear(d_model, self.d_ff, bias)
        self.down_proj = Linear(self.d_ff, d_model, bias)

    def forward(self, input: Tensor) -> Tensor:
        """Transform each position of a tensor of shape (..., d_model) separately."""
        return self.down_proj(F.silu(self.gate_proj(input)) * self.up_proj(input))
