"""The figures of the examples."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, PercentFormatter

LEARNED, HELD_OUT, WRONG = "#9C6B00", "#0060A8", "#C2185B"


def training(path: Path, history: np.ndarray) -> None:
    """Draw loss and accuracy during training.

    Args:
        path: The picture to write.
        history: Shape (epochs, 4): loss and accuracy on the training digits, then on the test
            digits.
    """
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    epochs = np.arange(1, len(history) + 1)
    for axes, column, title in ((left, 0, "loss"), (right, 1, "accuracy")):
        learned, held_out = history[:, column], history[:, column + 2]
        axes.plot(epochs, learned, ".-", color=LEARNED, label="training digits")
        axes.plot(epochs, held_out, ".-", color=HELD_OUT, label="held-out digits")
        axes.set(title=title, xlabel="epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    left.set_yscale("log")
    left.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.yaxis.set_major_formatter("{x:g}")
    left.yaxis.set_minor_formatter("")
    left.legend(frameon=False)
    right.set_ylim(0, 1.05)
    right.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    right.annotate(
        f"{100 * history[-1, 3]:.1f} %", (epochs[-1], history[-1, 3]), (0, -8),
        textcoords="offset points", ha="right", va="top", color=HELD_OUT, weight="bold",
    )  # fmt: skip
    figure.savefig(path, dpi=150)


def confusion(path: Path, images: np.ndarray, labels: np.ndarray, predicted: np.ndarray) -> None:
    """Draw the confusion matrix and the misclassified digits.

    Args:
        path: The picture to write.
        images: Shape (N, 8, 8).
        labels: The true classes, shape (N,).
        predicted: The predicted classes, shape (N,).
    """
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, predicted), 1)
    wrong = np.flatnonzero(labels != predicted)

    figure = Figure(figsize=(10, 5.4), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(5.4, 4.6))[0]
    axes = left.subplots()
    axes.imshow(counts, cmap="Blues", vmax=1.6 * counts.max())
    for row, column in np.argwhere(counts):
        colour = "black" if row == column else WRONG
        axes.text(
            column, row, counts[row, column], ha="center", va="center", color=colour,
            weight="normal" if row == column else "bold",
        )  # fmt: skip
    axes.set(
        xticks=range(10), yticks=range(10), xlabel="read as", ylabel="is",
        title=f"{len(labels) - len(wrong)} of {len(labels)} held-out digits read right",
    )  # fmt: skip
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)

    shown = wrong[:30]
    right.suptitle("misread" if len(shown) == len(wrong) else f"the first {len(shown)} misread")
    columns = max(3, math.ceil(math.sqrt(len(shown))))
    cells = right.subplots(max(3, math.ceil(len(shown) / columns)), columns).ravel()
    for axes in cells:
        axes.axis("off")
    for axes, i in zip(cells, shown, strict=False):
        axes.imshow(images[i], cmap="gray_r", vmin=0, vmax=1)
        axes.set_title(f"{labels[i]} read as {predicted[i]}", fontsize=9, color=WRONG)
    figure.savefig(path, dpi=150)


def attention(
    path: Path, images: np.ndarray, labels: np.ndarray, predicted: np.ndarray, maps: np.ndarray
) -> None:
    """Draw the attention of the last layer's heads over the digits.

    Args:
        path: The picture to write.
        images: Shape (N, 8, 8).
        labels: The true classes, shape (N,).
        predicted: The predicted classes, shape (N,).
        maps: The weights of the class token on the patches, shape (N, heads, 4, 4).
    """
    n, heads = maps.shape[:2]
    side = images.shape[1]
    frame = (-0.5, side - 0.5, side - 0.5, -0.5)  # left, right, bottom, top
    around = np.arange(-1, side + 1)  # the pixels and one more on each side, so outlines close
    figure = Figure(figsize=(n + 0.8, heads + 1.5), layout="constrained")
    figure.suptitle("what the class token attends to in the last layer, head by head")
    grid = figure.subplots(heads + 1, n)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color("#D0D7DE")
    for row, name in enumerate(["digit", *(f"head {head + 1}" for head in range(heads))]):
        grid[row, 0].set_ylabel(name)
    for i in range(n):
        grid[0, i].imshow(images[i], cmap="gray_r", vmin=0, vmax=1)
        colour = "black" if labels[i] == predicted[i] else WRONG
        grid[0, i].set_title(f"{labels[i]} read as {predicted[i]}", fontsize=9, color=colour)
        for axes, weights in zip(grid[1:, i], maps[i], strict=True):
            heat = axes.imshow(weights, cmap="Blues", vmin=0, vmax=maps.max(), extent=frame)
            axes.contour(around, around, np.pad(images[i], 1), [0.5], colors=WRONG, linewidths=0.9)
            axes.set(xlim=(-0.8, side - 0.2), ylim=(side - 0.2, -0.8))
    figure.colorbar(heat, ax=grid[1:], label="weight of the patch", shrink=0.8, pad=0.01)
    figure.savefig(path, dpi=150)


def cross_attention(path: Path, digits: str, letters: str, weights: np.ndarray) -> None:
    """Draw which digits each letter of a number's name attends to, layer by layer.

    Args:
        path: The picture to write.
        digits: The number.
        letters: The name that the model wrote.
        weights: The attention weights of the letters and the end token on the digits: shape
            (layers, heads, letters + 1, digits).
    """
    means = weights.mean(axis=1)  # (layers, T + 1, S)
    layers, columns, rows = means.shape
    size = (max(6.5, 1.6 + 0.18 * columns), 0.5 + layers * (0.5 + 0.22 * rows))  # inches
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle("which digits each letter attends to (the mean over the heads; . is the end)")
    grid = figure.subplots(layers, squeeze=False)[:, 0]
    for i, axes in enumerate(grid):
        heat = axes.imshow(means[i].T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(columns), [*letters, "."])
        axes.set_yticks(range(rows), [*digits])
        axes.set_ylabel(f"layer {i + 1}")
        axes.tick_params(length=0)
    figure.colorbar(heat, ax=grid, label="weight of the digit", pad=0.01)
    figure.savefig(path, dpi=150)


def bits_per_character(path: Path, history: np.ndarray, tables: dict[str, float]) -> None:
    """Draw bits per character during training, beside those of n-gram tables.

    Args:
        path: The picture to write.
        history: Shape (points, 3): the step, bits per character on the training text, and on the
            test text.
        tables: Bits per character of the n-grams on the test text.
    """
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    steps, learned, held_out = history.T
    axes.plot(steps, learned, ".-", color=LEARNED, label="learned text")
    axes.plot(steps, held_out, ".-", color=HELD_OUT, label="held-out text")
    for name, bits in tables.items():
        axes.axhline(bits, color="#8C959F", linewidth=0.9, linestyle="--", zorder=0)
        axes.annotate(
            name, (1, bits), (-2, 2), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", color="#57606A", fontsize=9,
        )  # fmt: skip
    axes.annotate(
        f"{held_out[-1]:.2f}", (steps[-1], held_out[-1]), (0, -8), textcoords="offset points",
        ha="right", va="top", color=HELD_OUT, weight="bold",
    )  # fmt: skip
    axes.set(title="bits per character", xlabel="step", xlim=(0, None), ylim=(1, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
