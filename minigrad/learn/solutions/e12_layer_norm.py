"""Exercise 12: layer_norm.

Layer normalization makes each row (the last axis of x) have mean 0 and variance 1, and then
stretches it by w and moves it by b, which are learned: both have shape (features,).

    mean = mean of the row          var = mean of (x - mean)²  (divided by n, not by n - 1)
    xhat = (x - mean) / sqrt(var + eps)
    y    = xhat * w + b

1. `layer_norm`: the forward pass, for x of shape (batch, length, features).
2. `layer_norm_backward`: the gradients of x, w and b. x acts on y in three ways: directly, through
   the mean, and through the variance. Each way gives one term. (eps is inside of the root.)
"""

import numpy as np


def layer_norm(x, w, b, eps):
    """Each row of x normalized, times w, plus b."""
    # gap: return y
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(var + eps) * w + b
    # end of gap


def layer_norm_backward(g, x, w, eps):
    """The gradients of x, w and b, in this order."""
    centred = x - x.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
    xhat = centred * rstd
    # gap: compute grad_b, grad_w and grad_x
    grad_b = g.sum(axis=(0, 1))
    grad_w = (g * xhat).sum(axis=(0, 1))
    h = g * w  # the gradient of xhat
    through_mean = h.mean(axis=-1, keepdims=True)
    through_variance = xhat * (h * xhat).mean(axis=-1, keepdims=True)
    grad_x = rstd * (h - through_mean - through_variance)
    # end of gap
    return grad_x, grad_w, grad_b


if __name__ == "__main__":  # to try things out: python 12_layer_norm.py
    x = np.arange(12.0).reshape(1, 3, 4)
    y = layer_norm(x, np.ones(4), np.zeros(4), 1e-5)
    print(y.mean(axis=-1), y.var(axis=-1))
