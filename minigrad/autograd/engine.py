"""The engine: carry cotangents from the outputs back to the leaves.

One pass visits the nodes from the youngest to the oldest. Since an output is always younger than
its inputs, every contribution to a node has been added up when its turn comes, so each rule runs
once. There is no recursion and no marking: a heap of stamps is the whole schedule.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.call import tell_ran, with_history, wrap
from minigrad.autograd.events import Pull, effect, tell
from minigrad.autograd.lending import notice_writes
from minigrad.autograd.mode import State, changed, located, state
from minigrad.autograd.node import (
    FREED,
    Edge,
    Leaf,
    Node,
    Output,
    Variable,
    Watch,
    data_of,
    node_of,
    nodes_behind,
)
from minigrad.autograd.plan import Plan, is_plain
from minigrad.autograd.primitives import Primitive, primitive
from minigrad.autograd.sums import unbroadcast
from minigrad.support.tree import mapped

__all__ = [
    "Update", "accumulate", "alias", "copied", "hooked", "pull_recorded", "run_backward",
    "unbroadcast", "watch_of", "watched",
]  # fmt: skip

Cotangents = dict[Edge, Any]
Schedule = list[tuple[int, Node]]


class Update:
    """A cotangent that changes a part of a larger one, such as that of ``x[i]``.

    The pass adds it into a buffer that it owns, so that n small reads cost n small writes.

    Example:
        >>> import numpy as np
        >>> from minigrad.ops.indexing import IndexUpdate  # what the rule of x[i] returns
        >>> buffer = np.zeros(3)
        >>> IndexUpdate(2.0, 1, buffer.shape).add_to(buffer)
        >>> buffer
        array([0., 2., 0.])

    Attributes:
        sparse: Whether a leaf may keep it in this form: then it has `joined` and `as_tensor`.
    """

    sparse = False

    def add_to(self, buffer: np.ndarray) -> None:
        """Add the cotangent into `buffer`, which has the shape of the larger one."""
        raise NotImplementedError

    def dense(self) -> Any:
        """Return the same as a whole tensor, recorded: for passes that build a graph themselves."""
        raise NotImplementedError

    def joined(self, other: Any) -> Any:
        """Make an update that does what this one and `other`, also a sparse one, do."""
        raise NotImplementedError

    def as_tensor(self, known: Any = None) -> Any:
        """Make a tensor of these values, added to those of the tensor `known`."""
        raise NotImplementedError


def run_backward(
    roots: Sequence[tuple[Edge, Any]], retain: bool, create: bool,
    inputs: Collection[Edge] | None = None, since: int = 0, write: Any = None,
) -> dict[Edge, Any]:  # fmt: skip
    """Run the rules of every node between `roots` and the leaves, or the `inputs`.

    Args:
        roots: Outputs and their cotangents.
        retain: Leave what the nodes saved in place.
        create: Cotangents are tensors, and the rules are recorded.
        inputs: The only edges whose cotangents are wanted; all leaves if None.
        since: The pass ends at nodes older than this stamp. A pass within a pass uses it; the
            outer one then runs the older nodes and hooks.
        write: ``write(results, leaf)`` writes the ``.grad`` of a leaf that has `post_hooks`.

    Returns:
        The full cotangent of each leaf and each retained output, or of each input.
    """
    pending: Cotangents = {}  # the sum of the contributions that have arrived so far
    schedule: Schedule = []
    results: Cotangents = {}
    relevant = _between(roots, inputs or (), since)
    missing = _contributions(roots, inputs)
    for edge, seed in roots:
        accumulate(pending, schedule, edge, seed, create)
    # `pending` alone holds the cotangents here, and after each node: see `uniquely_owned`.
    del roots, seed
    asked = inputs is not None or bool(watched)
    notice_writes()
    outer = state.get()
    pull = _pull_observed if outer.observers else _pull
    callbacks: list[Callable[[], None]] = []
    at_end = callbacks if inputs is None else outer.at_end
    try:
        state.set(State(create, outer.frame, outer.observers, at_end, outer.within, outer.sampled))
        with np.errstate(all="ignore"):
            while schedule:
                node = heappop(schedule)[1]
                if node.stamp < since:
                    break
                if asked:
                    _hand_out(node, pending, results, inputs)
                plan = node.plan if inputs is None else _narrowed(node, inputs, relevant)
                if plan is None:
                    continue
                if node.saved is FREED or mutation.latest > node.stamp:
                    mutation.check(node)
                pull(node, plan, pending, schedule, create)
                if plan.keeps and not retain and not (plan.static and is_plain(node.saved)):
                    node.saved = FREED
                if missing:
                    _tell_leaves(node, missing, pending, results, write)
            _finish(pending, results, inputs, since, write)
            for callback in callbacks:
                callback()
    finally:
        state.set(outer)
    return results


def _narrowed(node: Node, inputs: Collection[Edge], relevant: set[Any]) -> Plan | None:
    """The plan that computes what leads to an input; None if nothing does."""
    if node not in relevant:
        return None
    return node.plan.narrow(tuple([e in inputs or node_of(e) in relevant for e in node.edges]))


def _pull(
    node: Node, plan: Plan, pending: Cotangents, schedule: Schedule, create: bool,
    *, sums: list[Any] | None = None,
) -> tuple[Any, Sequence[Any]]:  # fmt: skip
    """Run the rules of a node, and add up what they send; `sums` gets what observers are told."""
    several = plan.op.multiple_outputs
    g = _cotangents(node, pending, create) if several else pending.pop(node)
    parts = pull_recorded(node, plan, g) if create else plan.pull(g, *node.saved)
    try:
        if sums is None:
            for i, part in enumerate(parts):
                if part is not None:
                    accumulate(pending, schedule, node.edges[i], part, create)
        else:
            for edge, part in zip(node.edges, parts, strict=True):
                sums.append(_observed_sum(pending, schedule, edge, part, create))
    except ValueError as error:  # a rule returned another shape
        message = located(f"{plan.op.name}: {error}", node.scope)
        raise ValueError(message) from error
    return g, parts


def _pull_observed(node: Node, *given: Any) -> None:
    """Run the rules of a node, and tell observers what they send, and the sums."""
    sums: list[Any] = []
    with changed(within=node):
        g, parts = _pull(node, *given, sums=sums)
    tell("pulled", Pull(node, g, parts, *zip(*sums, strict=True)))


def accumulate(
    pending: Cotangents, schedule: Schedule, edge: Edge, part: Any, create: bool
) -> None:
    """Bring one contribution to the shape and dtype of its edge, and add it up.

    A node enters the schedule with the first contribution to one of its outputs.
    """
    first = edge not in pending
    update = part.__class__ is not np.ndarray and isinstance(part, Update)
    if update or (not first and edge.__class__ is Leaf and isinstance(pending[edge], Update)):
        part = _after_update(pending, edge, part, create)
        if part is None:
            return
    # NumPy has one object for each dtype, and "is not" is faster than "!=". A second object of the
    # same dtype only costs a cast.
    if part.shape != edge.shape or part.dtype is not edge.dtype:
        part = _fitted(part, edge)
    if first:
        if edge.__class__ is Node:
            heappush(schedule, (-edge.stamp, edge))
        elif edge.__class__ is Output and not any(e in pending for e in edge.node.outputs):
            heappush(schedule, (-edge.stamp, edge.node))
        pending[edge] = part
    elif create or not edge.shape:
        pending[edge] = pending[edge] + part
    else:
        owned = mutation.uniquely_owned(pending, edge)  # both ways give one layout
        out = pending[edge] if owned else np.empty_like(pending[edge])
        pending[edge] = np.add(pending[edge], part, out=out)


def _after_update(pending: Cotangents, edge: Edge, part: Any, create: bool) -> Any:
    """What is left to add where a contribution or the sum so far is an update; None if nothing."""
    if edge in pending and isinstance(pending[edge], Update):
        if isinstance(part, Update) and part.sparse:
            pending[edge] = part.joined(pending[edge])
            return None
        pending[edge] = _filled(pending[edge], edge)
    if not isinstance(part, Update):
        return part
    if create:
        return part.dense()
    if edge not in pending and not (part.sparse and isinstance(edge, Leaf)):
        return _filled(part, edge)
    if edge not in pending:
        pending[edge] = part
        return None
    if not mutation.uniquely_owned(pending, edge):
        pending[edge] = np.array(pending[edge])
    part.add_to(pending[edge])
    return None


def _filled(update: Update, edge: Edge) -> np.ndarray:
    """The array of an update that is the first contribution."""
    buffer = np.zeros(edge.shape, edge.dtype)
    update.add_to(buffer)
    return buffer


def _fitted(part: Any, edge: Edge) -> Any:
    """A contribution in the shape and dtype of its edge."""
    if data_of(part).shape != edge.shape:
        part = unbroadcast(part, edge.shape)
    return part if data_of(part).dtype is edge.dtype else part.astype(edge.dtype)


def _observed_sum(
    pending: Cotangents, schedule: Schedule, edge: Edge, part: Any, create: bool
) -> tuple[Any, Any, Any]:
    """Call `accumulate`; return the contribution as added, the sum before it, and the new sum."""
    if part is None:
        return None, None, None
    if not isinstance(part, Update):
        part = _fitted(part, edge)
    elif create:
        part = part.dense()
    elif part.sparse:  # observers follow arrays
        part = _filled(part, edge)
    before = pending.get(edge)
    accumulate(pending, schedule, edge, part, create)
    return (pending[edge], None, None) if before is None else (part, before, pending[edge])


def _between(roots: Sequence[tuple[Edge, Any]], inputs: Collection[Edge], since: int) -> set[Any]:
    """The nodes on a path from a root down to an input, which is not among them."""
    if not inputs:
        return set()
    oldest = max(since, min(edge.stamp for edge in inputs))
    relevant: set[Any] = set()
    for node in sorted(_reached(roots, oldest), key=lambda node: node.stamp):
        if any(edge in inputs or node_of(edge) in relevant for edge in node.edges):
            relevant.add(node)
    return relevant


def _reached(roots: Sequence[tuple[Edge, Any]], oldest: int = 0) -> list[Node]:
    """The nodes from the roots down to the stamp `oldest`."""
    behind = nodes_behind(*(edge for edge, _ in roots), since=oldest)
    return [node for node in behind if isinstance(node, Node) and node.stamp >= oldest]


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
hooked: weakref.WeakSet[Leaf] = weakref.WeakSet()
"""The leaves that have, or had, hooks, which run as soon as the last contribution is in."""


def watch_of(edge: Any) -> Watch:
    """The watch of an interior output; it is made if there is none."""
    node, number = edge if isinstance(edge, Output) else (edge, 0)
    if node not in watched:
        node.watches = {}
        watched.add(node)
    return node.watches.setdefault(number, Watch())


def _hand_out(node: Node, pending: Cotangents, results: Cotangents, inputs: Any) -> None:
    """Show the full cotangents of a node to their hooks, and keep those that were asked for."""
    watches = node.watches if node in watched else {}
    for number, edge in enumerate(node.outputs):
        if edge in pending:
            watch = watches.get(number, _NO_WATCH)
            _run_hooks(watch.hooks, edge, pending)
            if watch.retained is not None if inputs is None else edge in inputs:
                results[edge] = pending[edge]


def _contributions(roots: Sequence[tuple[Edge, Any]], inputs: Any) -> dict[Any, int]:
    """The number of contributions that each leaf with hooks will get."""
    if not hooked or inputs is not None:
        return {}
    edges = [edge for node in _reached(roots) for edge in node.edges]
    return Counter([edge for edge in edges if isinstance(edge, Leaf) and edge in hooked])


def _tell_leaves(
    node: Any, missing: dict[Any, int], pending: Cotangents, results: Cotangents, write: Any
) -> None:
    """Hand out the cotangents of the leaves to which a node made the last contribution."""
    for edge in node.edges:
        if edge in missing:
            missing[edge] -= 1
            if not missing[edge] and edge in pending:
                _run_hooks(edge.hooks, edge, pending)
                _take_out(edge, pending, results, write)


def _take_out(edge: Any, pending: Cotangents, results: Cotangents, write: Any) -> None:
    """A full cotangent becomes a result; that of a leaf with post-hooks goes to its ``.grad``."""
    results[edge] = pending.pop(edge)
    if write is not None and isinstance(edge, Leaf) and edge.post_hooks:
        write(results, edge)
        del results[edge]
        for hook in list(edge.post_hooks.values()):
            hook(edge.tensor)


def _finish(pending: Cotangents, results: Cotangents, inputs: Any, since: int, write: Any) -> None:
    """Hand out the remaining cotangents, the youngest first: they are where the pass ends."""
    for edge in sorted(pending, key=lambda edge: edge.stamp, reverse=True):
        if isinstance(edge, Leaf) and edge.hooks and edge.stamp > since:
            _run_hooks(edge.hooks, edge, pending)
        if inputs is None or edge in inputs:
            _take_out(edge, pending, results, write)


@effect
def call_hook(hook: Any, gradient: Any) -> Any:
    """Show a gradient to a hook."""
    return hook(gradient)


def _run_hooks(hooks: dict[int, Any], edge: Edge, pending: dict[Edge, Any]) -> None:
    """Show a full cotangent to its hooks; what they return takes its place."""
    if hooks and isinstance(pending[edge], Update):
        pending[edge] = _filled(pending[edge], edge)
    recorded = isinstance(pending[edge], Variable)
    for hook in list(hooks.values()):
        replaced = call_hook(hook, pending[edge] if recorded else wrap(pending[edge]))
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
    if state.get().observers:  # observers see ops only, not what NumPy computes
        static = op.params[1 if op.variadic else op.arrays :]
        values = {k: v if k in static else mapped(wrap, v, np.ndarray) for k, v in values.items()}
    if op.decomposition is not None:
        return _pull_decomposition(plan, values, g)
    return plan.pull(g, *values.values())


def _pull_decomposition(plan: Plan, values: dict[str, Any], g: Any) -> list[Any]:
    """Differentiate what a fused op is composed of, by a pass of its own over fresh aliases.

    The aliases are the inputs of the pass. Since they are younger than all other nodes behind them,
    the pass ends there, and arguments that are one tensor (q is k) keep their cotangents apart.
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


def _named(name: str, forward: Callable[[Any], Any]) -> Primitive:
    forward.__name__ = name
    return Primitive(forward)


DETACH = _named("detach", lambda x: x.view())
COPY = _named("copy", lambda x: np.array(x))


def detach(tensor: Any) -> Any:
    """A tensor without history that shares the memory."""
    return _without_history(DETACH, tensor)


def copied(thing: Any) -> Any:
    """A tensor without history that has a copy of a tensor, an array or a number."""
    return _without_history(COPY, thing)


def _without_history(op: Primitive, thing: Any) -> Any:
    data = data_of(thing)
    made = wrap(op.forward(data))
    if state.get().observers:
        tell_ran(op, (thing,), (data,), (made,))
    return made
