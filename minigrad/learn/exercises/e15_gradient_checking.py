"""Exercise 15: a gradient by central differences, and how to compare two gradients."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """A function in which no two entries have equal slopes, then the two scales of an error."""

    def f(x: np.ndarray) -> float:
        assert x.shape == (2, 3)
        weights = np.arange(1.0, 7.0).reshape(2, 3)
        return float((weights * np.exp(x)).sum())

    x = np.array([[0.5, 1.0, -1.0], [2.0, 0.0, 1.5]])
    want = np.arange(1.0, 7.0).reshape(2, 3) * np.exp(x)

    def close(wrong: np.ndarray, rtol: float = 1e-7) -> object:
        return lambda mine: mine.shape == wrong.shape and np.allclose(mine, wrong, rtol=rtol)

    rounded = lambda mine: bool((np.abs(mine / want - 1) < 0.1).all())
    running = np.stack([f(x + 1e-5 * s) for s in (1, -1)])
    answer.compare(
        "gradient", answer.numeric_gradient(f, x), want,
        {
            "one-sided": lambda mine: bool((np.abs(mine / want - 1) < 1e-4).all()),
            "step": rounded,
            "not halved": close(2 * want),
            "only changes": lambda mine: bool(((mine != 0) & (abs(mine) < 1e-2)).all()),
            "all at once": close(np.full((2, 3), (running[0] - running[1]) / 2e-5)),
            "only one number": close(np.asarray((running[0] - running[1]) / 2e-5)),
        },
        rtol=1e-7,
    )  # fmt: skip
    whole = np.array([[1, 2, 3], [0, 1, 2]])
    slopes = np.arange(1.0, 7.0).reshape(2, 3) * np.exp(whole)
    answer.compare("gradient", answer.numeric_gradient(f, whole), slopes,
                   {"integer x": lambda mine: True}, rtol=1e-7)  # fmt: skip

    analytic, numeric = (
        np.array([2.0e6, 3.0e-3, -1.0, -2.0, -1.0]),
        np.array([2.1e6, 2.0e-3, 1.0, -1.0, -2.0]),
    )
    distance, size = np.abs(analytic - numeric), np.maximum(abs(analytic), abs(numeric))
    answer.compare(
        "error", answer.relative_error(analytic, numeric), distance / size,
        {"absolute": distance, "signed": (analytic - numeric) / size,
         "by the sum": distance / (abs(analytic) + abs(numeric)),
         "by one": lambda mine: np.allclose(mine, distance / abs(analytic))
         or np.allclose(mine, distance / abs(numeric)),
         "by the whole": lambda mine: np.allclose(mine, distance / size.max())}, rtol=1e-4,
    )  # fmt: skip
    both = answer.relative_error(np.array([0.0, 1e-3]), np.array([0.0, 0.0]))
    answer.compare("error", both, [0.0, 1.0],
                   {"0 / 0": lambda mine: bool(np.isnan(mine[0]))}, rtol=1e-4)  # fmt: skip
    answer.compare("error", answer.relative_error(np.array([2e-12]), np.array([1e-12])), [0.5],
                   {"epsilon": lambda mine: bool(mine[0] < 0.5)})  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What the learner computes of the two gradients."""
    return traced(answer.relative_error, "error", analytic=np.ones(3), numeric=np.ones(3))


EXERCISE = Exercise(
    title="gradient checking",
    chapter="rules",
    hints=(
        "A loop over all entries: np.ndindex(x.shape) gives their indices. Each time, only one "
        "entry is moved, and all the others stay where they were.",
        "Make two copies of x in each round, so that nothing has to be put back. Divide by the "
        "distance between the two points: it is 2 h. For the comparison, look out for 0 / 0.",
        "above = x.astype(float) makes a float copy; above[index] += h moves one entry; below in "
        "the same way. size = np.maximum(abs(analytic), abs(numeric)), and where size is 0 divide "
        "by 1 instead.",
    ),
    why="The error of a one-sided difference shrinks with h, that of a central one with h squared: "
    "the two curvature terms cancel. But f itself has 16 digits, and a difference of close numbers "
    "loses some. h = 1e-5 is about where both errors are equal, near 1e-11. The method needs "
    "2 calls of f for each entry, so it checks gradients, and does not train models. minigrad's "
    "gradcheck does this along random directions too, and tells a wrong rule from a kink.",
    diagnoses={
        "one-sided": "Right to about 5 digits only. This is (f(x + h) - f(x)) / h: its error is of "
        "the size of h. Step in both directions, and the error is of the size of h * h.",
        "step": "Right to a few digits only: the step is too small or too large. f has 16 digits, "
        "and f(x + h) - f(x - h) loses more of them the smaller h is. Take 1e-5.",
        "not halved": "Exactly twice too large: x + h and x - h are 2 h apart, not h.",
        "only changes": "These are changes of f, not slopes: divide by the distance of the two "
        "points.",
        "all at once": "Every entry is the same number: the sum of all slopes. x + h moves all "
        "entries together. Move one, and leave the others.",
        "only one number": "x + h moves all entries together, which gives one number, the sum of "
        "all slopes. Move one entry at a time.",
        "integer x": "Right for floats, wrong when x holds integers: a copy of an integer array "
        "cannot hold 1.00001. Make a float copy: x.astype(float).",
        "absolute": "This is the distance itself. 0.001 is a large error in a gradient of 0.002 "
        "and no error in one of a million: divide by the size.",
        "signed": "The distance needs abs: with a sign, an error of -2 is smaller than every "
        "limit, and passes the test.",
        "by the sum": "Divided by |a| + |n|. The task asks for the larger of the two.",
        "by one": "Divided by one of the two gradients. If that one is 0 the error is infinite; "
        "take the larger of the two.",
        "by the whole": "Divided by the largest of all entries. A wrong small entry then looks "
        "right beside a large one: compare entry by entry.",
        "0 / 0": "NaN where both gradients are 0: 0 / 0. They agree there, so the error is 0. "
        "And NaN is not larger than any limit, so a test might pass by it, or never pass.",
        "epsilon": "A small number added below the line hides errors in small gradients: here one "
        "is twice the other. Divide by 1 only where both are 0.",
    },
    wrong=(
        Wrong("one-sided", ("below[index] -= h", "pass"), ("(2 * h)", "h")),
        Wrong("step", ("    h = 1e-5\n", "    h = 1e-12\n")),
        Wrong("step", ("    h = 1e-5\n", "    h = 0.1\n")),
        Wrong("not halved", ("(2 * h)", "h")),
        Wrong("only changes", (" / (2 * h)", "")),
        Wrong(
            "all at once",
            ("gradient[index] = (f(above) - f(below))", "gradient[index] = (f(x + h) - f(x - h))"),
        ),
        Wrong(
            "only one number",
            ("gradient = np.zeros(x.shape)", "return (f(x + h) - f(x - h)) / (2 * h)"),
        ),
        Wrong(
            "changed",
            (
                "above, below = x.astype(float), x.astype(float)  # two copies",
                "above, below = x, x.copy()",
            ),
        ),
        Wrong(
            "integer x",
            (
                "above, below = x.astype(float), x.astype(float)",
                "above, below = x.copy(), x.copy()",
            ),
        ),
        Wrong("absolute", (" / np.where(size == 0, 1.0, size)", "")),
        Wrong("signed", ("return abs(analytic - numeric)", "return (analytic - numeric)")),
        Wrong(
            "by the sum",
            ("np.maximum(abs(analytic), abs(numeric))", "abs(analytic) + abs(numeric)"),
        ),
        Wrong("by one", ("np.maximum(abs(analytic), abs(numeric))", "abs(numeric)")),
        Wrong(
            "by the whole",
            (
                "np.maximum(abs(analytic), abs(numeric))",
                "np.maximum(abs(analytic), abs(numeric)).max()",
            ),
        ),
        Wrong("0 / 0", ("np.where(size == 0, 1.0, size)", "size")),
        Wrong("epsilon", ("np.where(size == 0, 1.0, size)", "(size + 1e-8)")),
    ),
    check=check,
    draw=draw,
)
