"""The steps of a backward pass, one for each rule that runs, as plain data.

A plan of a pass has the same steps as a pass that ran, without numbers.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np

IN_FULL = 4096
"""The most elements of a value or a gradient of which all are kept, unless asked for."""

ROOM = 60_000
"""The most elements of all arrays of a graph together; the largest arrays give way."""

SMALL = 64
"""Arrays of up to so many elements are always kept."""

FEW = 8
"""The number of elements that are kept of a larger array."""

MARGIN = 16.0
"""A norm up to this many times its estimated error counts as zero: the estimate is rough."""


@dataclass(frozen=True, slots=True)
class Summary:
    """An array in a few numbers. In a plan, which has no numbers, they are NaN.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        norm: The root of the sum of the squares of the finite elements.
        low: The smallest finite element, 0 if there is none.
        high: The largest.
        mean: The mean of the finite elements.
        deviation: Their standard deviation.
        nans: How many elements are NaN.
        infs: How many are infinite.
        data: The elements that are kept, in order, as bytes in base64.
        cancelled: Whether it is zero up to rounding: its terms cancel, and only rounding is left.

    Example:
        >>> import numpy as np
        >>> from minigrad.viz.record.steps import summary
        >>> summary(np.array([3.0, 4.0])).norm
        5.0
    """

    shape: tuple[int, ...]
    dtype: str
    norm: float = nan
    low: float = nan
    high: float = nan
    mean: float = nan
    deviation: float = nan
    nans: int = 0
    infs: int = 0
    data: str = field(default="", repr=False)
    cancelled: bool = False

    def entries(self) -> np.ndarray:
        """Return the elements that are kept, the first ones of the array, as a flat array."""
        return np.frombuffer(b64decode(self.data), self.dtype)

    def whole(self) -> bool:
        """Test whether all elements are kept."""
        return self.entries().size == math.prod(self.shape)

    def array(self) -> np.ndarray:
        """Return the whole array.

        Returns:
            An array of its shape and dtype.

        Raises:
            RuntimeError: Only a part is kept.
        """
        if not self.whole():
            size = math.prod(self.shape)
            raise RuntimeError(
                f"array: of the {size:,} elements only a part was kept; name the box, or the "
                "module around it, in viz.trace(values=[...]) or viz.explore(values=[...])"
            )
        return self.entries().reshape(self.shape)

    def scalar(self) -> float | None:
        """Return the one number of a scalar; None of anything else."""
        return None if self.shape or len(self.data) == 0 else self.entries().item()

    @property
    def is_zero(self) -> bool:
        """Whether all elements are zero, up to rounding."""
        return self.cancelled or (self.norm == 0 and not self.remarks())

    @property
    def values(self) -> tuple[float, ...] | None:
        """All elements in order, if they are kept and finite; None otherwise."""
        if self.nans or self.infs or not self.whole():
            return None
        return tuple(self.entries().astype(np.float64).tolist())

    def remarks(self) -> list[str]:
        """List what the norm does not tell, such as ``["2 NaN", "1 inf"]``."""
        counts = ((self.nans, "NaN"), (self.infs, "inf"))
        found = [f"{count} {name}" for count, name in counts if count]
        return found + ["zero up to rounding"] * self.cancelled

    def shortened(self) -> Summary:
        """Return the same with the first elements only, unless it is small."""
        array = self.array()
        return self if array.size <= SMALL else replace(self, data=_first(array))


def summary(array: np.ndarray, error: float = 0.0, whole: bool = False) -> Summary:
    """Summarize an array, with all elements or the first ones.

    `error` estimates the norm of its rounding error. `whole` keeps all elements, however many.
    """
    exact = np.asarray(array, dtype=np.float64)
    finite = exact[np.isfinite(exact)]
    nans = int(np.isnan(exact).sum())
    known = finite if finite.size else np.zeros(1)
    with np.errstate(all="ignore"):
        size, low, high = norm(finite), float(known.min()), float(known.max())
        mean, deviation = float(known.mean()), float(known.std())
    data = _encoded(array) if whole or array.size <= IN_FULL else _first(array)
    cancelled = finite.size == exact.size and 0 < size <= MARGIN * error < np.inf
    return Summary(
        array.shape, array.dtype.name, size, low, high, mean, deviation,
        nans, exact.size - finite.size - nans, data, cancelled,
    )  # fmt: skip


def _first(array: np.ndarray) -> str:
    """What is kept of an array that is not kept as a whole."""
    return _encoded(array.flat[:FEW])


def _encoded(array: np.ndarray) -> str:
    return b64encode(np.asarray(array).tobytes()).decode("ascii")


def largest_in_full(arrays: Iterable[Summary]) -> int:
    """The size up to which arrays are kept, so that all together are not too large.

    Equal arrays count once: a page holds them once.
    """
    room, largest = ROOM, SMALL
    different = {one.data: math.prod(one.shape) for one in arrays}
    for size, count in sorted(Counter(different.values()).items()):
        room -= size * count
        if room < 0:
            break
        largest = max(size, SMALL)
    return largest


def norm(array: np.ndarray) -> float:
    """The root of the sum of the squares, in float64."""
    return float(np.sqrt(np.square(array, dtype=np.float64).sum()))


@dataclass(frozen=True, slots=True)
class Part:
    """The gradient that a step sends to one argument.

    Attributes:
        target: The id of the node that the argument came from.
        slot: Which argument it is.
        name: What the op calls it.
        sent: The cotangent, in the shape of the argument.
        raw_shape: Its shape before un-broadcasting: different if the argument was broadcast.
        arrival: Which of the contributions to its target this is, from 1.
        arrivals: How many contributions the target gets in this pass.
        check: The relative difference between this part and a finite difference of the op itself;
            where nothing can be measured at the point, that of the rule beside it. None if that was
            not computed either.
        unchecked: Why nothing was measured at the point, such as a kink; empty in a plan.
        kink: The slopes on both sides along one direction, if the op has a kink here.
        total: The sum of the contributions to the target so far; None if this is the first.

    Example:
        >>> from minigrad import tensor, viz
        >>> x = tensor([1.0, 2.0], requires_grad=True)
        >>> with viz.trace() as traced:
        ...     (x * 3.0).sum().backward()
        >>> [part] = traced.graph(x=x).steps[1].parts
        >>> part.name, part.sent.values, f"{part.arrival} of {part.arrivals}"
        ('a', (3.0, 3.0), '1 of 1')
    """

    target: str
    slot: int
    name: str
    sent: Summary
    raw_shape: tuple[int, ...]
    arrival: int = 1
    arrivals: int = 1
    check: float | None = None
    unchecked: str = ""
    kink: tuple[float, float] | None = None
    total: Summary | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that ran: from the cotangent of the output to those of the arguments.

    Attributes:
        node: The id of the op.
        op: The name of the op.
        cotangent: The full gradient of the op's output.
        parts: The gradients that are sent to each argument.
        given: Copies of what the rule could read, by name; None for large arrays, and in a graph
            from JSON.
        run: Which backward pass it belongs to, from 1.
        rank: On which rank it ran, in a graph of `all_ranks`; None in any other.

    Example:
        >>> from minigrad import tensor, viz
        >>> x = tensor([1.0, 2.0], requires_grad=True)
        >>> with viz.trace() as traced:
        ...     (x * x).sum().backward()
        >>> [(step.op, [part.name for part in step.parts]) for step in traced.graph().steps]
        [('sum', ['x']), ('multiply', ['a', 'b'])]
    """

    node: str
    op: str
    cotangent: Summary
    parts: tuple[Part, ...]
    given: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    run: int = 1
    rank: int | None = None


def final_gradients(steps: Iterable[Step]) -> dict[str, Summary]:
    """The whole gradient of each box in the end, by its id."""
    found: dict[str, Summary] = {}
    for step in steps:
        found[step.node] = step.cotangent
        for part in step.parts:
            found[part.target] = part.total or part.sent
    return found


def number_arrivals(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Number the contributions to each target, in each pass by itself."""
    steps = tuple(steps)
    arrivals = Counter((step.run, part.target) for step in steps for part in step.parts)
    seen: Counter[tuple[int, str]] = Counter()

    def numbered(step: Step, part: Part) -> Part:
        key = (step.run, part.target)
        seen[key] += 1
        return replace(part, arrival=seen[key], arrivals=arrivals[key])

    return tuple(
        replace(step, parts=tuple(numbered(step, part) for part in step.parts)) for step in steps
    )
