"""Exercise 32: convolution along one axis.

This comes after exercise 12. A small array w of weights moves along x, and at each place its
products with the entries below it are added:

    y[t] = x[t] * w[0] + x[t + 1] * w[1] + ... + x[t + k - 1] * w[k - 1]

x has n entries and w has k, so y has n - k + 1. (Deep learning calls this a convolution; for
mathematicians it is a correlation, since w is not turned round.)

1. `convolution`: y.
2. `convolution_backward`: the gradients of x and of w, where g is the gradient of y. Each w is used
   at every place, and each x in up to k places: contributions add.
"""

import numpy as np


def convolution(x, w):
    """y for an x of n entries and a w of k."""
    # gap: return an array of n - k + 1 entries
    places = len(x) - len(w) + 1
    return sum(w[j] * x[j : j + places] for j in range(len(w)))
    # end of gap


def convolution_backward(g, x, w):
    """The gradients of x and of w, in this order."""
    # gap: compute grad_x and grad_w
    grad_x, grad_w = np.zeros(len(x)), np.zeros(len(w))
    for j in range(len(w)):
        grad_x[j : j + len(g)] += g * w[j]
        grad_w[j] = (g * x[j : j + len(g)]).sum()
    # end of gap
    return grad_x, grad_w


if __name__ == "__main__":  # to try things out: python 32_convolution.py
    x, w = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 10.0])
    print(convolution(x, w))
    print(convolution_backward(np.ones(3), x, w))
