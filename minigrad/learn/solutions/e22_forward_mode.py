"""Exercise 22: forward mode with dual numbers.

Backpropagation goes from the loss to the inputs. Forward mode goes along with the computation: a
dual number is a value together with its tangent, the slope of that value with respect to the input.
Each operation computes both at once, and nothing has to be saved.

1. `Dual.__mul__` and `Dual.__truediv__`: the product rule and the quotient rule.
2. `exp`: the slope of exp, times the tangent that comes in (the chain rule).
3. `derivative` returns the slope of f at x. f takes a Dual and returns one. Which tangent does the
   input have?
4. `gradient` does so for a function of several numbers: f takes a list of Duals. One run of f gives
   the slope with respect to one input, so it takes as many runs as there are inputs.
"""

import math


class Dual:
    """A value, and its slope with respect to the input."""

    def __init__(self, value, tangent=0.0):
        """Given. A constant has the tangent 0."""
        self.value, self.tangent = value, tangent

    def __repr__(self):
        """Given."""
        return f"Dual({self.value}, {self.tangent})"

    def __add__(self, other):
        """Given: tangents add."""
        other = dual(other)
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __sub__(self, other):
        """Given."""
        other = dual(other)
        return Dual(self.value - other.value, self.tangent - other.tangent)

    def __mul__(self, other):
        """The product and its tangent."""
        other = dual(other)
        # gap: return a Dual
        tangent = self.tangent * other.value + self.value * other.tangent
        return Dual(self.value * other.value, tangent)
        # end of gap

    def __truediv__(self, other):
        """The quotient and its tangent."""
        other = dual(other)
        # gap: return a Dual
        ratio = self.value / other.value
        return Dual(ratio, (self.tangent - ratio * other.tangent) / other.value)
        # end of gap

    __radd__, __rmul__ = __add__, __mul__  # 2 * x calls x.__rmul__(2)

    def __rsub__(self, other):
        """Given: 1 - x."""
        return dual(other) - self

    def __rtruediv__(self, other):
        """Given: 1 / x."""
        return dual(other) / self


def dual(x):
    """Given: a number becomes a constant."""
    return x if isinstance(x, Dual) else Dual(x)


def exp(x):
    """The exponential of a Dual."""
    # gap: return a Dual
    value = math.exp(x.value)
    return Dual(value, value * x.tangent)
    # end of gap


def derivative(f, x):
    """The slope of f at the number x."""
    # gap: return a number
    return f(Dual(x, 1.0)).tangent
    # end of gap


def gradient(f, x):
    """The slopes of f at a list of numbers, one for each."""
    # gap: return a list of numbers
    slopes = []
    for i in range(len(x)):
        inputs = [Dual(value, 1.0 if i == j else 0.0) for j, value in enumerate(x)]
        slopes.append(f(inputs).tangent)
    return slopes
    # end of gap


if __name__ == "__main__":  # try things out here: python 22_forward_mode.py
    print(derivative(lambda x: x * x * x, 2.0))  # 12
    print(gradient(lambda x: x[0] * x[1] + exp(x[1]), [3.0, 0.0]))  # 0 and 4
