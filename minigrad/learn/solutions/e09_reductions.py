"""Exercise 9: reductions.

A sum, a mean or a maximum along an axis makes an array smaller: for x of shape (4, 3) and axis 1,
the result has shape (4,), and so has g. The gradient of x has the shape of x again. `axis` is a
whole number, or None for a reduction of everything to one number.

1. `sum_backward`: every entry has slope 1 in its sum.
2. `mean_backward`: a mean is a sum, divided by the number of entries that go into it.
3. `max_backward`: only the largest entry has a slope. Where several entries are equally large, they
   share g in equal parts: two get half of it each.
"""

import numpy as np


def sum_backward(g, x, axis):
    """The gradient of x, where y = x.sum(axis=axis)."""
    # gap: g lacks an axis: put it back, then spread g along it
    if axis is not None:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, x.shape)
    # end of gap


def mean_backward(g, x, axis):
    """The gradient of x, where y = x.mean(axis=axis)."""
    # gap: sum_backward may help
    count = x.size if axis is None else x.shape[axis]
    return sum_backward(g, x, axis) / count
    # end of gap


def max_backward(g, x, axis):
    """The gradient of x, where y = x.max(axis=axis)."""
    # gap: which entries are the largest of their row?
    largest = x == np.max(x, axis=axis, keepdims=True)
    return sum_backward(g, x, axis) * largest / largest.sum(axis=axis, keepdims=True)
    # end of gap


if __name__ == "__main__":  # to try things out: python 09_reductions.py
    x = np.array([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]])
    print(max_backward(np.ones(2), x, 1))
