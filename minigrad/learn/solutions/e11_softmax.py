"""Exercise 11: softmax.

softmax turns a row of numbers into weights that are positive and add up to 1: exp(x_i), divided by
the sum of exp(x_j) over the row. It is in every classifier and in every attention.

1. `softmax`: along the last axis, without overflow, as in exercise 10.
2. `softmax_backward`: g is the gradient of y = softmax(x). Every x_j changes every y_i of its row:
       the slope of y_i with respect to x_j is   y_i * (1 - y_i)   where i = j,
                                                 -y_i * y_j        elsewhere.
   The gradient of x_j is the sum over i of g_i times this slope. Do not build this table: on paper,
   the sum becomes two terms, of which one is common to the whole row.
"""

import numpy as np


def softmax(x):
    """The softmax along the last axis."""
    # gap: subtract the largest entry of each row first
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
    # end of gap


def softmax_backward(g, y):
    """The gradient of x, where y = softmax(x)."""
    # gap: everything it needs is g and y
    return y * (g - (g * y).sum(axis=-1, keepdims=True))
    # end of gap


if __name__ == "__main__":  # to try things out: python 11_softmax.py
    y = softmax(np.array([[1.0, 2.0, 3.0]]))
    print(y, y.sum())
    print(softmax_backward(np.array([[1.0, 0.0, 0.0]]), y))
