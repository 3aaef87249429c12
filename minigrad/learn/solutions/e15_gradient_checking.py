"""Exercise 15: gradient checking.

Is a gradient right? Ask the function itself: move one entry of x by a little in both directions,
and see how much f changes.

    slope of entry i  =  (f(x + h e_i) - f(x - h e_i)) / (2 h)        with h = 1e-5, in float64

1. `numeric_gradient` does this for every entry of x, an array of any shape. f takes such an array
   and returns a number. The x that you are given must be unchanged when you return.
2. `relative_error` compares two gradients, entry by entry: their distance |a - n|, divided by the
   larger of |a| and |n|. Where both are 0, the error is 0. Nothing else is small or large by
   itself: 0.001 is a big error in 0.002, and none in a million.
"""

import numpy as np


def numeric_gradient(f, x):
    """The gradient of f at x by central differences, of the shape of x."""
    # gap: return an array of floats, of the shape of x
    h = 1e-5
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        above, below = x.astype(float), x.astype(float)  # two copies
        above[index] += h
        below[index] -= h
        gradient[index] = (f(above) - f(below)) / (2 * h)
    return gradient
    # end of gap


def relative_error(analytic, numeric):
    """How far two gradients differ: 0 where they agree, up to 2 where they do not at all."""
    # gap: return an array of the same shape
    size = np.maximum(abs(analytic), abs(numeric))
    return abs(analytic - numeric) / np.where(size == 0, 1.0, size)
    # end of gap


if __name__ == "__main__":  # try things out here: python 15_gradient_checking.py
    x = np.array([[0.5, 1.0], [2.0, 3.0]])
    numeric = numeric_gradient(lambda x: np.sin(x).sum(), x)
    print(numeric)
    print(relative_error(np.cos(x), numeric))
