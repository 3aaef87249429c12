"""Moves that only change the places of elements: views, reads, joins, pieces, and writes.

A write is offered for any value. The draft takes those to memory that no other value sees and no
rule saved.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from arithmetic_moves import far_from_zero
from program_drafts import Draft, Fits, anything, away_from, broadcast, with_axes, within
from programs import Step

Steps = Iterator[Step]


def view(d: Draft) -> Steps:
    """The same elements under other axes."""
    value, x = d.some(with_axes(0, 4))
    permutation = d.rng.permutation(x.ndim)
    offset = int(d.rng.integers(-1, 2))
    longer = tuple(d.pick([2, 3]) if n == 1 else n for n in x.shape)
    calls: dict[str, tuple[Any, ...]] = {
        "reshape": (d.pick(shapes_of(x.size)),),
        "transpose": (tuple(int(a) - x.ndim * d.coin(0.3) for a in permutation),),
        "squeeze": (), "ravel": (), "flatten": (), "expand_dims": (d.axis(x.ndim + 1),),
        "broadcast_to": ((d.pick([1, 2]),) * d.coin() + longer,),
        "expand": (d.pick([2, 3]), *[-1] * x.ndim),
    }  # fmt: skip
    if x.ndim:
        calls["swapaxes"] = calls["moveaxis"] = (d.axis(x.ndim), d.axis(x.ndim))
    if x.ndim > 1:
        calls["diagonal"] = (offset, *permutation[:2].tolist())
    op = d.pick([*calls, "reshape", "transpose"])
    yield Step(op, (value, *calls[op]))


def shapes_of(size: int) -> list[Any]:
    """Shapes with so many elements."""
    pairs = [(n, size // n) for n in range(1, size + 1) if size % n == 0]
    triples = [(n, -1, 2) for n in range(1, size // 2 + 1) if size % (2 * n) == 0]
    return [-1 if size else (0, 2), (size,), *pairs, *triples]


def reading(d: Draft) -> Steps:
    value, x = d.some()
    yield Step("getitem", (value, d.index(x.shape)))


def gathering(d: Draft) -> Steps:
    """Reads and sums by integers along an axis."""
    value, x = d.some(lambda x: x.ndim > 0 and x.size > 0)
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    op = d.pick(["take", "take_along_axis", "gather", "scatter_add", "embedding"])
    if op == "take":
        yield Step(op, (value, d.rng.integers(-n, n, d.pick([(2,), (2, 2), ()])), axis))
    elif op == "embedding" and x.ndim > 1:
        yield Step(op, (d.rng.integers(0, len(x), d.pick([(3,), (2, 2)])), value))
    elif op != "embedding":
        shape = [m if op == "take_along_axis" else int(d.rng.integers(1, m + 1)) for m in x.shape]
        shape[axis] = int(d.rng.integers(1, 4))
        if op == "take_along_axis":
            yield Step(op, (value, d.rng.integers(-n, n, shape), axis))
            return
        index = d.rng.integers(0, n, shape)
        if op == "gather":
            yield Step(op, (value, axis, index))
            return
        src, _ = d.some(lambda y: y.ndim == x.ndim and (np.subtract(y.shape, shape) >= 0).all())
        yield Step(op, (value, axis, index, src))


def join(d: Draft) -> Steps:
    """Some values beside one another, one of them perhaps twice."""
    first, x = d.some(with_axes(0, 3))
    op = d.pick(["concatenate", "concatenate", "stack", "hstack", "vstack", "dstack"])
    if op == "concatenate" and not x.ndim:
        return
    options = {"axis": d.axis(x.ndim + (op == "stack"))} if op in ("concatenate", "stack") else {}
    along = options["axis"] % x.ndim if op == "concatenate" else None

    def fits(y: np.ndarray) -> bool:
        return y.ndim == x.ndim and all(
            a == b or i == along for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True))
        )

    parts = [first, *(d.perhaps(fits) for _ in range(d.rng.integers(0, 3)))]
    yield Step(op, ([part for part in parts if part is not None],), options)


def pieces(d: Draft) -> Steps:
    value, x = d.some(with_axes(1))
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    op = d.pick(["split", "array_split", "unbind"])
    if op == "split":
        cuts = sorted(d.rng.integers(0, n + 1, d.rng.integers(1, 3)).tolist())
        yield Step(op, (value, cuts, axis), several=len(cuts) + 1)
    elif op == "array_split":
        yield Step(op, (value, 2, axis), several=2)
    elif op == "unbind" and n:
        yield Step(op, (value, axis), several=n)


def arrangement(d: Draft) -> Steps:
    value, x = d.some(with_axes(1, 4))
    axis = d.axis(x.ndim)
    diagonal = int(d.rng.integers(-1, 2))
    calls: dict[str, tuple[Any, ...]] = {
        "flip": (d.axes(x.ndim),),
        "roll": (int(d.rng.integers(-3, 4)), d.pick([None, axis])),
        "repeat": (d.rng.integers(0, 3, x.shape[axis]) if d.coin() else 2, axis),
        "tile": (d.pick([2, (2, 1), (1, 2)]),),
    }
    if x.size:
        width = d.rng.integers(0, 3, (x.ndim, 2)).tolist()
        calls["pad"] = (width, d.pick(["constant", "edge"]))
    if x.ndim > 1:
        calls["tril"] = calls["triu"] = (diagonal,)
        calls["rot90"] = (int(d.rng.integers(0, 4)),)
    if x.ndim < 3:
        calls["diag"] = (diagonal,)
    op = d.pick(list(calls))
    yield Step(op, (value, *calls[op]))


def writing(d: Draft) -> Steps:
    """A value set at an index, in a copy or in place."""
    target, x = d.some()
    index = d.index(x.shape)
    written = d.perhaps(into(x[index].shape))
    value = d.number() if written is None or d.coin(0.2) else written
    yield Step(d.pick(["setitem", "write", "write"]), (target, index, value))


def in_place(d: Draft) -> Steps:
    """A value replaced by what an op makes of it."""
    op = d.pick(["add_", "mul_", "div_", "tanh_", "exp_", "clip_"])
    domains: dict[str, Fits] = {"tanh_": anything, "clip_": away_from(-0.9, 0.9)}
    value, x = d.some(domains.get(op, within(2)))
    if op in ("tanh_", "exp_", "clip_"):
        yield Step(op, (value, *((-0.9, 0.9) if op == "clip_" else ())))
        return
    fits = into(x.shape)
    second = far_from_zero if op == "div_" else within(3)
    other = d.perhaps(lambda y: fits(y) and second(y))
    yield Step(op, (value, d.number() if other is None or d.coin(0.2) else other))


def into(shape: tuple[int, ...]) -> Fits:
    """Whether an array broadcasts to a shape."""
    return lambda y: broadcast(y.shape, shape) and np.broadcast_shapes(y.shape, shape) == shape
