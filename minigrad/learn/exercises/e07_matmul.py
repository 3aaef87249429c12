"""Exercise 7: the gradients of a matrix product, and of a weight that serves a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

Mistakes = dict[str, Any]


def check(answer: Answer) -> None:
    """Square matrices first: there a forgotten transpose gives numbers, and not an error."""
    random = np.random.default_rng(7)
    for shape_a, shape_b in [((3, 3), (3, 3)), ((2, 3), (3, 4))]:
        a, b = numbers(random, *shape_a), numbers(random, *shape_b)
        g = numbers(random, *(a @ b).shape)
        pair = answer.unpack(answer.matmul_backward(g, a, b), "grad_a", "grad_b")
        of_a, of_b = mistakes_of_matmul(g, a, b)
        answer.compare("grad_a", pair[0], g @ b.T, of_a)
        answer.compare("grad_b", pair[1], a.T @ g, of_b)
    for batch, length, m, p in [(2, 2, 2, 2), (2, 3, 4, 5)]:
        x, w = numbers(random, batch, length, m), numbers(random, m, p)
        g = numbers(random, batch, length, p)
        grad_x, grad_w = answer.unpack(answer.layer_backward(g, x, w), "grad_x", "grad_w")
        of_x, of_w = mistakes_of_layer(g, x, w)
        answer.compare("grad_x", grad_x, g @ w.T, of_x)
        answer.compare("grad_w", grad_w, np.tensordot(x, g, ((0, 1), (0, 1))), of_w)


def mistakes_of_matmul(g: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[Mistakes, Mistakes]:
    """For grad_a and grad_b. An empty tuple: with these shapes it is an error, and no number."""
    square = a.shape == b.shape
    ones = np.ones(g.shape)
    of_a: Mistakes = {
        "transpose": (g @ b, g.T @ b, g.T @ b.T) if square else (),
        "reshape": g @ b.reshape(b.shape[::-1]),
        "inverse": g @ np.linalg.pinv(b),
        "no-g": ones @ b.T,
        "local": b.T,
    }
    of_b: Mistakes = {
        "transpose": (a @ g, a @ g.T, a.T @ g.T) if square else (),
        "reshape": a.reshape(a.shape[::-1]) @ g,
        "inverse": np.linalg.pinv(a) @ g,
        "no-g": a.T @ ones,
        "local": a.T,
    }
    if square:
        of_a |= {"elementwise": g * b, "order": b.T @ g, "exchanged": a.T @ g, "own": g @ a.T}
        of_b |= {"elementwise": g * a, "order": g @ a.T, "own": b.T @ g}
    return of_a, of_b


def mistakes_of_layer(g: np.ndarray, x: np.ndarray, w: np.ndarray) -> tuple[Mistakes, Mistakes]:
    """For grad_x and grad_w, likewise."""
    cube = x.shape == g.shape
    each = np.swapaxes(x, -1, -2) @ g  # (batch, m, p): of each sequence
    rows, of_rows = x.reshape(-1, x.shape[-1]), g.reshape(-1, g.shape[-1])
    count = len(rows)
    of_w: Mistakes = {
        "batch": each,
        "length": np.einsum("blm,blp->lmp", x, g),
        "mean": tuple(each.sum(axis=0) / size for size in (len(x), x.shape[1], count)),
        "first": each[0],
        "last": each[-1],
        "reshape": x.reshape(x.shape[-1], -1) @ of_rows,
        "summed-first": (
            x.sum(axis=0).T @ g.sum(axis=0), x.sum(axis=1).T @ g.sum(axis=1),
            np.outer(rows.sum(axis=0), of_rows.sum(axis=0)),
        ),
    }  # fmt: skip
    if cube:
        stacked = x.T @ g
        of_w["reversed"] = (stacked, *(stacked.sum(axis=axis) for axis in (0, 1, 2)))
    return {"transpose": g @ w if cube else ()}, of_w


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
        "reshape": "A reshape is not a transpose: it reads the same numbers in the same order, and "
        "puts them into rows of another length. Rows become columns with .T.",
        "inverse": "This is the inverse of the other factor. Its transpose is wanted: a[i, j] acts "
        "on the loss by b[j, k] times g[i, k], summed over k.",
        "no-g": "The gradient that arrives is left out: 1 is in its place. Multiply by g.",
        "local": "This is the other factor alone. The gradient is its product with g.",
        "own": "The gradient of a needs b, and that of b needs a: the other factor.",
        "reversed": "x.T reverses all axes: of (batch, length, m) it makes (m, length, batch). "
        "Exchange the last two only, with x.swapaxes(-1, -2), or make a matrix of x first.",
        "order": "The two factors are exchanged: g @ b.T and b.T @ g are not the same. "
        "Gradient of the left factor: g is on the left.",
        "elementwise": "`*` multiplies entry by entry. A matrix product needs `@`.",
        "exchanged": "The two gradients are right, but returned in the wrong order.",
        "batch": "The gradient of the weight is not summed over the batch. There is one weight, "
        "and each sequence contributes to its gradient: contributions add.",
        "length": "The gradient of the weight is not summed over the length. There is one weight, "
        "and each position contributes to its gradient: contributions add.",
        "summed-first": "x and g were summed before they were multiplied. Each row of g belongs to "
        "its own row of x: multiply first, then sum.",
        "mean": "This is a mean over the batch or the length. If the loss is a mean, g is small "
        "already: a rule adds the contributions, and divides by nothing.",
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
        Wrong("reshape", ("return g @ b.T", "return g @ b.reshape(b.shape[::-1])")),
        Wrong("inverse", ("return g @ b.T", "return g @ np.linalg.pinv(b)")),
        Wrong("no-g", ("return g @ b.T", "return np.ones_like(g) @ b.T")),
        Wrong("local", ("return g @ b.T", "return b.T")),
        Wrong("own", ("return g @ b.T", "return g @ a.T")),
        Wrong("own", ("a.T @ g\n", "b.T @ g\n")),
        Wrong("form", ("return g @ b.T, a.T @ g", "return g @ b.T")),
        Wrong("reversed", ("rows.T @ g.reshape(-1, g.shape[-1])", "x.T @ g")),
        Wrong("reshape", ("rows.T @ g", "x.reshape(x.shape[-1], -1) @ g")),
        Wrong("length", ("rows.T @ g.reshape(-1, g.shape[-1])", 'np.einsum("blm,blp->lmp", x, g)')),
        Wrong(
            "summed-first",
            ("rows.T @ g.reshape(-1, g.shape[-1])", "x.sum(axis=0).T @ g.sum(axis=0)"),
        ),
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
