"""Functions of `lucid` that are not PyTorch's: other names, defaults, order or results.

Source: the signatures and docstrings of Lucid 3.8.

Example:
    >>> from minigrad import lucid
    >>> x = lucid.tensor([[3.0, 1.0], [0.0, 5.0]])
    >>> lucid.max(x, 1).tolist(), lucid.argmax(x).tolist()
    ([3.0, 5.0], [0, 1])
"""

from __future__ import annotations

from typing import Any

from minigrad import io, ops, random
from minigrad.lucid.absent import supported
from minigrad.lucid.spelling import renamed
from minigrad.nn import functional as F
from minigrad.support.checks import on_cpu
from minigrad.tensors import functions as base
from minigrad.tensors.creation import full
from minigrad.tensors.tensor import Tensor

__all__ = [
    "addcdiv", "addcmul", "argmax", "argmin", "bernoulli", "broadcast_to", "bucketize",
    "contiguous", "cov", "cummax", "cummin", "cumprod", "cumsum", "diagonal", "equal", "expand",
    "flatten", "gather", "kthvalue", "load_safetensors", "log_softmax", "max", "min", "pad",
    "repeat", "save_safetensors", "scatter", "searchsorted", "softmax", "sort", "std", "std_mean",
    "take", "tile", "transpose", "tril", "triu", "var", "var_mean", "view", "where",
]  # fmt: skip

max, min, equal = base.amax, base.amin, base.eq
contiguous, expand, view = Tensor.contiguous, Tensor.expand, Tensor.view
addcdiv = renamed(base.addcdiv, t1="tensor1", t2="tensor2")
addcmul = renamed(base.addcmul, t1="tensor1", t2="tensor2")
flatten = renamed(base.flatten, start_axis="start_dim", end_axis="end_dim")
searchsorted = renamed(base.searchsorted, sorted_seq="sorted_sequence", values="input")
take = renamed(base.take, indices="index")
tile = renamed(base.tile, reps="dims")
tril, triu = renamed(base.tril, k="diagonal"), renamed(base.triu, k="diagonal")
where = renamed(base.where, cond="condition", x="input", y="other")


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the places of the largest values, along the last axis if none is given."""
    return base.argmax(input, -1 if dim is None else dim, keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the places of the smallest values, along the last axis if none is given."""
    return base.argmin(input, -1 if dim is None else dim, keepdim)


def var(input: Any, dim: Any = None, keepdim: bool = False, **lost: Any) -> Tensor:
    """Compute the variance; the third argument is `keepdim`."""
    return base.var(input, dim, keepdim=keepdim, **lost)


def std(input: Any, dim: Any = None, keepdim: bool = False, **lost: Any) -> Tensor:
    """Compute the standard deviation; the third argument is `keepdim`."""
    return base.std(input, dim, keepdim=keepdim, **lost)


def var_mean(input: Any, dim: Any = None, correction: int = 1, keepdim: bool = False) -> Any:
    """Compute the variance and the mean; the third argument is `correction`."""
    return base.var_mean(input, dim, keepdim=keepdim, correction=correction)


def std_mean(input: Any, dim: Any = None, correction: int = 1, keepdim: bool = False) -> Any:
    """Compute the standard deviation and the mean; the third argument is `correction`."""
    return base.std_mean(input, dim, keepdim=keepdim, correction=correction)


def cumsum(input: Any, dim: int = -1) -> Tensor:
    """Compute sums of all values up to each one, along the last axis if none is given."""
    return base.cumsum(input, dim)


def cumprod(input: Any, dim: int = -1) -> Tensor:
    """Compute products of all values up to each one, along the last axis if none is given."""
    return base.cumprod(input, dim)


def cummax(input: Any, dim: int = -1) -> Tensor:
    """Find the largest of all values up to each one, without their places."""
    return base.cummax(input, dim)[0]


def cummin(input: Any, dim: int = -1) -> Tensor:
    """Find the smallest of all values up to each one, without their places."""
    return base.cummin(input, dim)[0]


def sort(input: Any, dim: int = -1) -> Tensor:
    """Sort values in ascending order, without their places: those are `argsort`."""
    return base.sort(input, dim)[0]


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Tensor:
    """Find the k-th smallest values, without their places."""
    return base.kthvalue(input, k, dim, keepdim)[0]


def gather(input: Any, indices: Any, dim: int = -1) -> Tensor:
    """Take values at indices along an axis: the indices come before the axis."""
    return base.gather(input, dim, indices)


def scatter(input: Any, dim: int, index: Any, src: Any, reduce: str | None = None) -> Tensor:
    """Write values at indices along an axis, or add them with ``reduce="add"``."""
    return base.scatter(input, dim, index, src, reduce=reduce)


def transpose(input: Any) -> Tensor:
    """Put the axes in reverse order; of two axes: `swapaxes`."""
    return base.permute(input, tuple(range(input.ndim))[::-1])


def diagonal(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Take the diagonals of the last two axes."""
    return base.diagonal(input, offset, dim1, dim2)


def broadcast_to(input: Any, shape: Any) -> Tensor:
    """Repeat along axes of length 1, until the tensor has a shape."""
    return ops.broadcast_to(input, shape)


def repeat(input: Any, repeats: Any, dim: int | None = None) -> Tensor:
    """Repeat each element, along the first axis if none is given."""
    return base.repeat_interleave(input, repeats, 0 if dim is None else dim)


def pad(input: Any, padding: Any, mode: Any = "constant", value: float = 0.0) -> Tensor:
    """Add elements at the ends of axes, the last axis first."""
    return F.pad(input, padding, mode, value if mode == "constant" else None)


def softmax(input: Any, dim: int | None = None) -> Tensor:
    """Compute the softmax, along the last axis if none is given."""
    return base.softmax(input, -1 if dim is None else dim)


def log_softmax(input: Any, dim: int | None = None) -> Tensor:
    """Compute the logarithm of the softmax, along the last axis if none is given."""
    return base.log_softmax(input, -1 if dim is None else dim)


def bucketize(values: Any, boundaries: Any, *, right: bool = False) -> Tensor:
    """Find the places of values in sorted boundaries, as `searchsorted`."""
    return base.searchsorted(boundaries, values, right=right)


def cov(input: Any, correction: int = 1) -> Tensor:
    """Compute the covariance matrix of rows."""
    return base.cov(input, correction=correction)


def bernoulli(p: Any, *, size: Any = None, generator: Any = None) -> Tensor:
    """Draw 1 with probability p, else 0; a number p needs a size."""
    return random.bernoulli(p if size is None else full(tuple(size), float(p)), generator=generator)


def save_safetensors(state_dict: Any, path: Any, *, metadata: Any = None) -> None:
    """Save a state dict to a file whose name ends in ".safetensors"."""
    supported("lucid.save_safetensors", {"metadata": metadata})
    io.save(state_dict, path)


def load_safetensors(path: Any, *, device: Any = "cpu") -> dict[str, Any]:
    """Load a state dict from a file whose name ends in ".safetensors"."""
    on_cpu(device)
    return dict(io.load(path))
