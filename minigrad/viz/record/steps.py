"""The steps of a backward pass, one for each rule that runs, as plain data.

A plan of a pass has the same steps as a pass that ran, without numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np

__all__ = ["Given", "Part", "Step", "Summary", "norm", "number_arrivals", "summary"]

IN_FULL = 64
"""The most elements of an array of which all values are kept."""

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
        nans: How many elements are NaN.
        infs: How many are infinite.
        values: All elements in order, if there are at most 64 and all are finite; None otherwise.
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
    nans: int = 0
    infs: int = 0
    values: tuple[float, ...] | None = None
    cancelled: bool = False

    def remarks(self) -> list[str]:
        """What the norm does not tell, such as ``["2 NaN", "1 inf"]``."""
        counts = ((self.nans, "NaN"), (self.infs, "inf"))
        found = [f"{count} {name}" for count, name in counts if count]
        return found + ["zero up to rounding"] * self.cancelled


def summary(array: np.ndarray, error: float = 0.0) -> Summary:
    """Summarize an array; `error` estimates the norm of its rounding error."""
    exact = np.asarray(array, dtype=np.float64)
    finite = exact[np.isfinite(exact)]
    nans = int(np.isnan(exact).sum())
    whole, size = finite.size == exact.size, norm(finite)
    known = finite if finite.size else np.zeros(1)
    return Summary(
        array.shape, array.dtype.name, size,
        float(known.min()), float(known.max()), float(known.mean()),
        nans, exact.size - finite.size - nans,
        tuple(exact.ravel().tolist()) if whole and exact.size <= IN_FULL else None,
        whole and 0 < size <= MARGIN * error < np.inf,
    )  # fmt: skip


def norm(array: np.ndarray) -> float:
    """The root of the sum of the squares, in float64."""
    return float(np.sqrt(np.square(array, dtype=np.float64).sum()))


@dataclass(frozen=True, slots=True)
class Part:
    """What a step sends to one argument.

    Attributes:
        target: The id of the node (or fused group) that the argument came from.
        slot: Which argument it is.
        name: What the op calls it.
        sent: The cotangent, in the shape of the argument.
        raw_shape: Its shape before un-broadcasting: different if the argument was broadcast.
        arrival: Which of the contributions to its target this is, from 1.
        arrivals: How many contributions the target gets in this pass.
        check: The relative difference between this part and a finite difference of the op itself;
            None if that was not computed.
        unchecked: Why it was not; empty in a plan.
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
    total: Summary | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """What a rule could read when it ran, and what it sent: copies, for later changes to leave.

    Attributes:
        values: By name: the arguments, their shapes, ``out``, what else was saved, and ``g``.
        sent: What each argument was sent, by the name of the argument.
    """

    values: dict[str, Any]
    sent: dict[str, np.ndarray]

    def __deepcopy__(self, memo: dict[int, Any]) -> Given:
        return self


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that ran: from the cotangent of the output to those of the arguments.

    Attributes:
        node: The id of the op: a node, or the group of a fused op's decomposition.
        op: The name of the op.
        cotangent: The full gradient of the op's output.
        parts: What is sent to each argument.
        given: What the rule read; None in a plan, for large arrays, and in a graph from JSON.

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
    given: Given | None = field(default=None, compare=False, repr=False)


def number_arrivals(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Number the contributions to each target of a pass."""
    steps = tuple(steps)
    arrivals = Counter(part.target for step in steps for part in step.parts)
    seen: Counter[str] = Counter()

    def numbered(part: Part) -> Part:
        seen[part.target] += 1
        return replace(part, arrival=seen[part.target], arrivals=arrivals[part.target])

    return tuple(replace(step, parts=tuple(map(numbered, step.parts))) for step in steps)
