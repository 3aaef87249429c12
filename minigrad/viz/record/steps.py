"""What a drawing knows of a backward pass: one step for each rule that ran, in the engine's order.

Plain data, like the rest of the model: numbers and names, no arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

__all__ = ["Part", "Step", "Summary", "norm", "summary"]

IN_FULL = 64
"""Arrays of up to this many elements are kept whole."""

MARGIN = 16.0
"""How often the estimate of an error may be exceeded: it comes from one choice of signs."""


@dataclass(frozen=True, slots=True)
class Summary:
    """An array in a few numbers.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
        norm: The root of the sum of the squares of what is finite.
        low: The smallest finite number, 0 if there is none.
        high: The largest.
        mean: The mean of what is finite.
        nans: How many elements are NaN.
        infs: How many are infinite.
        values: All elements in order, if they are few and finite; None otherwise.
        cancelled: Whether it is zero up to rounding: its terms cancel, and rounding leaves this.

    Example:
        >>> import numpy as np
        >>> from minigrad.viz.record.steps import summary
        >>> summary(np.array([3.0, 4.0])).norm
        5.0
    """

    shape: tuple[int, ...]
    dtype: str
    norm: float
    low: float
    high: float
    mean: float
    nans: int = 0
    infs: int = 0
    values: tuple[float, ...] | None = None
    cancelled: bool = False

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """Read what `dataclasses.asdict` made."""
        values = None if row["values"] is None else tuple(row["values"])
        return cls(**{**row, "shape": tuple(row["shape"]), "values": values})

    def remarks(self) -> list[str]:
        """What the norm does not tell: how many elements it leaves out, and whether it is zero.

        Returns:
            Such as ``["2 NaN", "1 inf"]``.
        """
        counts = ((self.nans, "NaN"), (self.infs, "inf"))
        found = [f"{count} {name}" for count, name in counts if count]
        return found + ["zero up to rounding"] * self.cancelled


def summary(array: np.ndarray, error: float = 0.0) -> Summary:
    """Sum an array up.

    Args:
        array: Any array of numbers.
        error: By how much rounding may have changed it, as a norm.

    Returns:
        A few numbers about it.

    Example:
        >>> import numpy as np
        >>> from minigrad.viz.record.steps import summary
        >>> found = summary(np.array([1.0, np.nan, -np.inf]))
        >>> found.norm, found.nans, found.infs, found.values
        (1.0, 1, 1, None)
    """
    exact = np.asarray(array, dtype=np.float64)
    finite = exact[np.isfinite(exact)]
    nans = int(np.isnan(exact).sum())
    low, high, mean = (
        (float(finite.min()), float(finite.max()), float(finite.mean()))
        if finite.size
        else (0.0, 0.0, 0.0)
    )
    whole = finite.size == exact.size
    size = norm(finite)
    return Summary(
        array.shape,
        array.dtype.name,
        size,
        low,
        high,
        mean,
        nans,
        exact.size - finite.size - nans,
        tuple(exact.ravel().tolist()) if whole and exact.size <= IN_FULL else None,
        whole and 0 < size <= MARGIN * error < np.inf,
    )


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
        raw_shape: Its shape before un-broadcasting: another one if the argument was broadcast.
        arrival: Which of the contributions to its target this is, from 1.
        arrivals: How many contributions the target gets in this pass.
        check: How far this part is from a finite difference of the op itself, relatively; None if
            that was not computed.
        unchecked: Why it was not.
        total: What has come to the target so far, this included; None if this is the first.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
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

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """Read what `dataclasses.asdict` made."""
        sent, raw = Summary.from_row(row["sent"]), tuple(row["raw_shape"])
        total = None if row.get("total") is None else Summary.from_row(row["total"])
        return cls(**{**row, "sent": sent, "raw_shape": raw, "total": total})


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that ran: a cotangent comes in, and one goes out to each argument.

    Attributes:
        node: The id of the op: a node, or the group of a fused op's meaning.
        op: The name of the op.
        cotangent: What came: the full gradient of the op's output.
        parts: What was sent on.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> with viz.trace() as traced:
        ...     (x * x).sum().backward()
        >>> [(step.op, [part.name for part in step.parts]) for step in traced.graph().steps]
        [('sum', ['x']), ('multiply', ['a', 'b'])]
    """

    node: str
    op: str
    cotangent: Summary
    parts: tuple[Part, ...]

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """Read what `dataclasses.asdict` made."""
        parts = tuple(Part.from_row(part) for part in row["parts"])
        return cls(row["node"], row["op"], Summary.from_row(row["cotangent"]), parts)
