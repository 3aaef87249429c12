"""Exercise 26: collectives and their adjoints.

Several machines, called ranks, compute together. Each holds its own arrays. A collective is an
operation in which all ranks take part. Here the ranks are simulated: a list has one array for each
rank, and a collective takes a list and returns a list.

The loss is the sum over the ranks of what each of them computes, so g has one array for each rank:
the gradient of that rank's output. Write the backward pass of five collectives, which are given.
For each input ask: which ranks got it, and what did each of them do with it?

All return a list, with the gradient of each rank's input:

1. `all_reduce_backward(g)`: every rank got the sum of all inputs.
2. `broadcast_backward(g, root)`: every rank got the input of the root. Those of the others were not
   used: their gradients are zeros.
3. `all_gather_backward(g)`: every rank got the inputs of all ranks, one below the other.
4. `reduce_scatter_backward(g)`: the inputs were added, and rank r got block r of the sum.
5. `ring_shift_backward(g)`: each rank passed its input on to the next one.
"""

import numpy as np


def all_reduce(xs):
    """Given: every rank gets the sum."""
    return [sum(xs) for _ in xs]


def broadcast(xs, root):
    """Given: every rank gets what the root has."""
    return [xs[root] for _ in xs]


def all_gather(xs):
    """Given: every rank gets all rows; each rank has as many."""
    return [np.concatenate(xs) for _ in xs]


def reduce_scatter(xs):
    """Given: the sum is cut into blocks of rows, one for each rank."""
    return np.split(sum(xs), len(xs))


def ring_shift(xs):
    """Given: rank r gets what rank r - 1 had, and rank 0 what the last one had."""
    return [xs[r - 1] for r in range(len(xs))]


def all_reduce_backward(g):
    """The gradient of each rank's input."""
    # gap: return a list with one array for each rank
    return all_reduce(g)
    # end of gap


def broadcast_backward(g, root):
    """The gradient of each rank's input."""
    # gap: return a list with one array for each rank
    total = sum(g)
    return [total if r == root else np.zeros_like(total) for r in range(len(g))]
    # end of gap


def all_gather_backward(g):
    """The gradient of each rank's input."""
    # gap: return a list with one array for each rank
    return reduce_scatter(g)
    # end of gap


def reduce_scatter_backward(g):
    """The gradient of each rank's input."""
    # gap: return a list with one array for each rank
    return all_gather(g)
    # end of gap


def ring_shift_backward(g):
    """The gradient of each rank's input."""
    # gap: return a list with one array for each rank
    return [g[(r + 1) % len(g)] for r in range(len(g))]
    # end of gap


if __name__ == "__main__":  # to try things out: python 26_collectives.py
    g = [np.array([1.0, 2.0]), np.array([10.0, 20.0])]
    print(all_reduce_backward(g))
    print(broadcast_backward(g, root=1))
