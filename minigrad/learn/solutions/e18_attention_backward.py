"""Exercise 18: attention, backward by hand.

An encoder block, forward, is given below in four parts: attention, multi-head attention, learned
positions, and the block around them. Write the backward pass of each. g is the gradient of the
output. Go through the forward lines from the last to the first, and use for each line the rule that
you know: of a product (exercise 7), of softmax (exercise 11), of a sum.

1. `attention_backward` returns the gradients of Q, K and V, each of the shape of its array.
2. `multi_head_backward` returns the gradient of x, and a dict with those of W_Q, W_K, W_V and W_O.
3. `add_positions_backward` returns the gradients of x and of the whole table, unused rows included.
4. `block_backward` returns the gradient of x, and a dict with those of all parameters.
"""

import numpy as np

from minigrad.nn.by_hand import (
    feed_forward,
    feed_forward_backward,  # g, x, W1, b1, W2 -> grad_x, and a dict with W1, b1, W2, b2
    layer_norm,
    layer_norm_backward,  # g, x, gamma -> grad_x, grad_gamma, grad_beta (exercise 12)
)


def attention(Q, K, V):
    """Given: the output and the weights, as in exercise 16."""
    scores = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


def attention_backward(g, Q, K, V, weights):
    """The gradients of Q, K and V."""
    # gap: return grad_Q, grad_K, grad_V
    grad_weights = g @ V.swapaxes(-1, -2)
    grad_V = weights.swapaxes(-1, -2) @ g
    mean = (grad_weights * weights).sum(axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - mean) / Q.shape[-1] ** 0.5
    grad_Q = grad_scores @ K
    grad_K = grad_scores.swapaxes(-1, -2) @ Q
    return grad_Q, grad_K, grad_V
    # end of gap


def split_heads(x, heads):
    """Given: (batch, length, width) -> (batch, heads, length, width / heads)."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def merge_heads(x):
    """Given: (batch, heads, length, width / heads) -> (batch, length, width)."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def multi_head(x, p, heads):
    """Given: self-attention of x (batch, length, width), and what its backward pass needs."""
    q, k, v = (split_heads(x @ p[name], heads) for name in ("W_Q", "W_K", "W_V"))
    output, weights = attention(q, k, v)
    merged = merge_heads(output)
    return merged @ p["W_O"], {"x": x, "q": q, "k": k, "v": v, "weights": weights, "merged": merged}


def multi_head_backward(g, p, cache):
    """The gradient of x, and those of the four weights by name."""
    # gap: return grad_x, {"W_Q": ..., "W_K": ..., "W_V": ..., "W_O": ...}
    x, heads = cache["x"], cache["q"].shape[1]
    grads = {"W_O": (cache["merged"].swapaxes(1, 2) @ g).sum(axis=0)}
    grad_output = split_heads(g @ p["W_O"].T, heads)
    parts = attention_backward(grad_output, cache["q"], cache["k"], cache["v"], cache["weights"])
    grad_x = 0
    for name, part in zip(("W_Q", "W_K", "W_V"), parts, strict=True):
        grad_projected = merge_heads(part)  # the gradient of x @ p[name]
        grads[name] = (x.swapaxes(1, 2) @ grad_projected).sum(axis=0)
        grad_x = grad_x + grad_projected @ p[name].T
    return grad_x, grads
    # end of gap


def add_positions(x, table):
    """Given: x (batch, length, width) plus the first rows of a learned table (longest, width)."""
    return x + table[: x.shape[1]]


def add_positions_backward(g, table):
    """The gradients of x and of the table."""
    # gap: return grad_x, grad_table
    grad_table = np.zeros(table.shape)
    grad_table[: g.shape[1]] = g.sum(axis=0)
    return g, grad_table
    # end of gap


def block(x, p, heads):
    """Given: attention and a feed-forward network, with a layer norm and a residual each."""
    attended, inner = multi_head(layer_norm(x, p["gamma1"], p["beta1"]), p, heads)
    middle = x + attended
    normal = layer_norm(middle, p["gamma2"], p["beta2"])
    output = middle + feed_forward(normal, p["W1"], p["b1"], p["W2"], p["b2"])
    return output, {"x": x, "attention": inner, "middle": middle, "normal": normal}


def block_backward(g, p, cache):
    """The gradient of x, and those of the parameters by name."""
    # gap: return grad_x, {"gamma1": ..., "beta1": ..., "W_Q": ..., ..., "b2": ...}
    grad_normal, grads = feed_forward_backward(g, cache["normal"], p["W1"], p["b1"], p["W2"])
    grad_middle, grads["gamma2"], grads["beta2"] = layer_norm_backward(
        grad_normal, cache["middle"], p["gamma2"]
    )
    grad_middle = grad_middle + g
    grad_normal, attention_grads = multi_head_backward(grad_middle, p, cache["attention"])
    grad_x, grads["gamma1"], grads["beta1"] = layer_norm_backward(
        grad_normal, cache["x"], p["gamma1"]
    )
    return grad_x + grad_middle, grads | attention_grads
    # end of gap


if __name__ == "__main__":  # try things out here: python 18_attention_backward.py
    Q, K, V = np.eye(2, 4), np.eye(3, 4), np.ones((3, 1))
    output, weights = attention(Q, K, V)
    print(attention_backward(np.ones((2, 1)), Q, K, V, weights))
