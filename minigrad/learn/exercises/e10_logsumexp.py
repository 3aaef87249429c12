"""Exercise 10: a formula that overflows, and its twin that does not."""

from __future__ import annotations

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

LARGE = np.array([[1000.0, 999.0, 998.5], [1001.0, 1000.0, 1000.0]])
SMALL = np.array([[-1000.0, -999.0, -998.5]])
BOTH = np.array([[1000.0, 999.0, 998.5], [-1000.0, -999.0, -998.5]])
FAR = np.array([[3000.0, 0.0, 0.0], [0.0, 0.0, -3000.0]])
MASKED = np.array([[0.5, -np.inf, 1.5], [-np.inf, -np.inf, -np.inf]])


def right(g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By minigrad's engine: the value, and the gradient of x."""
    tensor = minigrad.tensor(x, requires_grad=True)
    out = tensor.logsumexp(-1)
    (grad,) = minigrad.autograd.grad(out, [tensor], minigrad.tensor(g))
    return out.numpy(), grad.numpy()


def infinite(mine: np.ndarray) -> bool:
    return not np.isfinite(mine).all()


def check(answer: Answer) -> None:
    random = np.random.default_rng(10)
    ordinary = [numbers(random, 3, 3), numbers(random, 2, 3, 3)]
    for x in ordinary:
        out, m = right(np.ones(x.shape[:-1]), x)[0], x.max(axis=-1)
        others = (None, 0, -2)  # axes
        answer.compare(
            "result", answer.logsumexp(x), out,
            {
                "no-log": np.exp(x).sum(axis=-1),
                "m-lost": out - m,
                "m-subtracted": out - 2 * m,
                "axis-kept": out[..., None],
                "m-kept": out - m + m[:, None] if x.ndim == 2 else out - m,
                "axis": tuple(np.log(np.exp(x).sum(axis=axis)) for axis in others),
                "largest": m,
                "mean": out - np.log(x.shape[-1]),
                "base": tuple(
                    one
                    for log in (np.log(2), np.log(10))
                    for one in (out / log, m + (out - m) / log)
                ),
                "log-inside": x.sum(axis=-1),
            },
        )  # fmt: skip
    answer.compare(
        "result", answer.logsumexp(LARGE), lse(LARGE),
        {"large": infinite, "clipped": lambda mine: bool((mine < 800).all())},
    )  # fmt: skip
    answer.compare("result", answer.logsumexp(SMALL), lse(SMALL), {"small": infinite})
    answer.compare("result", answer.logsumexp(BOTH), lse(BOTH), {"one-m": infinite})
    answer.compare("result", answer.logsumexp(FAR), lse(FAR), {"not-the-largest": infinite})
    answer.compare(
        "result", answer.logsumexp(MASKED), lse(MASKED),
        {"masked": lambda mine: bool(np.isnan(mine[1]) and not np.isnan(mine[0])),
         "epsilon": lambda mine: bool(np.isfinite(mine[1]))},
    )  # fmt: skip
    for x in [*ordinary, LARGE, BOTH, MASKED]:
        g = numbers(random, *x.shape[:-1])
        out, grad = right(g, x)
        spread = g[..., None] * np.ones(x.shape)
        with np.errstate(all="ignore"):
            slopes = np.exp(x - out[..., None])
            mistakes = {
                "no-slope": spread,
                "out-aligned": spread * np.exp(x - out) if x.shape == (3, 3) else (),
                "one-axis": one_axis(g, x, out) if x.ndim == 3 else (),
                "exponent-sign": spread * np.exp(out[..., None] - x),
                "everything": spread * np.exp(x) / np.exp(x).sum(),
                "like-softmax": spread * slopes * (1 - slopes),
                "like-max": spread * (x == x.max(axis=-1, keepdims=True)),
                "shifted": spread * np.exp(x - x.max(axis=-1, keepdims=True)),
                "unnormalised": spread * np.exp(x),
                "aligned": (g * slopes, g * np.exp(x - out)) if x.shape == (3, 3) else (),
                "no-g": slopes,
                "inverse": spread / np.exp(out)[..., None],
                "logarithm": spread * np.exp(x) / out[..., None],
            }
        if x is LARGE or x is BOTH:
            mistakes = {"large": infinite}
        if x is MASKED:
            mistakes = {"masked": infinite}
        answer.compare("gradient", answer.logsumexp_backward(g, x, out), grad, mistakes)


def one_axis(g: np.ndarray, x: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, ...]:
    """With g[:, None] for g[..., None], and so with out."""
    middle = np.exp(x - out[:, None])
    return g[:, None] * middle, g[:, None] * np.exp(x - out[..., None]), g[..., None] * middle


def lse(x: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce(x, axis=-1)


def draw(answer: Answer) -> Graph:
    """The learner's forward pass."""
    return traced(answer.logsumexp, x=np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]))


EXERCISE = Exercise(
    title="logsumexp",
    chapter="traps",
    hints=(
        "exp(x) = exp(m) * exp(x - m) for every number m, so m may be taken out of the sum, and "
        "out of the logarithm. Which m makes every exp(x - m) harmless?",
        "Take the largest entry of each row, with keepdims=True. Then the largest exponential is "
        "exp(0) = 1, and the others lie between 0 and 1. Where that m is -inf, take 0 instead. For "
        "the gradient: the slope of log(s) is 1 / s, and that of s is exp(x); their product is "
        "exp(x - out).",
        "m = np.max(x, axis=-1, keepdims=True); m = np.where(np.isfinite(m), m, 0.0); then "
        "np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]. Backward: g[..., None] * "
        "np.exp(x - out[..., None]), with the same np.where for out.",
    ),
    why="Both lines compute the same number on paper, and only one of them does on a machine. The "
    "slopes exp(x - out) are positive and add up to 1 in each row: they are the softmax of x, "
    "which the next exercise is about. Reading `out` from the forward pass makes the rule short "
    "and safe, since x - out is never above 0. That is what 'saved for the backward pass' is for.",
    diagnoses={
        "no-log": "This is the sum of the exponentials: the logarithm is missing.",
        "m-lost": "m was subtracted, and then forgotten: add it again after the logarithm.",
        "m-subtracted": "m is subtracted twice. exp(x - m) is exp(x) / exp(m), so after the "
        "logarithm m has to be added.",
        "axis-kept": "The numbers are right, but the last axis is still there with size 1: the "
        "result has the shape of x without it.",
        "m-kept": "m has its axis of size 1 still, and (n,) + (n, 1) makes a table of (n, n): add "
        "m[..., 0].",
        "axis": "Summed over another axis than the last one.",
        "mean": "This is the logarithm of the mean: too small by log(n). A sum is asked for.",
        "base": "This is the logarithm to another base. np.log is the natural one, the inverse of "
        "np.exp.",
        "log-inside": "The logarithm was taken of each exponential, which undoes it. Sum first.",
        "clipped": "The result is finite, but too small. Are the numbers cut off before exp? Then "
        "large ones become equal. Subtract the largest entry of the row instead.",
        "not-the-largest": "An exponential overflows: one entry is 3000 above the others. Is it "
        "the largest entry of the row that is subtracted, and not the mean or the smallest?",
        "largest": "This is the largest entry. The logarithm of the sum is a little more.",
        "large": "exp of a number above 709 is inf. Subtract the largest entry of the row before "
        "exp, and nothing can overflow.",
        "small": "exp(-1000) is 0, and log(0) is -inf. Subtract the largest entry of the row, also "
        "where it is negative: then one of the exponentials is 1.",
        "one-m": "Is it one m for all rows? In a row that lies far below it, every exponential is "
        "0. Each row needs its own: np.max(x, axis=-1, keepdims=True).",
        "masked": "NaN where the row is fully masked: -inf - -inf is NaN. Use another m (or out) "
        "there, such as 0: then every exp(-inf - 0) is 0.",
        "epsilon": "Something is added so that the logarithm never sees a 0. But here -inf is the "
        "right answer: nothing is in that row.",
        "out-aligned": "g is spread along the last axis, but out is not: it belongs to the rows as "
        "well, so write out[..., None].",
        "one-axis": "g and out lack the last axis of x. [:, None] adds an axis at place 1, which "
        "is the last one of two axes only: write [..., None].",
        "exponent-sign": "The exponent is turned round: exp(x - out) is never above 1.",
        "everything": "Divided by the sum over everything. Each row has its own sum, exp(out).",
        "like-softmax": "This is multiplied by 1 - y once more, as in the rule of a sigmoid. The "
        "slopes here are exp(x - out) themselves.",
        "like-max": "This is the rule of a maximum. Here the smaller entries have slopes too.",
        "shifted": "exp(x - m) is not divided by its sum: the slopes of a row add up to 1. Use "
        "exp(x - out).",
        "no-slope": "g is only spread. Each entry has a slope of its own: exp(x - out).",
        "unnormalised": "The slope of the sum is exp(x); that of the logarithm, 1 / sum, is "
        "missing.",
        "aligned": "g belongs to the rows: spread it along the last axis with g[..., None].",
        "no-g": "These are the slopes alone: multiply them by g.",
        "inverse": "1 / sum is the slope of the logarithm; that of the sum, exp(x), is missing.",
        "logarithm": "Divided by out. The slope of the logarithm is 1 / sum, and the sum is "
        "exp(out).",
    },
    wrong=(
        Wrong(
            "no-log", ("np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]", "np.exp(x).sum(axis=-1)")
        ),
        Wrong("m-lost", (" + m[..., 0]", "")),
        Wrong("m-subtracted", (" + m[..., 0]", " - m[..., 0]")),
        Wrong(
            "axis-kept",
            ("x - m).sum(axis=-1)) + m[..., 0]", "x - m).sum(axis=-1, keepdims=True)) + m"),
        ),
        Wrong("m-kept", (" + m[..., 0]", " + m")),
        Wrong("axis", code="return np.log(np.exp(x).sum())"),
        Wrong("axis", code="return np.log(np.exp(x).sum(axis=0))"),
        Wrong("largest", code="return x.max(axis=-1)"),
        Wrong("mean", ("np.exp(x - m).sum(axis=-1)", "np.exp(x - m).mean(axis=-1)")),
        Wrong("base", ("np.log(np.exp", "np.log10(np.exp")),
        Wrong("log-inside", code="return np.log(np.exp(x)).sum(axis=-1)"),
        Wrong(
            "clipped",
            (
                "np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]",
                "np.log(np.exp(np.clip(x, None, 700)).sum(axis=-1))",
            ),
        ),
        Wrong("not-the-largest", ("m = np.max(x, axis=-1", "m = np.mean(x, axis=-1")),
        Wrong("large", code="return np.log(np.exp(x).sum(axis=-1))"),
        Wrong(
            "small",
            code="""
            m = np.maximum(x.max(axis=-1, keepdims=True), 0)
            return np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]
        """,
        ),
        Wrong("one-m", code="return np.log(np.exp(x - x.max()).sum(axis=-1)) + x.max()"),
        Wrong(
            "masked", ("    m = np.where(np.isfinite(m), m, 0.0)  # -inf - -inf would be NaN\n", "")
        ),
        Wrong(
            "epsilon",
            ("np.log(np.exp(x - m).sum(axis=-1))", "np.log(np.exp(x - m).sum(axis=-1) + 1e-12)"),
        ),
        Wrong("no-slope", code="return g[..., None] + 0 * x", gap=2),
        Wrong("out-aligned", ("np.exp(x - out[..., None])", "np.exp(x - out)")),
        Wrong(
            "one-axis",
            ("g[..., None] * np.exp(x - out[..., None])", "g[:, None] * np.exp(x - out[:, None])"),
        ),
        Wrong("exponent-sign", ("x - out[..., None]", "out[..., None] - x")),
        Wrong("everything", ("np.exp(x - out[..., None])", "np.exp(x) / np.exp(x).sum()")),
        Wrong(
            "like-softmax",
            code="""
            y = np.exp(x - out[..., None])
            return g[..., None] * y * (1 - y)
        """,
            gap=2,
        ),
        Wrong("like-max", code="return g[..., None] * (x == x.max(axis=-1, keepdims=True))", gap=2),
        Wrong("shifted", ("x - out[..., None]", "x - x.max(axis=-1, keepdims=True)")),
        Wrong("unnormalised", code="return g[..., None] * np.exp(x)", gap=2),
        Wrong("aligned", ("g[..., None] * np.exp(x - out", "g * np.exp(x - out")),
        Wrong("no-g", ("g[..., None] * np.exp(x - out", "np.exp(x - out")),
        Wrong(
            "inverse", code="return g[..., None] / np.exp(out)[..., None] * np.ones(x.shape)", gap=2
        ),
        Wrong("logarithm", code="return g[..., None] * np.exp(x) / out[..., None]", gap=2),
        Wrong(
            "large",
            code="""
            e = np.exp(x)
            return g[..., None] * e / e.sum(axis=-1, keepdims=True)
        """,
            gap=2,
        ),
        Wrong("masked", ("    out = np.where(np.isfinite(out), out, 0.0)\n", "")),
        Wrong("changed", ("    m = np.max(x", "    x -= x.max()\n    m = np.max(x")),
    ),
    check=check,
    draw=draw,
)
