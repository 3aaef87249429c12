"""Attention: for each query, a weighted mean of the values.

Scaled dot-product attention has four steps; additive attention computes other scores::

    scores  = Q Kᵀ / √d_k                        compute_attention_scores
    masked  = scores, or -1e9 where masked       apply_attention_mask
    weights = softmax(masked)                    attention_weights
    output  = weights V

The backward pass applies the chain rule from the last step to the first. Apart from softmax it
needs two rules:

- **A product** C = A B changes by dC = dA B + A dB. The loss changes by the sum of grad_C * dC over
  all entries; the factors of dA and dB are ::

      grad_A = grad_C Bᵀ        grad_B = Aᵀ grad_C

- **A replacement**, such as masking: a replaced score has no influence, so its gradient is 0.
"""

import numpy as np

__all__ = [
    "additive_attention", "additive_attention_backward", "apply_attention_mask",
    "attention_weights", "attention_weights_backward", "compute_attention_scores",
    "scaled_dot_product_attention", "scaled_dot_product_attention_backward",
]  # fmt: skip


def compute_attention_scores(Q: np.ndarray, K: np.ndarray, scale: bool = True) -> np.ndarray:
    """Compute attention scores between queries and keys: QKᵀ / √d_k.

    If the entries of Q and K are independent with variance 1, a dot product over d_k has variance
    d_k. Divided by √d_k the scores have variance 1 for every d_k, and softmax does not saturate.

    Args:
        Q: Queries, shape (..., seq_q, d_k).
        K: Keys, shape (..., seq_k, d_k).
        scale: Whether to scale by 1/√d_k.

    Returns:
        Scores, shape (..., seq_q, seq_k).

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import compute_attention_scores
        >>> Q = np.random.randn(2, 4, 64)  # batch=2, seq=4, d_k=64
        >>> K = np.random.randn(2, 4, 64)
        >>> scores = compute_attention_scores(Q, K)
        >>> scores.shape
        (2, 4, 4)
    """
    check_shapes("compute_attention_scores", K=(K, (*K.shape[:-1], Q.shape[-1])))
    scores = Q @ K.swapaxes(-1, -2)  # (..., seq_q, d_k) @ (..., d_k, seq_k)
    return scores / Q.shape[-1] ** 0.5 if scale else scores


def apply_attention_mask(
    scores: np.ndarray, mask: np.ndarray, mask_value: float = -1e9
) -> np.ndarray:
    """Apply mask to attention scores: replace the masked ones.

    The mask value replaces a score; it is not added. So a query whose keys are all masked has equal
    scores, and attends to all keys equally.

    Args:
        scores: Attention scores, shape (..., seq_q, seq_k).
        mask: Boolean mask, shape broadcastable to scores: True = attend, False = mask out.
        mask_value: Value to use for masked positions.

    Returns:
        Masked scores, same shape as scores.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import apply_attention_mask
        >>> apply_attention_mask(np.array([[1.0, 2.0]]), np.array([[True, False]]))
        array([[ 1.e+00, -1.e+09]])
    """
    mask = np.asarray(mask)
    if mask.dtype != bool:
        came = f"a bool mask (True = attend) expected, got {mask.dtype}"
        remedy = "convert it with mask != 0 if it has ones where a query attends"
        raise TypeError(f"apply_attention_mask: {came}; {remedy}")
    try:
        attend = np.broadcast_to(mask, scores.shape)
    except ValueError:
        padding = scores.ndim == 4 and mask.shape == (scores.shape[0], scores.shape[3])
        hint = "; a padding mask is given as mask[:, None, None, :]" if padding else ""
        what = f"a mask of shape {mask.shape} does not broadcast to scores of shape {scores.shape}"
        raise ValueError(f"apply_attention_mask: {what}{hint}") from None
    return np.where(attend, scores, mask_value)


def attention_weights(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Convert scores to attention weights via softmax.

    w_i = exp(s_i) / Σ_j exp(s_j). Subtracting the largest score from all of them changes
    nothing, since it cancels, but the exponentials cannot overflow.

    Args:
        scores: Attention scores.
        axis: Axis to apply softmax (default: last axis).

    Returns:
        Weights, same shape as scores, sum to 1 along axis; 0 where all scores are -inf.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import attention_weights
        >>> attention_weights(np.array([1000.0, 1000.0, 0.0]))
        array([0.5, 0.5, 0. ])
    """
    scores = scores + 0.0  # integers become floats
    top = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - np.where(top == -np.inf, 0, top))  # -inf - -inf would be NaN
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def attention_weights_backward(
    grad_weights: np.ndarray, weights: np.ndarray, axis: int = -1
) -> np.ndarray:
    """Compute the gradient of the scores, from that of the weights and the weights.

    Each weight depends on every score of its row: ∂w_i/∂s_j = w_i (δ_ij - w_j). Hence ::

        grad_s_j = Σ_i grad_w_i w_i (δ_ij - w_j) = w_j (grad_w_j - Σ_i grad_w_i w_i)

    The sum is the weighted mean of grad_w: the gradient of a score is positive where grad_w is
    above that mean.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import attention_weights_backward
        >>> attention_weights_backward(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
        array([ 0.25, -0.25])
    """
    mean = (grad_weights * weights).sum(axis=axis, keepdims=True)  # (..., seq_q, 1)
    return weights * (grad_weights - mean)  # (..., seq_q, seq_k)


def scaled_dot_product_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute scaled dot-product attention: softmax(QKᵀ / √d_k) V.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Args:
        Q: Queries, shape (..., seq_q, d_k).
        K: Keys, shape (..., seq_k, d_k).
        V: Values, shape (..., seq_k, d_v).
        mask: Optional boolean mask, True = attend, shape broadcastable to (..., seq_q, seq_k).

    Returns:
        Output, the attended values of shape (..., seq_q, d_v), and attention weights, shape
        (..., seq_q, seq_k).

    Raises:
        TypeError: The mask is not boolean.
        ValueError: The shapes do not fit.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import scaled_dot_product_attention
        >>> Q, K = np.zeros((1, 8)), np.ones((2, 8))
        >>> output, weights = scaled_dot_product_attention(Q, K, np.array([[1.0], [3.0]]))
        >>> output, weights
        (array([[2.]]), array([[0.5, 0.5]]))
    """
    _check_sequences("scaled_dot_product_attention", Q, K, V)
    scores = compute_attention_scores(Q, K)  # (..., seq_q, seq_k)
    if mask is not None:
        scores = apply_attention_mask(scores, mask)
    weights = attention_weights(scores)  # (..., seq_q, seq_k)
    return weights @ V, weights  # (..., seq_q, seq_k) @ (..., seq_k, d_v)


def scaled_dot_product_attention_backward(
    grad_output: np.ndarray, Q: np.ndarray, K: np.ndarray, V: np.ndarray, weights: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Compute the backward pass of scaled dot-product attention.

    The forward steps in reverse order, each by its rule::

        output  = weights V       grad_weights = grad_output Vᵀ,  grad_V = weightsᵀ grad_output
        weights = softmax         attention_weights_backward
        scores  = Q Kᵀ / √d_k     grad_Q = grad_scores K / √d_k,  grad_K = grad_scoresᵀ Q / √d_k

    The arguments are those of the forward pass, with `grad_output`, shape (..., seq_q, d_v), and
    the weights that it returned.

    Returns:
        grad_Q, grad_K and grad_V, the gradients w.r.t. Q, K and V.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import (
        ...     scaled_dot_product_attention, scaled_dot_product_attention_backward
        ... )
        >>> Q, K, V = np.zeros((1, 4)), np.eye(2, 4), np.array([[1.0], [3.0]])
        >>> output, weights = scaled_dot_product_attention(Q, K, V)
        >>> grads = scaled_dot_product_attention_backward(np.ones((1, 1)), Q, K, V, weights)
        >>> [grad.shape for grad in grads]
        [(1, 4), (2, 4), (2, 1)]
        >>> grads[0]  # towards the key of the larger value
        array([[-0.25,  0.25,  0.  ,  0.  ]])
    """
    grad_weights = grad_output @ V.swapaxes(-1, -2)  # (..., seq_q, seq_k)
    grad_V = weights.swapaxes(-1, -2) @ grad_output  # (..., seq_k, d_v)

    grad_scores = attention_weights_backward(grad_weights, weights)  # (..., seq_q, seq_k)
    if mask is not None:
        grad_scores = np.where(mask, grad_scores, 0)

    grad_products = grad_scores / Q.shape[-1] ** 0.5  # those of Q Kᵀ, before scaling
    grad_Q = grad_products @ K  # (..., seq_q, d_k)
    grad_K = grad_products.swapaxes(-1, -2) @ Q  # (..., seq_k, d_k)
    return grad_Q, grad_K, grad_V


def additive_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, v: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Compute Bahdanau-style additive attention: score(q, k) = vᵀ tanh(W_q q + W_k k).

    A network with one hidden layer scores each pair of a query and a key, whose widths may differ.
    Weights have shape (in, out) and queries are rows, so W_q q is written q W_q here.

    Source: Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
    translate", 2015.

    Args:
        Q: Queries, shape (batch, seq_q, d_q).
        K: Keys, shape (batch, seq_k, d_k).
        V: Values, shape (batch, seq_k, d_v).
        W_q: Query projection, shape (d_q, d_attn).
        W_k: Key projection, shape (d_k, d_attn).
        v: Score vector, shape (d_attn,).
        mask: Optional boolean mask, True = attend, broadcastable to (batch, seq_q, seq_k).

    Returns:
        Output, the attended values of shape (batch, seq_q, d_v), and attention weights, shape
        (batch, seq_q, seq_k).

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import additive_attention
        >>> Q, K, V = np.ones((2, 4, 6)), np.ones((2, 5, 3)), np.ones((2, 5, 8))
        >>> W_q, W_k, v = np.ones((6, 7)), np.ones((3, 7)), np.ones(7)
        >>> output, weights = additive_attention(Q, K, V, W_q, W_k, v)
        >>> output.shape, weights.shape
        ((2, 4, 8), (2, 4, 5))
    """
    _check_sequences("additive_attention", Q, K, V)
    check_shapes(
        "additive_attention",
        Q=(Q, (len(Q), *Q.shape[-2:])),
        W_q=(W_q, (Q.shape[-1], v.size)),
        W_k=(W_k, (K.shape[-1], v.size)),
        v=(v, (v.size,)),
    )
    hidden = _additive_hidden(Q, K, W_q, W_k)  # (batch, seq_q, seq_k, d_attn)
    scores = hidden @ v  # (batch, seq_q, seq_k)
    if mask is not None:
        scores = apply_attention_mask(scores, mask)
    weights = attention_weights(scores)  # (batch, seq_q, seq_k)
    return weights @ V, weights  # (batch, seq_q, seq_k) @ (batch, seq_k, d_v)


def additive_attention_backward(
    grad_output: np.ndarray, Q: np.ndarray, K: np.ndarray, V: np.ndarray, W_q: np.ndarray,
    W_k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:  # fmt: skip
    """Compute the backward pass of additive attention.

    From the scores on, as in dot-product attention. Before them, with hidden = tanh(sums) and
    tanh' = 1 - tanh², ::

        scores = hidden v                   grad_hidden = grad_scores vᵀ
        hidden = tanh(sums)                 grad_sums   = grad_hidden (1 - hidden²)
        sums_ij = (Q W_q)_i + (K W_k)_j     grad of (Q W_q)_i = Σ_j grad_sums_ij
                                            grad of (K W_k)_j = Σ_i grad_sums_ij

    A query occurs in the sums with all keys, so its gradient is summed over the keys, and that of a
    key over the queries.

    The arguments are those of the forward pass, with `grad_output`, shape (batch, seq_q, d_v).

    Returns:
        grad_Q, grad_K and grad_V, the gradients w.r.t. Q, K and V, and grad_params, a dict with
        the gradients for W_q, W_k, v.

    Example:
        >>> import numpy as np
        >>> from minigrad.nn.by_hand import additive_attention_backward
        >>> Q, K, V = np.ones((1, 1, 2)), np.ones((1, 2, 3)), np.ones((1, 2, 4))
        >>> W_q, W_k, v = np.ones((2, 5)), np.ones((3, 5)), np.ones(5)
        >>> *grads, grad_params = additive_attention_backward(
        ...     np.ones((1, 1, 4)), Q, K, V, W_q, W_k, v
        ... )
        >>> {name: grad.shape for name, grad in grad_params.items()}
        {'W_q': (2, 5), 'W_k': (3, 5), 'v': (5,)}
    """
    _, weights = additive_attention(Q, K, V, W_q, W_k, v, mask)
    hidden = _additive_hidden(Q, K, W_q, W_k)  # (batch, seq_q, seq_k, d_attn)

    grad_weights = grad_output @ V.swapaxes(-1, -2)  # (batch, seq_q, seq_k)
    grad_V = weights.swapaxes(-1, -2) @ grad_output  # (batch, seq_k, d_v)
    grad_scores = attention_weights_backward(grad_weights, weights)  # (batch, seq_q, seq_k)
    if mask is not None:
        grad_scores = np.where(mask, grad_scores, 0)

    grad_v = np.tensordot(grad_scores, hidden, axes=3)  # (d_attn,): summed over every pair
    grad_hidden = grad_scores[..., None] * v  # (batch, seq_q, seq_k, d_attn)
    grad_sums = grad_hidden * (1 - hidden**2)
    grad_queries = grad_sums.sum(axis=2)  # (batch, seq_q, d_attn)
    grad_keys = grad_sums.sum(axis=1)  # (batch, seq_k, d_attn)

    grad_params = {
        "W_q": np.tensordot(Q, grad_queries, axes=((0, 1), (0, 1))),  # (d_q, d_attn)
        "W_k": np.tensordot(K, grad_keys, axes=((0, 1), (0, 1))),  # (d_k, d_attn)
        "v": grad_v,
    }
    return grad_queries @ W_q.T, grad_keys @ W_k.T, grad_V, grad_params


def _additive_hidden(Q: np.ndarray, K: np.ndarray, W_q: np.ndarray, W_k: np.ndarray) -> np.ndarray:
    """Tanh of each projected query plus each projected key."""
    queries = Q @ W_q  # (batch, seq_q, d_attn)
    keys = K @ W_k  # (batch, seq_k, d_attn)
    return np.tanh(queries[:, :, None, :] + keys[:, None, :, :])  # every pair


def _check_sequences(owner: str, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> None:
    """Raise unless K and V have the axes of Q before the last two, and V as many rows as K."""
    rows = (*Q.shape[:-2], K.shape[-2])
    check_shapes(owner, K=(K, (*rows, K.shape[-1])), V=(V, (*rows, V.shape[-1])))


def check_shapes(owner: str, **wanted: tuple[np.ndarray, tuple[int, ...]]) -> None:
    """Raise for the first array that does not have the shape given with it."""
    for name, (array, shape) in wanted.items():
        if array.shape != shape:
            raise ValueError(f"{owner}: {name} must have shape {shape}, got {array.shape}")
