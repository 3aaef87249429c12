"""Finding the attention in what a trace sees: a softmax whose weights are multiplied by values."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.engine import unbroadcast
from minigrad.autograd.node import Node, Variable
from minigrad.autograd.primitive import Primitive, registry
from minigrad.ops.dropout import dropout_factor
from minigrad.viz.record.finished import Entry
from minigrad.viz.record.heatmap import Cells, Heatmap
from minigrad.viz.record.model import Diagram

__all__ = ["Weights"]

HEADS = 16
"""Of more heads the first are kept."""

PRODUCTS = frozenset(registry[name] for name in ("matmul", "einsum", "tensordot"))
"""What multiplies weights by values."""

BETWEEN = frozenset(registry[name] for name in ("multiply", "dropout", "astype"))
"""What may come between the softmax and that."""


@dataclass(eq=False)
class _Seen:
    """The corner that is kept of a softmax over the last axis."""

    whole: tuple[int, int, int]
    weights: np.ndarray  # (heads, queries, keys)
    masked: np.ndarray  # the same, bools
    gradients: np.ndarray | None = None


class Weights:
    """The softmaxes of a trace and their gradients: of each, `limit` queries and keys are kept."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._seen: dict[Entry, _Seen] = {}

    def ran(self, entry: Entry, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Keep a corner of a softmax."""
        array = result._data
        if op is not registry["softmax"] or not self.limit or array.ndim < 2 or not array.size:
            return
        if arguments[op.params.index("axis")] not in (-1, array.ndim - 1):
            return
        heads = array.shape[-3] if array.ndim > 2 else 1
        whole = (heads, *array.shape[-2:])
        scores = arguments[0]._data if isinstance(arguments[0], Variable) else arguments[0]
        masked = np.isneginf(self._corner(np.asarray(scores)))
        self._seen[entry] = _Seen(whole, self._corner(array), masked)

    def add(self, inner: Weights) -> None:
        """Take over what was seen within the decomposition of a fused op."""
        self._seen |= inner._seen

    def pulled(self, entry: Entry, node: Node, cotangent: np.ndarray) -> None:
        """Keep the gradient of the weights, in a step of a softmax or of fused attention."""
        if entry in self._seen:
            self._seen[entry].gradients = self._corner(cotangent)
        for inner in entry.decomposition:
            if inner in self._seen and node.plan.op is registry["attention"]:
                saved = dict(zip(node.plan.saved_names, node.saved, strict=True))
                gradient = np.matmul(cotangent, np.swapaxes(saved["value"], -1, -2))
                if saved["dropout"]:
                    gradient = gradient * dropout_factor(
                        saved["dropout_key"], inner.box.shape, saved["dropout"], gradient.dtype
                    )
                self._seen[inner].gradients = self._corner(unbroadcast(gradient, inner.box.shape))

    def heatmaps(
        self, entries: Iterable[Entry], ids: Mapping[Entry, str], diagram: Diagram
    ) -> tuple[Heatmap, ...]:
        """A heatmap of each softmax that weighs values, in the order in which they ran."""
        if not self._seen:
            return ()
        around: dict[Entry, str | None] = {}  # the id of the fused op that it is a part of
        readers: dict[Entry, list[tuple[int, Entry]]] = defaultdict(list)
        for entry in entries:
            for one in (entry, *entry.decomposition):
                around[one] = None if one is entry else ids[entry]
                for read in one.inputs:
                    readers[read.source].append((read.slot, one))
        paths = {group.id: group.path for group in diagram.groups}
        places = {node.id: paths.get(node.group or "", "") for node in diagram.nodes}
        found = []
        for entry, group in around.items():
            if entry in self._seen and _weighs(entry, readers):
                seen, node = self._seen[entry], ids[entry]
                heads, queries, keys = seen.weights.shape
                mask = b64encode(np.packbits(seen.masked).tobytes()).decode("ascii")
                found.append(Heatmap(
                    node, group, places[node], (heads, queries, keys), seen.whole,
                    Cells.of(seen.weights), mask if seen.masked.any() else "",
                    None if seen.gradients is None else Cells.of(seen.gradients),
                ))  # fmt: skip
        return tuple(found)

    def _corner(self, array: np.ndarray) -> np.ndarray:
        """The first heads, queries and keys of the first element of the batch, copied."""
        array = array.reshape((1,) * (3 - array.ndim) + array.shape)
        first = array[(0,) * (array.ndim - 3)]
        return np.array(first[:HEADS, : self.limit, : self.limit])


def _weighs(entry: Entry, readers: Mapping[Entry, list[tuple[int, Entry]]]) -> bool:
    """Whether the output of an entry is the first factor of a product, perhaps after dropout."""
    current = [entry]
    while current:
        found = [read for one in current for read in readers.get(one, ())]
        if any(slot == 0 and reader.box.primitive in PRODUCTS for slot, reader in found):
            return True
        passed = (reader for _, reader in found if reader.box.primitive in BETWEEN)
        current = list(dict.fromkeys(passed))
    return False
