"""Exercise 8: indexing and scatter.

y = table[index] takes rows from a table: this is how a model looks up the vectors of its tokens.
A token that comes three times in a text uses its row three times, and a row that is not used
contributes nothing.

1. `gather_backward`: y = table[index], where index is an array of whole numbers of any shape, and g
   has the shape index.shape + (d,). Return the gradient of the table, of shape (rows, d).
   -1 means the last row, as everywhere in NumPy.
2. `scatter_add_backward`: the other direction. `out` begins as zeros, and values[i] is added to row
   index[i] of it. g is the gradient of `out`. Return the gradient of `values`.
"""

import numpy as np


def gather_backward(g, index, rows):
    """The gradient of the table, which has so many rows, where y = table[index]."""
    # gap: begin with zeros
    grad = np.zeros((rows, g.shape[-1]))
    np.add.at(grad, index, g)  # unlike grad[index] += g, it adds for every use
    return grad
    # end of gap


def scatter_add_backward(g, index):
    """The gradient of values, where np.add.at(out, index, values)."""
    # gap: where did each row of values go?
    return g[index]
    # end of gap


if __name__ == "__main__":  # to try things out: python 08_indexing.py
    print(gather_backward(np.ones((3, 2)), np.array([2, 0, 2]), 4))
