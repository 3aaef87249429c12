"""Exercise 6: arrays and un-broadcasting.

NumPy stretches a small array to the shape of a large one: in x + b, where x is (4, 3) and b is
(3,), each entry of b is used four times, once in each row. Used four times means four contributions
to its gradient, and they add: the gradient of b is a sum over the rows.

1. `unbroadcast(g, shape)`: g has the shape of the result. Sum it over the axes that NumPy has
   stretched, so that it gets `shape` again. NumPy does two things:
   - it adds axes in front: (3,) is used as (1, 3);
   - it stretches axes of size 1: (1, 3) is used as (4, 3), and (4, 1) as (4, 3).
2. `multiply_backward`: the gradients of a and b in a * b. Each has the shape of its own array.
"""

import numpy as np


def unbroadcast(g, shape):
    """g, summed over everything that was stretched: an array of this shape."""
    # gap: first sum over the axes in front, then over the stretched ones
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=stretched, keepdims=True)
    # end of gap


def multiply_backward(g, a, b):
    """The gradients of a and of b, in this order, where c = a * b and g is the gradient of c."""
    # gap: return grad_a, grad_b
    return unbroadcast(g * b, a.shape), unbroadcast(g * a, b.shape)
    # end of gap


if __name__ == "__main__":  # to try things out: python 06_unbroadcasting.py
    g = np.ones((4, 3))
    print(unbroadcast(g, (3,)))  # four contributions each
    print(unbroadcast(g, (4, 1)).shape)
