"""The figures of the examples: SVG, for light and dark ground, with the drawings of `viz`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from minigrad.viz.drawing import curves, heatmap
from minigrad.viz.drawing.colour_scale import LEVELS, byte_colours, to_levels
from minigrad.viz.drawing.elements import picture as whole
from minigrad.viz.drawing.heatmap import cells, image
from minigrad.viz.drawing.style import sheet

SCALE = byte_colours()
STYLE = heatmap.STYLE + sheet(
    [(".wrong,.ink", "fill:none;stroke-width:1.5")],
    [(".wrong,.ink", "stroke:{error}"), ("text.misread", "fill:{error}")],
    ".minigrad-heatmap",
)


def training(path: Path, history: np.ndarray) -> None:
    """Draw loss and accuracy during training.

    Args:
        path: The picture to write.
        history: Shape (epochs, 4): loss and accuracy on the training digits, then on the test
            digits.
    """
    losses, accuracies = (
        {"training digits": over_steps(learned), "held-out digits": over_steps(held_out)}
        for learned, held_out in (history.T[[0, 2]], history.T[[1, 3]])
    )
    reached = f"Accuracy: {history[-1, 3]:.1%} of the held-out digits"
    charts = [
        curves.chart("Loss", losses, curves.Axis(history[:, [0, 2]].ravel().tolist()), "epoch"),
        curves.chart(reached, accuracies, curves.Axis([0.0, 1.0], write="{:.0%}".format), "epoch"),
    ]
    path.write_text(curves.column(charts), encoding="utf-8")


def bits_per_character(path: Path, history: np.ndarray, tables: dict[str, float]) -> None:
    """Draw bits per character during training, beside the best of the n-gram tables.

    Args:
        path: The picture to write.
        history: Shape (points, 3): the step, bits per character on the training text, and on the
            test text.
        tables: Bits per character of the n-grams on the test text.
    """
    steps, learned, held_out = history.T
    best = min(tables, key=tables.__getitem__)
    values = {"learned text": learned, "held-out text": held_out}
    lines = {name: over_steps(of, steps) for name, of in values.items()}
    lines[best] = over_steps(np.full(len(steps), tables[best]), steps)
    axis = curves.Axis([value for line in lines.values() for value in line.values()])
    chart = curves.chart(f"Bits per character: {held_out[-1]:.2f}", lines, axis)
    path.write_text(curves.column([chart]), encoding="utf-8")


def over_steps(values: np.ndarray, steps: np.ndarray | None = None) -> dict[int, float]:
    """A curve as `viz` takes it; of epochs, which are counted from 1, without `steps`."""
    numbers = range(1, len(values) + 1) if steps is None else steps.astype(int).tolist()
    return dict(zip(numbers, values.tolist(), strict=True))


def confusion(path: Path, digits: np.ndarray, labels: np.ndarray, predicted: np.ndarray) -> None:
    """Draw the confusion matrix and the misclassified digits.

    Args:
        path: The picture to write.
        digits: Shape (N, 8, 8).
        labels: The true classes, shape (N,).
        predicted: The predicted classes, shape (N,).
    """
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, predicted), 1)
    wrong = np.flatnonzero(labels != predicted)
    side, left, top = 32, 44, 68

    grid = cells(counts, to_levels(counts, 0, counts.max()), counts < 0, side, SCALE)
    matrix = [line for line in grid if not line.endswith(">0</text>")]
    for row, column in np.argwhere(counts):
        if row != column:
            place = f'x="{column * side + 1}" y="{row * side + 1}"'
            matrix.append(f'<rect class="wrong" {place} width="{side - 2}" height="{side - 2}"/>')
    for i in range(10):
        matrix += [text((i + 0.5) * side, -8, i, "name"), text(-12, i * side + 20, i, "name")]
    matrix += [text(5 * side, -26, "read as", "name"), text(-34, 5 * side + 4, "is", "name")]

    shown = wrong[:30]
    columns = max(3, math.ceil(math.sqrt(len(shown))))
    misread = []
    for number, i in enumerate(shown):
        x, y = number % columns * 72, number // columns * 76
        caption = text(24, -6, f"{labels[i]} read as {predicted[i]}", "misread")
        misread += group(x, y, [caption, *picture(digits[i], 48)])
    said = "misread" if len(shown) == len(wrong) else f"the first {len(shown)} misread"
    right = left + 10 * side + 44
    lines = [
        text(
            0,
            14,
            f"{len(labels) - len(wrong)} of {len(labels)} held-out digits read right",
            "title start",
        ),
        *group(left, top, matrix),
        text(right, 14, said, "title start"),
        *group(right + 8, top, misread),
    ]
    height = top + max(10 * side, math.ceil(len(shown) / columns) * 76) + 8
    write(path, right + columns * 72, height, lines, "The confusion matrix")


def attention(
    path: Path, digits: np.ndarray, labels: np.ndarray, predicted: np.ndarray, maps: np.ndarray
) -> None:
    """Draw the attention of the last layer's heads over the digits.

    Args:
        path: The picture to write.
        digits: Shape (N, 8, 8).
        labels: The true classes, shape (N,).
        predicted: The predicted classes, shape (N,).
        maps: The weights of the class token on the patches, shape (N, heads, 4, 4).
    """
    title = "What the class token attends to in the last layer, head by head"
    heads, side, step, left, top = maps.shape[1], 64, 76, 52, 52
    lines = [text(0, 14, title, "title start"), text(0, top + 36, "digit", "name start")]
    for head in range(heads):
        y = top + (head + 1) * step + 36
        lines.append(text(0, y, f"head {head}", "name start"))
    for i, (digit, label, read, weights) in enumerate(
        zip(digits, labels, predicted, maps, strict=True)
    ):
        x = left + i * step
        kind = "" if label == read else "misread"
        lines.append(text(x + side / 2, top - 8, f"{label} read as {read}", kind))
        lines += group(x, top, picture(digit, side))
        for head in range(heads):
            drawn = [*picture(weights[head], side, maps.max()), outline(digit, side)]
            lines += group(x, top + (head + 1) * step, drawn)
    y = top + (heads + 1) * step + 4
    lines += group(left, y, scale(maps.max(), "weight of the patch"))
    write(path, left + len(digits) * step, y + 28, lines, title)


def cross_attention(path: Path, digits: str, letters: str, weights: np.ndarray) -> None:
    """Draw which digits each letter of a number's name attends to, layer by layer.

    Args:
        path: The picture to write.
        digits: The number.
        letters: The name that the model wrote.
        weights: The attention weights of the letters and the end token on the digits: shape
            (layers, heads, letters + 1, digits).
    """
    title = "Which digits each letter attends to (the mean over the heads; . is the end)"
    means = weights.mean(axis=1)  # (layers, T + 1, S)
    width, height, left, step = 14, 20, 64, len(digits) * 20 + 34
    lines = [text(0, 14, title, "title start")]
    for i, mean in enumerate(means):
        y, levels = 32 + i * step, to_levels(mean.T, 0, 1)
        size = f'width="{width * levels.shape[1]}" height="{height * levels.shape[0]}"'
        drawn = [image(size, levels, SCALE), f'<rect class="grid" {size}/>']
        drawn.append(text(-left, height * len(digits) / 2 + 4, f"layer {i}", "name start"))
        for row, digit in enumerate(digits):
            drawn.append(text(-10, (row + 0.5) * height + 4, digit, "name"))
        for column, letter in enumerate(f"{letters}."):
            drawn.append(text((column + 0.5) * width, height * len(digits) + 14, letter, "name"))
        lines += group(left, y, drawn)
    y = 32 + len(means) * step
    lines += group(left, y, scale(1.0, "weight of the digit"))
    write(path, max(left + width * (len(letters) + 1), 480), y + 28, lines, title)


# The parts of a picture


def text(x: float, y: float, said: object, kind: str = "") -> str:
    """A text, in its middle at `x` unless its kind is "start"."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{said}</text>'


def group(x: float, y: float, lines: list[str]) -> list[str]:
    """A part of a picture, moved to a place."""
    return [f'<g transform="translate({x:g} {y:g})">', *lines, "</g>"]


def picture(values: np.ndarray, side: int, high: float = 1.0) -> list[str]:
    """A square of numbers from 0 to `high`: the more, the stronger its colour."""
    size = f'width="{side}" height="{side}"'
    return [image(size, to_levels(values, 0.0, high), SCALE), f'<rect class="grid" {size}/>']


def outline(digit: np.ndarray, side: int) -> str:
    """The border of the ink of a digit, (8, 8)."""
    pixel, ink = side / len(digit), np.pad(digit > 0.5, 1)
    flat = np.argwhere(ink[1:, 1:-1] != ink[:-1, 1:-1]) * pixel
    steep = np.argwhere(ink[1:-1, 1:] != ink[1:-1, :-1]) * pixel
    path = "".join(f"M{x:g} {y:g}h{pixel:g}" for y, x in flat)
    path += "".join(f"M{x:g} {y:g}v{pixel:g}" for y, x in steep)
    return f'<path class="ink" d="{path}"/>'


def scale(high: float, said: str) -> list[str]:
    """The colours from 0 to `high`, and what they mean."""
    size = 'width="120" height="10"'
    colours = image(size, np.arange(LEVELS + 1)[None], SCALE)
    ends = text(0, 22, 0, "start"), text(120, 22, f"{high:.2g}"), text(132, 9, said, "start")
    return [colours, f'<rect class="grid" {size}/>', *ends]


def write(path: Path, width: int, height: int, lines: list[str], title: str) -> None:
    """Write a picture of so many pixels."""
    parts = group(18, 18, lines)
    drawn = whole("minigrad-heatmap", title, (width + 36, height + 36), STYLE, parts)
    path.write_text(drawn, encoding="utf-8")
