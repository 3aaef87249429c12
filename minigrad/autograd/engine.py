"""The engine: carry cotangents from the outputs back to the leaves.

One pass visits the nodes from the youngest to the oldest. Since an output is always younger than
its inputs, every contribution to a node has arrived when its turn comes, so each rule runs once.
There is no recursion and no marking: a heap of stamps is the whole schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.hooks import hooked_nodes, retained_nodes, run_hooks
from minigrad.autograd.mode import State, located, state
from minigrad.autograd.node import FREED, Leaf, Node, Variable
from minigrad.autograd.primitive import primitive
from minigrad.autograd.results import pick, picked, with_history, wrap
from minigrad.autograd.sums import BLAS_DTYPES, column_sums

__all__ = ["Arrival", "Update", "alias", "propagate", "unbroadcast"]

_ndarray = np.ndarray


class Update:
    """A cotangent that touches a part of its target, such as that of ``x[i]``.

    A rule returns one instead of an array of zeros with a few entries set. The pass adds it into
    a buffer that it owns, so that n small reads cost n small writes.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Update, primitive
        >>> class AtTheStart(Update):
        ...     def __init__(self, cotangent):
        ...         self.cotangent = cotangent
        ...
        ...     def add_to(self, buffer):
        ...         buffer[0] += self.cotangent
        >>> @primitive
        ... def first(x):
        ...     return x[0]
        >>> first.defvjp(x=lambda g: AtTheStart(g))
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> first(x).backward()
        >>> x.grad
        Tensor([1., 0.], dtype=float32)
    """

    def add_to(self, buffer: np.ndarray) -> None:
        """Add the cotangent into `buffer`, which has the target's shape."""
        raise NotImplementedError

    def dense(self) -> Any:
        """The same as a whole tensor, recorded: for passes that build a graph themselves."""
        raise NotImplementedError


class _Part:
    """The cotangent of one output of an op that has several."""

    __slots__ = ("index", "value")

    def __init__(self, value: Any, index: int) -> None:
        self.value = value
        self.index = index


pick.defvjp(outputs=lambda g, index: _Part(g, index))


class Arrival:
    """A cotangent on its way, held here and nowhere else."""

    __slots__ = ("_data", "target")

    def __init__(self, target: Node | Leaf, cotangent: Any) -> None:
        self.target = target
        self._data = cotangent


def propagate(
    roots: Iterable[tuple[Node | Leaf, Any]],
    retain: bool,
    create: bool,
    targets: set[Any] | None = None,
    boundary: bool = False,
) -> dict[Any, Arrival]:
    """Run the rules of every node between `roots` and the leaves, or the `targets`.

    Args:
        roots: Nodes and their cotangents.
        retain: Leave what the nodes saved in place.
        create: Cotangents are tensors, and the rules are recorded.
        targets: The only nodes whose cotangents are wanted; all leaves if None.
        boundary: Whether this is a pass within a pass, which ends at the targets: nothing behind
            them is run, and their hooks wait for the full cotangent.

    Returns:
        The full cotangent of each leaf and each retained node, or of each target.
    """
    pending: dict[int, Arrival] = {}
    schedule: list[int] = []
    results: dict[Any, Arrival] = {}
    roots = list(roots)
    relevant = _between([node for node, _ in roots], targets or set(), boundary)
    for root, seed in roots:
        _deliver(root, seed, pending, schedule, create)
    del roots
    seed = None  # so that a leaf can tell that nobody else holds what it is handed
    hooked, retained = bool(hooked_nodes), bool(retained_nodes)

    outer = state.get()
    try:
        state.set(State(create, outer.scope, outer.observers))
        with np.errstate(all="ignore"):
            while schedule:
                stamp = -heappop(schedule)
                arrival = pending.pop(stamp)
                node: Any = arrival.target
                if boundary and targets is not None and node in targets:
                    results[node] = arrival
                    continue
                if hooked and node in hooked_nodes:
                    run_hooks(node.hooks, arrival)
                plan = node.plan
                if targets is None:
                    if retained and node in retained_nodes:
                        results[node] = arrival
                else:
                    if node in targets:
                        results[node] = arrival
                    if node not in relevant:
                        continue
                    wanted = [edge in relevant or edge in targets for edge in node.edges]
                    plan = plan.narrow(tuple(wanted))
                if node.saved is FREED:
                    used = node.edges[0] if plan.op is pick else node
                    message = (
                        f"{used.plan.op.name}: this graph was already used by a backward pass, "
                        f"which freed it; pass retain_graph=True to the first pass, or run the "
                        f"forward pass again"
                    )
                    raise RuntimeError(located(message, node.scope))
                if mutation.latest > stamp:
                    mutation.check(node)
                if arrival._data.__class__ is list:
                    arrival._data = _completed(arrival._data, node, create)
                if create:
                    parts = _pull_recorded(node, plan, arrival._data)
                else:
                    parts = plan.pull(arrival._data, *node.saved)
                for observer in outer.observers:
                    observer.pulled(node, arrival._data, parts)
                if not retain:
                    node.saved = FREED
                del arrival
                edges = node.edges
                try:
                    for i, part in enumerate(parts):
                        if part is not None:
                            _deliver(edges[i], part, pending, schedule, create)
                except ValueError as error:
                    raise ValueError(located(f"{plan.op.name}: {error}", node.scope)) from error
                parts = part = None
            for stamp in sorted(pending, reverse=True):  # what is left has arrived at leaves
                arrival = pending.pop(stamp)
                leaf: Any = arrival.target
                asked = targets is None or leaf in targets
                if leaf.hooks and not (boundary and asked):
                    run_hooks(leaf.hooks, arrival)
                if asked:
                    results[leaf] = arrival
    finally:
        state.set(outer)
    return results


def _deliver(
    target: Node | Leaf,
    part: Any,
    pending: dict[int, Arrival],
    schedule: list[int],
    create: bool,
) -> None:
    """Bring one contribution to its target, in the target's shape and dtype, and add it up."""
    stamp = target.stamp
    arrival = pending.get(stamp)
    if part.__class__ is _Part:  # the target is a bundle: a list of cotangents is on its way
        if arrival is None:
            arrival = pending[stamp] = Arrival(target, [None] * len(target.shape))
            heappush(schedule, -stamp)
        known = arrival._data[part.index]
        arrival._data[part.index] = part.value if known is None else known + part.value
        return
    if part.__class__ is not _ndarray and isinstance(part, Update):
        if create:
            part = part.dense()
        elif arrival is None:
            update, part = part, np.zeros(target.shape, target.dtype)
            update.add_to(part)
        else:
            if not mutation.uniquely_owned(arrival):
                arrival._data = np.array(arrival._data)
            part.add_to(arrival._data)
            return
    if part.shape != target.shape:
        part = unbroadcast(part, target.shape)
    if part.dtype is not target.dtype:
        part = part.astype(target.dtype)
    if arrival is None:
        pending[stamp] = Arrival(target, part)
        if target.__class__ is not Leaf:
            heappush(schedule, -stamp)
    elif create or not arrival._data.ndim or not mutation.uniquely_owned(arrival):
        arrival._data = arrival._data + part
    else:
        np.add(arrival._data, part, out=arrival._data)


def _completed(parts: list[Any], node: Any, create: bool) -> tuple[Any, ...]:
    """The cotangents of a bundle, with zeros for outputs that nothing used."""
    zeros = [np.zeros(s, d) for s, d in zip(node.shape, node.dtype, strict=True)]
    return tuple(
        (wrap(zero) if create else zero) if part is None else part
        for part, zero in zip(parts, zeros, strict=True)
    )


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its input was broadcast.

    Args:
        g: An array or tensor of the broadcast shape.
        shape: The shape of the input.

    Returns:
        The cotangent of the input, of shape `shape`.

    Raises:
        ValueError: No broadcasting leads from `shape` to the shape of `g`.
    """
    extra = g.ndim - len(shape)
    summable = g.__class__ is _ndarray and g.dtype in BLAS_DTYPES
    if summable and extra > 0 and g.shape[extra:] == shape:  # as for a bias
        return column_sums(g, shape)
    if extra < 0:  # an input with leading axes of length 1 that the output lost, as in x[0] = v
        g, extra = g.reshape((1,) * -extra + g.shape), 0
    stretched = [i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1]
    axes = (*range(extra), *stretched)
    if axes and g.dtype == np.float16 and not isinstance(g, Variable):
        g = g.sum(axis=axes, keepdims=True, dtype=np.float32)
    elif axes:
        g = g.sum(axis=axes, keepdims=True)
    if g.shape[extra:] != shape:
        raise ValueError(f"its rule returned shape {g.shape} for an argument of shape {shape}")
    return g.reshape(shape)


def _between(roots: Sequence[Node | Leaf], targets: set[Any], boundary: bool) -> set[Any]:
    """The nodes that lie on a path from a root down to a target, the ends of paths excluded."""
    if not targets:
        return set()
    oldest = min(target.stamp for target in targets)
    seen: dict[Any, None] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen or node.stamp < oldest:
            continue
        seen[node] = None
        if isinstance(node, Node) and not (boundary and node in targets):
            stack.extend(node.edges)
    relevant: set[Any] = set()
    for node in sorted(seen, key=lambda node: node.stamp):
        if boundary and node in targets:
            continue
        if isinstance(node, Node) and any(e in targets or e in relevant for e in node.edges):
            relevant.add(node)
    return relevant


@primitive
def alias(x: Any) -> Any:
    """The same value behind a node of its own."""
    return x


alias.defvjp(x=lambda g: g)


def _pull_recorded(node: Node, plan: Any, g: Any) -> Any:
    """Run a node's rules on tensors, so that the cotangents have a history of their own."""
    op = plan.op
    values = dict(zip(plan.saved_names, node.saved, strict=True))
    edges = dict(zip(plan.slots, node.edges, strict=True))
    if op.variadic and op.params[0] in values:
        values[op.params[0]] = tuple(
            with_history(array, edges.get(i)) for i, array in enumerate(values[op.params[0]])
        )
    for slot, name in enumerate(op.params):
        if not op.variadic and slot in edges and name in values:
            values[name] = with_history(values[name], edges[slot])
    if "out" in values and op.multiple_outputs:
        values["out"] = tuple(picked(node, i, array) for i, array in enumerate(values["out"]))
    elif "out" in values:
        values["out"] = with_history(values["out"], node)
    if op.decomposition is None:
        return plan.pull(g, *values.values())
    for name in op.params:  # the meaning may use the methods of tensors, on constants too
        if isinstance(values[name], np.ndarray):
            values[name] = wrap(values[name])
    # Differentiate the meaning on fresh aliases: the walk stops there, also when q is k.
    for slot in plan.slots:
        values[op.params[slot]] = alias(values[op.params[slot]])
    fresh = [values[op.params[slot]] for slot in plan.slots]
    out = op.call_with(op.decomposition, [values[name] for name in op.params])
    if out._node is None:
        return [None] * len(fresh)
    found = propagate([(out._node, g)], True, True, {x._node for x in fresh}, boundary=True)
    return [found[x._node]._data if x._node in found else None for x in fresh]
