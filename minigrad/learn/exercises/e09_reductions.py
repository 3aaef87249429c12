"""Exercise 9: what a reduction has made smaller is spread again."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad
from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

AXES: list[tuple[tuple[int, ...], int | None]] = [
    ((3, 3), 1), ((3, 3), 0), ((4, 3), 1), ((2, 4, 3), 1), ((2, 3), -1), ((2, 3), None),
]  # fmt: skip


def check(answer: Answer) -> None:
    random = np.random.default_rng(9)
    for kind in ("sum", "mean", "max"):
        backward = getattr(answer, f"{kind}_backward")
        for shape, axis in AXES:
            x = numbers(random, *shape)
            if kind == "max":
                x.flat[[0, 1, shape[-1]]] = 3.0  # equally large, along each axis
                if shape == (3, 3):
                    x[2, 1] = x[0, 2] = 2.95  # one is the largest of its row, one of its column
            g = np.array(numbers(random, *np.sum(x, axis).shape))
            tensor = minigrad.tensor(x, requires_grad=True)
            y = getattr(np, kind)(tensor, axis=axis)
            (right,) = minigrad.autograd.grad(y, [tensor], minigrad.tensor(g))
            answer.compare(
                "gradient", backward(g, x, axis), right.numpy(), mistakes(kind, g, x, axis)
            )


def mistakes(kind: str, g: np.ndarray, x: np.ndarray, axis: int | None) -> dict[str, Any]:
    """What each misconception leads to."""
    put_back = g if axis is None else np.expand_dims(g, axis)
    spread = put_back * np.ones(x.shape)
    count = x.size if axis is None else x.shape[axis]
    wrongly = g if axis == 1 else g.reshape(-1, 1)  # along the other axis
    aligned = wrongly * np.ones(x.shape) if x.shape == (3, 3) else None
    repeated = np.resize(g, x.shape), np.repeat(g, x.size // g.size).reshape(x.shape)
    found: dict[str, Any]
    if kind == "sum":
        found = {
            "unspread": g if g.shape != x.shape else None,
            "aligned": repeated if aligned is None else (aligned, *repeated),
            "times-x": spread * x,
            "all-g": np.full(x.shape, g.sum()) if g.size > 1 else None,
            "no-g": np.ones(x.shape),
            "shared": spread / count,
        }
    elif kind == "mean":
        found = {
            "undivided": spread,
            "too-many": spread / x.size if axis is not None else None,
            "rows": spread / len(x),
            "results": spread / g.size,
            "last-axis": spread / x.shape[-1] if axis is not None else None,
            "axes-counted": spread / x.ndim,
            "multiplied": spread * count,
            "no-g": np.ones(x.shape) / count,
            "aligned": aligned / count if aligned is not None else None,
        }
    else:
        largest = x == x.max(axis=axis, keepdims=True)
        number = np.cumsum(largest, axis=axis).reshape(x.shape)  # of the equally large ones
        many = largest.sum(axis=axis, keepdims=True)
        unaligned = largest
        if x.shape == (3, 3):
            unaligned = x == (x.max(axis=1) if axis == 1 else x.max(axis=0).reshape(-1, 1))
        found = {
            "keepdims": None
            if unaligned is largest
            else (
                spread * unaligned / unaligned.sum(axis=axis, keepdims=True),
                spread * largest / largest.sum(axis=axis),
            ),
            "ties": spread * largest,
            "first": spread * (largest & (number == 1)),
            "last": spread * (largest & (number == many)),
            "of-all": (spread * (x == x.max()), spread * (x == x.max()) / (x == x.max()).sum()),
            "no-g": largest / many,
            "everywhere": spread,
            "value": spread * largest / many * x,
            "all-largest": spread * largest / largest.sum(),
            "shares": spread * largest / count,
            "smallest": spread * (x == x.min(axis=axis, keepdims=True)),
        }
    return {key: value for key, value in found.items() if value is not None}


def draw(answer: Answer) -> Graph:
    """The learner's rule of max."""
    x = np.array([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]])
    return traced(answer.max_backward, g=np.ones(2), x=x, axis=1)


EXERCISE = Exercise(
    title="reductions",
    chapter="broadcasting",
    hints=(
        "Which entries of x have a part in y[0]? Each of them gets g[0], times its slope. The "
        "shapes are the difficulty: (4,) does not fit (4, 3) as it is, since NumPy aligns "
        "shapes at the right end.",
        "np.expand_dims(g, axis) puts the missing axis back with size 1; then np.broadcast_to "
        "spreads it to x.shape. The mean divides by x.shape[axis], or by x.size for None. For the "
        "maximum, compare x with np.max(x, axis=axis, keepdims=True): that marks the largest "
        "entries.",
        "For the maximum: largest = x == np.max(x, axis=axis, keepdims=True). Then "
        "sum_backward(g, x, axis) * largest, divided by how many are the largest: "
        "largest.sum(axis=axis, keepdims=True).",
    ),
    why="The rule of a sum is to spread, and (exercise 6) the rule of a spread is to sum: they are "
    "each other's rule, as gather and scatter-add are. A maximum is like a switch: it passes g to "
    "the winner, and the others get 0, since a small change of theirs changes nothing. At a tie "
    "there is no derivative; equal shares are the symmetric choice, and minigrad's. PyTorch's max "
    "along an axis gives all of g to one entry instead.",
    diagnoses={
        "unspread": "g is smaller than x: each entry of g belongs to a whole row, and has to be "
        "spread along it.",
        "aligned": "g was spread along the wrong axis. NumPy aligns shapes at the right end: put "
        "the missing axis back first, with np.expand_dims(g, axis).",
        "no-g": "This is the slope alone: multiply it by g.",
        "shared": "In a sum each entry has slope 1: g goes to all of them whole. (Shares are for "
        "the mean.)",
        "undivided": "A mean divides by the number of entries: the gradient has to, as well.",
        "too-many": "Divided by the number of all entries, x.size. Only those along the axis go "
        "into one mean: x.shape[axis].",
        "rows": "Divided by len(x), which is the size of axis 0. The axis is another one here.",
        "results": "Divided by g.size, the number of means. The number of entries that go into "
        "each of them is x.shape[axis].",
        "last-axis": "Divided by the size of the last axis. The axis is another one here.",
        "axes-counted": "Divided by the number of axes. The number of entries along the axis is "
        "x.shape[axis].",
        "multiplied": "Multiplied by the number of entries. A mean divides by it.",
        "times-x": "Multiplied by x. The slope of an entry in its sum is 1.",
        "all-g": "Each entry gets the sum of all of g. It has a part in one entry of y only, and "
        "gets the g of that one.",
        "keepdims": "A result along the axis lacks that axis, and meets the wrong entries: "
        "keepdims=True keeps it, in max and in sum.",
        "last": "Right where one entry is the largest. Where several are, only the last gets "
        "anything: they should share g.",
        "all-largest": "Divided by how many entries of all of x are the largest of their row. Each "
        "row has its own number: sum(axis=axis, keepdims=True).",
        "shares": "Divided by the number of entries along the axis, as a mean is. Only the largest "
        "ones share.",
        "smallest": "Compared with the smallest entry of each row.",
        "ties": "Right where one entry is the largest. Where several are, each gets all of g: they "
        "should share it.",
        "first": "Right where one entry is the largest. Where several are, only the first gets "
        "anything: they should share g.",
        "of-all": "Compared with the largest entry of all of x. Each row has its own largest: "
        "np.max(x, axis=axis, keepdims=True).",
        "everywhere": "Every entry gets g. But a small change of an entry that is not the largest "
        "changes nothing: its slope is 0.",
        "value": "The slope of the largest entry is 1: g is not multiplied by x.",
    },
    wrong=(
        Wrong("unspread", code="return g"),
        Wrong("aligned", code="return np.broadcast_to(g, x.shape)"),
        Wrong("aligned", code="return g[:, None] * np.ones(x.shape)"),
        Wrong("no-g", code="return np.ones(x.shape)"),
        Wrong(
            "shared",
            (
                "    return np.broadcast_to(g, x.shape)",
                "    return np.broadcast_to(g, x.shape) * g.size / x.size",
            ),
        ),
        Wrong("undivided", ("sum_backward(g, x, axis) / count", "sum_backward(g, x, axis)")),
        Wrong("too-many", ("count = x.size if axis is None else x.shape[axis]", "count = x.size")),
        Wrong("rows", ("else x.shape[axis]", "else len(x)")),
        Wrong("no-g", ("sum_backward(g, x, axis) / count", "np.ones(x.shape) / count")),
        Wrong("results", ("x.size if axis is None else x.shape[axis]", "g.size")),
        Wrong("last-axis", ("else x.shape[axis]", "else x.shape[-1]")),
        Wrong("axes-counted", ("x.size if axis is None else x.shape[axis]", "x.ndim")),
        Wrong(
            "multiplied", ("sum_backward(g, x, axis) / count", "sum_backward(g, x, axis) * count")
        ),
        Wrong("times-x", ("np.broadcast_to(g, x.shape)", "np.broadcast_to(g, x.shape) * x")),
        Wrong("all-g", code="return np.full(x.shape, g.sum())"),
        Wrong(
            "last",
            (
                "* largest / largest.sum(axis=axis, keepdims=True)",
                "* largest * (largest.cumsum(axis=axis).reshape(x.shape)"
                " == largest.sum(axis=axis, keepdims=True))",
            ),
        ),
        Wrong("all-largest", ("/ largest.sum(axis=axis, keepdims=True)", "/ largest.sum()")),
        Wrong(
            "shares",
            (
                "/ largest.sum(axis=axis, keepdims=True)",
                "/ (x.size if axis is None else x.shape[axis])",
            ),
        ),
        Wrong(
            "smallest",
            ("largest = x == np.max(x, axis=axis", "largest = x == np.min(x, axis=axis"),
        ),
        Wrong("ties", (" * largest / largest.sum(axis=axis, keepdims=True)", " * largest")),
        Wrong(
            "first",
            code="""
            grad = np.zeros(x.shape)
            if axis is None:
                grad.flat[x.argmax()] = g
            else:
                place = np.expand_dims(x.argmax(axis=axis), axis)
                np.put_along_axis(grad, place, np.expand_dims(g, axis), axis=axis)
            return grad
            """,
            gap=3,
        ),
        Wrong("of-all", code="return sum_backward(g, x, axis) * (x == x.max())", gap=3),
        Wrong("no-g", ("return sum_backward(g, x, axis) * largest", "return largest")),
        Wrong("everywhere", code="return sum_backward(g, x, axis)", gap=3),
        Wrong("value", ("axis) * largest /", "axis) * largest * x /")),
        Wrong(
            "keepdims", ("x == np.max(x, axis=axis, keepdims=True)", "x == np.max(x, axis=axis)")
        ),
        Wrong(
            "keepdims",
            ("x == np.max(x, axis=axis, keepdims=True)", "x == np.max(x, axis=axis)[:, None]"),
        ),
    ),
    check=check,
    draw=draw,
)
