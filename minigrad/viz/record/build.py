"""The graph of a module, or of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad import random
from minigrad._grad_mode import enable_grad
from minigrad._tensor import Tensor
from minigrad.autograd.call import without_rules
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf
from minigrad.nn import Module
from minigrad.viz.drawing.graph import Graph
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.finished import read

__all__ = ["graph", "leaf_names", "random_state_kept", "tensors_in", "why_not", "with_inputs"]


def graph(target: Any, *inputs: Any, **named: Any) -> Graph:
    """Get the compute graph of a module run on inputs, or of tensors.

    A module is run once, in its present mode, on copies of its inputs: the caller's tensors,
    gradients and random state stay as they are. Tensors show the graph that they have, also after
    a backward pass. Arguments without a gradient are known only if a rule saved them; others are
    marked as unknown. A `trace` knows them all.

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
        >>> from minigrad import nn, ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> viz.graph((x * x).sum(), x=x)
        Graph(2 ops, 1 input, 1 output)
        >>> viz.graph(nn.Linear(3, 2), ones(5, 3))
        Graph(1 op, 2 parameters, 1 input, 1 output, 1 module)
    """
    if isinstance(target, Module):
        subject = f"the output of {type(target).__name__}"
        call, given = with_inputs("graph", target, inputs, named, _copied)
        names = {tensor._node: name for tensor, name in given if isinstance(tensor, Tensor)}
        with enable_grad(), random_state_kept():
            result = call()
    elif inputs:
        raise TypeError(
            "graph: tensors have their graph already and are not run on inputs; "
            "to name leaves write graph(loss, x=x)"
        )
    else:
        subject, result, names = "the tensor", target, leaf_names(named)
    tensors = tensors_in(result)
    if not tensors:
        raise TypeError(
            "graph: expected a Module and its inputs, or a Tensor, or a tuple, list or dict of "
            f"Tensors; {subject} is of type {type(result).__name__}"
        )
    if all(tensor.is_leaf for _, tensor in tensors):
        raise RuntimeError(f"graph: {subject} {why_not(tensors[0][1])}")
    recorded = [(name, tensor._node) for name, tensor in tensors if tensor._node is not None]
    entries = read(source for _, source in recorded)
    outputs = [(name, entries[source]) for name, source in recorded]
    drawing, _ = assemble(entries.values(), outputs, names)
    if not isinstance(target, Module):
        leaves = ("input", "parameter")
        unknown = set(named) - {node.label for node in drawing.nodes if node.kind in leaves}
        if unknown:
            raise ValueError(f"graph: {', '.join(sorted(unknown))} is no leaf of this graph")
    return drawing


def with_inputs(
    what: str,
    module: Module,
    inputs: tuple[Any, ...],
    named: dict[str, Any],
    prepared: Callable[[Any], Any],
) -> tuple[Callable[[], Any], list[tuple[Any, str]]]:
    """Bind a module to its inputs, and name them as the module does.

    Errors name the function `what`. Each Tensor or ndarray, also in a list or dict, is replaced by
    `prepared` of it, once for each value.

    Returns:
        A function that calls the module, and each prepared value with its names.
    """
    try:
        bound = inspect.signature(module.forward).bind(*inputs, **named)
    except TypeError as error:
        raise TypeError(f"{what}: {type(module).__name__}.forward: {error}") from None
    made: dict[int, tuple[Any, str]] = {}

    def replaced(value: Any, name: str) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(replaced(part, f"{name}[{i}]") for i, part in enumerate(value))
        if isinstance(value, dict):
            return {key: replaced(part, f"{name}[{key!r}]") for key, part in value.items()}
        if not isinstance(value, (Tensor, np.ndarray)):
            return value
        new, before = made[id(value)] if id(value) in made else (prepared(value), "")
        made[id(value)] = new, f"{before}, {name}" if before else name
        return new

    for name, value in bound.arguments.items():
        bound.arguments[name] = replaced(value, name.rstrip("_"))
    return lambda: module(*bound.args, **bound.kwargs), list(made.values())


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Restore the random state after the block."""
    before = random.get_state()
    try:
        yield
    finally:
        random.set_state(before)


def _copied(value: Any) -> Any:
    """A leaf that requires a gradient, with the values of a floating tensor or array."""
    if value.dtype.kind != "f":
        return value
    return Tensor(value.numpy() if isinstance(value, Tensor) else value, requires_grad=True)


def leaf_names(named: dict[str, Any]) -> dict[Any, str]:
    """The leaves that the caller named."""
    names: dict[Any, str] = {}
    for name, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"graph: {name} should be a Tensor, not {type(tensor).__name__}")
        if isinstance(tensor._node, Leaf):
            names[tensor._node] = name
    return names


def tensors_in(result: Any) -> list[tuple[str, Tensor]]:
    """The tensors in a result, each with a name: ``output``, or ``output[1]`` among several."""

    def walk(value: Any, name: str) -> Iterator[tuple[str, Tensor]]:
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, Mapping):
            for key, part in value.items():
                yield from walk(part, f"{name}[{key!r}]")
        elif isinstance(value, (tuple, list)):
            for index, part in enumerate(value):
                yield from walk(part, f"{name}[{index}]")

    found = list(walk(result, "output"))
    return [("output", found[0][1])] if len(found) == 1 else found


def why_not(tensor: Tensor) -> str:
    """Why a tensor has no graph, and what to do."""
    about = f"(shape {tensor.shape}, {tensor.dtype}) has no graph"
    if history(tensor) is not None:
        return f"{about}: it is a leaf, nothing was computed to make it; draw what is made of it"
    if tensor.dtype.kind != "f":
        return f"{about}: only floating-point computations are differentiated and recorded"
    return (
        f"{about}: it was made under no_grad(), by detach(), by {without_rules()}, or of tensors "
        "that do not require a gradient; compute it outside of no_grad() from a "
        "Tensor(..., requires_grad=True)"
    )
