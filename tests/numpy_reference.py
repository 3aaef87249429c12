"""The plainest NumPy spelling of each op: what the calls of `op_samples` mean."""

import math
import sys
from statistics import NormalDist
from typing import Any

import numpy as np

from minigrad.ops.random_masks import dropout_factor

__all__ = ["NAIVE"]


class NaiveLinalg:
    """numpy.linalg, and what it lacks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.linalg, name)

    @staticmethod
    def lu(x: Any) -> Any:
        """Without exchanges of rows."""
        columns, rows = [], []
        for i in range(min(x.shape[-2:])):
            rows.append(x[..., i, :])
            columns.append(x[..., :, i] / x[..., i, i, None])
            x = x - columns[-1][..., :, None] * rows[-1][..., None, :]
        return None, np.stack(columns, -1), np.stack(rows, -2)

    def lu_factor(self, x: Any) -> Any:
        _, lower, upper = self.lu(x)
        whole = np.broadcast_to(np.eye(*x.shape[-2:]), x.shape)
        k = min(x.shape[-2:])
        return np.tril(lower, -1) @ whole[..., :k, :] + whole[..., :, :k] @ upper, None

    lu_factor_ex = lu_factor

    @staticmethod
    def lu_solve(factors: Any, _pivots: Any, b: Any) -> Any:
        one = np.eye(factors.shape[-1])
        return np.linalg.inv((np.tril(factors, -1) + one) @ np.triu(factors)) @ b

    @staticmethod
    def matrix_exp(x: Any) -> Any:
        terms = [np.broadcast_to(np.eye(x.shape[-1]), x.shape)]
        for n in range(1, 60):
            terms.append(terms[-1] @ x / n)
        return sum(terms)

    @staticmethod
    def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
        a = (np.triu if upper else np.tril)(a)
        if unitriangular:
            a = a * (1 - np.eye(a.shape[-1])) + np.eye(a.shape[-1])
        return np.linalg.inv(a) @ b if left else b @ np.linalg.inv(a)


# NumPy, with the functions it lacks written without a thought for range or speed.
NAIVE: Any = sys.modules[__name__]

linalg = NaiveLinalg()
alias = lambda x: x
astype = lambda x, dtype: x.astype(dtype)
clone = np.copy
relu = lambda x: np.where(x > 0, x, 0)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
silu = lambda x: x / (1 + np.exp(-x))
softplus = lambda x, beta=1.0: np.log(1 + np.exp(beta * x)) / beta
hardtanh = lambda x, low=-1.0, high=1.0: np.clip(x, low, high)
erf = lambda x: np.vectorize(math.erf, otypes=[float])(x)
erfc = lambda x: np.vectorize(math.erfc, otypes=[float])(x)
lgamma = lambda x: np.vectorize(math.lgamma, otypes=[float])(x)
digamma = lambda x: polygamma(0, x)
rsqrt = lambda x: 1 / np.sqrt(x)
xlogy = lambda x, y: x * np.log(y)
xlog1py = lambda x, y: x * np.log1p(y)
entr = lambda x: -x * np.log(x)
clamped_log = lambda x: np.maximum(np.log(x), -100)
getitem = lambda x, index: x[index]
dropout = lambda x, p, key: x * dropout_factor(key, x.shape, p, x.dtype)
embedding = lambda ids, weight, padding_idx=None: weight[ids]
masked_fill = lambda x, mask, value: np.where(mask, np.reshape(value, ()), x)

# Of the collectives, what they do on one rank.
all_reduce = all_gather = reduce_scatter = broadcast = lambda x, *_, **__: x
reduce_to_root = all_to_all = ppermute = copy_to_parts = sum_of_parts = broadcast


def __getattr__(name: str) -> Any:
    return getattr(np, name)


def erfinv(x: Any) -> Any:
    quantile = NormalDist().inv_cdf
    return np.vectorize(lambda x: quantile((1 + x) / 2) / math.sqrt(2), otypes=[float])(x)


def logit(x: Any, eps: float = 0.0) -> Any:
    x = np.minimum(np.maximum(x, eps), 1 - eps)
    return np.log(x) - np.log(1 - x)


def masked_select(x: Any, mask: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return np.array([x[place] for place in np.ndindex(x.shape) if mask[place]])


def cdist(a: Any, b: Any, p: float) -> Any:
    return np.linalg.norm(a[..., :, None, :] - b[..., None, :, :], p, -1)


def diag_embed(x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    flat = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    n = x.shape[-1] + abs(offset)
    made = np.array([np.diag(row, offset) for row in flat]).reshape(*x.shape[:-1], n, n)
    return np.moveaxis(made, (-2, -1), (axis1, axis2))


def gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "none":
        return x * 0.5 * (1 + erf(x / math.sqrt(2)))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def norm(x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
    if abs(ord) == math.inf:
        return (np.max if ord > 0 else np.min)(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).sum(axis=axis, keepdims=keepdims)
    return (np.abs(x) ** ord).sum(axis=axis, keepdims=keepdims) ** (1 / ord)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


def softmax(x: Any, axis: int = -1) -> Any:
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    return np.log(softmax(x, axis))


def scatter_index(value: Any, index: Any, shape: Any) -> Any:
    out = np.zeros(shape, value.dtype)
    np.add.at(out, index, value)
    return out


def scatter_diagonal(value: Any, shape: Any, offset: int, axis1: int, axis2: int) -> Any:
    out = np.zeros(shape, value.dtype)
    for place in np.ndindex(shape):
        row, column = place[axis1], place[axis2]
        if column - row == offset:
            others = [i for axis, i in enumerate(place) if axis not in (axis1, axis2)]
            out[place] = value[(*others, min(row, column))]
    return out


def setitem(x: Any, index: Any, value: Any) -> Any:
    out = np.array(x)
    out[index] = value
    return out


def expand(x: Any, *sizes: int) -> Any:
    new = len(sizes) - x.ndim
    kept = [x.shape[i - new] if n == -1 else n for i, n in enumerate(sizes)]
    return x * np.ones(kept)


def flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
    shape = x.shape or (1,)
    start, end = start_axis % len(shape), end_axis % len(shape)
    return x.reshape(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def unbind(x: Any, axis: int = 0) -> Any:
    return [x.take(i, axis) for i in range(x.shape[axis])]


def gather(x: Any, axis: int, index: Any) -> Any:
    out = np.empty(index.shape)
    for place in np.ndindex(index.shape):
        source = list(place)
        source[axis] = index[place]
        out[place] = x[tuple(source)]
    return out


def index_add(x: Any, axis: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
    out = np.array(x)
    for i, place in enumerate(index):
        np.moveaxis(out, axis, 0)[place] += alpha * source.take(i, axis)
    return out


def scatter(x: Any, axis: int, index: Any, src: Any) -> Any:
    out = np.array(x)
    for place in np.ndindex(index.shape):
        target = list(place)
        target[axis] = index[place]
        out[tuple(target)] = src[place] if np.ndim(src) else src
    return out


def index_fill(x: Any, axis: int, index: Any, value: Any) -> Any:
    out = np.array(x)
    for place in index:
        np.moveaxis(out, axis, 0)[place] = value
    return out


def scatter_reduce(
    x: Any, axis: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """One element at a time, of all that is written to it."""
    out = np.array(x)
    for place in np.ndindex(x.shape):
        found = [x[place]] if include_self else []
        found += [
            src[other]
            for other in np.ndindex(index.shape)
            if (*other[:axis], index[other], *other[axis + 1 :]) == place
        ]
        out[place] = getattr(np, reduce)(found) if found else x[place]
    return out


def unfold(x: Any, axis: int, size: int, step: int = 1) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    return windows.take(range(0, windows.shape[axis], step), axis)


def logcumsumexp(x: Any, axis: int) -> Any:
    return np.log(np.cumsum(np.exp(x), axis))


def cummax(x: Any, axis: int) -> tuple[Any, None]:
    return np.maximum.accumulate(x, axis), None


def cummin(x: Any, axis: int) -> tuple[Any, None]:
    return np.minimum.accumulate(x, axis), None


def polygamma(n: int, x: Any) -> Any:
    """The sum over all poles; what is left of it is an integral, corrected once or twice."""
    k = np.arange(3000.0)
    y, many = x + len(k), np.expand_dims(x, -1) + k
    if n == 0:
        return np.log(y) - 1 / (2 * y) - 1 / (12 * y**2) - (1 / many).sum(-1)
    rest = y**-n / n + y ** -(n + 1) / 2 + (n + 1) * y ** -(n + 2) / 12
    return -((-1) ** n) * math.factorial(n) * ((many ** -(n + 1)).sum(-1) + rest)


def scatter_add(x: Any, axis: int, index: Any, src: Any) -> Any:
    out = np.array(x)
    for place in np.ndindex(index.shape):
        target = list(place)
        target[axis] = index[place]
        out[tuple(target)] += src[place]
    return out


def sort(x: Any, axis: int | None = -1, descending: bool = False) -> Any:
    return -np.sort(-x, axis) if descending else np.sort(x, axis)


def topk(
    x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Any, Any]:
    places = np.argsort(-x if largest else x, axis, kind="stable")
    places = np.moveaxis(np.moveaxis(places, axis, 0)[:k], 0, axis)
    places = places if sorted else np.sort(places, axis)
    return np.take_along_axis(x, places, axis), places


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    return x @ weight.T + (0 if bias is None else bias)


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    axes = tuple(range(-ndim, 0))
    out = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return out * (1 if weight is None else weight) + (0 if bias is None else bias)


def group_norm(
    x: Any, weight: Any = None, bias: Any = None, *, groups: int, eps: float = 1e-5
) -> Any:
    rows = x.reshape(len(x), groups, int(np.prod(x.shape[1:])) // groups)
    mean, var = rows.mean(-1, keepdims=True), rows.var(-1, keepdims=True)
    out = ((rows - mean) / np.sqrt(var + eps)).reshape(x.shape)
    column = (-1, *(1,) * (x.ndim - 2))
    out = out * (1 if weight is None else weight.reshape(column))
    return out + (0 if bias is None else bias.reshape(column))


def rms_norm(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
    out = x / np.sqrt((x * x).mean(tuple(range(-ndim, 0)), keepdims=True) + eps)
    return out * (1 if weight is None else weight)


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
    log_p = log_softmax(logits, axis)
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
    weights = attention_weights(query, key, bias, keep, causal=causal, scale=scale)
    if dropout:
        weights = weights * dropout_factor(dropout_key, weights.shape, dropout, weights.dtype)
    return weights @ value


def windows(x: Any, window: Any, fill: float) -> Any:
    """Every window of an input, one at a time, with its place in the output."""
    kernel, stride, padding, dilation = window
    wide = np.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    counts = [(n - span) // s + 1 for n, span, s in zip(wide.shape[2:], spans, stride, strict=True)]
    for place in np.ndindex(*counts):
        starts = [p * s for p, s in zip(place, stride, strict=True)]
        cut = [slice(a, a + n, d) for a, n, d in zip(starts, spans, dilation, strict=True)]
        yield place, (slice(None), slice(None), *cut), wide


def convolution(x: Any, weight: Any, bias: Any, window: Any, groups: int) -> Any:
    """One window of one group at a time."""
    found = {}
    inner, outer = weight.shape[1], weight.shape[0] // groups
    for place, cut, wide in windows(x, window, 0.0):
        for group in range(groups):
            channels = slice(group * inner, (group + 1) * inner)
            for o in range(group * outer, (group + 1) * outer):
                product = wide[cut][:, channels] * weight[o]
                found[(o, *place)] = product.sum((*range(1, x.ndim),))
    out = np.zeros((len(x), *np.max([*found], axis=0) + 1))
    for place, value in found.items():
        out[(slice(None), *place)] = value + (0 if bias is None else bias[place[0]])
    return out


def convolution_transpose(y: Any, weight: Any, size: Any, window: Any, groups: int) -> Any:
    """A convolution is linear in its input: its matrix, transposed."""
    shape = (1, weight.shape[1] * groups, *size)
    basis = np.eye(math.prod(shape)).reshape(-1, *shape[1:])
    matrix = convolution(basis, weight, None, window, groups)
    return np.tensordot(y, matrix, ((*range(1, y.ndim),),) * 2).reshape(len(y), *shape[1:])


def convolution_weight(x: Any, y: Any, window: Any, groups: int) -> Any:
    """A convolution is linear in its weight."""
    out = np.zeros((y.shape[1], x.shape[1] // groups, *window.kernel))
    for place in np.ndindex(out.shape):
        one = np.zeros(out.shape)
        one[place] = 1
        out[place] = (convolution(x, one, None, window, groups) * y).sum()
    return out


def max_pool(x: Any, window: Any) -> Any:
    found = {p: w[c].max((*range(2, x.ndim),)) for p, c, w in windows(x, window, -1e9)}
    return placed(found)


def sum_pool(x: Any, window: Any) -> Any:
    found = {p: w[c].sum((*range(2, x.ndim),)) for p, c, w in windows(x, window, 0.0)}
    return placed(found)


def sum_parts(x: Any, axis: int, count: int) -> Any:
    n = x.shape[axis]
    cuts = [(i * n // count, math.ceil((i + 1) * n / count)) for i in range(count)]
    return np.stack([x.take(range(a, b), axis).sum(axis) for a, b in cuts], axis)


def placed(found: dict[tuple[int, ...], Any]) -> Any:
    """An output from what was found at each place."""
    out = np.zeros((*next(iter(found.values())).shape, *np.max([*found], axis=0) + 1))
    for place, value in found.items():
        out[(slice(None), slice(None), *place)] = value
    return out


def sum_pool_transpose(y: Any, size: Any, window: Any) -> Any:
    basis = np.eye(math.prod(size)).reshape(-1, 1, *size)
    matrix = sum_pool(basis, window).reshape(len(basis), -1)
    return (y.reshape(*y.shape[:2], -1) @ matrix.T).reshape(*y.shape[:2], *size)


def batch_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """One channel at a time."""
    out, means, variances = np.zeros(x.shape), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for c in range(x.shape[1] if x.size else 0):
        means[c], variances[c] = x[:, c].mean(), x[:, c].var()
        out[:, c] = (x[:, c] - means[c]) / np.sqrt(variances[c] + eps)
        out[:, c] *= 1 if weight is None else weight[c]
        out[:, c] += 0 if bias is None else bias[c]
    return out, means, variances


def lstm(gates: Any, weight: Any, h0: Any, c0: Any) -> Any:
    out = np.zeros((2, len(gates), *h0.shape))
    h, c = h0, c0
    for t, now in enumerate(gates):
        i, f, g, o = np.split(now + h @ weight.T, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out[:, t] = h, c
    return out


def gru(gates: Any, weight: Any, bias: Any, h0: Any) -> Any:
    out = np.zeros((len(gates), *h0.shape))
    h = h0
    for t, now in enumerate(gates):
        a_r, a_z, a_n = np.split(now, 3, axis=1)
        u_r, u_z, u_n = np.split(h @ weight.T + (0 if bias is None else bias), 3, axis=1)
        z = sigmoid(a_z + u_z)
        h = (1 - z) * np.tanh(a_n + sigmoid(a_r + u_r) * u_n) + z * h
        out[t] = h
    return out


def rnn(gates: Any, weight: Any, h0: Any, nonlinearity: str = "tanh") -> Any:
    out = np.zeros((len(gates), *h0.shape))
    h = h0
    for t, now in enumerate(gates):
        a = now + h @ weight.T
        h = out[t] = np.tanh(a) if nonlinearity == "tanh" else np.maximum(a, 0)
    return out
