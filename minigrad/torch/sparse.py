"""`torch.sparse`: tensors are dense, and so is what makes a sparse one in PyTorch."""

from __future__ import annotations

from typing import Any

import minigrad.torch as torch  # noqa: F401 - programs write torch.sparse.torch.eye(10)
from minigrad.tensors.names import Tensor, as_tensor, mm, zeros

__all__ = ["DoubleTensor", "FloatTensor", "LongTensor", "mm", "sparse_coo_tensor"]


def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = "cpu",
    requires_grad: bool = False, check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:  # fmt: skip
    """A dense tensor with values at the columns of `indices`; values at one place are added."""
    places, numbers = as_tensor(indices).long(), as_tensor(values, dtype=dtype, device=device)
    if (places < 0).any():
        raise ValueError("sparse_coo_tensor: indices must be at least 0")
    shape = (*(places.max(1).values + 1).tolist(), *numbers.shape[1:]) if size is None else size
    start = zeros(tuple(shape), dtype=numbers.dtype)
    made = start.index_put(tuple(places), numbers, accumulate=True)
    return made.requires_grad_() if requires_grad else made


FloatTensor = DoubleTensor = LongTensor = sparse_coo_tensor
