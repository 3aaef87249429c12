"""Exercise 11: a rule in which every output depends on every input of its row."""

from __future__ import annotations

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.exercise import Exercise, Wrong
from minigrad.viz import Graph

LARGE = np.array([[1000.0, 999.0, 998.5], [1001.0, 1000.0, 1000.0]])
BOTH = np.array([[1000.0, 999.0, 998.5], [-1000.0, -999.0, -998.5]])


def not_finite(mine: np.ndarray) -> bool:
    return not np.isfinite(mine).all()


def check(answer: Answer) -> None:
    random = np.random.default_rng(11)
    for x in [numbers(random, 3, 3), numbers(random, 2, 4, 3)]:
        moved, e = np.exp(x - x.max(axis=-1, keepdims=True)), np.exp(x)
        right = minigrad.tensor(x).softmax(axis=-1).numpy()
        answer.compare(
            "result", answer.softmax(x), right,
            {
                "not-normalised": e,
                "shifted-only": e / e.max(axis=-1, keepdims=True),
                "axis": (e / e.sum(axis=0), moved / moved.sum(axis=0)),
                "everything": (e / e.sum(), moved / moved.sum()),
                "keepdims": (e / e.sum(-1), moved / moved.sum(-1)) if len(x) == 3 else (),
                "no-exp": x / x.sum(axis=-1, keepdims=True),
            },
        )  # fmt: skip
    for x, mistake in [(LARGE, "large"), (BOTH, "one-m")]:
        right = minigrad.tensor(x).softmax(axis=-1).numpy()
        answer.compare("result", answer.softmax(x), right, {mistake: not_finite})
    for shape in [(3, 3), (2, 4, 3)]:
        x, g = numbers(random, *shape), numbers(random, *shape)
        tensor = minigrad.tensor(x, requires_grad=True)
        out = tensor.softmax(axis=-1)
        (grad,) = minigrad.autograd.grad(out, [tensor], minigrad.tensor(g))
        y = out.numpy()
        product = g * y
        answer.compare(
            "gradient", answer.softmax_backward(g, y), grad.numpy(),
            {
                "diagonal": product * (1 - y),
                "first-term": product,
                "second-term": -y * product.sum(axis=-1, keepdims=True),
                "g-left-out": y * (g - 1),
                "y-left-out": y * (g - g.sum(axis=-1, keepdims=True)),
                "factor-y": g - product.sum(axis=-1, keepdims=True),
                "plus": y * (g + product.sum(axis=-1, keepdims=True)),
                "rows": y * (g - product.sum(axis=0)),
                "everything": y * (g - product.sum()),
                "keepdims": y * (g - product.sum(axis=-1)) if len(g) == 3 else False,
            },
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The learner's rule."""
    y = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    return traced(answer.softmax_backward, g=np.eye(3)[:2], y=y)


EXERCISE = Exercise(
    title="softmax",
    chapter="fused",
    hints=(
        "Write the gradient of x_j as a sum over i, and take the term with i = j out of it: "
        "g_j * y_j * (1 - y_j), and minus the sum over the other i of g_i * y_i * y_j.",
        "Multiply out: g_j * y_j - g_j * y_j * y_j - (the sum over the other i). The last two "
        "together are one sum over all i: y_j * sum of g_i * y_i. So the gradient is "
        "y_j * (g_j - the sum over i of g_i * y_i).",
        "return y * (g - (g * y).sum(axis=-1, keepdims=True)). And for the softmax itself: "
        "e = np.exp(x - x.max(axis=-1, keepdims=True)), divided by its sum with the same axis and "
        "keepdims.",
    ),
    why="The table of slopes has n² entries a row, and the rule needs none of them: it computes g "
    "times the table, not the table. The sum is a weighted mean of g, so an x gets a "
    "positive gradient where its g lies above the mean. Add a constant to all x of a row, and y "
    "stays the same: so the gradient of a row always adds up to 0. And x is not needed, only y: "
    "that is what minigrad saves.",
    diagnoses={
        "not-normalised": "These are the exponentials. Divide by their sum, so that each row adds "
        "up to 1.",
        "shifted-only": "Divided by the largest exponential of the row instead of their sum.",
        "axis": "The columns add up to 1. It should be the rows: axis=-1.",
        "everything": "The sum was taken over everything. Each row has its own sum: axis=-1, "
        "keepdims=True.",
        "keepdims": "The sum of each row was put into a column of the wrong row: (3,) is read as "
        "(1, 3). keepdims=True keeps the axis.",
        "no-exp": "The exponentials are missing: here the numbers themselves are divided.",
        "large": "exp of a number above 709 is inf, and inf / inf is NaN. Subtract the largest "
        "entry of the row first: the result stays the same.",
        "one-m": "One maximum for all rows: in a row far below it every exponential is 0, and "
        "0 / 0 is NaN. Use x.max(axis=-1, keepdims=True).",
        "diagonal": "This is y * (1 - y), the slope of y_i with respect to its own x_i (as for a "
        "sigmoid). But every x_j changes the other y_i too: -y_i * y_j.",
        "first-term": "This is the first term alone. A larger x_j also takes weight from all "
        "others: the sum is missing.",
        "second-term": "This is the second term alone: g * y is missing.",
        "g-left-out": "g is missing in the sum: y alone adds up to 1.",
        "y-left-out": "The sum is over g * y, not over g.",
        "factor-y": "The factor y in front is missing.",
        "plus": "The second term has a minus: a larger x_j makes the other y_i smaller.",
        "rows": "Summed down the columns. The rows are coupled within themselves: axis=-1.",
    },
    wrong=(
        Wrong("not-normalised", code="return np.exp(x)"),
        Wrong("shifted-only", ("e / e.sum(axis=-1, keepdims=True)", "e")),
        Wrong("axis", ("e.sum(axis=-1, keepdims=True)", "e.sum(axis=0)")),
        Wrong(
            "everything",
            ("e.sum(axis=-1, keepdims=True)", "e.sum()"),
            ("x - x.max(axis=-1, keepdims=True)", "x - x.max()"),
        ),
        Wrong("keepdims", code="e = np.exp(x)\nreturn e / e.sum(axis=-1)"),
        Wrong("no-exp", code="return x / x.sum(axis=-1, keepdims=True)"),
        Wrong("large", code="e = np.exp(x)\nreturn e / e.sum(axis=-1, keepdims=True)"),
        Wrong("one-m", ("x.max(axis=-1, keepdims=True)", "x.max()")),
        Wrong("diagonal", code="return g * y * (1 - y)", gap=2),
        Wrong("first-term", code="return g * y", gap=2),
        Wrong("second-term", code="return -y * (g * y).sum(axis=-1, keepdims=True)", gap=2),
        Wrong("g-left-out", ("(g * y).sum", "y.sum")),
        Wrong("y-left-out", ("(g * y).sum", "g.sum")),
        Wrong("factor-y", ("return y * (g -", "return (g -")),
        Wrong("plus", ("(g - (g * y)", "(g + (g * y)")),
        Wrong("rows", ("(g * y).sum(axis=-1, keepdims=True)", "(g * y).sum(axis=0)")),
        Wrong("everything", ("(g * y).sum(axis=-1, keepdims=True)", "(g * y).sum()")),
        Wrong("keepdims", ("(g * y).sum(axis=-1, keepdims=True)", "(g * y).sum(axis=-1)")),
        Wrong(
            "sign",
            (
                "(g - (g * y).sum(axis=-1, keepdims=True))",
                "((g * y).sum(axis=-1, keepdims=True) - g)",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
