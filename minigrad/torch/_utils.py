"""`torch._utils`: several tensors as one, which programs send between processes."""

from collections.abc import Sequence
from typing import Any

from minigrad.tensors.functions import cat


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """One tensor with the elements of all."""
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of such a tensor, in the shapes of others."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple([part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True)])
