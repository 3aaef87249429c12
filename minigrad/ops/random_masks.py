"""Dropout by a key: a key always gives the same mask, with any number of threads."""

from __future__ import annotations

import math
from operator import index
from threading import local
from typing import Any

import numpy as np

from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import kept_only, within_rule
from minigrad.ops._parallel import in_passes

__all__ = ["dropout"]


STEPS = 1 << 16
"""The resolution of probabilities: 16 random bits for each element."""

APART = 0x9E3779B97F4A7C15F39CC0605CEDC835
"""How far apart consecutive keys are in the sequence of 2^128 numbers: 2^128 by the golden ratio.
Multiples of it are spread evenly, so the keys of a program share no numbers.
"""

_own = local()


def kept_rows(key: Any, start: int, rows: int, width: int, p: float) -> np.ndarray:
    """Which elements of some rows are kept: bools of shape (rows, width)."""
    dropped = round(p * STEPS)
    kept = draws(key, start, rows, width) >= min(dropped, STEPS - 1)
    return kept if dropped < STEPS else np.zeros_like(kept)


def draws(key: Any, start: int, rows: int, width: int) -> np.ndarray:
    """Random integers below `STEPS` for some rows, of shape (rows, width).

    They depend on the key and on the place of each element, with rows counted over all leading
    axes; not on how rows are grouped. All keys share one sequence of numbers, and its generator can
    jump to any place: a generator for each key would take longer to make than to use.

    Source: O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good
    algorithms for random number generation".
    """
    if not hasattr(_own, "sequence"):
        new = np.random.PCG64DXSM(0)
        _own.sequence = new, new.state
    sequence, first = _own.sequence
    words = -(-width // 4)  # each of 64 bits, which make four draws
    sequence.state = first
    sequence.advance(index(key) * APART + start * words)
    drawn: np.ndarray = sequence.random_raw(rows * words).view(np.uint16)
    return drawn.reshape(rows, 4 * words)[:, :width]


def dropout_factor(key: Any, shape: tuple[int, ...], p: float, dtype: Any) -> np.ndarray:
    """The factor of dropout: 0 with probability `p`, else ``1 / (1 - p)``.

    It depends on the arguments only.
    """
    width = shape[-1] if shape else 1
    kept = kept_rows(key, 0, math.prod(shape[:-1]), width, p).reshape(shape)
    return np.multiply(kept, 1 / (1 - p) if p < 1 else 0, dtype=dtype)


def uniform(key: int, shape: tuple[int, ...]) -> np.ndarray:
    """The draws of `dropout`, from 0 to 1: an element is dropped if its own is less than `p`."""
    width = shape[-1] if shape else 1
    return draws(key, 0, math.prod(shape[:-1]), width).reshape(shape) / STEPS


@primitive(arrays=1, float_inputs=True, random_keys=("key",))
def dropout(x: Any, p: float, key: int) -> Any:
    """Set elements to zero with probability `p` and scale the others by ``1 / (1 - p)``.

    `p` is rounded to a multiple of 2^-16. `key` is from ``minigrad.random.key()``; the same key
    drops the same elements.

    Source: Srivastava et al. 2014.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, got {p}")
    width = x.shape[-1] if x.ndim else 1
    rows = x.reshape(math.prod(x.shape[:-1]), width)
    out, factor = np.empty(rows.shape, x.dtype), 1 / (1 - p) if p < 1 else 0

    def work(start: int, stop: int) -> None:
        kept = kept_rows(key, start, stop - start, width, p)
        part = kept_only(rows[start:stop], kept, out[start:stop])
        part *= factor

    in_passes(len(rows), width, work)
    return out.reshape(x.shape)


dropout.defvjp(x=lambda g, p, key: within_rule(dropout, g, p, key))
dropout.defformula(
    "u = uniform(key, x_shape)  # a random number for each element, from 0 to 1",
    x="where(u >= p, g / (1 - p), 0)",
    out="where(u >= p, x / (1 - p), 0)",
)
