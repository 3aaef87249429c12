"""Exercise 2: the chain rule.

In y = f(g(x)), a change of x changes g(x), and this changes y. If g makes a change 3 times as
large, and f makes it 5 times as large, then y changes 3 * 5 times as much as x: slopes multiply.

1. `slope_of_chain`: the slope of f(g(x)) at x. You are given g, and the slopes df and dg, as
   functions. Think about where each slope has to be taken.
2. `backward`: here y = exp(-(x * x)) is computed in three steps, which are given. Walk back from
   y to x. grad_b is the slope of y with respect to b, grad_a that with respect to a, and so on.
   Each is the one before, times the slope of one step. The slopes of the three steps:
       a = x * x    2 * x
       b = -a       -1
       y = exp(b)   exp(b), which is y itself
"""

import numpy as np


def slope_of_chain(g, df, dg, x):
    """The slope of f(g(x)) at x, where df is the slope of f, and dg is the slope of g."""
    # gap: return the slope
    return df(g(x)) * dg(x)
    # end of gap


def backward(x):
    """The slopes of y with respect to b, a and x, in this order, for y = exp(-(x * x))."""
    a = x * x
    b = -a
    y = np.exp(b)
    grad_y = 1.0  # the slope of y with respect to itself: here the walk begins
    # gap: compute grad_b, grad_a and grad_x, in this order
    grad_b = grad_y * y
    grad_a = grad_b * -1
    grad_x = grad_a * (2 * x)
    # end of gap
    return grad_b, grad_a, grad_x


if __name__ == "__main__":  # to try things out: python 02_chain_rule.py
    print(slope_of_chain(lambda x: x * x, np.cos, lambda x: 2 * x, 1.0))  # of sin(x²) at 1
    print(backward(0.5))
