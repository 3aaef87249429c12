"""Exercise 30: strides and views.

This comes after exercise 8. An array is a row of numbers in memory, and a rule that says where each
entry is: entry (i, j) is at start + i * strides[0] + j * strides[1]. A view is another rule for the
same memory: a transpose exchanges two strides, x[::-1] has a negative one. (Here a stride counts
entries. NumPy's x.strides counts bytes.)

1. `strides_of`: the strides of a new array of this shape, whose last index runs fastest: the rows
   lie one after the other. For the shape (2, 3) they are (3, 1).
2. `place`: where the entry of an index is, in a view with these strides that begins at `start`.
3. `windows_backward`: y[i, j] = x[i + j] is a view of x with the strides (1, 1): each row is a
   window that begins one entry later. g has the shape of y. Return the gradient of x, of this
   length.
"""

import numpy as np


def strides_of(shape):
    """The strides of a new array, as a tuple."""
    # gap: return a tuple with one stride for each axis
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))
    # end of gap


def place(index, strides, start):
    """Where an entry is in memory; index and strides are tuples of one length."""
    # gap: return a whole number
    return start + sum(i * stride for i, stride in zip(index, strides))
    # end of gap


def windows_backward(g, length):
    """The gradient of x, where y[i, j] = x[i + j]."""
    # gap: return an array of this length
    grad = np.zeros(length)
    for i, row in enumerate(g):
        grad[i : i + len(row)] += row
    return grad
    # end of gap


if __name__ == "__main__":  # to try things out: python 30_strides.py
    print(strides_of((2, 3)), place((1, 2), (3, 1), 0))
    print(windows_backward(np.ones((3, 2)), 4))
