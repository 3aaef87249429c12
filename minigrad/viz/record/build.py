"""From what the user holds, a module or tensors, to its graph."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import random
from minigrad._tensor import Tensor
from minigrad.autograd.call import without_rules
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.mode import enable_grad
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf
from minigrad.nn.module.base import Module
from minigrad.viz.drawing.graph import Graph
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.finished import read

__all__ = ["graph", "leaf_names", "tensors_in", "why_not"]


def graph(target: Any, *inputs: Any, **named: Any) -> Graph:
    """Get the compute graph of a module run on inputs, or of tensors.

    A module is run once, in the mode that it is in, on copies of its inputs: the caller's tensors
    and gradients and the random state stay as they are. Tensors show the graph that they have,
    also after a backward pass. Of arguments without a gradient the engine knows what rules saved;
    others are said to be unknown, and `trace` knows them.

    Args:
        target: A Module; or a Tensor, or a tuple, list or dict of Tensors.
        *inputs: What to call the module with: Tensors or ndarrays, of any shape and dtype.
        **named: For a module, keyword arguments of its call. For tensors, names of leaves to
            show: ``graph(loss, x=x, w=w)``.

    Returns:
        The whole graph: it shows itself in a notebook, and has `to_dot` and `save`.

    Raises:
        RuntimeError: There is no graph: the message says why.
        TypeError: `target` is neither a module nor tensors, or the arguments do not fit it.
        ValueError: A name is given to a tensor that is no leaf of the graph.

    Example:
        >>> import minigrad
        >>> from minigrad import nn, viz
        >>> x = minigrad.ones(3, requires_grad=True)
        >>> viz.graph((x * x).sum(), x=x)
        Graph(2 ops, 1 input, 1 output)
        >>> viz.graph(nn.Linear(3, 2), minigrad.ones(5, 3))
        Graph(1 op, 2 parameters, 1 input, 1 output, 1 module)
    """
    if isinstance(target, Module):
        result, names = _run(target, inputs, named)
        subject = f"the output of {type(target).__name__}"
    elif inputs:
        raise TypeError(
            "graph: tensors have their graph already and are not run on inputs; "
            "to name leaves write graph(loss, x=x)"
        )
    else:
        result, names = target, leaf_names(named)
        subject = "the tensor"
    tensors = list(tensors_in(result, "output"))
    if not tensors:
        raise TypeError(
            "graph: expected a Module and its inputs, or a Tensor, or a tuple, list or dict of "
            f"Tensors; {subject} is of type {type(result).__name__}"
        )
    if len(tensors) == 1:
        tensors = [("output", tensors[0][1])]
    if all(tensor.is_leaf for _, tensor in tensors):
        raise RuntimeError(f"graph: {subject} {why_not(tensors[0][1])}")
    recorded = [(name, tensor._node) for name, tensor in tensors if tensor._node is not None]
    entries = read([source for _, source in recorded])
    outputs = [(name, entries[source]) for name, source in recorded]
    every = list(dict.fromkeys(entries.values()))
    diagram, _ = assemble(every, outputs, names, get_default_dtype())
    if not isinstance(target, Module):
        leaves = ("input", "parameter")
        unknown = set(named) - {node.label for node in diagram.nodes if node.kind in leaves}
        if unknown:
            raise ValueError(f"graph: {', '.join(sorted(unknown))} is no leaf of this graph")
    return Graph(diagram.nodes, diagram.edges, diagram.groups, diagram.dtype)


def _run(
    module: Module, inputs: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, dict[Leaf, str]]:
    """Call a module on copies of its inputs, which are leaves, so that they show.

    Returns:
        What the module returned, and how its parameters are called that the inputs went to.
    """
    try:
        bound = inspect.signature(module.forward).bind(*inputs, **named)
    except TypeError as error:
        raise TypeError(f"graph: {type(module).__name__}.forward: {error}") from None
    leaves = _Leaves()
    for name, value in bound.arguments.items():
        bound.arguments[name] = leaves.copy(value, name.rstrip("_"))
    before = random.get_state()
    try:
        with enable_grad():
            return module(*bound.args, **bound.kwargs), leaves.names
    finally:
        random.set_state(before)


class _Leaves:
    """Copies of inputs that require a gradient, and the parameters that each was given for."""

    def __init__(self) -> None:
        self.names: dict[Leaf, str] = {}
        self._copies: dict[int, Tensor] = {}  # the same tensor given twice is one input

    def copy(self, value: Any, name: str) -> Any:
        """The same value with a leaf in the place of each floating tensor or array."""
        if isinstance(value, (tuple, list)):
            return type(value)(self.copy(part, f"{name}[{i}]") for i, part in enumerate(value))
        if isinstance(value, dict):
            return {key: self.copy(part, f"{name}[{key!r}]") for key, part in value.items()}
        if not isinstance(value, (Tensor, np.ndarray)) or value.dtype.kind != "f":
            return value
        if id(value) not in self._copies:
            array = value.numpy() if isinstance(value, Tensor) else value
            self._copies[id(value)] = Tensor(array, requires_grad=True)
        copy = self._copies[id(value)]
        node = copy._node
        assert isinstance(node, Leaf)
        self.names[node] = f"{self.names[node]}, {name}" if node in self.names else name
        return copy


def leaf_names(named: dict[str, Any]) -> dict[Leaf, str]:
    """The leaves that the caller named."""
    names = {}
    for name, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"graph: {name} should be a Tensor, not {type(tensor).__name__}")
        if isinstance(tensor._node, Leaf):
            names[tensor._node] = name
    return names


def tensors_in(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
    """The tensors in what a module returned, with names that say where."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from tensors_in(part, f"{name}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            yield from tensors_in(part, f"{name}[{index}]")


def why_not(tensor: Tensor) -> str:
    """Why a tensor has no graph, and what to do."""
    about = f"(shape {tensor.shape}, {tensor.dtype}) has no graph"
    if history(tensor) is not None:
        return f"{about}: it is a leaf, nothing was computed to make it; draw what is made of it"
    if tensor.dtype.kind != "f":
        return f"{about}: only what is computed in floating point is differentiated and recorded"
    return (
        f"{about}: it was made under no_grad(), by detach(), by {without_rules()}, or of tensors "
        "that do not require a gradient; compute it outside of no_grad() from a "
        "Tensor(..., requires_grad=True)"
    )
