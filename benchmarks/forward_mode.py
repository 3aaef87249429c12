"""The cost of a gradient in forward mode and in reverse mode, as multiples of the plain function.

The loss of one tanh layer as a function of its n weights. Forward mode runs the function once for
each weight, with the derivative of every value beside it, on NumPy arrays. Reverse mode is one
backward pass of minigrad. All three run in turn, round by round; the figure shows medians and
quartiles.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import _options

WIDTHS = (2, 4, 8, 16, 32)
ROWS = 2048
Call = Callable[[], object]


def calls(width: int) -> dict[str, Call]:
    """The function, its gradient in both modes; they are compared once."""
    import numpy as np

    import minigrad

    draws = np.random.default_rng(0)
    x, w = draws.standard_normal((ROWS, width)), draws.standard_normal((width, width))
    leaf = minigrad.tensor(w, requires_grad=True)

    def function() -> float:
        return float((np.tanh(x @ w) ** 2).sum())

    def forward() -> np.ndarray:
        found = np.empty_like(w)
        for place in np.ndindex(w.shape):  # one pass for each weight
            direction = np.zeros_like(w)
            direction[place] = 1
            y, slope = np.tanh(x @ w), x @ direction
            slope = (1 - y * y) * slope
            found[place] = (2 * y * slope).sum()
        return found

    def reverse() -> np.ndarray:
        loss = (minigrad.tanh(minigrad.matmul(x, leaf)) ** 2).sum()
        return minigrad.autograd.grad(loss, leaf)[0].numpy()

    np.testing.assert_allclose(forward(), reverse(), rtol=1e-9, atol=1e-9)
    return {"function": function, "forward mode": forward, "reverse mode": reverse}


def measure(width: int, seconds: float, least: int) -> dict[str, list[float]]:
    """Seconds per call of each, in rounds until the time is up."""
    runs, times = calls(width), {}
    end = time.perf_counter() + seconds
    while len(times.get("function", ())) < least or time.perf_counter() < end:
        for name, call in runs.items():
            again = 20 if name != "forward mode" else 1
            start = time.perf_counter()
            for _ in range(again):
                call()
            times.setdefault(name, []).append((time.perf_counter() - start) / again)
    return times


def draw(rows: list[tuple[int, str, list[float]]], path: Path) -> None:
    """Draw the multiples over the number of weights, on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "minigrad"
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 3.6))
    for name in ("forward mode", "reverse mode"):
        points = [(number, quarters) for number, title, quarters in rows if title == name]
        numbers = [number for number, _ in points]
        low, middle, high = zip(*(quarters for _, quarters in points), strict=True)
        line = axis.plot(numbers, middle, marker="o", label=name)[0]
        axis.fill_between(numbers, low, high, color=line.get_color(), alpha=0.25, linewidth=0)
    axis.set(
        xscale="log", yscale="log", xlabel="number of inputs (weights)",
        ylabel="time, function = 1", title="The gradient of one number",
    )  # fmt: skip
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = _options.parser(__doc__ or "", seconds=3, threads=1)
    parser.add_argument("--figure", type=Path, help="write the figure to this SVG file")
    options: argparse.Namespace = _options.read(parser)
    import numpy as np

    rows: list[tuple[int, str, list[float]]] = []
    print(f"{'weights':>8} {'forward mode':>24} {'reverse mode':>24}   (function = 1)")
    for width in WIDTHS[:2] if options.quick else WIDTHS:
        times = measure(width, options.seconds, options.least)
        base = np.median(times["function"])
        shown = []
        for name in ("forward mode", "reverse mode"):
            quarters = [float(q / base) for q in np.quantile(times[name], (0.25, 0.5, 0.75))]
            rows.append((width * width, name, quarters))
            shown.append(f"{quarters[1]:,.1f} ({quarters[0]:,.1f} to {quarters[2]:,.1f})")
        print(f"{width * width:8,} {shown[0]:>24} {shown[1]:>24}", flush=True)
    if options.figure:
        draw(rows, options.figure)
        print(f"figure: {options.figure}")


if __name__ == "__main__":
    main()
