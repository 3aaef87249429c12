"""Batching rules: how an op runs once for all samples, a rule for each family of ops.

A rule gets the arguments of an op for one sample, in which a `Mapped` tensor represents those that
differ from sample to sample: its first axis counts the samples. It returns the result with that
axis first. `RULES` says for every op its rule, or why it has none.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.call import call_path
from minigrad.autograd.engine import COPY, DETACH
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, registry
from minigrad.ops import _numerics
from minigrad.ops import linalg as linalg  # its ops are in the registry
from minigrad.ops.indexing import normalized

__all__ = ["RULES", "Batch", "CannotMap", "Mapped", "batching_rule", "rule_of", "whole"]


class CannotMap(NotImplementedError):
    """A function of one sample cannot run for many at once."""


class Mapped(NamedTuple):
    """A tensor whose first axis counts the samples."""

    tensor: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        shape: tuple[int, ...] = self.tensor._data.shape[1:]
        return shape


class Batch(NamedTuple):
    """One call of an op for all samples.

    Attributes:
        op: The op.
        size: The number of samples.
        shape: The shape of the first result for one sample.
        same: Whether random numbers are the same for all samples.
    """

    op: Primitive
    size: int
    shape: tuple[int, ...]
    same: bool = False

    def run(self, *values: Any) -> Any:
        """Run the op on tensors, arrays and static values."""
        return self.op.call_with(_function(self.op), values)


Rule = Callable[..., Any]
RULES: dict[Primitive, Rule | str] = {}
"""For an op its batching rule, or why it has none."""
_OP = {**registry, "detach": DETACH, "copy": COPY}
_FUNCTIONS: dict[Primitive, Callable[..., Any]] = {}


def _function(op: Primitive) -> Callable[..., Any]:
    if op not in _FUNCTIONS:
        _FUNCTIONS[op] = call_path(op)
    return _FUNCTIONS[op]


def batching_rule(*ops_: Any) -> Callable[[Rule], Rule]:
    """Define the batching rule of ops (a decorator).

    Args:
        *ops_: The ops, or the names of minigrad's own.

    Example:
        >>> import minigrad
        >>> from minigrad.transforms.batching import batching_rule
        >>> @minigrad.autograd.primitive
        ... def tripled(x):
        ...     return 3 * x
        >>> @batching_rule(tripled)
        ... def _(batch, x):
        ...     return batch.run(x.tensor)
        >>> minigrad.vmap(tripled)(minigrad.ones(2, 1)).tolist()
        [[3.0], [3.0]]
    """

    def define(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(map(_record, ops_), rule))
        return rule

    return define


def _record(op: Any) -> Primitive:
    record: Primitive = _OP[op] if isinstance(op, str) else op.op
    return record


def rule_of(op: Primitive) -> Rule:
    """The batching rule of an op, or an error that says why it has none."""
    rule = RULES.get(op)
    if callable(rule):
        return rule
    effects = "it does more than give a result, such as an exchange with other ranks"
    reason = rule or (effects if op.side_effects else "batching_rule defines one for your own op")
    raise CannotMap(
        f"vmap: {op.name} has no batching rule: {reason}; write a loop over the samples, "
        f"minigrad.stack([f(x) for x in xs])"
    )


# Shapes ----------------------------------------------------------------------------------------


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of one sample."""
    return x.shape if isinstance(x, Mapped) else _numerics.shape_of(x)


def whole(x: Any, size: int) -> Any:
    """A tensor with the axis of samples, repeated for each if it is the same for all."""
    if isinstance(x, Mapped):
        return x.tensor
    return ops.broadcast_to(x, (size, *shape_of(x)))


def aligned(*xs: Any) -> list[Any]:
    """Operands that broadcast as those of one sample do: mapped ones get axes of length 1."""
    rank = max([len(shape_of(x)) for x in xs if x is not None])
    return [_with_rank(x, rank) if isinstance(x, Mapped) else x for x in xs]


def _with_rank(x: Mapped, rank: int) -> Any:
    shape = x.tensor._data.shape
    if len(shape) == rank + 1:
        return x.tensor
    return ops.reshape(x.tensor, (shape[0], *(1,) * (rank + 1 - len(shape)), *shape[1:]))


def _fitted(batch: Batch, result: Any) -> Any:
    """A result, in the shape that it has for each sample."""
    wanted = (batch.size, *batch.shape)
    return result if result._data.shape == wanted else ops.reshape(result, wanted)


def _moved(axis: Any, rank: int) -> Any:
    """An axis, or several, of a sample as those of all samples; None means all."""
    if axis is None:
        return tuple(range(1, rank + 1))
    if isinstance(axis, Iterable):
        return tuple(each % max(rank, 1) + 1 for each in axis)
    return axis % max(rank, 1) + 1


INDEXED = {_OP[name] for name in ("getitem", "setitem", "scatter_extreme", "scatter_index")}
"""The ops with an index that is not an operand, and may differ from sample to sample."""


# Families --------------------------------------------------------------------------------------

_ONE_AXIS = {
    _OP[name] for name in ("argmax", "argmin", "argsort", "cumprod", "cumsum", "median", "sort")
}
"""Where no axis means that of the flattened sample."""


@batching_rule(
    "abs", "add", "alias", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "astype", "bitwise_and", "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clamped_log", "clip",
    "clone", "copysign", "cos", "cosh", "deg2rad", "digamma", "divide", "entr", "equal", "erf",
    "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "floor_divide", "fmax", "fmin", "fmod",
    "gelu", "greater", "greater_equal", "hardtanh", "hypot", "identity", "invert", "isclose",
    "isfinite", "isinf", "isnan", "left_shift", "less", "less_equal", "lgamma", "log", "log10",
    "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logit", "maximum", "minimum", "multiply", "nan_to_num", "negative", "nextafter", "not_equal",
    "polygamma", "power", "rad2deg", "reciprocal", "relu", "remainder", "right_shift", "round",
    "rsqrt", "sigmoid", "sign", "signbit", "silu", "sin", "sinc", "sinh", "softplus", "sqrt",
    "square", "subtract", "tan", "tanh", "to_integer", "trunc", "where", "xlog1py", "xlogy",
    "detach", "copy",
)  # fmt: skip
def elementwise(batch: Batch, *values: Any) -> Any:
    """Operands broadcast: those with fewer axes get axes of length 1 after that of the samples."""
    count = batch.op.arrays
    return batch.run(*aligned(*values[:count]), *values[count:])


@batching_rule(
    "all", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumprod", "cumsum", "flip",
    "log_softmax", "logcumsumexp", "logsumexp", "max", "mean", "median", "min", "nanmean", "norm",
    "prod", "running_places", "softmax", "sort", "std", "sum", "topk", "var",
)  # fmt: skip
def along_axes(batch: Batch, x: Mapped, *static: Any) -> Any:
    """An axis is counted after that of the samples; no axis means all of the sample."""
    (place,) = batch.op.axes
    axis, rest = static[place - 1], list(static)
    rank, tensor = len(x.shape), x.tensor
    one_axis = batch.op in _ONE_AXIS
    if not rank or (axis is None and one_axis):
        tensor, rank, axis = ops.reshape(tensor, (batch.size, -1)), 1, 0 if axis != () else axis
    rest[place - 1] = _moved(axis, rank)
    found = batch.run(tensor, *rest)
    if batch.op.multiple_outputs:
        return tuple(found)
    return _fitted(batch, found)


@batching_rule("expand_dims", "flatten", "ravel", "reshape", "squeeze")
def reshaped(batch: Batch, x: Mapped, *static: Any) -> Any:
    """The same elements in another shape."""
    return ops.reshape(x.tensor, (batch.size, *batch.shape))


@batching_rule("broadcast_to", "expand")
def broadcast(batch: Batch, x: Mapped, *static: Any) -> Any:
    """Axes of length 1 come between that of the samples and the others."""
    return ops.broadcast_to(_with_rank(x, len(batch.shape)), (batch.size, *batch.shape))


@batching_rule("masked_fill")
def _masked_fill(batch: Batch, x: Any, mask: Any, value: Any) -> Any:
    x, mask, value = aligned(x, mask, value)
    found = ops.where(mask, ops.astype(value, x.dtype), x)
    return _fitted(batch, found)


@batching_rule("transpose")
def _transpose(batch: Batch, x: Mapped, axes: Any) -> Any:
    rank = len(x.shape)
    order = range(rank)[::-1] if axes is None else axes
    return ops.transpose(x.tensor, (0, *(axis % rank + 1 for axis in order)))


@batching_rule("swapaxes", "moveaxis", "rot90", "trace", "diagonal", "scatter_diagonal")
def axes_named(batch: Batch, x: Mapped, *static: Any) -> Any:
    """The parameters that name axes are counted after that of the samples."""
    rank = len(batch.shape if batch.op is _OP["scatter_diagonal"] else x.shape)
    moved = []
    for name, value in zip(batch.op.params[1:], static, strict=True):
        if name in ("axis1", "axis2", "source", "destination", "axes"):
            value = _moved(value, rank)
        elif name == "shape":
            value = (batch.size, *value)
        moved.append(value)
    return batch.run(x.tensor, *moved)


@batching_rule("tril", "triu")
def _triangle(batch: Batch, x: Mapped, k: int) -> Any:
    return batch.run(x.tensor, k)


@batching_rule("pad")
def _pad(batch: Batch, x: Mapped, pad_width: Any, mode: str, constant_values: Any) -> Any:
    if not x.shape:
        return x.tensor

    def of_all(pairs: Any) -> Any:
        each = np.broadcast_to(np.asarray(pairs), (len(x.shape), 2)).tolist()
        return ((0, 0), *map(tuple, each))

    return batch.run(x.tensor, of_all(pad_width), mode, of_all(constant_values))


@batching_rule("tile")
def _tile(batch: Batch, x: Mapped, reps: Any) -> Any:
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    rank = max(len(reps), len(x.shape))
    reps = (1,) * (rank - len(reps)) + reps
    return batch.run(_with_rank(x, rank), (1, *reps))


@batching_rule("roll", "repeat")
def _roll(batch: Batch, x: Any, amount: Any, axis: Any) -> Any:
    if isinstance(amount, Mapped):
        raise CannotMap(
            f"vmap: {batch.op.name}: how far, or how often, must be the same for all samples"
        )
    if axis is None or not x.shape:
        flat = ops.reshape(x.tensor, (batch.size, -1))
        return _fitted(batch, batch.run(flat, amount, 1))
    return batch.run(x.tensor, amount, _moved(axis, len(x.shape)))


@batching_rule("quantile")
def _quantile(batch: Batch, x: Any, q: Any, axis: Any, keepdims: bool, method: str) -> Any:
    rank = len(x.shape)
    found = batch.run(x.tensor, q, _moved(axis, rank), keepdims, method)
    return ops.moveaxis(found, np.ndim(q), 0)


@batching_rule("concatenate", "stack")
def joined(batch: Batch, tensors: Sequence[Any], axis: int) -> Any:
    """Repeat for each sample a value that is the same for all."""
    rank = len(batch.shape)
    return batch.run([whole(x, batch.size) for x in tensors], axis % max(rank, 1) + 1)


# Products --------------------------------------------------------------------------------------


@batching_rule("matmul")
def _matmul(batch: Batch, a: Any, b: Any) -> Any:
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(a, Mapped) and not isinstance(b, Mapped) and right <= 2:
        return ops.matmul(a.tensor, b)  # of vectors: (samples, k) @ (k, m)
    if left == 1:
        a = Mapped(ops.expand_dims(a.tensor, 1)) if isinstance(a, Mapped) else ops.expand_dims(a, 0)
    if right == 1:
        b = Mapped(ops.expand_dims(b.tensor, 2)) if isinstance(b, Mapped) else ops.expand_dims(b, 1)
    return _fitted(batch, ops.matmul(*aligned(a, b)))


@batching_rule("linear")
def _linear(batch: Batch, x: Any, weight: Any, bias: Any) -> Any:
    if not isinstance(weight, Mapped) and not isinstance(bias, Mapped):
        return batch.run(x.tensor, weight, bias)
    turned = (
        Mapped(ops.swapaxes(weight.tensor, 1, 2)) if isinstance(weight, Mapped)
        else ops.swapaxes(weight, 0, 1)
    )  # fmt: skip
    if not isinstance(x, Mapped) and not isinstance(weight, Mapped):
        return ops.add(*aligned(ops.matmul(x, turned), bias))
    product = Mapped(_matmul(batch, x, turned))
    return product.tensor if bias is None else ops.add(*aligned(product, bias))


@batching_rule("vecdot", "cross", "solve_triangular")
def _vectors(batch: Batch, a: Any, b: Any, *static: Any) -> Any:
    return batch.run(*aligned(a, b), *static)


@batching_rule("solve")
def _solve(batch: Batch, a: Any, b: Any) -> Any:
    if len(shape_of(b)) == 1:
        b = Mapped(ops.expand_dims(whole(b, batch.size), 2))
        return ops.squeeze(batch.run(*aligned(a, b)), -1)
    return batch.run(*aligned(a, b))


@batching_rule("tensordot")
def _tensordot(batch: Batch, a: Any, b: Any, axes: Any) -> Any:
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(axes, int):
        axes = (range(left - axes, left), range(axes))
    of_a, of_b = (np.atleast_1d(each).tolist() for each in axes)
    pairs = [(i % left, j % right) for i, j in zip(of_a, of_b, strict=True)]
    names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
    first, second = list(names[:left]), list(names[left : left + right])
    for i, j in pairs:
        second[j] = first[i]
    kept = [n for i, n in enumerate(first) if i not in [p for p, _ in pairs]]
    kept += [n for j, n in enumerate(second) if j not in [q for _, q in pairs]]
    operands = [x.tensor if isinstance(x, Mapped) else x for x in (a, b)]
    marks = ["Z" * isinstance(x, Mapped) for x in (a, b)]
    equation = f"{marks[0]}{''.join(first)},{marks[1]}{''.join(second)}->Z{''.join(kept)}"
    return ops.einsum(equation, *operands)


@batching_rule("einsum")
def _einsum(batch: Batch, operands: Sequence[Any], inputs: Any, output: Any) -> Any:
    label = _unused(inputs)
    labelled = [
        _prefixed(label, terms) if isinstance(x, Mapped) else terms
        for x, terms in zip(operands, inputs, strict=True)
    ]
    tensors = [x.tensor if isinstance(x, Mapped) else x for x in operands]
    return batch.run(tensors, type(inputs)(labelled), _prefixed(label, output))


def _unused(inputs: Any) -> Any:
    used = {term for terms in inputs for term in terms}
    if all(isinstance(term, str) for term in used):
        return next(c for c in string.ascii_letters if c not in used)
    return max(used, default=-1) + 1


def _prefixed(label: Any, terms: Any) -> Any:
    return label + terms if isinstance(terms, str) else type(terms)((label, *terms))


@batching_rule(
    "cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_rank", "pinv", "qr", "qr_complete", "svd",
    "svd_complete", "svdvals",
)  # fmt: skip
def matrices(batch: Batch, x: Mapped, *static: Any) -> Any:
    """Functions of matrices run on stacks of them."""
    return batch.run(x.tensor, *static)


@batching_rule("slogdet")
def _slogdet(batch: Batch, x: Mapped) -> Any:
    sign, logarithm = batch.run(x.tensor)
    return sign, logarithm, sign


# Indices ---------------------------------------------------------------------------------------


class _Places(NamedTuple):
    """An index of all samples, where the axes of what it reads go, and the shape of one sample."""

    parts: tuple[Any, ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]


def _places(size: int, index: Any, shape: tuple[int, ...], mapped: bool) -> _Places:
    """An index of a sample of `shape` as one of all samples; `mapped` says whether they differ."""
    several = isinstance(index, tuple) and not isinstance(index, Mapped)
    parts = list(index) if several else [index]
    if any(isinstance(part, Mapped) and part.tensor.dtype == bool for part in parts):
        raise CannotMap(
            "vmap: an index by a mask that differs from sample to sample reads another number of "
            "elements in each: use where(mask, x, 0)"
        )
    used = sum(map(_axes_used, parts))
    rest = [slice(None)] * (len(shape) - used)
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[at : at + 1] = rest
    arrays = any(isinstance(part, (Mapped, Variable, np.ndarray)) for part in parts)
    chosen = [
        i for i, part in enumerate(parts)
        if isinstance(part, (Mapped, Variable, np.ndarray)) or (arrays and isinstance(part, int))
    ]  # fmt: skip
    logical = tuple([
        np.zeros(part.shape, np.intp) if isinstance(part, Mapped)
        else part._data if isinstance(part, Variable) else part
        for part in parts
    ])  # fmt: skip
    found = np.broadcast_to(np.False_, shape)[logical].shape
    together = chosen == list(range(chosen[0], chosen[-1] + 1)) if chosen else True
    each = any(isinstance(part, Mapped) for part in parts)
    before = sum(not isinstance(part, int) for part in parts[: chosen[0]]) if chosen else 0
    rank = max([_index_rank(parts[i]) for i in chosen], default=0)
    if not each:
        # Where arrays are apart, their axes come first, before that of the samples.
        first = 0 if together else rank
        others = [axis for axis in range(len(found) + 1) if axis != first]
        return _Places((slice(None), *parts), (first, *others), found)
    for i in chosen:
        part = parts[i]
        parts[i] = _with_rank(part, rank) if isinstance(part, Mapped) else part
    # The result has the axis of the samples and then those of the arrays, from `first` on.
    wanted = before if together else 0
    first = 0 if mapped else wanted
    numbers = [np.arange(size).reshape(size, *(1,) * rank)] * mapped
    others = [axis for axis in range(len(found) + 1) if not first <= axis <= first + rank]
    block = range(first + 1, first + 1 + rank)
    order = (first, *others[:wanted], *block, *others[wanted:])
    return _Places((*numbers, *parts), order, found)


def _axes_used(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    array = part._data if isinstance(part, Variable) else part
    return array.ndim if isinstance(array, np.ndarray) and array.dtype == bool else 1


def _index_rank(part: Any) -> int:
    array = part._data if isinstance(part, Variable) else part
    if isinstance(array, np.ndarray) and array.dtype == bool:
        return 1
    return len(part.shape) if isinstance(part, Mapped) else np.ndim(array)


@batching_rule("getitem")
def _getitem(batch: Batch, x: Any, index: Any) -> Any:
    mapped = isinstance(x, Mapped)
    places = _places(batch.size, index, shape_of(x), mapped)
    return _ordered(ops.getitem(x.tensor if mapped else x, places.parts), places.order)


def _ordered(x: Any, order: tuple[int, ...]) -> Any:
    return x if order == tuple(range(len(order))) else ops.transpose(x, order)


def _unordered(value: Any, places: _Places, size: int) -> Any:
    """A value for the elements of an index, in the order in which the index has them."""
    if len(shape_of(value)) > len(places.shape):  # leading axes of length 1
        shape = shape_of(value)[len(shape_of(value)) - len(places.shape) :]
        value = (
            Mapped(ops.reshape(value.tensor, (size, *shape))) if isinstance(value, Mapped)
            else ops.reshape(value, shape)
        )  # fmt: skip
    spread = aligned(value, np.empty(places.shape))[0]
    spread = ops.broadcast_to(spread, (size, *places.shape))
    return _ordered(spread, tuple(np.argsort(places.order).tolist()))


@batching_rule("setitem")
def _setitem(batch: Batch, x: Any, value: Any, index: Any, in_place: bool = False) -> Any:
    places = _places(batch.size, index, shape_of(x), True)
    return ops.setitem(whole(x, batch.size), places.parts, _unordered(value, places, batch.size))


@batching_rule("scatter_index")
def _scatter_index(batch: Batch, value: Any, index: Any, shape: Any) -> Any:
    places = _places(batch.size, index, tuple(shape), True)
    given = _unordered(value, places, batch.size)
    return batch.run(given, normalized(places.parts), (batch.size, *shape))


@batching_rule("take")
def _take(batch: Batch, x: Any, indices: Any, axis: Any) -> Any:
    if isinstance(indices, Mapped):
        if axis is None:
            return _getitem(batch, _flat(x), indices)
        along = (slice(None),) * (axis % len(shape_of(x)))
        return _getitem(batch, x, (*along, indices))
    if axis is None or not x.shape:
        return batch.run(ops.reshape(x.tensor, (batch.size, -1)), indices, 1)
    return batch.run(x.tensor, indices, axis % len(x.shape) + 1)


def _flat(x: Any) -> Any:
    if not isinstance(x, Mapped):
        return ops.ravel(x)
    return Mapped(ops.reshape(x.tensor, (len(x.tensor), math.prod(x.shape))))


@batching_rule(
    "gather", "index_add", "scatter", "scatter_add", "scatter_extreme", "take_along_axis"
)
def by_places(batch: Batch, *values: Any) -> Any:
    """The axis is counted after that of the samples, whose own places are their numbers."""
    places = batch.op.places
    axis, arrays = values[places["axis"]], list(values)
    names = [name for name in ("x", "index", "indices", "src", "source") if name in places]
    rank = len(shape_of(values[0]))
    shared = batch.op is _OP["index_add"]
    if shared and isinstance(values[places["index"]], Mapped) and rank:
        return _index_add(batch, *values)
    if axis is None and batch.op is _OP["take_along_axis"]:
        arrays[0], axis, rank = _flat(values[0]), 0, 1
    if axis is None or not rank:
        raise CannotMap(
            f"vmap: {batch.op.name} without an axis has no batching rule; use take_along_axis or "
            f"gather"
        )
    for name in ("src", "source"):
        if name in places and not shape_of(values[places[name]]) and not shared:
            given = values[places[name]]  # one number for all places
            shape = shape_of(values[places["index"]])
            arrays[places[name]] = Mapped(
                ops.broadcast_to(_with_rank(Mapped(whole(given, batch.size)), len(shape)),
                                 (batch.size, *shape))
            )  # fmt: skip
    for name in names:
        if not (shared and name == "index"):
            arrays[places[name]] = whole(arrays[places[name]], batch.size)
    arrays[places["axis"]] = axis % rank + 1
    return batch.run(*arrays)


def _index_add(batch: Batch, x: Any, index: Any, source: Any, axis: int, alpha: Any) -> Any:
    """By indices that differ: as many of them as the source has elements."""
    rank, added = len(shape_of(x)), whole(source, batch.size)
    column = [1] * rank
    column[axis] = -1
    spread = ops.broadcast_to(
        ops.reshape(index.tensor, (batch.size, *column)), tuple(added._data.shape)
    )
    return ops.scatter_add(whole(x, batch.size), axis % rank + 1, spread, added * alpha)


@batching_rule("isin")
def _isin(batch: Batch, element: Any, others: Any, invert: bool) -> Any:
    if not isinstance(others, Mapped):
        return batch.run(element.tensor, others, invert)
    rank = len(shape_of(element))
    among = ops.reshape(others.tensor, (batch.size, *(1,) * rank, -1))
    found = ops.any(ops.expand_dims(whole(element, batch.size), -1) == among, -1)
    return ops.logical_not(found) if invert else found


@batching_rule("searchsorted")
def _searchsorted(batch: Batch, a: Any, v: Any, side: str) -> Any:
    if not isinstance(a, Mapped):
        return batch.run(a, v.tensor, side)
    rank = len(shape_of(v))  # how many elements are smaller; NaN is the largest
    sequence = ops.reshape(a.tensor, (batch.size, *(1,) * rank, -1))
    value = ops.expand_dims(whole(v, batch.size), -1)
    last = ops.isnan(value)
    smaller = (
        (sequence < value) | (last & ~ops.isnan(sequence)) if side == "left"
        else (sequence <= value) | last
    )  # fmt: skip
    return ops.count_nonzero(smaller, -1)


@batching_rule("embedding")
def _embedding(batch: Batch, ids: Any, weight: Any, padding_idx: Any, sparse: Any) -> Any:
    if not isinstance(weight, Mapped):
        return batch.run(ids.tensor, weight, padding_idx, sparse)
    if isinstance(ids, Mapped):
        return _getitem(batch, weight, ids)
    return ops.take(weight.tensor, ids, 1)


# Layers ----------------------------------------------------------------------------------------


def _merged(x: Any, size: int) -> Any:
    """The axis of the samples and the first one as one axis."""
    tensor = whole(x, size)
    shape = tensor._data.shape
    return ops.reshape(tensor, (size * shape[1], *shape[2:]))


@batching_rule("max_pool", "max_pool_places", "sum_pool", "sum_pool_transpose")
def images(batch: Batch, x: Mapped, *static: Any) -> Any:
    """The samples go into the axis of the images."""
    return _fitted(batch, batch.run(_merged(x, batch.size), *static))


@batching_rule("convolution", "convolution_transpose")
def _convolution(batch: Batch, x: Any, weight: Any, *static: Any) -> Any:
    biased = batch.op is _OP["convolution"]  # the transposed one has no bias
    bias, *rest = static if biased else (None, *static)
    without: tuple[Any, ...] = (None,) if biased else ()
    if not isinstance(weight, Mapped):
        given = without if not biased or isinstance(bias, Mapped) else (bias,)
        out = batch.run(_merged(x, batch.size), weight, *given, *rest)
    else:  # each sample is a group of its own
        groups = rest[-1] * batch.size
        tensor = ops.swapaxes(whole(x, batch.size), 0, 1)
        count, _, channels, *lengths = tensor._data.shape
        tensor = ops.reshape(tensor, (count, batch.size * channels, *lengths))
        out = batch.run(tensor, _merged(weight, batch.size), *without, *rest[:-1], groups)
        shape = out._data.shape
        out = ops.reshape(out, (count, batch.size, shape[1] // batch.size, *shape[2:]))
        out = ops.swapaxes(out, 0, 1)
    out = _fitted(batch, out)
    if bias is None or (not isinstance(weight, Mapped) and not isinstance(bias, Mapped)):
        return out
    places = (len(batch.shape) - 2) * (1,)
    turned = (
        Mapped(ops.reshape(bias.tensor, (batch.size, -1, *places))) if isinstance(bias, Mapped)
        else ops.reshape(bias, (-1, *places))
    )  # fmt: skip
    return ops.add(*aligned(Mapped(out), turned))


@batching_rule("convolution_weight")
def _convolution_weight(batch: Batch, x: Any, y: Any, *static: Any) -> Any:
    *rest, groups = static
    images, signals = [
        ops.reshape(
            ops.swapaxes(whole(each, batch.size), 0, 1),
            (shape_of(each)[0], batch.size * shape_of(each)[1], *shape_of(each)[2:]),
        )
        for each in (x, y)
    ]  # fmt: skip
    return _fitted(batch, batch.run(images, signals, *rest, groups * batch.size))


@batching_rule("sum_parts")
def _sum_parts(batch: Batch, x: Mapped, axis: int, count: int) -> Any:
    return batch.run(x.tensor, axis % len(x.shape) + 1, count)


@batching_rule("layer_norm", "rms_norm")
def _of_last_axes(batch: Batch, x: Any, weight: Any, *static: Any) -> Any:
    bias, rest = (static[0], static[1:]) if batch.op is _OP["layer_norm"] else (None, static)
    if not any(isinstance(each, Mapped) for each in (weight, bias)):
        return batch.run(x.tensor, weight, *static)
    plain = (None, None) if batch.op is _OP["layer_norm"] else (None,)
    out = batch.run(whole(x, batch.size), *plain, *rest)
    out = out if weight is None else ops.multiply(*aligned(Mapped(out), weight))
    return out if bias is None else ops.add(*aligned(Mapped(out), bias))


@batching_rule("batch_norm")
def _batch_norm(batch: Batch, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    tensor = whole(x, batch.size)
    axes = (1, *range(3, tensor._data.ndim))
    some = 0 not in tensor._data.shape[1:]  # else the mean and the variance are 0
    zero = np.zeros((batch.size, 1, *tensor._data.shape[2:]), tensor.dtype)
    centre = ops.mean(tensor, axes, True) if some else ops.sum(zero, axes, True)
    variance = ops.var(tensor, axes, 0, True) if some else centre
    spread = ops.sqrt(variance + eps)
    out = Mapped((tensor - centre) / spread)
    column = (-1, *(1,) * (len(batch.shape) - 2))
    for operator, each in ((ops.multiply, weight), (ops.add, bias)):
        if isinstance(each, Mapped):
            each = Mapped(ops.reshape(each.tensor, (batch.size, *column)))
            out = Mapped(operator(*aligned(out, each)))
        elif each is not None:
            out = Mapped(operator(out.tensor, ops.reshape(each, column)))
    flat = (batch.size, tensor._data.shape[2])
    mean, std = ops.reshape(centre, flat), ops.reshape(spread, flat)
    return out.tensor, mean, ops.reshape(variance, flat), mean, std


@batching_rule("rotate_pairs")
def _rotate_pairs(batch: Batch, x: Any, cos: Any, sin: Any, interleaved: bool) -> Any:
    return batch.run(*aligned(x, cos, sin), interleaved)


@batching_rule("dropout")
def _dropout(batch: Batch, x: Any, p: float, key: Any) -> Any:
    if not batch.same:
        return batch.run(whole(x, batch.size), p, key)
    kept = batch.run(np.ones(x.shape, x.tensor.dtype), p, key)
    return ops.multiply(x.tensor, kept)


# No rule ---------------------------------------------------------------------------------------

RULES |= dict.fromkeys(
    map(_record, ("argwhere", "bincount", "flatnonzero", "nonzero", "unique")),
    "the shape of its result depends on the values",
)


def without_rule() -> Iterator[str]:
    """The ops of minigrad that have neither a rule nor a decomposition, which would serve."""
    for name, op in registry.items():
        if op not in RULES and op.decomposition is None and not op.side_effects:
            yield name
