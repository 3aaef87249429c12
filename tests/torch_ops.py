"""PyTorch under our names and keywords: the calls of `checking.samples` run on `TORCH` too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional


def array(value: Any) -> Any:
    """NumPy's arrays as PyTorch's; anything else unchanged."""
    return torch.as_tensor(value.copy()) if isinstance(value, np.ndarray) else value


class Elsewhere(Exception):
    """PyTorch has no such call."""


class TorchLinalg:
    """torch.linalg under our names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.linalg, name)

    def det(self, a: Any) -> Any:
        if (torch.linalg.matrix_rank(a.detach()) < a.shape[-1]).any():
            raise Elsewhere  # its gradient is 0 there, which is wrong where one rank is missing
        return torch.linalg.det(a)

    def cond(self, x: Any, p: Any = None) -> Any:
        if p in (None, 2, -2):
            return torch.linalg.cond(x, p)
        # PyTorch 2.13 writes over what its own rule needs.
        return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)

    def solve(self, a: Any, b: Any) -> Any:
        # There, a vector b may also mean a stack of them.
        return torch.linalg.solve(a, b) if b.ndim > 1 else torch.linalg.solve(a, b[:, None])[..., 0]

    def lstsq(self, a: Any, b: Any) -> Any:
        columns = b if b.ndim > 1 else b[:, None]
        solution = torch.linalg.lstsq(a, columns, driver="gelsd").solution
        residuals = ((a @ solution - columns) ** 2).sum(0)
        return (solution if b.ndim > 1 else solution[:, 0]), residuals

    def norm(self, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.linalg.norm(x, ord, axis, keepdims)

    def vector_norm(self, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any) -> Any:
        return torch.linalg.vector_norm(x, ord, axis, keepdims)

    def matrix_norm(self, x: Any, *, keepdims: bool = False, ord: Any) -> Any:
        return torch.linalg.matrix_norm(x, ord, keepdim=keepdims)


class Torch:
    """PyTorch under our names."""

    linalg = TorchLinalg()

    def __getattr__(self, name: str) -> Any:
        function = getattr(torch, name)
        return lambda *args: function(*map(array, args))

    alias = clone = staticmethod(lambda x: x * 1)
    astype = staticmethod(lambda x, dtype: x.double())
    # Of the collectives, what they do on one rank.
    all_reduce = all_gather = reduce_scatter = staticmethod(lambda x, *_, **__: x * 1)
    broadcast = reduce_to_root = all_to_all = ppermute = all_reduce
    copy_to_parts = sum_of_parts = all_reduce
    ring_attention = staticmethod(lambda q, k, v: F.scaled_dot_product_attention(q, k, v))
    negative = staticmethod(lambda x: -x)
    silu, relu = staticmethod(F.silu), staticmethod(F.relu)
    clip = staticmethod(lambda x, low=None, high=None: torch.clamp(x, low, high))
    gelu = staticmethod(lambda x, approximate="none": F.gelu(x, approximate=approximate))

    softplus = staticmethod(lambda x, beta=1.0: F.softplus(x, beta))
    hardtanh = staticmethod(lambda x, low=-1.0, high=1.0: F.hardtanh(x, low, high))
    cbrt = staticmethod(lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3))
    round = staticmethod(lambda x, decimals=0: torch.round(x, decimals=decimals))

    @staticmethod
    def binary(name: str, a: Any, b: Any) -> Any:
        like = a if torch.is_tensor(a) else b
        a, b = (v if torch.is_tensor(v) else torch.as_tensor(v, dtype=like.dtype) for v in (a, b))
        return getattr(torch, name)(a, b)

    def add(self, a: Any, b: Any) -> Any:
        return a + array(b)

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * array(b)

    def divide(self, a: Any, b: Any) -> Any:
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return array(a) ** array(b)

    def maximum(self, a: Any, b: Any) -> Any:
        return self.binary("maximum", a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return self.binary("minimum", a, b)

    def arctan2(self, a: Any, b: Any) -> Any:
        return self.binary("arctan2", a, b)

    def hypot(self, a: Any, b: Any) -> Any:
        return self.binary("hypot", a, b)

    def logaddexp(self, a: Any, b: Any) -> Any:
        return self.binary("logaddexp", a, b)

    def xlogy(self, a: Any, b: Any) -> Any:
        return self.binary("xlogy", a, b)

    def xlog1py(self, a: Any, b: Any) -> Any:
        return self.binary("xlogy", a, 1 + b)

    entr = staticmethod(torch.special.entr)
    clamped_log = staticmethod(torch.log)

    def fmax(self, a: Any, b: Any) -> Any:
        return self.binary("fmax", a, b)

    def fmin(self, a: Any, b: Any) -> Any:
        return self.binary("fmin", a, b)

    def fmod(self, a: Any, b: Any) -> Any:
        return self.binary("fmod", a, b)

    def nan_to_num(self, x: Any, **options: Any) -> Any:
        return torch.nan_to_num(x, **options)

    def copysign(self, a: Any, b: Any) -> Any:
        return self.binary("copysign", a, b)

    def remainder(self, a: Any, b: Any) -> Any:
        return self.binary("remainder", a, b)

    def floor_divide(self, a: Any, b: Any) -> Any:
        like = a if torch.is_tensor(a) else b
        a, b = (v if torch.is_tensor(v) else torch.as_tensor(v, dtype=like.dtype) for v in (a, b))
        return torch.div(a, b, rounding_mode="floor")  # floor_divide itself has no derivative there

    def where(self, condition: Any, *choices: Any) -> Any:
        return torch.where(torch.as_tensor(condition), *choices)

    def masked_select(self, x: Any, mask: Any) -> Any:
        return torch.masked_select(x, torch.as_tensor(mask))

    def masked_fill(self, x: Any, mask: Any, value: Any) -> Any:
        if torch.is_tensor(value):
            value = value.reshape(())
        return torch.where(array(mask), value, x)

    # Reductions

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.sum(x, *self.dim(x, axis), keepdim=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.mean(x, *self.dim(x, axis), keepdim=keepdims)

    def nansum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.nansum(x, *self.dim(x, axis), keepdim=keepdims)

    def nanmean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.nanmean(x, *self.dim(x, axis), keepdim=keepdims)

    def bincount(self, x: Any, weights: Any, minlength: int = 0) -> Any:
        n = max(minlength, int(x.max(initial=-1)) + 1)  # theirs has no derivative
        return torch.zeros(n, dtype=weights.dtype).index_add(0, torch.as_tensor(x), weights)

    def cdist(self, a: Any, b: Any, p: float) -> Any:
        return torch.cdist(a, b, float(p))

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.amax(x, *self.dim(x, axis), keepdim=keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.amin(x, *self.dim(x, axis), keepdim=keepdims)

    def var(self, x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        return torch.var(x, *self.dim(x, axis), correction=ddof, keepdim=keepdims)

    def std(self, x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        return torch.std(x, *self.dim(x, axis), correction=ddof, keepdim=keepdims)

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        (axes,) = self.dim(x, axis)
        if not x.ndim:
            return torch.prod(x)
        for a in sorted((a % x.ndim for a in np.atleast_1d(axes).tolist()), reverse=True):
            x = torch.prod(x, a, keepdim=keepdims)  # it takes one axis at a time
        return x

    def norm(self, x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
        if ord == 0:
            raise Elsewhere  # its count has no graph
        return torch.linalg.vector_norm(x, ord, *self.dim(x, axis), keepdim=keepdims)

    def logsumexp(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.logsumexp(x, *self.dim(x, axis), keepdim=keepdims)

    @staticmethod
    def dim(x: Any, axis: Any) -> tuple[Any]:
        if isinstance(axis, tuple) and not axis:
            raise Elsewhere  # to PyTorch, no axes are all axes
        return (
            tuple(range(x.ndim)) if axis is None else int(axis) if np.ndim(axis) == 0 else axis,
        )

    # Scans

    def cumsum(self, x: Any, axis: int | None = None) -> Any:
        return torch.cumsum(x.reshape(-1) if axis is None or not x.ndim else x, axis or 0)

    def cumprod(self, x: Any, axis: int | None = None) -> Any:
        return torch.cumprod(x.reshape(-1) if axis is None or not x.ndim else x, axis or 0)

    def logcumsumexp(self, x: Any, axis: int) -> Any:
        return torch.logcumsumexp(x, axis)

    def cummax(self, x: Any, axis: int) -> Any:
        return torch.cummax(x, axis)

    def cummin(self, x: Any, axis: int) -> Any:
        return torch.cummin(x, axis)

    def unfold(self, x: Any, axis: int, size: int, step: int) -> Any:
        return x.unfold(axis, size, step)

    def diff(self, x: Any, n: int = 1, axis: int = -1, **edges: Any) -> Any:
        if not all(map(torch.is_tensor, edges.values())):
            raise Elsewhere
        return torch.diff(x, n, axis, **edges)

    def softmax(self, x: Any, axis: int = -1) -> Any:
        return torch.softmax(x, axis)

    def log_softmax(self, x: Any, axis: int = -1) -> Any:
        return torch.log_softmax(x, axis)

    # Shapes

    def reshape(self, x: Any, shape: Any) -> Any:
        return torch.reshape(x, (shape,) if isinstance(shape, int) else shape)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else axes)

    def swapaxes(self, x: Any, axis1: int, axis2: int) -> Any:
        return torch.transpose(x, axis1, axis2)

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return torch.squeeze(x) if axis is None else torch.squeeze(x, axis)

    def expand_dims(self, x: Any, axis: Any) -> Any:
        if isinstance(axis, tuple):
            raise Elsewhere
        return torch.unsqueeze(x, axis)

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        return torch.broadcast_to(x, shape)

    def concatenate(self, tensors: Any, axis: int | None = 0) -> Any:
        dtype = next(t.dtype for t in tensors if torch.is_tensor(t))
        tensors = [array(t).to(dtype) for t in tensors]
        if axis is None:
            tensors, axis = [t.reshape(-1) for t in tensors], 0
        return torch.cat(tensors, axis)

    def stack(self, tensors: Any, axis: int = 0) -> Any:
        dtype = next(t.dtype for t in tensors if torch.is_tensor(t))
        return torch.stack([array(t).to(dtype) for t in tensors], axis)

    def split(self, x: Any, cuts: Any, axis: int = 0) -> Any:
        return torch.tensor_split(x, cuts, axis)

    array_split = split

    def expand(self, x: Any, *sizes: int) -> Any:
        return x.expand(*sizes)

    def broadcast_arrays(self, *tensors: Any) -> Any:
        return torch.broadcast_tensors(*tensors)

    def meshgrid(self, *tensors: Any, indexing: str) -> Any:
        return torch.meshgrid(*tensors, indexing=indexing)

    # Arranging

    def flip(self, x: Any, axis: Any = None) -> Any:
        axes = range(x.ndim) if axis is None else axis
        return torch.flip(x, tuple(axes) if np.ndim(axes) else (axes,))

    def roll(self, x: Any, shift: Any, axis: Any = None) -> Any:
        if axis is None:
            return torch.roll(x, shift)
        shifts, axes = np.broadcast_arrays(shift, axis)
        return torch.roll(x, tuple(shifts.ravel().tolist()), tuple(axes.ravel().tolist()))

    def repeat(self, x: Any, repeats: Any, axis: int | None = None) -> Any:
        return torch.repeat_interleave(x, torch.as_tensor(repeats), axis)

    def tile(self, x: Any, reps: Any) -> Any:
        return torch.tile(x, tuple(reps) if np.ndim(reps) else (reps,))

    def pad(self, x: Any, width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
        pairs = np.broadcast_to(width, (x.ndim, 2))
        last_first = pairs[::-1].ravel().tolist()
        if mode == "constant" and np.ndim(constant_values) == 0:
            return F.pad(x, last_first, value=constant_values)
        lengths = np.array(x.shape)[:, None]
        if x.ndim != 2 or mode in ("constant", "symmetric") or (pairs >= lengths).any():
            raise Elsewhere
        theirs = {"edge": "replicate", "reflect": "reflect", "wrap": "circular"}[mode]
        return F.pad(x[None, None], last_first, mode=theirs)[0, 0]

    # Indexing

    def getitem(self, x: Any, index: Any) -> Any:
        return x[self.index(index)]

    def setitem(self, x: Any, index: Any, value: Any) -> Any:
        if repeats(x.shape, index):
            raise Elsewhere  # which write wins is not defined there
        out = array(x).clone()
        if torch.is_tensor(value):
            out = out.to(value.dtype)
        out[self.index(index)] = value
        return out

    def index(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, slice) and (part.step or 1) < 0 for part in parts):
            raise Elsewhere
        listed = (np.ndarray, list, tuple, range)
        advanced = any(isinstance(part, listed) for part in parts)

        def converted(part: Any) -> Any:
            if advanced and type(part) is int:
                part = [part]  # beside an array, NumPy takes an int for an array too
            if not isinstance(part, (*listed, np.integer)):
                return part
            values = np.asarray(part)
            return torch.as_tensor(values.astype(bool if values.dtype == bool else np.int64))

        made = tuple(map(converted, parts))
        return made if isinstance(index, tuple) else made[0]

    def scatter_index(self, value: Any, index: Any, shape: Any) -> Any:
        zero = torch.zeros(shape, dtype=value.dtype)
        if (isinstance(index, np.ndarray) and index.dtype != bool) or isinstance(index, tuple):
            parts = self.index(index if isinstance(index, tuple) else (index,))
            return zero.index_put(parts, value, accumulate=True)
        zero[self.index(index)] = value
        return zero

    def nextafter(self, a: Any, b: Any) -> Any:
        raise Elsewhere  # it has no derivative there

    def take(self, x: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
        if mode != "raise":
            raise Elsewhere
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        places = np.asarray(indices) % (x.shape[axis] or 1)
        taken = torch.index_select(x, axis, torch.as_tensor(places.ravel()))
        return taken.unflatten(axis, places.shape) if places.ndim else taken.squeeze(axis)

    def take_along_axis(self, x: Any, indices: Any, axis: int | None = -1) -> Any:
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        return torch.take_along_dim(x, torch.as_tensor(indices % x.shape[axis]), axis)

    def put_along_axis(self, x: Any, indices: Any, values: Any, axis: int | None) -> None:
        numbers = np.arange(x.numel()).reshape(x.shape)
        places = np.take_along_axis(numbers, indices, axis)
        if repeats(x.shape, np.unravel_index(places, x.shape)):
            raise Elsewhere
        x.view(-1)[torch.as_tensor(places)] = values

    def scatter(self, x: Any, axis: int, index: Any, src: Any) -> Any:
        x = array(x).to(src.dtype) if torch.is_tensor(src) else array(x)
        if torch.is_tensor(src):
            if np.ndim(src):
                src = src[tuple(slice(n) for n in index.shape)]
            if repeats(x.shape, self.grid(index, axis)):
                raise Elsewhere  # all that is written to one place receives a gradient there
            src = src.broadcast_to(index.shape)
        return torch.scatter(x, axis, torch.as_tensor(index), src)

    def index_add(self, x: Any, axis: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
        return torch.index_add(x, axis, torch.as_tensor(index), source, alpha=alpha)

    def index_fill(self, x: Any, axis: int, index: Any, value: Any) -> Any:
        return torch.index_fill(x, axis, torch.as_tensor(index) % x.shape[axis], value)

    def scatter_reduce(
        self, x: Any, axis: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
    ) -> Any:
        src = src[tuple(slice(n) for n in index.shape)]  # their gradient knows no longer ones
        index = torch.as_tensor(index)
        return torch.scatter_reduce(x, axis, index, src, reduce, include_self=include_self)

    @staticmethod
    def grid(index: Any, axis: int) -> Any:
        places = list(np.indices(index.shape, sparse=True))
        places[axis] = index
        return tuple(places)

    def scatter_add(self, x: Any, axis: int, index: Any, src: Any) -> Any:
        src = src[tuple(slice(n) for n in index.shape)]  # their gradient knows no longer ones
        return torch.scatter_add(array(x).to(src.dtype), axis, torch.as_tensor(index), src)

    def nonzero(self, x: Any) -> Any:
        return torch.nonzero(torch.as_tensor(x), as_tuple=True)

    def sort(self, x: Any, axis: int | None = -1, descending: bool = False) -> Any:
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        return torch.sort(x, axis, descending)[0]

    def topk(
        self, x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
    ) -> Any:
        if not sorted:
            raise Elsewhere  # their order is not defined
        return torch.topk(x, k, axis, largest)

    def median(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if isinstance(axis, tuple) or not x.numel():
            raise Elsewhere
        return torch.quantile(x, 0.5, axis, keepdims)

    def quantile(
        self, x: Any, q: Any, axis: Any = None, keepdims: bool = False, method: str = "linear"
    ) -> Any:
        known = method in ("linear", "lower", "higher", "midpoint", "nearest")
        if isinstance(axis, tuple) or not x.numel() or not known:
            raise Elsewhere
        q = torch.as_tensor(q, dtype=x.dtype)
        return torch.quantile(x, q, axis, keepdims, interpolation=method)

    def histogram(self, *args: Any, **options: Any) -> Any:
        raise Elsewhere  # it has no derivative there

    def unique(self, *args: Any, **kwargs: Any) -> Any:
        raise Elsewhere  # it has no derivative there

    def embedding(self, ids: Any, weight: Any, padding_idx: int | None = None) -> Any:
        return F.embedding(torch.as_tensor(ids.astype(int)), weight, padding_idx)

    # Products and fused ops

    def matmul(self, a: Any, b: Any) -> Any:
        return torch.matmul(a, b)

    def linear(self, x: Any, weight: Any, bias: Any = None) -> Any:
        return F.linear(x, weight, bias)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        dtype = next(o.dtype for o in operands if torch.is_tensor(o))
        return torch.einsum(subscripts, *[array(o).to(dtype) for o in operands])

    def dot(self, a: Any, b: Any) -> Any:
        if not a.ndim or not b.ndim:
            return a * b
        return torch.tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))

    def outer(self, a: Any, b: Any) -> Any:
        return torch.outer(a.reshape(-1), b.reshape(-1))

    def vdot(self, a: Any, b: Any) -> Any:
        return torch.vdot(a.reshape(-1), b.reshape(-1))

    def vecdot(self, a: Any, b: Any, axis: int) -> Any:
        return torch.linalg.vecdot(a, b, dim=axis)

    def cross(self, a: Any, b: Any, axis: int) -> Any:
        return torch.linalg.cross(*torch.broadcast_tensors(a, b), dim=axis)

    def tensordot(self, a: Any, b: Any, axes: Any) -> Any:
        pair = axes if isinstance(axes, int) else [np.atleast_1d(part).tolist() for part in axes]
        return torch.tensordot(a, b, pair)

    def trace(self, x: Any, offset: int, axis1: int, axis2: int) -> Any:
        return torch.diagonal(x, offset, axis1, axis2).sum(-1)

    def scatter_diagonal(self, value: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
        zero = torch.zeros(shape, dtype=value.dtype)
        return torch.diagonal_scatter(zero, value, offset, axis1, axis2)

    def layer_norm(
        self, x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
    ) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.layer_norm(x, x.shape[-ndim:], weight, bias, eps)

    def group_norm(
        self, x: Any, weight: Any = None, bias: Any = None, *, groups: int, eps: float = 1e-5
    ) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.group_norm(x, groups, weight, bias, eps)

    def rms_norm(self, x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.rms_norm(x, x.shape[-ndim:], weight, eps)

    def cross_entropy(
        self,
        logits: Any,
        target: Any,
        weight: Any = None,
        *,
        reduction: str = "mean",
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
    ) -> Any:
        weight = None if weight is None else array(weight).to(logits.dtype)
        return F.cross_entropy(
            logits,
            torch.as_tensor(target),
            weight,
            reduction=reduction,
            ignore_index=-100 if ignore_index is None else ignore_index,
            label_smoothing=label_smoothing,
        )

    def attention_weights(
        self,
        query: Any,
        key: Any,
        bias: Any = None,
        keep: Any = None,
        *,
        causal: bool = False,
        scale: float | None = None,
    ) -> Any:
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        may = torch.as_tensor(True if keep is None else keep)
        if causal:
            may = may & torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if not may.any(-1).all():
            raise Elsewhere  # a row without keys is NaN there
        scores = torch.where(may, scores + (0 if bias is None else bias), -math.inf)
        return torch.softmax(scores, -1)

    def attention(
        self,
        query: Any,
        key: Any,
        value: Any,
        bias: Any = None,
        keep: Any = None,
        *,
        causal: bool = False,
        scale: float | None = None,
        dropout: float = 0.0,
        dropout_key: int | None = None,
    ) -> Any:
        may = torch.ones((query.shape[-2], key.shape[-2]), dtype=torch.bool)
        may = may.tril() if causal else may
        may = may if keep is None else may & torch.as_tensor(keep)
        if dropout or not may.any(-1).all():
            raise Elsewhere  # its random numbers are others; a row without keys is NaN there
        mask = torch.where(may, torch.zeros((), dtype=query.dtype), -math.inf)
        mask = mask if bias is None else mask + bias
        return F.scaled_dot_product_attention(query, key, value, mask, scale=scale)

    # Convolutions, pooling, batch normalisation, recurrences

    def convolution(
        self, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        widths = [width for pair in reversed(padding) for width in pair]
        convolve = (F.conv1d, F.conv2d, F.conv3d)[len(stride) - 1]
        return convolve(F.pad(x, widths), weight, bias, stride, 0, dilation, groups)

    def convolution_transpose(self, y: Any, weight: Any, size: Any, *rest: Any) -> Any:
        zero = y.new_zeros((len(y), weight.shape[1] * rest[3], *size), requires_grad=True)
        return transposed(self.convolution(zero, weight, None, *rest), zero, y)

    def convolution_weight(self, x: Any, y: Any, kernel: Any, *rest: Any) -> Any:
        shape = (y.shape[1], x.shape[1] // rest[3], *kernel)
        zero = x.new_zeros(shape, requires_grad=True)
        return transposed(self.convolution(x, zero, None, *rest), zero, y)

    def max_pool(self, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
        if not len(x):
            raise Elsewhere
        widths = [width for pair in reversed(padding) for width in pair]
        pool = F.max_pool1d if len(kernel) == 1 else F.max_pool2d
        return pool(F.pad(x, widths, value=-math.inf), kernel, stride, 0, dilation)

    def sum_pool(self, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
        ones = x.new_ones((x.shape[1], 1, *kernel))
        return self.convolution(x, ones, None, stride, padding, dilation, x.shape[1])

    def sum_parts(self, *args: Any) -> Any:
        raise Elsewhere

    def sum_pool_transpose(self, y: Any, size: Any, *window: Any) -> Any:
        zero = y.new_zeros((*y.shape[:2], *size), requires_grad=True)
        return transposed(self.sum_pool(zero, *window), zero, y)

    def batch_norm(self, x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
        if len(x) < 2:
            raise Elsewhere  # its mean of nothing is NaN, and one number is refused
        axes = (0, *range(2, x.ndim))
        out = F.batch_norm(x, None, None, weight, bias, training=True, eps=eps)
        return out, x.mean(axes), x.var(axes, correction=0)

    def lstm(self, gates: Any, weight: Any, h0: Any, c0: Any) -> Any:
        return self.steps(torch.lstm_cell, gates, weight, None, h0, c0)

    def gru(self, gates: Any, weight: Any, bias: Any, h0: Any) -> Any:
        return self.steps(torch.gru_cell, gates, weight, bias, h0)

    def rnn(self, gates: Any, weight: Any, h0: Any, nonlinearity: str = "tanh") -> Any:
        cell = torch.rnn_tanh_cell if nonlinearity == "tanh" else torch.rnn_relu_cell
        return self.steps(cell, gates, weight, None, h0)

    @staticmethod
    def steps(cell: Any, gates: Any, weight: Any, bias: Any, *states: Any) -> Any:
        """A cell step by step, the input of which is what it contributes to the gates."""
        if not gates.numel():
            raise Elsewhere
        itself, none = torch.eye(len(weight), dtype=gates.dtype), gates.new_zeros(len(weight))
        found, state = [], states if len(states) == 2 else states[0]
        for now in gates:
            state = cell(now, state, itself, weight, none, none if bias is None else bias)
            found.append(torch.stack(state) if len(states) == 2 else state)
        return torch.stack(found, 1 if len(states) == 2 else 0)

    def dropout(self, x: Any, p: float, key: int) -> Any:
        raise Elsewhere

    def rotate_pairs(self, *args: Any) -> Any:
        raise Elsewhere


def transposed(out: Any, zero: Any, g: Any) -> Any:
    """What goes back through a linear function, itself differentiable."""
    if not out.numel():
        raise Elsewhere  # nothing goes back
    return torch.autograd.grad(out, zero, g, create_graph=True)[0]


def repeats(shape: tuple[int, ...], index: Any) -> bool:
    places = np.arange(math.prod(shape)).reshape(shape)[index]
    return len(np.unique(places)) != places.size


TORCH = Torch()
