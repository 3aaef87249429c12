"""Compare derivatives with finite differences: what is right, what is wrong, what nobody can tell.

An entry that differs may still be right. If a finer step agrees, the function has large curvature.
If it is not finite a step away, or raises an error, the point is at the border of its domain. If
the slopes from both sides settle and differ, it has a kink; if one of them grows without bound, it
jumps. If its differences do not settle, there is a pole nearby, or rounding is larger than the
derivative. Only what is left is wrong.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from minigrad.checking.finite_differences import Line, Probe

BETWEEN = 8
FINER = (1.0, 1 / BETWEEN, 1 / BETWEEN**2)
"""The steps that are tried, as factors of the step of an entry, and the factor between two."""

TOGETHER = "along this line its differences do not settle"

EXPLAINED = 0.1
"""The least part of an error that another cause must have to explain it."""

DECADES = 2
"""The entries of a gradient whose logarithms differ by less are checked together."""


@dataclass(frozen=True)
class Entry:
    """A derivative to compare: a line, and the derivative along it by the gradient."""

    where: str
    line: Line
    step: float
    analytic: float


@dataclass(frozen=True)
class Comparison:
    """An entry beside its difference.

    Attributes:
        entry: The entry.
        numeric: The difference that is closest to it.
        excess: The error divided by the allowed error: above 1 it differs.
        unmeasured: Why a difference tells nothing here; empty if it does.
        kink: The slopes from the left and from the right, if that is since they disagree.
    """

    entry: Entry
    numeric: float
    excess: float
    unmeasured: str = ""
    kink: tuple[float, float] | None = None

    @property
    def wrong(self) -> bool:
        """Whether the gradient is wrong: nothing else explains that it differs."""
        return self.excess > 1 and not self.unmeasured

    @property
    def error(self) -> float:
        """The difference of the two numbers."""
        return abs(self.entry.analytic - self.numeric)


def every_entry(probe: Probe, gradient: Sequence[np.ndarray]) -> Iterator[Entry]:
    """All elements of the tensors of a probe, one by one."""
    for k, tensor in enumerate(probe.tensors):
        for index in np.ndindex(tensor.shape):
            yield _element(probe, gradient, k, index)


def _element(probe: Probe, gradient: Sequence[np.ndarray], k: int, index: tuple[int, ...]) -> Entry:
    tensor = probe.tensors[k]
    direction = np.zeros(tensor.shape)
    direction[index] = 1.0
    where = f"{probe.names[k]} of shape {tuple(tensor.shape)} at index {index}"
    step = probe.step(abs(float(tensor._data[index])))
    return Entry(where, {k: direction}, step, float(gradient[k][index]))


def along_random_lines(
    probe: Probe, gradient: Sequence[np.ndarray], directions: int, seed: int
) -> Iterator[Entry]:
    """So many random directions through all tensors together."""
    step = probe.step(probe.norm())
    for i, line in enumerate(probe.random_lines(directions, seed)):
        yield _along(gradient, f"along random direction {i}", line, step)


def by_size(
    probe: Probe, gradient: Sequence[np.ndarray], seed: int, without: int | None = None
) -> Iterator[Entry]:
    """A random direction for the entries of each size: beside large ones small errors are lost.

    `without` is a row that is left out.
    """
    rng = np.random.default_rng([seed, 2])
    for k, (name, array) in enumerate(zip(probe.names, gradient, strict=True)):
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.floor(np.log10(np.abs(array)) / DECADES)
        signs = rng.choice((-1.0, 1.0), array.shape) * np.isfinite(probe.tensors[k]._data)
        if without is not None:
            signs[without] = 0
        for size in np.unique(sizes):
            part = signs * (sizes == size)
            if count := np.count_nonzero(part):
                where = f"{name} along a random direction of {count} entries of like size"
                largest = float(np.abs(probe.tensors[k]._data[part != 0]).max())
                yield _along(gradient, where, {k: part / np.sqrt(count)}, probe.step(largest))


def _along(gradient: Sequence[np.ndarray], where: str, line: Line, step: float) -> Entry:
    analytic = sum(float((gradient[k] * direction).sum()) for k, direction in line.items())
    return Entry(where, line, step, analytic)


def judged(probe: Probe, gradient: Sequence[np.ndarray], entry: Entry) -> Comparison:
    """Compare an entry; of one that differs, the element with the largest error is judged.

    The kinks of several elements may cancel, so that the slopes of both sides agree.
    """
    whole = compared(probe, entry)
    if whole.excess <= 1:
        return whole
    left = [(k, at) for k, line in entry.line.items() for at in np.flatnonzero(line).tolist()]
    while len(left) > 1:
        halves = left[: len(left) // 2], left[len(left) // 2 :]
        left = max(halves, key=lambda half: _error_along(probe, gradient, entry, half))
    ((k, at),) = left
    shape = probe.tensors[k].shape
    found = compared(
        probe, _element(probe, gradient, k, tuple(map(int, np.unravel_index(at, shape))))
    )
    return found if found.excess > 1 else replace(whole, unmeasured=whole.unmeasured or TOGETHER)


def _error_along(
    probe: Probe, gradient: Sequence[np.ndarray], entry: Entry, places: Sequence[tuple[int, int]]
) -> float:
    """The error along a line with zeros at all but some places."""
    line = {k: np.zeros(probe.tensors[k].shape) for k, _ in places}
    for k, at in places:
        line[k].flat[at] = entry.line[k].flat[at]
    analytic = _along(gradient, "", line, entry.step).analytic
    return abs(probe.central(line, entry.step) - analytic)


def compared(probe: Probe, entry: Entry) -> Comparison:
    """Compare an entry with differences, and find out why it differs if it does."""
    slopes: list[tuple[float, float]] = []
    found: list[float] = []
    best = Comparison(entry, np.nan, np.inf)
    probe.refusal = ""
    for finer in FINER:
        slopes.append(probe.along(entry.line, entry.step * finer))
        found.append(sum(slopes[-1]) / 2)
        candidates = [found[-1]]
        if len(found) > 1:  # without the part of the error that is quadratic in the step
            candidates.append(found[-1] + (found[-1] - found[-2]) / (BETWEEN**2 - 1))
        for numeric in candidates:
            error = abs(entry.analytic - numeric)
            allowed = probe.allowed(entry.analytic, numeric, entry.step * finer, finer)
            excess = error / allowed if allowed else np.inf if error else 0.0
            if excess < best.excess:
                best = Comparison(entry, numeric, excess)
            if best.excess <= 1:
                return best
    (right, left), error = slopes[0], min(abs(one - entry.analytic) for one in found)
    told, kink = _kink(slopes, probe, error)
    border = _not_finite(slopes, probe)
    why = border or told or _not_settled(found, probe, entry.step, error)
    sides = (left, right) if kink and not border else None
    return Comparison(entry, found[0], best.excess, why, sides)


def _not_finite(slopes: Sequence[tuple[float, float]], probe: Probe) -> str:
    """Why differences have no value; empty if they have."""
    if not np.isfinite(probe.at_point):
        return "its value is not finite"
    if not np.isfinite(slopes).all():
        what = f"the function raises {probe.refusal}" if probe.refusal else "it is not finite"
        return f"it is at the border of its domain: a step away {what}"
    return ""


def _kink(slopes: Sequence[tuple[float, float]], probe: Probe, error: float) -> tuple[str, bool]:
    """What the slopes of both sides say of an error, if they explain it.

    It is told whether the function has a kink or a jump here; beside a pole both slopes grow, too.
    """
    (right, left), (finest_right, finest_left) = slopes[0], slopes[-1]
    gap, finest = abs(right - left), abs(finest_right - finest_left)
    limits = probe.precision
    least = limits.atol + limits.rtol * max(abs(finest_right), abs(finest_left))
    if not finest > max(least, EXPLAINED * error):
        return "", False
    sides = [(right, finest_right), (left, finest_left)]
    if finest > 8 * gap:
        grown = [(one, other) for one, other in sides if abs(other) > 8 * abs(one) + least]
        one, other = max(grown or sides, key=lambda side: abs(side[1]))
        told = f"its slopes grow from {one:.4g} to {other:.4g} at a finer step"
        return (f"it jumps: {told}", True) if len(grown) == 1 else (told, False)
    if gap / 2 < finest < 2 * gap and all(abs(one - other) < finest / 2 for one, other in sides):
        return f"its slope is {left:.6g} from the left and {right:.6g} from the right", True
    return "", False


def _not_settled(found: Sequence[float], probe: Probe, step: float, error: float) -> str:
    """Why an error may be one of the differences; empty if two of them agree well enough."""
    if error <= probe.rounding(step):
        return "the rounding of its outputs is larger than the error"
    room = EXPLAINED * min(error, max(map(abs, found)))
    for (one, other), finer in zip(itertools.pairwise(found), FINER[1:], strict=True):
        if abs(one - other) <= room + probe.rounding(step * finer):
            return ""
    told = ", ".join(f"{one:.4g}" for one in found)
    return f"its differences do not settle: {told} at finer and finer steps"
