"""DLPack: exchange tensors with other libraries, always by copying.

Memory is never shared, in either direction. The mutation check cannot see a write by another
library, so a saved value could change and a gradient be silently wrong. DLPack can mark memory as
read-only, but PyTorch has no read-only tensors and writes to it anyway.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.events import tell
from minigrad.autograd.typing import Tensor
from minigrad.support.checks import on_cpu

__all__ = ["from_dlpack"]

_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether NumPy knows DLPack 1.0: other devices, and memory that is read-only."""


def from_dlpack(
    x: Any, *, device: Literal["cpu"] | None = None, copy: bool | None = None
) -> Tensor:
    """Copy another library's tensor into a new tensor.

    Args:
        x: A tensor with ``__dlpack__`` (PyTorch, JAX, CuPy, NumPy, ...) of bools, integers or
            floats of at most 64 bits.
        device: "cpu" to ask the other library for a transfer, if it can do one; NumPy 2.0 cannot
            ask.
        copy: None or True.

    Returns:
        A leaf of the same shape and dtype that does not require grad.

    Raises:
        BufferError: The other library refuses because the tensor requires a gradient; the tensor is
            not on the CPU; NumPy lacks its dtype; or `copy` is False.
        TypeError: `x` has no ``__dlpack__``, or holds complex numbers.
        ValueError: `device` is another one.

    Example:
        >>> import minigrad, numpy
        >>> minigrad.from_dlpack(numpy.arange(3.0))
        tensor([0., 1., 2.], dtype=minigrad.float64)
    """
    if copy is False:
        raise BufferError("from_dlpack: memory is always copied, copy=False is not possible")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: a tensor with __dlpack__ expected, got {type(x).__name__}")
    on_cpu(device)
    options: dict[str, Any] = {"device": device} if device and _VERSIONED else {}
    try:  # NumPy 2.0 cannot export an array of its own that is read-only
        array = x if isinstance(x, np.ndarray) else np.from_dlpack(x, **options)
    except RuntimeError as error:  # an unknown dtype or device
        wanted = "bools, integers or floats of at most 64 bits in CPU memory"
        raise BufferError(f"from_dlpack: {wanted} expected: {error}") from None
    return leaf_of(to_array(array, name="from_dlpack"), False)


def to_dlpack(
    tensor: Tensor, *, stream: Any = None, max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None, copy: bool | None = None,
) -> Any:  # fmt: skip
    """Copy the values into a DLPack capsule, for another library's ``from_dlpack``."""
    if tensor.requires_grad:
        raise BufferError("__dlpack__: it requires grad, which would be lost; pass .detach()")
    if copy is False:
        raise BufferError("__dlpack__: memory is always copied, got copy=False; .numpy() shares it")
    if dl_device not in (None, tensor.__dlpack_device__()):
        raise BufferError(f"__dlpack__: the memory is the CPU's, device {dl_device} was asked for")
    options: dict[str, Any] = {"max_version": max_version} if max_version and _VERSIONED else {}
    tell("left", tensor, "another library")
    return tensor._data.copy().__dlpack__(stream=stream, **options)
