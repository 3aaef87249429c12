"""Exercise 8: the rule of a gather is a scatter that adds, and the other way round."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import of_values
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

SHOWN = np.array([2, 0, 2])


def check(answer: Answer) -> None:
    random = np.random.default_rng(8)
    indices = [np.array([2, 0, 3]), np.array([2, 0, 2, 2]), np.array([[1, 0, 1], [0, 1, 2]])]
    indices += [np.array([3, 3, -1, 0])]
    for index in indices:
        rows, g = 4, numbers(random, *index.shape, 2)
        uses = np.arange(rows)[:, None] == index.reshape(-1) % rows  # (rows, number of uses)
        right = uses @ g.reshape(-1, 2)
        flat = g.reshape(-1, 2)
        last, first, mean = (np.zeros((rows, 2)) for _ in range(3))
        for row in range(rows):
            if uses[row].any():
                last[row], first[row] = flat[uses[row]][-1], flat[uses[row]][0]
                mean[row] = flat[uses[row]].mean(axis=0)
        largest = int(index.max()) + 1
        loop, most, absolute, in_order = (np.zeros((rows, 2)) for _ in range(4))
        for row, one in zip(index, g, strict=True):
            loop[row] += one
        np.maximum.at(most, index, g)
        np.add.at(absolute, np.where(index < 0, -index, index), g)
        np.add.at(in_order, np.sort(index), g)
        answer.compare(
            "gradient", answer.gather_backward(g, index, rows), right,
            {
                "gathered": g,
                "last": last,
                "first": first,
                "mean": mean,
                "counted": uses.sum(axis=1)[:, None] * np.ones((1, 2)),
                "rows": right[:largest] if largest < rows else False,
                "negative": (np.arange(rows)[:, None] == index.reshape(-1)) @ flat,
                "two-axes": loop if index.ndim > 1 else False,
                "largest": most,
                "absolute": absolute,
                "sorted": in_order,
                "first-column": right[:, :1] * np.ones((1, 2)),
                "begun-with-1": 1 + right,
                "every-row": np.zeros((rows, 1)) + flat.sum(axis=0),
            },
        )  # fmt: skip
    for index in indices[:2]:
        g = numbers(random, 4, 2)
        again = np.zeros_like(g)
        np.add.at(again, index, g[: index.size])
        once = np.zeros((4, index.size))
        once[index, np.arange(index.size)] = 1
        count = once.sum(axis=1)[index]
        answer.compare(
            "gradient", answer.scatter_add_backward(g, index), g[index],
            {
                "again": again,
                "same": g,
                "shared": g[index] / count[:, None],
                "prefix": g[: len(index)],
                "once": g[np.unique(index)],
                "sorted": g[np.sort(index)],
                "multiplied": g[index] * count[:, None],
                "no-g": np.ones((len(index), 2)),
                "summed": np.zeros((len(index), 1)) + g[index].sum(axis=0),
            },
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """Which contributions arrive at which row, with the learner's sums."""
    g = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    grad = answer.gather_backward(g, SHOWN, 4)
    names = {"gradient of table": [f"row {row}" for row in range(4)]}
    for row in range(4):
        names[f"row {row}"] = [f"g[{use}]" for use in np.flatnonzero(row == SHOWN)]
    numbers_of = {f"row {row}": grad[row] for row in range(4)}
    numbers_of |= {f"g[{use}]": g[use] for use in range(3)}
    return of_values(
        "gradient of table",
        parents=lambda name: names.get(name, []),
        label=lambda name: name,
        notes=lambda name: (str(numbers_of[name]),) if name in numbers_of else (),
        shape=lambda name: (2,) if name in numbers_of else (4, 2),
    )


EXERCISE = Exercise(
    title="indexing and scatter",
    chapter="views",
    hints=(
        "Take index = [2, 0, 2] and write down, for each row of the table, which rows of g come "
        "from it. What is the gradient of row 2? And of row 1?",
        "Each row of g is added to the row of the gradient that it was taken from. grad[index] += "
        "g looks right, but for an index that comes twice, NumPy reads the old row twice and keeps "
        "one of the results. np.add.at(grad, index, g) adds for every use.",
        "grad = np.zeros((rows, g.shape[-1])), then np.add.at(grad, index, g). For the second one: "
        "row i of values went to row index[i] of out, so its gradient is that row of g.",
    ),
    why="Gather and scatter-add are each other's rule: what one reads, the other adds to. It is "
    "fan-out once more, since a row that was read twice gets two contributions. For that reason "
    "only a few rows of a large embedding have a gradient after a step. minigrad's rule of "
    "x[index] hands the engine the values and the index, and the engine adds them into one array "
    "of zeros: 3,000 reads of one array do not make 3,000 arrays of zeros.",
    diagnoses={
        "gathered": "This has the shape of y. The gradient has the shape of the table: (rows, d).",
        "last": "Right where an index comes once, wrong where it comes twice: only the last "
        "contribution is left. `grad[index] += g` does not add up: see np.add.at.",
        "first": "Right where an index comes once, wrong where it comes twice: only the first "
        "contribution is left.",
        "mean": "This is the mean of the contributions to a row. They are added.",
        "counted": "This counts how often a row was used. Each use contributes its row of g.",
        "rows": "The table may have more rows than the largest index: these have gradient 0.",
        "negative": "-1 is the last row: its contribution is lost.",
        "two-axes": "Right for an index of one axis. Here it has two: a loop over `index` gives "
        "rows of it, and grad[row] += ... keeps one contribution where a row holds a number twice.",
        "largest": "Only the largest contribution to each row is there. Contributions add.",
        "absolute": "-1 is the last row, and not row 1.",
        "sorted": "The index is in another order here. index[i] belongs to row i of the other "
        "array: sorted, it belongs to another row.",
        "first-column": "The first column is right, and the others repeat it. Add whole rows.",
        "begun-with-1": "Every entry is too large by 1. A sum of contributions begins with 0.",
        "every-row": "Every row gets the sum of all of g. A row gets that of its own reads.",
        "prefix": "These are the first rows of g. Row i of values went to row index[i].",
        "once": "Each row of g comes once, and in order. values may have several rows that went to "
        "one place: each has a gradient of its own.",
        "multiplied": "Each value that was added has slope 1, however many go to its row.",
        "no-g": "This is the slope alone: multiply it by g.",
        "summed": "Each row of values has a gradient of its own: nothing is summed.",
        "again": "This scatters once more. `values` went to row index[i], so its gradient comes "
        "from there: a gather.",
        "same": "This is g itself: it has one row for each row of out, not of values.",
        "shared": "Several values that were added into one row each have slope 1: none has to "
        "share.",
    },
    wrong=(
        Wrong("gathered", code="return g"),
        Wrong("last", ("np.add.at(grad, index, g)", "grad[index] += g")),
        Wrong("last", ("np.add.at(grad, index, g)", "grad[index] = g")),
        Wrong(
            "first",
            code="""
            grad, seen = np.zeros((rows, g.shape[-1])), set()
            for row, one in zip(index.reshape(-1) % rows, g.reshape(-1, g.shape[-1])):
                if row not in seen:
                    grad[row] = one
                    seen.add(row)
            return grad
            """,
        ),
        Wrong(
            "mean",
            code="""
            grad = np.zeros((rows, g.shape[-1]))
            np.add.at(grad, index, g)
            uses = np.zeros((rows, 1))
            np.add.at(uses, index, 1.0)
            return grad / np.maximum(uses, 1)
            """,
        ),
        Wrong("counted", ("np.add.at(grad, index, g)", "np.add.at(grad, index, 1.0)")),
        Wrong("rows", ("np.zeros((rows, g", "np.zeros((index.max() + 1, g")),
        Wrong(
            "negative",
            code="""
            one_hot = np.arange(rows)[:, None] == index.reshape(-1)
            return one_hot @ g.reshape(-1, g.shape[-1])
            """,
        ),
        Wrong("integers", ("np.zeros((rows, g.shape[-1]))", "np.zeros((rows, g.shape[-1]), int)")),
        Wrong(
            "again",
            code="""
            grad = np.zeros_like(g)
            np.add.at(grad, index, g[: len(index)])
            return grad
            """,
            gap=2,
        ),
        Wrong("same", code="return g", gap=2),
        Wrong(
            "two-axes",
            (
                "    np.add.at(grad, index, g)  # unlike grad[index] += g, it adds for every use\n",
                "    for row, one in zip(index, g):\n        grad[row] += one\n",
            ),
        ),
        Wrong("largest", ("np.add.at(grad, index, g)", "np.maximum.at(grad, index, g)")),
        Wrong("absolute", ("np.add.at(grad, index, g)", "np.add.at(grad, abs(index), g)")),
        Wrong("sorted", ("np.add.at(grad, index, g)", "np.add.at(grad, np.sort(index), g)")),
        Wrong("first-column", ("np.add.at(grad, index, g)", "np.add.at(grad, index, g[..., :1])")),
        Wrong("begun-with-1", ("np.zeros((rows,", "np.ones((rows,")),
        Wrong("every-row", code="return np.zeros((rows, 1)) + g.reshape(-1, 2).sum(axis=0)"),
        Wrong("prefix", code="return g[: len(index)]", gap=2),
        Wrong("once", code="return g[np.unique(index)]", gap=2),
        Wrong(
            "multiplied",
            code="return g[index] * (index[:, None] == index).sum(axis=1, keepdims=True)",
            gap=2,
        ),
        Wrong("no-g", code="return np.ones((len(index), 2))", gap=2),
        Wrong("summed", code="return np.zeros((len(index), 1)) + g[index].sum(axis=0)", gap=2),
        Wrong(
            "shared",
            code="return g[index] / (index[:, None] == index).sum(axis=1, keepdims=True)",
            gap=2,
        ),
    ),
    check=check,
    draw=draw,
)
