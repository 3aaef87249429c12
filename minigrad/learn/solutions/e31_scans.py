"""Exercise 31: cumulative sum, sort and product.

This comes after exercise 9. Three functions of a row of numbers x, where g is the gradient of y.

1. `cumsum_backward`: y = np.cumsum(x), so y[i] = x[0] + ... + x[i]. In which y is x[j]?
2. `sort_backward`: y = np.sort(x), for x without equal numbers. To sort is to move: y[i] is
   x[order[i]], where order = np.argsort(x).
3. `product_backward`: y is the product of all x, one number, and g too. The slope with respect to
   x[i] is the product of all others. Some x may be 0.
"""

import numpy as np


def cumsum_backward(g):
    """The gradient of x, where y = np.cumsum(x)."""
    # gap: return an array of the shape of g
    return np.cumsum(g[::-1])[::-1]
    # end of gap


def sort_backward(g, x):
    """The gradient of x, where y = np.sort(x)."""
    # gap: return an array of the shape of x
    grad = np.zeros(x.shape)
    grad[np.argsort(x)] = g
    return grad
    # end of gap


def product_backward(g, x):
    """The gradient of x, where y = np.prod(x)."""
    # gap: return an array of the shape of x
    return np.array([g * np.prod(np.delete(x, i)) for i in range(len(x))])
    # end of gap


if __name__ == "__main__":  # to try things out: python 31_scans.py
    print(cumsum_backward(np.array([1.0, 2.0, 3.0])))
    print(product_backward(1.0, np.array([2.0, 0.0, 3.0])))
