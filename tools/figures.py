"""The figures of docs/guide that are not graphs: grids of numbers and curves, with Matplotlib.

tools/pictures.py saves them. Each is computed with minigrad, and follows the reader's light or dark
mode.
"""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import minigrad
from minigrad import nn, optim
from minigrad.func import jacrev
from minigrad.viz.drawing.heatmap import figure
from minigrad.viz.drawing.style import COLOURS, FONT, LIGHT

__all__ = ["FIGURES", "save"]

CELL = 0.42
"""The side of a cell in inches."""

STRONGEST = 0.5
"""The opacity of the largest number of a grid: the text on it stays legible."""

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "minigrad",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "figure.facecolor": LIGHT["page"],
    "axes.facecolor": LIGHT["page"],
    "axes.edgecolor": LIGHT["line"],
    "axes.labelcolor": LIGHT["text"],
    "text.color": LIGHT["text"],
    "xtick.color": LIGHT["text"],
    "ytick.color": LIGHT["text"],
    "grid.color": LIGHT["rule"],
}


class Grid(NamedTuple):
    """A grid of cells.

    Attributes:
        title: Above it.
        cells: What is written in them, (rows, columns); None hatches a cell.
        colours: From -1 (amber) over 0 (none) to 1 (blue), of the same shape.
        note: Below it.
    """

    title: str
    cells: Sequence[Sequence[str | None]]
    colours: np.ndarray
    note: str = ""


def numbers(title: str, values: Any, note: str = "", masked: Any = False) -> Grid:
    """A grid of numbers, coloured by their sizes."""
    values = np.asarray(values)
    masked = np.broadcast_to(masked, values.shape)
    cells = [
        [None if hidden else figure(value) for value, hidden in zip(*row, strict=True)]
        for row in zip(values.tolist(), masked, strict=True)
    ]
    return Grid(title, cells, values / np.abs(values).max(), note)


def grids(*parts: Grid | str) -> Figure:
    """Draw grids side by side, with signs between them."""
    tallest = max(len(part.cells) for part in parts if isinstance(part, Grid))
    drawn = Figure()
    axis = drawn.add_axes((0, 0, 1, 1))
    x = 0.0
    for part in parts:
        if isinstance(part, str):
            axis.text(x - 0.5, tallest / 2, part, ha="center", va="center", fontsize=14)
            continue
        rows, columns = part.colours.shape
        left, top = x + max(0.0, room(part) - columns) / 2, (tallest - rows) / 2
        for (row, column), colour in np.ndenumerate(part.colours):
            cell(axis, left + column, top + row, part.cells[row][column], colour)
        axis.text(left + columns / 2, top - 0.3, part.title, ha="center", weight="bold")
        if part.note:
            axis.text(left + columns / 2, top + rows + 0.25, part.note, ha="center", va="top")
        x += room(part) + 1
    lines = max(part.note.count("\n") + bool(part.note) for part in parts if isinstance(part, Grid))
    bottom = tallest + 0.5 + 0.4 * lines
    axis.set(xlim=(-0.5, x - 0.5), ylim=(bottom, -1))
    axis.axis("off")
    drawn.set_size_inches(CELL * x, CELL * (bottom + 1))
    return drawn


def room(grid: Grid) -> float:
    """The width of a grid with its texts, in cells."""
    longest = max(1.12 * len(grid.title), *(len(line) for line in grid.note.split("\n")))
    return max(float(grid.colours.shape[1]), 0.19 * longest)


def cell(axis: Any, x: float, y: float, text: str | None, colour: float) -> None:
    """Draw one cell; hatched if it has no text."""
    hue = LIGHT["op"] if colour >= 0 else LIGHT["parameter"]
    axis.add_patch(
        Rectangle((x, y), 1, 1, facecolor=hue, alpha=STRONGEST * abs(colour), linewidth=0)
    )
    hatch = "////" if text is None else None
    axis.add_patch(
        Rectangle((x, y), 1, 1, fill=False, edgecolor=LIGHT["line"], linewidth=0.6, hatch=hatch)
    )
    axis.text(x + 0.5, y + 0.5, text or "", ha="center", va="center")


def curves(lines: dict[str, tuple[Any, Any]], **settings: Any) -> Figure:
    """Draw curves by their names, each from x and y."""
    drawn = Figure(figsize=(5.5, 3.3), layout="tight")
    axis = drawn.add_subplot()
    looks = (("op", "-"), ("parameter", "--"))
    for (name, (x, y)), (hue, style) in zip(lines.items(), looks, strict=True):
        axis.plot(x, y, style, color=LIGHT[hue], label=name, linewidth=1.8)
    axis.set(**settings)
    axis.grid(True)
    axis.legend(frameon=False)
    return drawn


def jacobians() -> Figure:
    """Of an elementwise op, a sum and a gather: rows are outputs, columns are inputs."""
    x = minigrad.tensor([1.0, 2.0, 3.0, 4.0])
    functions: dict[str, tuple[Callable[[Any], Any], str]] = {
        "x * x": (lambda x: x * x, "2x on the diagonal"),
        "x.sum()": (lambda x: x.sum().reshape(1), "a row of ones"),
        "x[[2, 0, 2]]": (lambda x: x[[2, 0, 2]], "a one in each row"),
    }
    return grids(
        *(numbers(name, jacrev(f)(x).numpy(), note) for name, (f, note) in functions.items())
    )


def softmax_jacobian() -> Figure:
    """A diagonal minus an outer product."""
    scores = minigrad.tensor([1.5, 0.5, 0.0, 1.0, -0.5])
    y = minigrad.softmax(scores).numpy()
    return grids(
        numbers("diag(y)", np.diag(y)),
        "−",
        numbers("y yᵀ", np.outer(y, y)),
        "=",
        numbers("∂y/∂x", jacrev(minigrad.softmax)(scores).numpy()),
    )


def finite_differences() -> Figure:
    """The error of a measured slope over the size of the step."""
    steps = np.logspace(-15, 0, 91)
    one_sided = (np.sin(1 + steps) - np.sin(1)) / steps
    central = (np.sin(1 + steps) - np.sin(1 - steps)) / (2 * steps)
    return curves(
        {
            name: (steps, np.maximum(abs(slope - np.cos(1)), 1e-16))
            for name, slope in {
                "(f(x + h) − f(x)) / h": one_sided,
                "(f(x + h) − f(x − h)) / 2h": central,
            }.items()
        },
        xscale="log", yscale="log", xlabel="step h", ylabel="error",
        title="The slope of sin at 1, in float64",
    )  # fmt: skip


def learning_rates() -> Figure:
    """The loss of the first line that the guide fits, at two learning rates."""
    x = minigrad.tensor([0.0, 1.0, 2.0, 3.0])
    y = 2 * x + 1
    lines = {}
    for rate in (0.1, 0.25):
        w, b = (minigrad.tensor(0.0, requires_grad=True) for _ in range(2))
        losses = []
        for _ in range(31):
            loss = ((w * x + b - y) ** 2).mean()
            losses.append(loss.item())
            slopes = minigrad.autograd.grad(loss, (w, b))
            with minigrad.no_grad():
                w -= rate * slopes[0]
                b -= rate * slopes[1]
        lines[f"learning rate {rate}"] = (range(31), losses)
    return curves(lines, yscale="log", xlabel="step", ylabel="loss", ylim=(1e-5, 1e3))


def strides() -> Figure:
    """One piece of memory and three views of it."""
    memory = np.arange(6)
    views = {
        "memory": memory[None],
        "x = memory.reshape(2, 3)": memory.reshape(2, 3),
        "x.T": memory.reshape(2, 3).T,
        "x[:, ::2]": memory.reshape(2, 3)[:, ::2],
    }
    return grids(
        *(
            Grid(
                name, [[str(place) for place in row] for row in view], view / 6,
                "" if name == "memory" else f"strides {tuple(s // 8 for s in view.strides)}",
            )
            for name, view in views.items()
        )
    )  # fmt: skip


def batching_rule() -> Figure:
    """The product of a vector and a matrix, for one sample and for four."""
    rng = np.random.default_rng(0)
    xs, w = rng.integers(-2, 4, size=(4, 3)), np.array([[1, 0], [2, 1], [0, -1]])

    def one_marked(title: str, values: np.ndarray, note: str) -> Grid:
        marks = np.zeros(values.shape)
        marks[0] = 0.6
        return numbers(title, values, note)._replace(colours=marks)

    shared = numbers("w", w, "(3, 2)")._replace(colours=np.zeros(w.shape))
    return grids(
        one_marked("x", xs[:1], "(3,)"), "@", shared, "=", one_marked("y", xs[:1] @ w, "(2,)"),
        "   →",
        one_marked("xs", xs, "(4, 3)"), "@", shared, "=", one_marked("ys", xs @ w, "(4, 2)"),
    )  # fmt: skip


def causal_mask() -> Figure:
    """Scores, and the weights of queries that attend to no later position."""
    scores = np.random.default_rng(0).normal(size=(5, 5)).round(1)
    allowed = np.tril(np.ones((5, 5), bool))
    weights = minigrad.softmax(minigrad.where(allowed, minigrad.tensor(scores), -np.inf))
    return grids(
        numbers("scores", scores, "rows: queries\ncolumns: keys"),
        "→",
        numbers("weights", weights.numpy(), "each row sums to 1", masked=~allowed),
    )


def kv_cache() -> Figure:
    """The keys that are kept, over four steps; each computes one row."""
    minigrad.random.seed(0)
    attention = nn.MultiHeadAttention(2, 1, bias=False)
    keys = attention.k_proj(minigrad.randn(4, 2)).detach().numpy()
    found = []
    for step in range(1, 5):
        cells = [
            [figure(key) if row < step else "" for key in keys[row].tolist()] for row in range(4)
        ]
        colours = np.zeros((4, 2))
        colours[step - 1] = 0.6
        found.append(Grid(f"step {step}", cells, colours, f"{step} keys" if step > 1 else "1 key"))
    return grids(*found)


def dropout() -> Figure:
    """The factors of dropout, forward and backward."""
    x = minigrad.tensor(np.arange(1.0, 10.0).reshape(3, 3), requires_grad=True)
    g = np.array([[1.0, -1.0, 2.0], [0.5, 1.0, -2.0], [1.0, 3.0, -1.0]])
    minigrad.manual_seed(7)
    y = nn.functional.dropout(x, 0.5)
    (gradient,) = minigrad.autograd.grad(y, x, minigrad.tensor(g))
    factor = numbers("factor", (y / x).detach().numpy(), "0 or 1 / (1 − p)")
    return grids(
        numbers("x", x.detach().numpy()), "·", factor, "=", numbers("y", y.detach().numpy()),
        " ",
        numbers("ḡ", g), "·", factor, "=", numbers("x̄", gradient.numpy()),
    )  # fmt: skip


def warm_up() -> Figure:
    """The size of Adam's steps on gradients of pure noise."""
    lines = {}
    for name, first in {"plain": 1.0, "warm-up of 10 steps": 0.1}.items():
        w, noise = minigrad.zeros(1000, requires_grad=True), np.random.default_rng(0)
        optimizer = optim.Adam([w], lr=0.01)
        schedule = optim.lr_scheduler.LinearLR(optimizer, first, total_iters=10)
        sizes = []
        for _ in range(60):
            before = w.detach().numpy().copy()
            w.grad = minigrad.tensor(noise.normal(size=1000), dtype="float32")
            optimizer.step()
            schedule.step()
            sizes.append(float(np.std(w.detach().numpy() - before)))
        lines[name] = (range(1, 61), sizes)
    return curves(
        lines, xlabel="step", ylabel="size of the step", ylim=(0, None),
        title="Adam on pure noise, learning rate 0.01",
    )  # fmt: skip


FIGURES = {
    made.__name__: made
    for made in (
        jacobians, softmax_jacobian, finite_differences, learning_rates, strides, batching_rule,
        causal_mask, kv_cache, dropout, warm_up,
    )
}  # fmt: skip
"""By the name of the file."""


def save(name: str, file: Path) -> None:
    """Draw a figure, and save it as SVG in the reader's mode.

    Args:
        name: Of the figure.
        file: Where to save it.
    """
    with matplotlib.rc_context(SETTINGS):
        text = io.StringIO()
        FIGURES[name]().savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    modes = ["", ""]
    for colour, pair in COLOURS.items():
        if pair[0].lower() in svg:
            svg = svg.replace(pair[0].lower(), f"var(--{colour})")
            modes = [f"{mode}--{colour}:{value};" for mode, value in zip(modes, pair, strict=True)]
    style = f":root{{{modes[0]}}}@media (prefers-color-scheme:dark){{:root{{{modes[1]}}}}}"
    svg = re.sub(r"(<style[^>]*>)", rf"\1{style}", svg, count=1)
    file.write_text(svg.replace("'DejaVu Sans'", FONT), encoding="utf-8")
