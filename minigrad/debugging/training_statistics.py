"""How activations and gradients change over a training: statistics and histograms, by layer."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time_ns
from typing import Any, Self

import numpy as np

from minigrad.autograd.mode import state
from minigrad.autograd.node import Variable
from minigrad.debugging.tables import aligned
from minigrad.support.checks import optional_package
from minigrad.support.files import folder_for

BINS = 32


@dataclass(frozen=True)
class Numbers:
    """What is kept of the elements of an array; of several calls in a step together."""

    count: int  # the number of elements
    bad: int  # how many of them are NaN or infinite. What follows is of the others
    total: float  # their sum
    squares: float  # the sum of their squares
    low: float  # the smallest
    high: float  # the largest
    zeros: int  # how many of them are 0, such as behind a ReLU
    histogram: tuple[float, ...]  # how many lie in each of 32 equal bins from `low` to `high`

    @classmethod
    def of(cls, array: np.ndarray) -> Self:
        """The numbers of an array."""
        good = array[np.isfinite(array)].astype(np.float64)
        low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
        histogram = np.histogram(good, BINS, (low, high))[0].tolist()
        return cls(
            array.size, array.size - good.size, float(good.sum()), float((good * good).sum()),
            low, high, int((good == 0).sum()), tuple(histogram),
        )  # fmt: skip

    @property
    def mean(self) -> float:
        """The mean."""
        return self.total / max(self.count - self.bad, 1)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return max(self.squares / max(self.count - self.bad, 1) - self.mean**2, 0.0) ** 0.5

    @property
    def norm(self) -> float:
        """The root of the sum of squares."""
        return self.squares**0.5

    def binned(self, low: float, high: float) -> np.ndarray:
        """The histogram in bins from `low` to `high`, as if the numbers lay evenly in each bin."""
        edges = np.linspace(self.low, self.high, BINS + 1)
        edges += np.arange(BINS + 1) * max(np.spacing(edges).max(), 1e-300)  # if all are one number
        below = np.interp(np.linspace(low, high, BINS + 1), edges, np.cumsum([0, *self.histogram]))
        below[-1] = sum(self.histogram) if high >= self.high else below[-1]
        counts: np.ndarray = np.diff(below)
        return counts

    def __add__(self, other: Numbers) -> Numbers:
        low, high = min(self.low, other.low), max(self.high, other.high)
        histogram = self.binned(low, high) + other.binned(low, high)
        return Numbers(
            self.count + other.count, self.bad + other.bad, self.total + other.total,
            self.squares + other.squares, low, high, self.zeros + other.zeros,
            tuple(histogram.tolist()),
        )  # fmt: skip


class Statistics:
    """Follows the activations and the gradients of a model: one call of `step` in each step.

    Activations are the outputs of all modules while ops are recorded, so a validation under
    ``no_grad`` is left out. Gradients are the ``.grad`` of all parameters when `step` is called.
    The statistics hold no array. `minigrad.viz.charts` shows them as a page.

    Args:
        model: The model.
        every: With 100, each hundredth step is kept; the others cost next to nothing.

    Attributes:
        activations: The numbers of each kept step, by step, by the path of the module.
        gradients: The same of the gradients, by the path of the parameter.

    Raises:
        ValueError: `every` is less than 1.

    Example:
        >>> from minigrad import nn, optim, randn
        >>> from minigrad.debugging import Statistics
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> with Statistics(model) as statistics:
        ...     for _ in range(3):
        ...         optimizer.zero_grad()
        ...         (model(randn(16, 4)) ** 2).mean().backward()
        ...         statistics.step()
        ...         optimizer.step()
        >>> list(statistics.activations), list(statistics.gradients["2.bias"])
        (['0', '1', '2'], [0, 1, 2])
        >>> statistics.activations["1"][0].low
        0.0
    """

    def __init__(self, model: Any, every: int = 1) -> None:
        if every < 1:
            raise ValueError(f"Statistics: every should be at least 1, not {every}")
        self._model, self._every, self._steps = model, every, 0
        self.activations: dict[str, dict[int, Numbers]] = {}
        self.gradients: dict[str, dict[int, Numbers]] = {}
        self._written: dict[str, int] = {}  # by folder, how many steps are there
        self._now: dict[str, Numbers] = {}  # what ran since the last step
        self._last: Any = lambda: None  # the output seen last, held weakly
        self._hooks = [
            module.register_forward_hook(partial(self._ran, path or type(module).__name__))
            for path, module in model.named_modules()
        ]

    def _ran(self, path: str, module: Any, args: Any, output: Any) -> None:
        """A module returned: look at its output, of several the first."""
        while isinstance(output, tuple | list) and output:
            output = output[0]
        if self._steps % self._every or not state.get().recording:
            return
        passed_on = output is self._last() and any(True for _ in module.children())
        if passed_on or not isinstance(output, Variable):
            return  # a container returns what its last child returned
        self._last = weakref.ref(output)
        if output._data.dtype.kind == "f":
            numbers, before = Numbers.of(output._data), self._now.get(path)
            self._now[path] = numbers if before is None else before + numbers

    def step(self) -> None:
        """Keep this step: call it after ``backward()``, before ``zero_grad()``.

        Raises:
            RuntimeError: No parameter has a gradient.
        """
        found = [
            (name, p.grad._data) for name, p in self._model.named_parameters() if p.grad is not None
        ]
        if not found:
            raise RuntimeError(
                "Statistics.step: no parameter has a gradient; call it after backward() and before "
                "zero_grad()"
            )
        if self._steps % self._every == 0:
            for path, numbers in self._now.items():
                self.activations.setdefault(path, {})[self._steps] = numbers
            for name, gradient in found:
                self.gradients.setdefault(name, {})[self._steps] = Numbers.of(gradient)
        self._now.clear()
        self._steps += 1

    def to_tensorboard(self, folder: str | os.PathLike[str]) -> None:
        """Write for TensorBoard the steps that an earlier call did not write to this folder.

        Args:
            folder: Where the events go, such as ``"runs/first"``; ``tensorboard --logdir runs``.

        Raises:
            ImportError: tensorboardX is not installed.
        """
        tensorboard = optional_package("to_tensorboard", "tensorboardX")
        key = str(folder_for(Path(os.path.abspath(folder))))
        # Its files are named by the second: a second file would take the place of the first.
        with tensorboard.SummaryWriter(key, filename_suffix=f".{time_ns()}") as writer:
            every = [
                (f"{kind}/{name}", step, numbers)
                for kind, series in self.series()
                for name, steps in series.items()
                for step, numbers in steps.items()
                if step >= self._written.get(key, 0)
            ]
            for tag, step, numbers in every:
                for what in ("mean", "deviation", "norm", "bad"):
                    writer.add_scalar(f"{tag}/{what}", getattr(numbers, what), step)
                limits = np.linspace(numbers.low, numbers.high, BINS + 1)[1:]
                writer.add_histogram_raw(
                    tag, numbers.low, numbers.high, numbers.count - numbers.bad, numbers.total,
                    numbers.squares, limits.tolist(), list(numbers.histogram), step,
                )  # fmt: skip
        self._written[key] = self._steps

    def series(self) -> tuple[tuple[str, dict[str, dict[int, Numbers]]], ...]:
        """What is kept, with its two names."""
        return ("activations", self.activations), ("gradients", self.gradients)

    def close(self) -> None:
        """Take the hooks from the model; what was kept stays."""
        for hook in self._hooks:
            hook.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __str__(self) -> str:
        head = ["", "step", "mean", "deviation", "min", "max", "zeros", "NaN, inf"]
        rows = []
        for kind, series in self.series():
            for name, steps in series.items():
                step, n = next(reversed(steps.items()))
                numbers = [f"{x:.3g}" for x in (n.mean, n.deviation, n.low, n.high)]
                share = f"{n.zeros / max(n.count, 1):.0%}"
                rows.append([f"{kind} {name}", str(step), *numbers, share, str(n.bad or "")])
        return aligned([head, *rows])
