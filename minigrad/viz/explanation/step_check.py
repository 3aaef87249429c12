"""Is what this step sent right: one finite difference of the op itself, at the values it had."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.call import call_path
from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import Primitive

__all__ = ["check_part"]

LARGEST = 100_000
"""No difference is taken of arrays with more elements: the drawing should not take minutes."""

STEP = 6e-6


def check_part(
    op: Primitive, arguments: Sequence[Any], slot: int, cotangents: Sequence[np.ndarray], sent: Any
) -> tuple[float | None, str]:
    """Compare what a step sent to one argument with a central difference in float64.

    Args:
        op: The op.
        arguments: What it was called with, in the order of its parameters.
        slot: The argument.
        cotangents: What came, an array for each output.
        sent: What was sent to the argument, in its shape.

    Returns:
        The relative error along one random direction, or None and the reason.
    """
    tensors = list(arguments[0]) if op.variadic else list(arguments)
    arrays = [v._data if isinstance(v, Variable) else v for v in tensors]
    if max((a.size for a in arrays if isinstance(a, np.ndarray)), default=0) > LARGEST:
        return None, f"more than {LARGEST:,} elements"
    exact = [a.astype(np.float64) if _is_float(a) else a for a in arrays]
    point = exact[slot]
    direction = np.random.default_rng(slot).standard_normal(point.shape)
    direction /= max(float(np.sqrt((direction * direction).sum())), 1e-300)
    run = call_path(op)

    def weighted(x: np.ndarray) -> float:
        now = [*exact[:slot], x, *exact[slot + 1 :]]
        result = op.call_with(run, [now, *arguments[1:]] if op.variadic else now)
        outputs = result if isinstance(result, tuple) else (result,)
        return sum(
            float((g.astype(np.float64) * y._data).sum())
            for g, y in zip(cotangents, outputs, strict=True)
        )

    step = STEP * max(1.0, float(np.sqrt((point * point).sum())))
    outer = state.get()
    try:
        state.set(State(False, None, ()))
        with np.errstate(all="ignore"):
            numeric = (weighted(point + step * direction) - weighted(point - step * direction)) / (
                2 * step
            )
    except (ArithmeticError, TypeError, ValueError) as error:
        return None, str(error)
    finally:
        state.set(outer)
    exact_sent = sent.astype(np.float64)
    analytic = float((exact_sent * direction).sum())
    typical = float(np.sqrt((exact_sent * exact_sent).sum() / max(sent.size, 1)))
    # Where the sum over a large cotangent cancels, what is left is rounding.
    came = float(np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in cotangents)))
    rounding = math.sqrt(np.finfo(sent.dtype).eps) * came
    scale = max(abs(analytic), abs(numeric), typical, rounding)
    relative = abs(analytic - numeric) / scale if scale else 0.0
    return (relative, "") if np.isfinite(relative) else (None, "the gradient is not finite")


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
