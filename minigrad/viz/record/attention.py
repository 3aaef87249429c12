"""Find attention in a trace: a softmax whose weights are multiplied by values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.autograd.node import data_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.viz.record.entries import Entry
from minigrad.viz.record.heatmap import Heatmap
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.steps import summary
from minigrad.viz.record.writing import shape_text

HEADS = 16
"""The most heads that are kept."""

PRODUCTS = frozenset(registry[name] for name in ("matmul", "einsum"))
"""Ops that multiply weights by values."""

BETWEEN = frozenset(
    registry[name]
    for name in ("multiply", "dropout", "astype", "squeeze", "expand_dims", "reshape")
)
"""Ops that may run between the softmax and the product."""

LOWEST = -5000.0
"""A lower score whose weight is 0 is one of a mask: -inf, or a large number in its place."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttentionMap:
    """The weights of one attention that ran, before dropout.

    Attributes:
        path: The path of the module that it ran in.
        weights: The weights, an array (samples, heads, queries, keys); rows sum to 1.
        masked: Which of them were masked, bools of the same shape.
        queries: The tokens of the queries; their numbers if none were given.
        keys: The tokens of the keys.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> model = nn.TransformerEncoderLayer(8, 2, 16)
        >>> viz.attention(model, randn(5, 3, 8))["self_attn"]
        AttentionMap('self_attn', 5×2×3×3)
    """

    path: str
    weights: np.ndarray
    masked: np.ndarray
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"AttentionMap({self.path!r}, {shape_text(self.weights.shape)})"


@dataclass(eq=False)
class Seen:
    """The record of a softmax over the last axis."""

    whole: tuple[int, int, int]  # how many heads, queries and keys there were
    weights: np.ndarray  # (heads, queries, keys); of all samples if there is no limit
    masked: np.ndarray  # the same, bools
    gradients: np.ndarray | None = None


class Weights:
    """The softmax ops of a trace and their gradients.

    Of each, `limit` queries and keys of the first sample are kept; None for all of all samples.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._seen: dict[Entry, Seen] = {}

    def ran(self, entry: Entry, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Keep the weights of a softmax."""
        array = result._data
        if op is not registry["softmax"] or array.ndim < 2 or not array.size:
            return
        if arguments[op.params.index("axis")] not in (-1, array.ndim - 1):
            return
        heads = array.shape[-3] if array.ndim > 2 else 1
        whole = (heads, *array.shape[-2:])
        scores = data_of(arguments[0])
        weights = self._corner(array)
        masked = (self._corner(np.asarray(scores)) < LOWEST) & (weights == 0)
        self._seen[entry] = Seen(whole, weights, masked)

    def pulled(self, entry: Entry, cotangent: np.ndarray) -> None:
        """Keep the gradient of the weights in a step of softmax."""
        if entry in self._seen:
            self._seen[entry].gradients = self._corner(cotangent)

    def found(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Seen]]:
        """Each softmax that is multiplied by values, in the order of the run, and what is kept."""
        readers: dict[Entry, list[tuple[int, Entry]]] = defaultdict(list)
        for one in entries if self._seen else ():
            for read in one.inputs:
                readers[read.source].append((read.slot, one))
        for entry in entries:
            if entry in self._seen and _weighs(entry, readers):
                yield entry, self._seen[entry]

    def heatmaps(
        self, entries: Sequence[Entry], ids: Mapping[Entry, str], diagram: Diagram
    ) -> tuple[Heatmap, ...]:
        """A heatmap for each softmax that is multiplied by values."""
        paths = {group.id: group.path for group in diagram.groups}
        places = {node.id: paths.get(node.group or "", "") for node in diagram.nodes}
        found = []
        for entry, seen in self.found(entries):
            node, came = ids[entry], seen.gradients
            weights, masked = (summary(one, whole=True) for one in (seen.weights, seen.masked))
            gradients = None if came is None else summary(came, whole=True)
            found.append(Heatmap(node, places[node], seen.whole, weights, masked, gradients))
        return tuple(found)

    def _corner(self, array: np.ndarray) -> np.ndarray:
        """The first heads, queries and keys of the first sample, or all, copied."""
        if self.limit is None:
            return np.array(array)
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
