"""PyTorch under our names and keywords: the calls of `op_samples` run on `TORCH` too."""

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


def binary(name: str) -> Any:
    """A function of two tensors; a number becomes one."""

    def call(a: Any, b: Any) -> Any:
        like = a if torch.is_tensor(a) else b
        return getattr(torch, name)(*(torch.as_tensor(v, dtype=like.dtype) for v in (a, b)))

    return staticmethod(call)


def reduction(name: str, **defaults: Any) -> Any:
    """A function along axes."""

    def call(self: Any, x: Any, axis: Any = None, **options: Any) -> Any:
        return getattr(torch, name)(x, *self.dim(x, axis), **defaults | renamed(options))

    return call


def scan(name: str) -> Any:
    """A function along one axis, of all elements where none is given."""

    def call(_: Any, x: Any, axis: int | None = None) -> Any:
        return getattr(torch, name)(x.reshape(-1) if axis is None or not x.ndim else x, axis or 0)

    return call


KEYWORDS = {"axis": "dim", "keepdims": "keepdim", "ddof": "correction"}


def renamed(options: dict[str, Any]) -> dict[str, Any]:
    return {KEYWORDS.get(key, key): value for key, value in options.items()}


class Torch:
    """PyTorch under our names."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(torch, name)
        return lambda *args, **options: function(*map(array, args), **renamed(options))

    clone = staticmethod(lambda x: x * 1)
    negative = staticmethod(lambda x: -x)
    silu, relu = staticmethod(F.silu), staticmethod(F.relu)
    clip = staticmethod(lambda x, low=None, high=None: torch.clamp(x, low, high))
    gelu = staticmethod(lambda x, approximate="none": F.gelu(x, approximate=approximate))
    softplus = staticmethod(lambda x, beta=1.0: F.softplus(x, beta))
    cbrt = staticmethod(lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3))
    add = staticmethod(lambda a, b: a + array(b))
    subtract = staticmethod(lambda a, b: a - b)
    multiply = staticmethod(lambda a, b: a * array(b))
    divide = staticmethod(lambda a, b: a / b)
    power = staticmethod(lambda a, b: array(a) ** array(b))
    maximum, minimum, arctan2 = binary("maximum"), binary("minimum"), binary("arctan2")
    hypot, logaddexp, copysign = binary("hypot"), binary("logaddexp"), binary("copysign")

    def masked_fill(self, x: Any, mask: Any, value: Any) -> Any:
        if torch.is_tensor(value):
            value = value.reshape(())
        return torch.where(array(mask), value, x)

    # Reductions

    sum, mean, logsumexp = reduction("sum"), reduction("mean"), reduction("logsumexp")
    max, min = reduction("amax"), reduction("amin")
    var, std = reduction("var", correction=0), reduction("std", correction=0)

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

    @staticmethod
    def dim(x: Any, axis: Any) -> tuple[Any]:
        if isinstance(axis, tuple) and not axis:
            raise Elsewhere  # to PyTorch, no axes are all axes
        if axis is None:
            return (tuple(range(x.ndim)),)
        return (int(axis) if np.ndim(axis) == 0 else axis,)

    # Scans

    cumsum, cumprod = scan("cumsum"), scan("cumprod")

    def diff(self, x: Any, n: int = 1, axis: int = -1, **edges: Any) -> Any:
        if not all(map(torch.is_tensor, edges.values())):
            raise Elsewhere
        return torch.diff(x, n, axis, **edges)

    softmax = staticmethod(lambda x, axis=-1: torch.softmax(x, axis))
    log_softmax = staticmethod(lambda x, axis=-1: torch.log_softmax(x, axis))

    # Shapes

    def reshape(self, x: Any, shape: Any) -> Any:
        return torch.reshape(x, (shape,) if isinstance(shape, int) else shape)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else axes)

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return torch.squeeze(x) if axis is None else torch.squeeze(x, axis)

    def expand_dims(self, x: Any, axis: Any) -> Any:
        if isinstance(axis, tuple):
            raise Elsewhere
        return torch.unsqueeze(x, axis)

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

    expand = staticmethod(lambda x, *sizes: x.expand(*sizes))

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

    def scatter_add(self, x: Any, axis: int, index: Any, src: Any) -> Any:
        src = src[tuple(slice(n) for n in index.shape)]  # their gradient knows no longer ones
        return torch.scatter_add(array(x).to(src.dtype), axis, torch.as_tensor(index), src)

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

    # Products and fused ops

    linear = staticmethod(F.linear)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        dtype = next(o.dtype for o in operands if torch.is_tensor(o))
        return torch.einsum(subscripts, *[array(o).to(dtype) for o in operands])

    def dot(self, a: Any, b: Any) -> Any:
        if not a.ndim or not b.ndim:
            return a * b
        return torch.tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))

    outer = staticmethod(lambda a, b: torch.outer(a.reshape(-1), b.reshape(-1)))

    def tensordot(self, a: Any, b: Any, axes: Any) -> Any:
        pair = axes if isinstance(axes, int) else [np.atleast_1d(part).tolist() for part in axes]
        return torch.tensordot(a, b, pair)

    def layer_norm(
        self, x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
    ) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.layer_norm(x, x.shape[-ndim:], weight, bias, eps)

    def rms_norm(self, x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.rms_norm(x, x.shape[-ndim:], weight, eps)

    def cross_entropy(
        self,
        logits: Any,
        target: Any,
        weight: Any = None,
        *,
        ignore_index: Any = None,
        **options: Any,
    ) -> Any:
        weight = None if weight is None else array(weight).to(logits.dtype)
        options["ignore_index"] = -100 if ignore_index is None else ignore_index
        return F.cross_entropy(logits, torch.as_tensor(target), weight, **options)

    def attention_weights(
        self, query: Any, key: Any, bias: Any = None, keep: Any = None, *, causal: bool = False,
        scale: float | None = None,
    ) -> Any:  # fmt: skip
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        may = torch.as_tensor(True if keep is None else keep)
        if causal:
            may = may & torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if not may.any(-1).all():
            raise Elsewhere  # a row without keys is NaN there
        scores = torch.where(may, scores + (0 if bias is None else bias), -math.inf)
        return torch.softmax(scores, -1)


def repeats(shape: tuple[int, ...], index: Any) -> bool:
    places = np.arange(math.prod(shape)).reshape(shape)[index]
    return len(np.unique(places)) != places.size


TORCH = Torch()
