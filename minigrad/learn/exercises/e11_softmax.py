"""Exercise 11: a rule in which every output depends on every input of its row."""

from __future__ import annotations

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

LARGE = np.array([[1000.0, 999.0, 998.5], [1001.0, 1000.0, 1000.0]])
SMALL = np.array([[-1000.0, -999.0, -998.5]])
FAR = np.array([[3000.0, 0.0, 0.0], [0.0, 0.0, -3000.0]])
MASKED = np.array([[0.5, -np.inf, 1.5]])
BOTH = np.array([[1000.0, 999.0, 998.5], [-1000.0, -999.0, -998.5]])


def not_finite(mine: np.ndarray) -> bool:
    return not bool(np.isfinite(mine).all())


def check(answer: Answer) -> None:
    random = np.random.default_rng(11)
    for x in [numbers(random, 3, 3), numbers(random, 2, 4, 3)]:
        moved, e = np.exp(x - x.max(axis=-1, keepdims=True)), np.exp(x)
        right = minigrad.tensor(x).softmax(-1).numpy()
        answer.compare(
            "result", answer.softmax(x), right,
            {
                "not-normalised": e,
                "shifted-only": e / e.max(axis=-1, keepdims=True),
                "axis": tuple(
                    one / one.sum(axis=axis, keepdims=True)
                    for one in (e, moved)
                    for axis in {0, x.ndim - 2}
                ),
                "everything": (e / e.sum(), moved / moved.sum()),
                "keepdims": (e / e.sum(-1), moved / moved.sum(-1)) if len(x) == 3 else (),
                "no-exp": x / x.sum(axis=-1, keepdims=True),
                "sigmoid": 1 / (1 + np.exp(-x)),
                "mean": right * x.shape[-1],
                "x-divided": tuple(x / one.sum(axis=-1, keepdims=True) for one in (e, moved)),
            },
        )  # fmt: skip
    cases = [
        (LARGE, "large"), (SMALL, "small"), (BOTH, "one-m"), (FAR, "not-the-largest"),
        (MASKED, "masked"),
    ]  # fmt: skip
    for x, mistake in cases:
        right = minigrad.tensor(x).softmax(-1).numpy()
        mistakes = {mistake: not_finite, "clipped": lambda mine: not not_finite(mine)}
        answer.compare("result", answer.softmax(x), right, mistakes)
    for shape in [(3, 3), (2, 4, 3)]:
        x, g = numbers(random, *shape), numbers(random, *shape)
        tensor = minigrad.tensor(x, requires_grad=True)
        out = tensor.softmax(-1)
        (grad,) = minigrad.autograd.grad(out, [tensor], minigrad.tensor(g))
        y = out.numpy()
        product = g * y
        answer.compare(
            "gradient", answer.softmax_backward(g, y), grad.numpy(),
            {
                "diagonal": product * (1 - y),
                "diagonal-without-g": y * (1 - y),
                "diagonal-twice": product * (1 - y) - y * product.sum(axis=-1, keepdims=True),
                "diagonal-lost": y * (product - product.sum(axis=-1, keepdims=True)),
                "plus-elsewhere": product * (1 - y)
                + y * (product.sum(axis=-1, keepdims=True) - product),
                "mean-for-sum": y * (g - product.mean(axis=-1, keepdims=True)),
                "second-without-y": product - product.sum(axis=-1, keepdims=True),
                "log-softmax": g - y * g.sum(axis=-1, keepdims=True),
                "cross-entropy": (y - g, g - y),
                "squared": product - y * y,
                "first-term": product,
                "second-term": -y * product.sum(axis=-1, keepdims=True),
                "g-left-out": y * (g - 1),
                "y-left-out": y * (g - g.sum(axis=-1, keepdims=True)),
                "factor-y": g - product.sum(axis=-1, keepdims=True),
                "plus": y * (g + product.sum(axis=-1, keepdims=True)),
                "rows": tuple(
                    y * (g - product.sum(axis=axis, keepdims=True)) for axis in {0, g.ndim - 2}
                ),
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
        "axis": "The numbers along another axis add up to 1. It should be the last: axis=-1.",
        "sigmoid": "This is the sigmoid of each entry by itself. The weights of a row depend on "
        "each other: divide by the sum of the row.",
        "mean": "Divided by the mean of the exponentials. Divide by their sum, so that each row "
        "adds up to 1.",
        "x-divided": "The sum is that of the exponentials, but x itself is divided by it.",
        "small": "exp(-1000) is 0, and 0 / 0 is NaN. Subtract the largest entry of the row, also "
        "where it is negative: then one of the exponentials is 1.",
        "not-the-largest": "An exponential overflows: one entry is 3000 above the others. Is it "
        "the largest entry of the row that is subtracted, and not the mean or the smallest?",
        "masked": "The entry of -inf is masked: its weight is 0, and the others share. Is a number "
        "computed from all entries, such as their mean or sum? It is -inf then.",
        "clipped": "The result is finite, but wrong. Are the numbers cut off before exp? Then "
        "large ones become equal. Subtract the largest entry of the row instead.",
        "everything": "The sum was taken over everything. Each row has its own sum: axis=-1, "
        "keepdims=True.",
        "keepdims": "The sum of each row was put into a column of the wrong row: (3,) is read as "
        "(1, 3). keepdims=True keeps the axis.",
        "no-exp": "The exponentials are missing: here the numbers themselves are divided.",
        "large": "exp of a number above 709 is inf, and inf / inf is NaN. Subtract the largest "
        "entry of the row first: the result stays the same.",
        "one-m": "Is it one maximum for all rows? In a row far below it every exponential is 0, "
        "and 0 / 0 is NaN. Use x.max(axis=-1, keepdims=True).",
        "diagonal": "This is y * (1 - y), the slope of y_i with respect to its own x_i (as for a "
        "sigmoid). But every x_j changes the other y_i too: -y_i * y_j.",
        "diagonal-without-g": "This is y * (1 - y), the slope of y_i with respect to its own x_i, "
        "and g is missing. And every x_j changes the other y_i too: -y_i * y_j.",
        "diagonal-twice": "The term with i = j is counted twice: (1 - y) has its -y * y, and the "
        "sum over all i has it again. With the sum over all i, the first term is g * y.",
        "diagonal-lost": "The first term has a y too many: where i = j the slope is y - y * y, so "
        "the first term is g * y.",
        "plus-elsewhere": "The slope is -y_i * y_j where i and j differ, with a minus.",
        "mean-for-sum": "The mean is taken of g * y. It is their sum: y adds up to 1 already.",
        "second-without-y": "The sum has to be multiplied by y_j, the second factor of each slope.",
        "log-softmax": "This is the rule of the logarithm of softmax. That of softmax has "
        "y * (g - ...), with the sum of g * y.",
        "cross-entropy": "y minus the target is the gradient of softmax and cross-entropy "
        "together. Here g arrives from anywhere: use the slopes of the task.",
        "squared": "g is missing in the second term: g_i belongs to each slope of y_i.",
        "first-term": "This is the first term alone. A larger x_j also takes weight from all "
        "others: the sum is missing.",
        "second-term": "This is the second term alone: g * y is missing.",
        "g-left-out": "g is missing in the sum: y alone adds up to 1.",
        "y-left-out": "The sum is over g * y, not over g.",
        "factor-y": "The factor y in front is missing.",
        "plus": "The second term has a minus: a larger x_j makes the other y_i smaller.",
        "rows": "Summed along another axis. The rows are coupled within themselves: axis=-1.",
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
        Wrong("sigmoid", code="return 1 / (1 + np.exp(-x))"),
        Wrong("mean", ("e.sum(axis=-1, keepdims=True)", "e.mean(axis=-1, keepdims=True)")),
        Wrong("x-divided", ("return e /", "return x /")),
        Wrong("small", ("x.max(axis=-1, keepdims=True)", "abs(x).max(axis=-1, keepdims=True)")),
        Wrong("not-the-largest", ("x.max(axis=-1", "x.mean(axis=-1")),
        Wrong(
            "masked",
            (
                "x.max(axis=-1, keepdims=True)",
                "np.maximum(x.max(axis=-1, keepdims=True), x.mean(axis=-1, keepdims=True))"
                " - 0 * x.mean(axis=-1, keepdims=True)",
            ),
        ),
        Wrong(
            "clipped",
            ("np.exp(x - x.max(axis=-1, keepdims=True))", "np.exp(np.clip(x, -700, 700))"),
        ),
        Wrong("diagonal-without-g", code="return y * (1 - y)", gap=2),
        Wrong(
            "diagonal-twice",
            ("y * (g - (g * y)", "y * (g * (1 - y) - (g * y)"),
        ),
        Wrong("diagonal-lost", ("y * (g - (g * y)", "y * (g * y - (g * y)")),
        Wrong(
            "plus-elsewhere",
            ("y * (g - (g * y)", "y * (g * (1 - y) - g * y + (g * y)"),
        ),
        Wrong("mean-for-sum", ("(g * y).sum", "(g * y).mean")),
        Wrong("second-without-y", ("return y * (g -", "return (g * y -")),
        Wrong("log-softmax", code="return g - y * g.sum(axis=-1, keepdims=True)", gap=2),
        Wrong("cross-entropy", code="return y - g", gap=2),
        Wrong("squared", code="return g * y - y * y", gap=2),
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
