"""Exercise 29: the scalar engine trains a network on two moons."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, show
from minigrad.learn.drawing import Regions
from minigrad.learn.statement import Exercise, Wrong

HIDDEN, STEPS, RATE = 8, 60, 1.0
Point = tuple[float, float]


def moons(count: int = 10) -> tuple[list[Point], list[float]]:
    """Points on two half circles, and the label of each."""
    angles = np.linspace(0, np.pi, count)
    x, y = np.cos(angles), np.sin(angles)
    points = [*zip(x, y, strict=True), *zip(1 - x, 0.5 - y, strict=True)]
    return [(float(x), float(y)) for x, y in points], [1.0] * count + [-1.0] * count


def network(value: Callable[[float], Any]) -> tuple[list[Any], Any, list[Any]]:
    """The hidden neurons and the output neuron before training, and all parameters."""
    random = np.random.default_rng(0)
    hidden = [
        ([value(3 * float(one)) for one in random.normal(size=2)], value(1.5 * random.normal()))
        for _ in range(HIDDEN)
    ]
    output = [value(float(one)) for one in random.normal(size=HIDDEN)], value(0.0)
    return hidden, output, [one for weights, bias in [*hidden, output] for one in [*weights, bias]]


def trained(answer: Answer) -> tuple[Callable[[Point], float], list[float]]:
    """Train with the learner's functions: the score of a point, and the losses."""
    names = answer.names
    hidden, output, parameters = network(names["Value"])
    points, labels = moons()
    losses = []
    for _ in range(STEPS):
        scores = [names["score"](point, hidden, output) for point in points]
        losses.append(names["step"](parameters, names["loss"](scores, labels), RATE))
    return lambda point: float(names["score"](point, hidden, output).data), losses


def check(answer: Answer) -> None:
    value = answer.Value
    w, bias = [value(0.8), value(-0.3)], value(0.1)
    right = math.tanh(0.8)
    out = answer.neuron([0.5, -1.0], w, bias)
    is_value(answer, out)
    setting = "For weights of 0.8 and -0.3 and a bias of 0.1: "
    answer.compare(
        f"{setting}its .data", out.data, right,
        {
            "no-tanh": 0.8,
            "no-bias": math.tanh(0.7),
            "bias-each": (math.tanh(0.9), math.tanh(1.0)),
            "unweighted": math.tanh(-0.4),
            "biases": tuple(math.tanh(one) + 0.1 for one in (0.7, 0.8)),
            "multiplied": math.tanh(0.8 * 0.5 * -0.3 * -1.0 + 0.1),
        },
    )  # fmt: skip
    out.backward()
    answer.compare(f"{setting}the .grad of the first weight", w[0].grad, (1 - right**2) * 0.5,
                   {"cut": 0.0})  # fmt: skip

    scores = [value(one) for one in (0.5, -0.25, 0.5)]
    mean = answer.loss(scores, [1.0, -1.0, -1.0])
    is_value(answer, mean)
    away = np.array([-0.5, 0.75, 1.5])
    setting = "For scores of 0.5, -0.25 and 0.5: "
    answer.compare(
        f"{setting}its .data", mean.data, (away**2).mean(),
        {
            "summed": (away**2).sum(),
            "not-squared": (away.mean(), -away.mean(), away.sum()),
            "absolute": abs(away).mean(),
            "squared-late": (away.mean() ** 2, away.sum() ** 2),
            "labels-added": (np.array([1.5, -1.25, -0.5]) ** 2).mean(),
        },
    )  # fmt: skip
    mean.backward()
    answer.compare(f"{setting}the .grad of the first score", scores[0].grad, -1 / 3, {"cut": 0.0})

    p, q = value(1.0), value(2.0)
    p.grad = q.grad = 5.0  # of a step before
    answer.step([p, q], p * 3.0 + q * q, 0.1)
    setting = "For p.data = 1, q.data = 2 and the loss p * 3 + q * q: "
    for name, parameter, before, grad in [("p", p, 1.0, 3.0), ("q", q, 2.0, 4.0)]:
        answer.compare(
            f"{setting}{name}.data", parameter.data, before - 0.1 * grad,
            {
                "accumulated": before - 0.1 * (grad + 5),
                "old-gradient": before - 0.1 * 5,
                "uphill": before + 0.1 * grad,
                "no-rate": before - grad,
                "replaced": -0.1 * grad,
                "not-moved": before,
            },
        )  # fmt: skip
    score, losses = trained(answer)
    points, labels = moons()
    hits = [score(point) * label > 0 for point, label in zip(points, labels, strict=True)]
    facts = f"After {STEPS} steps {sum(hits)} of {len(hits)} points are on the right side, and "
    facts += f"the loss is {losses[-1]:.3g}."
    answer.require(all(hits), facts, "untrained")


def is_value(answer: Answer, result: Any) -> None:
    facts = f"It should return a Value; got {show(result)}."
    answer.require(isinstance(result, answer.Value), facts, "plain")


def draw(answer: Answer) -> Regions:
    """The decision boundary of the learner's network."""
    score, _ = trained(answer)
    points, labels = moons()
    return Regions(score, tuple(zip(points, labels, strict=True)))


EXERCISE = Exercise(
    title="two moons on your own engine",
    chapter="training",
    after=5,
    hints=(
        "Everything is built of the Values of exercise 5: a sum that begins with the bias, a sum "
        "that begins with Value(0.0). Which operations does a Value have?",
        "In `neuron`: total = bias, then total = total + weight * x for each pair, and "
        "total.tanh(). In `loss`, likewise with (score - label) ** 2, and at the end times 1 / "
        "len(labels). In `step`, the order matters: 0, backward, move.",
        "for p in parameters: p.grad = 0.0; then value.backward(); then for p in parameters: "
        "p.data -= rate * p.grad. Change .data, so that the network keeps the same Values.",
    ),
    why="That is all of deep learning: a program of differentiable steps, a number that says how "
    "wrong it is, and a step downhill. The engine does not know that it trains a network, and the "
    "network does not know how gradients are computed. Each hidden neuron draws one straight line "
    "through the plane, and the output neuron puts the lines together to a curve. What remains to "
    "be gained is speed: arrays in place of numbers, which the next exercises are about.",
    diagnoses={
        "plain": "Without a Value the graph ends there, and no gradient arrives at the weights.",
        "cut": "No gradient arrives there. Is .data taken of a Value on the way? Compute with the "
        "Values themselves.",
        "no-tanh": "This is the sum: tanh is missing. Without it, two layers are one.",
        "no-bias": "The bias is missing: the sum begins with it.",
        "bias-each": "The bias is added at each input. It is added once.",
        "biases": "The bias is added outside of tanh. It belongs to the sum inside.",
        "unweighted": "The inputs are added without their weights.",
        "multiplied": "The products are multiplied. They are added.",
        "summed": "This is the sum over the points. Divide by their number.",
        "not-squared": "The differences are not squared: too high and too low would cancel.",
        "absolute": "This is the mean of the absolute differences: square them.",
        "squared-late": "The differences were added before they were squared: too high and too low "
        "cancel. Square each of them first.",
        "labels-added": "The labels are added to the scores: subtract them.",
        "accumulated": "The gradient of the step before is in it: backward adds. Set each .grad to "
        "0 before it.",
        "old-gradient": "This step was made with the gradient of the step before. Is backward "
        "called, and called first?",
        "uphill": "The parameter has moved uphill. The gradient points to where the loss grows: "
        "subtract.",
        "no-rate": "The step is not multiplied by the rate.",
        "replaced": "The parameter was replaced by the step. Subtract it from the old value: -=.",
        "not-moved": "The parameter has not moved. Is its .data changed (`p = p - ...` gives the "
        "name p to something new)? Are the gradients set to 0 before backward, and not after it?",
        "untrained": "Each part is right on small cases, but together they do not learn. Is "
        "anything kept from one call to the next?",
    },
    wrong=(
        Wrong("no-tanh", ("return total.tanh()", "return total")),
        Wrong("no-bias", ("total = bias", "total = Value(0.0)")),
        Wrong("bias-each", ("total + weight * x", "total + weight * x + bias")),
        Wrong(
            "biases",
            ("total = bias", "total = Value(0.0)"),
            ("return total.tanh()", "return total.tanh() + bias"),
        ),
        Wrong("unweighted", ("weight * x", "x")),
        Wrong(
            "multiplied",
            code="""
            total = Value(1.0)
            for weight, x in zip(weights, inputs):
                total = total * weight * x
            return (total + bias).tanh()
        """,
        ),
        Wrong("plain", ("return total.tanh()", "return total.tanh().data")),
        Wrong("cut", ("return total.tanh()", "return Value(total.data).tanh()")),
        Wrong("cut", ("weight * x", "weight.data * x")),
        Wrong("summed", ("total * (1 / len(labels))", "total")),
        Wrong("not-squared", ("(score - label) ** 2", "(score - label)")),
        Wrong(
            "absolute",
            ("(score - label) ** 2", "(score - label) * (1 if score.data > label else -1)"),
        ),
        Wrong(
            "squared-late",
            ("(score - label) ** 2", "(score - label)"),
            ("total * (1 / len(labels))", "(total * (1 / len(labels))) ** 2"),
        ),
        Wrong("labels-added", ("(score - label) **", "(score + label) **")),
        Wrong(
            "plain", ("return total * (1 / len(labels))", "return total.data * (1 / len(labels))")
        ),
        Wrong("accumulated", ("parameter.grad = 0.0", "pass")),
        Wrong("old-gradient", ("parameter.grad = 0.0", "pass"), ("    value.backward()\n", "")),
        Wrong("uphill", ("parameter.data -=", "parameter.data +=")),
        Wrong("no-rate", ("rate * parameter.grad", "parameter.grad")),
        Wrong("replaced", ("parameter.data -= rate", "parameter.data = -rate")),
        Wrong(
            "not-moved",
            (
                "parameter.data -= rate * parameter.grad",
                "parameter = parameter - rate * parameter.grad",
            ),
        ),
        Wrong(
            "not-moved",
            code="""
            value.backward()
            for parameter in parameters:
                parameter.grad = 0.0
            for parameter in parameters:
                parameter.data -= rate * parameter.grad
        """,
            gap=3,
        ),
        Wrong(
            "untrained",
            (
                "        parameter.data -= rate * parameter.grad\n",
                "        parameter.data -= rate * parameter.grad\n    parameters.clear()\n",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
