"""Find attention in a trace: a softmax whose weights are multiplied by values."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.autograd.primitive import Primitive, registry
from minigrad.viz.record.finished import Entry
from minigrad.viz.record.heatmap import Cells, Heatmap
from minigrad.viz.record.model import Diagram

HEADS = 16
"""The most heads that are kept."""

PRODUCTS = frozenset(registry[name] for name in ("matmul", "einsum", "tensordot"))
"""Ops that multiply weights by values."""

BETWEEN = frozenset(registry[name] for name in ("multiply", "dropout", "astype"))
"""Ops that may run between the softmax and the product."""


@dataclass(eq=False)
class _Seen:
    """What is kept of a softmax over the last axis."""

    whole: tuple[int, int, int]  # how many heads, queries and keys there were
    weights: np.ndarray  # (heads, queries, keys)
    masked: np.ndarray  # the same, bools
    gradients: np.ndarray | None = None


class Weights:
    """The softmax ops of a trace and their gradients: `limit` queries and keys of each."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._seen: dict[Entry, _Seen] = {}

    def ran(self, entry: Entry, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Keep the first weights of a softmax."""
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
        """Add what was seen in the decomposition of a fused op."""
        self._seen |= inner._seen

    def pulled(self, entry: Entry, cotangent: np.ndarray) -> None:
        """Keep the gradient of the weights in a step of softmax."""
        if entry in self._seen:
            self._seen[entry].gradients = self._corner(cotangent)

    def heatmaps(
        self, entries: Iterable[Entry], ids: Mapping[Entry, str], diagram: Diagram
    ) -> tuple[Heatmap, ...]:
        """A heatmap for each softmax that is multiplied by values, in the order of the run."""
        if not self._seen:
            return ()
        around: dict[Entry, str | None] = {}  # the id of the fused op that it is a part of
        for entry in entries:
            around[entry] = None
            around |= dict.fromkeys(entry.decomposition, ids[entry])
        readers: dict[Entry, list[tuple[int, Entry]]] = defaultdict(list)
        for one in around:
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
    """Whether the output is the first factor of a product, perhaps after dropout."""
    current = [entry]
    while current:
        found = [read for one in current for read in readers.get(one, ())]
        if any(slot == 0 and reader.box.primitive in PRODUCTS for slot, reader in found):
            return True
        passed = (reader for _, reader in found if reader.box.primitive in BETWEEN)
        current = list(dict.fromkeys(passed))
    return False
