"""Moves that compute: element by element, along axes, and sums of products.

Each offers steps whose domain the values lie in, with room to spare; one that finds nothing to work
on ends with NothingFits.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from program_drafts import (
    MOST,
    Draft,
    Fits,
    above,
    all_different,
    anything,
    away_from,
    broadcast,
    nonempty,
    with_axes,
    within,
)
from programs import Step

Steps = Iterator[Step]


def far_from_zero(x: np.ndarray) -> Any:
    return (np.abs(x) > 0.2).all()


UNARY: dict[str, Fits] = {
    "tanh": anything, "sigmoid": anything, "sin": anything, "cos": anything, "erf": anything,
    "arctan": anything, "gelu": anything, "silu": anything, "softplus": anything,
    "square": anything, "negative": anything, "arcsinh": anything, "clone": anything,
    "exp": within(2), "expm1": within(2), "exp2": within(3), "sinh": within(2), "cosh": within(2),
    "tan": within(1), "arcsin": within(0.8), "arccos": within(0.8), "arctanh": within(0.8),
    "sqrt": above(0.1), "log": above(0.2), "log2": above(0.2), "log10": above(0.2),
    "log1p": above(-0.7), "arccosh": above(1.2), "reciprocal": far_from_zero,
    "cbrt": far_from_zero, "abs": away_from(0), "relu": away_from(0),
}  # fmt: skip
FIRST: dict[str, Fits] = {"power": above(0.2), "copysign": away_from(0), "arctan2": away_from(0)}
SECOND: dict[str, Fits] = {
    "add": anything, "subtract": anything, "multiply": anything, "logaddexp": anything,
    "divide": far_from_zero, "maximum": anything, "minimum": anything, "hypot": far_from_zero,
    "arctan2": far_from_zero, "power": within(3), "copysign": away_from(0),
}  # fmt: skip


def unary(d: Draft) -> Steps:
    op = d.pick(list(UNARY))
    yield Step(op, (d.some(UNARY[op])[0],))


def bounded(d: Draft) -> Steps:
    """What brings numbers back to a moderate size."""
    x, _ = d.some()
    yield Step(d.pick(["tanh", "sigmoid", "sin", "arctan", "erf"]), (x,))


def binary(d: Draft) -> Steps:
    """Two values that broadcast."""
    op = d.pick(list(SECOND))
    a, x = d.some(FIRST.get(op, anything))
    apart = away_from(0) if op in ("maximum", "minimum") else anything
    b, _ = d.some(lambda y: broadcast(x.shape, y.shape) and SECOND[op](y) and apart(x - y))
    yield Step(op, (a, b))


def residual(d: Draft) -> Steps:
    """The sum of two values of one shape: both get the same cotangent."""
    a, x = d.some(with_axes(1))
    b, _ = d.some(lambda y: y.shape == x.shape)
    yield Step("add", (a, b))


def with_number(d: Draft) -> Steps:
    """A value and a number, on either side."""
    op, c, left = d.pick(["add", "subtract", "multiply", "divide", "power", "maximum"]), 2, d.coin()
    if op != "power" or not left:
        c = d.number()
    domains = {
        "divide": far_from_zero if left else anything, "maximum": away_from(c),
        "power": within(3) if left else above(0.2),
    }  # fmt: skip
    x, _ = d.some(domains.get(op, anything))
    yield Step(op, (c, x) if left else (x, c))


def choice(d: Draft) -> Steps:
    """A comparison, and a choice by it or by an earlier one."""
    threshold = round(float(d.rng.standard_normal()), 2)
    x = d.perhaps(away_from(threshold))
    if x is not None and d.coin():
        yield Step(d.pick(["greater", "less", "greater_equal"]), (x, threshold))
    condition, mask = d.some(kind="b")
    a, x = d.some(lambda y: broadcast(mask.shape, y.shape))
    if d.coin():
        b = d.perhaps(lambda y: broadcast(mask.shape, y.shape, x.shape))
        yield Step("where", (condition, a, d.number() if b is None or d.coin(0.2) else b))
    else:
        one = d.perhaps(lambda y: y.size == 1) if d.coin() else None
        yield Step("masked_fill", (a, condition, d.number() if one is None else one))


def clip(d: Draft) -> Steps:
    low, high = -abs(d.number()), abs(d.number())
    x, _ = d.some(away_from(low, high))
    yield Step("clip", (x, *d.pick([(low, high), (low, None), (None, high)])))


def reduction(d: Draft) -> Steps:
    op = d.pick(["sum", "sum", "mean", "max", "min", "var", "std", "prod", "logsumexp", "norm"])
    value, x = d.some(anything if op == "sum" else nonempty)
    axis = d.axes(x.ndim)
    if (
        (op in ("max", "min") and not all_different(x, axis))
        or (op == "std" and not (x.std(axis) > 0.1).all())
        or (op == "norm" and not ((x * x).sum(axis) > 0.1).all())
    ):
        return
    yield Step(op, (value,), {"axis": axis, "keepdims": d.coin()})


def along_an_axis(d: Draft) -> Steps:
    """What keeps an axis that it runs along: scans, softmax, order."""
    op = d.pick(["softmax", "softmax", "log_softmax", "cumsum", "cumprod", "diff", "sort", "topk",
                 "median"])  # fmt: skip
    value, x = d.some(lambda x: x.ndim > 0 and x.size > 0)
    axis = d.axis(x.ndim)
    if op in ("sort", "topk", "median") and not all_different(x, axis):
        return
    if op == "topk":
        k = int(d.rng.integers(1, x.shape[axis] + 1))
        yield Step(op, (value, k), {"axis": axis, "largest": d.coin()}, several=2)
    else:
        options = {"descending": d.coin()} if op == "sort" else {}
        yield Step(op, (value,), {"axis": axis, **options})


def normalisation(d: Draft) -> Steps:
    value, x = d.some(lambda x: x.ndim > 0 and x.shape[-1] > 1 and x.size > 0)
    ndim = int(d.rng.integers(1, x.ndim + 1))
    fits = lambda w: w.shape == x.shape[-ndim:]
    weight, bias = (d.perhaps(fits) if d.coin() else None for _ in range(2))
    options = {"ndim": ndim, "eps": 0.1}
    if d.coin():
        yield Step("layer_norm", (value, weight, bias), options)
    else:
        yield Step("rms_norm", (value, weight), options)


def product(d: Draft) -> Steps:
    """Matrices and vectors that fit, batches that broadcast."""
    first, x = d.some(with_axes(1, 4))

    def fits(y: np.ndarray) -> bool:
        if not 1 <= y.ndim <= 4 or y.shape[-2 if y.ndim > 1 else -1] != x.shape[-1]:
            return False
        return broadcast(x.shape[:-2], y.shape[:-2])

    yield Step("matmul", (first, d.some(fits)[0]))


def contraction(d: Draft) -> Steps:
    """Other products of two values, and bias."""
    op = d.pick(["tensordot", "inner", "outer", "linear", "dot", "vecdot"])
    a, x = d.some(with_axes(1, 3))
    domains: dict[str, Fits] = {
        "tensordot": lambda y: y.ndim > 0 and y.shape[0] == x.shape[-1],
        "inner": lambda y: y.ndim > 0 and y.shape[-1] == x.shape[-1],
        "outer": lambda y: x.ndim == y.ndim == 1,
        "linear": lambda y: y.ndim == 2 and y.shape[-1] == x.shape[-1],
        "dot": lambda y: y.ndim > 0 and y.shape[-2 if y.ndim > 1 else -1] == x.shape[-1],
        "vecdot": lambda y: y.shape[-1:] == x.shape[-1:] and broadcast(x.shape, y.shape),
    }
    b, y = d.some(lambda y: domains[op](y) and x.size * y.size <= MOST)
    bias = d.perhaps(lambda z: z.shape == y.shape[:1]) if op == "linear" else None
    last = [1] if op == "tensordot" else [] if bias is None else [bias]
    yield Step(op, (a, b, *last))


def einsum(d: Draft) -> Steps:
    """Up to three values: letters are shared by equal lengths only, and some of them remain."""
    found = [d.perhaps(with_axes(0, 3)) for _ in range(d.rng.integers(1, 4))]
    values = [value for value in found if value is not None]
    lengths: dict[str, int] = {}
    inputs = []
    for value in values:
        word = ""
        for n in d.array(value.index).shape:
            known = [letter for letter, length in lengths.items() if length == n]
            letter = d.pick(known) if known and d.coin(0.7) else "abcdefghi"[len(lengths)]
            lengths[letter] = n
            word += letter
        inputs.append(word)
    kept = [str(letter) for letter in d.rng.permutation(list(lengths)) if d.coin(0.6)]
    while math.prod(lengths[letter] for letter in kept) > MOST:
        kept.pop()
    if values:
        yield Step("einsum", (f"{','.join(inputs)}->{''.join(kept)}", *values))


def fused(d: Draft) -> Steps:
    """Attention and cross-entropy."""
    query, x = d.some(lambda x: 2 <= x.ndim <= 4 and x.size > 0)
    if d.coin(0.3) and x.ndim == 2:
        target = d.rng.integers(0, x.shape[1], x.shape[0])
        options = {"reduction": d.pick(["mean", "sum", "none"])}
        yield Step("cross_entropy", (query, target), options)
        return
    same_batch = lambda y: y.size > 0 and y.ndim == x.ndim and y.shape[:-2] == x.shape[:-2]
    key, k = d.some(lambda y: same_batch(y) and y.shape[-1] == x.shape[-1])
    value, _ = d.some(lambda y: same_batch(y) and y.shape[-2] == k.shape[-2])
    yield Step("attention", (query, key, value), {"causal": True} if d.coin(0.3) else {})
