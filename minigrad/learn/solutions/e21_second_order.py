"""Exercise 21: second order.

A gradient is computed by ordinary operations. With create_graph=True they are recorded, and the
gradient can be differentiated again:

    (gradient,) = grad(y, x, create_graph=True)     a tuple; a tensor with a history in it

f takes a tensor and returns a tensor with one number; x is a tensor that requires a gradient.

1. `hvp` returns H v, where H is the matrix of second derivatives of f at x. H itself is never
   computed: with a million parameters nobody could hold it. v is an array of the shape of x.
2. `penalised_gradient` returns the gradient with respect to x of

       f(x) + strength * (sum of the squares of the gradient of f at x)

   Such a penalty makes the function flat where it ends.
"""

import numpy as np

import minigrad
from minigrad.autograd import grad


def hvp(f, x, v):
    """The Hessian of f at x times v, of the shape of x."""
    # gap: return a tensor or an array
    (slope,) = grad(f(x), x, create_graph=True)
    return grad((slope * v).sum(), x)[0]
    # end of gap


def penalised_gradient(f, x, strength):
    """The gradient of f(x) + strength * (sum of the squares of the gradient of f)."""
    # gap: return a tensor or an array
    y = f(x)
    (slope,) = grad(y, x, create_graph=True)
    return grad(y + strength * (slope * slope).sum(), x)[0]
    # end of gap


if __name__ == "__main__":  # try things out here: python 21_second_order.py
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    print(hvp(lambda x: (x**3).sum(), x, np.array([1.0, 0.0])))  # 6 x v
    print(penalised_gradient(lambda x: (x**2).sum(), x, 0.5))  # 2 x + 0.5 * 8 x
