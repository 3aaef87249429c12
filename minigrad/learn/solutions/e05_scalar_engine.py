"""Exercise 5: a scalar engine in 60 lines.

Now the pieces of exercises 1 to 4 become an engine. A `Value` is a number that remembers what it
was computed from (its parents), and its slope with respect to each parent. `+` is given.

1. Write `*`, `**` and `tanh` in the same way. The slope of tanh(x) is 1 - tanh(x)².
2. Write `backward`. The gradient of the result with respect to itself is 1. Then each value, in
   the order of exercise 4, adds slope * its own gradient to the gradient of each parent.
   Here `value.parents` means `parents[value]`. A chain of 3,000 values must work. Keep the
   gradients of a pass in a dict, and add them to `.grad` at its end: what another result has left
   in `.grad` stays there, and is not passed on again.
"""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=(), slopes=(), op=""):
        self.data = data  # the number
        self.grad = 0.0  # the gradient: the slope of the result with respect to this number
        self.parents = parents  # the values that it was computed from
        self.slopes = slopes  # its slope with respect to each of them
        self.op = op  # what computed it, for the drawing

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0), "+")

    def __mul__(self, other):
        other = as_value(other)
        # gap: return the product, as __add__ does
        return Value(self.data * other.data, (self, other), (other.data, self.data), "*")
        # end of gap

    def __pow__(self, n):
        # gap: return the power; n is a number, and has no gradient
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),), f"**{n}")
        # end of gap

    def tanh(self):
        """The hyperbolic tangent."""
        # gap: return math.tanh(self.data) as a Value
        y = math.tanh(self.data)
        return Value(y, (self,), (1 - y * y,), "tanh")
        # end of gap

    def backward(self):
        """Add to the .grad of everything that this value was computed from."""
        # gap: find the order, begin with 1, and walk back
        found = [self]
        uses = {self: 0}
        for value in found:
            for parent in value.parents:
                if parent not in uses:
                    uses[parent] = 0
                    found.append(parent)
                uses[parent] += 1
        gradients = dict.fromkeys(found, 0.0)  # of this pass
        gradients[self] = 1.0
        ready = [self]
        while ready:
            value = ready.pop()
            for parent, slope in zip(value.parents, value.slopes):
                gradients[parent] += slope * gradients[value]
                uses[parent] -= 1
                if uses[parent] == 0:
                    ready.append(parent)
        for value, gradient in gradients.items():
            value.grad += gradient
        # end of gap

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + as_value(other) * -1

    def __truediv__(self, other):
        return self * as_value(other) ** -1

    __radd__ = __add__
    __rmul__ = __mul__


def as_value(x):
    """A number as a Value; a Value as it is."""
    return x if isinstance(x, Value) else Value(x)


if __name__ == "__main__":  # to try things out: python 05_scalar_engine.py
    x = Value(2.0)
    y = x * x + x
    y.backward()
    print(y.data, x.grad)  # 6.0 5.0
