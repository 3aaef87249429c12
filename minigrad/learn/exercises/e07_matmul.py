"""Exercise 7: the gradients of a matrix product, and of a weight that serves a batch."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.exercise import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """Square matrices first: there a forgotten transpose gives numbers, and not an error."""
    random = np.random.default_rng(7)
    for shape_a, shape_b in [((3, 3), (3, 3)), ((2, 3), (3, 4))]:
        a, b = numbers(random, *shape_a), numbers(random, *shape_b)
        g = numbers(random, *(a @ b).shape)
        pair = answer.unpack(answer.matmul_backward(g, a, b), "grad_a", "grad_b")
        square = a.shape == b.shape
        answer.compare(
            "grad_a", pair[0], g @ b.T,
            {"elementwise": g * b, "transpose": (g @ b, g.T @ b, g.T @ b.T), "order": b.T @ g,
             "exchanged": a.T @ g} if square else None,
        )  # fmt: skip
        answer.compare(
            "grad_b", pair[1], a.T @ g,
            {"elementwise": g * a, "transpose": (a @ g, a @ g.T, a.T @ g.T), "order": g @ a.T}
            if square else None,
        )  # fmt: skip
    x, w, g = numbers(random, 2, 5, 3), numbers(random, 3, 4), numbers(random, 2, 5, 4)
    grad_x, grad_w = answer.unpack(answer.layer_backward(g, x, w), "grad_x", "grad_w")
    each = np.swapaxes(x, -1, -2) @ g  # (batch, m, p): of each sequence
    answer.compare("grad_x", grad_x, g @ w.T)
    answer.compare(
        "grad_w", grad_w, each.sum(axis=0),
        {"batch": each, "mean": lambda mine: np.allclose(mine, each.mean(axis=0))
         or np.allclose(mine, each.sum(axis=0) / 10), "first": each[0], "last": each[-1]},
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What the learner's rule computes of g, a and b."""
    a, b = np.ones((2, 3)), np.ones((3, 4))
    return traced(answer.matmul_backward, "grad_a grad_b", g=np.ones((2, 4)), a=a, b=b)


EXERCISE = Exercise(
    title="matmul",
    chapter="rules",
    hints=(
        "Write the derivative of one entry first: a[i, j] is used in c[i, k] for every k, and its "
        "slope there is b[j, k]. So its gradient is a sum over k of g[i, k] * b[j, k].",
        "A matrix product sums over the last axis of the left factor and the first axis of the "
        "right one. In the sum of hint 1, k is the last axis of both: so b has to be transposed. "
        "The shapes alone leave only one way to write each product.",
        "grad_a = g @ b.T, and grad_b is similar, with a.T on the left. For the layer, the batch "
        "and the length are only more rows: reshape x to (batch * length, m) and g to "
        "(batch * length, p), and do the same.",
    ),
    why="Each entry of a weight is used once in every row, so its gradient is a sum over all rows: "
    "over the batch and over the length. A matrix product is such a sum. The transpose moves the "
    "summed index to where the product sums. In minigrad the rule of matmul is the same two lines.",
    diagnoses={
        "transpose": "The right factors in the right order, but the transpose is missing, or is at "
        "the wrong factor. With square matrices that gives numbers, but the sum runs over the "
        "wrong index.",
        "order": "The two factors are exchanged: g @ b.T and b.T @ g are not the same. "
        "Gradient of the left factor: g stands on the left.",
        "elementwise": "`*` multiplies entry by entry. A matrix product needs `@`.",
        "exchanged": "The two gradients are right, but returned in the wrong order.",
        "batch": "The gradient of the weight is not summed over the batch. There is one weight, "
        "and each sequence contributes to its gradient: contributions add.",
        "mean": "This is the mean over the batch. If the loss is a mean, g is small already: a "
        "rule adds the contributions, and divides by nothing.",
        "first": "Only the first sequence of the batch has contributed.",
        "last": "Only the last sequence of the batch has contributed: is `=` where `+=` should be?",
    },
    wrong=(
        Wrong("transpose", ("return g @ b.T, a.T @ g", "return g @ b, a @ g")),
        Wrong("transpose", ("a.T @ g\n", "a @ g\n")),
        Wrong("transpose", ("return g @ b.T, a.T @ g", "return g.T @ b, a @ g.T")),
        Wrong("order", ("return g @ b.T, a.T @ g", "return b.T @ g, g @ a.T")),
        Wrong("elementwise", ("return g @ b.T, a.T @ g", "return g * b, g * a")),
        Wrong("exchanged", ("return g @ b.T, a.T @ g", "return a.T @ g, g @ b.T")),
        Wrong("form", ("return g @ b.T, a.T @ g", "return g @ b.T")),
        Wrong(
            "batch",
            ("rows.T @ g.reshape(-1, g.shape[-1])", "np.swapaxes(x, -1, -2) @ g"),
        ),
        Wrong(
            "mean",
            ("rows.T @ g.reshape(-1, g.shape[-1])", "(np.swapaxes(x, -1, -2) @ g).mean(axis=0)"),
        ),
        Wrong("first", ("rows.T @ g.reshape(-1, g.shape[-1])", "x[0].T @ g[0]")),
        Wrong(
            "last",
            (
                "grad_w = rows.T @ g.reshape(-1, g.shape[-1])",
                "for one, gradient in zip(x, g):\n        grad_w = one.T @ gradient",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
