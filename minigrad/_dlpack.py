"""DLPack: tensors of other libraries become ours, and ours theirs.

Memory is never shared, in either direction. What another library writes, no clock of ours stamps:
a value that the graph has saved could change unseen, and a gradient be wrong. DLPack can mark
memory as read-only, but PyTorch has no read-only tensors and writes to it all the same.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from minigrad._creation import made
from minigrad._dtypes import to_array
from minigrad._typing import Tensor

__all__ = ["from_dlpack"]


def from_dlpack(
    x: Any, *, device: Literal["cpu"] | None = None, copy: bool | None = None
) -> Tensor:
    """Make a tensor of another library's, always copying.

    Args:
        x: A tensor with ``__dlpack__``: of PyTorch, JAX, CuPy, NumPy, ... It holds bools, integers
            or floats of at most 64 bits.
        device: "cpu" to ask the other library for a transfer, if it can do one.
        copy: None or True.

    Returns:
        A leaf of the same shape and dtype that does not require grad.

    Raises:
        BufferError: The other library does not hand the tensor out, because it requires a
            gradient; the tensor is not on the CPU, or of a dtype that NumPy lacks; `copy` is False.
        TypeError: `x` has no ``__dlpack__``, or holds complex numbers.

    Example:
        >>> import minigrad, numpy
        >>> minigrad.from_dlpack(numpy.arange(3.0))
        Tensor([0., 1., 2.], dtype=float64)
    """
    if copy is False:
        raise BufferError("from_dlpack: a tensor's memory is its own, copy=False is not possible")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: a tensor with __dlpack__ expected, got {type(x).__name__}")
    try:
        array = np.from_dlpack(x) if device is None else np.from_dlpack(x, device=device)
    except RuntimeError as error:  # NumPy's word for a dtype or a device that it does not know
        raise BufferError(
            f"from_dlpack: bools, integers and floats of at most 64 bits in the memory of the CPU "
            f"are taken: {error}"
        ) from None
    return made(to_array(array, name="from_dlpack"), False)


def to_dlpack(
    tensor: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A copy of the values as a DLPack capsule, for ``from_dlpack`` of another library to take."""
    if tensor.requires_grad:
        raise BufferError(
            "__dlpack__: this tensor requires grad, which other libraries cannot know; pass "
            ".detach()"
        )
    if copy is False:
        raise BufferError(
            "__dlpack__: a tensor's memory is not shared, copy=False is not possible; .numpy() is "
            "a read-only view"
        )
    asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device}
    given = {name: value for name, value in asked.items() if value is not None}
    return tensor._data.copy().__dlpack__(**given)
