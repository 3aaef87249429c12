"""Exercise 1: a slope by hand.

The slope (or derivative) of a function says how much the result changes for a small change of
the input. Everything in this course is built of slopes.

1. `numerical_slope` measures a slope. Look a little to the right of x and a little to the left,
   at x + h and x - h. Divide the change of f by the change of its input.
2. `exact_slope` computes the slope of this f without measuring: write its derivative.
"""


def f(x):
    """What is given: f(x) = x³ - 2x."""
    return x * x * x - 2 * x


def numerical_slope(f, x, h=1e-4):
    """The slope of f at x, measured from x - h to x + h."""
    # gap: return the change of f, divided by the change of its input
    return (f(x + h) - f(x - h)) / (2 * h)
    # end of gap


def exact_slope(x):
    """The derivative of x³ - 2x at x."""
    # gap: return the exact slope
    return 3 * x * x - 2
    # end of gap


if __name__ == "__main__":  # to try things out: python 01_slope.py
    print("measured:", numerical_slope(f, 2.0))
    print("exact:   ", exact_slope(2.0))
