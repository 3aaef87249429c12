"""Moves that compute: element by element, along axes, and sums of products.

Each offers steps whose domain the values lie in, with room to spare; one that finds nothing to work
on offers none.
"""

from __future__ import annotations

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
from programs import Step, Value

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
    x = d.find(UNARY[op])
    if x is not None:
        yield Step(op, (Value(x),))


def bounded(d: Draft) -> Steps:
    """What brings numbers back to a moderate size."""
    x = d.find()
    if x is not None:
        yield Step(d.pick(["tanh", "sigmoid", "sin", "arctan", "erf"]), (Value(x),))


def binary(d: Draft) -> Steps:
    """Two values that broadcast."""
    op = d.pick(list(SECOND))
    a = d.find(FIRST.get(op, anything))
    if a is None:
        return
    x = d.array(a)
    apart = away_from(0) if op in ("maximum", "minimum") else anything
    b = d.find(lambda y: broadcast(x.shape, y.shape) and SECOND[op](y) and apart(x - y))
    if b is not None:
        yield Step(op, (Value(a), Value(b)))


def residual(d: Draft) -> Steps:
    """The sum of two values of one shape: both get the same cotangent."""
    a = d.find(with_axes(1))
    if a is not None:
        b = d.find(lambda y: y.shape == d.array(a).shape)
        yield Step("add", (Value(a), Value(b)))


def with_number(d: Draft) -> Steps:
    """A value and a number, on either side."""
    op, c, left = d.pick(["add", "subtract", "multiply", "divide", "power", "maximum"]), 2, d.coin()
    if op != "power" or not left:
        c = d.number()
    domains = {
        "divide": far_from_zero if left else anything,
        "maximum": away_from(c),
        "power": within(3) if left else above(0.2),
    }
    x = d.find(domains.get(op, anything))
    if x is not None:
        yield Step(op, (c, Value(x)) if left else (Value(x), c))


def choice(d: Draft) -> Steps:
    """A comparison, and a choice by it or by an earlier one."""
    threshold = round(float(d.rng.standard_normal()), 2)
    x = d.find(away_from(threshold))
    if x is not None and d.coin():
        yield Step(d.pick(["greater", "less", "greater_equal"]), (Value(x), threshold))
    condition = d.find(kind="b")
    if condition is None:
        return
    mask = d.array(condition).shape
    a = d.find(lambda y: broadcast(mask, y.shape))
    if a is None:
        return
    if d.coin():
        b = d.find(lambda y: broadcast(mask, y.shape, d.array(a).shape))
        other = d.number() if b is None or d.coin(0.2) else Value(b)
        yield Step("where", (Value(condition), Value(a), other))
    else:
        one = d.find(lambda y: y.size == 1) if d.coin() else None
        filling = d.number() if one is None else Value(one)
        yield Step("masked_fill", (Value(a), Value(condition), filling))


def clip(d: Draft) -> Steps:
    low, high = -abs(d.number()), abs(d.number())
    x = d.find(away_from(low, high))
    if x is not None:
        yield Step("clip", (Value(x), *d.pick([(low, high), (low, None), (None, high)])))


def reduction(d: Draft) -> Steps:
    op = d.pick(["sum", "sum", "mean", "max", "min", "var", "std", "prod", "logsumexp", "norm"])
    place = d.find(anything if op == "sum" else nonempty)
    if place is None:
        return
    x = d.array(place)
    axis = d.axes(x.ndim)
    if (
        (op in ("max", "min") and not all_different(x, axis))
        or (op == "std" and not (x.std(axis) > 0.1).all())
        or (op == "norm" and not ((x * x).sum(axis) > 0.1).all())
    ):
        return
    yield Step(op, (Value(place),), {"axis": axis, "keepdims": d.coin()})


def along_an_axis(d: Draft) -> Steps:
    """What keeps an axis that it runs along: scans, softmax, order."""
    op = d.pick(["softmax", "softmax", "log_softmax", "cumsum", "cumprod", "diff", "sort", "topk",
                 "median"])  # fmt: skip
    place = d.find(lambda x: x.ndim > 0 and x.size > 0)
    if place is None:
        return
    x = d.array(place)
    axis = d.axis(x.ndim)
    if op in ("sort", "topk", "median") and not all_different(x, axis):
        return
    if op == "topk":
        k = int(d.rng.integers(1, x.shape[axis] + 1))
        yield Step(op, (Value(place), k), {"axis": axis, "largest": d.coin()}, several=2)
    else:
        options = {"descending": d.coin()} if op == "sort" else {}
        yield Step(op, (Value(place),), {"axis": axis, **options})


def normalisation(d: Draft) -> Steps:
    place = d.find(lambda x: x.ndim > 0 and x.shape[-1] > 1 and x.size > 0)
    if place is None:
        return
    x = d.array(place)
    ndim = int(d.rng.integers(1, x.ndim + 1))
    found = [d.find(lambda w: w.shape == x.shape[-ndim:]) if d.coin() else None for _ in range(2)]
    weight, bias = (None if part is None else Value(part) for part in found)
    options = {"ndim": ndim, "eps": 0.1}
    if d.coin():
        yield Step("layer_norm", (Value(place), weight, bias), options)
    else:
        yield Step("rms_norm", (Value(place), weight), options)


def product(d: Draft) -> Steps:
    """Matrices and vectors that fit, batches that broadcast."""
    first = d.find(with_axes(1, 4))
    if first is None:
        return
    x = d.array(first)

    def fits(y: np.ndarray) -> bool:
        if not 1 <= y.ndim <= 4 or y.shape[-2 if y.ndim > 1 else -1] != x.shape[-1]:
            return False
        return broadcast(x.shape[:-2], y.shape[:-2])

    second = d.find(fits)
    if second is not None:
        yield Step("matmul", (Value(first), Value(second)))


def contraction(d: Draft) -> Steps:
    """Other products of two values, and bias."""
    op = d.pick(["tensordot", "inner", "outer", "linear", "dot", "vecdot"])
    a = d.find(with_axes(1, 3))
    if a is None:
        return
    x = d.array(a)
    domains: dict[str, Fits] = {
        "tensordot": lambda y: y.ndim > 0 and y.shape[0] == x.shape[-1],
        "inner": lambda y: y.ndim > 0 and y.shape[-1] == x.shape[-1],
        "outer": lambda y: x.ndim == y.ndim == 1,
        "linear": lambda y: y.ndim == 2 and y.shape[-1] == x.shape[-1],
        "dot": lambda y: y.ndim > 0 and y.shape[-2 if y.ndim > 1 else -1] == x.shape[-1],
        "vecdot": lambda y: y.shape[-1:] == x.shape[-1:] and broadcast(x.shape, y.shape),
    }
    b = d.find(lambda y: domains[op](y) and x.size * y.size <= MOST)
    if b is None:
        return
    bias = d.find(lambda y: y.shape == d.array(b).shape[:1]) if op == "linear" else None
    last = [1] if op == "tensordot" else [] if bias is None else [Value(bias)]
    yield Step(op, (Value(a), Value(b), *last))


def einsum(d: Draft) -> Steps:
    """Up to three values: letters are shared by equal lengths only, and some of them remain."""
    found = [d.find(with_axes(0, 3)) for _ in range(d.rng.integers(1, 4))]
    places = [place for place in found if place is not None]
    lengths: dict[str, int] = {}
    inputs = []
    for place in places:
        word = ""
        for n in d.array(place).shape:
            known = [letter for letter, length in lengths.items() if length == n]
            letter = d.pick(known) if known and d.coin(0.7) else "abcdefghi"[len(lengths)]
            lengths[letter] = n
            word += letter
        inputs.append(word)
    kept = [str(letter) for letter in d.rng.permutation(list(lengths)) if d.coin(0.6)]
    while math.prod(lengths[letter] for letter in kept) > MOST:
        kept.pop()
    if places:
        yield Step("einsum", (f"{','.join(inputs)}->{''.join(kept)}", *map(Value, places)))


def fused(d: Draft) -> Steps:
    """Attention and cross-entropy."""
    place = d.find(lambda x: 2 <= x.ndim <= 4 and x.size > 0)
    if place is None:
        return
    x = d.array(place)
    if d.coin(0.3) and x.ndim == 2:
        target = d.rng.integers(0, x.shape[1], x.shape[0])
        reduction = d.pick(["mean", "sum", "none"])
        yield Step("cross_entropy", (Value(place), target), {"reduction": reduction})
        return
    same_batch = lambda y: y.size > 0 and y.ndim == x.ndim and y.shape[:-2] == x.shape[:-2]
    key = d.find(lambda y: same_batch(y) and y.shape[-1] == x.shape[-1])
    value = d.find(lambda y: same_batch(y) and y.shape[-2] == d.array(key).shape[-2])
    options = {"causal": True} if d.coin(0.3) else {}
    yield Step("attention", (Value(place), Value(key), Value(value)), options)
