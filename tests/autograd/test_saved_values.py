"""What is saved is read: a rule that names more than it reads keeps memory, and forbids writes.

Each saved value is poisoned in turn. In some case of the op a gradient must change, the first or,
where higher orders run a decomposition, the recorded one; or a reason must be listed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from op_samples import CASES, OURS

from minigrad import Tensor, tensor
from minigrad.autograd import Node, Observer, Update
from minigrad.autograd.call import wrap
from minigrad.autograd.engine import pull_recorded


class Nodes(Observer):
    """The nodes of the ops that ran."""

    def __init__(self) -> None:
        self.found: list[Node] = []

    def ran(self, call: Any) -> None:
        if call.node is not None:
            self.found.append(call.node)


def poisoned(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A saved value with other numbers in one of its arrays, and what the array is called."""
    if isinstance(value, np.ndarray) and value.size:
        yield name, poison(value)
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            for called, other in poisoned(f"{name}[{i}]", part):
                yield called, (*value[:i], other, *value[i + 1 :])


def poison(array: np.ndarray) -> np.ndarray:
    """Other numbers, in another order."""
    if array.dtype.kind == "b":
        return ~array
    if array.dtype.kind in "iu":
        return np.where(array == 0, 1, 0).astype(array.dtype)
    other: np.ndarray = 1.7 - 2.3 * np.flip(array)
    return other


def gradients(node: Node, saved: tuple[Any, ...]) -> list[Any]:
    """What the rules return, on arrays and, for a decomposition, recorded."""
    shapes = [output.shape for output in node.outputs]
    weights = [np.cos(np.arange(np.prod(s)) + 1.0).reshape(s) for s in shapes]
    several = node.plan.op.multiple_outputs
    before, node.saved = node.saved, saved
    try:
        found = list(node.plan.pull(tuple(weights) if several else weights[0], *saved))
        if node.plan.op.decomposition is not None:
            recorded = tuple(map(wrap, weights)) if several else wrap(weights[0])
            found += pull_recorded(node, node.plan, recorded)
    finally:
        node.saved = before
    return [dense(g, edge.shape) for g, edge in zip(found, 2 * node.edges, strict=False)]


def dense(g: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(g, Update):
        buffer = np.zeros(shape)
        g.add_to(buffer)
        return buffer
    return None if g is None else g.numpy() if isinstance(g, Tensor) else np.asarray(g)


def same(one: list[Any], other: list[Any]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(a is b is None or np.array_equal(a, b, equal_nan=True) for a, b in pairs)


UNREAD = {
    ("attention", "lse"): "unused where the weights are kept, as in these small cases",
    ("group_norm", "bias"): "its decomposition takes all arguments",
    ("layer_norm", "bias"): "its decomposition takes all arguments",
    ("lu", "out[2]"): "`info`, an integer for each matrix, comes with the factors",
    ("slogdet", "sign"): "0 alone is looked for, which says that a matrix is singular",
}
"""Saved values on which no gradient depends, and why they are saved."""


@np.errstate(all="ignore")
def test_every_saved_value_is_read() -> None:
    read: dict[tuple[str, str], bool] = {}
    for case in CASES:
        with Nodes() as nodes:
            case.on(OURS)(*[tensor(array, requires_grad=True) for array in case.inputs])
        for node in nodes.found:
            right = gradients(node, node.saved)
            for i, name in enumerate(node.plan.saved_names):
                for called, other in poisoned(name, node.saved[i]):
                    key = node.plan.op.name, called
                    if not read.get(key):
                        saved = (*node.saved[:i], other, *node.saved[i + 1 :])
                        read[key] = matters(node, saved, right)
    assert {key for key, is_read in read.items() if not is_read} == UNREAD.keys()


def matters(node: Node, saved: tuple[Any, ...], right: list[Any]) -> bool:
    """Whether other saved values lead to other gradients, or to none."""
    try:
        return not same(right, gradients(node, saved))
    except (IndexError, TypeError, ValueError):
        return True
