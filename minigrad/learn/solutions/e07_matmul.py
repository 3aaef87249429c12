"""Exercise 7: matmul.

c = a @ b is the work of every neural network: c[i, k] is the sum over j of a[i, j] * b[j, k].
A gradient g arrives: g[i, k] is the derivative of the loss with respect to c[i, k].

1. In `matmul_backward`, a is (n, m) and b is (m, p), so c and g are (n, p).
   Compute the gradients of a and of b.
2. In `layer_backward`, one weight w of shape (m, p) serves a whole batch: x is (batch, length, m),
   and g is (batch, length, p). Compute the gradients of x and of w.

No loop over the entries is needed: each gradient is a matrix product again.
"""

import numpy as np


def matmul_backward(g, a, b):
    """The gradients of a and of b, in this order, where c = a @ b."""
    # gap: return grad_a, grad_b
    return g @ b.T, a.T @ g
    # end of gap


def layer_backward(g, x, w):
    """The gradients of x and of w, in this order, where y = x @ w for a batch of sequences."""
    # gap: return grad_x, grad_w
    grad_x = g @ w.T
    rows = x.reshape(-1, x.shape[-1])  # (batch * length, m)
    grad_w = rows.T @ g.reshape(-1, g.shape[-1])  # (m, p)
    return grad_x, grad_w
    # end of gap


if __name__ == "__main__":  # try things out here: python 07_matmul.py
    g, a, b = np.ones((2, 4)), np.ones((2, 3)), np.ones((3, 4))
    print(matmul_backward(g, a, b))
