"""Exercise 3: the contributions to one gradient add."""

from __future__ import annotations

import math
from typing import Any

import minigrad
from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def right(x: float, w: float) -> tuple[Any, ...]:
    """By minigrad's engine: the gradients of a, x and w."""
    tensors = [minigrad.tensor(one, dtype="float64", requires_grad=True) for one in (x, w)]
    a = tensors[0] * tensors[1]
    y = (a * a) * (a + tensors[0])
    grads = minigrad.autograd.grad(y, [a, *tensors])
    return tuple(one.item() for one in grads)


def check(answer: Answer) -> None:
    arrivals = [
        ("x", 2.5), ("a", 3.0), ("x", 4.5), ("w", -1.0), ("x", 1.5), ("a", 4.0), ("x", 3.0),
    ]  # fmt: skip
    grads = answer.accumulate(arrivals)
    answer.require(isinstance(grads, dict), f"It should return a dict; got {grads!r}.", "form")
    answer.require(
        {*grads} == {"x", "a", "w"},
        f"The names should be x, a and w; got {', '.join(map(str, grads)) or '0 names'}.",
        "names",
    )
    every = sum(value for _, value in arrivals)
    for name in ("x", "a", "w"):  # of x, no two mistakes give the same
        values = [value for other, value in arrivals if other == name]
        answer.compare(
            f'grads["{name}"]', grads[name], sum(values),
            {
                "overwritten": values[-1],
                "first": values[0],
                "mean": sum(values) / len(values),
                "product": math.prod(values),
                "largest": max(values),
                "smallest": min(values),
                "counted": float(len(values)),
                "begun-with-1": 1 + sum(values),
                "all-names": every,
                "listed": lambda mine: mine.shape != (),
            }
            if name == "x"
            else None,
        )  # fmt: skip
    for x, w in [(1.5, -0.7), (1.9, -1.3)]:
        a = x * w
        b, c = a * a, a + x
        of_a, of_x, of_w = right(x, w)
        mine = answer.unpack(answer.backward(x, w), "grad_a", "grad_x", "grad_w")
        answer.compare(
            "grad_a", mine[0], of_a,
            {
                "square": c * a + b,
                "overwritten": b,
                "without-sum": 2 * a * c,
                "square-only": c * a,
                "local": (2 * a + b, 2 * a + 1),
                "multiplied": 2 * a * c * b,
                "slope-of-square": (2 * c + b, 2 * c),
                "slope-of-sum": (2 * a * c + b * x, 2 * a * c + b * a),
                "minus": 2 * a * c - b,
                "reordered": of_x,
            },
        )  # fmt: skip
        answer.compare(
            "grad_x", mine[1], of_x,
            {
                "one-use": of_a * w,
                "overwritten": b,
                "early": 2 * a * c * w + b,
                "twice": (of_a * w + b) + b * w,
                "w-missing": of_a + b,
                "own": of_a * x + b,
                "multiplied": of_a * w * b,
                "slope-of-sum": (of_a * w + b * x, of_a * w + b * a),
                "b-for-c": of_a * w + c,
                "minus": of_a * w - b,
            },
        )  # fmt: skip
        answer.compare(
            "grad_w", mine[2], of_w,
            {"early": 2 * a * c * x, "own": of_a * w, "not-used": of_a * x + b},
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The learner's gradients, from x and w."""
    return traced(answer.backward, "grad_a grad_x grad_w", x=2.0, w=3.0)


EXERCISE = Exercise(
    title="fan-out",
    chapter="accumulation",
    hints=(
        "Draw the four steps on paper, with an arrow from each value to each place that uses it. "
        "How many arrows leave a? How many leave x?",
        "Three arrows leave a: two into b = a * a, and one into c = a + x. Two arrows leave x. "
        "Each arrow brings back one contribution: the gradient at its end, times the slope of "
        "that step. Add them.",
        "In `accumulate`: grads[name] = grads.get(name, 0.0) + value. In `backward`: "
        "grad_a = grad_b * a + grad_b * a + grad_c. grad_x has two terms: one "
        "that comes through a, and one that comes from c.",
    ),
    why="A small change of x travels along every path to y, and y changes by the sum of all these "
    "effects. That is why every engine adds into a gradient (`+=`), and never just sets it. And "
    "the sum must be complete before it is passed on: grad_x needs all three contributions to "
    "grad_a. The next exercise finds an order in which this is always so.",
    diagnoses={
        "overwritten": "Only the last contribution is left: is `=` where `+=` should be? "
        "Contributions add.",
        "first": "Only the first contribution is there: the later ones are lost.",
        "mean": "This is the mean of the contributions. They are added, and divided by nothing.",
        "product": "The contributions are multiplied. Contributions to one gradient add.",
        "largest": "Only the largest contribution is there. Contributions add.",
        "smallest": "Only the smallest contribution is there. Contributions add.",
        "counted": "This counts how often the name comes. Add the numbers that come with it.",
        "begun-with-1": "The sum begins with 1. Before anything has arrived, a gradient is 0.",
        "all-names": "This is the sum over all names. Each name has a gradient of its own.",
        "listed": "The contributions are kept side by side. A gradient is their sum: one number.",
        "slope-of-square": "The slope of a * a is 2 * a: two uses, and at each the other factor "
        "is a.",
        "slope-of-sum": "c = a + x is a sum: its slope is 1, and grad_c arrives as it is.",
        "minus": "A contribution is subtracted. c = a + x has slope 1 for both: contributions add.",
        "reordered": "The gradients come in another order: a, x, w.",
        "w-missing": "a = x * w has the slope w with respect to x: it is missing.",
        "b-for-c": "x is used in c = a + x: what arrives there is grad_c, and not grad_b.",
        "not-used": "w is used once, in a = x * w. Nothing of c arrives there.",
        "names": "Each name that arrives has a gradient, and no other name has one.",
        "square": "In b = a * a the value a is used twice, so two contributions arrive from there. "
        "Here it is one. (The slope of a * a is 2a.)",
        "without-sum": "Right for the two uses in b = a * a. But a is used in c = a + x too: "
        "contributions add.",
        "square-only": "This is one contribution of three: a is used twice in b = a * a, and once "
        "in c = a + x.",
        "multiplied": "Along one path slopes multiply; but contributions that come from several "
        "paths are added.",
        "local": "2 * a is the slope of a * a. Multiply it by what arrives there: grad_b.",
        "one-use": "Right at one use of x, and wrong at two: x is used in a = x * w and in "
        "c = a + x. Contributions add.",
        "early": "grad_a was passed on too early: before the contribution from c = a + x had "
        "arrived.",
        "twice": "The contribution of c to a is counted twice: once within grad_a, and once more.",
        "own": "The slope of x * w is the other factor: w for x, and x for w.",
    },
    wrong=(
        Wrong("overwritten", ("grads.get(name, 0.0) + value", "value")),
        Wrong(
            "first", ("grads[name] = grads.get(name, 0.0) + value", "grads.setdefault(name, value)")
        ),
        Wrong(
            "mean",
            (
                "    return grads\n",
                "    count = [name for name, _ in arrivals].count\n"
                "    return {name: value / count(name) for name, value in grads.items()}\n",
            ),
        ),
        Wrong("product", ("grads.get(name, 0.0) + value", "grads.get(name, 1.0) * value")),
        Wrong("largest", ("grads.get(name, 0.0) + value", "max(grads.get(name, value), value)")),
        Wrong("smallest", ("grads.get(name, 0.0) + value", "min(grads.get(name, value), value)")),
        Wrong("counted", ("grads.get(name, 0.0) + value", "grads.get(name, 0.0) + 1")),
        Wrong("begun-with-1", ("grads.get(name, 0.0) + value", "grads.get(name, 1.0) + value")),
        Wrong(
            "all-names",
            ("    return grads\n", "    return dict.fromkeys(grads, sum(grads.values()))\n"),
        ),
        Wrong("listed", ("grads.get(name, 0.0) + value", "[*grads.get(name, []), value]")),
        Wrong("names", ("for name, value in arrivals:", "for name, value in arrivals[:2]:")),
        Wrong("KeyError", ("grads.get(name, 0.0) + value", "grads[name] + value")),
        Wrong("form", ("    return grads\n", "    return list(grads.values())\n")),
        Wrong("square", ("grad_b * a + grad_b * a + grad_c", "grad_b * a + grad_c")),
        Wrong("without-sum", ("grad_b * a + grad_b * a + grad_c", "grad_b * 2 * a")),
        Wrong("square-only", ("grad_b * a + grad_b * a + grad_c", "grad_b * a")),
        Wrong("overwritten", ("grad_b * a + grad_b * a + grad_c", "grad_c")),
        Wrong("multiplied", ("grad_b * a + grad_b * a + grad_c", "grad_b * 2 * a * grad_c")),
        Wrong("local", ("grad_b * a + grad_b * a + grad_c", "2 * a + grad_c")),
        Wrong("slope-of-square", ("grad_b * a + grad_b * a + grad_c", "grad_b * 2 + grad_c")),
        Wrong("slope-of-sum", ("grad_b * a + grad_b * a + grad_c", "2 * grad_b * a + grad_c * x")),
        Wrong("minus", ("grad_b * a + grad_b * a + grad_c", "2 * grad_b * a - grad_c")),
        Wrong("reordered", ("return grad_a, grad_x, grad_w", "return grad_x, grad_a, grad_w")),
        Wrong("w-missing", ("grad_a * w + grad_c", "grad_a + grad_c")),
        Wrong("b-for-c", ("grad_a * w + grad_c", "grad_a * w + grad_b")),
        Wrong("not-used", ("grad_w = grad_a * x", "grad_w = grad_a * x + grad_c")),
        Wrong("one-use", ("grad_a * w + grad_c", "grad_a * w")),
        Wrong("early", ("grad_a * w + grad_c", "(grad_b * 2 * a) * w + grad_c")),
        Wrong("twice", ("grad_a * w + grad_c", "grad_a * w + grad_c * (w + 1)")),
        Wrong("early", ("grad_w = grad_a * x", "grad_w = grad_b * 2 * a * x")),
        Wrong("own", ("grad_w = grad_a * x", "grad_w = grad_a * w")),
    ),
    check=check,
    draw=draw,
)
