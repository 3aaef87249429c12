"""Exercise 28: batching rules.

A function is written for one sample, and has to run for many. A loop over the samples runs each op
once per sample. `vmap` runs each op once, on an array of all samples. For that, each op has a
batching rule, which says how it computes all samples at once. Here you write two of them.

An operand x comes with x_axis, the number of the axis that counts its samples. It is never
negative. Sample i is np.take(x, i, axis=x_axis), and has one axis less than x. The result has its
samples along the first axis.

1. `softmax_rule`: the softmax of each sample along `axis`, as in exercise 11. `axis` is an axis of
   one sample, where the axis of the samples does not count. It may be negative: -1 is the last axis
   of a sample.
2. `matmul_rule`: the product of sample i of a and sample i of b, for each i. A sample is a vector
   or a matrix, as for @: two vectors give a number, a vector and a matrix give a vector. Where
   a_axis or b_axis is None, that operand is the same for all samples. This never holds for both.

The samples are independent: no number of one sample may change the result of another. Write no loop
over the samples.
"""

import numpy as np


def softmax_rule(x, x_axis, axis):
    """The softmax of each sample of x; the samples of the result lie along its first axis."""
    # gap: bring the samples to the front; which axis is `axis` then?
    x = np.moveaxis(x, x_axis, 0)
    axis = axis % (x.ndim - 1) + 1
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
    # end of gap


def matmul_rule(a, a_axis, b, b_axis):
    """The product of each sample of a and b; the samples lie along the first axis."""
    # gap: @ multiplies stacks of matrices; make a matrix of each vector, for a while
    if a_axis is not None:
        a = np.moveaxis(a, a_axis, 0)
    if b_axis is not None:
        b = np.moveaxis(b, b_axis, 0)
    a_is_vector = a.ndim - (a_axis is not None) == 1
    b_is_vector = b.ndim - (b_axis is not None) == 1
    if a_is_vector:
        a = a[..., None, :]  # a row
    if b_is_vector:
        b = b[..., None]  # a column
    c = a @ b
    if a_is_vector:
        c = c[..., 0, :]
    if b_is_vector:
        c = c[..., 0]
    return c
    # end of gap


if __name__ == "__main__":  # to try things out: python 28_batching_rules.py
    x = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    print(softmax_rule(x, 0, -1))  # three samples of two numbers
    print(softmax_rule(x, 1, -1))  # two samples of three numbers
    print(matmul_rule(x, 0, np.eye(2), None))
