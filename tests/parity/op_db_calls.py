"""Our functions under the names of PyTorch's op database, with PyTorch's arguments.

A name means our function of that name unless `RENAMED` or `CALLS` has it. Keywords are
translated by `KEYWORDS`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import linalg, ops
from minigrad.nn import functional as F
from minigrad.ops.activation import hardtanh

__all__ = [
    "CALLS", "EXCUSED", "INVARIANT", "NOT_COMPARED", "REFUSED", "RENAMED", "Elsewhere", "call_of",
]  # fmt: skip


REDUCTIONS = ["all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "logsumexp",
              "mean", "nanmean", "nansum", "prod", "sum"]  # fmt: skip
POOLS = [
    f"nn.functional.{kind}_pool{n}d" for kind in ("adaptive_max", "avg", "max") for n in (1, 2)
]
CREATION = ["arange", "linspace", "linspace.tensor_overload", "empty_like", "zeros_like",
            "ones_like", "randn", "randint", "full_like", "ones", "zeros", "full", "empty",
            "eye"]  # fmt: skip
COMPOSED = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
            "hardswish", "huber_loss", "mish", "smooth_l1_loss"]  # fmt: skip


class Elsewhere(Exception):
    """We have no such call, for a reason."""


KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "dim1": "axis1",
            "dim2": "axis2", "dims": "axis", "start_dim": "start_axis", "end_dim": "end_axis",
            "offset": "offset", "diagonal": "k", "interpolation": "method"}  # fmt: skip

RENAMED = {
    "acos": "arccos", "acosh": "arccosh", "amax": "max", "amin": "min", "asin": "arcsin",
    "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "bitwise_not": "invert", "cholesky": "linalg.cholesky", "bmm": "matmul",
    "broadcast_tensors": "broadcast_arrays",
    "cat": "concatenate", "clamp": "clip", "clamp_max": "minimum", "clamp_min": "maximum",
    "contiguous": "clone", "eq": "equal", "ge": "greater_equal", "gt": "greater",
    "le": "less_equal", "lt": "less", "max.binary": "maximum", "max.reduction_no_dim": "max",
    "min.binary": "minimum", "min.reduction_no_dim": "min", "mm": "matmul", "movedim": "moveaxis",
    "mul": "multiply", "mv": "matmul", "ne": "not_equal", "neg": "negative", "permute": "transpose",
    "pow": "power", "sub": "subtract", "take_along_dim": "take_along_axis",
    "tensor_split": "array_split", "transpose": "swapaxes", "true_divide": "divide",
    "round.decimals_0": "round", "round.decimals_3": "round", "round.decimals_neg_3": "round",
    "sgn": "sign", "pinverse": "linalg.pinv", "unsqueeze": "expand_dims", "view": "reshape",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
    "__radd__": "add", "__rmul__": "multiply",
}  # fmt: skip


def _found(name: str) -> Any:
    """Our function of a name, in the module that the name says."""
    for prefix, module in (("nn.functional.", F), ("linalg.", linalg)):
        if name.startswith(prefix):
            return getattr(module, name.removeprefix(prefix).split(".")[0], None)
    return getattr(minigrad, name, None) or getattr(ops, name, None)


def _elsewhere(reason: str) -> Any:
    raise Elsewhere(reason)


def _no_dtype(call: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of PyTorch: an empty tuple of axes means all of them."""

    def reduced(x: Any, *args: Any, dtype: Any = None, **kw: Any) -> Any:  # noqa: ARG001
        axis = kw.pop("axis", args[0] if args else None)
        keepdims = kw.pop("keepdims", args[1] if len(args) > 1 else False)
        axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        return call(x, axis=None if axis == () else axis, keepdims=keepdims, **kw)

    return reduced


def _moments(call: Callable[..., Any]) -> Callable[..., Any]:
    """var and std: `unbiased` or `correction`, which is 1 unless it is given."""

    def moments(x: Any, *args: Any, **kw: Any) -> Any:
        args = list(args)
        unbiased = kw.pop("unbiased", args.pop(0) if args and isinstance(args[0], bool) else True)
        axis = kw.pop("axis", args.pop(0) if args else None)
        if args and isinstance(args[0], bool):
            unbiased = args.pop(0)
        ddof = kw.pop("ddof", int(unbiased))
        axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        return call(x, axis=None if axis == () else axis, ddof=1 if ddof is None else ddof, **kw)

    return moments


def _with_mean(call: Callable[..., Any], x: Any, *args: Any, **kw: Any) -> Any:
    moment = _moments(call)(x, *args, **kw)
    axis = kw.get("axis", next((a for a in args if not isinstance(a, bool)), None))
    axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return moment, ops.mean(x, None if axis == () else axis, moment.ndim == x.ndim)


def _batch_norm(x: Any, *args: Any, training: bool = False, **kw: Any) -> Any:
    return F.batch_norm(x, *args, training=training, **kw)


def _with_places(call: Callable[..., Any], places: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, keepdims=False: (
        call(x, axis, keepdims=keepdims) if x.ndim else call(x),
        places(x, axis, keepdims=keepdims) if x.ndim else places(x),
    )


def _divide(x: Any, y: Any, *, rounding_mode: str | None = None) -> Any:
    quotient = {"trunc": lambda: ops.trunc(x / y), "floor": lambda: ops.floor_divide(x, y)}
    return quotient.get(rounding_mode or "", lambda: x / y)()


def _split(x: Any, size: Any, axis: int = 0) -> Any:
    sizes = size if isinstance(size, (list, tuple)) else range(size, x.shape[axis], size)
    cuts = np.cumsum(sizes)[:-1].tolist() if isinstance(size, (list, tuple)) else list(sizes)
    return ops.split(x, cuts, axis)


def _norm(
    x: Any,
    p: Any = "fro",
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = None,  # noqa: ARG001
) -> Any:
    axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    if p in ("fro", None):
        return linalg.vector_norm(x, axis=axis or None, keepdims=keepdims)
    if p == "nuc":
        return linalg.norm(x, "nuc", axis or tuple(range(x.ndim)), keepdims)
    return linalg.vector_norm(x, ord=p, axis=axis if axis != () else None, keepdims=keepdims)


def _of_each(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: [call(part) for part in x] if isinstance(x, (list, tuple)) else call(x)


def _accumulated(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, dtype=None: call(x, axis).reshape(x.shape)


def _pool(call: Callable[..., Any]) -> Callable[..., Any]:
    """Without the places of the greatest."""

    def pool(x: Any, *args: Any, **kw: Any) -> Any:
        kw.pop("return_indices", None)  # of the outputs, `INVARIANT` takes the first
        if kw.pop("divisor_override", args[5] if len(args) > 5 else None) is not None:
            raise Elsewhere("no divisor of one's own")
        args = args[:1] if "adaptive" in call.__name__ else args[:5]
        return call(x, *[a[0] if isinstance(a, tuple) and len(a) == 1 else a for a in args], **kw)

    return pool


def _histogram(
    x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    counts, edges = ops.histogram(x, bins, range, density, weight)
    return counts.astype(np.float64), edges


def _lstsq(a: Any, b: Any, **_driver: Any) -> Any:
    if a.ndim != 2:
        raise Elsewhere("one matrix at a time, as in NumPy")
    return linalg.lstsq(a, b)[0]


def _matrix_rank(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:  # noqa: ARG001
    if atol is not None and rtol is not None:
        raise Elsewhere("an absolute tolerance or a relative one, as in NumPy")
    return linalg.matrix_rank(x, atol, rtol=rtol)


def _solve(a: Any, b: Any, left: bool = True) -> Any:
    if not left:
        raise Elsewhere("only from the left, as in NumPy")
    vectors = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    return linalg.solve(a, b[..., None])[..., 0] if vectors else linalg.solve(a, b)


def _median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if (x.size if axis is None or not x.ndim else x.shape[axis]) % 2 == 0:
        raise Elsewhere("of two middle elements their mean, as in NumPy; there the lower one")
    return ops.median(x, axis, keepdims)


def _embedding_bag(weight: Any, ids: Any, **kw: Any) -> Any:
    kw.pop("sparse", None)
    if kw.pop("scale_grad_by_freq", False):
        raise Elsewhere("no scale_grad_by_freq")
    return F.embedding_bag(ids, weight, **kw)


def _embedding(weight: Any, index: Any, **options: Any) -> Any:
    if {*options} - {"padding_idx"}:
        raise Elsewhere(f"no {', '.join(sorted({*options} - {'padding_idx'}))}")
    return F.embedding(index, weight, **options)


def _squeeze(x: Any, axis: Any = None) -> Any:
    """PyTorch leaves axes of other lengths as they are."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return ops.squeeze(x, tuple(a for a in axes if x.shape[a] == 1)) if x.ndim else x * 1


def _searchsorted(a: Any, v: Any, *, right: bool = False, side: Any = None, **options: Any) -> Any:
    if a.ndim != 1 or options.get("sorter") is not None:
        raise Elsewhere("one row of sorted values, as in NumPy")
    return ops.searchsorted(a, v, side or ("right" if right else "left"))


CALLS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, alpha=1: ops.add(x, y if alpha == 1 else alpha * y),
    "sub": lambda x, y, alpha=1: ops.subtract(x, y if alpha == 1 else alpha * y),
    "rsub": lambda x, y, alpha=1: ops.subtract(y, x if alpha == 1 else alpha * x),
    "__rsub__": lambda x, y: ops.subtract(y, x),
    "__rdiv__": lambda x, y: ops.divide(y, x),
    "__rpow__": lambda x, y: ops.power(y, x),
    "__rmod__": lambda x, y: ops.remainder(y, x),
    "__rmatmul__": lambda x, y: ops.matmul(y, x),
    "__getitem__": lambda x, index: x[index],
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "t": lambda x: x.T,
    "max.reduction_with_dim": _with_places(ops.max, ops.argmax),
    "min.reduction_with_dim": _with_places(ops.min, ops.argmin),
    "div.no_rounding_mode": _divide,
    "div.floor_rounding": _divide,
    "div.trunc_rounding": _divide,
    "float_power": lambda x, y: ops.power(x, y),
    "positive": lambda x: +x,
    "split": _split,
    "split.list_args": _split,
    "where": lambda x, condition, y: ops.where(condition, x, y),
    "index_select": lambda x, axis, index: (
        ops.take(x, index, axis) if x.ndim else _elsewhere("a number has no axis to take from")
    ),
    "take": lambda x, index: ops.take(x, index),
    "repeat": lambda x, *sizes: ops.tile(x, sizes[0] if isinstance(sizes[0], tuple) else sizes),
    "tile": lambda x, reps: ops.tile(x, reps),
    "flip": lambda x, axis: ops.flip(x, tuple(axis)),
    "roll": lambda x, shift, axis=None: ops.roll(x, shift, None if axis == () else axis),
    "norm": _norm,
    "norm.fro": _norm,
    "norm.inf": _norm,
    "norm.nuc": _norm,
    "std": _moments(ops.std),
    "std.unbiased": _moments(ops.std),
    "var": _moments(ops.var),
    "var.unbiased": _moments(ops.var),
    **{name: _no_dtype(getattr(ops, RENAMED.get(name, name))) for name in REDUCTIONS},
    **{name: _of_each(getattr(ops, name)) for name in ("atleast_1d", "atleast_2d", "atleast_3d")},
    **{name: _accumulated(getattr(ops, name)) for name in ("cumsum", "cumprod")},
    **{name: _pool(_found(name)) for name in POOLS},
    "argsort": lambda x, axis=-1, descending=False, stable=False: (
        ops.argsort(x, axis, descending).reshape(x.shape)
    ),
    "cdist": lambda a, b, p, mode: ops.cdist(a, b, p),
    "einsum": lambda tensors, subscripts: ops.einsum(subscripts, *tensors),
    "histogram": _histogram,
    "linalg.lstsq": _lstsq,
    "linalg.matrix_norm": lambda x, ord="fro", axis=(-2, -1), keepdims=False, **dtype: (
        linalg.norm(x, ord, tuple(axis), keepdims)
    ),
    "linalg.matrix_rank": _matrix_rank,
    "linalg.matrix_rank.hermitian": _matrix_rank,
    "linalg.pinv.hermitian": lambda x, **hermitian: _elsewhere("no hermitian="),
    "linalg.solve": _solve,
    "median": _median,
    "nn.functional.embedding": _embedding,
    "nn.functional.embedding_bag": _embedding_bag,
    "nn.functional.hardtanh": lambda x, min_val=-1.0, max_val=1.0: hardtanh(x, min_val, max_val),
    "nn.functional.softplus": lambda x, beta=1.0, threshold=None: (
        F.softplus(x, beta) if threshold is None else _elsewhere("exact, so without a threshold")
    ),
    "nn.functional.batch_norm": _batch_norm,
    "nn.functional.scaled_dot_product_attention": lambda *args, dropout_p=0.0, **kw: (
        _elsewhere("draws other numbers") if dropout_p
        else F.scaled_dot_product_attention(*args, **kw)
    ),
    "nonzero": lambda x, as_tuple=False: ops.nonzero(x) if as_tuple else ops.argwhere(x),
    "quantile": lambda x, q, *args, **kw: (
        _elsewhere("q receives no gradient") if getattr(q, "requires_grad", False)
        else ops.quantile(x, q, *args, **kw)
    ),
    "searchsorted": _searchsorted,
    "sort": lambda x, axis=-1, descending=False, stable=False: [
        ops.sort(x, axis, descending), ops.argsort(x, axis, descending)
    ],
    "squeeze": _squeeze,
    "squeeze.multiple": _squeeze,
    "take_along_dim": lambda x, index, axis=None: ops.take_along_axis(
        x, index.ravel() if axis is None else index, axis
    ),
    "tensordot": lambda a, b, axis=2: ops.tensordot(a, b, axis),
    "unique": lambda x, return_inverse=False, return_counts=False, axis=None, **ordered: (
        ops.unique(x, False, return_inverse, return_counts, axis)
    ),
    "aminmax": lambda x, axis=None, keepdims=False: (
        ops.min(x, axis if x.ndim else None, keepdims),
        ops.max(x, axis if x.ndim else None, keepdims),
    ),
    "diagflat": lambda x, offset=0: ops.diag(ops.ravel(x), offset),
    "dist": lambda a, b, p: linalg.vector_norm(a - b, ord=p),
    "index_put": lambda x, index, values, accumulate=False: (
        ops.setitem(x, tuple(index), values) if not accumulate
        else _elsewhere("no index_put that adds; index_add and scatter_add do")
    ),
    "linalg.cross": lambda a, b, axis=-1: ops.cross(a, b, axis=axis),
    "linalg.diagonal": lambda x, offset=0, axis1=-2, axis2=-1: (
        ops.diagonal(x, offset, axis1, axis2)
    ),
    "linalg.lstsq.grad_oriented": _lstsq,
    "linalg.norm.subgradients_at_zero": linalg.norm,
    "linalg.pinv.singular": lambda a, b: linalg.pinv(a @ b.mT),
    "linalg.vecdot": lambda a, b, axis=-1: ops.vecdot(a, b, axis=axis),
    "meshgrid.list_of_tensors": lambda tensors, indexing="ij": (
        ops.meshgrid(*tensors, indexing=indexing)
    ),
    "meshgrid.variadic_tensors": lambda *tensors, indexing="ij": (
        ops.meshgrid(*tensors, indexing=indexing)
    ),
    "msort": lambda x: ops.sort(x, 0),
    "nn.functional.batch_norm.without_cudnn": _batch_norm,
    "repeat_interleave": lambda x, repeats, axis=None, output_size=None: (
        ops.repeat(x, repeats, axis)
    ),
    **{f"polygamma.polygamma_n_{n}": lambda x, n: ops.polygamma(n, x) for n in range(5)},
    "special.polygamma.special_polygamma_n_0": lambda x, n: ops.polygamma(n, x),
    **{
        f"scatter_reduce.{how}": ops.scatter_reduce
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    "select": lambda x, axis, index: ops.take(x, index, axis),
    "std_mean": lambda *args, **kw: _with_mean(ops.std, *args, **kw),
    "var_mean": lambda *args, **kw: _with_mean(ops.var, *args, **kw),
    "var_mean.unbiased": lambda *args, **kw: _with_mean(ops.var, *args, **kw),
    "std_mean.unbiased": lambda *args, **kw: _with_mean(ops.std, *args, **kw),
}  # fmt: skip

INVARIANT: dict[str, Callable[..., Any]] = {
    "linalg.eigh": lambda out: [out[0], abs(out[1])],
    **dict.fromkeys(
        ["median", "linalg.lstsq", "linalg.lstsq.grad_oriented", *POOLS],
        lambda out: out[0] if isinstance(out, tuple) else out,
    ),
    "linalg.svd": lambda out: [abs(out[0]), out[1], abs(out[2])],
}
"""What of the outputs is the same for every library: vectors have any sign."""

NOT_COMPARED: dict[str, str] = {
    **dict.fromkeys(CREATION, "makes arrays, and has no derivative"),
    "equal": "one bool; eq is compared",
    **dict.fromkeys(
        ("bernoulli", "multinomial", "normal", "rand_like", "randn_like"), "draws other numbers"
    ),
    **dict.fromkeys(
        ("bool", "double", "float", "half", "int", "long", "short"), "methods; here dtypes"
    ),
    "nn.functional.dropout": "draws other numbers",
    "nn.functional.dropout2d": "draws other numbers",
    "nn.functional.cosine_embedding_loss": "the samples want a gradient of the target",
    "nn.functional.interpolate.bicubic": "no such mode",
    "nn.functional.interpolate.trilinear": "no such mode",
    "nn.functional.pad.replicate_negative": "no negative widths",
}  # fmt: skip

REFUSED: dict[str, str] = {
    "out of bounds for array of dimension 0": "a number has no axis; in PyTorch it has one",
    "does not exist in shape ()": "a number has no axis; in PyTorch it has one",
    "eps must be a number of at least": "a negative eps is refused",
    "momentum must be a number from 0 to 1": "such a momentum is refused",
    "full_matrices=True has no derivative": "the further vectors have no derivative",
    "an input of shape (N, C, ...) expected": "no input without channels",
    "index and x must have the same number of axes": "an empty index has axes too",
    "concatenate: axis 1 is out of bounds": "an empty tensor has axes too",
    "must match": "an axis of length 1 is not repeated",
    "normalize: p must be a number above": "no norm of order 0 to divide by",
    "pairwise_distance: p must be a number above": "only norms",
    "pad: mode=": "no negative widths",
    "interpolate: mode=": "no volumes",
    "grid_sample: mode must be": "no such mode",
    "grid_sample: an input of shape": "no volumes",
    "gaussian_nll_loss: input of shape": "the target has the shape of the input",
    "nonzero: at least one axis expected": "a number has no axis; in PyTorch it has one",
}
"""What our errors say of calls that PyTorch answers, and why we do not."""

_ZERO = "a product with a zero among its factors is a computed 0, and inf * 0 is NaN"
_PARTS = "infinite parts of both signs meet, as the formula is composed of others here"
_TWICE = "where a place is written twice, the last value counts; there all get its gradient"
EXCUSED: dict[tuple[str, str], str] = {
    ("linalg.norm.subgradients_at_zero", "gradient"): "0 at 0; there other subgradients too",
    ("linalg.norm.subgradients_at_zero", "second"): "0 at 0, to every order; NaN there",
    ("prod", "infinite"): _ZERO,
    ("cumprod", "infinite"): _ZERO,
    ("logcumsumexp", "infinite"): "a share that is too small is a computed 0, and inf * 0 is NaN",
    ("linalg.multi_dot", "infinite"): "infinite parts meet in another order of the products",
    ("linalg.solve_triangular", "infinite"): "LAPACK's solver multiplies zeros by infinity",
    ("nn.functional.layer_norm", "infinite"): _PARTS,
    ("nn.functional.bilinear", "infinite"): _PARTS,
    ("lerp", "infinite"): _PARTS,
    ("nn.functional.grid_sample", "infinite"): _PARTS,
    **{
        (f"nn.functional.max_unpool{n}d", kind): _TWICE
        for n in (1, 2)
        for kind in ("gradient", "infinite")
    },
    **{(f"nn.functional.{name}", "infinite"): _PARTS for name in COMPOSED},
}
"""For an op and a kind of comparison, why results may differ."""


def call_of(name: str) -> Callable[..., Any] | None:
    """Our function for a name of the database; None if we have none."""
    function = CALLS.get(name) or _found(RENAMED.get(name, name))
    if function is None or name in NOT_COMPARED:
        return None

    @functools.wraps(function)
    def call(*args: Any, **kw: Any) -> Any:
        return function(*args, **{KEYWORDS.get(key, key): value for key, value in kw.items()})

    return call
