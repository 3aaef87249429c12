"""From a model and its inputs to a page on which to explore them."""

from __future__ import annotations

import html
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.autograd.api import grad
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, nodes_behind
from minigrad.support.files import write
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor
from minigrad.tracing.lines import user_line
from minigrad.viz.page.html import write_page
from minigrad.viz.page.walk import Stop
from minigrad.viz.page.walks import PREPARED
from minigrad.viz.record.build import graph, name_of, state_kept, tensors_in, why_not, with_inputs
from minigrad.viz.record.graph import Graph
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.model import Node as MadeNode
from minigrad.viz.record.selection import Choice
from minigrad.viz.record.tracing import FUSED, Trace, fused_ops, trace

HEIGHT = 640
"""Of the page within a notebook, in pixels."""

WEIGHTED = (
    "with fixed pseudo-random numbers for its gradient, as if the loss were the sum of the output "
    "times these numbers. The plain sum would teach little: behind a normalization or a softmax it "
    "is constant, and every gradient before it zero"
)


class Page(os.PathLike[str]):
    """An HTML file that was written: its path, and in a notebook the page itself.

    Attributes:
        path: Where it is.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> page = viz.explore(nn.Linear(3, 2), ones(5, 3))
        >>> page.path.name, page.path.stat().st_size < 180_000
        ('Linear.html', True)
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"

    def _repr_html_(self) -> str | None:
        try:
            page = html.escape(self.path.read_text(encoding="utf-8"))
        except OSError:
            return None  # the file is gone: the path is all there is to show
        return (  # a frame of its own
            f'<iframe srcdoc="{page}" width="100%" height="{HEIGHT}" title="Compute graph" '
            'style="border:1px solid #8888;border-radius:8px"></iframe>'
        )


def explore(
    target: Any,
    *inputs: Any,
    path: str | os.PathLike[str] | None = None,
    depth: int | None = None,
    values: Sequence[str] = (),
    open: Choice | None = None,
    walk: Sequence[Stop] | None = None,
    **named: Any,
) -> Page:
    """Write a page on which to explore a compute graph and step through its backward pass.

    A module or a function is run once on its inputs, a module in the mode that it is in. Then a
    backward pass runs from its loss, if it returns one, and otherwise from its output, with fixed
    pseudo-random numbers for the output's gradient. Inputs of floats get a gradient too, whether
    they require one or not. It writes no ``.grad``, and leaves the random state as it was. Under
    `no_grad` there is no backward pass.

    Args:
        target: A Module or a function; or a Graph or a Trace; or a Tensor that was computed, or
            several.
        *inputs: What to call the module or the function with.
        path: The file to write; a new one in a temporary folder if None. Of what has run already,
            the page has the name of the file as its title.
        depth: How many levels of modules are open at first; None for about 40 boxes.
        values: Modules and boxes whose values are shown as a whole, however large; see `trace`.
        open: Modules to open at first all the same (see `Graph.collapse`), and fused ops such as
            ``"layer_norm"`` that run as their parts, which can be stepped through. By default
            attention does.
        walk: Stops for a reader to go through, each with a text at a box or a step. By default
            those of `viz.walks` for exactly this class of module, if there are any.
        **named: For a module or a function, keyword arguments of its call. For tensors, names of
            leaves.

    Returns:
        The page: its path, which shows itself in a notebook. The file needs nothing else.

    Raises:
        TypeError: `target` is not one of these, or the arguments do not fit it.
        ValueError: `depth` is negative, `path` does not end in ".html", or a name of `values` or
            `open` is unknown; or a stop of `walk` names no box or step, or several.

    Example:
        >>> from minigrad import nn, randn, viz
        >>> model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> page = viz.explore(model, randn(5, 3))
        >>> page.path.name
        'Sequential.html'
    """
    if isinstance(target, Trace | Diagram) and (inputs or named or values):
        raise TypeError(
            "explore: a Graph or a Trace has run already; it takes no inputs, and what is computed "
            "within viz.trace(values=[...]) shows its values"
        )
    runs = callable(target) and not isinstance(target, Tensor | Trace | Diagram)
    if isinstance(target, Trace):
        target = target.graph()
    title, start = "Compute graph" if path is None else Path(path).stem.replace("_", " "), ""
    walk = PREPARED.get(type(target), ()) if walk is None else walk
    fused = FUSED if open is None else fused_ops().keys() & {*open}
    watch = partial(trace, values=values, open=fused)
    if runs:
        title = name_of(target)
        try:
            target, start = _run(target, inputs, named, watch(), requiring=True)
        except RuntimeError:  # perhaps it writes to its inputs
            target, start = _run(target, inputs, named, watch(), requiring=False)
    elif not isinstance(target, Diagram):
        target, start = _computed(target, inputs, named, watch())
    return written(write_page(target, depth, title, start, open or (), walk), title, path)


def written(text: str, title: str, path: str | os.PathLike[str] | None) -> Page:
    """Write a page, by default to a new temporary folder, in a file that is called by its title."""
    if path is None:
        name = re.sub(r"[^\w.-]+", "_", title).strip("_") or "graph"
        path = Path(tempfile.mkdtemp(prefix="minigrad-")) / f"{name}.html"
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"a page ends in .html, got {path.name!r}; graph(...).save draws pictures")
    write(path, text)
    return Page(path)


def _run(
    target: Any, inputs: tuple[Any, ...], named: dict[str, Any], traced: Trace, requiring: bool
) -> tuple[Graph, str]:
    """Run a module or a function and its backward pass, and watch both."""
    prepared = partial(_prepared, requiring=requiring)
    call, given = with_inputs("explore", target, inputs, named, prepared)
    for value, name in given:
        traced.name(value, name)
    with state_kept(target), traced:
        results = tensors_in(call())
        if not results:
            raise TypeError(f"explore: {name_of(target)} returned no Tensor")
        return _finish(traced, results)


def _prepared(value: Any, requiring: bool) -> Any:
    """The same value; a computed one starts anew, so that the graph ends at it.

    If `requiring`, a tensor of floats gets a gradient.
    """
    if not isinstance(value, Tensor):
        return value
    asked = requiring and value.dtype.kind == "f" and not value.requires_grad
    return value if value.is_leaf and not asked else tensor(value.numpy(), requires_grad=True)


def _computed(
    target: Any, inputs: tuple[Any, ...], named: dict[str, Any], traced: Trace
) -> tuple[Graph, str]:
    """The graph of tensors that are there already, and a backward pass through it."""
    if inputs and tensors_in(target):
        raise TypeError("explore: tensors are not run on inputs; to name leaves write w=w")
    graph(target, **named)  # refuses anything but a tensor or leaf
    for name, value in named.items():
        traced.name(value, name)
    with traced:
        return _finish(traced, tensors_in(target), retain=True)


def _finish(
    traced: Trace, results: Sequence[tuple[str, Tensor]], retain: bool = False
) -> tuple[Graph, str]:
    """Run the backward pass, and name the outputs."""
    end, start = _end(results)
    if end is not None and history(end) is not None:
        given = None
        if end._data.size != 1:
            draw = np.random.default_rng(0)  # with few digits: one can reckon with them
            given = draw.standard_normal(end.shape).round(2).astype(end.dtype)
            start = f"{start}, {WEIGHTED}"
        leaves = [node.tensor for node in nodes_behind(history(end)) if isinstance(node, Leaf)]
        found = [leaf for leaf in leaves if leaf is not None]
        if found:
            grad(end, found, given, retain_graph=retain, allow_unused=True)
    drawing = traced.graph(*(tensor for _, tensor in results))
    here, names = user_line(), iter(name for name, _ in results)

    def told(node: MadeNode) -> MadeNode:
        if node.kind == "output":
            return replace(node, label=next(names))
        return replace(node, line="") if node.line == here else node  # says nothing of its own

    return replace(drawing, nodes=tuple(map(told, drawing.nodes))), start


def _end(results: Sequence[tuple[str, Tensor]]) -> tuple[Tensor | None, str]:
    """Where a backward pass can begin, and in words; None, and why not, if nowhere."""
    able = [(name, tensor) for name, tensor in results if not tensor.is_leaf]
    if not able:
        return None, f"There is no backward pass: the output {why_not(results[0][1])}"
    scalars = [(name, tensor) for name, tensor in able if tensor._data.size == 1]
    losses = [(name, tensor) for name, tensor in scalars if "loss" in name]
    name, tensor = (*losses, *scalars, *able)[0]
    return tensor, f"the {name}" if name == "output" else name
