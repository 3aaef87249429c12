"""A transformer encoder block: attention and a feed-forward network, each with a residual sum.

The block is pre-norm: the input of each branch is normalized, the sum is not::

    middle = x      + Attention(LayerNorm(x))
    output = middle + FFN(LayerNorm(middle))

The gradient of y = x + f(x) is a sum as well: the gradient of y goes to x directly, and through f.
Through the direct paths it reaches the first block of a deep stack without vanishing.
"""

import numpy as np

from minigrad.nn.by_hand.attention_core import check_shapes
from minigrad.nn.by_hand.multi_head import MultiHeadAttention, check_params, xavier

__all__ = [
    "TransformerEncoderBlock", "feed_forward", "feed_forward_backward", "layer_norm",
    "layer_norm_backward", "stack_encoder_blocks",
]  # fmt: skip


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """Compute layer normalization: y = gamma * (x - mean) / sqrt(var + eps) + beta.

    Mean and population variance are computed for each position, over the last axis.

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.

    Args:
        x: Input, shape (..., d_model).
        gamma: Scale parameter, shape (d_model,).
        beta: Shift parameter, shape (d_model,).
        eps: Small constant for numerical stability.

    Returns:
        Normalized, same shape as x.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import layer_norm
        >>> layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=0.0)
        array([[-1.,  1.]])
    """
    check_shapes("layer_norm", gamma=(gamma, x.shape[-1:]), beta=(beta, x.shape[-1:]))
    normal, _ = _normalized(x, eps)
    return gamma * normal + beta


def layer_norm_backward(
    grad_output: np.ndarray, x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the backward pass of layer normalization.

    Let n = (x - mean) / std with std = sqrt(var + eps), and g = grad_output * gamma, the gradient
    w.r.t. n. For one position of width d:

    - The derivative of the mean w.r.t. x_j is 1/d, that of std is (x_j - mean) / (d std) = n_j / d.
    - So ∂n_i/∂x_j = (δ_ij - 1/d) / std - (x_i - mean) / std² · n_j / d
      = (δ_ij - 1/d - n_i n_j / d) / std.
    - Summed against g: grad_x_j = Σ_i g_i ∂n_i/∂x_j = (g_j - mean(g) - n_j mean(g n)) / std.

    The two means remove the parts of g to which normalization is invariant: shifting and scaling x.

    The arguments are those of `layer_norm` without `beta`, after `grad_output`, shape
    (..., d_model).

    Returns:
        grad_x, shape (..., d_model), and grad_gamma and grad_beta, shape (d_model,), which are
        summed over all positions.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import layer_norm_backward
        >>> x = np.array([[1.0, 2.0, 6.0]])
        >>> grads = layer_norm_backward(np.ones((1, 3)), x, np.ones(3))
        >>> grads[0]  # the sum of the outputs is always 0
        array([[0., 0., 0.]])
    """
    normal, std = _normalized(x, eps)  # (..., d_model), (..., 1)
    positions = tuple(range(x.ndim - 1))
    grad_gamma = (grad_output * normal).sum(axis=positions)  # (d_model,)
    grad_beta = grad_output.sum(axis=positions)  # (d_model,)

    grad_normal = grad_output * gamma  # (..., d_model)
    shift = grad_normal.mean(axis=-1, keepdims=True)  # (..., 1)
    stretch = (grad_normal * normal).mean(axis=-1, keepdims=True)  # (..., 1)
    grad_x = (grad_normal - shift - normal * stretch) / std  # (..., d_model)
    return grad_x, grad_gamma, grad_beta


def feed_forward(
    x: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray
) -> np.ndarray:
    """Compute the position-wise feed-forward network: ReLU(x @ W1 + b1) @ W2 + b2.

    Args:
        x: Input, shape (batch, seq, d_model).
        W1: First layer weights, shape (d_model, d_ff).
        b1: First layer bias, shape (d_ff,).
        W2: Second layer weights, shape (d_ff, d_model).
        b2: Second layer bias, shape (d_model,).

    Returns:
        Shape (batch, seq, d_model).

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import feed_forward
        >>> x = np.array([[[-1.0, 2.0]]])
        >>> feed_forward(x, np.eye(2), np.zeros(2), np.eye(2), np.ones(2))
        array([[[1., 3.]]])
    """
    d_model, d_ff = x.shape[-1], W1.shape[-1]
    check_shapes(
        "feed_forward",
        W1=(W1, (d_model, d_ff)), b1=(b1, (d_ff,)), W2=(W2, (d_ff, d_model)), b2=(b2, (d_model,)),
    )  # fmt: skip
    hidden = np.maximum(x @ W1 + b1, 0)  # (batch, seq, d_ff)
    return hidden @ W2 + b2  # (batch, seq, d_model)


def feed_forward_backward(
    grad_output: np.ndarray, x: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Compute the backward pass of the feed-forward network.

    With sums = x W1 + b1 and hidden = ReLU(sums)::

        output = hidden W2 + b2    grad_hidden = grad_output W2ᵀ,  grad_W2 = hiddenᵀ grad_output
        hidden = ReLU(sums)        grad_sums   = grad_hidden where sums > 0, else 0
        sums   = x W1 + b1         grad_x      = grad_sums W1ᵀ,    grad_W1 = xᵀ grad_sums

    A bias is added at every position, so its gradient is the sum over all positions. At sums = 0
    the derivative of ReLU is taken as 0.

    The arguments are those of `feed_forward` without `b2`, after `grad_output`, shape
    (batch, seq, d_model).

    Returns:
        grad_x, shape (batch, seq, d_model), and grads, a dict with the gradients for W1, b1, W2,
        b2.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import feed_forward_backward
        >>> x = np.array([[[-1.0, 2.0]]])
        >>> grad_x, grads = feed_forward_backward(x, x, np.eye(2), np.zeros(2), np.eye(2))
        >>> grad_x, grads["b2"]
        (array([[[0., 2.]]]), array([-1.,  2.]))
    """
    sums = x @ W1 + b1  # (batch, seq, d_ff)
    hidden = np.maximum(sums, 0)
    grad_hidden = grad_output @ W2.T  # (batch, seq, d_ff)
    grad_sums = grad_hidden * (sums > 0)

    positions = tuple(range(x.ndim - 1))
    grads = {
        "W1": np.tensordot(x, grad_sums, axes=(positions, positions)),  # (d_model, d_ff)
        "b1": grad_sums.sum(axis=positions),  # (d_ff,)
        "W2": np.tensordot(hidden, grad_output, axes=(positions, positions)),  # (d_ff, d_model)
        "b2": grad_output.sum(axis=positions),  # (d_model,)
    }
    return grad_sums @ W1.T, grads


class TransformerEncoderBlock:
    """A single Transformer encoder block.

    Architecture::

        x -> LayerNorm -> MultiHeadAttention -> + -> LayerNorm -> FFN -> +
        |_______________________________________|  |_____________________|

    Xavier initialization of the weights; biases and shifts start at 0, scales at 1.

    Args:
        d_model: Model dimension.
        num_heads: Number of attention heads.
        d_ff: FFN hidden dimension (default: 4 * d_model).

    Attributes:
        attention: MultiHeadAttention layer.
        W1, b1, W2, b2: Weights and biases of the FFN, as in `feed_forward`.
        gamma1, beta1: Scale and shift of the first LayerNorm, shape (d_model,).
        gamma2, beta2: Those of the second.
        cache: The values of the last forward pass for the backward pass, or None.

    Raises:
        ValueError: num_heads does not divide d_model, or d_ff is not positive.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import TransformerEncoderBlock, create_causal_mask
        >>> block = TransformerEncoderBlock(d_model=16, num_heads=4)
        >>> x = np.random.randn(2, 10, 16)
        >>> output = block.forward(x, create_causal_mask(10))
        >>> grad_x, grads = block.backward(np.ones_like(output))
        >>> grad_x.shape, grads["W1"].shape
        ((2, 10, 16), (16, 64))
        >>> params = block.get_params()
        >>> block.set_params({name: params[name] - 0.1 * grads[name] for name in params})
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int | None = None):
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_ff = 4 * d_model if d_ff is None else d_ff
        if self.d_ff < 1:
            raise ValueError(f"TransformerEncoderBlock: d_ff must be positive, got {d_ff}")
        self.attention = MultiHeadAttention(d_model, num_heads)
        rng = np.random.default_rng()
        self.W1, self.b1 = xavier(rng, d_model, self.d_ff), np.zeros(self.d_ff)
        self.W2, self.b2 = xavier(rng, self.d_ff, d_model), np.zeros(d_model)
        self.gamma1, self.beta1 = np.ones(d_model), np.zeros(d_model)
        self.gamma2, self.beta2 = np.ones(d_model), np.zeros(d_model)
        self.cache: dict[str, np.ndarray] | None = None

    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        """Process input of shape (batch, seq, d_model), and return the same shape.

        The mask is that of `multi_head_attention_forward`.
        """
        normed1 = layer_norm(x, self.gamma1, self.beta1)  # (batch, seq, d_model), as all below
        middle = x + self.attention.forward(normed1, normed1, normed1, mask)
        normed2 = layer_norm(middle, self.gamma2, self.beta2)
        output = middle + feed_forward(normed2, self.W1, self.b1, self.W2, self.b2)
        self.cache = {"x": x, "middle": middle, "normed2": normed2}
        return output

    def backward(self, grad_output: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Compute gradients of the last forward pass.

        The steps of the forward pass in reverse order. At each residual sum the gradients of both
        paths are added. Queries, keys and values of the attention are the same array, so their
        three gradients are added too.

        Returns:
            grad_x, shape (batch, seq, d_model), and grads, a dict with a gradient for each name in
            `get_params`.
        """
        if self.cache is None:
            raise RuntimeError("TransformerEncoderBlock.backward: call forward first")
        x, middle, normed2 = (self.cache[name] for name in ("x", "middle", "normed2"))

        # The second half: output is middle + FFN(LayerNorm(middle)).
        grad_normed2, grads_ffn = feed_forward_backward(
            grad_output, normed2, self.W1, self.b1, self.W2
        )
        grad_branch, grad_gamma2, grad_beta2 = layer_norm_backward(
            grad_normed2, middle, self.gamma2
        )
        grad_middle = grad_output + grad_branch  # (batch, seq, d_model)

        # The first half: middle is x + Attention(LayerNorm(x)).
        grad_q, grad_k, grad_v, grads_attention = self.attention.backward(grad_middle)
        grad_normed1 = grad_q + grad_k + grad_v
        grad_branch, grad_gamma1, grad_beta1 = layer_norm_backward(grad_normed1, x, self.gamma1)
        grad_x = grad_middle + grad_branch  # (batch, seq, d_model)

        grads = {
            **grads_attention, **grads_ffn,
            "gamma1": grad_gamma1, "beta1": grad_beta1,
            "gamma2": grad_gamma2, "beta2": grad_beta2,
        }  # fmt: skip
        return grad_x, grads

    def get_params(self) -> dict[str, np.ndarray]:
        """Return parameters: copies, those of the attention among them."""
        own = ("W1", "b1", "W2", "b2", "gamma1", "beta1", "gamma2", "beta2")
        return self.attention.get_params() | {name: getattr(self, name).copy() for name in own}

    def set_params(self, params: dict[str, np.ndarray]) -> None:
        """Set parameters to copies of arrays, named as in `get_params`: all of them, or none."""
        check_params("TransformerEncoderBlock", self.get_params(), params)
        for name, value in params.items():
            owner = self.attention if hasattr(self.attention, name) else self
            setattr(owner, name, np.array(value))


def stack_encoder_blocks(
    x: np.ndarray, blocks: list[TransformerEncoderBlock], mask: np.ndarray | None = None
) -> np.ndarray:
    """Pass input through stack of encoder blocks.

    For the backward pass call `backward` of the blocks, the last one first.

    Args:
        x: Input embeddings, shape (batch, seq, d_model).
        blocks: List of TransformerEncoderBlock instances.
        mask: Optional attention mask, the same for every block.

    Returns:
        Encoded representations, shape (batch, seq, d_model).

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import TransformerEncoderBlock, stack_encoder_blocks
        >>> blocks = [TransformerEncoderBlock(d_model=16, num_heads=4) for _ in range(3)]
        >>> stack_encoder_blocks(np.random.randn(2, 10, 16), blocks).shape
        (2, 10, 16)
    """
    for block in blocks:
        x = block.forward(x, mask)
    return x


def _normalized(x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the normalized positions and their standard deviations."""
    centred = x - x.mean(axis=-1, keepdims=True)  # (..., d_model)
    variance = (centred**2).mean(axis=-1, keepdims=True)  # (..., 1)
    std = np.sqrt(variance + eps)
    return centred / std, std
