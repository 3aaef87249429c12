"""The attention of a model: its weights as arrays, and a picture of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.scope import Scope
from minigrad.ops import attention as attention_op
from minigrad.viz.drawing.heatmap import Panel, draw
from minigrad.viz.drawing.pictures import save_picture
from minigrad.viz.record.attention import AttentionMap
from minigrad.viz.record.build import name_of, state_kept, with_inputs
from minigrad.viz.record.tracing import Trace

Labels = Sequence[str] | tuple[Sequence[str], Sequence[str]]
"""Tokens: of queries and keys alike, or a pair, of the queries and of the keys."""

MOST_CELLS = 1_000_000
"""A notebook does not wait for a picture of more weights than this."""

SOUGHT = (
    "what is looked for is a softmax over the last axis whose result is multiplied by values, as "
    "in nn.MultiHeadAttention, nn.functional.scaled_dot_product_attention, or softmax(q @ k.mT) @ v"
)


class AttentionMaps(dict[str, AttentionMap]):
    """The attention that ran in a model: an `AttentionMap` for each path, in the order of the run.

    Where several ran in one module, because it was called again or has two, their paths end with
    ``#1``, ``#2`` and so on. In a notebook it shows itself. `attention` makes it.

    Args:
        name: What the model is called.
        maps: The attention of each layer.
        sample: The sample that pictures show.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> model = nn.TransformerDecoderLayer(8, 2, 16)
        >>> maps = viz.attention(model, randn(1, 3, 8), randn(1, 5, 8))
        >>> maps
        AttentionMaps(self_attn, multihead_attn)
        >>> maps["multihead_attn"].weights.shape
        (1, 2, 3, 5)
    """

    def __init__(self, name: str, maps: Sequence[AttentionMap], sample: int) -> None:
        super().__init__({one.path: one for one in maps})
        self.name, self.sample = name, sample

    def to_svg(self) -> str:
        """Draw a row for each layer and a grid for each head, readable in light and in dark.

        A query is a row and a key is a column. The stronger the colour of a cell, the larger the
        weight; the scale is the same in all grids. Masked cells are hatched. Up to 12 tokens the
        numbers are in the cells.

        Returns:
            The text of one ``<svg>`` element.
        """
        at = self.sample
        panels = [
            Panel(one.path, one.queries, one.keys, one.weights[at], one.masked[at])
            for one in self.values()
        ]
        return draw(panels, f"Attention weights of {self.name}, sample {self.sample}")

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to an ``.svg``, ``.png`` or ``.pdf`` file, and return its path.

        For what the last two need see `minigrad.viz.Graph.save`.
        """
        return save_picture(self.to_svg(), path)

    def _repr_svg_(self) -> str | None:
        cells = sum(one.weights[0].size for one in self.values())
        return self.to_svg() if cells <= MOST_CELLS else None

    def __repr__(self) -> str:
        return f"AttentionMaps({', '.join(self)})"


def attention(
    model: Any,
    *inputs: Any,
    tokens: Labels | Mapping[str, Labels] | None = None,
    sample: int = 0,
    layers: Sequence[str] | None = None,
    **named: Any,
) -> AttentionMaps:
    """Run a model once, and show what each query attended to, in every layer and head.

    Every attention that runs is found: of minigrad's modules and functions, and a softmax of one's
    own that is multiplied by values. The model runs in the mode that it is in; its buffers, caches
    and the random state stay as they are.

    Args:
        model: A Module or a function.
        *inputs: What to call it with.
        tokens: The tokens to write beside the grids: a list for self-attention, or a pair, those of
            the queries and those of the keys. Where layers differ, a dict from paths, or patterns
            such as ``"encoder.*"``, to one of these; the first that fits is taken. None for the
            numbers of the positions.
        sample: The element of the batch to show.
        layers: Which layers to keep: paths or patterns. None for all.
        **named: Keyword arguments of the call.

    Returns:
        The weights of each layer, by path. Weights of three axes are (samples, queries, keys) if
        the first axis is as long as that of the first input, else (heads, queries, keys).

    Raises:
        RuntimeError: No attention ran.
        TypeError: `model` cannot be called, or not with these arguments.
        ValueError: There is no such sample or layer, or there are more or fewer tokens than
            positions.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> maps = viz.attention(model, randn(1, 3, 8), tokens=["the", "cat", "sat"])
        >>> list(maps)
        ['layers.0.self_attn', 'layers.1.self_attn']
        >>> maps["layers.1.self_attn"].weights.sum(axis=-1).round(3)
        array([[[1., 1., 1.],
                [1., 1., 1.]]], dtype=float32)
    """
    call, given = with_inputs("attention", model, inputs, named, lambda value: value)
    traced = Trace(opened=[attention_op.op], limit=None)
    with state_kept(model), no_grad(), traced:
        call()
    seen = [
        (_path(entry.scope), found.weights, found.masked)
        for entry, found in traced._weights.found(traced._entries)
    ]
    if not seen:
        raise RuntimeError(f"attention: no attention ran in {name_of(model)}; {SOUGHT}")
    batch = next((value.shape[0] for value, _ in given if value.ndim), None)
    maps = _numbered(seen, batch)
    paths = [path for path, *_ in maps]
    by_path = tokens if isinstance(tokens, Mapping) else {"*": tokens}
    labels = _of_layers("tokens", by_path, paths)
    if layers is not None and not layers:
        raise ValueError("attention: layers is empty; None means all")
    kept = paths if layers is None else _of_layers("layers", dict.fromkeys(layers), paths)
    shown = [
        AttentionMap(path, weights, masked, *_labels(labels.get(path), path, weights.shape))
        for path, weights, masked in maps
        if path in kept
    ]
    for one in shown:
        if not 0 <= sample < len(one.weights):
            raise ValueError(
                f"attention: sample: there is no {sample}: {one.path} has {len(one.weights)} "
                f"samples, from 0"
            )
    return AttentionMaps(name_of(model), shown, sample)


def _numbered(
    seen: Sequence[tuple[str, np.ndarray, np.ndarray]], batch: int | None
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Paths, weights and masks with four axes; paths that occur several times are numbered."""
    often, numbers, maps = Counter(path for path, *_ in seen), Counter[str](), []
    for path, weights, masked in seen:
        numbers[path] += 1
        name = f"{path}#{numbers[path]}" if often[path] > 1 else path
        maps.append((name, _four_axes(weights, batch), _four_axes(masked, batch)))
    return maps


def _path(scope: Scope | None) -> str:
    """The path of a module; of the whole model its class, outside of modules the function."""
    return "attention" if scope is None else scope.path or scope.kind


def _four_axes(array: np.ndarray, batch: int | None) -> np.ndarray:
    """An array (..., queries, keys) as (samples, heads, queries, keys)."""
    *leading, queries, keys = array.shape
    samples = leading[0] if len(leading) > 1 or leading == [batch] else 1
    return array.reshape(samples, -1, queries, keys)


def _of_layers(what: str, patterns: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """For each path the value of the first pattern that fits it, also without its number."""
    found: dict[str, Any] = {}
    for pattern, value in patterns.items():
        names = [p for p in paths if any(fnmatchcase(n, pattern) for n in (p, p.split("#")[0]))]
        if not names:
            raise ValueError(
                f"attention: {what}: no layer is called {pattern!r}; there are {', '.join(paths)}"
            )
        found = dict.fromkeys(names, value) | found
    return found


def _labels(
    tokens: Labels | None, path: str, shape: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of the queries and of the keys of a layer."""
    if tokens is None:
        queries, keys = (tuple(map(str, range(size))) for size in shape[2:])
        return queries, keys
    lists = [part for part in tokens if isinstance(part, Sequence) and not isinstance(part, str)]
    pair = len(lists) == len(tokens) == 2
    both: Any = tokens if pair else (tokens, tokens)
    queries, keys = (tuple(map(str, given)) for given in both)
    for what, given, size in (("queries", queries, shape[2]), ("keys", keys, shape[3])):
        if len(given) != size:
            raise ValueError(
                f"attention: {path} has {size} {what}, but {len(given)} tokens were given. Where "
                "queries and keys differ, give a pair: tokens=(of the queries, of the keys). Where "
                f"layers differ, give a dict: tokens={{{path!r}: ..., ...}}"
            )
    return queries, keys
