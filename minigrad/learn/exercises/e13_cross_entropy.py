"""Exercise 13: the loss of a classifier, and its gradient: probabilities minus one-hot labels."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """Small scores first, then scores so far apart that a probability rounds to 0."""
    random = np.random.default_rng(13)
    scores, labels = numbers(random, 4, 3), np.array([2, 0, 1, 2])
    rows = np.arange(4)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    each = -log_p[rows, labels]
    answer.compare(
        "loss", answer.loss(scores, labels), each.mean(),
        {"sum": each.sum(), "classes": each.sum() / scores.size, "each": each,
         "raw": -scores[rows, labels].mean(),
         "picked": lambda mine: any(
             np.allclose(mine, -one.mean()) for one in (log_p[:, labels], log_p[labels])),
         "all classes": -log_p.mean(), "no log": -np.exp(log_p)[rows, labels].mean()},
    )  # fmt: skip
    wide = np.array([[1000.0, 0.0]])
    answer.compare("loss", answer.loss(wide, np.array([0])), 0.0,
                   {"exp of 1000": lambda mine: not np.isfinite(mine)})  # fmt: skip
    answer.compare(
        "loss", answer.loss(wide, np.array([1])), 1000.0,
        {"log of 0": np.inf, "epsilon": lambda mine: 0 < float(mine) < 1000},
    )  # fmt: skip
    far = np.array([[3000.0, 0.0], [-3000.0, 0.0]])
    answer.compare(
        "loss", answer.loss(far, np.array([1, 1])), 1500.0,
        {"not the largest": lambda mine: not np.isfinite(mine)},
    )  # fmt: skip
    p, one_hot = np.exp(log_p), np.eye(3)[labels]
    columns = p.copy()
    columns[:, labels] -= 1.0
    whole = p.copy()
    whole[labels] -= 1.0
    answer.compare(
        "gradient", answer.gradient(scores, labels), (p - one_hot) / 4,
        {"not divided": p - one_hot, "divided by all": (p - one_hot) / 12,
         "probabilities": lambda mine: np.allclose(mine, p) or np.allclose(mine, p / 4),
         "labels": lambda mine: any(np.allclose(mine * k, p - labels[:, None]) for k in (1, 4)),
         "columns": lambda mine: any(
             np.allclose(mine * k, one) for k in (1, 4) for one in (columns, whole)),
         "only right": lambda mine: not (mine * (1 - one_hot)).any()},
    )  # fmt: skip
    answer.compare("gradient", answer.gradient(wide, np.array([1])), [[1.0, -1.0]])


def draw(answer: Answer) -> Graph:
    """What the learner's loss computes of the scores."""
    labels = np.array([0, 2])
    return traced(lambda scores: answer.loss(scores, labels), "loss", scores=np.eye(2, 3))


EXERCISE = Exercise(
    title="cross-entropy",
    chapter="fused",
    hints=(
        "The loss is -log p, but do not compute p first: exp(-1000) is 0 in a computer, and its "
        "logarithm is -inf. Write the logarithm of the softmax as a formula, and simplify.",
        "log p[i] = scores[i] - log(sum of exp(scores)). Subtract the largest score of each row "
        "first, as in logsumexp. For the gradient: the slope of logsumexp is softmax, and the "
        "slope of the score that is subtracted is 1, in one column.",
        "log_p[np.arange(N), labels] takes one entry of each row. The gradient is softmax(scores), "
        "with 1 subtracted at these same entries, all divided by N because the loss is a mean.",
    ),
    why="The loss of a row is logsumexp(scores) - scores[label]. The slope of the first term is "
    "softmax, that of the second is 1 at the label: so the gradient is probabilities minus one-hot "
    "labels. Every row of it sums to 0: raising all scores alike changes nothing. The large slope "
    "of the logarithm and the small slope of softmax have cancelled before anything was rounded. "
    "That is why minigrad's cross_entropy is one op on scores, and not log after softmax.",
    diagnoses={
        "sum": "This is the sum over the examples. The loss is their mean: then it does not "
        "depend on how many are in the batch.",
        "classes": "This divides by N * C. Each example has one right class, so there are N terms.",
        "each": "This is the loss of each example. The loss of the batch is their mean.",
        "picked": "log_p[:, labels] takes all rows for every label, an (N, N) table, and "
        "log_p[labels] takes whole rows. One entry of each row is log_p[np.arange(N), labels].",
        "all classes": "This is the mean over all classes. Only the right class of each example "
        "counts: labels says which.",
        "no log": "This is the mean of the probabilities. The loss is minus their logarithm.",
        "raw": "The scores themselves are not logarithms of probabilities: those of a row must, "
        "after exp, sum to 1. Subtract logsumexp of the row.",
        "log of 0": "Right for small scores, inf for large ones: a probability has been rounded to "
        "0, and its logarithm is -inf. Compute log p without computing p.",
        "exp of 1000": "Right for small scores, NaN for large ones: np.exp(1000) is inf. Subtract "
        "the largest score of each row first; that changes no probability.",
        "not the largest": "One score is 3000 above the other, and the rows are far apart. Is it "
        "the largest score of each row that is subtracted: not the mean, and not one for all rows?",
        "epsilon": "A small number inside the logarithm avoids inf, but the loss is then cut off "
        "and its gradient is lost exactly where the model is most wrong. Compute log p directly.",
        "not divided": "The gradient of the sum over the batch. The loss is the mean, so each "
        "example counts 1 / N: divide.",
        "divided by all": "This divides by N * C. The loss is a mean over N examples.",
        "probabilities": "These are the probabilities only, from logsumexp. The term "
        "-scores[label] is missing: subtract 1 at the right class of each row.",
        "labels": "The number of the class was subtracted, as if it were a quantity. Class 2 is "
        "not twice class 1: subtract 1 in column 2, and 0 in the others.",
        "columns": "g[:, labels] -= 1 changes these columns in every row, and g[labels] -= 1 "
        "changes whole rows. One entry of each row is g[np.arange(N), labels].",
        "only right": "Only the right class gets a gradient here. But the scores of all classes "
        "are in the sum under the softmax: the wrong ones must be pushed down.",
    },
    wrong=(
        Wrong("sum", ("labels].mean()", "labels].sum()")),
        Wrong(
            "picked", ("-log_p[np.arange(len(labels)), labels].mean()", "-log_p[:, labels].mean()")
        ),
        Wrong("each", ("labels].mean()", "labels]")),
        Wrong("classes", ("labels].mean()", "labels].sum() / scores.size")),
        Wrong(
            "all classes",
            ("return -log_p[np.arange(len(labels)), labels].mean()", "return -log_p.mean()"),
        ),
        Wrong("no log", ("return -log_p[", "return -softmax(scores)[")),
        Wrong("raw", ("return -log_p[", "return -scores[")),
        Wrong("sign", ("return -log_p", "return log_p")),
        Wrong("log of 0", ("return -log_p[", "return -np.log(softmax(scores))[")),
        Wrong(
            "exp of 1000",
            ("shifted = scores - np.max(scores, axis=1, keepdims=True)", "shifted = scores"),
        ),
        Wrong("epsilon", ("return -log_p[", "return -np.log(softmax(scores) + 1e-12)[")),
        Wrong(
            "not the largest",
            (
                "shifted = scores - np.max(scores, axis=1",
                "shifted = scores - np.mean(scores, axis=1",
            ),
        ),
        Wrong(
            "not the largest",
            (
                "shifted = scores - np.max(scores, axis=1, keepdims=True)",
                "shifted = scores - scores.max()",
            ),
        ),
        Wrong("not divided", ("return g / len(labels)", "return g")),
        Wrong("divided by all", ("return g / len(labels)", "return g / g.size")),
        Wrong("probabilities", ("    g[np.arange(len(labels)), labels] -= 1.0\n", "")),
        Wrong("columns", ("g[np.arange(len(labels)), labels] -= 1.0", "g[labels] -= 1.0")),
        Wrong("picked", ("-log_p[np.arange(len(labels)), labels].mean()", "-log_p[labels].mean()")),
        Wrong("labels", ("g[np.arange(len(labels)), labels] -= 1.0", "g -= labels[:, None]")),
        Wrong("columns", ("g[np.arange(len(labels)), labels] -= 1.0", "g[:, labels] -= 1.0")),
        Wrong("sign", ("return g / len(labels)", "return -g / len(labels)")),
        Wrong(
            "only right",
            ("return g / len(labels)", "return g * np.eye(g.shape[1])[labels] / len(labels)"),
        ),
        Wrong("changed", ("g = softmax(scores)", "g = scores\n    g[:] = softmax(scores)")),
    ),
    check=check,
    draw=draw,
)
