"""A line search for a step size that satisfies the strong Wolfe conditions.

Source: Nocedal and Wright, "Numerical optimization", 2006, chapter 3.5; the interpolation and its
safeguards as in minFunc (Schmidt, 2005) and PyTorch.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

DECREASE = 1e-4
"""Sufficient decrease: the loss falls by at least this fraction of the linear prediction."""
CURVATURE = 0.9
"""Curvature: the slope shrinks to at most this fraction of the first slope."""


class Point(NamedTuple):
    """A point on the line: the step size, the loss, its gradient, and its slope along the line."""

    t: float
    loss: float
    grad: np.ndarray
    slope: float


def search(
    at: Callable[[float], Point], start: Point, t: float, scale: float, least_change: float,
    most_tries: int,
) -> tuple[Point, int]:  # fmt: skip
    """Find a step size from a point of negative slope; `t` is the first to try.

    It stops after `most_tries` points, or if no parameter would change by more than `least_change`;
    `scale` is the largest element of the direction. It returns the point, and the number of points
    evaluated. If no point satisfies the conditions, it is the lower end of the last interval.
    """

    def too_high(point: Point) -> bool:
        return not point.loss <= start.loss + DECREASE * point.t * start.slope  # also for NaN

    def is_flat(point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * start.slope

    # Increase the step size until a minimum lies between two points.
    before, point, tries = start, at(t), 0
    while tries < most_tries:
        if too_high(point) or (tries > 1 and point.loss >= before.loss):
            break
        if is_flat(point):
            return point, tries + 1
        if point.slope >= 0:
            break
        bounds = point.t + 0.01 * (point.t - before.t), 10 * point.t
        before, point = point, at(_lowest(before, point, bounds))
        tries += 1
    else:
        before = start

    # Shrink the interval.
    low, high = _in_order(before, point)
    cautious = False
    while tries < most_tries and abs(high.t - low.t) * scale >= least_change:
        left, right = sorted((low.t, high.t))
        t, margin = _lowest(low, high, (left, right)), 0.1 * (right - left)
        near = min(right - t, t - left) < margin
        if near and (cautious or t >= right or t <= left):
            t = right - margin if right - t < t - left else left + margin
            near = False
        cautious = near
        new = at(t)
        tries += 1
        if too_high(new) or new.loss >= low.loss:
            high = new
            low, high = _in_order(low, high)
        else:
            if is_flat(new):
                return new, tries + 1
            if new.slope * (high.t - low.t) >= 0:
                high = low
            low = new
    return low, tries + 1


def _in_order(a: Point, b: Point) -> tuple[Point, Point]:
    """The point with the smaller loss first; NaN counts as the largest."""
    return (b, a) if b.loss < a.loss or a.loss != a.loss else (a, b)


def _lowest(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """The minimum, within bounds, of the cubic with the losses and slopes of two points."""
    a, b = sorted((a, b), key=lambda point: point.t)
    length = b.t - a.t
    mean = a.slope + b.slope + 3 * (a.loss - b.loss) / length if length else math.nan
    square = mean * mean - a.slope * b.slope
    if square >= 0:
        root = math.sqrt(square)
        bend = b.slope - a.slope + 2 * root
        t = b.t - length * (b.slope + root - mean) / bend if bend else math.nan
        if math.isfinite(t):
            return min(max(t, bounds[0]), bounds[1])
    return (bounds[0] + bounds[1]) / 2
