"""How a training goes: curves of the loss and of each layer, and histograms, while it runs."""

from __future__ import annotations

import builtins
import math
import warnings
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Self

import numpy as np

from minigrad.autograd.mode import state
from minigrad.autograd.node import Variable, data_of
from minigrad.debugging.tables import aligned
from minigrad.support.checks import check_size

BINS = 32

HISTOGRAMS, POINTS = 64, 256
"""The most steps of which histograms are kept, and the most points of a curve."""

PAUSE = 0.5
"""Between two live pictures, in seconds."""


@dataclass(frozen=True)
class Numbers:
    """The statistics of the elements of an array; of several calls in a step together."""

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
        good = array.astype(np.float64).ravel()
        finite = np.isfinite(good)
        good = good if finite.all() else good[finite]
        low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)
        scale = BINS / max(high - low, 1e-300)
        counts = np.bincount(((good - low) * scale).astype(np.intp), minlength=BINS + 1)
        counts[BINS - 1] += counts[BINS]  # the last bin has both of its ends
        return cls(
            array.size, array.size - good.size, float(good.sum()), float(good @ good), low, high,
            good.size - int(np.count_nonzero(good)), tuple(counts[:BINS].tolist()),
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


class Kept:
    """Which steps are kept: each `every`-th, and half as many whenever there are more than `most`.

    So the memory of a long training is bounded, and its later steps cost less and less.
    """

    def __init__(self, every: int, most: int) -> None:
        self._every, self._most = every, most

    def __contains__(self, step: int) -> bool:
        return step % self._every == 0

    def thin(self, step: int, all_series: Iterable[dict[int, Any]]) -> None:
        """Drop every second step of all series, if with this step there are too many."""
        if step // self._every < self._most:
            return
        self._every *= 2
        for series in all_series:
            for dropped in [old for old in series if old not in self]:
                del series[dropped]


class Statistics:
    """The statistics of a training, with one call of `step` in each step.

    It keeps curves: of the loss, of the learning rate, and for each layer of the norm of its
    weights, of their gradients and of their updates, and the share of its dead units: those whose
    weights get a gradient of 0 from the whole batch, as behind a ReLU that is never active. That
    is known of linear layers and convolutions. And it keeps histograms: of the activations, which
    are the outputs of all modules while ops are recorded, so that a validation under ``no_grad``
    is left out, and of the gradients, which are the ``.grad`` of all parameters.

    It holds no more than the weights of one step. In a long training every second step is dropped
    whenever there are more than 256 points or 64 histograms. `minigrad.viz.charts` shows a page.

    Args:
        model: The model.
        every: With 100, each hundredth step is kept; the others cost next to nothing.
        optimizer: Whose learning rates are kept.
        live: Whether a notebook, or the playground, shows the curves while the training runs. The
            picture is drawn anew every half second at most. Elsewhere nothing is shown.

    Attributes:
        curves: The curves by what they show: "loss", "learning rate", "weights", "gradients",
            "updates" or "dead units"; by layer (or parameter group), by step. An update is
            known at the next step.
        activations: The numbers of each kept step, by step, by the path of the module.
        gradients: The same of the gradients, by the path of the parameter.

    Raises:
        TypeError: The model is not a module, `every` not an int, or the optimizer not one.
        ValueError: `every` is less than 1.

    Example:
        >>> from minigrad import nn, optim, randn
        >>> from minigrad.debugging import Statistics
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> with Statistics(model, optimizer=optimizer, live=True) as statistics:
        ...     for _ in range(3):
        ...         loss = (model(randn(16, 4)) ** 2).mean()
        ...         optimizer.zero_grad()
        ...         loss.backward()
        ...         statistics.step(loss)
        ...         optimizer.step()
        >>> statistics.curves["loss"]["loss"][2] == loss.item()
        True
        >>> list(statistics.curves["updates"]), list(statistics.curves["updates"]["2"])
        (['0', '2'], [0, 1, 2])
        >>> list(statistics.activations), list(statistics.gradients["2.bias"])
        (['0', '1', '2'], [0, 1, 2])
    """

    def __init__(
        self, model: Any, every: int = 1, *, optimizer: Any = None, live: bool = False
    ) -> None:
        if not hasattr(model, "named_modules"):
            raise TypeError(f"Statistics: a module expected, got {type(model).__name__}")
        if hasattr(every, "param_groups"):
            raise TypeError(
                f"Statistics: every must be an int, got {type(every).__name__}; an optimizer is "
                f"given by name: optimizer="
            )
        if optimizer is not None and not hasattr(optimizer, "param_groups"):
            raise TypeError(f"Statistics: an optimizer expected, got {type(optimizer).__name__}")
        check_size("Statistics", "every", every)
        self._model, self._optimizer, self._steps = model, optimizer, 0
        self.curves: dict[str, dict[str, dict[int, float]]] = {}
        self.activations: dict[str, dict[int, Numbers]] = {}
        self.gradients: dict[str, dict[int, Numbers]] = {}
        self._points, self._histograms = Kept(every, POINTS), Kept(every, HISTOGRAMS)
        self._before: dict[str, list[tuple[Any, np.ndarray]]] = {}  # by layer: before their update
        self._live, self._picture, self._shown = live, None, -math.inf
        self._now: dict[str, Numbers] = {}  # what ran since the last step
        self._last: Any = lambda: None  # the output seen last, held weakly
        self._hooks = [
            module.register_forward_hook(partial(self._ran, path or type(module).__name__))
            for path, module in model.named_modules()
        ]

    def _ran(self, path: str, module: Any, _args: Any, output: Any) -> None:
        """A module returned: look at its output, of several the first."""
        while isinstance(output, tuple | list) and output:
            output = output[0]
        if self._steps not in self._histograms or not state.get().recording:
            return
        passed_on = output is self._last() and any(True for _ in module.children())
        if passed_on or not isinstance(output, Variable):
            return  # a container returns what its last child returned
        self._last = weakref.ref(output)
        if output._data.dtype.kind == "f":
            numbers, before = Numbers.of(output._data), self._now.get(path)
            self._now[path] = numbers if before is None else before + numbers

    def step(self, loss: Any = None) -> None:
        """Keep this step: call it after ``backward()``, before ``zero_grad()``.

        Args:
            loss: The loss of the step: a tensor of one element, or a number.

        Raises:
            RuntimeError: No parameter has a gradient.
            ValueError: The loss is not one number.
        """
        found = [(name, p) for name, p in self._model.named_parameters() if p.grad is not None]
        if not found:
            raise RuntimeError(
                "Statistics.step: no parameter has a gradient; call it after backward() and before "
                "zero_grad()"
            )
        value = np.asarray(data_of(loss))
        if loss is not None and (value.size != 1 or value.dtype.kind not in "fiu"):
            got = f"shape {tuple(value.shape)}" if value.size != 1 else type(loss).__name__
            raise ValueError(f"Statistics.step: loss must be one number, got {got}")
        self._add_updates()
        if self._steps in self._histograms:
            for path, numbers in self._now.items():
                self.activations.setdefault(path, {})[self._steps] = numbers
            for name, p in found:
                self.gradients.setdefault(name, {})[self._steps] = Numbers.of(p.grad._data)
            series = [kept for _, kind in self.series() for kept in kind.values()]
            self._histograms.thin(self._steps, series)
        if self._steps in self._points:
            if loss is not None:
                self._add("loss", "loss", value.item())
            groups = [] if self._optimizer is None else self._optimizer.param_groups
            for i, group in enumerate(groups):
                self._add("learning rate", f"group {i}", group["lr"])
            self._add_layers(found)
            curves = [curve for kind in self.curves.values() for curve in kind.values()]
            self._points.thin(self._steps, curves)
        self._now.clear()
        self._steps += 1
        if monotonic() - self._shown >= PAUSE:
            self._show()

    def _add(self, kind: str, name: str, value: float, back: int = 0) -> None:
        """A point of a curve: of this step, or of an earlier one."""
        self.curves.setdefault(kind, {}).setdefault(name, {})[self._steps - back] = float(value)

    def _add_layers(self, found: list[tuple[str, Any]]) -> None:
        """The norms and the dead units of all layers; a layer is what has parameters of its own."""
        layers: dict[str, list[Any]] = {}
        for name, p in found:
            layers.setdefault(name.rpartition(".")[0], []).append(p)
        modules = dict(self._model.named_modules())
        for path, owned in layers.items():
            module, name = modules.get(path), path or type(self._model).__name__
            self._add("weights", name, _norm(p._data for p in owned))
            self._add("gradients", name, _norm(p.grad._data for p in owned))
            self._before[name] = [(p, p._data.copy()) for p in owned]
            units = getattr(module, "out_features", getattr(module, "out_channels", None))
            weight = getattr(module, "weight", None)
            for p in owned:
                if weight is not None and p is weight and p._data.size and p.shape[0] == units:
                    alive = p.grad._data.reshape(units, -1).any(axis=1)
                    self._add("dead units", name, 1 - alive.mean())

    def _add_updates(self) -> None:
        """The distance that the weights moved since the step before, if that one was kept."""
        with np.errstate(invalid="ignore"):
            for name, owned in self._before.items():
                moved = _norm(p._data - before for p, before in owned)
                self._add("updates", name, moved, back=1)
        self._before.clear()

    def _show(self) -> None:
        """Show the curves, in place of those before: IPython and the playground have `display`."""
        display = getattr(builtins, "display", None)
        if not self._live or not self._steps or display is None:
            return
        try:
            if self._picture is None:
                self._picture = display(self, display_id=True)
            else:
                self._picture.update(self)
        except Exception as error:  # noqa: BLE001  # a training goes on without it
            self._live = False
            warnings.warn(f"Statistics: the live picture has ended: {error!r}", stacklevel=3)
        self._shown = monotonic()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from minigrad.viz.page.notebook import mimebundle

        return mimebundle(self)

    def __repr__(self) -> str:
        last = [
            f"{kind} {next(reversed(curve.values())):.3g}"
            for kind in ("loss", "learning rate")
            for curve in [*self.curves.get(kind, {}).values()][:1]
        ]
        return f"Statistics({', '.join([f'{self._steps} steps', *last])})"

    def series(self) -> tuple[tuple[str, dict[str, dict[int, Numbers]]], ...]:
        """Return the histograms, with their two names."""
        return ("activations", self.activations), ("gradients", self.gradients)

    def close(self) -> None:
        """Take the hooks from the model, and show the last picture; the statistics stay."""
        self._add_updates()
        for hook in self._hooks:
            hook.remove()
        self._show()

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


def _norm(arrays: Iterable[np.ndarray]) -> float:
    """The root of the sum of squares, of all together."""
    return float(sum(np.square(array, dtype=np.float64).sum() for array in arrays)) ** 0.5
