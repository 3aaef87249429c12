"""Exercise 14: the where trap.

The root of a negative number is NaN, so people write where(x > 0, sqrt(x), 0). The values are
right. But sqrt runs on all of x, and its slope at 0 is infinite. Going back, `where` sends it a
gradient of 0 there, and 0 * inf is NaN. There are two ways out; find both.

1. In the rule of sqrt. `sqrt_rule` returns g times the slope 0.5 / sqrt(x), but where g is 0 it
   returns 0, whatever the slope is. Where g is not 0, the result stays what it is: at x = 0 the
   slope is really infinite, and below 0 it is really NaN. Do not hide that.
2. In the function, when the rule of sqrt is the naive one. `value` calls sqrt on `inside(x)`
   instead of x. Choose `inside` so that `value` still returns exactly sqrt(x) where x > 0 and 0
   elsewhere, and `value_backward`, whose naive rule you cannot change, makes no NaN.
"""

import numpy as np


def sqrt_rule(g, x):
    """The gradient of x, where y = sqrt(x) and g is the gradient of y."""
    # gap: return an array of the shape of x
    slope = 0.5 / np.sqrt(x)
    nothing = (g == 0) & ~np.isfinite(slope)
    return g * np.where(nothing, 0.0, slope)
    # end of gap


def inside(x):
    """What sqrt is called with in `value`."""
    # gap: return an array of the shape of x
    return np.where(x > 0, x, 1.0)
    # end of gap


def value(x):
    """Given: sqrt(x) where x > 0, and 0 elsewhere."""
    return np.where(x > 0, np.sqrt(inside(x)), 0.0)


def value_backward(g, x):
    """Given: the gradient of inside(x), where g is that of value(x)."""
    g_root = np.where(x > 0, g, 0.0)  # the rule of where: 0 where it is not chosen
    return g_root * (0.5 / np.sqrt(inside(x)))  # the naive rule of sqrt


if __name__ == "__main__":  # try things out here: python 14_where_trap.py
    x = np.array([4.0, 0.0, -1.0])
    with np.errstate(all="ignore"):  # NumPy would warn of the root of -1
        print(sqrt_rule(np.array([1.0, 0.0, 0.0]), x))
        print(value(x), value_backward(np.ones(3), x))
