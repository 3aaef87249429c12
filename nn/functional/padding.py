"""Padding with PyTorch's arguments: the last axis first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from minigrad import ops
from minigrad.autograd.errors import type_error, value_error
from minigrad.nn.functional.framing import framed
from minigrad.tensors.tensor import Tensor

__all__ = ["pad"]

PadMode = Literal["constant", "reflect", "replicate", "circular"]

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""PyTorch's modes that repeat elements, and NumPy's."""


@framed
def pad(
    input: Tensor, pad: Sequence[int], mode: PadMode = "constant", value: float | None = None
) -> Tensor:
    """Put a border around the last axes, the last one first; `minigrad.pad` has NumPy's arguments.

    Args:
        input: A tensor with at least as many axes as are padded.
        pad: The widths (left, right), then (top, bottom) and so on: two for each axis, the last
            axis first. With "constant" a negative width removes elements.
        mode: "constant", "reflect" without and "replicate" with the edge, or "circular".
        value: The constant, 0 by default.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pad(tensor([[1.0, 2.0, 3.0]]), (2, 1), "reflect").tolist()
        [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]
    """
    widths = _widths(pad, input.shape)
    if mode not in ("constant", *MODES):
        known = ", ".join(["constant", *MODES])
        raise value_error(f"pad: mode must be one of {known}; got {mode!r}")
    if mode != "constant":
        if value:
            raise value_error(f'pad: a value is for mode="constant", got mode={mode!r}')
        for n, pair in zip(input.shape, widths, strict=True):
            most = {"reflect": n - 1, "circular": n}.get(mode, max(pair))
            if min(pair) < 0 or (max(pair) > most and any(pair)):
                raise value_error(
                    f"pad: mode={mode!r} cannot pad an axis of {n} elements by {pair}: "
                    f"widths from 0 to {max(most, 0)} expected"
                )
        return ops.pad(input, widths, MODES[mode])
    if any(n + sum(min(width, 0) for width in pair) < 0
           for n, pair in zip(input.shape, widths, strict=True)):  # fmt: skip
        raise value_error(f"pad: {pad} removes more than shape {tuple(input.shape)} has")
    if any(min(pair) < 0 for pair in widths):
        input = input[tuple(slice(max(-before, 0), n + min(after, 0)) for n, (before, after)
                              in zip(input.shape, widths, strict=True))]  # fmt: skip
        widths = [(max(before, 0), max(after, 0)) for before, after in widths]
    return ops.pad(input, widths, constant_values=0 if value is None else value)


def _widths(pad: Sequence[int], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """A pair (before, after) for each axis, the first axis first."""
    flat = list(pad) if isinstance(pad, Sequence) else [None]
    if not all(hasattr(width, "__index__") and not isinstance(width, bool) for width in flat):
        raise type_error(
            f"pad: ints (left, right, top, bottom, ...) expected, the last axis first, got "
            f"{pad!r}; minigrad.pad takes pairs, the first axis first"
        )
    if len(flat) % 2 or len(flat) > 2 * len(shape):
        raise value_error(
            f"pad: two widths for each of at most {len(shape)} axes expected, got {pad!r}"
        )
    pairs = [(int(flat[i]), int(flat[i + 1])) for i in range(0, len(flat), 2)]
    return [(0, 0)] * (len(shape) - len(pairs)) + pairs[::-1]
