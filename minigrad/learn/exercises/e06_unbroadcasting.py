"""Exercise 6: an axis that was stretched in the forward pass is summed in the backward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def stretched(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """By minigrad's engine: the gradient of an array that was stretched to g's shape."""
    x = minigrad.tensor(np.zeros(shape), requires_grad=True)
    (grad,) = minigrad.autograd.grad(minigrad.broadcast_to(x, g.shape), [x], minigrad.tensor(g))
    return grad.numpy()


def check(answer: Answer) -> None:
    random = np.random.default_rng(6)
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((3, 3), (3,)), ((4, 3), (3,)), ((4, 3), (1, 3)), ((4, 3), (4, 1)), ((2, 4, 3), (4, 1)),
        ((2, 3), ()), ((2, 3), (2, 3)), ((3, 1), (1,)),
    ]  # fmt: skip
    for large, small in shapes:
        g = numbers(random, *large)
        right = stretched(g, small)
        mistakes: dict[str, Any] = {
            "unsummed": g if small == (3,) else None,
            "mean": right / (g.size / right.size) if g.size > right.size else None,
        }
        if small == (3,):
            mistakes |= {
                "axis": g.sum(axis=1),
                "one-row": lambda mine, g=g: is_a_row(mine, g),
                "largest": g.max(axis=0),
                "product": g.prod(axis=0),
                "extra-axis": g.sum(axis=0, keepdims=True),
            }
        if small:
            mistakes |= {"everything": g.sum()}
        if 1 in small:
            mistakes |= {"front-only": g.sum(axis=tuple(range(g.ndim - len(small))))}
        squeezed = right.squeeze()
        if squeezed.shape != small:
            mistakes |= {"keepdims": squeezed}
        answer.compare(
            "result", answer.unbroadcast(g, small), right,
            {key: value for key, value in mistakes.items() if value is not None},
        )  # fmt: skip
    for shape_a, shape_b in [((4, 3), (3,)), ((4, 3), (4, 3)), ((4, 1), (4, 3)), ((1, 3), (2, 1))]:
        a, b = numbers(random, *shape_a), numbers(random, *shape_b)
        g = numbers(random, *np.broadcast_shapes(shape_a, shape_b))
        pair = answer.unpack(answer.multiply_backward(g, a, b), "grad_a", "grad_b")
        for name, mine, own, other in [("grad_a", pair[0], a, b), ("grad_b", pair[1], b, a)]:
            small = own.shape
            right = stretched(g * other, small)
            mistakes = {
                "own": stretched(g * own, small),
                "slope-only": stretched(np.broadcast_to(other, g.shape), small),
                "exchanged": stretched(g * own, other.shape) if shape_a != shape_b else None,
                "like-sum": stretched(g, small),
                "other-shape": stretched(g * other, other.shape) if shape_a != shape_b else None,
                "added": stretched(g + other, small),
                "divided": stretched(g / other, small),
                "both": stretched(g * own * other, small),
            }
            if right.shape != g.shape:
                mistakes |= {"unsummed": g * other, "too-early": stretched(g, small) * other}
            answer.compare(name, mine, right, {k: v for k, v in mistakes.items() if v is not None})


def is_a_row(mine: np.ndarray, g: np.ndarray) -> bool:
    return any(np.array_equal(mine, row) for row in g)


def draw(answer: Answer) -> Graph:
    """The gradients of a product of (4, 3) and (3,)."""
    ones = np.ones((4, 3))
    return traced(answer.multiply_backward, "grad_a grad_b", g=ones, a=ones, b=np.ones(3))


EXERCISE = Exercise(
    title="arrays and un-broadcasting",
    chapter="broadcasting",
    hints=(
        "Write both shapes below each other, from the right: (2, 4, 3) above (4, 1). Over which "
        "axes was each entry of the small array used again and again?",
        "In two steps. The axes in front are the first g.ndim - len(shape): sum them away. Then "
        "both have the same number of axes: sum over each axis of size 1 in `shape`, with "
        "keepdims=True, so that the axis stays there with size 1.",
        "g = g.sum(axis=tuple(range(g.ndim - len(shape)))), and then a second sum with "
        "axis=tuple(...) over the axes where shape has a 1. In `multiply_backward`: first multiply "
        "g by the other factor, then un-broadcast to the shape of a or b.",
    ),
    why="To stretch is to use again, and each use contributes to the gradient: so the rule of a "
    "stretch is a sum, over exactly the stretched axes. The bias of a layer is the best known "
    "case: its gradient is summed over the batch. The sum comes last, because each use has its "
    "own slope (the other factor). minigrad's engine does it in one place, for all ops: its rules "
    "may ignore broadcasting.",
    diagnoses={
        "unsummed": "The gradient is not summed: it still has the shape of the result. Each "
        "entry of a bias is used once in every row of the batch, and contributions add.",
        "mean": "This is a mean. Contributions are added, and divided by nothing.",
        "axis": "Summed over the wrong axis. (3,) is used as (1, 3): the stretched axis is the "
        "first one. NumPy aligns shapes at the right end.",
        "one-row": "This is one row of g: the contributions of the other rows are lost.",
        "everything": "Everything is summed. Only the stretched axes should be.",
        "front-only": "The axes in front are summed. But an axis of size 1 is stretched too, and "
        "has to be summed, with keepdims=True.",
        "keepdims": "The numbers are right, but an axis of size 1 is gone. Keep it: keepdims=True.",
        "largest": "This is the largest contribution. Contributions add.",
        "product": "The contributions are multiplied. Contributions to one gradient add.",
        "extra-axis": "The numbers are right, but the axes in front are still there, with size 1. "
        "Sum them away, without keepdims.",
        "like-sum": "This is the rule of a + b: g alone. In a * b the slope is the other factor.",
        "other-shape": "Right numbers on the way, but summed to the shape of the other array. The "
        "gradient of a has the shape of a.",
        "added": "g and the other factor are added. A slope is multiplied by what arrives.",
        "divided": "Divided by the other factor. The slope of a * b with respect to a is b: "
        "multiply.",
        "both": "Multiplied by both factors. The slope of a * b with respect to a is b alone.",
        "own": "The slope of a * b with respect to a is b: the other factor.",
        "slope-only": "This is the slope of the multiplication alone: multiply it by g.",
        "exchanged": "grad_a and grad_b are returned in the wrong order.",
        "too-early": "g was summed before it was multiplied by the other factor. But each use has "
        "its own factor: multiply first, then sum.",
    },
    wrong=(
        Wrong("unsummed", code="return g"),
        Wrong("unsummed", code="return np.broadcast_to(g, np.broadcast_shapes(g.shape, shape))"),
        Wrong(
            "mean",
            code="""
            g = g.mean(axis=tuple(range(g.ndim - len(shape))))
            stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
            return g.mean(axis=stretched, keepdims=True)
        """,
        ),
        Wrong(
            "axis",
            code="""
            while g.ndim > len(shape):
                g = g.sum(axis=-1)
            for axis, size in enumerate(shape):
                if size == 1:
                    g = g.sum(axis=axis, keepdims=True)
            return g
        """,
        ),
        Wrong("one-row", code="return g[0] if g.ndim > len(shape) else g"),
        Wrong("everything", code="return g.sum()"),
        Wrong(
            "front-only",
            code="""
            while g.ndim > len(shape):
                g = g.sum(axis=0)
            return g
            """,
        ),
        Wrong("keepdims", ("axis=stretched, keepdims=True", "axis=stretched")),
        Wrong("largest", code="return g.max(axis=tuple(range(g.ndim - len(shape))))"),
        Wrong("product", code="return g.prod(axis=tuple(range(g.ndim - len(shape))))"),
        Wrong("extra-axis", code="return g.sum(axis=0, keepdims=True)"),
        Wrong(
            "like-sum",
            code="return unbroadcast(g, a.shape), unbroadcast(g, b.shape)",
            gap=2,
        ),
        Wrong(
            "other-shape",
            code="return unbroadcast(g * b, b.shape), unbroadcast(g * a, a.shape)",
            gap=2,
        ),
        Wrong(
            "added", code="return unbroadcast(g + b, a.shape), unbroadcast(g + a, b.shape)", gap=2
        ),
        Wrong(
            "divided", code="return unbroadcast(g / b, a.shape), unbroadcast(g / a, b.shape)", gap=2
        ),
        Wrong(
            "both",
            code="return unbroadcast(g * a * b, a.shape), unbroadcast(g * a * b, b.shape)",
            gap=2,
        ),
        Wrong("own", code="return unbroadcast(g * a, a.shape), unbroadcast(g * b, b.shape)", gap=2),
        Wrong(
            "slope-only",
            code="""
            return unbroadcast(b + 0 * g, a.shape), unbroadcast(a + 0 * g, b.shape)
        """,
            gap=2,
        ),
        Wrong(
            "exchanged",
            code="""
            return unbroadcast(g * a, b.shape), unbroadcast(g * b, a.shape)
        """,
            gap=2,
        ),
        Wrong("unsummed", code="return g * b, g * a", gap=2),
        Wrong(
            "too-early",
            code="""
            return unbroadcast(g, a.shape) * b, unbroadcast(g, b.shape) * a
        """,
            gap=2,
        ),
    ),
    check=check,
    draw=draw,
)
