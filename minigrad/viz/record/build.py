"""The graph of a module, or of tensors."""

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, data_of
from minigrad.debugging.memory import KeptMemory
from minigrad.nn import Cache, Module
from minigrad.nn.attention.cache import KVCache
from minigrad.support.signatures import signature_of
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor
from minigrad.transforms.structure import flatten, rebuilt
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.entries import note_kept, note_scalars, read
from minigrad.viz.record.graph import Graph


def graph(target: Any, *inputs: Any, **named: Any) -> Graph:
    """Get the compute graph of a module or a function run on inputs, or of tensors.

    A module is run once, in its present mode, on copies of its inputs and caches: the caller's
    tensors, buffers, gradients, caches and random state stay as they are. Tensors show the graph
    that they have, also after a backward pass. Of arguments that need no gradient it has those that
    a rule saved; others are only named, ``a: needs no gradient``. A `trace` knows them all.

    Args:
        target: A Module or a function; or a Tensor, or a tuple, list or dict of Tensors.
        *inputs: What to call it with: Tensors or ndarrays, of any shape and dtype.
        **named: For a module or a function, keyword arguments of its call. For tensors, names of
            leaves to show: ``graph(loss, x=x, w=w)``.

    Returns:
        The whole graph: it shows itself in a notebook, and has `to_dot` and `save`.

    Raises:
        RuntimeError: There is no graph: the message says why.
        TypeError: `target` is not one of these, or the arguments do not fit it.
        ValueError: A name is given to a tensor that is not a leaf of the graph.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> viz.graph((x * x).sum(), x=x)
        Graph(2 ops, 1 input, 1 output)
        >>> viz.graph(nn.Linear(3, 2), ones(5, 3))
        Graph(1 op, 2 parameters, 1 input, 1 output, 1 module)
        >>> viz.graph(lambda x: x * x, x)
        Graph(1 op, 1 input, 1 output)
    """
    runs = callable(target) and not isinstance(target, Tensor)
    given: list[tuple[Any, str]] = []
    if runs:
        subject = f"the output of {name_of(target)}"
        call, given = with_inputs("graph", target, inputs, named, _copied)
        names = {tensor._node: name for tensor, name in given if isinstance(tensor, Tensor)}
        with enable_grad(), state_kept(target):
            result = call()
    elif inputs and tensors_in(target):
        raise TypeError(
            "graph: tensors have their graph already and are not run on inputs; "
            "to name leaves write graph(loss, x=x)"
        )
    else:
        subject, result = "the tensor", target
    tensors = tensors_in(result)
    if not tensors:
        raise TypeError(
            "graph: expected a Module or a function and its inputs, or a Tensor, or a tuple, "
            f"list or dict of Tensors; {subject} is of type {type(result).__name__}"
        )
    if all(tensor.is_leaf for _, tensor in tensors):
        raise RuntimeError(f"graph: {subject} {why_not(tensors[0][1])}")
    recorded = [(name, edge) for name, tensor in tensors if (edge := history(tensor)) is not None]
    arrays = [(data_of(value), name) for value, name in given]
    integers = [(array, name) for array, name in arrays if array.dtype.kind != "f"]
    entries = read((source for _, source in recorded), integers=integers)
    outputs = [(name, entries[source]) for name, source in recorded]
    for node, sizes in KeptMemory().add(*(edge for _, edge in recorded)):
        note_kept(entries[node], [sizes])
    note_scalars(entries, [tensor for _, tensor in tensors if tensor._node is not None])
    if not runs:
        names = leaf_names("graph", named, entries)
    return assemble(entries.values(), outputs, names)[0]


def with_inputs(
    what: str,
    target: Callable[..., Any],
    inputs: tuple[Any, ...],
    named: dict[str, Any],
    prepared: Callable[[Any], Any],
) -> tuple[Callable[[], Any], list[tuple[Any, str]]]:
    """Bind a module or a function to its inputs, and name each as it does; errors name `what`.

    Each Tensor or ndarray, also in a list, dict or cache, is replaced by `prepared` of it, once for
    each value. A cache is copied.
    """
    forward = target.forward if isinstance(target, Module) else target
    try:
        bound = signature_of(forward).bind(*inputs, **named)
    except TypeError as error:
        called = f"{name_of(target)}{'.forward' * isinstance(target, Module)}"
        raise TypeError(f"{what}: {called}: {error}") from None
    made: dict[int, tuple[Any, str]] = {}

    def replaced(value: Any, name: str) -> Any:
        if isinstance(value, Cache):
            held = dict(_cached(value))
            return deepcopy(value, {id(part): replaced(part, name) for part, name in held.items()})
        if not isinstance(value, (Tensor, np.ndarray)):
            return value
        new, before = made[id(value)] if id(value) in made else (prepared(value), "")
        made[id(value)] = new, f"{before}, {name}" if before else name
        return new

    for name, value in bound.arguments.items():
        leaves = [replaced(leaf, path) for path, leaf in flatten(value, name.rstrip("_"))]
        bound.arguments[name] = rebuilt(value, iter(leaves))
    return lambda: target(*bound.args, **bound.kwargs), list(made.values())


def name_of(target: Any) -> str:
    """The name of a module or a function."""
    return str(getattr(target, "__name__", type(target).__name__))


def _cached(cache: Any) -> Iterator[tuple[Tensor, str]]:
    """The keys and values in a cache, and in caches within it."""
    if isinstance(cache, KVCache):
        layers = cache.cached_layers()
        for layer in layers:
            place = f" of layer {layer}" * (len(layers) > 1)
            for tensor, name in zip(cache.get(layer) or (), ("keys", "values"), strict=False):
                yield tensor, f"cached {name}{place}"
    elif isinstance(cache, Cache):
        for inner in vars(cache).values():
            yield from _cached(inner)


@contextmanager
def state_kept(target: Any) -> Iterator[None]:
    """Restore the random state and the buffers of a module after the block."""
    before = random.get_state()
    buffers = list(target.buffers()) if isinstance(target, Module) else []
    values = [buffer.numpy().copy() for buffer in buffers]
    try:
        yield
    finally:
        random.set_state(before)
        for buffer, value in zip(buffers, values, strict=True):
            buffer[...] = value


def _copied(value: Any) -> Any:
    """A leaf that requires a gradient, with the values of a floating tensor or array."""
    if value.dtype.kind != "f":
        return value
    return tensor(value.numpy() if isinstance(value, Tensor) else value, requires_grad=True)


def leaf_names(what: str, named: Mapping[str, Any], leaves: Container[Any]) -> dict[Any, str]:
    """The names that the caller gave to leaves; errors name `what`."""
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{what}: {name} should be a Tensor, not {type(value).__name__}")
        if not isinstance(value._node, Leaf) or value._node not in leaves:
            raise ValueError(f"{what}: {name} is not a leaf of this graph")
    return {value._node: name for name, value in named.items()}


def tensors_in(result: Any) -> list[tuple[str, Tensor]]:
    """The tensors in a result, each with a name: ``output``, or ``output[1]`` among several."""
    found = [pair for pair in flatten(result, "output") if isinstance(pair[1], Tensor)]
    return [("output", found[0][1])] if len(found) == 1 else found


def why_not(tensor: Tensor) -> str:
    """Why a tensor has no graph, and what to do."""
    about = f"(shape {tuple(tensor.shape)}, {tensor.dtype}) has no graph"
    if history(tensor) is not None:
        return f"{about}: it is a leaf, nothing was computed to make it; draw what is made of it"
    if tensor.dtype.kind != "f":
        return f"{about}: only floating-point computations are differentiated and recorded"
    return (
        f"{about}: it was made under no_grad(), by detach(), by an op without a derivative, or of "
        "tensors that do not require a gradient; compute it outside of no_grad() from a "
        "Tensor(..., requires_grad=True)"
    )
