"""Checkpointing saves memory and costs time: the backward pass runs the function again.

A checkpointed call is one node of the graph. Its edges lead to all tensors from outside that the
result depends on: the arguments, and the parameters and tensors that the function refers to. To
find them, the call is recorded as usual; then this graph is dropped. In the backward pass, the
function runs again from the same random state, and a backward pass of its own takes the cotangents
of the outputs to those edges.
"""

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NoReturn

import numpy as np

from minigrad import random
from minigrad.autograd.api import add_to_grad
from minigrad.autograd.call import record_outputs, with_history
from minigrad.autograd.engine import run_backward
from minigrad.autograd.events import Call, tell, undecorated
from minigrad.autograd.mode import changed, located, state
from minigrad.autograd.mutation import history, view_of, written_since
from minigrad.autograd.node import Edge, Leaf, Node, Output, Variable, clock, node_of, nodes_behind
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.views import read_only
from minigrad.support.random_state import DRAWS, take_snapshots
from minigrad.tracing import Trace
from minigrad.tracing.lines import line_at, user_frame, user_line
from minigrad.tracing.record import replaces_data
from minigrad.transforms.structure import flatten, mapped

__all__ = ["checkpoint", "checkpoint_sequential", "noop_context_fn"]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


def noop_context_fn() -> Contexts:
    """Return two contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any], /, *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: Literal["default", "none"] = "default", debug: bool = False,
    early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: Any,
) -> Any:  # fmt: skip
    """Call a function, keep only its inputs, and run it again in the backward pass.

    Values and gradients are those of ``function(*args, **kwargs)``, at every order. Tensors that
    the function refers to, such as the parameters of a module, get their gradients too. Calls may
    be nested. Dropout drops the same elements in both runs. Other state that the function changes
    is changed twice: the running statistics of a batch normalization move twice in each step, as in
    PyTorch; leave such layers outside.

    Args:
        function: A function or a module.
        *args: Its arguments: tensors, lists, tuples and dicts of tensors, or anything else.
        use_reentrant: PyTorch's, as are `determinism_check`, `debug`, `early_stop` and
            `preserve_rng_state`: there is one way here, the random state is the same in both runs,
            and an error says what differs between them.
        context_fn: Gives two contexts: that of the first run, and that of the second one.
        determinism_check: PyTorch's.
        debug: PyTorch's.
        early_stop: PyTorch's.
        preserve_rng_state: PyTorch's.
        **kwargs: Its keyword arguments.

    Returns:
        What the function returns: a tensor, or tensors in lists, tuples and dicts.

    Raises:
        RuntimeError: The function writes to the ``.grad`` of a tensor from outside, replaces its
            ``.data``, thaws it or gives it a hook, or draws from a generator of its own. In the
            backward pass, if a tensor that the function reads was written to, or if the function
            returns other shapes than before.

    Source: Chen et al. 2016, "Training deep nets with sublinear memory cost".

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> from minigrad.autograd import checkpoint
        >>> layer = nn.TransformerEncoderLayer(d_model=8, num_heads=2)
        >>> x = minigrad.randn(2, 5, 8, requires_grad=True)
        >>> checkpoint(layer, x).sum().backward()
        >>> x.grad.shape, layer.linear1.weight.grad.shape
        (minigrad.Size([2, 5, 8]), minigrad.Size([2048, 8]))
    """
    if not callable(function):
        kind = type(function).__name__
        raise TypeError(f"checkpoint: a function expected, got {kind}; write checkpoint(layer, x)")
    if not state.get().recording:
        return function(*args, **kwargs)
    segment = _Segment(function, args, kwargs, context_fn())
    result, inner = segment.first_run()
    edges = _boundary([history(tensor) for tensor in inner], segment.stamp)
    if not edges:
        return result
    segment.edges = edges
    slots, given = tuple(range(len(edges))), ((), segment)
    arrays = [tensor._data for tensor in inner]
    outer = record_outputs(_CHECKPOINT, slots, edges, (*given, arrays), arrays, segment.frame)
    tell("ran", Call(_CHECKPOINT, given, given, outer, (), node_of(outer[0]._node), segment.frame))
    outer_of = dict(zip(map(id, inner), outer, strict=True))
    return mapped(lambda leaf: outer_of.get(id(leaf), leaf), result)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None,  # noqa: A002
    preserve_rng_state: bool = True,
) -> Any:  # fmt: skip
    """Call functions one after the other, in segments of which all but the last are checkpointed.

    Args:
        functions: A module such as `nn.Sequential`, whose children are called, or functions.
        segments: How many parts they are divided into.
        input: What the first one gets.
        use_reentrant: PyTorch's, as for `checkpoint`.
        preserve_rng_state: PyTorch's, as for `checkpoint`.

    Raises:
        ValueError: There are fewer functions than segments, or `segments` is below 1.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> from minigrad.autograd import checkpoint_sequential
        >>> model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> checkpoint_sequential(model, 2, minigrad.ones(2, 3)).sum().backward()
        >>> model[0].weight.grad is None
        False
    """
    every = list(functions)
    if not 1 <= segments <= len(every):
        raise ValueError(f"checkpoint_sequential: {segments} segments of {len(every)} functions")
    size, value = len(every) // segments, input
    for start in range(0, size * (segments - 1), size):
        value = checkpoint(functools.partial(_chained, every[start : start + size]), value)
    return _chained(every[size * (segments - 1) :], value)


def _chained(functions: Sequence[Callable[[Any], Any]], value: Any) -> Any:
    """Call each function with the result of the one before."""
    return functools.reduce(lambda result, function: function(result), functions, value)


class _Segment:
    """A checkpointed call: how to run it again, and the arrays that must not change until then."""

    def __init__(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], contexts: Contexts
    ) -> None:
        self.function = function
        self.first, self.second = contexts
        self.args, self.kwargs = mapped(_kept, (args, kwargs))
        now = state.get()
        self.frame, self.scope = now.frame, now.scope
        self.again = take_snapshots()
        self.stamp = next(clock)
        self.edges: tuple[Edge, ...] = ()
        self._arrays: list[np.ndarray] = []
        self.shapes: list[tuple[int, ...]] = []
        frame = user_frame()
        self.place = frame.f_code.co_filename, frame.f_lineno

    def __repr__(self) -> str:  # in the formula of its step
        return f"<{type(self.function).__name__} again>"

    def first_run(self) -> tuple[Any, list[Any]]:
        """The result, and the tensors in it that were recorded during the call."""
        with _FirstRun(keep=False) as trace, changed(within=self), self.first:
            result = self._call()
        given = flatten((self.args, self.kwargs), "")
        self._arrays = [leaf._data for _, leaf in given if isinstance(leaf, Variable)]
        # Not what effects read, such as running statistics: they move in both runs.
        ops = [step for step in trace.steps if step.phase == "forward" and step.inside is None]
        read = dict.fromkeys([value.tensor for step in ops for value in step.reads])
        for tensor in [tensor for tensor in read if tensor is not None]:
            self._arrays.append(tensor._data)
            leaf = tensor._node
            changed_leaf = isinstance(leaf, Leaf) and leaf.is_changed_since(self.stamp)
            if changed_leaf and trace.is_from_outside(tensor):
                what = f"a tensor from outside, of shape {tuple(tensor.shape)}"
                self._refuse(f"the function thaws or hooks {what}: do it before the call")
        inner = _recorded_since(self.stamp, result)
        self.shapes = [tensor._data.shape for tensor in inner]
        return result, inner

    def _call(self) -> Any:
        args, kwargs = mapped(_kept, (self.args, self.kwargs))  # the function may change its own
        return self.function(*args, **kwargs)

    def pull(self, cotangents: Sequence[Any], needed: Sequence[bool]) -> list[Any]:
        """Run the function again, and take the cotangents of its outputs to the edges."""
        if any(written_since(array, self.stamp) for array in self._arrays):
            self._refuse("a tensor that the function reads was written in place: write to a copy")
        create, start = state.get().recording, next(clock)
        state_now = changed(recording=True, frame=self.frame, at_end=None)
        with state_now, self.again(), self.second:
            result = self._call()
        inner = _recorded_since(start, result)
        shapes = [tensor._data.shape for tensor in inner]
        if shapes != self.shapes:
            self._refuse(f"the function returned shapes {self.shapes} first, and {shapes} again")
        if set(_boundary([history(tensor) for tensor in inner], start)) != set(self.edges):
            self._refuse("the function read other tensors in the backward pass than at first")
        wanted = [edge for edge, need in zip(self.edges, needed, strict=True) if need]
        roots = list(zip([history(tensor) for tensor in inner], cotangents, strict=True))
        found = run_backward(roots, create, create, {*wanted}, since=start)
        return [found.get(edge) for edge in self.edges]

    def _refuse(self, why: str) -> NoReturn:
        call = f"(the call at {line_at(*self.place)})"
        raise RuntimeError(located(f"checkpoint: {why} {call}", self.scope))


class _FirstRun(Trace):
    """The trace of the first run, which refuses what the second one would do again."""

    def is_from_outside(self, tensor: Variable) -> bool:
        """Whether a tensor was there before the run."""
        return self.value(tensor).step is None and not self.is_new(tensor)

    def wrote(self, tensor: Variable, values: Any) -> None:
        """Refuse another ``.data`` of a tensor from outside."""
        if replaces_data(tensor, values) and not self._effects and not self.is_new(tensor):
            _refuse_in_first_run("replaces the .data of a tensor", "do it outside of it")
        super().wrote(tensor, values)

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Refuse a write to the ``.grad`` of a tensor from outside, and another generator."""
        known = (None, random.default_generator)
        if function in DRAWS and kwargs.get("generator") not in known:
            what = "draws from a generator of its own"
            _refuse_in_first_run(what, "draw from that of minigrad, or before the call")
        kind: Any = Variable.result_class
        writers = map(undecorated, (add_to_grad, kind.grad.fset, kind.zero_grad))
        if function in writers and self.is_from_outside(args[0]):
            what = "writes to the .grad of a tensor from outside"
            _refuse_in_first_run(what, "do it outside of it, or use autograd.grad")
        yield from super().effect(function, args, kwargs)


def _refuse_in_first_run(what: str, remedy: str) -> NoReturn:
    again = "and would again in the backward pass"
    raise RuntimeError(f"checkpoint: the function {what}, at {user_line()}, {again}: {remedy}")


def _recorded_since(stamp: int, result: Any) -> list[Any]:
    """The tensors in a result that ops have made after the time `stamp`, each once."""
    leaves = {id(leaf): leaf for _, leaf in flatten(result, "") if isinstance(leaf, Variable)}
    nodes = [(leaf, history(leaf)) for leaf in leaves.values()]
    return [leaf for leaf, node in nodes if isinstance(node, Node | Output) and node.stamp > stamp]


def _kept(value: Any) -> Any:
    """A read-only tensor with the same node; of an array, a copy."""
    if isinstance(value, Variable):
        own = with_history(read_only(value._data), history(value))
        view_of(own, value)
        return own
    return value.copy() if isinstance(value, np.ndarray) else value


def _boundary(nodes: Sequence[Any], stamp: int) -> tuple[Edge, ...]:
    """The outputs made before `stamp` on which the nodes recorded after it depend directly."""
    behind = nodes_behind(*nodes, since=stamp)
    new = [node for node in behind if isinstance(node, Node) and node.stamp >= stamp]
    edges = [*nodes, *(edge for node in new for edge in reversed(node.edges))]
    return tuple(dict.fromkeys(edge for edge in edges if edge.stamp < stamp))


def _checkpoint(*edges: Any, segment: _Segment) -> Any:
    """The op of a checkpointed call; it never runs: `checkpoint` records its node itself."""
    raise NotImplementedError


_CHECKPOINT = Primitive(_checkpoint, multiple_outputs=True)


@_CHECKPOINT.defjoint("edges")
def _pull(g: Sequence[Any], needed: Sequence[bool], segment: _Segment) -> list[Any]:
    return segment.pull(g, needed)
