"""Batching rules: how an op runs once for all samples, a rule for each family of ops.

A rule gets the arguments of an op for one sample, in which `Samples` represent those that differ
from sample to sample. It returns the result with the axis of the samples first, or NotImplemented
for arguments that it does not cover. What has no rule runs by its decomposition, or in a loop.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.call import call_path
from minigrad.autograd.engine import COPY, DETACH
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.mode import located, state
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, by_numpy, registry
from minigrad.ops import _numerics
from minigrad.ops import linalg as linalg  # its ops are in the registry
from minigrad.ops.indexing import normalized
from minigrad.support import tree
from minigrad.tracing import Value

__all__ = ["RULES", "Batch", "CannotMap", "Keys", "Samples", "batching_rule", "one_by_one", "whole"]


class CannotMap(NotImplementedError):
    """A function of one sample cannot run for many at once."""


INSTEAD = "write a loop over the samples, minigrad.stack([f(x) for x in xs])"


@dataclass(frozen=True, eq=False, slots=True)
class Samples:
    """A tensor whose first axis counts the samples."""

    tensor: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        shape: tuple[int, ...] = self.tensor._data.shape[1:]
        return shape

    def of(self, sample: int) -> Any:
        """What one sample has of it."""
        return ops.getitem(self.tensor, sample)


@dataclass(frozen=True, eq=False, slots=True)
class Keys(Samples):
    """A random key for each sample: a list of ints."""

    def of(self, sample: int) -> int:
        """The key of one sample."""
        key: int = self.tensor[sample]
        return key


class Batch(NamedTuple):
    """One call of an op for all samples.

    Attributes:
        op: The op.
        size: The number of samples.
        outputs: What it made of the first sample.
    """

    op: Primitive
    size: int
    outputs: Sequence[Value | None]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result for one sample."""
        first = self.outputs[0]
        assert first is not None
        return first.shape

    def run(self, *values: Any) -> Any:
        """Run the op on tensors, arrays and static values."""
        return self.op.call_with(_function(self.op), values)


Rule = Callable[..., Any]
RULES: dict[Primitive, Rule] = {}
"""The batching rules of ops."""
_OP = {**registry, "detach": DETACH, "copy": COPY}
_function = functools.cache(call_path)


def batching_rule(*ops_: Any) -> Callable[[Rule], Rule]:
    """Define the batching rule of ops (a decorator), which then need no loop over the samples.

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
        RULES.update({_OP[op] if isinstance(op, str) else op.op: rule for op in ops_})
        return rule

    return define


# The loop --------------------------------------------------------------------------------------


class _Results(Observer):
    """What the last op returned, its residuals too."""

    found: Sequence[Any] = ()

    def ran(self, call: Call) -> None:
        self.found = *call.outputs, *call.residuals


def one_by_one(batch: Batch, *values: Any) -> Any:
    """Run the op in a loop over the samples."""
    op = batch.op
    if op.side_effects:
        raise CannotMap(located(f"vmap: {op.name} does more than give a result: {INSTEAD}"))

    def run(i: int) -> Sequence[Any]:
        with _Results() as results:
            one = [of_sample(value, i) for value in values]
            batch.run(*one[: op.arrays], *map(static, one[op.arrays :]))
        return results.found

    return looped(op.name, batch.outputs, batch.size, run)


def looped(
    name: str, outputs: Sequence[Value | None], size: int, run: Callable[[int], Sequence[Any]]
) -> list[Any]:
    """The results of an op that runs for one sample after the other, each with their axis first."""
    rows = []
    for i in range(size):
        rows.append(run(i))
        for first, found in zip(outputs, rows[-1], strict=True):
            if first is not None and first.shape != np.shape(found):
                shapes = f"{first.shape} for the first sample, {np.shape(found)} for sample {i}"
                what = f"{name}: the shape of its result depends on the values"
                raise CannotMap(f"vmap: {what}: {shapes}")
    columns = zip(outputs, *rows, strict=True)
    return [
        ops.stack(column) if value and isinstance(column[0], (Variable, np.ndarray)) else None
        for value, *column in columns
    ]


def of_sample(thing: Any, sample: int) -> Any:
    """An argument for one sample."""
    return tree.mapped(lambda one: one.of(sample), thing, Samples)


def static(thing: Any) -> Any:
    """A static argument, with arrays in the place of tensors.

    A number is an array for a trace around this one, which knows it by that.
    """

    def value(tensor: Any) -> Any:
        array = tensor._data if tensor._data.dtype.kind == "f" else normalized(tensor)
        return array if array.ndim or state.get().observers else array.item()

    return tree.mapped(value, thing, Variable)


# Shapes ----------------------------------------------------------------------------------------


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of one sample."""
    return x.shape if isinstance(x, Samples) else _numerics.shape_of(x)


def whole(x: Any, size: int) -> Any:
    """A tensor with the axis of samples, repeated for each if it is the same for all."""
    if isinstance(x, Samples):
        return x.tensor
    return ops.broadcast_to(x, (size, *shape_of(x)))


def aligned(*xs: Any) -> list[Any]:
    """Operands that broadcast as those of one sample do: samples get axes of length 1."""
    rank = max([len(shape_of(x)) for x in xs if x is not None])
    return [_with_rank(x, rank) if isinstance(x, Samples) else x for x in xs]


def _with_rank(x: Samples, rank: int) -> Any:
    """The tensor with axes of length 1 before those of a sample, or without them."""
    size, *shape = x.tensor._data.shape
    if len(shape) == rank:
        return x.tensor
    more = len(shape) - rank
    return ops.reshape(x.tensor, (size, *(1,) * -more, *shape[max(more, 0) :]))


def _in_shape(batch: Batch, result: Any) -> Any:
    """A result, in the shape that it has for each sample."""
    wanted = (batch.size, *batch.shape)
    return result if result._data.shape == wanted else ops.reshape(result, wanted)


def _moved(axis: Any, rank: int) -> Any:
    """An axis, or several, of a sample as those of all samples."""
    if isinstance(axis, Iterable):
        return tuple(each % max(rank, 1) + 1 for each in axis)
    return axis % max(rank, 1) + 1


# Families --------------------------------------------------------------------------------------

_UFUNCS = [
    op for function, op in by_numpy.items()
    if isinstance(function, np.ufunc) and function.signature is None
]  # fmt: skip
_AXES = {"axis", "axis1", "axis2", "source", "destination", "axes"}
"""The names of parameters that are axes."""


@batching_rule(
    *_UFUNCS, "alias", "astype", "clamped_log", "clip", "copy", "cross", "detach", "digamma",
    "entr", "erf", "erfc", "erfinv", "gelu", "hardtanh", "isclose", "lgamma", "logit",
    "nan_to_num", "polygamma", "relu", "rotate_pairs", "rsqrt", "sigmoid", "silu", "sinc",
    "softplus", "solve_triangular", "to_integer", "vecdot", "where", "xlog1py", "xlogy",
)  # fmt: skip
def elementwise(batch: Batch, *values: Any) -> Any:
    """Operands broadcast: those with fewer axes get axes of length 1 after that of the samples."""
    count = batch.op.arrays
    return batch.run(*aligned(*values[:count]), *values[count:])


@batching_rule("masked_fill")
def _masked_fill(batch: Batch, x: Any, mask: Any, value: Any) -> Any:
    x, mask, value = aligned(x, mask, value)
    return _in_shape(batch, ops.where(mask, ops.astype(value, x.dtype), x))


@batching_rule(
    "all", "any", "argmax", "argmin", "argsort", "count_nonzero", "cumprod", "cumsum", "diagonal",
    "flip", "log_softmax", "logcumsumexp", "logsumexp", "max", "mean", "median", "min", "moveaxis",
    "nanmean", "norm", "prod", "repeat", "roll", "rot90", "running_places", "scatter_diagonal",
    "softmax", "sort", "std", "sum", "sum_parts", "swapaxes", "topk", "unfold", "var",
)  # fmt: skip
def along_axes(batch: Batch, x: Samples, *static: Any) -> Any:
    """Axes are counted after that of the samples; no axis means that of the flattened sample."""
    if any(isinstance(each, Samples) for each in static):
        return NotImplemented
    named = dict(zip(batch.op.params[1:], static, strict=True))
    tensor, rank = x.tensor, len(named.get("shape", x.shape))
    axis = named.get("axis", ())
    if axis is None or (not rank and axis != ()):
        named["axis"] = 0
        if rank != 1:
            tensor, rank = ops.reshape(tensor, (batch.size, -1)), 1
    for name in _AXES & named.keys():
        named[name] = _moved(named[name], rank)
    if "shape" in named:
        named["shape"] = (batch.size, *named["shape"])
    return _in_shape(batch, batch.run(tensor, *named.values()))


@batching_rule("expand_dims", "flatten", "ravel", "reshape", "squeeze")
def in_another_shape(batch: Batch, x: Samples, *static: Any) -> Any:
    """The same elements in another shape."""
    return ops.reshape(x.tensor, (batch.size, *batch.shape))


@batching_rule("broadcast_to", "expand")
def broadcast(batch: Batch, x: Samples, *static: Any) -> Any:
    """Axes of length 1 come between that of the samples and the others."""
    return ops.broadcast_to(_with_rank(x, len(batch.shape)), (batch.size, *batch.shape))


@batching_rule("transpose")
def _transpose(batch: Batch, x: Samples, axes: Any) -> Any:
    order = range(len(x.shape))[::-1] if axes is None else axes
    return ops.transpose(x.tensor, (0, *_moved(order, len(x.shape))))


@batching_rule("concatenate", "stack")
def joined(batch: Batch, tensors: Sequence[Any], axis: int) -> Any:
    """Repeat for each sample a value that is the same for all."""
    return batch.run([whole(x, batch.size) for x in tensors], _moved(axis, len(batch.shape)))


@batching_rule("pad")
def _pad(batch: Batch, x: Samples, widths: Any, mode: str, constants: Any) -> Any:
    if np.ndim(constants):
        return NotImplemented
    return batch.run(x.tensor, ((0, 0), *widths), mode, constants)


@batching_rule("tile")
def _tile(batch: Batch, x: Samples, reps: Any) -> Any:
    reps, rank = np.atleast_1d(reps).tolist(), len(batch.shape)
    return batch.run(_with_rank(x, rank), (1,) * (rank + 1 - len(reps)) + tuple(reps))


# Products --------------------------------------------------------------------------------------


@batching_rule("matmul")
def _matmul(batch: Batch, a: Any, b: Any) -> Any:
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(a, Samples) and not isinstance(b, Samples) and right <= 2:
        return ops.matmul(a.tensor, b)  # of vectors: (samples, k) @ (k, m)
    if left == 1:
        a = Samples(ops.expand_dims(whole(a, batch.size), 1))
    if right == 1:
        b = Samples(ops.expand_dims(whole(b, batch.size), 2))
    return _in_shape(batch, ops.matmul(*aligned(a, b)))


@batching_rule("linear")
def _linear(batch: Batch, x: Any, weight: Any, bias: Any) -> Any:
    if not isinstance(weight, Samples) and not isinstance(bias, Samples):
        return batch.run(x.tensor, weight, bias)
    turned = Samples(ops.swapaxes(whole(weight, batch.size), 1, 2))
    product = Samples(_matmul(batch, x, turned))
    return product.tensor if bias is None else ops.add(*aligned(product, bias))


@batching_rule("solve")
def _solve(batch: Batch, a: Any, b: Any) -> Any:
    if len(shape_of(b)) > 1:
        return batch.run(*aligned(a, b))
    column = Samples(ops.expand_dims(whole(b, batch.size), 2))
    return ops.squeeze(batch.run(*aligned(a, column)), -1)


@batching_rule("einsum")
def _einsum(batch: Batch, operands: Sequence[Any], inputs: Sequence[str], output: str) -> Any:
    label = next(c for c in string.ascii_letters if c not in "".join(inputs))
    labelled = [
        label + terms if isinstance(x, Samples) else terms
        for x, terms in zip(operands, inputs, strict=True)
    ]
    tensors = [x.tensor if isinstance(x, Samples) else x for x in operands]
    return batch.run(tensors, tuple(labelled), label + output)


@batching_rule(
    "cholesky", "det", "eigh", "eigvalsh", "inv", "layer_norm", "lu", "matrix_rank", "permutation",
    "pinv", "qr", "rms_norm", "svd", "svdvals", "tril", "triu",
)  # fmt: skip
def last_axes(batch: Batch, x: Samples, *others: Any) -> Any:
    """Functions of the last axes, such as those of matrices, run on stacks of them."""
    if any(isinstance(each, Samples) for each in others):
        return NotImplemented
    return batch.run(x.tensor, *others)


# Indices ---------------------------------------------------------------------------------------

INDEXED = {_OP[name] for name in ("getitem", "scatter_extreme", "scatter_index", "setitem")}
"""The ops with an index that is not an operand, and may differ from sample to sample."""


class _Index(NamedTuple):
    """An index of all samples.

    Attributes:
        parts: The index itself.
        order: The axes of what it reads, in the order in which the index of a sample has them.
    """

    parts: tuple[Any, ...]
    order: tuple[int, ...]

    def read(self, x: Any) -> Any:
        """Read a part of all samples."""
        return self._ordered(ops.getitem(x, self.parts), self.order)

    def fit(self, value: Any, size: int) -> Any:
        """A value for that part, with its axes as the index has them."""
        value = _with_rank(Samples(whole(value, size)), len(self.order) - 1)
        return self._ordered(value, tuple(np.argsort(self.order).tolist()))

    def _ordered(self, x: Any, order: tuple[int, ...]) -> Any:
        return x if order == tuple(range(len(order))) else ops.transpose(x, order)


def _index(size: int, index: Any, shape: tuple[int, ...], own: bool = True) -> _Index:
    """An index of a sample of `shape` as one of all samples; `own` says whether they differ."""
    several = isinstance(index, tuple) and not isinstance(index, Samples)
    parts = list(index) if several else [index]
    if any(isinstance(part, Samples) and part.tensor.dtype == bool for part in parts):
        what = "an index by a mask that differs from sample to sample"
        raise CannotMap(f"vmap: {what} reads another number of elements: use where(mask, x, 0)")
    if any(part is Ellipsis for part in parts):
        at = next(i for i, part in enumerate(parts) if part is Ellipsis)
        used = sum(part.ndim if _is_mask(part) else part is not None for part in parts) - 1
        parts[at : at + 1] = [slice(None)] * (len(shape) - used)
    logical = tuple([np.zeros(x.shape, np.intp) if isinstance(x, Samples) else x for x in parts])
    rank = np.broadcast_to(np.False_, shape)[logical].ndim
    arrays = [i for i, part in enumerate(logical) if isinstance(part, np.ndarray)]
    numbers = [i for i, part in enumerate(logical) if isinstance(part, int)]
    if not arrays or (len(arrays) + len(numbers) == 1 and parts[arrays[0]] is logical[arrays[0]]):
        return _Index((slice(None), *parts), tuple(range(rank + 1)))
    # The arrays come first in what is read, behind the numbers of the samples; in the order of the
    # sample, their axes come where they stand if they stand side by side.
    chosen = sorted(arrays + numbers)
    before = chosen[0] if chosen[-1] - chosen[0] < len(chosen) else 0
    inner = max([1 if _is_mask(logical[i]) else logical[i].ndim for i in arrays])
    samples = np.arange(size).reshape(size, *(1,) * inner) * own
    every = [_with_rank(x, inner)._data if isinstance(x, Samples) else x for x in parts]
    axes, end = [*range(1, rank + 1)], inner + before
    return _Index((samples, *every), (0, *axes[inner:end], *axes[:inner], *axes[end:]))


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == np.bool_


@batching_rule("getitem")
def _getitem(batch: Batch, x: Any, index: Any) -> Any:
    own = isinstance(x, Samples)
    every = _index(batch.size, index, shape_of(x), own)
    return every.read(x.tensor if own else ops.expand_dims(x, 0))


@batching_rule("setitem")
def _setitem(batch: Batch, x: Any, value: Any, index: Any, in_place: bool = False) -> Any:
    every = _index(batch.size, index, shape_of(x))
    return ops.setitem(whole(x, batch.size), every.parts, every.fit(value, batch.size))


@batching_rule("scatter_index")
def _scatter_index(batch: Batch, value: Any, index: Any, shape: Any) -> Any:
    every = _index(batch.size, index, tuple(shape))
    return batch.run(every.fit(value, batch.size), normalized(every.parts), (batch.size, *shape))


@batching_rule("take")
def _take(batch: Batch, x: Any, indices: Any, axis: Any) -> Any:
    if not isinstance(indices, Samples):
        return along_axes(batch, x, indices, axis)
    if axis is None:
        return NotImplemented
    return _getitem(batch, x, (*[slice(None)] * (axis % len(shape_of(x))), indices))


@batching_rule("embedding")
def _embedding(batch: Batch, ids: Any, weight: Any, *options: Any) -> Any:
    if not isinstance(weight, Samples):
        return batch.run(ids.tensor, weight, *options)
    if not isinstance(ids, Samples):
        return ops.take(weight.tensor, ids, 1)
    return _getitem(batch, weight, ids)


@batching_rule("gather", "scatter", "scatter_add", "scatter_extreme", "take_along_axis")
def by_places(batch: Batch, *values: Any) -> Any:
    """The axis is counted after that of the samples, and what is the same for all is repeated."""
    place = batch.op.places["axis"]
    arrays, axis, rest = values[:place], values[place], values[place + 1 :]
    if any(not shape_of(x) for x in arrays):
        return NotImplemented
    axis = _moved(axis, len(shape_of(arrays[0])))
    return batch.run(*[whole(x, batch.size) for x in arrays], axis, *rest)


# Layers ----------------------------------------------------------------------------------------


def _images(x: Any, size: int) -> Any:
    """The axis of the samples and the first one, that of the images, as one axis."""
    count, *shape = shape_of(x)
    return ops.reshape(whole(x, size), (size * count, *shape))


def _channels(x: Any, size: int) -> Any:
    """The axis of the samples and the second one, that of the channels, as one axis."""
    images, channels, *lengths = shape_of(x)
    return ops.reshape(ops.swapaxes(whole(x, size), 0, 1), (images, size * channels, *lengths))


def _of_channels(batch: Batch, result: Any) -> Any:
    """A result with the axis of the samples for itself again."""
    images, *shape = batch.shape
    return ops.swapaxes(ops.reshape(result, (images, batch.size, *shape)), 0, 1)


@batching_rule(
    "convolution", "convolution_transpose", "max_pool", "max_pool_places", "sum_pool",
    "sum_pool_transpose",
)  # fmt: skip
def images(batch: Batch, x: Any, *others: Any) -> Any:
    """The samples go into the axis of the images; each is a group if the weights differ."""
    if not any(isinstance(each, Samples) for each in others):
        return _in_shape(batch, batch.run(_images(x, batch.size), *others))
    count = batch.op.arrays - 1
    weights = [None if each is None else _images(each, batch.size) for each in others[:count]]
    *rest, groups = others[count:]
    out = batch.run(_channels(x, batch.size), *weights, *rest, groups * batch.size)
    return _of_channels(batch, out)


@batching_rule("convolution_weight")
def _convolution_weight(batch: Batch, x: Any, y: Any, *static: Any) -> Any:
    *rest, groups = static
    out = batch.run(_channels(x, batch.size), _channels(y, batch.size), *rest, groups * batch.size)
    return _in_shape(batch, out)


@batching_rule("batch_norm")
def _batch_norm(batch: Batch, x: Any, weight: Any, bias: Any, eps: float) -> Any:
    scale, shift = [None if each is None else _images(each, batch.size) for each in (weight, bias)]
    out, mean, var = batch.run(_channels(x, batch.size), scale, shift, eps)
    mean, var = [ops.reshape(each, (batch.size, batch.shape[1])) for each in (mean, var)]
    return _of_channels(batch, out), mean, var, mean, ops.sqrt(var + eps)


@batching_rule("dropout")
def _dropout(batch: Batch, x: Any, p: float, key: Any) -> Any:
    """The key of the first sample drops other elements in each, where each has its own."""
    if isinstance(key, Keys):
        return batch.run(whole(x, batch.size), p, key.of(0))
    factor = batch.run(np.ones(x.shape, x.tensor.dtype), p, key)
    return ops.where(factor != 0, x.tensor * factor, 0)


@batching_rule("attention")
def _attention(batch: Batch, query: Any, *given: Any) -> Any:
    """Samples are one more axis before the heads; where dropout is the same, the parts run."""
    *others, dropout, key = given
    if dropout and not isinstance(key, Keys):
        return NotImplemented
    arrays = aligned(Samples(whole(query, batch.size)), *others[:4])
    return batch.run(*arrays, *others[4:], dropout, key and key.of(0))
