"""The engine: carry cotangents from the outputs back to the leaves.

One pass visits the nodes from the youngest to the oldest. Since an output is always younger than
its inputs, every contribution to a node has been added up when its turn comes, so each rule runs
once. There is no recursion and no marking: a heap of stamps is the whole schedule.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad._sums import BLAS_DTYPES, column_sums
from minigrad.autograd import mutation
from minigrad.autograd.call import with_history, wrap
from minigrad.autograd.mode import State, located, state
from minigrad.autograd.node import FREED, Edge, Leaf, Node, Output, Variable, Watch, node_of
from minigrad.autograd.plan import Plan
from minigrad.autograd.primitive import primitive

__all__ = [
    "Update", "accumulate", "alias", "pull_recorded", "run_backward", "unbroadcast", "watch_of",
    "watched",
]  # fmt: skip

Cotangents = dict[Edge, Any]
_ndarray = np.ndarray


class Update:
    """A cotangent that touches a part of its target, such as that of ``x[i]``.

    The pass adds it into a buffer that it owns, so that n small reads cost n small writes.

    Example:
        >>> import numpy as np
        >>> from minigrad.ops.indexing import IndexUpdate  # what the rule of x[i] returns
        >>> buffer = np.zeros(3)
        >>> IndexUpdate(2.0, 1, buffer.shape).add_to(buffer)
        >>> buffer
        array([0., 2., 0.])
    """

    def add_to(self, buffer: np.ndarray) -> None:
        """Add the cotangent into `buffer`, which has the target's shape."""
        raise NotImplementedError

    def dense(self) -> Any:
        """The same as a whole tensor, recorded: for passes that build a graph themselves."""
        raise NotImplementedError


def run_backward(
    roots: Sequence[tuple[Edge, Any]], retain: bool, create: bool,
    targets: set[Any] | None = None, since: int = 0,
) -> dict[Edge, Any]:  # fmt: skip
    """Run the rules of every node between `roots` and the leaves, or the `targets`.

    Args:
        roots: Outputs and their cotangents.
        retain: Leave what the nodes saved in place.
        create: Cotangents are tensors, and the rules are recorded.
        targets: The only edges whose cotangents are wanted; all leaves if None.
        since: The pass ends at what is older than this stamp. A pass within a pass uses it; the
            outer one then runs the older nodes and hooks.

    Returns:
        The full cotangent of each leaf and each retained output, or of each target.
    """
    pending: dict[Edge, Any] = {}  # the sum of the contributions that have arrived so far
    schedule: list[tuple[int, Node]] = []
    results: dict[Edge, Any] = {}
    relevant = _between(roots, targets or set(), since)
    for edge, seed in roots:
        accumulate(pending, schedule, edge, seed, create)
    del roots
    seed = None  # so that `pending` alone holds the cotangents, see `uniquely_owned`
    asked = targets is not None or bool(watched)
    outer = state.get()
    try:
        state.set(State(create, outer.scope, outer.observers))
        with np.errstate(all="ignore"):
            while schedule:
                node = heappop(schedule)[1]
                if node.stamp < since:
                    break
                plan = node.plan
                if asked:
                    _hand_out(node, pending, results, targets)
                several = plan.op.multiple_outputs
                g = _cotangents(node, pending, create) if several else pending.pop(node)
                if targets is not None:
                    if node not in relevant:
                        continue
                    wanted = [e in targets or node_of(e) in relevant for e in node.edges]
                    plan = plan.narrow(tuple(wanted))
                if node.saved is FREED or mutation.latest > node.stamp:
                    mutation.check(node)
                parts = pull_recorded(node, plan, g) if create else plan.pull(g, *node.saved)
                for observer in outer.observers:
                    observer.pulled(node, g, parts)
                if not retain:
                    node.saved = FREED
                del g
                edges = node.edges
                try:
                    for i, part in enumerate(parts):
                        if part is not None:
                            accumulate(pending, schedule, edges[i], part, create)
                except ValueError as error:
                    raise ValueError(located(f"{plan.op.name}: {error}", node.scope)) from error
                parts = part = None
            _finish(pending, results, targets, since)
    finally:
        state.set(outer)
    return results


def accumulate(
    pending: dict[Edge, Any], schedule: list[tuple[int, Node]], edge: Edge, part: Any, create: bool
) -> None:
    """Bring one contribution to the shape and dtype of its target, and add it up.

    A node enters the schedule with the first contribution to one of its outputs.
    """
    first = edge not in pending
    if part.__class__ is not _ndarray and isinstance(part, Update):
        if create:
            part = part.dense()
        elif first:
            update, part = part, np.zeros(edge.shape, edge.dtype)
            update.add_to(part)
        else:
            if not mutation.uniquely_owned(pending, edge):
                pending[edge] = np.array(pending[edge])
            part.add_to(pending[edge])
            return
    if part.shape != edge.shape:
        part = unbroadcast(part, edge.shape)
    if part.dtype is not edge.dtype:
        part = part.astype(edge.dtype)
    if first:
        if edge.__class__ is Node:
            heappush(schedule, (-edge.stamp, edge))
        elif edge.__class__ is Output and not any(e in pending for e in edge.node.outputs):
            heappush(schedule, (-edge.stamp, edge.node))
        pending[edge] = part
    elif create or not edge.shape or not mutation.uniquely_owned(pending, edge):
        pending[edge] = pending[edge] + part
    else:
        np.add(pending[edge], part, out=pending[edge])


def _between(roots: Sequence[tuple[Edge, Any]], targets: set[Any], since: int) -> set[Any]:
    """The nodes that lie on a path from a root down to a target, the ends of paths excluded."""
    if not targets:
        return set()
    oldest = max(since, min(target.stamp for target in targets))
    seen: set[Any] = set()
    stack: list[Any] = [node_of(edge) for edge, _ in roots]
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and node not in seen and node.stamp >= oldest:
            seen.add(node)
            stack.extend(node.parents)
    relevant: set[Any] = set()
    for node in sorted(seen, key=lambda node: node.stamp):
        if any(edge in targets or node_of(edge) in relevant for edge in node.edges):
            relevant.add(node)
    return relevant


def _cotangents(node: Node, pending: dict[Edge, Any], create: bool) -> tuple[Any, ...]:
    """The cotangents of all outputs of an op with several, zeros for those that nothing used."""
    for output in node.outputs:
        if output not in pending:
            zeros = np.zeros(output.shape, output.dtype)
            pending[output] = wrap(zeros) if create else zeros
    return tuple([pending.pop(output) for output in node.outputs])


# Hooks and results ----------------------------------------------------------------------------


watched: weakref.WeakSet[Node] = weakref.WeakSet()
"""The nodes that have watches. Hardly any has, so a pass asks once whether any exist."""
_NO_WATCH = Watch()


def watch_of(edge: Any) -> Watch:
    """The watch of an interior output; it is made if there is none."""
    node, number = edge if isinstance(edge, Output) else (edge, 0)
    if node not in watched:
        node.watches = {}
        watched.add(node)
    return node.watches.setdefault(number, Watch())


def _hand_out(node: Node, pending: Cotangents, results: Cotangents, targets: Any) -> None:
    """Show the full cotangents of a node to their hooks, and keep those that were asked for."""
    watches = node.watches if node in watched else {}
    for number, edge in enumerate(node.outputs):
        if edge in pending:
            watch = watches.get(number, _NO_WATCH)
            _run_hooks(watch.hooks, edge, pending)
            if watch.retained is not None if targets is None else edge in targets:
                results[edge] = pending[edge]


def _finish(pending: Cotangents, results: Cotangents, targets: Any, since: int) -> None:
    """Hand out what is left, the youngest first: it has arrived where the pass ends."""
    for edge in sorted(pending, key=lambda edge: edge.stamp, reverse=True):
        if isinstance(edge, Leaf) and edge.hooks and edge.stamp > since:
            _run_hooks(edge.hooks, edge, pending)
        if targets is None or edge in targets:
            results[edge] = pending.pop(edge)


def _run_hooks(hooks: dict[int, Any], edge: Edge, pending: dict[Edge, Any]) -> None:
    """Show a full cotangent to its hooks; what they return takes its place."""
    recorded = isinstance(pending[edge], Variable)
    for hook in list(hooks.values()):
        replaced = hook(pending[edge] if recorded else wrap(pending[edge]))
        if replaced is None:
            continue
        if not isinstance(replaced, Variable) or replaced._data.shape != edge.shape:
            raise ValueError(
                f"a gradient hook returned {type(replaced).__name__} "
                f"{getattr(replaced, 'shape', '')}; expected None or a Tensor of shape {edge.shape}"
            )
        replaced = replaced.astype(edge.dtype)  # type: ignore[attr-defined]
        pending[edge] = replaced if recorded else replaced._data


# Higher orders --------------------------------------------------------------------------------


def pull_recorded(node: Node, plan: Plan, g: Any) -> Sequence[Any]:
    """Run a node's rules on tensors, so that the cotangents have a history of their own."""
    op = plan.op
    values = dict(zip(plan.saved_names, node.saved, strict=True))
    edges = dict(zip(plan.slots, node.edges, strict=True))
    if not op.variadic:
        for slot, edge in edges.items():
            if op.params[slot] in values:
                values[op.params[slot]] = with_history(values[op.params[slot]], edge)
    elif op.params[0] in values:
        arrays = enumerate(values[op.params[0]])
        values[op.params[0]] = tuple([with_history(x, edges.get(i)) for i, x in arrays])
    if "out" in values:
        outputs = values["out"] if op.multiple_outputs else (values["out"],)
        recorded = tuple(map(with_history, outputs, node.outputs))
        values["out"] = recorded if op.multiple_outputs else recorded[0]
    if op.decomposition is not None:
        return _pull_decomposition(plan, values, g)
    return plan.pull(g, *values.values())


def _pull_decomposition(plan: Plan, values: dict[str, Any], g: Any) -> list[Any]:
    """Differentiate what a fused op is composed of, by a pass of its own over fresh aliases.

    The aliases are the targets. Since they are younger than all other nodes behind them, the pass
    ends there, and arguments that are one tensor (q is k) keep their cotangents apart.
    """
    op = plan.op
    arguments = [values[name] for name in op.params]
    for i, value in enumerate(arguments):
        if i in plan.slots:
            arguments[i] = alias(value)
        elif isinstance(value, np.ndarray):
            arguments[i] = wrap(value)  # the decomposition may use the methods of tensors
    fresh = [arguments[slot]._node for slot in plan.slots]
    out = op.call_with(op.decomposition, arguments)
    if out._node is None:
        return [None] * len(fresh)
    found = run_backward([(out._node, g)], True, True, {*fresh})
    return [found.get(edge) for edge in fresh]


@primitive
def alias(x: Any) -> Any:
    """The same value behind a node of its own."""
    return x


alias.defvjp(x=lambda g: g)


# Undoing broadcasting -------------------------------------------------------------------------


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its input, of shape `shape`, was broadcast.

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
