"""Exercise 12: three paths from x to its normalized self."""

from __future__ import annotations

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.nn import functional
from minigrad.viz import Graph

EPS = 0.1  # so large that its place shows


def check(answer: Answer) -> None:
    random = np.random.default_rng(12)
    x, g = numbers(random, 2, 3, 4), numbers(random, 2, 3, 4)
    w, b = numbers(random, 4), numbers(random, 4)
    tensors = [minigrad.tensor(one, requires_grad=True) for one in (x, w, b)]
    y = functional.layer_norm(tensors[0], (4,), tensors[1], tensors[2], eps=EPS)
    right = [one.numpy() for one in minigrad.autograd.grad(y, tensors, minigrad.tensor(g))]
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred**2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + EPS)
    xhat = centred * rstd
    whole, first = x - x.mean(), x - x.mean(axis=0)
    answer.compare(
        "y", answer.layer_norm(x, w, b, EPS), y.numpy(),
        {
            "unbiased": centred / np.sqrt(var * 4 / 3 + EPS) * w + b,
            "eps-outside": centred / (np.sqrt(var) + EPS) * w + b,
            "no-eps": centred / np.sqrt(var) * w + b,
            "no-root": centred / (var + EPS) * w + b,
            "not-centred": x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPS) * w + b,
            "mean-kept": x * rstd * w + b,
            "raw-variance": centred / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPS) * w + b,
            "over-batch": first / np.sqrt((first**2).mean(axis=0) + EPS) * w + b,
            "everything": whole / np.sqrt((whole**2).mean() + EPS) * w + b,
            "not-scaled": xhat,
            "no-b": xhat * w,
            "no-w": xhat + b,
            "w-for-b": xhat * b + w,
            "over-length": over_length(x, w, b),
            "added-first": (xhat + b) * w,
        },
    )  # fmt: skip
    mine = answer.unpack(answer.layer_norm_backward(g, x, w, EPS), "grad_x", "grad_w", "grad_b")
    answer.compare(
        "grad_b", mine[2], right[2],
        {"unsummed": g, "half-summed": g.sum(axis=0), "rows": g.sum(axis=-1),
         "mean": g.mean(axis=(0, 1)), "b-scaled": (g * w).sum(axis=(0, 1)),
         "one-number": g.sum(), "exchanged": right[1]},
    )  # fmt: skip
    answer.compare(
        "grad_w", mine[1], right[1],
        {"unsummed": g * xhat, "half-summed": (g * xhat).sum(axis=0),
         "mean": (g * xhat).mean(axis=(0, 1)), "raw-x": (g * x).sum(axis=(0, 1)),
         "w-itself": (g * xhat * w).sum(axis=(0, 1)),
         "centred-only": (g * centred).sum(axis=(0, 1)),
         "like-b": right[2], "one-number": (g * xhat).sum(),
         "summed-first": g.sum(axis=(0, 1)) * xhat.sum(axis=(0, 1))},
    )  # fmt: skip
    h = g * w
    of_mean = h.mean(axis=-1, keepdims=True)
    of_variance = xhat * (h * xhat).mean(axis=-1, keepdims=True)
    without_w = g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True)
    answer.compare(
        "grad_x", mine[0], right[0],
        {
            "constants": rstd * h,
            "variance-left-out": rstd * (h - of_mean),
            "mean-left-out": rstd * (h - of_variance),
            "w-left-out": rstd * without_w,
            "w-late": rstd * without_w * w,
            "sums": rstd * (h - 4 * of_mean - 4 * of_variance),
            "one-sum": (
                rstd * (h - 4 * of_mean - of_variance), rstd * (h - of_mean - 4 * of_variance),
            ),
            "centred": tuple(
                rstd * (h - of_mean - one * (h * other).mean(axis=-1, keepdims=True))
                for one, other in [(centred, centred), (xhat, centred), (centred, xhat)]
            ),
            "plus": (
                rstd * (h + of_mean + of_variance), rstd * (h - of_mean + of_variance),
                rstd * (h + of_mean - of_variance),
            ),
            "rstd-squared": rstd**2 * (h - of_mean - of_variance),
            "divided": (h - of_mean - of_variance) / rstd,
            "two": (
                rstd * (h - of_mean - 2 * of_variance), rstd * (h - of_mean - of_variance / 2),
            ),
            "rstd-left-out": h - of_mean - of_variance,
            "xhat-left-out": rstd * (h - of_mean - (h * xhat).mean(axis=-1, keepdims=True)),
            "over-batch": rstd * (h - h.mean(axis=0) - xhat * (h * xhat).mean(axis=0)),
        },
    )  # fmt: skip


def over_length(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Normalized along axis 1."""
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS) * w + b


def draw(answer: Answer) -> Graph:
    """The learner's forward pass."""
    x = np.arange(24.0).reshape(2, 3, 4)
    return traced(answer.layer_norm, x=x, w=np.ones(4), b=np.zeros(4), eps=1e-5)


EXERCISE = Exercise(
    title="layer_norm",
    chapter="saved",
    hints=(
        "w and b are one array each for the whole batch: exercise 6. For x, put the paths below "
        "each other: x to xhat directly, x to mean to xhat, x to var to xhat. Without the last "
        "two, the gradient would be h / sqrt(var + eps), where h = g * w arrives at xhat.",
        "Every x of a row has slope 1/n in the mean: that takes the mean of h away from each h. "
        "And it has slope 2 * centred / n in the variance: that takes xhat * mean(h * xhat) away. "
        "Both means are along the last axis, with keepdims=True, and all of it is times rstd.",
        "grad_b = g.sum(axis=(0, 1)), grad_w = (g * xhat).sum(axis=(0, 1)), h = g * w, and "
        "grad_x = rstd * (h - h.mean(...) - xhat * (h * xhat).mean(...)).",
    ),
    why="Add a constant to a row, or multiply the row by one, and xhat stays the same (nearly: "
    "eps). So the gradient of a row can have no part along these two directions, and the two terms "
    "take just these parts away: the mean of h, and what of h lies along xhat. minigrad keeps the "
    "mean and rstd of each row for its rule, two numbers, and not xhat. The tests compare such a "
    "fused rule with the same formula written in single ops.",
    diagnoses={
        "unbiased": "The variance was divided by n - 1. Layer normalization divides by n.",
        "eps-outside": "eps was added to the root. It belongs inside: sqrt(var + eps).",
        "no-eps": "eps is missing: a row of equal numbers would give 0 / 0.",
        "no-root": "Divided by the variance. The standard deviation is its root.",
        "not-centred": "The mean was not subtracted: this is RMS normalization.",
        "mean-kept": "The variance is right, but the mean was not subtracted from x.",
        "raw-variance": "The variance is the mean of (x - mean)², and not of x².",
        "over-batch": "Normalized over the batch (axis 0). Here each row is by itself: axis=-1, "
        "keepdims=True.",
        "everything": "One mean and variance for everything. Each row has its own: axis=-1, "
        "keepdims=True.",
        "not-scaled": "Normalized, but w and b are not used yet.",
        "no-b": "b is missing: it is added at the end.",
        "no-w": "w is missing: xhat is multiplied by it.",
        "w-for-b": "w and b are exchanged: xhat is multiplied by w, and b is added.",
        "over-length": "Normalized over the length (axis 1). Here each row is by itself: axis=-1, "
        "keepdims=True.",
        "one-number": "Everything is summed. w and b have one entry for each feature: sum over the "
        "other two axes.",
        "exchanged": "grad_w and grad_b are returned in the wrong order.",
        "summed-first": "g and xhat were summed before they were multiplied. Each entry of g "
        "belongs to its own xhat: multiply first, then sum.",
        "one-sum": "One of the two terms has a sum where a mean should be: the factor 1/n comes "
        "from the mean and from the variance.",
        "centred": "Here is the centred x where xhat should be: each of the two factors in the "
        "term of the variance is divided by the standard deviation.",
        "plus": "The sign of a term is wrong. Both paths take something away from h: the mean of "
        "h, and xhat times the mean of h * xhat.",
        "rstd-squared": "The factor rstd is there twice.",
        "divided": "Divided by rstd. rstd is 1 / sqrt(var + eps) already: multiply by it.",
        "two": "The term of the variance has a factor 2 too many or too few. The 2 of the square "
        "and the 1/2 of the root cancel.",
        "added-first": "b was added before w multiplied: it is xhat * w + b.",
        "unsummed": "Not summed over the batch and the length: one w and one b serve all rows, and "
        "contributions add.",
        "half-summed": "Summed over the batch, but not over the length.",
        "rows": "Summed along the rows. b has one entry for each feature: sum over the other axes.",
        "mean": "This is a mean over the rows. Contributions are added, and divided by nothing.",
        "b-scaled": "b is added after w has multiplied: its slope is 1, not w.",
        "raw-x": "w is multiplied by xhat in the forward pass: its slope is xhat, not x.",
        "centred-only": "Its slope is xhat: the centred x, divided by the standard deviation.",
        "w-itself": "The slope of xhat * w with respect to w is xhat alone.",
        "like-b": "This is the gradient of b. The slope of w is xhat.",
        "constants": "The mean and the variance were taken for constants. But they change with x: "
        "two terms are missing.",
        "variance-left-out": "The path through the mean is there; the one through the variance is "
        "missing.",
        "mean-left-out": "The path through the variance is there; the one through the mean is "
        "missing.",
        "w-left-out": "w is missing: what arrives at xhat is h = g * w.",
        "w-late": "w was multiplied at the end. But it is different for each feature, so it has to "
        "be inside of the means: begin with h = g * w.",
        "sums": "Here are sums where means should be: the factor 1/n comes from the mean and from "
        "the variance.",
        "rstd-left-out": "All of it is divided by the standard deviation: the factor rstd is "
        "missing.",
        "xhat-left-out": "The term of the variance has a factor xhat: a larger x is further from "
        "the mean, and changes the variance more.",
    },
    wrong=(
        Wrong(
            "unbiased",
            (
                "(centred * centred).mean(axis=-1, keepdims=True)\n    return",
                "x.var(axis=-1, keepdims=True, ddof=1)\n    return",
            ),
        ),
        Wrong("eps-outside", ("np.sqrt(var + eps) *", "(np.sqrt(var) + eps) *")),
        Wrong("no-eps", ("np.sqrt(var + eps) *", "np.sqrt(var) *")),
        Wrong("no-root", ("np.sqrt(var + eps) *", "(var + eps) *")),
        Wrong(
            "not-centred",
            code="return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * w + b",
        ),
        Wrong("mean-kept", ("return centred / np", "return x / np")),
        Wrong("raw-variance", ("var = (centred * centred)", "var = (x * x)")),
        Wrong(
            "over-batch", code="return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) * w + b"
        ),
        Wrong("everything", code="return (x - x.mean()) / np.sqrt(x.var() + eps) * w + b"),
        Wrong("not-scaled", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps)")),
        Wrong(
            "added-first",
            (
                "return centred / np.sqrt(var + eps) * w + b",
                "return (centred / np.sqrt(var + eps) + b) * w",
            ),
        ),
        Wrong("no-b", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) * w")),
        Wrong("no-w", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) + b")),
        Wrong("w-for-b", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) * b + w")),
        Wrong(
            "over-length",
            code="""
            centred = x - x.mean(axis=1, keepdims=True)
            return centred / np.sqrt(x.var(axis=1, keepdims=True) + eps) * w + b
        """,
        ),
        Wrong("one-number", ("g.sum(axis=(0, 1))", "g.sum()")),
        Wrong("exchanged", ("return grad_x, grad_w, grad_b", "return grad_x, grad_b, grad_w")),
        Wrong(
            "summed-first",
            ("(g * xhat).sum(axis=(0, 1))", "g.sum(axis=(0, 1)) * xhat.sum(axis=(0, 1))"),
        ),
        Wrong("one-sum", ("h.mean(axis=-1, keepdims=True)", "h.sum(axis=-1, keepdims=True)")),
        Wrong(
            "centred",
            ("xhat * (h * xhat).mean(axis=-1", "centred * (h * centred).mean(axis=-1"),
        ),
        Wrong("plus", ("(h - through_mean -", "(h + through_mean +")),
        Wrong("rstd-squared", ("grad_x = rstd * (", "grad_x = rstd * rstd * (")),
        Wrong(
            "divided",
            (
                "rstd * (h - through_mean - through_variance)",
                "(h - through_mean - through_variance) / rstd",
            ),
        ),
        Wrong("two", ("through_variance = xhat", "through_variance = 2 * xhat")),
        Wrong("unsummed", ("g.sum(axis=(0, 1))", "g")),
        Wrong("half-summed", ("g.sum(axis=(0, 1))", "g.sum(axis=0)")),
        Wrong("rows", ("g.sum(axis=(0, 1))", "g.sum(axis=-1)")),
        Wrong("mean", ("g.sum(axis=(0, 1))", "g.mean(axis=(0, 1))")),
        Wrong("b-scaled", ("g.sum(axis=(0, 1))", "(g * w).sum(axis=(0, 1))")),
        Wrong("raw-x", ("(g * xhat).sum", "(g * x).sum")),
        Wrong("centred-only", ("(g * xhat).sum", "(g * centred).sum")),
        Wrong("w-itself", ("(g * xhat).sum", "(g * xhat * w).sum")),
        Wrong("like-b", ("(g * xhat).sum", "g.sum")),
        Wrong("constants", ("(h - through_mean - through_variance)", "h")),
        Wrong("variance-left-out", (" - through_variance)", ")")),
        Wrong("mean-left-out", ("(h - through_mean - ", "(h - ")),
        Wrong("w-left-out", ("h = g * w", "h = g")),
        Wrong("w-late", ("h = g * w", "h = g"), ("rstd * (h - ", "w * rstd * (h - ")),
        Wrong("sums", ("h.mean(", "h.sum("), ("(h * xhat).mean(", "(h * xhat).sum(")),
        Wrong("rstd-left-out", ("grad_x = rstd * (", "grad_x = (")),
        Wrong("xhat-left-out", ("xhat * (h * xhat).mean", "(h * xhat).mean")),
        Wrong(
            "over-batch",
            ("h.mean(axis=-1, keepdims=True)", "h.mean(axis=0)"),
            ("(h * xhat).mean(axis=-1, keepdims=True)", "(h * xhat).mean(axis=0)"),
        ),
    ),
    check=check,
    draw=draw,
)
