"""Exercise 2: slopes multiply, each taken where its function is."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def square(x: float) -> float:
    """the function x²"""
    return x * x


def of_square(x: float) -> float:
    """the function 2x"""
    return 2 * x


def of_cube(x: float) -> float:
    """the function 3x², the slope of x³"""
    return 3 * x * x


def check(answer: Answer) -> None:
    for x in (3.0, -1.5):  # f is x³: the slope of x⁶
        answer.compare(
            "the slope", answer.slope_of_chain(square, of_cube, of_square, x), 6 * x**5,
            {
                "place": of_cube(x) * of_square(x),
                "inner-place": of_cube(x * x) * of_square(x * x),
                "inner": (of_cube(x * x), of_cube(x)),
                "outer": (of_square(x), x * x * of_square(x)),
                "nested": (
                    of_cube(of_square(x)),
                    of_cube(of_square(x)) * of_square(x),
                    of_square(of_cube(x)),
                ),
                "divided": of_cube(x * x) / of_square(x),
                "value": of_cube(x * x) * x * x,
                "added": of_cube(x * x) + of_square(x),
                "exchanged": of_cube(x) * of_square(x * x),
            },
        )  # fmt: skip
    for x in (0.7, -2.0):
        a = x * x
        y = np.exp(-a)
        of_b, of_a, of_x = answer.unpack(answer.backward(x), "grad_b", "grad_a", "grad_x")
        answer.compare(
            "grad_b", of_b, y,
            {
                "exp-at-x": np.exp(x),
                "exp-at-a": np.exp(a),
                "power-rule": -a * np.exp(-a - 1),
                "value": -a,
                "reversed": -2 * x * y,
            },
        )  # fmt: skip
        answer.compare(
            "grad_a", of_a, -y,
            {"no-minus": y, "local": -1.0, "added": y - 1, "value": (-y * a, y * a)},
        )  # fmt: skip
        answer.compare(
            "grad_x", of_x, -2 * x * y,
            {
                "local": 2 * x,
                "added": -y + 2 * x,
                "skipped": 2 * x * y,
                "of-result": -2 * a * y,
                "two": -x * y,
                "value": -a * y,
                "both": -2 * x * y * y,
            },
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The three steps, and the learner's walk back."""
    return traced(answer.backward, "grad_b grad_a grad_x", x=0.5)


EXERCISE = Exercise(
    title="the chain rule",
    chapter="rules",
    hints=(
        "Follow a small change from the inside to the outside. First g gets x, so the slope of g "
        "is taken at x. Then f gets ... what?",
        "f never sees x: it sees g(x). So its slope is taken at g(x). In `backward`, each line has "
        "the same form: the gradient that the line above has computed, times one slope from the "
        "table in the task.",
        "return df(g(x)) * ... In `backward`: grad_b = grad_y * y, then grad_a = grad_b * (the "
        "slope of b = -a), then grad_x = grad_a * (the slope of a = x * x).",
    ),
    why="Each step multiplies what arrives by its own slope, and knows nothing of the other "
    "steps. So an engine needs one small rule for each kind of step, and can then differentiate "
    "every program that is made of such steps. `backward` goes from the end to the beginning: "
    "this is reverse mode. The slope of exp(b) is its own result, which is kept from the forward "
    "pass instead of being computed again.",
    diagnoses={
        "place": "The slope of f is taken at x. But f gets g(x), so its slope is wanted there.",
        "inner-place": "The slope of g is taken at g(x). But g gets x, so its slope is wanted at "
        "x.",
        "divided": "Slopes are multiplied: the change of g is made larger or smaller once more.",
        "value": "A value is where a slope should be. Multiply by the slope of the step.",
        "inner": "The slope of the inner function is missing: g changes too when x changes.",
        "outer": "The slope of the outer function is missing: f makes the change of g larger or "
        "smaller.",
        "nested": "Slopes are multiplied: they are not put into each other.",
        "added": "Along one path slopes are multiplied. (They are added where two paths meet: that "
        "is the next exercise.)",
        "exchanged": "The places are exchanged: the inner g gets x, and the outer f gets g(x).",
        "exp-at-x": "The slope of exp is taken at x. But exp got b: its slope there is exp(b) = y.",
        "exp-at-a": "The slope of exp is taken at a. But exp got b, which is -a.",
        "reversed": "The gradients are returned in the wrong order: b, a, x, as the walk goes.",
        "of-result": "The slope of x * x is 2 * x: it is taken at x, and not at the result a.",
        "two": "The slope of x * x is 2 * x, not x: x is used twice.",
        "both": "The gradient of x comes from grad_a alone: grad_b is in it already.",
        "power-rule": "exp is not a power: in exp(b) the variable is the exponent, and its slope "
        "is exp(b) again.",
        "no-minus": "The minus of b = -a is missing: its slope is -1.",
        "local": "This is the slope of that one step alone. Multiply it by the gradient that "
        "arrives from the step after it.",
        "skipped": "The step b = -a is left out: grad_x comes from grad_a, not from grad_b.",
    },
    wrong=(
        Wrong("place", ("df(g(x)) * dg(x)", "df(x) * dg(x)")),
        Wrong("inner", ("df(g(x)) * dg(x)", "df(g(x))")),
        Wrong("outer", ("df(g(x)) * dg(x)", "dg(x)")),
        Wrong("nested", ("df(g(x)) * dg(x)", "df(dg(x))")),
        Wrong("added", ("df(g(x)) * dg(x)", "df(g(x)) + dg(x)")),
        Wrong("exchanged", ("df(g(x)) * dg(x)", "df(x) * dg(g(x))")),
        Wrong("inner-place", ("df(g(x)) * dg(x)", "df(g(x)) * dg(g(x))")),
        Wrong("divided", ("df(g(x)) * dg(x)", "df(g(x)) / dg(x)")),
        Wrong("value", ("df(g(x)) * dg(x)", "df(g(x)) * g(x)")),
        Wrong("exp-at-a", ("grad_y * y", "grad_y * np.exp(a)")),
        Wrong("reversed", ("return grad_b, grad_a, grad_x", "return grad_x, grad_a, grad_b")),
        Wrong("of-result", ("grad_a * (2 * x)", "grad_a * (2 * a)")),
        Wrong("two", ("grad_a * (2 * x)", "grad_a * x")),
        Wrong("both", ("grad_a * (2 * x)", "grad_b * grad_a * (2 * x)")),
        Wrong("exp-at-x", ("grad_y * y", "grad_y * np.exp(x)")),
        Wrong("power-rule", ("grad_y * y", "grad_y * b * np.exp(b - 1)")),
        Wrong("no-minus", ("grad_b * -1", "grad_b")),
        Wrong("local", ("grad_b * -1", "-1.0")),
        Wrong("added", ("grad_b * -1", "grad_b + -1")),
        Wrong("local", ("grad_a * (2 * x)", "2 * x")),
        Wrong("skipped", ("grad_a * (2 * x)", "grad_b * (2 * x)")),
        Wrong("NameError", ("grad_a * (2 * x)", "grad_c * (2 * x)")),
    ),
    check=check,
    draw=draw,
)
