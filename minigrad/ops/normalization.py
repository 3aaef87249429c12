"""Layer, root-mean-square and group normalization: for each, kernel, rule and decomposition.

The kernels process rows in blocks that stay in the cache, and are divided among threads. The
normalized axes are flattened: x (R, W), weight (W,), bias (W,). A row of group normalization has
several channels with S values each: x (R, C, S).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.sums import ones
from minigrad.ops._numerics import (
    all_finite,
    constant,
    extent,
    root_of_squares,
    row_sums,
    widened,
)
from minigrad.ops._parallel import block_of, in_passes

__all__ = ["group_norm", "layer_norm", "rms_norm"]

GROUPS = 1 << 19
"""The number of elements in a block of group normalization for each of several threads. The calls
of NumPy are shorter there, so that more of them are needed.
"""


def _check(x: Any, ndim: int, **parameters: Any) -> None:
    """Refuse an input or parameters that do not fit the number of axes that are normalized."""
    if x.ndim < ndim:
        raise ArgumentError(f"the input has shape {x.shape}, at least {ndim} axes are normalized")
    check_parameters(x, x.shape[x.ndim - ndim :], **parameters)


def check_parameters(x: Any, wanted: tuple[int, ...], **parameters: Any) -> None:
    """Refuse a parameter that has another shape than is wanted for the input `x`."""
    for name, array in parameters.items():
        if array is not None and array.shape != wanted:
            raise ArgumentError(
                f"the input has shape {x.shape}, so {name} must have shape {wanted}, "
                f"got {array.shape}"
            )


@primitive(arrays=3, residuals=("mean", "rstd"), float_inputs=True, promote=("x", "weight", "bias"))
def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    """Normalize the last axes to mean 0 and variance 1, then scale and shift.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the population variance.

    Args:
        x: Shape (..., *normalized).
        weight: Scale of shape `normalized`, None for 1.
        bias: Shift of shape `normalized`, None for 0.
        ndim: The number of last axes to normalize.
        eps: Added to the variance.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    Example:
        >>> import minigrad
        >>> minigrad.ops.layer_norm(minigrad.tensor([[1.0, 3.0]]), eps=0.0)
        tensor([[-1.,  1.]])
    """
    _check(x, ndim, weight=weight, bias=bias)
    rows, width, weight, bias = _as_rows(x, weight, bias, ndim)
    out = np.empty(x.shape, x.dtype)
    flat = out.reshape(rows.shape)
    statistics = np.empty((3, len(rows), 1), x.dtype)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        normal = _centre(rows[part], statistics[:, part], eps)
        normal *= statistics[2, part]
        if weight is not None:
            normal *= weight
        if bias is None:
            flat[part] = normal
        else:
            np.add(normal, bias, out=flat[part])

    in_passes(len(rows), width, work, inner=width)
    mean, rest, rstd = statistics.reshape(3, *x.shape[: x.ndim - ndim], *(1,) * ndim)
    return out, (mean, rest), rstd


def _centre(rows: np.ndarray, statistics: np.ndarray, eps: float) -> np.ndarray:
    """Subtract the mean of each row.

    Args:
        rows: Shape (R, W).
        statistics: Shape (3, R, 1), to be filled with the mean as a sum of two numbers, so that
            ``x - mean`` is accurate to rounding, and with the reciprocal standard deviation.
        eps: Added to the variance.

    Returns:
        The difference, of the shape of `rows`.
    """
    mean, rest, rstd = statistics
    one, count = ones((rows.shape[1], 1), _wide(rows)), max(rows.shape[1], 1)
    # Divide afterwards: with rounded factors, constant rows would not become exactly 0.
    mean[:] = rows.dot(one) / count
    centred = rows - mean
    sums, squares = centred.dot(one), _squares(centred)
    # The rounding error of the mean matters where x is far from zero. Each row decides for itself:
    # what another row holds must not change its rounding.
    matters = sums * sums >= count * _ROUNDING[rows.dtype] * squares
    if np.count_nonzero(matters):
        rest[:] = sums * matters / count
        centred -= rest
        squares = _squares(centred)
    else:
        rest.fill(0)
    _set_rstd(rstd, centred, squares, eps)
    return centred


def _set_rstd(rstd: np.ndarray, rows: np.ndarray, squares: np.ndarray, eps: float) -> None:
    """Fill in the reciprocal root of the mean square of each row."""
    count = max(rows.shape[1], 1)
    rstd[:] = np.sqrt(count / (squares + count * eps))
    if np.count_nonzero(rstd) < rstd.size:  # the sum of the squares overflowed
        roots = root_of_squares(widened(rows), -1, rows.shape[1])
        np.copyto(rstd, 1 / roots, where=rstd == 0, casting="same_kind")


_ROUNDING = {np.dtype(t): float(np.finfo(t).eps) ** 2 for t in (np.float16, np.float32, np.float64)}


def _subtract_mean(x: Any, means: list[Any], part: slice) -> Any:
    """The difference that `_centre` has computed for a part of the rows."""
    mean, rest = means
    centred = x - mean[part]
    if np.count_nonzero(rest[part]):
        centred -= rest[part]
    return centred


def _as_rows(x: Any, weight: Any, bias: Any, ndim: int) -> tuple[Any, int, Any, Any]:
    """Flatten the normalized axes: x (R, W), its width W, weight (W,) and bias (W,)."""
    width = math.prod(x.shape[x.ndim - ndim :])
    rows = x.reshape(math.prod(x.shape[: x.ndim - ndim]), width)
    flat = [None if array is None else array.reshape(-1) for array in (weight, bias)]
    return rows, width, *flat


def _wide(x: np.ndarray) -> Any:
    return np.float32 if x.dtype == np.float16 else x.dtype


def _averages(width: int, weight: np.ndarray | None, like: np.ndarray) -> np.ndarray:
    """Factors (W, 1): rows @ factors are the means of rows times the weight."""
    return (ones((width, 1), _wide(like)) if weight is None else widened(weight)[:, None]) / width


def _squares(rows: np.ndarray) -> np.ndarray:
    """The sum of the squares of each row: shape (R, 1)."""
    rows = widened(rows)
    return np.vecdot(rows, rows)[:, None]


@layer_norm.defjoint("x", "weight", "bias")
def _layer_norm_pull(
    g: np.ndarray, needed: tuple[bool, ...], x: np.ndarray, weight: np.ndarray | None,
    mean: tuple[np.ndarray, np.ndarray] | None, rstd: np.ndarray, ndim: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Also the rule of `rms_norm`, which subtracts no mean: then `mean` is None."""
    rows, width, scale, _ = _as_rows(x, weight, None, ndim)
    pulls, rstds = g.reshape(rows.shape), rstd.reshape(-1, 1)
    means = None if mean is None else [array.reshape(-1, 1) for array in mean]
    grad_x = np.empty(x.shape, x.dtype) if needed[0] else None
    flat = None if grad_x is None else grad_x.reshape(rows.shape)
    block = block_of(len(rows), width)
    # Each block has its own sums over rows, for the weight and for the bias.
    blocks = (-(-len(rows) // block), width)
    sums = [np.empty(blocks, _wide(x)) if need else None for need in needed[1:]]
    averages = _averages(width, scale, x)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        pull = widened(pulls[part])
        if means is None:
            normal = rows[part] * rstds[part]
        else:
            normal = _subtract_mean(rows[part], means, part)
            normal *= rstds[part]
        product = pull * normal
        for total, terms in zip(sums, (product, pull), strict=False):
            if total is not None:
                total[start // block] = ones(len(terms), terms.dtype).dot(terms)
        if flat is None:
            return
        # With inner = g * weight: (inner - mean(inner) - normal * mean(inner * normal)) * rstd
        normal *= product.dot(averages)
        if means is not None:
            normal += pull.dot(averages)
        np.subtract(pull if scale is None else pull * scale, normal, out=normal)
        np.multiply(normal, rstds[part], out=flat[part])

    in_passes(len(rows), width, work, inner=width)
    totals = [s if s is None or len(s) == 1 else s.sum(axis=0) for s in sums]
    axes = x.shape[x.ndim - ndim :]
    grad_weight, grad_bias = [None if s is None else s.reshape(axes) for s in totals]
    return grad_x, grad_weight, grad_bias


layer_norm.defformula(
    """
    axes = tuple(range(-ndim, 0))  # the last ndim
    rows = tuple(range(g.ndim - ndim))  # the axes before them
    weight = 1 if weight is None else weight  # 1 where there is none
    bias = 0 if bias is None else bias  # 0 where there is none
    u = g * weight
    z = rstd * (x - mean(x, axes))
    """,
    out="z * weight + bias",
    mean="mean(x, axes)",
    rstd="1 / sqrt(mean((x - mean(x, axes)) ** 2, axes) + eps)",
    x="rstd * (u - mean(u, axes) - z * mean(u * z, axes))",
    weight="sum(g * z, rows)",
    bias="sum(g, rows)",
)


@layer_norm.defdecomposition
def _layer_norm_decomposition(
    x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
) -> Any:
    axes = tuple(range(-ndim, 0))
    wide, weight, bias = map(widened, (x, weight, bias))
    centred = wide - wide.mean(axis=axes, keepdims=True)
    centred = centred - centred.mean(axis=axes, keepdims=True)
    centred, least, _ = in_range(centred, axes, eps)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    out = centred / (variance + least).sqrt()
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out.astype(x.dtype)


def in_range(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """`x` and `eps`, which is added to its mean square, divided by a scale and by its square.

    The scale is 1 unless squares would overflow. It is a constant for derivatives, and a power of
    2, so nothing is rounded. Where one sample runs for many, it is 1.
    """
    values = constant(x)
    if isinstance(values, Variable) or all_finite(values):
        return x, eps, 1
    scale = extent(np.absolute(values).max(axis=axes, keepdims=True))
    scale = np.exp2(np.floor(np.log2(scale)))
    return x / scale, eps / scale / scale, scale


@primitive(arrays=2, residuals=("rstd",), float_inputs=True, promote=("x", "weight"))
def rms_norm(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
    """Divide by the root mean square of the last axes, then scale.

    ``x / sqrt(mean(x²) + eps) * weight``. Arguments and errors are as for `layer_norm`.

    Source:
        Zhang and Sennrich 2019, arXiv:1910.07467.

    Example:
        >>> import minigrad
        >>> minigrad.ops.rms_norm(minigrad.tensor([[1.0, 7.0]]), eps=0.0)
        tensor([[0.2000, 1.4000]])
    """
    _check(x, ndim, weight=weight)
    rows, width, weight, _ = _as_rows(x, weight, None, ndim)
    out = np.empty(rows.shape, x.dtype)
    rstd = np.empty((len(rows), 1), x.dtype)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        _set_rstd(rstd[part], rows[part], _squares(rows[part]), eps)
        normal = np.multiply(rows[part], rstd[part], out=out[part])
        if weight is not None:
            normal *= weight

    in_passes(len(rows), width, work)
    return out.reshape(x.shape), rstd.reshape(*x.shape[: x.ndim - ndim], *(1,) * ndim)


@rms_norm.defjoint("x", "weight")
def _rms_norm_pull(
    g: Any, needed: tuple[bool, ...], x: Any, weight: Any, rstd: Any, ndim: int
) -> tuple[Any, Any]:
    return _layer_norm_pull(g, (*needed, False), x, weight, None, rstd, ndim)[:2]


rms_norm.defformula(
    """
    axes = tuple(range(-ndim, 0))  # the last ndim
    rows = tuple(range(g.ndim - ndim))  # the axes before them
    weight = 1 if weight is None else weight  # 1 where there is none
    u = g * weight
    z = rstd * x
    """,
    out="z * weight",
    rstd="1 / sqrt(mean(x ** 2, axes) + eps)",
    x="rstd * (u - z * mean(u * z, axes))",
    weight="sum(g * z, rows)",
)


@rms_norm.defdecomposition
def _rms_norm_decomposition(x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
    wide, weight = map(widened, (x, weight))
    axes = tuple(range(-ndim, 0))
    wide, least, _ = in_range(wide, axes, eps)
    out = wide / ((wide * wide).mean(axis=axes, keepdims=True) + least).sqrt()
    return (out if weight is None else out * weight).astype(x.dtype)


@primitive(arrays=3, residuals=("mean", "rstd"), float_inputs=True, promote=("x", "weight", "bias"))
def group_norm(
    x: Any, weight: Any = None, bias: Any = None, *, groups: int, eps: float = 1e-5
) -> Any:
    """Normalize each group of channels of a sample, then scale and shift each channel.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the population variance.

    Args:
        x: Shape (N, C, ...).
        weight: Scale of shape (C,), None for 1.
        bias: Shift of shape (C,), None for 0.
        groups: The number of groups of consecutive channels; it divides C.
        eps: Added to the variance.

    Raises:
        ValueError: The shapes do not fit.

    Source:
        Wu and He 2018, arXiv:1803.08494.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1.0, 3.0, 10.0, 30.0]])
        >>> minigrad.ops.group_norm(x, groups=2, eps=0.0)
        tensor([[-1.,  1., -1.,  1.]])
    """
    if x.ndim < 2 or x.shape[1] % groups:
        raise ArgumentError(
            f"an input of shape (N, C, ...) expected, with C divisible by {groups}, got {x.shape}"
        )
    check_parameters(x, x.shape[1:2], weight=weight, bias=bias)
    parts = _as_groups(x, groups)
    out = np.empty(parts.shape, x.dtype)
    statistics = np.empty((3, len(parts), 1), widened(x[:0]).dtype)
    mean, rest, rstd = statistics
    size = math.prod(parts.shape[1:])

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        rows = widened(parts[part]).reshape(stop - start, size)
        normal = _centre(rows, statistics[:, part], eps).reshape(parts[part].shape)
        normal *= rstd[part][..., None] * _of_groups(weight, groups, start, stop, 1)
        np.add(normal, _of_groups(bias, groups, start, stop, 0), out=out[part])

    in_passes(len(parts), size, work, elements=GROUPS, inner=parts.shape[2])
    kept = (len(x), groups, 1)
    mean, rest, rstd = (array.reshape(kept) for array in (mean, rest, rstd))
    return out.reshape(x.shape), (mean, rest), rstd


def _as_groups(x: Any, groups: int) -> Any:
    """Shape (N, C, ...) -> (N G, C / G, S)."""
    return x.reshape(len(x) * groups, x.shape[1] // groups, math.prod(x.shape[2:]))


def _of_groups(parameter: Any, groups: int, start: int, stop: int, default: int) -> Any:
    """A parameter (C,) for the groups of a block: (stop - start, C / G, 1)."""
    if parameter is None:
        return default
    return parameter.reshape(groups, -1, 1)[np.arange(start, stop) % groups]


@group_norm.defjoint("x", "weight", "bias")
def _group_norm_pull(
    g: np.ndarray, needed: tuple[bool, ...], x: np.ndarray, weight: np.ndarray | None,
    mean: tuple[np.ndarray, np.ndarray], rstd: np.ndarray, groups: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    parts, pulls = _as_groups(x, groups), _as_groups(g, groups)
    means, rstds = [array.reshape(-1, 1, 1) for array in mean], rstd.reshape(-1, 1, 1)
    grad_x = np.empty(parts.shape, x.dtype) if needed[0] else None
    size = max(math.prod(parts.shape[1:]), 1)
    std = 1 / rstds
    far = not math.isfinite(np.vdot(std, std))  # then the square of rstd may be lost
    # Sums over the values of each channel: of g, and of g times the normalized input.
    sums, products = np.empty((2, *parts.shape[:2], 1), rstd.dtype)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        pull = widened(pulls[part])
        centred = _subtract_mean(parts[part], means, part)
        products[part] = np.vecdot(pull, centred)[..., None] * rstds[part]
        sums[part] = row_sums(pull)
        if grad_x is None:
            return
        # With inner = g * weight: (inner - mean(inner) - normal * mean(inner * normal)) * rstd
        scale = _of_groups(weight, groups, start, stop, 1)
        average = (sums[part] * scale).sum(axis=1, keepdims=True) / size
        slope = (products[part] * scale).sum(axis=1, keepdims=True) / size
        slope *= rstds[part]
        if far:
            centred *= rstds[part]
        else:
            slope *= rstds[part]
        centred *= slope
        centred += average * rstds[part]
        np.subtract(pull * (scale * rstds[part]), centred, out=grad_x[part])

    in_passes(len(parts), size, work, elements=GROUPS, inner=parts.shape[2])
    grad_weight, grad_bias = (
        part.reshape(x.shape[:2]).sum(axis=0) if need else None
        for part, need in zip((products, sums), needed[1:], strict=True)
    )
    return (None if grad_x is None else grad_x.reshape(x.shape)), grad_weight, grad_bias


group_norm.defformula(
    """
    axes = (0, *range(2, x.ndim))  # all but that of the channels
    weight = 1 if weight is None else weight.reshape(-1, *(1,) * (x.ndim - 2))  # 1 if there is none
    shape = (len(x), groups, x.size // max(1, len(x) * groups))  # each row is a group
    rows = x.reshape(shape)
    u = (g * weight).reshape(shape)
    z = rstd * (rows - mean(rows, -1))
    """,
    x="(rstd * (u - mean(u, -1) - z * mean(u * z, -1))).reshape(x.shape)",
    weight="sum(g * z.reshape(x.shape), axes)",
    bias="sum(g, axes)",
)


@group_norm.defdecomposition
def _group_norm_decomposition(
    x: Any, weight: Any = None, bias: Any = None, *, groups: int, eps: float = 1e-5
) -> Any:
    rows = x.reshape(len(x), groups, math.prod(x.shape[1:]) // groups)
    out = layer_norm(rows, eps=eps).reshape(x.shape)
    column = (-1, *(1,) * (x.ndim - 2))
    if weight is not None:
        out = out * weight.reshape(column)
    return out if bias is None else out + bias.reshape(column)
