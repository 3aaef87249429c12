"""Exercise 17: the causal mask, and a softmax over the keys that are allowed, if there are any."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.exercises.e16_attention import softmax
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """The mask, then rows with a choice, then a row without one."""
    mask = answer.causal_mask(3)
    lower = np.tri(3)
    answer.compare(
        "mask", mask, lower,
        {"later": lower.T, "not itself": np.tri(3, k=-1), "inverted": 1 - lower,
         "additive": lambda mine: bool((mine[lower == 1] == 0).all() and (mine < -1e3).any())},
    )  # fmt: skip
    dtype = np.asarray(mask).dtype
    answer.require(dtype.kind == "b", f"mask has dtype {dtype}; it should be bool.", "not bools")

    random = np.random.default_rng(17)
    scores = numbers(random, 3, 4)
    scores[0, 3] = 2.9  # the largest score of row 0 is forbidden
    mask = np.array(
        [[True, True, False, False], [True, True, True, True], [False, True, True, False]]
    )
    hidden = np.where(mask, scores, -np.inf)
    weights = softmax(hidden)
    answer.compare(
        "weights", answer.masked_softmax(scores, mask), weights,
        {"after": softmax(scores) * mask, "zero score": softmax(scores * mask),
         "added": softmax(scores + mask), "inverted mask": softmax(np.where(mask, -1e300, scores)),
         "axis": np.nan_to_num(softmax(np.where(mask, scores, -1e300), axis=0)) * mask,
         "ignored": softmax(scores), "scores": hidden},
    )  # fmt: skip
    big = np.array([[-2000.0, -1999.0, 0.0]])
    chosen = np.array([[1 / (1 + np.e), 1 / (1 + np.exp(-1)), 0.0]])
    answer.compare(
        "weights", answer.masked_softmax(big, np.array([[True, True, False]])), chosen,
        {"wrong maximum": lambda mine: not mine.any() or bool(np.isnan(mine).any()),
         "weak": lambda mine: bool(mine[0, 2] > 0.5)},
    )  # fmt: skip
    rows = np.array([[True, True, False], [True, False, True]])
    answer.compare(
        "weights", answer.masked_softmax(np.concatenate([big, -big]), rows),
        [*chosen, [1.0, 0.0, 0.0]],
        {"one maximum": lambda mine: not mine[0].any() or bool(np.isnan(mine).any())},
    )  # fmt: skip
    scores, mask = np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([[False, False], [True, True]])
    answer.compare(
        "weights", answer.masked_softmax(scores, mask), [[0.0, 0.0], [0.5, 0.5]],
        {"nobody": lambda mine: bool(np.isnan(mine[0]).all()),
         "shared out": lambda mine: bool(mine[0].sum() > 0.9)},
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What the learner's softmax computes of the scores."""
    mask = np.tri(3, dtype=bool)
    return traced(
        lambda scores: answer.masked_softmax(scores, mask), "weights", scores=np.ones((3, 3))
    )


EXERCISE = Exercise(
    title="masks",
    chapter="attention",
    hints=(
        "A key must be taken out before the softmax, not after it: otherwise it has already taken "
        "its share. Which score has weight exactly 0?",
        "exp(-inf) is 0: put -inf where the mask is False, and take the softmax. Then look at a "
        "row without any allowed key: its largest score is -inf, and -inf - -inf is NaN; and its "
        "sum is 0, and 0 / 0 is NaN. Both places need a choice.",
        "np.tri(length, dtype=bool) for the mask. In the softmax, subtract np.where(largest == "
        "-np.inf, 0.0, largest), and divide by np.where(total == 0, 1.0, total).",
    ),
    why="-inf is the score of a key that does not exist: its exponential is exactly 0, and the "
    "others share the whole. A very negative number does the same only while the real scores are "
    "far above it, and in a row of such numbers only, they are equal, so the weights are 1 / m: a "
    "token of padding would attend to everything. minigrad gives such a row weights 0 and finite "
    "gradients, in every layer.",
    diagnoses={
        "later": "This is the upper triangle: each token sees the future and not the past. np.tri "
        "is the lower one.",
        "not itself": "The diagonal is missing: a token may attend to itself. The first token "
        "would otherwise see nothing at all.",
        "inverted": "True and False are exchanged: here True means that a query may attend.",
        "additive": "This is a mask to be added to the scores. Here a bool is asked: True = may.",
        "not bools": "The numbers are right, but a mask of floats invites mistakes: is 1 allowed, "
        "or is 0 the number to add? Bools are clear.",
        "after": "Masked after the softmax: the rows no longer sum to 1, because the forbidden "
        "keys have already taken their share. Mask the scores.",
        "zero score": "Multiplying the scores by the mask gives a forbidden key the score 0. That "
        "is a score like any other, and its weight is not 0.",
        "added": "Adding a mask of bools adds 1 to the allowed scores. To be added, it would have "
        "to be 0 where allowed and -inf where not.",
        "inverted mask": "The keys that are allowed have been taken out. True means: may attend.",
        "axis": "The softmax goes along the wrong axis. The weights of one query are in a row, "
        "so along the last axis.",
        "ignored": "The mask has no effect: this is the softmax of all scores.",
        "scores": "These are the masked scores. The softmax of them is still missing.",
        "wrong maximum": "Here the largest of all scores is forbidden, and far above the allowed "
        "ones. Is it subtracted, or nothing? Then all exponentials are 0. Subtract the largest of "
        "the allowed scores: take it after masking.",
        "one maximum": "Is it one maximum for all rows? In a row far below it every exponential is "
        "0. Use max(axis=-1, keepdims=True).",
        "weak": "The forbidden key has a score of 0, the allowed ones of -2000: a number such as "
        "-1000 does not hide it. -inf always does.",
        "nobody": "NaN where the row is fully masked: its largest score is -inf, and -inf - -inf "
        "is NaN; its sum is 0, and 0 / 0 is NaN too.",
        "shared out": "A fully masked row shares its attention out, though no key is allowed: its "
        "scores are all the same very negative number. With -inf, its exponentials are 0; then "
        "take care of 0 / 0.",
    },
    wrong=(
        Wrong("later", ("np.tri(length, dtype=bool)", "np.tri(length, dtype=bool).T")),
        Wrong("not itself", ("np.tri(length, dtype=bool)", "np.tri(length, k=-1, dtype=bool)")),
        Wrong("inverted", ("np.tri(length, dtype=bool)", "~np.tri(length, dtype=bool)")),
        Wrong(
            "additive",
            ("np.tri(length, dtype=bool)", "np.where(np.tri(length) > 0, 0.0, -np.inf)"),
        ),
        Wrong("not bools", ("np.tri(length, dtype=bool)", "np.tri(length)")),
        Wrong(
            "after",
            ("scores = np.where(mask, scores, -np.inf)", "scores = scores * 1.0"),
            ("return e / np.where(total == 0, 1.0, total)", "return e / total * mask"),
        ),
        Wrong("zero score", ("np.where(mask, scores, -np.inf)", "scores * mask")),
        Wrong("added", ("np.where(mask, scores, -np.inf)", "scores + mask")),
        Wrong("inverted mask", ("np.where(mask, scores, -np.inf)", "np.where(mask, -1e9, scores)")),
        Wrong(
            "axis",
            ("np.max(scores, axis=-1, keepdims=True)", "np.max(scores, axis=0, keepdims=True)"),
            ("e.sum(axis=-1, keepdims=True)", "e.sum(axis=0, keepdims=True)"),
        ),
        Wrong("ignored", ("np.where(mask, scores, -np.inf)", "np.where(mask, scores, scores)")),
        Wrong("scores", ("return e / np.where(total == 0, 1.0, total)", "return scores")),
        Wrong("one maximum", ("np.max(scores, axis=-1, keepdims=True)", "scores.max()")),
        Wrong(
            "wrong maximum",
            ("    scores = np.where(mask, scores, -np.inf)\n", ""),
            (
                "e = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))",
                "e = np.exp(scores - largest) * mask",
            ),
        ),
        Wrong("weak", ("scores, -np.inf)", "scores, -1000.0)")),
        Wrong("nobody", ("np.where(np.isfinite(largest), largest, 0.0)", "largest")),
        Wrong("nobody", ("np.where(total == 0, 1.0, total)", "total")),
        Wrong("shared out", ("scores, -np.inf)", "scores, -1e9)")),
    ),
    check=check,
    draw=draw,
)
