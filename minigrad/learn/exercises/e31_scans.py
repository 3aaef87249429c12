"""Exercise 31: the rules of a cumulative sum, of a sort, and of a product that may have a zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    random = np.random.default_rng(31)
    for size in (4, 5):
        g = numbers(random, size)
        right = g[::-1].cumsum()[::-1]
        answer.compare(
            "gradient", answer.cumsum_backward(g), right,
            {
                "forwards": g.cumsum(),
                "unturned": right[::-1],
                "same": g,
                "everything": np.full(size, g.sum()),
                "not-itself": right - g,
                "no-g": np.arange(size, 0, -1.0),
                "differences": (np.diff(g, prepend=0.0), np.diff(g, append=0.0)),
            },
        )  # fmt: skip
    for order in ([2, 0, 3, 1], [3, 0, 1, 4, 2]):
        x, g = np.argsort(order) * 1.5 - 2.0, numbers(random, len(order))
        right = np.zeros(len(order))
        right[order] = g
        answer.compare(
            "gradient", answer.sort_backward(g, x), right,
            {
                "gathered": g[order],
                "same": g,
                "sorted": (np.sort(g), np.sort(g)[np.argsort(order)]),
                "descending": (right[::-1], g[::-1][np.argsort(order)]),
                "no-g": np.ones(len(order)),
            },
        )  # fmt: skip
    cases = [[2.0, -1.5, 0.5, 3.0], [2.0, 0.0, 0.5], [0.0, 3.0, 0.0]]
    for number, entries in enumerate(cases):
        x = np.array(entries)
        others = np.array([np.prod(np.delete(x, i)) for i in range(len(x))])
        first = number == 0
        mistakes: dict[str, Any] = {
            "no-g": others,
            "next": 2.5 * np.roll(x, -1),
            "summed": 2.5 * (x.sum() - x),
            "like-sum": np.full(len(x), 2.5),
            "divided": lambda mine, first=first: not first and bool(np.isnan(mine).any()),
            "zeros-lost": lambda mine, first=first: not first and not mine.any(),
            "zeros-left-out": 2.5
            * np.array([np.prod([one for one in np.delete(x, i) if one]) for i in range(len(x))]),
        }
        if first:  # with a 0, the whole product says nothing
            mistakes |= {"product": np.full(len(x), 2.5 * x.prod()), "own": 2.5 * x.prod() * x}
        answer.compare("gradient", answer.product_backward(2.5, x), 2.5 * others, mistakes)


def draw(answer: Answer) -> Graph:
    """The learner's rule of a cumulative sum."""
    return traced(answer.cumsum_backward, g=np.ones(4))


EXERCISE = Exercise(
    title="cumulative sum, sort and product",
    chapter="broadcasting",
    after=9,
    hints=(
        "For each of the three, take three numbers, and write y[0], y[1] and y[2] as formulas. "
        "Then go through x[0], x[1] and x[2]: where does it occur, and with which slope?",
        "x[j] is in y[j] and in all later ones: a sum from the end. A sort moves x[order[i]] to "
        "place i, so g[i] goes back to place order[i]. y / x[i] is 0 / 0 where x[i] is 0: multiply "
        "the others instead.",
        "np.cumsum(g[::-1])[::-1]. Then grad[np.argsort(x)] = g. And for each i, g times "
        "np.prod(np.delete(x, i)).",
    ),
    why="A cumulative sum is a triangular matrix of ones, and its rule is the transposed one: the "
    "sum from the other end. A sort is a permutation, whose rule is the inverse permutation: a "
    "gather becomes a scatter, as in exercise 8. In a product, exactly one 0 leaves one slope that "
    "is not 0; two zeros leave none. minigrad divides by nothing either: it multiplies "
    "the product of all entries before each one with that of all after it.",
    diagnoses={
        "forwards": "This is the sum from the beginning. x[0] is in every y, and the last x in the "
        "last y only: sum from the end.",
        "unturned": "The right numbers in reverse order: turn the result round once more.",
        "same": "This is g itself. To which entries of x does each g belong?",
        "everything": "Every x gets the sum of all g. But x[j] is not in the y before it.",
        "not-itself": "The sums begin one entry too late: x[j] is in y[j] itself, too.",
        "no-g": "This is the slope alone: multiply it by g.",
        "differences": "These are differences, which undo a cumulative sum. The rule is not the "
        "inverse, it is the transpose: a sum again.",
        "gathered": "This is g[order], which moves once more in the same direction. g[i] goes back "
        "to place order[i]: grad[order] = g.",
        "sorted": "g itself was sorted. It is moved as x was, backwards, whatever its values are.",
        "descending": "The order is turned round: np.sort puts the smallest first.",
        "product": "This is g times the whole product. The slope with respect to x[i] is the "
        "product of the others.",
        "own": "Multiplied by x[i] where it should be taken out of the product.",
        "next": "Only one of the other factors is there.",
        "summed": "The others are added. They are multiplied.",
        "like-sum": "This is the rule of a sum. In a product the slope is the product of the "
        "others.",
        "divided": "Right without a 0 in x. Is the product divided by x[i]? 0 / 0 is NaN: multiply "
        "the others.",
        "zeros-lost": "Right without a 0 in x. At the 0 itself the slope is the product of the "
        "others, which is not 0.",
        "zeros-left-out": "Right without a 0 in x. Here zeros are left out of the product: for the "
        "other entries the 0 is one of the factors.",
    },
    wrong=(
        Wrong("forwards", ("np.cumsum(g[::-1])[::-1]", "np.cumsum(g)")),
        Wrong("unturned", ("np.cumsum(g[::-1])[::-1]", "np.cumsum(g[::-1])")),
        Wrong("same", code="return g"),
        Wrong("everything", code="return np.full(g.shape, g.sum())"),
        Wrong("not-itself", ("np.cumsum(g[::-1])[::-1]", "np.cumsum(g[::-1])[::-1] - g")),
        Wrong("no-g", code="return np.arange(len(g), 0, -1.0)"),
        Wrong("differences", code="return np.diff(g, prepend=0.0)"),
        Wrong("gathered", code="return g[np.argsort(x)]", gap=2),
        Wrong("same", code="return g", gap=2),
        Wrong("sorted", code="return np.sort(g)", gap=2),
        Wrong("descending", ("np.argsort(x)] = g", "np.argsort(-x)] = g")),
        Wrong("no-g", ("np.argsort(x)] = g", "np.argsort(x)] = 1.0")),
        Wrong("product", code="return np.full(x.shape, g * np.prod(x))", gap=3),
        Wrong("no-g", ("[g * np.prod(np", "[np.prod(np")),
        Wrong("own", code="return g * np.prod(x) * x", gap=3),
        Wrong("next", code="return g * np.roll(x, -1)", gap=3),
        Wrong("summed", ("g * np.prod(np", "g * np.sum(np")),
        Wrong("like-sum", code="return np.full(x.shape, g)", gap=3),
        Wrong("divided", code="return g * np.prod(x) / x", gap=3),
        Wrong("zeros-lost", code="return g * np.prod(x) / np.where(x == 0, 1.0, x)", gap=3),
        Wrong(
            "zeros-left-out",
            code="""
            return np.array([g * np.prod(x[(x != 0) & (np.arange(len(x)) != i)])
                             for i in range(len(x))])
        """,
            gap=3,
        ),
    ),
    check=check,
    draw=draw,
)
