"""One table of calls for every op, and the plainest NumPy spelling of what each op means.

A case is a function of a namespace and of arrays, ``lambda m, a, b: m.add(a, b)``, so the same
table runs on minigrad (`OURS`), on NumPy (`NAIVE`) and, in tests/parity, on PyTorch.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import linalg, ops
from minigrad.autograd.engine import alias
from minigrad.ops.activation import hardtanh
from minigrad.ops.convolution import convolution_weight
from minigrad.ops.diagonals import scatter_diagonal
from minigrad.ops.dropout import dropout_factor
from minigrad.ops.indexing import scatter
from minigrad.ops.pooling import sum_parts, sum_pool_transpose

OURS = SimpleNamespace(**{name: getattr(ops, name) for name in ops.__all__})
OURS.alias, OURS.scatter, OURS.scatter_diagonal = alias, scatter, scatter_diagonal
OURS.convolution_weight, OURS.sum_pool_transpose = convolution_weight, sum_pool_transpose
OURS.hardtanh, OURS.sum_parts, OURS.linalg = hardtanh, sum_parts, linalg


class Naive:
    """NumPy, with the functions it lacks written without a thought for range or speed."""

    alias = staticmethod(lambda x: x)
    clone = staticmethod(np.copy)
    relu = staticmethod(lambda x: np.where(x > 0, x, 0))
    sigmoid = staticmethod(lambda x: 1 / (1 + np.exp(-x)))
    silu = staticmethod(lambda x: x / (1 + np.exp(-x)))
    softplus = staticmethod(lambda x, beta=1.0: np.log(1 + np.exp(beta * x)) / beta)
    hardtanh = staticmethod(lambda x, low=-1.0, high=1.0: np.clip(x, low, high))
    erf = staticmethod(lambda x: np.vectorize(math.erf, otypes=[float])(x))
    getitem = staticmethod(lambda x, index: x[index])
    dropout = staticmethod(lambda x, p, key: x * dropout_factor(key, x.shape, p, x.dtype))
    embedding = staticmethod(lambda ids, weight, padding_idx=None: weight[ids])
    masked_fill = staticmethod(lambda x, mask, value: np.where(mask, np.reshape(value, ()), x))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def gelu(x: Any, approximate: str = "none") -> Any:
        if approximate == "none":
            return x * 0.5 * (1 + Naive.erf(x / math.sqrt(2)))
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    @staticmethod
    def norm(x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
        if ord == math.inf:
            return np.abs(x).max(axis=axis, keepdims=keepdims)
        return (np.abs(x) ** ord).sum(axis=axis, keepdims=keepdims) ** (1 / ord)

    @staticmethod
    def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))

    @staticmethod
    def softmax(x: Any, axis: int = -1) -> Any:
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)

    @staticmethod
    def log_softmax(x: Any, axis: int = -1) -> Any:
        return np.log(Naive.softmax(x, axis))

    @staticmethod
    def scatter(value: Any, index: Any, shape: Any) -> Any:
        out = np.zeros(shape, value.dtype)
        np.add.at(out, index, value)
        return out

    @staticmethod
    def scatter_diagonal(value: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
        out = np.zeros(shape, value.dtype)
        for place in np.ndindex(shape):
            row, column = place[axis1], place[axis2]
            if column - row == offset:
                others = [i for axis, i in enumerate(place) if axis not in (axis1, axis2)]
                out[place] = value[(*others, min(row, column))]
        return out

    @staticmethod
    def setitem(x: Any, index: Any, value: Any) -> Any:
        out = np.array(x)
        out[index] = value
        return out

    @staticmethod
    def expand(x: Any, *sizes: int) -> Any:
        new = len(sizes) - x.ndim
        kept = [x.shape[i - new] if n == -1 else n for i, n in enumerate(sizes)]
        return x * np.ones(kept)

    @staticmethod
    def flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
        shape = x.shape or (1,)
        start, end = start_axis % len(shape), end_axis % len(shape)
        return x.reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])

    @staticmethod
    def unbind(x: Any, axis: int = 0) -> Any:
        return [x.take(i, axis) for i in range(x.shape[axis])]

    @staticmethod
    def chunk(x: Any, chunks: int, axis: int = 0) -> Any:
        size = math.ceil(x.shape[axis] / chunks)
        return np.split(x, range(size, x.shape[axis], size), axis)

    @staticmethod
    def gather(x: Any, axis: int, index: Any) -> Any:
        out = np.empty(index.shape)
        for place in np.ndindex(index.shape):
            source = list(place)
            source[axis] = index[place]
            out[place] = x[tuple(source)]
        return out

    @staticmethod
    def scatter_add(x: Any, axis: int, index: Any, src: Any) -> Any:
        out = np.array(x)
        for place in np.ndindex(index.shape):
            target = list(place)
            target[axis] = index[place]
            out[tuple(target)] += src[place]
        return out

    @staticmethod
    def sort(x: Any, axis: int | None = -1, descending: bool = False) -> Any:
        return -np.sort(-x, axis) if descending else np.sort(x, axis)

    @staticmethod
    def topk(
        x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
    ) -> tuple[Any, Any]:
        places = np.argsort(-x if largest else x, axis, kind="stable")
        places = np.moveaxis(np.moveaxis(places, axis, 0)[:k], 0, axis)
        places = places if sorted else np.sort(places, axis)
        return np.take_along_axis(x, places, axis), places

    @staticmethod
    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        return x @ weight.T + (0 if bias is None else bias)

    @staticmethod
    def layer_norm(
        x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
    ) -> Any:
        axes = tuple(range(-ndim, 0))
        out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
        return out * (1 if weight is None else weight) + (0 if bias is None else bias)

    @staticmethod
    def rms_norm(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
        out = x / np.sqrt((x * x).mean(tuple(range(-ndim, 0)), keepdims=True) + eps)
        return out * (1 if weight is None else weight)

    @staticmethod
    def rotate_pairs(x: Any, cos: Any, sin: Any, interleaved: bool = True) -> Any:
        """One pair at a time, as complex numbers."""
        half = x.shape[-1] // 2
        cos, sin = (np.broadcast_to(a, (*x.shape[:-1], half)) for a in (cos, sin))
        out = np.empty(x.shape)
        for i in range(half):
            one, other = (2 * i, 2 * i + 1) if interleaved else (i, i + half)
            turned = (x[..., one] + 1j * x[..., other]) * (cos[..., i] + 1j * sin[..., i])
            out[..., one], out[..., other] = turned.real, turned.imag
        return out

    @staticmethod
    def cross_entropy(
        logits: Any,
        target: Any,
        weight: Any = None,
        *,
        reduction: str = "mean",
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
    ) -> Any:
        """One target at a time."""
        axis = min(1, logits.ndim - 1)
        classes = logits.shape[axis]
        log_p = Naive.log_softmax(logits, axis)
        weight = np.ones(classes) if weight is None else np.asarray(weight)
        target = np.asarray(target)
        losses, total = np.zeros(target.shape), 0.0
        for place in np.ndindex(target.shape):
            if target[place] == ignore_index:
                continue
            row = log_p[(*place[:1], slice(None), *place[1:])]
            wanted = weight * label_smoothing / classes
            wanted[target[place]] += weight[target[place]] * (1 - label_smoothing)
            losses[place] = -(wanted * row).sum()
            total += weight[target[place]]
        return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / total}[reduction]

    @staticmethod
    def attention_weights(
        query: Any,
        key: Any,
        bias: Any = None,
        keep: Any = None,
        *,
        causal: bool = False,
        scale: float | None = None,
    ) -> Any:
        scores = query @ key.swapaxes(-1, -2)
        scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
        scores = scores + (0 if bias is None else bias)
        may = np.broadcast_to(True if keep is None else keep, scores.shape)
        if causal:
            may = may & np.tri(*scores.shape[-2:], dtype=bool)
        e = np.where(may, np.exp(scores), 0)
        total = e.sum(-1, keepdims=True)
        return np.divide(e, total, out=np.zeros_like(e), where=total != 0)

    @staticmethod
    def attention(
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
        weights = Naive.attention_weights(query, key, bias, keep, causal=causal, scale=scale)
        if dropout:
            weights = weights * dropout_factor(dropout_key, weights.shape, dropout, weights.dtype)
        return weights @ value

    @staticmethod
    def windows(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, fill: float) -> Any:
        """Every window of an input, one at a time, with its place in the output."""
        wide = np.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)
        spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        counts = [
            (n - span) // s + 1 for n, span, s in zip(wide.shape[2:], spans, stride, strict=True)
        ]
        for place in np.ndindex(*counts):
            starts = [p * s for p, s in zip(place, stride, strict=True)]
            cut = [slice(a, a + n, d) for a, n, d in zip(starts, spans, dilation, strict=True)]
            yield place, (slice(None), slice(None), *cut), wide

    @staticmethod
    def convolution(
        x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        """One window of one group at a time."""
        found = {}
        inner, outer = weight.shape[1], weight.shape[0] // groups
        for place, cut, wide in Naive.windows(x, weight.shape[2:], stride, padding, dilation, 0.0):
            for group in range(groups):
                channels = slice(group * inner, (group + 1) * inner)
                for o in range(group * outer, (group + 1) * outer):
                    product = wide[cut][:, channels] * weight[o]
                    found[(o, *place)] = product.sum((*range(1, x.ndim),))
        out = np.zeros((len(x), *np.max([*found], axis=0) + 1))
        for place, value in found.items():
            out[(slice(None), *place)] = value + (0 if bias is None else bias[place[0]])
        return out

    @staticmethod
    def convolution_transpose(y: Any, weight: Any, size: Any, *rest: Any) -> Any:
        """A convolution is linear in its input: its matrix, transposed."""
        shape = (1, weight.shape[1] * rest[3], *size)
        basis = np.eye(math.prod(shape)).reshape(-1, *shape[1:])
        matrix = Naive.convolution(basis, weight, None, *rest)
        return np.tensordot(y, matrix, ((*range(1, y.ndim),),) * 2).reshape(len(y), *shape[1:])

    @staticmethod
    def convolution_weight(x: Any, y: Any, kernel: Any, *rest: Any) -> Any:
        """A convolution is linear in its weight."""
        out = np.zeros((y.shape[1], x.shape[1] // rest[3], *kernel))
        for place in np.ndindex(out.shape):
            one = np.zeros(out.shape)
            one[place] = 1
            out[place] = (Naive.convolution(x, one, None, *rest) * y).sum()
        return out

    @staticmethod
    def max_pool(x: Any, *window: Any) -> Any:
        found = {p: w[c].max((*range(2, x.ndim),)) for p, c, w in Naive.windows(x, *window, -1e9)}
        return Naive.placed(found)

    @staticmethod
    def sum_pool(x: Any, *window: Any) -> Any:
        found = {p: w[c].sum((*range(2, x.ndim),)) for p, c, w in Naive.windows(x, *window, 0.0)}
        return Naive.placed(found)

    @staticmethod
    def sum_parts(x: Any, axis: int, count: int) -> Any:
        n = x.shape[axis]
        cuts = [(i * n // count, math.ceil((i + 1) * n / count)) for i in range(count)]
        return np.stack([x.take(range(a, b), axis).sum(axis) for a, b in cuts], axis)

    @staticmethod
    def placed(found: dict[tuple[int, ...], Any]) -> Any:
        """An output from what was found at each place."""
        out = np.zeros((*next(iter(found.values())).shape, *np.max([*found], axis=0) + 1))
        for place, value in found.items():
            out[(slice(None), slice(None), *place)] = value
        return out

    @staticmethod
    def sum_pool_transpose(y: Any, size: Any, *window: Any) -> Any:
        basis = np.eye(math.prod(size)).reshape(-1, 1, *size)
        matrix = Naive.sum_pool(basis, *window).reshape(len(basis), -1)
        return (y.reshape(*y.shape[:2], -1) @ matrix.T).reshape(*y.shape[:2], *size)

    @staticmethod
    def batch_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
        """One channel at a time."""
        out, means, variances = np.zeros(x.shape), np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for c in range(x.shape[1] if x.size else 0):
            means[c], variances[c] = x[:, c].mean(), x[:, c].var()
            out[:, c] = (x[:, c] - means[c]) / np.sqrt(variances[c] + eps)
            out[:, c] *= 1 if weight is None else weight[c]
            out[:, c] += 0 if bias is None else bias[c]
        return out, means, variances

    @staticmethod
    def lstm(gates: Any, weight: Any, h0: Any, c0: Any) -> Any:
        out = np.zeros((2, len(gates), *h0.shape))
        h, c = h0, c0
        for t, now in enumerate(gates):
            i, f, g, o = np.split(now + h @ weight.T, 4, axis=1)
            c = Naive.sigmoid(f) * c + Naive.sigmoid(i) * np.tanh(g)
            h = Naive.sigmoid(o) * np.tanh(c)
            out[:, t] = h, c
        return out

    @staticmethod
    def gru(gates: Any, weight: Any, bias: Any, h0: Any) -> Any:
        out = np.zeros((len(gates), *h0.shape))
        h = h0
        for t, now in enumerate(gates):
            a_r, a_z, a_n = np.split(now, 3, axis=1)
            u_r, u_z, u_n = np.split(h @ weight.T + (0 if bias is None else bias), 3, axis=1)
            z = Naive.sigmoid(a_z + u_z)
            h = (1 - z) * np.tanh(a_n + Naive.sigmoid(a_r + u_r) * u_n) + z * h
            out[t] = h
        return out

    @staticmethod
    def rnn(gates: Any, weight: Any, h0: Any, nonlinearity: str = "tanh") -> Any:
        out = np.zeros((len(gates), *h0.shape))
        h = h0
        for t, now in enumerate(gates):
            a = now + h @ weight.T
            h = out[t] = np.tanh(a) if nonlinearity == "tanh" else np.maximum(a, 0)
        return out


NAIVE = Naive()


@dataclasses.dataclass(frozen=True)
class Case:
    """A call of an op.

    Attributes:
        op: The name in the registry of primitives, or of the function on top of it.
        name: What is special about this call.
        call: A function of a namespace and of the inputs.
        inputs: Arrays of float64, each of which gets a gradient.
    """

    op: str
    name: str
    call: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]

    def __str__(self) -> str:
        return f"{self.op}-{self.name}".replace(" ", "")

    def on(self, namespace: Any) -> Callable[..., Any]:
        """The call as a function of the inputs alone."""
        return lambda *inputs: self.call(namespace, *inputs)


_count = itertools.count()


def normal(*shape: int) -> np.ndarray:
    """Normal numbers, none within 0.05 of zero, so that no kink lies within a difference."""
    x = np.random.default_rng([7, next(_count), *shape]).standard_normal(shape)
    return np.asarray(x + np.copysign(0.05, x))


def positive(*shape: int) -> np.ndarray:
    return np.asarray(np.abs(normal(*shape)) + 0.3)


def spaced(*shape: int) -> np.ndarray:
    """Numbers of both signs, no two nearer than 0.1 in size or value, also to other arrays'."""
    rng = np.random.default_rng([11, next(_count), *shape])
    n = math.prod(shape)
    sizes = 0.2 * (rng.permutation(n) + 1) + 0.013 * (next(_count) % 7)
    return np.asarray(sizes * rng.choice([-1.0, 1.0], n)).reshape(shape)


def between(*shape: int) -> np.ndarray:
    """Numbers of both signs, none within 0.2 of a whole number or a half: no step is near."""
    rng = np.random.default_rng([13, next(_count), *shape])
    return np.asarray(rng.integers(-4, 5, shape) + rng.choice([0.2, 0.3, 0.7, 0.8], shape))


def inside(*shape: int) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return np.asarray(0.9 * np.tanh(normal(*shape)))


def factors(*shape: int) -> np.ndarray:
    """Numbers of both signs and of size near 1, whose product stays of that size."""
    rng = np.random.default_rng([17, next(_count), *shape])
    return np.asarray(rng.uniform(0.7, 1.4, shape) * rng.choice([-1.0, 1.0], shape))


BROADCASTS = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((1, 3), (2, 1, 1)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((1,), ()),
    ((0, 3), (3,)),
    ((2, 0), (2, 1)),
]
# Two zeros in a row, one in another, none in the third; the columns differ likewise.
ZEROS = np.array([[1.2, 0.0, 0.0, -0.7], [0.8, 1.5, 0.0, 1.1], [0.6, -1.3, 0.9, 0.0]])
AXES: list[Any] = [None, 0, -1, (0, 2), (-1, 0), (1, -3, 2), ()]


def elementwise() -> Iterator[Case]:
    makers = {
        "divide": (normal, positive),
        "power": (positive, normal),
        "maximum": (spaced, spaced),
        "minimum": (spaced, spaced),
    }
    for op in (
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "maximum",
        "minimum",
        "arctan2",
        "hypot",
        "logaddexp",
        "copysign",
    ):
        first, second = makers.get(op, (normal, normal))
        for left, right in BROADCASTS:
            call = lambda m, a, b, op=op: getattr(m, op)(a, b)
            yield Case(op, f"{left}{right}", call, (first(*left), second(*right)))
        for scalar in (2.0, 3, -0.7):
            if op != "power" or scalar != -0.7:
                call = lambda m, x, op=op, c=scalar: getattr(m, op)(c, x)
                yield Case(op, f"{scalar} on the left", call, (second(2, 3),))
            call = lambda m, x, op=op, c=scalar: getattr(m, op)(x, c)
            yield Case(op, f"{scalar} on the right", call, (first(2, 3),))
        yield Case(op, "with itself", lambda m, x, op=op: getattr(m, op)(x, x), (positive(2, 3),))
    for exponent in (0, 1, 2, 3, -1, -2, 0.0, 1.0, 2.0, 5):
        call = lambda m, x, c=exponent: m.power(x, c)
        yield Case("power", f"negative base to {exponent!r}", call, (normal(5),))
    whole = np.array([0.0, 1.0, 2.0, 3.0, -1.0, -2.0])
    yield Case(
        "power", "base of any sign to an array", lambda m, x: m.power(x, whole), (normal(2, 6),)
    )
    exponents = np.array([0.0, 1.0, 2.0, 3.0, -1.0, 0.5])
    yield Case(
        "power", "whole exponents", lambda m, a, b: m.power(a, b), (positive(2, 6), exponents)
    )
    for op in (
        "negative",
        "abs",
        "square",
        "exp",
        "tanh",
        "erf",
        "relu",
        "sigmoid",
        "silu",
        "gelu",
        "alias",
        "clone",
    ):
        for shape in ((2, 3), (), (0, 2)):
            call = lambda m, x, op=op: getattr(m, op)(x)
            yield Case(op, f"{shape}", call, (normal(*shape),))
    for op in ("sqrt", "log"):
        for shape in ((2, 3), (), (0, 2)):
            call = lambda m, x, op=op: getattr(m, op)(x)
            yield Case(op, f"{shape}", call, (positive(*shape),))
    wide = np.linspace(-6.3, 6.3, 14)
    for op in ("tanh", "erf", "sigmoid", "silu", "gelu"):
        yield Case(op, "wide", lambda m, x, op=op: getattr(m, op)(x), (wide,))
    tanh = lambda m, x: m.gelu(x, approximate="tanh")
    yield Case("gelu", "tanh", tanh, (wide,))
    yield Case("gelu", "tanh ()", tanh, (normal(),))
    yield Case("clip", "both", lambda m, x: m.clip(x, -0.5, 0.7), (spaced(2, 5),))
    yield Case("clip", "low", lambda m, x: m.clip(x, -0.5, None), (spaced(2, 5),))
    yield Case("clip", "high", lambda m, x: m.clip(x, None, 0.5), (spaced(2, 5),))
    between = np.array([[-2.0, -0.5, 0.3, 0.9, 2.0]] * 2)
    bounds = (between, np.array([[-1.0], [-0.7]]), np.array([1.0, 1.1, 1.2, 0.6, 1.4]))
    yield Case("clip", "between tensors", lambda m, x, low, high: m.clip(x, low, high), bounds)
    crossed = (np.array([0.0, 1.5, 3.0]), np.array(2.0), np.array(1.0))
    yield Case("clip", "crossed bounds", lambda m, x, low, high: m.clip(x, low, high), crossed)
    condition = np.array([[True, False, True], [False, False, True]])
    for left, right in [*BROADCASTS[:9], ((2, 1, 3), (3,))]:
        call = lambda m, a, b: m.where(condition, a, b)
        yield Case("where", f"{left}{right}", call, (normal(*left), normal(*right)))
    yield Case("where", "scalars", lambda m, a: m.where(condition, 2.0, a), (normal(2, 3),))
    yield Case(
        "where", "0-d condition", lambda m, a, b: m.where(True, a, b), (normal(2, 3), normal(3))
    )
    yield Case(
        "masked_fill", "number", lambda m, x: m.masked_fill(x, condition, -1.7), (normal(2, 3),)
    )
    fill = lambda m, x, v: m.masked_fill(x, condition, v)
    yield Case("masked_fill", "tensor ()", fill, (normal(2, 3), normal()))
    yield Case("masked_fill", "tensor (1, 1)", fill, (normal(2, 3), normal(1, 1)))
    yield Case("masked_fill", "tensor (1, 1, 1)", fill, (normal(2, 3), normal(1, 1, 1)))
    yield Case(
        "masked_fill",
        "broadcast mask",
        lambda m, x: m.masked_fill(x, condition, 2.0),
        (normal(4, 2, 3),),
    )
    yield Case("masked_fill", "broadcast x", fill, (normal(3), normal()))
    for p in (0.0, 0.4, 1.0):
        yield Case("dropout", f"{p}", lambda m, x, p=p: m.dropout(x, p, 5), (normal(4, 5),))
    yield Case("dropout", "of a number", lambda m, x: m.dropout(x, 0.5, 5), (normal(),))


UNARY: dict[str, tuple[Callable[..., np.ndarray], ...]] = {
    "sin": (normal,),
    "cos": (normal,),
    "tan": (inside,),
    "arcsin": (inside,),
    "arccos": (inside,),
    "arctan": (normal,),
    "sinh": (normal,),
    "cosh": (normal,),
    "arcsinh": (normal,),
    "arccosh": (lambda *shape: positive(*shape) + 1,),
    "arctanh": (inside,),
    "deg2rad": (normal,),
    "rad2deg": (normal,),
    "exp2": (normal,),
    "expm1": (normal, lambda *shape: 1e-3 * normal(*shape)),
    "log2": (positive,),
    "log10": (positive,),
    "log1p": (positive, inside),
    "reciprocal": (normal,),
    "cbrt": (normal,),
    "softplus": (normal,),
    "floor": (between,),
    "ceil": (between,),
    "trunc": (between,),
    "round": (between,),
    "sign": (between,),
}


def functions() -> Iterator[Case]:
    """The functions of one number, and what goes in steps."""
    for op, makers in UNARY.items():
        for maker, shape in itertools.product(makers, ((2, 3), (), (0, 2))):
            call = lambda m, x, op=op: getattr(m, op)(x)
            yield Case(op, f"{shape}", call, (maker(*shape),))
    for bounds in ((), (0.0, 0.9), (-0.4, 5.0)):
        call = lambda m, x, b=bounds: m.hardtanh(x, *b)
        yield Case("hardtanh", f"between {bounds}", call, (between(2, 3),))
    wide = np.linspace(-6.3, 6.3, 14)
    for op in ("sin", "cos", "arctan", "sinh", "cosh", "arcsinh", "expm1", "exp2", "softplus"):
        yield Case(op, "wide", lambda m, x, op=op: getattr(m, op)(x), (wide,))
    for beta in (0.5, 3, -2.0):
        yield Case("softplus", f"beta {beta}", lambda m, x, b=beta: m.softplus(x, b), (wide,))
    for decimals in (1, 0, -1):
        call = lambda m, x, d=decimals: m.round(x, d)
        yield Case("round", f"{decimals} decimals", call, (between(5),))
    for op in ("floor_divide", "remainder"):
        call = lambda m, a, b, op=op: getattr(m, op)(a, b)
        for left, right in BROADCASTS:
            divisor = np.copysign(1.3, normal(*right))
            yield Case(op, f"{left}{right}", call, (1.3 * between(*left), divisor))
        x = np.array([[-2.6, -0.9, 0.5], [1.1, 2.9, 5.3]])
        for scalar in (2.0, 3, -0.7):
            call = lambda m, x, op=op, c=scalar: getattr(m, op)(x, c)
            yield Case(op, f"{scalar} on the right", call, (x,))
            call = lambda m, x, op=op, c=scalar: getattr(m, op)(c, x)
            yield Case(op, f"{scalar} on the left", call, (np.copysign(1.3, normal(2, 3)),))


def reductions() -> Iterator[Case]:
    options: dict[str, list[dict[str, Any]]] = {
        "var": [{}, {"ddof": 1}],
        "std": [{}, {"ddof": 1}],
        "norm": [{}, {"ord": 1}, {"ord": 3}, {"ord": 1.5}, {"ord": math.inf}],
    }
    for op in ("sum", "prod", "mean", "max", "min", "var", "std", "norm", "logsumexp"):
        maker = factors if op == "prod" else spaced
        for extra, axis, keepdims in itertools.product(options.get(op, [{}]), AXES, (False, True)):
            if axis == () and extra == {"ddof": 1}:
                continue
            kwargs = {"axis": axis, "keepdims": keepdims, **extra}
            call = lambda m, x, op=op, kwargs=kwargs: getattr(m, op)(x, **kwargs)
            yield Case(op, f"{kwargs}", call, (maker(2, 3, 4),))
        for shape, axis in (
            ((), None),
            ((), ()),
            ((), 0),
            ((1,), None),
            ((4,), -1),
            ((0, 3), 1),
            ((3, 1), 1),
        ):
            if op in ("mean", "var", "std") and (shape, axis) == ((), 0):
                continue  # NumPy refuses it for these three
            call = lambda m, x, op=op, axis=axis: getattr(m, op)(x, axis=axis)
            yield Case(op, f"{shape} over {axis}", call, (spaced(*shape),))
    yield Case("norm", "of order 4", lambda m, x: m.norm(x, 4, axis=1), (spaced(2, 3),))
    for op, axis in itertools.product(("sum", "prod"), (None, 0, -1)):
        yield Case(
            op,
            f"of nothing over {axis}",
            lambda m, x, op=op, axis=axis: getattr(m, op)(x, axis=axis),
            (normal(0, 3),),
        )
    for axis in (None, 0, 1, (0, 1)):
        call = lambda m, x, axis=axis: m.prod(x, axis=axis)
        yield Case("prod", f"beside zeros over {axis}", call, (ZEROS,))
        yield Case("prod", f"beside one zero over {axis}", call, (ZEROS[:2, :2],))
    yield Case(
        "sum", "NumPy integer axis", lambda m, x: m.sum(x, axis=np.int64(1)), (normal(2, 3),)
    )
    for axis in (-1, 0, 1, -2):
        for op in ("softmax", "log_softmax"):
            call = lambda m, x, op=op, axis=axis: getattr(m, op)(x, axis=axis)
            yield Case(op, f"{axis}", call, (normal(2, 3, 4),))
    for op in ("softmax", "log_softmax"):
        yield Case(op, "(0, 3)", lambda m, x, op=op: getattr(m, op)(x), (normal(0, 3),))
        yield Case(op, "(3, 0)", lambda m, x, op=op: getattr(m, op)(x), (normal(3, 0),))


def scans() -> Iterator[Case]:
    for op, axis in itertools.product(("cumsum", "cumprod"), (None, 0, 1, -1)):
        call = lambda m, x, op=op, axis=axis: getattr(m, op)(x, axis=axis)
        yield Case(op, f"along {axis}", call, (factors(2, 3, 4),))
        yield Case(op, f"beside zeros along {axis}", call, (ZEROS,))
        yield Case(op, f"of nothing along {axis}", call, (normal(0, 3),))
        yield Case(op, f"of rows of nothing along {axis}", call, (normal(3, 0),))
    for op, n in itertools.product(("cumsum", "cumprod"), (1, 2, 5, 8, 9)):
        yield Case(op, f"of {n}", lambda m, x, op=op: getattr(m, op)(x, 0), (factors(n),))
    for op, axis in itertools.product(("cumsum", "cumprod"), (None, 0)):
        call = lambda m, x, op=op, axis=axis: getattr(m, op)(x, axis)
        yield Case(op, f"of a number along {axis}", call, (factors(),))
    for n, axis in itertools.product((0, 1, 2, 5), (0, 1, -1)):
        call = lambda m, x, n=n, axis=axis: m.diff(x, n, axis)
        yield Case("diff", f"{n} along {axis}", call, (normal(2, 3, 2),))
    yield Case("diff", "default", lambda m, x: m.diff(x), (normal(5),))
    yield Case("diff", "of nothing", lambda m, x: m.diff(x, axis=0), (normal(0, 2),))
    edges = (normal(2, 3), normal(2, 2), normal(2, 1))
    call = lambda m, x, before, after: m.diff(x, prepend=before, append=after)
    yield Case("diff", "between tensors", call, edges)
    call = lambda m, x: m.diff(x, axis=0, prepend=0.5, append=-1)
    yield Case("diff", "between numbers", call, (normal(2, 3),))


def shapes() -> Iterator[Case]:
    for shape, to in [
        ((2, 6), (3, 4)),
        ((2, 6), (-1,)),
        ((2, 6), -1),
        ((2, 6), (2, -1, 3)),
        ((), (1, 1)),
        ((1, 1), ()),
        ((0, 4), (2, 0)),
        ((6,), (2, 3)),
    ]:
        call = lambda m, x, to=to: m.reshape(x, to)
        yield Case("reshape", f"{shape} to {to}", call, (normal(*shape),))
    for axes in (None, (0, 1, 2), (2, 0, 1), (1, 2, 0), (-1, 0, -2), [0, 2, 1]):
        call = lambda m, x, axes=axes: m.transpose(x, axes)
        yield Case("transpose", f"{axes}", call, (normal(2, 3, 4),))
    yield Case("transpose", "()", lambda m, x: m.transpose(x), (normal(),))
    for one, other in ((0, 1), (-1, -3), (1, 1), (0, -1)):
        call = lambda m, x, one=one, other=other: m.swapaxes(x, one, other)
        yield Case("swapaxes", f"{one} and {other}", call, (normal(2, 3, 4),))
    for axis in (None, 0, -2, (0, 2), (-2, 0)):
        call = lambda m, x, axis=axis: m.squeeze(x, axis)
        yield Case("squeeze", f"{axis}", call, (normal(1, 3, 1, 4) if axis != 0 else normal(1, 1),))
    for axis in (0, -1, 1, (0, 2), (-1, 1)):
        call = lambda m, x, axis=axis: m.expand_dims(x, axis)
        yield Case("expand_dims", f"{axis}", call, (normal(2, 3),))
    for shape, to in [
        ((3,), (2, 3)),
        ((2, 1), (4, 2, 3)),
        ((), (2, 2)),
        ((2, 3), (2, 3)),
        ((1, 3), (0, 3)),
        ((), ()),
    ]:
        call = lambda m, x, to=to: m.broadcast_to(x, to)
        yield Case("broadcast_to", f"{shape} to {to}", call, (normal(*shape),))
    for axis in (0, 1, -1, -2):
        other = (2, 5) if axis % 2 else (4, 3)
        call = lambda m, a, b, axis=axis: m.concatenate([a, b, a], axis=axis)
        yield Case("concatenate", f"{axis}", call, (normal(2, 3), normal(*other)))
        call = lambda m, a, b, axis=axis: m.stack([a, b, a], axis=axis)
        yield Case("stack", f"{axis}", call, (normal(2, 3), normal(2, 3)))
    yield Case(
        "concatenate",
        "with nothing",
        lambda m, a, b: m.concatenate([a, b]),
        (normal(0, 3), normal(2, 3)),
    )
    yield Case(
        "concatenate",
        "flat",
        lambda m, a, b: m.concatenate([a, b], axis=None),
        (normal(1, 3), normal(2, 2)),
    )
    yield Case("concatenate", "one", lambda m, a: m.concatenate([a]), (normal(2, 3),))
    constant = normal(1, 3)
    yield Case(
        "concatenate",
        "with a constant",
        lambda m, a, b: m.concatenate([a, constant, b]),
        (normal(2, 3), normal(2, 3)),
    )
    yield Case("stack", "()", lambda m, a, b: m.stack([a, b]), (normal(), normal()))
    yield Case(
        "stack", "with a constant", lambda m, a: m.stack([constant, a], axis=-1), (normal(1, 3),)
    )
    for cuts, axis in (
        (3, 0),
        ([1, 4], 0),
        (2, 1),
        ([1], -1),
        ([], 0),
        ([-2], 0),
        ([4, 2], 0),
        (np.int64(2), 0),
    ):
        call = lambda m, x, cuts=cuts, axis=axis: m.split(x, cuts, axis)
        yield Case("split", f"{cuts} along {axis}", call, (normal(6, 2),))

    for shape in ((2, 3), (), (0, 2), (3,), (2, 1, 3, 2)):
        yield Case("ravel", f"{shape}", lambda m, x: m.ravel(x), (normal(*shape),))
        for op in ("atleast_1d", "atleast_2d", "atleast_3d"):
            yield Case(op, f"{shape}", lambda m, x, op=op: getattr(m, op)(x), (normal(*shape),))
            several = lambda m, x, y, op=op: m.concatenate(getattr(m, op)(x, y), axis=None)
            yield Case(op, f"{shape}, ()", several, (normal(*shape), normal()))
    for axes in ((), (1,), (0, 1), (-3, -2), (2, 2)):
        call = lambda m, x, axes=axes: m.flatten(x, *axes)
        yield Case("flatten", f"{axes}", call, (normal(2, 3, 4),))
    for shape in ((), (3,), (0, 3), (2, 0, 3)):
        yield Case("flatten", f"of {shape}", lambda m, x: m.flatten(x), (normal(*shape),))
    for source, destination in ((0, -1), (-1, 0), (1, 1), ((0, 1), (-1, -2)), ((2, 0), (0, 1))):
        call = lambda m, x, s=source, d=destination: m.moveaxis(x, s, d)
        yield Case("moveaxis", f"{source} to {destination}", call, (normal(2, 3, 4),))
    for shape, sizes in [
        ((3, 1), (-1, 4)),
        ((3, 1), (2, -1, -1)),
        ((1, 3), (2, 3)),
        ((), (2, 2)),
        ((1,), (0,)),
        ((2, 3), (2, 3)),
    ]:
        call = lambda m, x, sizes=sizes: m.expand(x, *sizes)
        yield Case("expand", f"{shape} to {sizes}", call, (normal(*shape),))
    for left, right in BROADCASTS:
        call = lambda m, a, b: m.stack(m.broadcast_arrays(a, b))
        yield Case("broadcast_arrays", f"{left}{right}", call, (normal(*left), normal(*right)))
    for shapes in (((2,), (3,)), ((2,),), ((2,), (3,), (4,)), ((), (3,)), ((0,), (3,))):
        for indexing in ("xy", "ij"):
            call = lambda m, *axes, i=indexing: m.stack(m.meshgrid(*axes, indexing=i))
            inputs = tuple(normal(*shape) for shape in shapes)
            yield Case("meshgrid", f"{shapes} {indexing}", call, inputs)
    for op, shapes in {
        "hstack": [
            ((2, 3), (2, 1)),
            ((2,), (3,)),
            ((), (2,)),
            ((0,), (2,)),
            ((2, 0, 1), (2, 3, 1)),
        ],
        "vstack": [
            ((2, 3), (1, 3)),
            ((3,), (2, 3)),
            ((), ()),
            ((0, 2), (1, 2)),
            ((1, 2, 1), (2, 2, 1)),
        ],
        "dstack": [
            ((2, 3), (2, 3)),
            ((3,), (3,)),
            ((), ()),
            ((2, 3, 0), (2, 3)),
            ((1, 2), (1, 2, 2)),
        ],
    }.items():
        for left, right in shapes:
            call = lambda m, a, b, op=op: getattr(m, op)([a, b, a])
            yield Case(op, f"{left}{right}", call, (normal(*left), normal(*right)))
    for cuts, axis in ((4, 0), (3, 1), ([1, 4], 0), ([], -1), (5, -1)):
        call = lambda m, x, cuts=cuts, axis=axis: m.array_split(x, cuts, axis)
        yield Case("array_split", f"{cuts} along {axis}", call, (normal(6, 2),))
    for chunks, axis in ((1, 0), (2, 0), (3, 0), (4, 0), (9, 0), (2, -1)):
        call = lambda m, x, chunks=chunks, axis=axis: m.chunk(x, chunks, axis)
        yield Case("chunk", f"{chunks} along {axis}", call, (normal(5, 2),))
    for axis in (0, 1, -1):
        call = lambda m, x, axis=axis: m.unbind(x, axis)
        yield Case("unbind", f"{axis}", call, (normal(2, 3, 4),))


def arrangements() -> Iterator[Case]:
    for axis in (None, 0, -1, (0, 2), (-1, 1), ()):
        call = lambda m, x, axis=axis: m.flip(x, axis)
        yield Case("flip", f"{axis}", call, (normal(2, 3, 4),))
    yield Case("flip", "()", lambda m, x: m.flip(x), (normal(),))
    yield Case("fliplr", "(2, 3)", lambda m, x: m.fliplr(x), (normal(2, 3),))
    yield Case("flipud", "(2, 3)", lambda m, x: m.flipud(x), (normal(2, 3),))
    for k, axes in itertools.product((0, 1, 2, 3, -1, 6), ((0, 1), (1, 0), (-1, 0))):
        call = lambda m, x, k=k, axes=axes: m.rot90(x, k, axes)
        yield Case("rot90", f"{k} in {axes}", call, (normal(2, 3, 2),))
    for shift, axis in (
        (1, None),
        (-2, 0),
        (7, -1),
        ((1, 2), (0, 1)),
        ((1, -1), (0, 0)),
        (1, (0, 2)),
        (0, 1),
        (np.array([1, 1]), [1, -1]),
    ):
        call = lambda m, x, shift=shift, axis=axis: m.roll(x, shift, axis)
        yield Case("roll", f"{shift} along {axis}", call, (normal(2, 3, 4),))
    yield Case("roll", "()", lambda m, x: m.roll(x, 3), (normal(),))
    yield Case("roll", "(0, 3)", lambda m, x: m.roll(x, 1, 0), (normal(0, 3),))
    for repeats, axis in (
        (2, None),
        (2, 0),
        (3, -1),
        (0, 1),
        (1, 1),
        ([2], 1),
        ([1, 3], 0),
        ([0, 2, 1], 1),
        ([2, 0, 1, 3], -1),
        (np.arange(24) % 3, None),
    ):
        call = lambda m, x, repeats=repeats, axis=axis: m.repeat(x, repeats, axis)
        yield Case("repeat", f"{repeats} along {axis}", call, (normal(2, 3, 4),))
    yield Case("repeat", "()", lambda m, x: m.repeat(x, 3), (normal(),))
    yield Case("repeat", "one element in all", lambda m, x: m.repeat(x, [0, 1]), (normal(2),))
    yield Case("repeat", "(0, 3)", lambda m, x: m.repeat(x, 2, 0), (normal(0, 3),))
    for shape, reps in [
        ((2, 3), 2),
        ((2, 3), (2, 2)),
        ((2, 3), (2, 1, 3)),
        ((2, 3), ()),
        ((2, 3), (0, 2)),
        ((3,), (2, 2)),
        ((), (2, 2)),
        ((), ()),
        ((0, 3), (2, 2)),
        ((2, 0), (0, 2)),
        ((2, 1, 3), [3, 2]),
    ]:
        call = lambda m, x, reps=reps: m.tile(x, reps)
        yield Case("tile", f"{shape} by {reps}", call, (normal(*shape),))
    widths: list[Any] = [1, (1, 2), ((0, 1), (2, 0)), ((2,), (1,)), ((5, 4), (3, 9)), 0]
    for width, mode in itertools.product(widths, ("edge", "reflect", "symmetric", "wrap")):
        call = lambda m, x, width=width, mode=mode: m.pad(x, width, mode)
        yield Case("pad", f"{mode} {width}", call, (normal(2, 3),))
    for width in widths:
        yield Case("pad", f"{width}", lambda m, x, w=width: m.pad(x, w), (normal(2, 3),))
    values = ((1.0, 2.0), (-1.5, 3.0))
    border = lambda m, x: m.pad(x, 2, constant_values=values)
    yield Case("pad", "constants", border, (normal(2, 3),))
    yield Case("pad", "()", lambda m, x: m.pad(x, 2), (normal(),))
    yield Case("pad", "edge ()", lambda m, x: m.pad(x, 2, "edge"), (normal(),))
    yield Case("pad", "(0, 3)", lambda m, x: m.pad(x, 1, constant_values=2.5), (normal(0, 3),))
    yield Case("pad", "one reflected", lambda m, x: m.pad(x, 2, "reflect"), (normal(1),))
    for shape, k in itertools.product(((3, 3), (2, 4), (2, 4, 3), (0, 2)), (0, 1, -1, 5, -5)):
        for op in ("tril", "triu"):
            call = lambda m, x, op=op, k=k: getattr(m, op)(x, k)
            yield Case(op, f"{shape} {k}", call, (normal(*shape),))
    for shape, k in itertools.product(((3,), (3, 3), (2, 4), (0,), (0, 2)), (0, 1, -1, 3)):
        yield Case("diag", f"{shape} {k}", lambda m, x, k=k: m.diag(x, k), (normal(*shape),))


_rows = np.array([[0, 2], [2, 0]])
_mask = np.array([[True, False, True, False], [False, True, True, False], [True] * 4])
INDICES: dict[str, Any] = {
    "int": 1,
    "negative int": -1,
    "numpy int": np.int64(1),
    "slice": slice(1, None),
    "step": slice(None, None, 2),
    "negative step": slice(None, None, -1),
    "negative step from the end": (slice(None), slice(-1, 0, -2)),
    "empty slice": slice(2, 2),
    "ellipsis": ...,
    "ellipsis int": (..., 1),
    "None": None,
    "None mixed": (None, 1, None, ..., None),
    "ints": (1, 2, 3),
    "empty tuple": (),
    "int array": np.array([0, 2]),
    "repeated": np.array([0, 0, 1]),
    "list": [2, 0, 0],
    "negative ints": np.array([-1, 2, -3]),
    "empty list": [],
    "2-d int array": _rows,
    "array of uint8": np.array([0, 2, 2], np.uint8),
    "array after a slice": (slice(None), np.array([0, 0, 3])),
    "array after an ellipsis": (..., np.array([1, 1])),
    "pair": (np.array([0, 0, 2]), np.array([1, 1, 3])),
    "broadcast pair": (np.array([[0], [2]]), np.array([1, 1, 3])),
    "pair apart": (np.array([0, 0]), slice(None), np.array([1, 1])),
    "pair apart with None": (np.array([0, 0]), None, slice(None), np.array([4, 4])),
    "array and int": (np.array([0, 0, 2]), 1),
    "int and array": (1, slice(None), np.array([0, 0])),
    "slice, None, array, ellipsis": (slice(1, None), None, np.array([0, 0, 3]), ...),
    "mask": _mask,
    "mask of one axis": np.array([True, False, True]),
    "mask in the middle": (slice(None), np.array([True, False, False, True])),
    "mask and ints": (np.array([True, False, True]), np.array([3, 3])),
    "empty mask": np.zeros(3, bool),
    "list of bools": [True, False, True],
    "True": True,
    "tuple of tuples": ((0, 0, 2), (1, 1, 3)),
    "nested list": [[0, 0], [1, 1]],
    "range": range(2),
    "tuple in a tuple": ((0, 0, 1),),
    "0-d array": np.array(1),
}


def indexing() -> Iterator[Case]:
    x = normal(3, 4, 5)
    for name, index in INDICES.items():
        yield Case("getitem", name, lambda m, x, i=index: m.getitem(x, i), (x,))
        value = normal(*np.shape(x[index]))
        last_wins = lambda m, x, v, i=index: m.setitem(x, i, v)
        yield Case("setitem", name, last_wins, (x, value))
    for name, index in (("()", ()), ("...", ...), ("None", None), ("True", True)):
        yield Case("getitem", f"{name} of 0-d", lambda m, x, i=index: m.getitem(x, i), (normal(),))
        yield Case(
            "setitem",
            f"{name} of 0-d",
            lambda m, x, v, i=index: m.setitem(x, i, v),
            (normal(), normal()),
        )
    for name, index, shape in (
        ("broadcast number", slice(1, None), ()),
        ("broadcast row", (slice(None), [0, 0]), (5,)),
        ("extra axes", 0, (1, 1, 4, 5)),
        ("extra broadcast axes", (0, 0), (1, 1)),
        ("broadcast into a mask", _mask, (1,)),
    ):
        call = lambda m, x, v, i=index: m.setitem(x, i, v)
        yield Case("setitem", name, call, (x, normal(*shape)))
    yield Case("setitem", "number", lambda m, x: m.setitem(x, (0, [1, 1]), 2.5), (x,))
    target = np.zeros((3, 4, 5))
    yield Case("setitem", "only the value", lambda m, v: m.setitem(target, 1, v), (normal(4, 5),))
    for name in ("int", "repeated", "pair", "negative step", "2-d int array", "mask"):
        index = INDICES[name]
        call = lambda m, v, i=index: m.scatter(v, i, (3, 4, 5))
        yield Case("scatter", name, call, (normal(*x[index].shape),))
    ids = np.array([[0, 3, 3], [1, 0, 3]])
    for padding in (None, 0, 3, -1):
        if padding is None:
            call = lambda m, weight: m.embedding(ids, weight)
            yield Case("embedding", "plain", call, (normal(4, 2),))
        yield Case(
            "embedding",
            f"many, padding {padding}",
            lambda m, w, p=padding: _without_row(m, ids, w, p),
            (normal(4, 2),),
        )
    yield Case(
        "embedding", "0-d", lambda m, weight: m.embedding(np.array(2), weight), (normal(4, 2),)
    )
    yield Case(
        "embedding",
        "uint8 of a long table",
        lambda m, weight: m.embedding(np.array([1, 255, 1], np.uint8), weight),
        (normal(300, 1),),
    )
    yield Case(
        "embedding",
        "nothing",
        lambda m, weight: m.embedding(np.zeros((2, 0), int), weight),
        (normal(4, 2),),
    )


def gatherings() -> Iterator[Case]:
    x = normal(3, 4, 5)
    for name, indices, axis in (
        ("repeated", np.array([0, 0, 2]), 0),
        ("negative", np.array([-1, 1, -4]), 1),
        ("a list", [1, 1], -1),
        ("an empty list", [], 0),
        ("two axes", np.array([[0, 3], [3, 3]]), 1),
        ("a number", 2, 2),
        ("0-d", np.array(1), 0),
        ("of the flattened", np.array([[0, 59], [0, -1]]), None),
        ("a number of the flattened", 7, None),
    ):
        call = lambda m, x, i=indices, axis=axis: m.take(x, np.asarray(i, int), axis)
        yield Case("take", name, call, (x,))
    outside = np.array([-7, -1, 0, 2, 3, 11])
    for mode in ("wrap", "clip"):
        call = lambda m, x, mode=mode: m.take(x, outside, 0, mode=mode)
        yield Case("take", mode, call, (x,))
    yield Case("take", "of one number", lambda m, x: m.take(x, np.array([0, 0])), (normal(),))
    nowhere = np.zeros((2, 0), int)
    yield Case("take", "nothing of nothing", lambda m, x: m.take(x, nowhere, 0), (normal(0, 2),))

    for name, shape, axis in (
        ("longer", (3, 4, 9), -1),
        ("shorter", (3, 2, 5), 1),
        ("broadcast", (1, 6, 1), 1),
        ("broadcast first", (2, 1, 5), 0),
        ("empty", (3, 0, 5), 1),
    ):
        indices = np.arange(math.prod(shape)).reshape(shape) ** 2 % x.shape[axis]
        indices = indices - x.shape[axis] * (indices % 3 == 0)
        call = lambda m, x, i=indices, axis=axis: m.take_along_axis(x, i, axis)
        yield Case("take_along_axis", name, call, (x,))
    flat = np.array([5, 5, 0, -1])
    along_all = lambda m, x: m.take_along_axis(x, flat, None)
    yield Case("take_along_axis", "of the flattened", along_all, (x,))
    few = np.array([[0], [1]])
    spread = lambda m, x: m.take_along_axis(x, few, 1)
    yield Case("take_along_axis", "broadcast x", spread, (normal(1, 3),))

    for name, shape, axis in (
        ("longer", (3, 4, 9), -1),
        ("shorter everywhere", (2, 3, 2), 1),
        ("first axis", (7, 4, 5), 0),
        ("empty", (3, 0, 5), 1),
    ):
        index = np.arange(math.prod(shape)).reshape(shape) ** 2 % x.shape[axis]
        call = lambda m, x, i=index, axis=axis: m.gather(x, axis, i)
        yield Case("gather", name, call, (x,))
        for extra in (0, 1):
            call = lambda m, x, src, i=index, axis=axis: m.scatter_add(x, axis, i, src)
            src = normal(*(n + extra for n in shape))
            yield Case("scatter_add", f"{name}, src longer by {extra}", call, (x, src))
    ids = np.array([0, 2, 2])
    yield Case("gather", "of a vector", lambda m, x: m.gather(x, 0, ids), (normal(4),))
    vectors = lambda m, x, src: m.scatter_add(x, 0, ids, src)
    yield Case("scatter_add", "of vectors", vectors, (normal(4), normal(3)))
    yield Case("scatter_add", "src as long as x", vectors, (normal(4), normal(4)))
    onto = np.zeros(4)
    yield Case(
        "scatter_add", "only the value", lambda m, s: m.scatter_add(onto, 0, ids, s), (normal(3),)
    )

    condition = np.array([[True, False, True], [False, False, True]])
    for name, options in (
        ("values", {}),
        ("rows", {"axis": 0}),
        ("columns", {"axis": -1}),
    ):
        call = lambda m, x, options=options: m.unique(x, **options)
        yield Case("unique", name, call, (spaced(3, 4),))
    yield Case("unique", "()", lambda m, x: m.unique(x), (normal(),))
    yield Case("unique", "nothing", lambda m, x: m.unique(x), (normal(0, 2),))
    places = lambda m, x: m.getitem(x, m.nonzero(condition))
    yield Case("getitem", "where it is nonzero", places, (normal(2, 3),))
    one_argument = lambda m, x: m.getitem(x, m.where(condition))
    yield Case("getitem", "where", one_argument, (normal(2, 3),))


def orders() -> Iterator[Case]:
    for axis, descending in itertools.product((-1, 0, 1, None), (False, True)):
        call = lambda m, x, axis=axis, d=descending: m.sort(x, axis, descending=d)
        yield Case("sort", f"{axis}, descending {descending}", call, (spaced(2, 3, 4),))
    for shape in ((1,), (0,), (2, 0), (0, 2)):
        yield Case("sort", f"{shape}", lambda m, x: m.sort(x), (normal(*shape),))
    yield Case("sort", "flattened ()", lambda m, x: m.sort(x, None), (normal(),))
    for k, axis, largest, ordered in itertools.product(
        (0, 1, 2), (-1, 1, 0), (True, False), (True, False)
    ):
        options = {"axis": axis, "largest": largest, "sorted": ordered}
        call = lambda m, x, k=k, options=options: m.topk(x, k, **options)[0]
        yield Case("topk", f"{k} {options}", call, (spaced(2, 3, 4),))
    for axis, keepdims in itertools.product(
        [None, 0, -1, 1, (0, 2), (-1, 0), (1, -3, 2)], (False, True)
    ):
        kwargs = {"axis": axis, "keepdims": keepdims}
        call = lambda m, x, kwargs=kwargs: m.median(x, **kwargs)
        yield Case("median", f"{kwargs}", call, (spaced(2, 3, 4),))
    for shape in ((), (1,), (4,), (5,), (3, 1), (0, 3)):
        yield Case(
            "median",
            f"{shape}",
            lambda m, x: m.median(x, -1 if x.ndim else None),
            (spaced(*shape),),
        )


def _without_row(m: Any, ids: Any, weight: Any, padding: int | None) -> Any:
    """What a table with a padding row computes, less the part that its gradient leaves out."""
    looked_up = m.embedding(ids, weight, padding)
    if padding is None:
        return looked_up
    return m.multiply(looked_up, (ids != padding % 4)[..., None].astype(float))


EINSUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "i,i->": ((3,), (3,)),
    "i,j->ij": ((2,), (3,)),
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk": ((2, 3), (3, 4)),
    "ij->ji": ((2, 3),),
    "ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ij->j": ((2, 3),),
    "ii": ((3, 3),),
    "ii->i": ((3, 3),),
    "ii->": ((3, 3),),
    "iij->ij": ((3, 3, 2),),
    "iii->i": ((2, 2, 2),),
    "ii,i->i": ((3, 3), (3,)),
    "ij,ij->": ((2, 3), (2, 3)),
    "ij,j->i": ((2, 3), (3,)),
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 2)),
    "...ij,...jk->...ik": ((2, 2, 3), (2, 3, 4)),
    "...i->...": ((2, 3, 4),),
    "...i,...i->...": ((2, 3), (3,)),
    "i...->...": ((2, 3),),
    "...,...": ((2, 3), (3,)),
    "ij,jk,kl->il": ((2, 3), (3, 2), (2, 4)),
    "i,i,i->": ((3,), (3,), (3,)),
    "ij,ik,il->jkl": ((3, 2), (3, 2), (3, 2)),
    "ij,kl->": ((2, 3), (2, 2)),
    ",i->i": ((), (3,)),
    ",->": ((), ()),
    "bhld,bhsd->bhls": ((2, 2, 3, 4), (2, 2, 2, 4)),
    "ij,jk->": ((0, 3), (3, 2)),
    " i j , j k -> i k ": ((2, 3), (3, 4)),
    "aB,Bc": ((2, 3), (3, 2)),
    "ij,ij->j": ((2, 3), (1, 3)),
    "ij,ij->ij": ((1, 3), (2, 1)),
}


def products() -> Iterator[Case]:
    left = [(3,), (2, 3), (4, 2, 3), (2, 4, 2, 3)]
    right = [(3,), (3, 5), (4, 3, 5), (2, 4, 3, 5)]
    call = lambda m, a, b: m.matmul(a, b)
    for a, b in itertools.product(left, right):
        yield Case("matmul", f"{a}{b}", call, (normal(*a), normal(*b)))
    for a, b in [
        ((1, 2, 3), (4, 3, 5)),
        ((4, 2, 3), (1, 3, 5)),
        ((2, 1, 2, 3), (4, 3, 5)),
        ((2, 4, 2, 3), (1, 1, 3, 5)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((2, 3, 0), (0, 4)),
        ((0, 2, 3), (3, 4)),
        ((0,), (0,)),
        ((1, 1), (1, 1)),
        ((4, 2, 3), (3, 0)),
        ((0,), (0, 2)),
        ((2, 3, 0), (2, 0, 4)),
    ]:
        yield Case("matmul", f"{a}{b}", call, (normal(*a), normal(*b)))
    yield Case("matmul", "x @ x", lambda m, x: m.matmul(x, x), (normal(3, 3),))
    yield Case("matmul", "x @ x.T", lambda m, x: m.matmul(x, m.transpose(x)), (normal(2, 3),))
    for shape in [(3,), (2, 3), (2, 4, 3), (2, 2, 2, 3), (0, 3), (2, 0, 3)]:
        inputs = (normal(*shape), normal(4, 3), normal(4))
        yield Case("linear", f"{shape}", lambda m, x, w, b: m.linear(x, w, b), inputs)
        yield Case("linear", f"{shape} no bias", lambda m, x, w: m.linear(x, w), inputs[:2])
    yield Case(
        "linear",
        "no outputs",
        lambda m, x, w, b: m.linear(x, w, b),
        (normal(2, 3), normal(0, 3), normal(0)),
    )
    yield Case(
        "linear",
        "no inputs",
        lambda m, x, w, b: m.linear(x, w, b),
        (normal(2, 2, 0), normal(3, 0), normal(3)),
    )
    for subscripts, sizes in EINSUMS.items():
        call = lambda m, *operands, s=subscripts: m.einsum(s, *operands)
        yield Case("einsum", f"{subscripts}{sizes}", call, tuple(normal(*size) for size in sizes))
    yield Case("einsum", "x twice", lambda m, x: m.einsum("ij,kj->ik", x, x), (normal(2, 3),))
    constant = normal(3, 4)
    yield Case(
        "einsum",
        "with a constant",
        lambda m, x: m.einsum("ij,jk->ik", x, constant),
        (normal(2, 3),),
    )
    for a, b in itertools.product([(), (3,), (2, 3), (4, 2, 3)], [(), (3,), (3, 5), (2, 3, 5)]):
        yield Case("dot", f"{a}{b}", lambda m, a, b: m.dot(a, b), (normal(*a), normal(*b)))
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 0), (3, 0)), ((), (2, 3))]:
        yield Case("inner", f"{a}{b}", lambda m, a, b: m.inner(a, b), (normal(*a), normal(*b)))
    for a, b in [((3,), (2,)), ((2, 3), (2,)), ((), (3,)), ((0,), (2,))]:
        yield Case("outer", f"{a}{b}", lambda m, a, b: m.outer(a, b), (normal(*a), normal(*b)))
    for a, b in [((3,), (3,)), ((2, 3), (6,)), ((), ()), ((0, 3), (0,))]:
        yield Case("vdot", f"{a}{b}", lambda m, a, b: m.vdot(a, b), (normal(*a), normal(*b)))
    for a, b, axis in [
        ((3,), (3,), -1),
        ((2, 3), (3,), -1),
        ((3,), (4, 1, 3), -1),
        ((3, 2), (3, 2), 0),
        ((2, 3, 4), (1, 3, 4), 1),
        ((2, 0), (2, 0), -1),
    ]:
        call = lambda m, a, b, axis=axis: m.vecdot(a, b, axis=axis)
        yield Case("vecdot", f"{a}{b} along {axis}", call, (normal(*a), normal(*b)))
    for a, b, axis in [
        ((3,), (3,), -1),
        ((2, 3), (3,), -1),
        ((3, 2), (3, 2), 0),
        ((2, 3, 1), (1, 3, 4), 1),
        ((0, 3), (3,), -1),
    ]:
        call = lambda m, a, b, axis=axis: m.cross(a, b, axis=axis)
        yield Case("cross", f"{a}{b} along {axis}", call, (normal(*a), normal(*b)))
    for a, b in [((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2)), ((), (2, 2)), ((0, 2), (2, 1))]:
        yield Case("kron", f"{a}{b}", lambda m, a, b: m.kron(a, b), (normal(*a), normal(*b)))
    for a, b, axes in [
        ((2, 3), (3, 4), 1),
        ((2, 3), (2, 3), 2),
        ((2,), (3, 1), 0),
        ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
        ((2, 3, 4), (5, 4, 2), ([-1, 0], [1, 2])),
        ((2, 3), (4, 3), (1, -1)),
        ((2, 0), (0, 3), 1),
    ]:
        call = lambda m, a, b, axes=axes: m.tensordot(a, b, axes)
        yield Case("tensordot", f"{a}{b} over {axes}", call, (normal(*a), normal(*b)))
    yield Case("tensordot", "x twice", lambda m, x: m.tensordot(x, x, 1), (normal(2, 2),))
    for shape, place in [
        ((3, 3), (0, 0, 1)),
        ((3, 4), (1, 0, 1)),
        ((3, 4), (-2, 0, 1)),
        ((2, 3, 4), (1, 2, 0)),
        ((2, 3, 3), (0, -2, -1)),
        ((2, 3), (5, 0, 1)),
        ((0, 3), (0, 0, 1)),
    ]:
        x = normal(*shape)
        for op in ("diagonal", "trace"):
            call = lambda m, x, op=op, place=place: getattr(m, op)(x, *place)
            yield Case(op, f"{place} of {shape}", call, (x,))
        place = (place[0], place[1] % len(shape), place[2] % len(shape))
        call = lambda m, value, s=shape, p=place: m.scatter_diagonal(value, s, *p)
        value = normal(*x.diagonal(*place).shape)
        yield Case("scatter_diagonal", f"{place} of {shape}", call, (value,))


def matrix(*shape: int, seed: int = 19) -> np.ndarray:
    """Normal numbers that depend on the shape only: the cases below are near no kink with them."""
    return np.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape))


def apart(*shape: int) -> np.ndarray:
    """What to add to a random matrix, so that it is regular and its values are far apart."""
    out = np.zeros(shape, int)
    for i in range(min(shape)):
        out[i, i] = 5 * (i + 1) * (-1) ** i
    return out


def regular(m: Any, x: Any) -> Any:
    return m.add(x, apart(*x.shape[-2:]))


def symmetric(m: Any, x: Any) -> Any:
    return regular(m, m.add(x, m.swapaxes(x, -1, -2)))


def definite(m: Any, x: Any) -> Any:
    return m.add(symmetric(m, x), 40 * np.eye(x.shape[-1], dtype=int))


def with_sign(m: Any, vectors: Any, signed: Any) -> Any:
    """Vectors without the choice of a sign, which is made by the sign of `signed`."""
    return m.multiply(vectors, m.sign(signed))


def _eigh(m: Any, x: Any, triangle: str) -> Any:
    values, vectors = m.linalg.eigh(symmetric(m, x), triangle)
    return [values, with_sign(m, vectors, vectors[..., :1, :])]


def _svd(m: Any, x: Any) -> Any:
    u, s, vh = m.linalg.svd(regular(m, x), full_matrices=False)
    return [with_sign(m, u, u[..., :1, :]), s, with_sign(m, vh, vh[..., :, :1])]


def _qr(m: Any, x: Any) -> Any:
    q, r = m.linalg.qr(regular(m, x))
    diagonal = m.diagonal(r, 0, -2, -1)
    return [with_sign(m, q, diagonal[..., None, :]), with_sign(m, r, diagonal[..., :, None])]


SQUARES = [(3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2)]
RECTANGLES = [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 3), (3, 1), (0, 2, 3)]
SINGULAR = {
    "rank 2 of 3": np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 2.0], [1.5, 1.0, 1.0]]),
    "rank 1 of 3": np.outer([1.0, -2.0, 0.5], [0.4, 1.0, -1.0]),
    "rank 0 of 2": np.zeros((2, 2)),
    "ranks 0, 1 and 2": np.array([np.zeros((2, 2)), [[1.0, 2.0], [2.0, 4.0]], [[1, 2], [3, 5]]]),
}


def matrices() -> Iterator[Case]:
    for shape in SQUARES:
        for name, call in {
            "inv": lambda m, x: m.linalg.inv(regular(m, x)),
            "det": lambda m, x: m.linalg.det(regular(m, x)),
            "slogdet": lambda m, x: m.linalg.slogdet(regular(m, x))[1],
            "cholesky": lambda m, x: m.linalg.cholesky(definite(m, x)),
            "eigh": lambda m, x: _eigh(m, x, "L"),
            "eigvalsh": lambda m, x: m.linalg.eigvalsh(symmetric(m, x)),
            "matrix_power": lambda m, x: m.linalg.matrix_power(x, 3),
        }.items():
            yield Case(f"linalg.{name}", f"{shape}", call, (matrix(*shape),))
    x = matrix(2, 3, 3)
    upper = lambda m, x: m.linalg.cholesky(definite(m, x), upper=True)
    yield Case("linalg.cholesky", "upper", upper, (x,))
    yield Case("linalg.eigh", "U", lambda m, x: _eigh(m, x, "U"), (x,))
    yield Case("linalg.eigvalsh", "U", lambda m, x: m.linalg.eigvalsh(symmetric(m, x), "U"), (x,))
    for n in (-2, -1, 0, 1, 2, 5):
        call = lambda m, x, n=n: m.linalg.matrix_power(regular(m, x) if n < 0 else x, n)
        yield Case("linalg.matrix_power", f"{n}", call, (x,))
    for name, x in SINGULAR.items():
        yield Case("linalg.det", name, lambda m, x: m.linalg.det(x), (x,))
    for a, b in [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (3, 2)),
        ((3, 3), (2, 3, 1)),
        ((2, 1, 2, 2), (3, 2, 2)),
        ((1, 1), (1,)),
        ((0, 0), (0,)),
        ((2, 2), (2, 0)),
        ((0, 2, 2), (2, 1)),
    ]:
        call = lambda m, a, b: m.linalg.solve(regular(m, a), b)
        yield Case("linalg.solve", f"{a}{b}", call, (matrix(*a), matrix(*b)))
    for shape in RECTANGLES:
        yield Case("linalg.qr", f"{shape}", _qr, (matrix(*shape),))
        yield Case("linalg.svd", f"{shape}", _svd, (matrix(*shape),))
        for name in ("svdvals", "pinv"):
            call = lambda m, x, name=name: getattr(m.linalg, name)(regular(m, x))
            yield Case(f"linalg.{name}", f"{shape}", call, (matrix(*shape),))
    yield Case(
        "linalg.pinv",
        "rank 2 throughout",
        lambda m, a, b: m.linalg.pinv(m.matmul(regular(m, a), regular(m, b))),
        (matrix(4, 2), matrix(2, 3)),
    )
    for a, b in [((4, 2), (4,)), ((4, 2), (4, 3)), ((2, 4), (2,)), ((3, 3), (3, 1))]:
        call = lambda m, a, b: m.linalg.lstsq(regular(m, a), b)[0]
        yield Case("linalg.lstsq", f"{a}{b}", call, (matrix(*a), matrix(*b)))
    for b in [(4,), (4, 3)]:
        call = lambda m, a, b: m.linalg.lstsq(regular(m, a), b)[1]
        yield Case("linalg.lstsq", f"residuals of {b}", call, (matrix(4, 2), matrix(*b)))
    for chain in [
        ((2, 3), (3, 4)),
        ((2, 3), (3, 1), (1, 4)),
        ((3,), (3, 2), (2,)),
        ((3,), (3, 4), (4, 2), (2, 3)),
        ((2, 4), (4, 1), (1, 3), (3, 2), (2,)),
        ((0, 2), (2, 3)),
    ]:
        call = lambda m, *arrays: m.linalg.multi_dot(list(arrays))
        yield Case("linalg.multi_dot", f"{chain}", call, tuple(matrix(*size) for size in chain))


def matrix_norms() -> Iterator[Case]:
    orders: list[Any] = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]
    for shape, ord in itertools.product([(3, 3), (2, 2, 3), (3, 2)], orders):
        call = lambda m, x, ord=ord: m.linalg.matrix_norm(regular(m, x), ord=ord)
        yield Case("linalg.matrix_norm", f"{ord} of {shape}", call, (matrix(*shape),))
    for ord in orders:
        call = lambda m, x, ord=ord: m.linalg.matrix_norm(regular(m, x), ord=ord, keepdims=True)
        yield Case("linalg.matrix_norm", f"{ord}, keepdims", call, (matrix(2, 3, 2),))
    for ord, axis in itertools.product((0.5, 1, 2, 3, -1, -2.5, math.inf, -math.inf), (None, 0)):
        call = lambda m, x, ord=ord, axis=axis: m.linalg.vector_norm(x, ord=ord, axis=axis)
        yield Case("linalg.vector_norm", f"{ord} over {axis}", call, (spaced(3, 2),))
    call = lambda m, x: m.linalg.vector_norm(x, ord=0.5, axis=(0, 2), keepdims=True)
    yield Case("linalg.vector_norm", "keepdims", call, (spaced(2, 2, 3),))
    for shape, arguments in [
        ((2, 2, 3), {}),
        ((2, 2, 3), {"keepdims": True}),
        ((), {}),
        ((3, 2), {"ord": 1}),
        ((3,), {"ord": -1}),
        ((2, 3, 2), {"axis": 1}),
        ((2, 3, 2), {"axis": 1, "ord": 3, "keepdims": True}),
        ((2, 3, 2), {"axis": (0, 1)}),
        ((2, 3, 2), {"axis": (0, 2), "ord": "nuc"}),
        ((2, 3, 2), {"axis": (2, 0), "ord": 1, "keepdims": True}),
        ((2, 3, 2), {"axis": (-1, 1), "ord": -math.inf}),
    ]:
        call = lambda m, x, arguments=arguments: m.linalg.norm(x, **arguments)
        yield Case("linalg.norm", f"{arguments} of {shape}", call, (matrix(*shape),))
    for p in (None, 2, -2, "fro", 1, -1, math.inf):
        call = lambda m, x, p=p: m.linalg.cond(regular(m, x), p)
        yield Case("linalg.cond", f"{p}", call, (matrix(2, 3, 3),))
    yield Case("linalg.cond", "wide", lambda m, x: m.linalg.cond(regular(m, x)), (matrix(2, 3),))


def norms_and_losses() -> Iterator[Case]:
    rows = normal(2, 4)
    for shape, ndim in [
        ((2, 5), 1),
        ((5,), 1),
        ((2, 3, 4), 1),
        ((2, 3, 4), 2),
        ((3, 4), 2),
        ((0, 4), 1),
    ]:
        normalized = shape[-ndim:]
        x, w, b = normal(*shape), normal(*normalized), normal(*normalized)
        name = f"{shape} over {ndim}"
        call = lambda m, x, w, b, n=ndim: m.layer_norm(x, w, b, ndim=n)
        yield Case("layer_norm", name, call, (x, w, b))
        yield Case(
            "layer_norm",
            f"{name} bare",
            lambda m, x, n=ndim: m.layer_norm(x, ndim=n, eps=0.1),
            (x,),
        )
        yield Case("rms_norm", name, lambda m, x, w, n=ndim: m.rms_norm(x, w, ndim=n), (x, w))
        yield Case(
            "rms_norm", f"{name} bare", lambda m, x, n=ndim: m.rms_norm(x, ndim=n, eps=0.1), (x,)
        )
    yield Case(
        "layer_norm",
        "weight only",
        lambda m, w, b: m.layer_norm(rows, w, b),
        (normal(4), normal(4)),
    )
    yield Case(
        "layer_norm", "no bias", lambda m, x, w: m.layer_norm(x, w), (normal(2, 4), normal(4))
    )
    yield Case(
        "layer_norm",
        "no weight",
        lambda m, x, b: m.layer_norm(x, None, b),
        (normal(2, 4), normal(4)),
    )
    yield Case("rms_norm", "weight only", lambda m, w: m.rms_norm(rows, w), (normal(4),))

    weight = np.array([0.5, 2.0, 1.3, 0.0])
    sizes = {
        (3, 4): np.array([1, 0, 2]),
        (4,): np.array(2),
        (2, 4, 3): np.array([[0, 1, 2], [2, 2, 0]]),
        (2, 4, 2, 1): np.array([[[1], [0]], [[2], [2]]]),
    }
    for shape, target in sizes.items():
        for reduction, weighted, smoothing, ignore in itertools.product(
            ("mean", "sum", "none"), (False, True), (0.0, 0.2), (None, 2)
        ):
            if target.ndim == 0 and ignore == 2:
                continue
            options = {"reduction": reduction, "label_smoothing": smoothing, "ignore_index": ignore}
            name = f"{shape}, {reduction}, weighted {weighted}, {smoothing}, ignore {ignore}"
            counts = weight if weighted else None
            call = lambda m, x, t=target, w=counts, o=options: m.cross_entropy(x, t, w, **o)
            yield Case("cross_entropy", name, call, (normal(*shape),))
    masked = np.array([1, -100, 2])
    yield Case(
        "cross_entropy",
        "-100",
        lambda m, x: m.cross_entropy(x, masked, ignore_index=-100),
        (normal(3, 4),),
    )


def rotations() -> Iterator[Case]:
    for shape, angles in [((2, 6), (3,)), ((2, 3, 4), (3, 2)), ((4,), ()), ((0, 4), (2,))]:
        cos, sin = np.cos(normal(*angles)), np.sin(normal(*angles))
        for interleaved in (True, False):
            call = lambda m, x, c=cos, s=sin, i=interleaved: m.rotate_pairs(x, c, s, i)
            yield Case(
                "rotate_pairs", f"{shape} by {angles}, {interleaved}", call, (normal(*shape),)
            )


def attentions() -> Iterator[Case]:
    def qkv(*leading: int) -> tuple[np.ndarray, ...]:
        return normal(*leading, 3, 4), normal(*leading, 5, 4), normal(*leading, 5, 2)

    plain = lambda m, q, k, v: m.attention(q, k, v)
    for leading in ((), (2,), (2, 2)):
        yield Case("attention", f"{leading}", plain, qkv(*leading))
    yield Case(
        "attention",
        "broadcast heads",
        plain,
        (normal(2, 2, 3, 4), normal(2, 1, 5, 4), normal(5, 2)),
    )
    yield Case("attention", "q = k = v", lambda m, x: m.attention(x, x, x), (normal(2, 3, 4),))
    keep = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
    biased = lambda m, q, k, v, b: m.attention(q, k, v, b)
    for shape in ((3, 5), (1, 5), (2, 1, 1), (2, 3, 5), (), (3, 1)):
        yield Case("attention", f"bias {shape}", biased, (*qkv(2), normal(*shape)))
    options: dict[str, dict[str, Any]] = {
        "keep with an empty row": {"keep": keep},
        "keep (1, 5)": {"keep": keep[:1]},
        "keep (2, 1, 5)": {"keep": keep[:2, None]},
        "causal": {"causal": True},
        "causal and keep": {"causal": True, "keep": ~keep},
        "scale": {"scale": 0.3},
        "dropout": {"dropout": 0.4, "dropout_key": 3},
        "everything": {
            "keep": keep,
            "causal": True,
            "scale": 0.7,
            "dropout": 0.3,
            "dropout_key": 9,
        },
    }
    for name, kwargs in options.items():
        call = lambda m, q, k, v, kwargs=kwargs: m.attention(q, k, v, **kwargs)
        yield Case("attention", name, call, qkv(2))
        call = lambda m, q, k, v, b, kwargs=kwargs: m.attention(q, k, v, b, **kwargs)
        yield Case("attention", f"{name}, with bias", call, (*qkv(2), normal(3, 5)))
    yield Case("attention", "one query, one key", plain, (normal(1, 2), normal(1, 2), normal(1, 2)))
    yield Case("attention", "no query", plain, (normal(0, 2), normal(3, 2), normal(3, 2)))
    yield Case("attention", "no key", plain, (normal(2, 2), normal(0, 2), normal(0, 3)))
    for name, kwargs in (("plain", {}), ("keep", {"keep": keep}), ("causal", {"causal": True})):
        call = lambda m, q, k, b, kwargs=kwargs: m.attention_weights(q, k, b, **kwargs)
        yield Case(
            "attention_weights", name, call, (normal(2, 3, 4), normal(2, 5, 4), normal(3, 5))
        )


# Stride, padding and dilation of windows along one axis, and along two.
LINES: list[Any] = [
    ((1,), ((0, 0),), (1,)),
    ((2,), ((1, 1),), (1,)),
    ((3,), ((0, 2),), (2,)),
]
PLANES: list[Any] = [
    ((1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((2, 1), ((1, 1), (0, 1)), (1, 2)),
    ((3, 2), ((0, 2), (1, 1)), (2, 1)),
]


def counts_of(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[int, ...]:
    """How many windows there are."""
    return tuple(
        (n + sum(pair) - d * (k - 1) - 1) // s + 1
        for n, k, s, pair, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def convolutions() -> Iterator[Case]:
    sizes: list[Any] = [((7,), (2,), LINES), ((5, 6), (2, 3), PLANES)]
    for size, kernel, windows in sizes:
        for (i, rest), (groups, images) in itertools.product(
            enumerate(windows), [(1, 2), (2, 1), (1, 0)]
        ):
            channels, outputs = 2 * groups, 3 * groups
            counts = counts_of(size, kernel, *rest)
            name = f"{size} by {kernel}, {i}, {groups} groups, {images} images"
            x, y = normal(images, channels, *size), normal(images, outputs, *counts)
            w = normal(outputs, channels // groups, *kernel)
            fixed = (*rest, groups)
            call = lambda m, x, w, b, fixed=fixed: m.convolution(x, w, b, *fixed)
            yield Case("convolution", name, call, (x, w, normal(outputs)))
            call = lambda m, x, w, fixed=fixed: m.convolution(x, w, None, *fixed)
            yield Case("convolution", f"{name}, no bias", call, (x, w))
            call = lambda m, y, w, s=size, fixed=fixed: m.convolution_transpose(y, w, s, *fixed)
            yield Case("convolution_transpose", name, call, (y, w))
            call = lambda m, x, y, k=kernel, fixed=fixed: m.convolution_weight(x, y, k, *fixed)
            yield Case("convolution_weight", name, call, (x, y))
    square = normal(1, 1, 3)
    itself = lambda m, x: m.convolution(x, x, None, (1,), ((2, 2),), (1,), 1)
    yield Case("convolution", "with itself", itself, (square,))
    space = ((1, 2, 1), ((1, 0), (0, 0), (1, 1)), (1, 1, 2), 1)
    call = lambda m, x, w: m.convolution(x, w, None, *space)
    yield Case("convolution", "three axes", call, (normal(1, 2, 3, 3, 3), normal(2, 2, 2, 2, 2)))


def poolings() -> Iterator[Case]:
    sizes: list[Any] = [((7,), (2,), LINES), ((5, 6), (2, 3), PLANES)]
    for axis, count in itertools.product((0, 1, 2), (1, 2, 3, 5)):
        call = lambda m, x, a=axis, c=count: m.sum_parts(x, a, c)
        yield Case("sum_parts", f"{count} of axis {axis}", call, (normal(2, 5, 3),))
    for size, kernel, windows in sizes:
        for i, (stride, padding, dilation) in enumerate(windows):
            fixed = (kernel, stride, padding, dilation)
            name = f"{size} by {kernel}, {i}"
            largest = lambda m, x, fixed=fixed: m.max_pool(x, *fixed)
            yield Case("max_pool", name, largest, (spaced(2, 2, *size),))
            call = lambda m, x, fixed=fixed: m.sum_pool(x, *fixed)
            yield Case("sum_pool", name, call, (normal(2, 2, *size),))
            y = normal(2, 2, *counts_of(size, *fixed))
            back = lambda m, y, s=size, fixed=fixed: m.sum_pool_transpose(y, s, *fixed)
            yield Case("sum_pool_transpose", name, back, (y,))
    empty = lambda m, x: m.max_pool(x, (2,), (1,), ((0, 0),), (1,))
    yield Case("max_pool", "no image", empty, (normal(0, 2, 3),))
    empty = lambda m, x: m.sum_pool(x, (2,), (1,), ((0, 0),), (1,))
    yield Case("sum_pool", "no image", empty, (normal(0, 2, 3),))


def channel_norms() -> Iterator[Case]:
    for shape in ((3, 2), (2, 3, 4), (2, 2, 3, 2), (0, 2, 3)):
        x, w, b = normal(*shape), normal(shape[1]), normal(shape[1])
        call = lambda m, x, w, b: m.batch_norm(x, w, b)
        yield Case("batch_norm", f"{shape}", call, (x, w, b))
        call = lambda m, x: m.batch_norm(x, eps=0.1)
        yield Case("batch_norm", f"{shape} bare", call, (x,))
    call = lambda m, x: m.batch_norm(x, eps=0.1)
    yield Case("batch_norm", "of one image", call, (normal(1, 2),))
    yield Case(
        "batch_norm",
        "the input only",
        lambda m, x, w: m.batch_norm(x, w)[0],
        (normal(3, 2), normal(2)),
    )
    yield Case(
        "batch_norm",
        "the statistics only",
        lambda m, x: m.batch_norm(x)[1:],
        (normal(3, 2),),
    )


def recurrences() -> Iterator[Case]:
    for steps, batch, width in ((3, 2, 2), (1, 2, 3), (2, 1, 1), (2, 0, 2)):
        name = f"{steps} steps, {batch}, {width}"
        state = lambda batch=batch, width=width: normal(batch, width)
        four = normal(steps, batch, 4 * width), normal(4 * width, width)
        yield Case("lstm", name, lambda m, *a: m.lstm(*a), (*four, state(), state()))
        three = normal(steps, batch, 3 * width), normal(3 * width, width)
        call = lambda m, *a: m.gru(*a)
        yield Case("gru", name, call, (*three, normal(3 * width), state()))
        call = lambda m, a, w, h: m.gru(a, w, None, h)
        yield Case("gru", f"{name}, no bias", call, (*three, state()))
        one = normal(steps, batch, width), normal(width, width)
        yield Case("rnn", name, lambda m, *a: m.rnn(*a), (*one, state()))
    one = (spaced(2, 2, 2), inside(2, 2) / 9, inside(2, 2) / 9)
    yield Case("rnn", "relu", lambda m, *a: m.rnn(*a, "relu"), one)


FAMILIES = {
    "elementwise": [*elementwise()],
    "functions": [*functions()],
    "reductions": [*reductions()],
    "scans": [*scans()],
    "shapes": [*shapes()],
    "arrangements": [*arrangements()],
    "indexing": [*indexing()],
    "gatherings": [*gatherings()],
    "orders": [*orders()],
    "products": [*products()],
    "matrices": [*matrices()],
    "matrix_norms": [*matrix_norms()],
    "norms_and_losses": [*norms_and_losses()],
    "rotations": [*rotations()],
    "attentions": [*attentions()],
    "convolutions": [*convolutions()],
    "poolings": [*poolings()],
    "channel_norms": [*channel_norms()],
    "recurrences": [*recurrences()],
}
CASES = [case for family in FAMILIES.values() for case in family]
