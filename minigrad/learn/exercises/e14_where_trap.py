"""Exercise 14: a gradient of 0 that meets an infinite slope, and the two ways to keep it 0."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """Each trap of the rule alone, then the function with the naive rule."""
    answer.compare("gradient", answer.sqrt_rule(np.array([3.0, 1.0]), np.array([4.0, 0.25])),
                   [0.75, 1.0], {"squared": [3.0, 0.25], "no half": [1.5, 2.0]})  # fmt: skip
    nan = lambda mine: bool(np.isnan(mine).any())
    answer.compare("gradient", answer.sqrt_rule(np.array([1.0, 0.0]), np.array([4.0, 0.0])),
                   [0.25, 0.0], {"trap": nan})  # fmt: skip
    answer.compare("gradient", answer.sqrt_rule(np.array([1.0, 0.0]), np.array([4.0, -1.0])),
                   [0.25, 0.0], {"negative": nan})  # fmt: skip
    answer.compare(
        "gradient", answer.sqrt_rule(np.array([1.0, -1.0]), np.zeros(2)), [np.inf, -np.inf],
        {"x alone": [0.0, 0.0], "hidden": lambda mine: bool((np.abs(mine) > 1e300).all()),
         "epsilon": lambda mine: bool((np.abs(mine) > 10).all())},
    )  # fmt: skip
    answer.compare("gradient", answer.sqrt_rule(np.ones(1), -np.ones(1)), [np.nan],
                   {"hidden": [0.0]})  # fmt: skip

    x = np.array([4.0, 1e-8, 0.0, -1.0])
    answer.compare(
        "value(x)", answer.value(x), [2.0, 1e-4, 0.0, 0.0],
        {"moved": lambda mine: bool(mine[1] != 1e-4)}, rtol=1e-9,
    )  # fmt: skip
    unchanged = bool(np.array_equal(answer.names["inside"](x), x))
    g = np.ones(4)
    answer.compare(
        "value_backward(g, x)", answer.value_backward(g, x), [0.25, 5000.0, 0.0, 0.0],
        {"unchanged": unchanged, "still zero": nan},
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The function with both choices: the inner one is the learner's."""
    return traced(answer.value, "value", x=np.array([4.0, 0.0, -1.0]))


EXERCISE = Exercise(
    title="the where trap",
    chapter="traps",
    hints=(
        "Compute 0.0 * np.inf and 0.0 * np.nan. A product cannot make a gradient 0 when the slope "
        "is not finite. So choose before you multiply.",
        "In the rule, replace the slope by 0 where two things hold: the slope is not finite, and "
        "g is 0. In the function, the root must never see an entry that is not chosen: give it "
        "some harmless positive number in its place.",
        "np.isfinite(slope) is False for inf and for NaN. Then g * np.where((g == 0) & "
        "~np.isfinite(slope), 0.0, slope). For inside: np.where(x > 0, x, ...) with a number whose "
        "root has a finite slope; 0 has not.",
    ),
    why="A gradient of 0 says that the loss does not depend on this entry, so its gradient is 0 "
    "for every slope: that is mathematics, but 0 * inf in floating point is NaN. minigrad does the "
    "first of your two ways in each of its rules (it is called zero_safe). It does not mask "
    "wherever g is 0: with a finite slope, the product is needed for second derivatives. In "
    "libraries that do not, the second way is needed: a where inside and a where outside.",
    diagnoses={
        "trap": "The where trap: g is 0 where the slope is inf, and 0 * inf is NaN. Multiplying "
        "cannot remove it; choose with np.where before the product.",
        "negative": "x = 0 is right now, but below 0 the slope is NaN, not inf, and 0 * NaN is "
        "NaN. np.isfinite is False for both.",
        "x alone": "The slope is replaced wherever x is 0, even where g is not 0. There the "
        "gradient is truly infinite, and now nobody will notice. Ask for g == 0 as well.",
        "hidden": "np.nan_to_num repairs the result whatever made it: an infinity or a NaN "
        "that is right becomes an ordinary number, and a real mistake is hidden.",
        "epsilon": "A small number under the root makes every slope finite, also the one that is "
        "infinite, and it moves all the others a little. Choose instead of adding.",
        "squared": "Multiplied by sqrt(x) instead of divided: the slope of sqrt is 0.5 / sqrt(x).",
        "no half": "The slope of x ** 0.5 is 0.5 * x ** -0.5: the factor 0.5 is missing.",
        "moved": "Small positive numbers have changed their value: inside(x) must be exactly x "
        "wherever x > 0. Replace only the entries that are not chosen.",
        "still zero": "The negative entries are cured, but at x = 0 the root still sees 0, where "
        "its slope is infinite. Give it a number such as 1 there.",
        "unchanged": "The root still sees the entries that are not chosen: the outer where comes "
        "too late for them. Replace them before the root.",
    },
    wrong=(
        Wrong("trap", ("return g * np.where(nothing, 0.0, slope)", "return g * slope")),
        Wrong("trap", ("return g * np.where(nothing, 0.0, slope)", "return g * slope * (g != 0)")),
        Wrong("negative", ("~np.isfinite(slope)", "np.isinf(slope)")),
        Wrong("x alone", ("(g == 0) & ~np.isfinite(slope)", "~np.isfinite(slope)")),
        Wrong(
            "hidden",
            ("return g * np.where(nothing, 0.0, slope)", "return np.nan_to_num(g * slope)"),
        ),
        Wrong(
            "hidden",
            (
                "return g * np.where(nothing, 0.0, slope)",
                "out = g * slope\n    return np.where(np.isnan(out), 0.0, out)",
            ),
        ),
        Wrong(
            "epsilon",
            ("slope = 0.5 / np.sqrt(x)", "slope = 0.5 / np.sqrt(np.maximum(x, 0) + 1e-12)"),
        ),
        Wrong("no half", ("0.5 / np.sqrt(x)\n", "1 / np.sqrt(x)\n")),
        Wrong("still zero", ("np.where(x > 0, x, 1.0)", "np.where(x > 0, x, 0.0)")),
        Wrong("squared", ("0.5 / np.sqrt(x)\n", "0.5 * np.sqrt(x)\n")),
        Wrong("still zero", ("np.where(x > 0, x, 1.0)", "abs(x)")),
        Wrong("unchanged", ("np.where(x > 0, x, 1.0)", "x")),
        Wrong("moved", ("np.where(x > 0, x, 1.0)", "np.maximum(x, 1e-6)")),
        Wrong("moved", ("np.where(x > 0, x, 1.0)", "abs(x) + 1e-12")),
    ),
    check=check,
    draw=draw,
)
