"""Exercise 1: a slope, measured and exact."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def cube(x: float) -> float:
    """x³ - 2x"""
    return x * x * x - 2 * x


def check(answer: Answer) -> None:
    for x, h in [(1.5, 0.1), (-1.0, 0.4)]:  # so large that right and left differ
        right, here, left = cube(x + h), cube(x), cube(x - h)
        answer.compare(
            "the slope", answer.numerical_slope(cube, x, h), (right - left) / (2 * h),
            {
                "one-sided": (right - here) / h,
                "half-change": ((right - here) / (2 * h), (here - left) / (2 * h)),
                "left-sided": (here - left) / h,
                "not-divided": right - left,
                "width": (right - left) / h,
                "precedence": (right - left) / 2 * h,
                "parentheses": right - left / (2 * h),
                "halved": (right - left) / 2,
                "plus": (right + left) / (2 * h),
                "position": tuple((right - left) / one for one in (x, 2 * x, x + h)),
                "another-h": lambda mine, x=x: bool(abs(mine - (3 * x * x - 2)) < 1e-3),
            },
        )  # fmt: skip
    for x in (1.7, -1.3, 0.5, 12.3):
        exact = 3 * x * x - 2
        answer.compare(
            "the slope", answer.exact_slope(x), exact,
            {
                "value": cube(x),
                "power": x * x - 2,
                "linear": 3 * x * x - 2 * x,
                "dropped": 3 * x * x,
                "constant-sign": 3 * x * x + 2,
                "constant": 3 * x * x - 1,
                "square-lost": 3 * x - 2,
                "exponent": 3 * x**3 - 2,
                "another-factor": 2 * x * x - 2,
                "second": 6 * x,
                "measured": lambda mine, exact=exact: bool(np.isclose(mine, exact, rtol=1e-2)),
            },
            rtol=1e-12, atol=1e-12,  # a measured slope is less exact
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """How the slope is measured."""
    return traced(answer.numerical_slope, f=answer.f, x=2.0)


EXERCISE = Exercise(
    title="a slope by hand",
    chapter="multiplication",
    hints=(
        "A slope is a quotient: change of the result, divided by change of the input. From x - h "
        "to x + h, how far does the input move? For the exact slope: the derivative of xⁿ is "
        "n·xⁿ⁻¹, and the derivative of a sum is the sum of the derivatives.",
        "The result changes by f(x + h) - f(x - h), and the input by 2 * h. The derivative of x³ "
        "has a factor 3; the derivative of -2x is a number without x.",
        "return (f(x + h) - f(x - h)) / (2 * h), with both pairs of parentheses. The exact slope "
        "is 3 * x * x minus a number: which one?",
    ),
    why="From both sides the measured slope is much nearer to the exact one: the errors of the two "
    "sides have opposite signs and cancel. This is how minigrad tests its own derivatives. "
    "But to measure costs two calls of f for each input, and a model has millions of inputs. An "
    "exact slope costs about one call for all of them: that is what autograd is for.",
    diagnoses={
        "one-sided": "This is the slope from x to x + h: one side only. Look to both sides, from "
        "x - h to x + h; then most of the error cancels.",
        "left-sided": "This is the slope from x - h to x: one side only. Look to both sides.",
        "not-divided": "This is the change of f alone. A slope is a quotient: divide it by the "
        "change of the input.",
        "width": "From x - h to x + h the input moves by 2 * h, not by h.",
        "precedence": "`a / 2 * h` means `(a / 2) * h` in Python. Write `a / (2 * h)`.",
        "half-change": "This is the change on one side, divided by the width of both. Take both "
        "sides: f(x + h) - f(x - h).",
        "parentheses": "Python divides before it subtracts: here only f(x - h) is divided. Put the "
        "difference into parentheses.",
        "halved": "The change is divided by 2, but the input moves by 2 * h.",
        "plus": "This is a sum of two heights. A change is a difference: f(x + h) - f(x - h).",
        "position": "Divided by x, the place where the slope is taken. The input moves by 2 * h.",
        "another-h": "This is nearer to the exact slope than a measurement with this h can be. Is "
        "h used as it is given, and f?",
        "value": "This is f(x) itself, its height. The slope says how fast the height changes.",
        "power": "The derivative of x³ is 3x²: the exponent comes down as a factor.",
        "linear": "The derivative of -2x is -2: the slope of a straight line does not depend on x.",
        "dropped": "The term -2x has a slope too. Only constants have slope 0.",
        "constant-sign": "The sign of the second term is wrong: the derivative of -2x is -2.",
        "constant": "The derivative of -2x is -2: the factor in front of x.",
        "square-lost": "The derivative of x³ is 3x²: the exponent becomes smaller by 1, to 2.",
        "exponent": "The exponent comes down as a factor, and becomes smaller by 1: 3x².",
        "another-factor": "The factor is the old exponent, 3, and not the new one: 3x².",
        "second": "This is the derivative of the derivative. One derivative is asked for.",
        "measured": "This is close to the exact slope, but not exact. Was it measured? Write the "
        "derivative as a formula in x, without h.",
    },
    wrong=(
        Wrong("one-sided", ("(f(x + h) - f(x - h)) / (2 * h)", "(f(x + h) - f(x)) / h")),
        Wrong("left-sided", ("(f(x + h) - f(x - h)) / (2 * h)", "(f(x) - f(x - h)) / h")),
        Wrong("not-divided", ("(f(x + h) - f(x - h)) / (2 * h)", "f(x + h) - f(x - h)")),
        Wrong("width", ("/ (2 * h)", "/ h")),
        Wrong("precedence", ("/ (2 * h)", "/ 2 * h")),
        Wrong("sign", ("(f(x + h) - f(x - h))", "(f(x - h) - f(x + h))")),
        Wrong("half-change", ("(f(x + h) - f(x - h))", "(f(x + h) - f(x))")),
        Wrong("parentheses", ("(f(x + h) - f(x - h)) / (2 * h)", "f(x + h) - f(x - h) / (2 * h)")),
        Wrong("halved", ("/ (2 * h)", "/ 2")),
        Wrong("plus", ("f(x + h) - f(x - h)", "f(x + h) + f(x - h)")),
        Wrong("position", ("/ (2 * h)", "/ (x + h)")),
        Wrong("another-h", ("(f(x + h) - f(x - h)) / (2 * h)", "exact_slope(x)")),
        Wrong("value", ("return 3 * x * x - 2", "return x**3 - 2 * x")),
        Wrong("power", ("3 * x * x - 2", "x**2 - 2")),
        Wrong("linear", ("3 * x * x - 2", "3 * x**2 - 2 * x")),
        Wrong("dropped", ("3 * x * x - 2", "3 * x**2")),
        Wrong("constant-sign", ("3 * x * x - 2", "3 * x * x + 2")),
        Wrong("constant", ("3 * x * x - 2", "3 * x * x - 1")),
        Wrong("square-lost", ("3 * x * x - 2", "3 * x - 2")),
        Wrong("exponent", ("3 * x * x - 2", "3 * x**3 - 2")),
        Wrong("another-factor", ("3 * x * x - 2", "2 * x * x - 2")),
        Wrong("second", ("3 * x * x - 2", "6 * x")),
        Wrong("measured", ("3 * x * x - 2", "numerical_slope(f, x)")),
        Wrong("nothing", ("return 3 * x * x - 2", "slope = 3 * x * x - 2")),
    ),
    check=check,
    draw=draw,
)
