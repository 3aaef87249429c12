"""Exercise 30: where the entries of a view are, and what it means for a gradient."""

from __future__ import annotations

import math

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import of_values
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    for shape in [(2, 3, 4), (3, 5), (6,), (2, 1, 3)]:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        answer.compare(
            "the strides", answer.strides_of(shape), strides,
            {
                "first-fastest": [math.prod(shape[:axis]) for axis in range(len(shape))],
                "reversed": strides[::-1],
                "next-size": [*shape[1:], 1],
                "sizes": [*shape],
                "too-large": [math.prod(shape[axis:]) for axis in range(len(shape))],
                "bytes": tuple([size * one for one in strides] for size in (4, 8)),
                "added": [sum(shape[axis + 1 :]) for axis in range(len(shape))],
            },
        )  # fmt: skip
    for index, steps_of, start in [
        ((2, 1), (6, 1), 0),
        ((2, 1), (6, -2), 5),
        ((1, 0, 2), (2, 9, 4), 3),
    ]:
        steps = np.multiply(index, steps_of)
        answer.compare(
            "the place", answer.place(index, steps_of, start), start + steps.sum(),
            {
                "no-start": steps.sum(),
                "absolute": start + abs(steps).sum(),
                "indices": start + sum(index),
                "product": start + math.prod(steps),
                "first-only": start + steps[0],
                "last-only": start + steps[-1],
                "exchanged": start + np.multiply(index, steps_of[::-1]).sum(),
            },
        )  # fmt: skip
    random = np.random.default_rng(30)
    for rows, size in [(3, 2), (4, 3), (3, 1)]:
        g, length = numbers(random, rows, size), rows + size - 1
        count, last, first, right = np.zeros((4, length))
        for i in range(rows):
            for j in range(size):
                first[i + j] = first[i + j] if count[i + j] else g[i, j]
                last[i + j] = g[i, j]
                right[i + j] += g[i, j]
                count[i + j] += 1
        answer.compare(
            "gradient", answer.windows_backward(g, length), right,
            {
                "last": last,
                "first": first,
                "mean": right / count,
                "no-g": count,
                "disjoint": (g.reshape(-1)[:length], np.resize(g, length)),
                "rows-summed": g.sum(axis=1),
                "unshifted": np.concatenate([g.sum(axis=0), np.zeros(length - size)]),
            },
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """Which contributions arrive at which entry of x, with the learner's sums."""
    g = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    grad = answer.windows_backward(g, 4)
    names = {"gradient of x": [f"x[{place}]" for place in range(4)]}
    for place in range(4):
        names[f"x[{place}]"] = [f"g[{i}, {place - i}]" for i in range(3) if 0 <= place - i < 2]
    numbers_of = {f"x[{place}]": grad[place] for place in range(4)}
    numbers_of |= {f"g[{i}, {j}]": g[i, j] for i, j in np.ndindex(3, 2)}
    return of_values(
        "gradient of x",
        parents=lambda name: names.get(name, []),
        label=lambda name: name,
        notes=lambda name: (f"{numbers_of[name]:g}",) if name in numbers_of else (),
        shape=lambda name: () if name in numbers_of else (4,),
    )


EXERCISE = Exercise(
    title="strides and views",
    chapter="views",
    after=8,
    hints=(
        "Write the numbers 0 to 5 as an array of shape (2, 3). How far apart in memory are two "
        "entries of one row, and two entries of one column?",
        "The last stride is 1. Each stride before it is the next stride times the next size. The "
        "place is a sum over the axes of index * stride. For the windows: entry x[2] is y[2, 0], "
        "y[1, 1] and y[0, 2].",
        "Walk through reversed(shape) with step = 1: append step, then step = step * size. And "
        "start + sum(i * s for i, s in zip(index, strides)). And grad[i : i + len(row)] += row.",
    ),
    why="A view costs nothing, however large the array is: only start, shape and strides are new. "
    "The price is that two places of a view can be one entry of memory. For a gradient this is "
    "fan-out: the entry was used twice, so contributions add. Where the places are all different, "
    "as in a transpose, the gradient is only moved. A new array in place of each window would be "
    "right as well, and would need k times the memory.",
    diagnoses={
        "first-fastest": "Here the first index runs fastest (Fortran's order). The rows should lie "
        "one after the other: the last stride is 1.",
        "reversed": "The right strides in the wrong order: the last axis has stride 1.",
        "next-size": "Each is the size of the next axis. To move by 1 along an axis, all that lies "
        "in the later axes is passed: the product of their sizes.",
        "sizes": "These are the sizes. A stride says how far apart two neighbours along the axis "
        "are.",
        "too-large": "The size of the axis itself is in it. Only the sizes of the later axes are "
        "multiplied.",
        "bytes": "These strides count bytes, as NumPy's do. Here they count entries.",
        "added": "The sizes of the later axes are added. They are multiplied.",
        "no-start": "The view begins at `start`, which is missing.",
        "absolute": "A negative stride leads backwards: keep its sign.",
        "indices": "The indices are added without their strides.",
        "product": "The steps are multiplied. One walks along one axis, and then along the next: "
        "they are added.",
        "first-only": "Only the step along the first axis is there.",
        "last-only": "Only the step along the last axis is there.",
        "exchanged": "The strides are taken in the reverse order: index[0] belongs to strides[0].",
        "last": "Only the last contribution is left where windows overlap. Is = written where += "
        "should be?",
        "first": "Only the first contribution is there where windows overlap: contributions add.",
        "mean": "This is the mean of the contributions. They are added.",
        "no-g": "This counts how often each entry is used. Each use contributes its g.",
        "disjoint": "The rows of g are laid one after the other, as if the windows did not "
        "overlap. Row i begins at entry i of x.",
        "rows-summed": "Each window is summed to one number. Its entries belong to different "
        "entries of x.",
        "unshifted": "Every window is added at the beginning. Row i begins at entry i of x.",
    },
    wrong=(
        Wrong(
            "first-fastest",
            code="""
            strides = []
            step = 1
            for size in shape:
                strides.append(step)
                step = step * size
            return tuple(strides)
        """,
        ),
        Wrong("reversed", ("tuple(reversed(strides))", "tuple(strides)")),
        Wrong("next-size", code="return (*shape[1:], 1)"),
        Wrong("sizes", code="return shape"),
        Wrong(
            "too-large",
            (
                "        strides.append(step)\n        step = step * size\n",
                "        step = step * size\n        strides.append(step)\n",
            ),
        ),
        Wrong("bytes", code="return np.zeros(shape).strides"),
        Wrong("added", ("step = 1\n", "step = 0\n"), ("step * size", "step + size")),
        Wrong("no-start", ("return start + sum", "return sum")),
        Wrong("absolute", ("i * stride for", "i * abs(stride) for")),
        Wrong("indices", ("sum(i * stride for", "sum(i for")),
        Wrong("product", code="return start + int(np.prod(np.multiply(index, strides)))", gap=2),
        Wrong("first-only", code="return start + index[0] * strides[0]", gap=2),
        Wrong("last-only", code="return start + index[-1] * strides[-1]", gap=2),
        Wrong("exchanged", ("zip(index, strides)", "zip(index, strides[::-1])")),
        Wrong("last", ("+= row", "= row")),
        Wrong(
            "first",
            code="""
            grad = np.zeros(length)
            for i in reversed(range(len(g))):
                grad[i : i + g.shape[1]] = g[i]
            return grad
        """,
            gap=3,
        ),
        Wrong(
            "mean",
            code="""
            grad, count = np.zeros(length), np.zeros(length)
            for i, row in enumerate(g):
                grad[i : i + len(row)] += row
                count[i : i + len(row)] += 1
            return grad / count
        """,
            gap=3,
        ),
        Wrong("no-g", ("+= row", "+= 1")),
        Wrong("disjoint", code="return g.reshape(-1)[:length]", gap=3),
        Wrong("rows-summed", code="return g.sum(axis=1)", gap=3),
        Wrong("unshifted", ("grad[i : i + len(row)]", "grad[: len(row)]")),
    ),
    check=check,
    draw=draw,
)
