"""Exercise 3: the contributions to one gradient add."""

from __future__ import annotations

from typing import Any

import minigrad
from minigrad.learn.answer import Answer
from minigrad.learn.drawing import traced
from minigrad.learn.exercise import Exercise, Wrong
from minigrad.viz import Graph


def right(x: float, w: float) -> tuple[Any, ...]:
    """By minigrad's engine: the gradients of a, x and w."""
    tensors = [minigrad.tensor(one, dtype="float64", requires_grad=True) for one in (x, w)]
    a = tensors[0] * tensors[1]
    y = (a * a) * (a + tensors[0])
    grads = minigrad.autograd.grad(y, [a, *tensors])
    return tuple(one.item() for one in grads)


def check(answer: Answer) -> None:
    arrivals = [("x", 1.0), ("a", 3.0), ("x", 2.0), ("w", -1.0), ("x", 0.5), ("a", 4.0)]
    grads = answer.accumulate(arrivals)
    answer.require(isinstance(grads, dict), f"It should return a dict; got {grads!r}.", "form")
    answer.require(
        {*grads} == {"x", "a", "w"},
        f"The names should be x, a and w; got {', '.join(map(str, grads)) or '0 names'}.",
        "names",
    )
    wrongly: dict[str, dict[str, Any]] = {
        "x": {"overwritten": 0.5, "first": 1.0, "mean": 3.5 / 3},
        "a": {"overwritten": 4.0, "first": 3.0, "mean": 3.5},
    }
    for name, value in [("x", 3.5), ("a", 7.0), ("w", -1.0)]:
        answer.compare(f'grads["{name}"]', grads[name], value, wrongly.get(name))
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
            },
        )  # fmt: skip
        answer.compare(
            "grad_x", mine[1], of_x,
            {
                "one-use": of_a * w,
                "overwritten": b,
                "early": 2 * a * c * w + b,
                "twice": (of_a * w + b) + b * w,
            },
        )  # fmt: skip
        answer.compare("grad_w", mine[2], of_w, {"early": 2 * a * c * x, "own": of_a * w})


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
        "own": "The slope of x * w with respect to w is x: the other factor.",
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
        Wrong("names", ("for name, value in arrivals:", "for name, value in arrivals[:2]:")),
        Wrong("KeyError", ("grads.get(name, 0.0) + value", "grads[name] + value")),
        Wrong("form", ("    return grads\n", "    return list(grads.values())\n")),
        Wrong("square", ("grad_b * a + grad_b * a + grad_c", "grad_b * a + grad_c")),
        Wrong("without-sum", ("grad_b * a + grad_b * a + grad_c", "grad_b * 2 * a")),
        Wrong("square-only", ("grad_b * a + grad_b * a + grad_c", "grad_b * a")),
        Wrong("overwritten", ("grad_b * a + grad_b * a + grad_c", "grad_c")),
        Wrong("multiplied", ("grad_b * a + grad_b * a + grad_c", "grad_b * 2 * a * grad_c")),
        Wrong("local", ("grad_b * a + grad_b * a + grad_c", "2 * a + grad_c")),
        Wrong("one-use", ("grad_a * w + grad_c", "grad_a * w")),
        Wrong("early", ("grad_a * w + grad_c", "(grad_b * 2 * a) * w + grad_c")),
        Wrong("twice", ("grad_a * w + grad_c", "grad_a * w + grad_c * (w + 1)")),
        Wrong("early", ("grad_w = grad_a * x", "grad_w = grad_b * 2 * a * x")),
        Wrong("own", ("grad_w = grad_a * x", "grad_w = grad_a * w")),
    ),
    check=check,
    draw=draw,
)
