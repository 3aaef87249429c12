"""Exercise 22: dual numbers, a slope, and a gradient at one run per input."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, Failure
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """Each operation with two tangents that differ; then functions."""
    a, b = answer.Dual(3.0, 5.0), answer.Dual(2.0, 7.0)
    told = "a = Dual(3, tangent 5), b = Dual(2, tangent 7): "
    _compare(answer, f"{told}a * b", a * b, 6.0, 31.0,
             {"tangents multiplied": 35.0, "one factor": lambda t: t in (10.0, 21.0),
              "own values": 29.0, "tangents added": 12.0, "minus": -11.0})  # fmt: skip
    _compare(answer, "3 * Dual(2, tangent 7)", 3.0 * b, 6.0, 21.0, {})
    _compare(answer, f"{told}a / b", a / b, 1.5, -2.75,
             {"tangents divided": 5 / 7, "only above": 2.5, "plus": 7.75, "reversed": 2.75,
              "not squared": -5.5, "square above": -11.0})  # fmt: skip
    _compare(answer, "1 / Dual(2, tangent 7)", 1.0 / b, 0.5, -1.75, {})
    e = float(np.exp(2.0))
    _compare(answer, "exp(Dual(2, tangent 7))", answer.exp(b), e, 7 * e,
             {"no chain": e, "exp of the tangent": float(np.exp(7.0)), "power rule": 14 * np.e,
              "unchanged tangent": 7.0})  # fmt: skip

    slope = answer.derivative(lambda x: x * x * x / (1.0 + x), 2.0)
    answer.compare(
        "the derivative of x * x * x / (1 + x) at 2", slope, 28 / 9,
        {"seed 0": 0.0, "seed x": 56 / 9, "seed exchanged": 2.5, "the value": 8 / 3}, rtol=1e-10,
    )  # fmt: skip

    runs = 0

    def f(x: Any) -> Any:
        nonlocal runs
        runs += 1
        return x[0] * x[1] - x[1] / x[2] * x[1]

    point = [3.0, 2.0, 0.5]
    want = np.array([2.0, 3.0 - 8.0, 16.0])
    got = answer.gradient(f, point)
    runs, used = 0, runs
    answer.compare(
        "gradient", got, want,
        {"all at once": np.full(3, want.sum()), "one number": want.sum(),
         "never reset": np.cumsum(want), "seeds of x": want * point, "first only": want[:1]},
        rtol=1e-10,
    )  # fmt: skip
    answer.require(used == 3, f"f ran {used} times for 3 inputs.", "runs")


def _compare(
    answer: Answer, name: str, got: Any, value: float, tangent: float, mistakes: dict[str, Any]
) -> None:
    """Compare a Dual of the learner's."""
    if not isinstance(got, answer.Dual):
        raise Failure(f"{name} should be a Dual; got {got!r}.", "no dual")
    answer.compare(f"{name}: the value", got.value, value, {"value and tangent": tangent})
    wrong = {
        key: (lambda mine, one=one: bool(one(float(mine)))) if callable(one) else one
        for key, one in mistakes.items()
    }
    answer.compare(f"{name}: the tangent", got.tangent, tangent, wrong)


def draw(answer: Answer) -> Graph:
    """The tangent of x * x / (1 + x), which the learner's rules compute along with the value."""
    return traced(lambda x: answer.derivative(lambda x: x * x / (1.0 + x), x), "slope", x=2.0)


EXERCISE = Exercise(
    title="forward mode with dual numbers",
    chapter="forward_mode",
    hints=(
        "A dual number answers one question: if the input moves a little, how much does this value "
        "move? Write the rule that you know from school for each operation, with the tangents in "
        "the place of the derivatives.",
        "(u v)' = u' v + u v', and (u / v)' = (u' - (u / v) v') / v. The input moves exactly as "
        "much as itself: its tangent is 1. In `gradient`, only one input moves in each run.",
        "Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent). "
        "For the gradient: for each i, the list [Dual(v, 1.0 if i == j else 0.0) for j, v in "
        "enumerate(x)], one call of f, and its tangent.",
    ),
    why="Forward mode needs no graph, no saved arrays and no second pass, and it costs about as "
    "much again as the function, per input. Reverse mode costs a few times the function, per "
    "output. A loss is one number that depends on a million parameters: that is why everybody "
    "trains with reverse mode. For a function of one input with many outputs it is the other way "
    "round. minigrad's jvp computes the same as your tangent, with two backward passes.",
    diagnoses={
        "no dual": "Every operation on Duals returns a Dual: Dual(value, tangent).",
        "value and tangent": "The value is the tangent: they are exchanged. It is Dual(value, "
        "tangent).",
        "tangents multiplied": "The tangents have been multiplied. The slope of a product is not "
        "the product of the slopes: (u v)' = u' v + u v'.",
        "one factor": "Only one factor moves here. Both do: u' v + u v'.",
        "own values": "Each tangent is multiplied by its own value. It is the other factor that "
        "makes a movement larger: u' v + u v'.",
        "tangents added": "Adding the tangents is the rule of a sum.",
        "minus": "The two terms of a product rule are added; the minus belongs to the quotient.",
        "tangents divided": "The slope of a quotient is not the quotient of the slopes.",
        "only above": "Only the number above the line moves here. The one below moves as well.",
        "plus": "A larger number below the line makes the quotient smaller: its term has a minus.",
        "reversed": "The terms are in the wrong order: (u' v - u v') / v squared.",
        "not squared": "Divided by v instead of v squared: (u' v - u v') / (v * v).",
        "square above": "The division by v squared is missing.",
        "no chain": "The tangent that comes in is lost: this is the slope of exp alone. The chain "
        "rule multiplies it by x.tangent.",
        "exp of the tangent": "The exponential of the tangent: a tangent is only multiplied by a "
        "slope, here exp(x.value).",
        "power rule": "That is the rule of a power. The slope of exp is exp itself.",
        "unchanged tangent": "The tangent has passed unchanged. It is multiplied by the slope.",
        "seed 0": "The input has the tangent 0, so it is a constant, and nothing depends on it. "
        "When x moves by a little, x moves by just as much: its tangent is 1.",
        "seed x": "The input has its own value as its tangent. Its slope with respect to itself "
        "is 1.",
        "seed exchanged": "The value and the tangent of the input are exchanged: Dual(x, 1.0).",
        "the value": "This is the value of f. Its slope is the tangent of what f returns.",
        "all at once": "Every entry is the sum of all slopes: all inputs had the tangent 1 in the "
        "same run. Only one may move.",
        "one number": "One run, in which all inputs moved: that is the sum of all slopes. A "
        "gradient has a slope for each input, and takes a run for each.",
        "never reset": "The entries grow by one another: the tangent of an input stays 1 after its "
        "turn. It must be 0 again in the next run.",
        "seeds of x": "Each slope is multiplied by its input: the tangents were the values of x.",
        "first only": "Only the first input got a run: is the `return` inside the loop?",
        "runs": "Forward mode takes one run of f for each input, no more: with a tangent of 1 "
        "for it, and 0 for the others.",
    },
    wrong=(
        Wrong(
            "no dual",
            (
                "return Dual(self.value * other.value, tangent)",
                "return self.value * other.value, tangent",
            ),
        ),
        Wrong(
            "value and tangent",
            ("Dual(self.value * other.value, tangent)", "Dual(tangent, self.value * other.value)"),
        ),
        Wrong(
            "tangents multiplied",
            (
                "self.tangent * other.value + self.value * other.tangent",
                "self.tangent * other.tangent",
            ),
        ),
        Wrong(
            "one factor",
            (
                "self.tangent * other.value + self.value * other.tangent",
                "self.tangent * other.value",
            ),
        ),
        Wrong(
            "own values",
            (
                "self.tangent * other.value + self.value * other.tangent",
                "self.tangent * self.value + other.value * other.tangent",
            ),
        ),
        Wrong(
            "tangents added",
            (
                "self.tangent * other.value + self.value * other.tangent",
                "self.tangent + other.tangent",
            ),
        ),
        Wrong(
            "minus",
            (
                "other.value + self.value * other.tangent",
                "other.value - self.value * other.tangent",
            ),
        ),
        Wrong(
            "tangents divided",
            (
                "(self.tangent - ratio * other.tangent) / other.value",
                "self.tangent / other.tangent",
            ),
        ),
        Wrong(
            "only above",
            ("(self.tangent - ratio * other.tangent) / other.value", "self.tangent / other.value"),
        ),
        Wrong("plus", ("self.tangent - ratio", "self.tangent + ratio")),
        Wrong(
            "reversed",
            ("(self.tangent - ratio * other.tangent)", "(ratio * other.tangent - self.tangent)"),
        ),
        Wrong(
            "not squared",
            (
                "(self.tangent - ratio * other.tangent) / other.value",
                "self.tangent - ratio * other.tangent",
            ),
        ),
        Wrong(
            "square above",
            (
                "(self.tangent - ratio * other.tangent) / other.value",
                "self.tangent * other.value - self.value * other.tangent",
            ),
        ),
        Wrong("no chain", ("Dual(value, value * x.tangent)", "Dual(value, value)")),
        Wrong(
            "exp of the tangent",
            ("Dual(value, value * x.tangent)", "Dual(value, math.exp(x.tangent))"),
        ),
        Wrong(
            "power rule",
            (
                "Dual(value, value * x.tangent)",
                "Dual(value, x.value * math.exp(x.value - 1) * x.tangent)",
            ),
        ),
        Wrong("unchanged tangent", ("Dual(value, value * x.tangent)", "Dual(value, x.tangent)")),
        Wrong("seed 0", ("f(Dual(x, 1.0))", "f(Dual(x))")),
        Wrong("seed x", ("f(Dual(x, 1.0))", "f(Dual(x, x))")),
        Wrong("seed exchanged", ("f(Dual(x, 1.0))", "f(Dual(1.0, x))")),
        Wrong("the value", ("f(Dual(x, 1.0)).tangent", "f(Dual(x, 1.0)).value")),
        Wrong("all at once", ("1.0 if i == j else 0.0", "1.0")),
        Wrong(
            "one number",
            ("    slopes = []\n", "    return f([Dual(value, 1.0) for value in x]).tangent\n"),
        ),
        Wrong("never reset", ("1.0 if i == j else 0.0", "1.0 if j <= i else 0.0")),
        Wrong("seeds of x", ("1.0 if i == j else 0.0", "value if i == j else 0.0")),
        Wrong("first only", ("    return slopes\n", "        return slopes\n")),
        Wrong(
            "runs",
            (
                "slopes.append(f(inputs).tangent)",
                "f(inputs)\n        slopes.append(f(inputs).tangent)",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
