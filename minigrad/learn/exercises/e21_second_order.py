"""Exercise 21: the product of a Hessian with a vector, and a penalty on the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import viz
from minigrad.learn.answer import Answer, Failure, numbers
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

MATRIX = np.array([[2.0, 1.0, 0.5], [1.0, -1.0, 3.0], [0.5, 3.0, 1.0]])


def f(x: Any) -> Any:
    """sum(x⁴) / 4 + x · M x / 2"""
    return 0.25 * (x**4).sum() + 0.5 * (x @ (MATRIX @ x)).sum()


def _called(function: Callable[..., Any], x: minigrad.Tensor, *arguments: Any) -> Any:
    """Call the learner's function; say it plainly where a graph is missing."""
    try:
        return function(f, x, *arguments)
    except NotImplementedError:  # an open gap
        raise
    except RuntimeError as error:
        text = f"minigrad stopped it, with x = {x.numpy()}:\n  {error}"
        if "freed" in str(error):
            raise Failure(text, "freed") from None
        raise Failure(text, "no graph") from None


def check(answer: Answer) -> None:
    """At a point where all terms of the Hessian differ."""
    random = np.random.default_rng(21)
    x, v = numbers(random, 3), numbers(random, 3)
    slope, hessian = x**3 + MATRIX @ x, np.diag(3 * x**2) + MATRIX
    want = hessian @ v
    got = _called(answer.hvp, minigrad.tensor(x, requires_grad=True), v)
    ones = hessian.sum(axis=0)
    answer.compare(
        "H v", got, want,
        {"row sums": ones, "times v": ones * v, "number": v @ want, "added": slope + want,
         "slope": slope, "along v": slope @ v, "slope times v": slope * v, "diagonal":
         hessian.diagonal() * v, "matrix": hessian,
         "differences": lambda mine: mine.shape == (3,) and np.allclose(mine, want, rtol=1e-2)},
        rtol=1e-9,
    )  # fmt: skip

    square = 2 * hessian @ slope
    got = _called(answer.penalised_gradient, minigrad.tensor(x, requires_grad=True), 0.5)
    answer.compare(
        "gradient", got, slope + 0.5 * square,
        {"no effect": slope, "penalty alone": 0.5 * square, "strength": slope + square,
         "root": slope + 0.5 * square / 2 / np.sqrt(slope @ slope),
         "squared sum": slope + 0.5 * 2 * slope.sum() * ones,
         "twice": 2 * slope + 0.5 * square},
        rtol=1e-9,
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What the learner's `hvp` recorded: the function, the slope, and the number from both."""
    x = minigrad.tensor(np.ones(3), requires_grad=True)
    with viz.trace() as trace:
        answer.hvp(lambda x: (x**3).sum(), x, np.ones(3))
    return trace.graph(x=x)


EXERCISE = Exercise(
    title="second order",
    chapter="orders",
    hints=(
        "H v is a gradient as well: of the number slope . v, where v is a constant. So two calls "
        "of grad are enough, and the first must leave a history.",
        "First the slope, with create_graph=True. Then make one number of it: the sum of slope * "
        "v. Then grad of this number with respect to x. The penalty is the same with slope * slope "
        "instead of slope * v.",
        "(slope,) = grad(f(x), x, create_graph=True); return grad((slope * v).sum(), x)[0]. grad "
        "gives a tuple. For the penalty: y = f(x), its slope in the same way, and "
        "grad(y + strength * (slope * slope).sum(), x)[0].",
    ),
    why="The derivative of slope . v in the direction of entry j is the sum over i of v[i] times "
    "the second derivative (i, j): that is row j of H v. It costs two backward passes, whatever "
    "the size of H, and so every method that needs only products with H is possible for large "
    "models. In minigrad the second pass runs the same rules as the first; with create_graph=True "
    "they get tensors instead of arrays, and record.",
    diagnoses={
        "no graph": "The slope has no history, so it cannot be differentiated again. The first "
        "grad needs create_graph=True.",
        "freed": "The first pass has freed the graph, which is needed once more. create_graph=True "
        "keeps it, and records the pass itself.",
        "row sums": "These are the sums of the rows of H: v is missing. Multiply the slope by v "
        "before you sum.",
        "times v": "Multiplied by v after the second derivative: the sums of the rows of H, times "
        "v. The product with v must come before the second grad: v then meets each entry of H.",
        "number": "This is v . H v, one number. H v has the shape of x.",
        "added": "This is the gradient plus H v. Two calls of backward() add into the same x.grad: "
        "use grad, which returns its result, and adds to nothing.",
        "slope": "This is the gradient: the second derivative is still missing.",
        "along v": "This is the slope along v, one number. Differentiate it again.",
        "slope times v": "This is the gradient times v. It must be summed, and differentiated "
        "again.",
        "diagonal": "Only the diagonal of H has been used. The entries beside it say how the slope "
        "of one entry changes with another.",
        "matrix": "This is H itself. With a million parameters it has 10 ** 12 entries: multiply "
        "the slope by v first, and one backward pass is enough.",
        "differences": "Right to some digits only: a difference of two gradients. Differentiating "
        "the gradient is exact, and needs no step.",
        "no effect": "The penalty has no effect: this is the gradient of f alone. The slope in the "
        "penalty has no history, so it counts as a constant: create_graph=True.",
        "penalty alone": "This is the gradient of the penalty. f(x) itself is missing in the sum.",
        "strength": "The strength is missing.",
        "root": "The penalty is the sum of squares, without a root.",
        "squared sum": "The square of the sum is not the sum of the squares.",
        "twice": "The gradient of f is counted twice: differentiate the sum of f and the penalty "
        "once, and add nothing to it.",
    },
    wrong=(
        Wrong(
            "no graph",
            (
                "grad(f(x), x, create_graph=True)\n    return grad((slope",
                "grad(f(x), x)\n    return grad((slope",
            ),
        ),
        Wrong(
            "freed",
            ("(slope,) = grad(y, x, create_graph=True)", "(slope,) = grad(y, x)"),
        ),
        Wrong(
            "no effect",
            (
                "(slope,) = grad(y, x, create_graph=True)",
                "(slope,) = grad(y, x, retain_graph=True)",
            ),
        ),
        Wrong("no effect", ("(slope * slope).sum()", "(slope.detach() ** 2).sum()")),
        Wrong("row sums", ("grad((slope * v).sum(), x)", "grad(slope.sum(), x)")),
        Wrong("times v", ("grad((slope * v).sum(), x)[0]", "grad(slope.sum(), x)[0] * v")),
        Wrong(
            "number",
            ("grad((slope * v).sum(), x)[0]", "(grad((slope * v).sum(), x)[0] * v).sum()"),
        ),
        Wrong(
            "added",
            ("(slope,) = grad(f(x), x, create_graph=True)", "f(x).backward(create_graph=True)"),
            (
                "return grad((slope * v).sum(), x)[0]",
                "(x.grad * v).sum().backward()\n    return x.grad",
            ),
        ),
        Wrong("slope", ("return grad((slope * v).sum(), x)[0]", "return slope")),
        Wrong("along v", ("return grad((slope * v).sum(), x)[0]", "return (slope * v).sum()")),
        Wrong("slope times v", ("return grad((slope * v).sum(), x)[0]", "return slope * v")),
        Wrong(
            "diagonal",
            (
                "return grad((slope * v).sum(), x)[0]",
                "rows = [grad(s, x, retain_graph=True)[0] for s in slope]\n"
                "    return np.array([row[i].item() for i, row in enumerate(rows)]) * v",
            ),
        ),
        Wrong(
            "matrix",
            (
                "return grad((slope * v).sum(), x)[0]",
                "return np.stack([grad(s, x, retain_graph=True)[0].numpy() for s in slope])",
            ),
        ),
        Wrong(
            "differences",
            (
                "return grad((slope * v).sum(), x)[0]",
                "there = minigrad.tensor(x.numpy() + 1e-4 * v, requires_grad=True)\n"
                "    return (grad(f(there), there)[0] - slope.detach()) / 1e-4",
            ),
        ),
        Wrong("penalty alone", ("grad(y + strength", "grad(strength")),
        Wrong("strength", ("grad(y + strength * (slope", "grad(y + (slope")),
        Wrong("root", ("(slope * slope).sum()", "(slope * slope).sum() ** 0.5")),
        Wrong("squared sum", ("(slope * slope).sum()", "slope.sum() ** 2")),
        Wrong(
            "twice",
            (
                "return grad(y + strength * (slope * slope).sum(), x)[0]",
                "return slope + grad(y + strength * (slope * slope).sum(), x)[0]",
            ),
        ),
    ),
    check=check,
    draw=draw,
)
