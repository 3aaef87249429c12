"""Multi-head attention: one attention per slice (head) of the projected width.

The forward pass, from the inputs down to the output::

    Q W_Q, K W_K, V W_V           (batch, seq, d_model)           project
    q, k, v                       (batch, num_heads, seq, d_k)    split_heads
    heads = Attention(q, k, v)    (batch, num_heads, seq_q, d_k)
    merged = Concat(heads)        (batch, seq_q, d_model)         merge_heads
    output = merged W_O           (batch, seq_q, d_model)         project

Column block i of W_Q is the W_Q^i of the formula head_i = Attention(Q W_Q^i, K W_K^i, V W_V^i): one
product computes the queries of all heads.
"""

import numpy as np

from minigrad.nn.by_hand.attention_core import (
    check_shapes,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

__all__ = [
    "MultiHeadAttention", "merge_heads", "multi_head_attention_backward",
    "multi_head_attention_forward", "split_heads",
]  # fmt: skip


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """Split last dimension into multiple heads.

    Args:
        x: Input, shape (batch, seq, d_model).
        num_heads: Number of attention heads; divides d_model.

    Returns:
        Shape (batch, num_heads, seq, d_k) where d_k = d_model // num_heads.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import split_heads
        >>> x = np.random.randn(2, 10, 512)  # batch=2, seq=10, d_model=512
        >>> split = split_heads(x, num_heads=8)
        >>> split.shape  # 512/8 = 64
        (2, 8, 10, 64)
    """
    batch, seq, d_model = x.shape
    _check_divisible("split_heads", d_model, num_heads)
    parts = x.reshape(batch, seq, num_heads, d_model // num_heads)
    return parts.swapaxes(1, 2)  # (batch, seq, num_heads, d_k) -> (batch, num_heads, seq, d_k)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """Merge heads back into single dimension: the inverse of `split_heads`.

    Args:
        x: Input, shape (batch, num_heads, seq, d_k).

    Returns:
        Shape (batch, seq, d_model) where d_model = num_heads * d_k.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import merge_heads
        >>> merge_heads(np.zeros((2, 8, 10, 64))).shape
        (2, 10, 512)
    """
    batch, num_heads, seq, d_k = x.shape
    return x.swapaxes(1, 2).reshape(batch, seq, num_heads * d_k)


def multi_head_attention_forward(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray,
    W_O: np.ndarray, num_heads: int, mask: np.ndarray | None = None,
) -> tuple[np.ndarray, dict]:  # fmt: skip
    """Compute the forward pass of multi-head attention.

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O
    where head_i = Attention(Q W_Q^i, K W_K^i, V W_V^i).

    Source: Vaswani et al., "Attention is all you need", 2017.

    Args:
        Q: Queries, shape (batch, seq_q, d_model).
        K: Keys, shape (batch, seq_k, d_model).
        V: Values, shape (batch, seq_k, d_model).
        W_Q: Query projection, shape (d_model, d_model), as those of keys, values and output.
        W_K: Key projection.
        W_V: Value projection.
        W_O: Output projection.
        num_heads: Number of attention heads.
        mask: Optional boolean mask, True = attend, shape (seq_q, seq_k), (batch, seq_q, seq_k) or
            (batch, num_heads, seq_q, seq_k), any axis of which may be 1. A padding mask of shape
            (batch, seq_k) is given as ``mask[:, None, None, :]``.

    Returns:
        Output, shape (batch, seq_q, d_model), and cache, a dict with values for the backward pass;
        under "weights" the attention weights, shape (batch, num_heads, seq_q, seq_k).

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import multi_head_attention_forward
        >>> x, W = np.random.randn(2, 10, 64), np.eye(64)
        >>> output, cache = multi_head_attention_forward(x, x, x, W, W, W, W, num_heads=8)
        >>> output.shape, cache["weights"].shape
        ((2, 10, 64), (2, 8, 10, 10))
    """
    inputs, projections = {"Q": Q, "K": K, "V": V}, {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    batch, d_model = len(Q), len(W_Q)
    sequences = {name: (x, (batch, x.shape[1], d_model)) for name, x in inputs.items()}
    matrices = {name: (W, (d_model, d_model)) for name, W in projections.items()}
    check_shapes("multi_head_attention_forward", **sequences, **matrices)
    if mask is not None and np.ndim(mask) == 3:
        mask = np.asarray(mask)[:, None]  # (batch, 1, seq_q, seq_k)

    q = split_heads(Q @ W_Q, num_heads)  # (batch, num_heads, seq_q, d_k)
    k = split_heads(K @ W_K, num_heads)  # (batch, num_heads, seq_k, d_k)
    v = split_heads(V @ W_V, num_heads)  # (batch, num_heads, seq_k, d_k)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    merged = merge_heads(heads)  # (batch, seq_q, d_model)
    output = merged @ W_O  # (batch, seq_q, d_model)

    cache = {
        **inputs, **projections, "num_heads": num_heads, "mask": mask,
        "q": q, "k": k, "v": v, "weights": weights, "merged": merged,
    }  # fmt: skip
    return output, cache


def multi_head_attention_backward(
    grad_output: np.ndarray, cache: dict
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
    """Compute the backward pass of multi-head attention.

    Every projection Y = X W is a product, with the rules of `attention_core`::

        grad_X = grad_Y Wᵀ          grad_W = Xᵀ grad_Y, summed over the batch

    Splitting and merging heads only rearrange elements: each is the backward pass of the other.

    Args:
        grad_output: Gradient from next layer, shape (batch, seq_q, d_model).
        cache: Cache from forward pass.

    Returns:
        grad_Q, grad_K and grad_V, the gradients w.r.t. the inputs, and grad_params, a dict with
        the gradients for W_Q, W_K, W_V, W_O.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import (
        ...     multi_head_attention_backward, multi_head_attention_forward
        ... )
        >>> x, W = np.random.randn(2, 10, 64), np.eye(64)
        >>> output, cache = multi_head_attention_forward(x, x, x, W, W, W, W, num_heads=8)
        >>> grads = multi_head_attention_backward(np.ones_like(output), cache)
        >>> grad_Q, grad_K, grad_V, grad_params = grads
        >>> grad_Q.shape, list(grad_params)
        ((2, 10, 64), ['W_Q', 'W_K', 'W_V', 'W_O'])
    """
    merged, num_heads = cache["merged"], cache["num_heads"]
    check_shapes("multi_head_attention_backward", grad_output=(grad_output, merged.shape))

    grad_W_O = _weight_gradient(merged, grad_output)  # (d_model, d_model)
    grad_merged = grad_output @ cache["W_O"].T  # (batch, seq_q, d_model)
    grad_heads = split_heads(grad_merged, num_heads)  # (batch, num_heads, seq_q, d_k)

    grad_q, grad_k, grad_v = scaled_dot_product_attention_backward(
        grad_heads, cache["q"], cache["k"], cache["v"], cache["weights"], cache["mask"]
    )  # (batch, num_heads, seq_q or seq_k, d_k)

    grad_projected_q = merge_heads(grad_q)  # (batch, seq_q, d_model)
    grad_projected_k = merge_heads(grad_k)  # (batch, seq_k, d_model)
    grad_projected_v = merge_heads(grad_v)  # (batch, seq_k, d_model)
    grad_params = {
        "W_Q": _weight_gradient(cache["Q"], grad_projected_q),
        "W_K": _weight_gradient(cache["K"], grad_projected_k),
        "W_V": _weight_gradient(cache["V"], grad_projected_v),
        "W_O": grad_W_O,
    }
    grad_Q = grad_projected_q @ cache["W_Q"].T  # (batch, seq_q, d_model)
    grad_K = grad_projected_k @ cache["W_K"].T  # (batch, seq_k, d_model)
    grad_V = grad_projected_v @ cache["W_V"].T  # (batch, seq_k, d_model)
    return grad_Q, grad_K, grad_V, grad_params


class MultiHeadAttention:
    """A multi-head attention layer.

    Xavier initialization: the projections are uniform in ±√(6 / (d_model + d_model)).

    Args:
        d_model: Model dimension (must be divisible by num_heads).
        num_heads: Number of attention heads.

    Attributes:
        d_k: Dimension per head (d_model // num_heads).
        W_Q, W_K, W_V, W_O: The projections, each of shape (d_model, d_model).
        cache: The values of the last forward pass for the backward pass, or None.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import MultiHeadAttention
        >>> attention = MultiHeadAttention(d_model=64, num_heads=8)
        >>> x = np.random.randn(2, 10, 64)
        >>> output = attention.forward(x, x, x)
        >>> grad_Q, grad_K, grad_V, grad_params = attention.backward(np.ones_like(output))
        >>> params = attention.get_params()
        >>> attention.set_params({name: params[name] - 0.1 * grad_params[name] for name in params})
    """

    def __init__(self, d_model: int, num_heads: int):
        _check_divisible("MultiHeadAttention", d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        rng = np.random.default_rng()
        self.W_Q, self.W_K, self.W_V, self.W_O = (xavier(rng, d_model, d_model) for _ in range(4))
        self.cache: dict | None = None

    def forward(
        self, Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute multi-head attention: the output of `multi_head_attention_forward`."""
        output, self.cache = multi_head_attention_forward(
            Q, K, V, self.W_Q, self.W_K, self.W_V, self.W_O, self.num_heads, mask
        )
        return output

    def backward(
        self, grad_output: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Compute gradients of the last forward pass: see `multi_head_attention_backward`."""
        if self.cache is None:
            raise RuntimeError("MultiHeadAttention.backward: call forward first")
        return multi_head_attention_backward(grad_output, self.cache)

    def get_params(self) -> dict[str, np.ndarray]:
        """Return parameters: a dict with copies of W_Q, W_K, W_V, W_O."""
        return {name: getattr(self, name).copy() for name in ("W_Q", "W_K", "W_V", "W_O")}

    def set_params(self, params: dict[str, np.ndarray]) -> None:
        """Set parameters to copies of arrays with the names of `get_params`: all of them, or none.

        A name that is missing or unknown, or another shape, is a ValueError.
        """
        check_params("MultiHeadAttention", self.get_params(), params)
        for name, value in params.items():
            setattr(self, name, np.array(value))


def xavier(rng: np.random.Generator, fan_in: int, fan_out: int) -> np.ndarray:
    """Draw a weight of shape (fan_in, fan_out) by Xavier initialization.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.
    """
    bound = (6 / (fan_in + fan_out)) ** 0.5
    return rng.uniform(-bound, bound, size=(fan_in, fan_out))


def check_params(owner: str, own: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> None:
    """Raise for parameters whose names or shapes are not those of the layer."""
    wrong = [f"{name} is missing" for name in own if name not in given]
    for name, value in given.items():
        if name not in own:
            wrong.append(f"{name} is unknown")
        elif np.shape(value) != own[name].shape:
            wrong.append(f"{name} must have shape {own[name].shape}, got {np.shape(value)}")
    if wrong:
        raise ValueError(f"{owner}.set_params: {'; '.join(wrong)}; nothing was set")


def _weight_gradient(x: np.ndarray, grad_y: np.ndarray) -> np.ndarray:
    """Xᵀ grad_Y summed over the batch, for Y = X W: (batch, seq, in), (batch, seq, out)."""
    return np.tensordot(x, grad_y, axes=((0, 1), (0, 1)))  # (in, out)


def _check_divisible(name: str, d_model: int, num_heads: int) -> None:
    if num_heads < 1 or d_model < 1 or d_model % num_heads:
        raise ValueError(
            f"{name}: d_model ({d_model}) must be divisible by num_heads ({num_heads})"
        )
