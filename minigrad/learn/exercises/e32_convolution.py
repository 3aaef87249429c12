"""Exercise 32: one set of weights, used at every place."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    random = np.random.default_rng(32)
    for n, k in [(6, 3), (7, 2), (4, 4), (4, 1)]:
        x, w = numbers(random, n), numbers(random, k)
        y = np.correlate(x, w, "valid")
        answer.compare(
            "y", answer.convolution(x, w), y,
            {
                "turned": np.convolve(x, w, "valid"),
                "padded": (np.correlate(x, w, "same"), np.correlate(x, w, "full")),
                "blocks": blocks(x, w),
                "mean": y / k,
                "first-weight": w[0] * x[: len(y)],
                "one-too-few": y[:-1],
                "weights-summed": w.sum() * x[: len(y)],
            },
        )  # fmt: skip
    for n, k in [(6, 3), (7, 2), (4, 4), (4, 1)]:
        x, w, g = numbers(random, n), numbers(random, k), numbers(random, n - k + 1)
        pair = answer.unpack(answer.convolution_backward(g, x, w), "grad_x", "grad_w")
        right = np.convolve(g, w)
        last = np.zeros(n)
        for j in range(k):
            last[j : j + len(g)] = g * w[j]
        answer.compare(
            "grad_x", pair[0], right,
            {
                "turned": np.correlate(g, w, "full"),
                "overwritten": last,
                "weights-summed": np.concatenate([g * w.sum(), np.zeros(k - 1)]),
                "no-g": np.convolve(np.ones(len(g)), w),
                "own": np.convolve(g, x)[:n],
                "short": g * w[0],
            },
        )  # fmt: skip
        of_w = np.correlate(x, g, "valid")
        answer.compare(
            "grad_w", pair[1], of_w,
            {
                "turned": of_w[::-1],
                "mean": of_w / len(g),
                "unshifted": np.full(k, (g * x[: len(g)]).sum()),
                "no-g": np.correlate(x, np.ones(len(g)), "valid"),
                "last-place": g[-1] * x[-k:],
                "first-place": g[0] * x[:k],
                "summed-first": g.sum() * np.correlate(x, np.ones(len(g)), "valid"),
            },
        )  # fmt: skip


def blocks(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """With windows that do not overlap."""
    return np.array([x[t : t + len(w)] @ w for t in range(0, len(x) - len(w) + 1, len(w))])


def draw(answer: Answer) -> Graph:
    """The learner's forward pass."""
    return traced(answer.convolution, "y", x=np.arange(1.0, 6.0), w=np.array([0.5, -1.0]))


EXERCISE = Exercise(
    title="convolution along one axis",
    chapter="rules",
    after=12,
    hints=(
        "Take n = 4 and k = 2, and write the three y as formulas. Then go through them for x[1]: "
        "in which of them is it, and beside which w? And for w[1]?",
        "Do not loop over the places, loop over the k weights: w[j] meets the entries x[j], "
        "x[j + 1], ... of one slice, and y is the sum over j of w[j] times this slice. Then each "
        "gradient is the rule of a product and of a slice.",
        "For each j, with the slice j : j + len(g): grad_x[slice] += g * w[j], and grad_w[j] = "
        "(g * x[slice]).sum().",
    ),
    why="A convolution is a matrix product in which the weights are shared: each w is in every "
    "row. So its gradient is a sum over all places, as that of a bias is, and the gradient of x is "
    "a convolution again, with w turned round. Weights that are shared are few: they learn from "
    "every place what holds at every place. minigrad's conv1d adds channels and a batch, and its "
    "rule is the same.",
    diagnoses={
        "turned": "w is turned round where it should not be, or is not where it should be. y[t] "
        "has x[t] * w[0] in it: so g[t] * w[0] arrives at x[t], and g[t] * x[t] at w[0].",
        "padded": "y is too long: w lies only where all of it is on x. There are n - k + 1 places.",
        "blocks": "w moves by its whole length. It moves by 1.",
        "mean": "This is a mean. Products and contributions are added, and divided by nothing.",
        "first-weight": "Only w[0] is used: the other weights meet the next entries of x.",
        "one-too-few": "The last place is missing: there are n - k + 1.",
        "weights-summed": "All weights meet the same entry here. w[j] belongs to the entry j "
        "places further.",
        "overwritten": "Only one contribution is left where several arrive. Is = written where += "
        "should be?",
        "no-g": "This is the slope alone: multiply it by g.",
        "own": "The gradient of x needs w: the other factor.",
        "short": "Only the contribution of w[0] is there, and the shape is that of y.",
        "unshifted": "Every weight gets the same number. w[j] met the entries from x[j] on.",
        "last-place": "Only the last place has contributed: each w is used at every place.",
        "first-place": "Only the first place has contributed: each w is used at every place.",
        "summed-first": "g and x were summed before they were multiplied. Each g belongs to its "
        "own place.",
    },
    wrong=(
        Wrong("turned", ("w[j] * x[j", "w[-1 - j] * x[j")),
        Wrong("padded", code='return np.correlate(x, w, "same")'),
        Wrong(
            "blocks",
            code="""
            return np.array([x[t : t + len(w)] @ w for t in range(0, len(x) - len(w) + 1, len(w))])
        """,
        ),
        Wrong("mean", ("for j in range(len(w)))\n", "for j in range(len(w))) / len(w)\n")),
        Wrong(
            "first-weight",
            (
                "return sum(w[j] * x[j : j + places] for j in range(len(w)))",
                "return w[0] * x[:places]",
            ),
        ),
        Wrong("one-too-few", ("len(x) - len(w) + 1", "len(x) - len(w)")),
        Wrong("weights-summed", ("x[j : j + places]", "x[:places]")),
        Wrong("turned", ("+= g * w[j]", "+= g * w[-1 - j]")),
        Wrong("overwritten", ("+= g * w[j]", "= g * w[j]")),
        Wrong("weights-summed", ("grad_x[j : j + len(g)]", "grad_x[: len(g)]")),
        Wrong("no-g", ("+= g * w[j]", "+= w[j]")),
        Wrong(
            "own",
            code="""
            grad_x = np.convolve(g, x)[: len(x)]
            grad_w = np.correlate(x, g, "valid")
        """,
            gap=2,
        ),
        Wrong(
            "short",
            code="""
            grad_x = g * w[0]
            grad_w = np.correlate(x, g, "valid")
        """,
            gap=2,
        ),
        Wrong("turned", ("grad_w[j] =", "grad_w[-1 - j] =")),
        Wrong("mean", (".sum()\n", ".mean()\n")),
        Wrong("unshifted", ("(g * x[j : j + len(g)])", "(g * x[: len(g)])")),
        Wrong("no-g", ("(g * x[j : j + len(g)])", "x[j : j + len(g)]")),
        Wrong("last-place", ("(g * x[j : j + len(g)]).sum()", "g[-1] * x[j + len(g) - 1]")),
        Wrong("first-place", ("(g * x[j : j + len(g)]).sum()", "g[0] * x[j]")),
        Wrong(
            "summed-first", ("(g * x[j : j + len(g)]).sum()", "g.sum() * x[j : j + len(g)].sum()")
        ),
    ),
    check=check,
    draw=draw,
)
