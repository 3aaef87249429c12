"""Exercise 10: logsumexp.

log(exp(x_1) + ... + exp(x_n)) is in every loss for classification. As it is written here it
fails: exp(1000) is larger than any float, and exp(-1000) is 0, whose logarithm is -inf. But the
result itself is harmless: it lies between the largest x and the largest x plus log(n).

1. `logsumexp`: the value along the last axis, for x of shape (..., n), also where x holds 1000 or
   -1000. Where all entries of a row are -inf (nothing is left of it: it is masked), it is -inf.
2. `logsumexp_backward`: g and out, the result of the forward pass, have the shape of x without its
   last axis. Compute the gradient of x. A row that is all -inf gets zeros, not NaN.
"""

import numpy as np


def logsumexp(x):
    """The logarithm of the sum of the exponentials along the last axis."""
    # gap: log(sum(exp(x))) = m + log(sum(exp(x - m))) for every number m
    m = np.max(x, axis=-1, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)  # -inf - -inf would be NaN
    return np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]
    # end of gap


def logsumexp_backward(g, x, out):
    """The gradient of x, where out = logsumexp(x)."""
    # gap: the slopes add up to 1 in each row
    out = np.where(np.isfinite(out), out, 0.0)
    return g[..., None] * np.exp(x - out[..., None])
    # end of gap


if __name__ == "__main__":  # to try things out: python 10_logsumexp.py
    x = np.array([[1.0, 2.0, 3.0], [1000.0, 1000.0, 999.0]])
    print(logsumexp(x))
    print(logsumexp_backward(np.ones(2), x, logsumexp(x)))
