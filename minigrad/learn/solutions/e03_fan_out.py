"""Exercise 3: fan-out.

A value that is used twice changes the result in two ways. Its gradient is the sum of both.

1. `accumulate`: gradients arrive one after the other, as pairs of a name and a number. A name may
   come several times. Return a dictionary with the whole gradient of each name.
   For [("x", 1.0), ("a", 3.0), ("x", 2.0)] it is {"x": 3.0, "a": 3.0}.
2. `backward`: y is computed from x and w in four steps, which are given. Return the gradients of a,
   x and w. The slope of p * q with respect to p is q, and that of p + q is 1. Walk back from y:
   since y = b * c, the gradient of b is c, and the gradient of c is b. Then look for every place
   where a is used, where x is used, and where w is used.
"""


def accumulate(arrivals):
    """The whole gradient of each name, as a dictionary."""
    # gap: return the dictionary
    grads = {}
    for name, value in arrivals:
        grads[name] = grads.get(name, 0.0) + value
    return grads
    # end of gap


def backward(x, w):
    """The gradients of a, x and w, in this order, of the y that is computed here."""
    a = x * w
    b = a * a
    c = a + x
    y = b * c
    grad_b = c
    grad_c = b
    # gap: compute grad_a, grad_x and grad_w
    grad_a = grad_b * a + grad_b * a + grad_c  # a is used three times: twice in b, once in c
    grad_x = grad_a * w + grad_c
    grad_w = grad_a * x
    # end of gap
    return grad_a, grad_x, grad_w


if __name__ == "__main__":  # to try things out: python 03_fan_out.py
    print(accumulate([("x", 1.0), ("a", 3.0), ("x", 2.0)]))
    print(backward(2.0, 3.0))
