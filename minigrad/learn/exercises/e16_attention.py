"""Exercise 16: scaled dot-product attention, of one sequence and of a batch with heads."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, Failure, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def softmax(x: np.ndarray, axis: int | None = -1) -> np.ndarray:
    """Positive numbers that sum to 1 along an axis."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def check(answer: Answer) -> None:
    """One sequence with as many queries as keys, then a batch with two heads."""
    random = np.random.default_rng(16)
    Q, K, V = numbers(random, 3, 4), numbers(random, 3, 4), numbers(random, 3, 2)
    products = Q @ K.T
    weights = softmax(products / 2.0)
    output, mine = answer.unpack(answer.attention(Q, K, V), "output", "weights")
    answer.compare(
        "weights", mine, weights,
        {"axis": softmax(products / 2.0, axis=-2), "no scale": softmax(products),
         "not the root": softmax(products / 4.0), "wrong size": softmax(products / np.sqrt(3)),
         "multiplied": softmax(products * 2.0),
         "everything": softmax(products / 2.0, axis=None),
         "no softmax": products / 2.0, "scaled late": softmax(products) / 2.0,
         "exchanged": weights @ V, "keys ask": softmax(products.T / 2.0)},
    )  # fmt: skip
    answer.compare("output", output, weights @ V,
                   {"axis of values": weights.T @ V, "scaled late": weights @ V / 2.0})  # fmt: skip
    Q, K, V = numbers(random, 2, 2, 3, 4), numbers(random, 2, 2, 5, 4), numbers(random, 2, 2, 5, 2)
    try:
        output, mine = answer.unpack(answer.attention(Q, K, V), "output", "weights")
    except ValueError as error:
        facts = f"With Q {Q.shape}, K {K.shape} and V {V.shape}, line by line:\n  {error}"
        raise Failure(facts, "all axes") from None
    weights = softmax(Q @ K.swapaxes(-1, -2) / 2.0)
    answer.compare("weights", mine, weights)
    answer.compare("output", output, weights @ V)


def draw(answer: Answer) -> Graph:
    """What the learner's attention computes."""
    return traced(
        answer.attention, "output weights", Q=np.ones((5, 4)), K=np.ones((6, 4)), V=np.ones((6, 3))
    )


EXERCISE = Exercise(
    title="attention, forward",
    chapter="attention",
    hints=(
        "Start from the shapes. The scores are (..., n, m), from Q (..., n, d) and K (..., m, d): "
        "the matrix product sums over d, so K must have d in the second-last place.",
        "Exchange the last two axes of K and leave the batch axes where they are: "
        "K.swapaxes(-1, -2). Divide by the root of the width d, which is Q.shape[-1], before the "
        "softmax. The weights of one query are in a row, so softmax goes along the last axis.",
        "scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]); then softmax(scores, axis=-1); "
        "then weights @ V.",
    ),
    why="Softmax goes along the keys, since each query shares out one whole among them; the output "
    "is then a mean of values. A dot product of d independent numbers of variance 1 has variance "
    "d: without the root, wide queries give large scores, the softmax puts everything on one key, "
    "and its gradient is nearly 0. Nothing here mixes batch entries or heads: only the last two "
    "axes take part.",
    diagnoses={
        "axis": "The columns sum to 1, not the rows: softmax goes along the wrong axis. Each query "
        "shares out its attention among the keys: axis=-1.",
        "no scale": "The weights are too sharp: the division by sqrt(d) is missing.",
        "not the root": "Divided by d, and not by its root. A dot product of d numbers grows like "
        "sqrt(d), if they are independent.",
        "multiplied": "Multiplied by sqrt(d), and not divided: the weights are far too sharp.",
        "everything": "All weights together sum to 1. Those of each query should: softmax along "
        "the last axis only.",
        "wrong size": "Divided by the root of the length of the sequence. d is the width of a "
        "query, its last axis.",
        "no softmax": "These are the scores. Softmax makes weights of them.",
        "scaled late": "The division comes after the softmax: the weights of a query no longer sum "
        "to 1. Divide the scores.",
        "exchanged": "The output and the weights are returned in the wrong order.",
        "keys ask": "Rows and columns of the scores are exchanged: a row must belong to a query. "
        "It is Q Kᵀ, not K Qᵀ.",
        "axis of values": "The weights are transposed in the last product. Row i of the weights "
        "belongs to query i, and multiplies the rows of V: weights @ V.",
        "all axes": "Right for one sequence, an error for a batch: `.T` reverses all axes, the "
        "batch axes too. Exchange only the last two: K.swapaxes(-1, -2).",
    },
    wrong=(
        Wrong("axis", ("axis=-1)\n    return weights @ V", "axis=-2)\n    return weights @ V")),
        Wrong("no scale", (" / np.sqrt(Q.shape[-1])", "")),
        Wrong("not the root", (" / np.sqrt(Q.shape[-1])", " / Q.shape[-1]")),
        Wrong("multiplied", (" / np.sqrt(Q.shape[-1])", " * np.sqrt(Q.shape[-1])")),
        Wrong(
            "everything",
            ("axis=-1)\n    return weights @ V", "axis=None)\n    return weights @ V"),
        ),
        Wrong("wrong size", ("np.sqrt(Q.shape[-1])", "np.sqrt(len(K))")),
        Wrong("no softmax", ("weights = softmax(scores, axis=-1)", "weights = scores")),
        Wrong(
            "scaled late",
            (" / np.sqrt(Q.shape[-1])", ""),
            ("softmax(scores, axis=-1)", "softmax(scores, axis=-1) / np.sqrt(Q.shape[-1])"),
        ),
        Wrong("exchanged", ("return weights @ V, weights", "return weights, weights @ V")),
        Wrong("form", ("return weights @ V, weights", "return weights @ V")),
        Wrong("keys ask", ("Q @ K.swapaxes(-1, -2)", "K @ Q.swapaxes(-1, -2)")),
        Wrong("axis of values", ("return weights @ V,", "return weights.swapaxes(-1, -2) @ V,")),
        Wrong("all axes", ("K.swapaxes(-1, -2)", "K.T")),
        Wrong(
            "ValueError", ("K.swapaxes(-1, -2)", "K"), ("return weights @ V", "return V @ weights")
        ),
    ),
    check=check,
    draw=draw,
)
