"""The engine: carry cotangents from the outputs back to the leaves.

One pass visits the nodes from the youngest to the oldest. Since an output is always younger than
its inputs, every contribution to a node has arrived when its turn comes, so each rule runs once.
There is no recursion and no marking: a heap of stamps is the whole schedule.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.hooks import hooked_nodes, retained_nodes, run_hooks
from minigrad.autograd.mode import State, located, state
from minigrad.autograd.node import FREED, Leaf, Node, Variable
from minigrad.autograd.primitive import pick, picked, primitive, wrap

__all__ = ["Update", "backward", "grad"]

_ndarray = np.ndarray
_lock = threading.Lock()


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


class _Arrival:
    """A cotangent on its way, held here and nowhere else."""

    __slots__ = ("_data", "target")

    def __init__(self, target: Node | Leaf, cotangent: Any) -> None:
        self.target = target
        self._data = cotangent


def backward(
    tensor: Any, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False
) -> None:
    """Add the gradient of `tensor` to the ``.grad`` of every leaf it depends on.

    Args:
        tensor: The output to differentiate, with a history.
        gradient: The cotangent of `tensor`, of its shape; 1 if omitted, for scalars only.
        retain_graph: Keep what was saved, so that the graph can be used once more.
        create_graph: Record the pass itself, so that gradients can be differentiated.

    Raises:
        RuntimeError: The tensor has no history, is not a scalar, or its graph is used up.
        ValueError: `gradient` has another shape.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import backward
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> backward((x * x).sum())
        >>> x.grad
        Tensor([2., 4.], dtype=float32)
    """
    seed = _seed("backward", tensor, gradient, create_graph)
    results = _propagate([(tensor._node, seed)], retain_graph or create_graph, create_graph)
    with _lock, np.errstate(all="ignore"):
        for node, arrival in results.items():
            owner = node.tensor if isinstance(node, Leaf) else retained_nodes[node]()
            if owner is not None:
                _accumulate(owner, arrival, create_graph)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`; no ``.grad`` is written.

    Args:
        outputs: A tensor, or a sequence of tensors whose contributions are added.
        inputs: A tensor, or a sequence of tensors; leaves or not.
        grad_outputs: The cotangents of the outputs; 1 where omitted, for scalars only.
        retain_graph: Keep the graph for another pass; by default as `create_graph`.
        create_graph: Record the pass itself, so that the results can be differentiated.
        allow_unused: Return None for an input that the outputs do not depend on.

    Returns:
        A tensor for a tensor, a tuple for a sequence, each of its input's shape and dtype.

    Raises:
        RuntimeError: An input has no history or is unused, an output is not a scalar, or the
            graph is used up.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> y = x**4
        >>> first = minigrad.autograd.grad(y, x, create_graph=True)
        >>> first, minigrad.autograd.grad(first, x)
        (Tensor(108., dtype=float32, op=multiply), Tensor(108., dtype=float32))
    """
    tensors = _tensors("output", outputs)
    targets = _tensors("input", inputs)
    if grad_outputs is None:
        gradients: list[Any] = [None] * len(tensors)
    else:
        gradients = [grad_outputs] if isinstance(outputs, Variable) else list(grad_outputs)
    if len(gradients) != len(tensors):
        raise ValueError(f"grad: {len(tensors)} outputs but {len(gradients)} grad_outputs")
    for i, target in enumerate(targets):
        if target._node is None:
            raise RuntimeError(f"grad: input {i} of shape {target.shape} does not require grad")
    roots = [
        (tensor._node, _seed("grad", tensor, gradient, create_graph))
        for tensor, gradient in zip(tensors, gradients, strict=True)
    ]
    wanted = {target._node for target in targets}
    retain = create_graph if retain_graph is None else retain_graph
    results = _propagate(roots, retain, create_graph, wanted)

    found: list[Any] = []
    for i, target in enumerate(targets):
        arrival = results.get(target._node)
        if arrival is None:
            if not allow_unused:
                raise RuntimeError(
                    f"grad: the outputs do not depend on input {i} of shape {target.shape}; "
                    f"pass allow_unused=True to get None for it"
                )
            found.append(None)
        else:
            found.append(_owned(arrival))
    return found[0] if isinstance(inputs, Variable) else tuple(found)


def _tensors(what: str, given: Any) -> list[Any]:
    """One tensor or several as a list; anything else is refused."""
    several = isinstance(given, Iterable) and not isinstance(given, Variable)
    tensors = list(given) if several else [given]
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Variable):
            raise TypeError(f"grad: {what} {i} is a {type(tensor).__name__}, no tensor")
    return tensors


def _seed(name: str, tensor: Any, gradient: Any, create_graph: bool) -> Any:
    """The cotangent to begin with, checked against the output it belongs to."""
    if not isinstance(tensor, Variable) or tensor._node is None:
        raise RuntimeError(
            f"{name}: the output does not require grad: no input of it did, or it was made under "
            f"no_grad, by detach, or by an op without a derivative"
        )
    node = tensor._node
    if gradient is None:
        if tensor._data.size != 1:
            raise RuntimeError(
                f"{name}: a gradient can be omitted for one number only, the output has shape "
                f"{node.shape}; reduce it, for example with .sum(), or pass gradient="
            )
        seed: Any = np.ones(node.shape, node.dtype)
    else:
        seed = gradient._data if isinstance(gradient, Variable) else np.array(gradient)
        if seed.shape != node.shape:
            raise ValueError(
                f"{name}: the gradient has shape {seed.shape}, the output {node.shape}"
            )
        if create_graph and isinstance(gradient, Variable):
            return gradient if seed.dtype == node.dtype else gradient.astype(node.dtype)  # type: ignore[attr-defined]
        seed = seed.astype(node.dtype, copy=False)
    return wrap(seed) if create_graph else seed


def _propagate(
    roots: Iterable[tuple[Node | Leaf, Any]],
    retain: bool,
    create: bool,
    targets: set[Any] | None = None,
) -> dict[Any, _Arrival]:
    """Run the rules of every node between `roots` and the leaves, or the `targets`.

    Args:
        roots: Nodes and their cotangents.
        retain: Leave what the nodes saved in place.
        create: Cotangents are tensors, and the rules are recorded.
        targets: The only nodes whose cotangents are wanted; all leaves if None.

    Returns:
        The full cotangent of each leaf and each retained node, or of each target.
    """
    pending: dict[int, _Arrival] = {}
    schedule: list[int] = []
    results: dict[Any, _Arrival] = {}
    roots = list(roots)
    relevant = set() if targets is None else _between([node for node, _ in roots], targets)
    for root, seed in roots:
        _deliver(root, seed, pending, schedule, create)
    del roots
    seed = None  # so that a leaf can tell that nobody else holds what it is handed
    hooked, retained = bool(hooked_nodes), bool(retained_nodes)

    outer = state.get()
    token = state.set(State(create, outer.scope))
    try:
        with np.errstate(all="ignore"):
            while schedule:
                stamp = -heappop(schedule)
                arrival = pending.pop(stamp)
                node: Any = arrival.target
                if node.__class__ is Leaf:
                    if node.hooks:
                        run_hooks(node.hooks, arrival)
                    if targets is None or node in targets:
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
                    message = (
                        f"{node.plan.op.name}: this graph was already used by a backward pass, "
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
    finally:
        state.reset(token)
    return results


def _deliver(
    target: Node | Leaf,
    part: Any,
    pending: dict[int, _Arrival],
    schedule: list[int],
    create: bool,
) -> None:
    """Bring one contribution to its target, in the target's shape and dtype, and add it up."""
    stamp = target.stamp
    arrival = pending.get(stamp)
    if part.__class__ is _Part:  # the target is a bundle: a list of cotangents is on its way
        if arrival is None:
            arrival = pending[stamp] = _Arrival(target, [None] * len(target.shape))
            heappush(schedule, -stamp)
        known = arrival._data[part.index]
        arrival._data[part.index] = part.value if known is None else known + part.value
        return
    if part.__class__ is not _ndarray and isinstance(part, Update):
        if create:
            part = part.dense()
        else:
            if arrival is None:
                arrival = _Arrival(target, np.zeros(target.shape, target.dtype))
                pending[stamp] = arrival
                heappush(schedule, -stamp)
            elif not mutation.alone(arrival):
                arrival._data = np.array(arrival._data)
            part.add_to(arrival._data)
            return
    if part.shape != target.shape:
        part = unbroadcast(part, target.shape)
    if part.dtype is not target.dtype:
        part = part.astype(target.dtype)
    if arrival is None:
        pending[stamp] = _Arrival(target, part)
        heappush(schedule, -stamp)
    elif create or not arrival._data.ndim or not mutation.alone(arrival):
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


def _between(roots: Sequence[Node | Leaf], targets: set[Any]) -> set[Any]:
    """The nodes that lie on a path from a root down to a target, the ends of paths excluded."""
    oldest = min((target.stamp for target in targets), default=0)
    seen: dict[Any, None] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen or node.stamp < oldest:
            continue
        seen[node] = None
        if isinstance(node, Node):
            stack.extend(node.edges)
    relevant: set[Any] = set()
    for node in sorted(seen, key=lambda node: node.stamp):
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
            _with_history(array, edges.get(i)) for i, array in enumerate(values[op.params[0]])
        )
    for slot, name in enumerate(op.params):
        if not op.variadic and slot in edges and name in values:
            values[name] = _with_history(values[name], edges[slot])
    if "out" in values and op.several:
        values["out"] = tuple(picked(node, i, array) for i, array in enumerate(values["out"]))
    elif "out" in values:
        values["out"] = _with_history(values["out"], node)
    if op.meaning is None:
        return plan.pull(g, *values.values())
    for name in op.params:  # the meaning may use the methods of tensors, on constants too
        if isinstance(values[name], np.ndarray):
            values[name] = wrap(values[name])
    # Differentiate the meaning on fresh aliases: the walk stops there, also when q is k.
    for slot in plan.slots:
        values[op.params[slot]] = alias(values[op.params[slot]])
    fresh = [values[op.params[slot]] for slot in plan.slots]
    out = op.call_with(op.meaning, [values[name] for name in op.params])
    if out._node is None:
        return [None] * len(fresh)
    return grad(out, fresh, g, create_graph=True, allow_unused=True)


def _with_history(array: Any, source: Node | Leaf | None) -> Any:
    tensor = wrap(array)
    tensor._node = source
    return tensor


def _owned(arrival: _Arrival) -> Any:
    """The cotangent as a tensor whose memory nothing else can see: handed over, or copied."""
    if isinstance(arrival._data, Variable):
        return _with_history(np.array(arrival._data._data), arrival._data._node)
    return wrap(arrival._data if mutation.alone(arrival) else np.array(arrival._data))


def _accumulate(tensor: Any, arrival: _Arrival, create: bool) -> None:
    """Add a full cotangent to ``tensor.grad``."""
    known = tensor.grad
    if known is None:
        tensor.grad = _owned(arrival)
    elif create or known._node is not None:
        tensor.grad = known + arrival._data
    else:
        tensor.grad = wrap(known._data + np.asarray(arrival._data))
