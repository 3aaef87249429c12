"""`vmap`: a function of one sample, run for many samples at once.

The function runs once, on the first sample, under a trace. Its steps then run again on all samples,
each by the batching rule of its op. Gradients that the function takes are recorded as ops, so they
are steps like the others, and the result is an ordinary graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.engine import call_hook
from minigrad.autograd.events import Call, effect, only_reads, undecorated
from minigrad.autograd.mode import State, state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, clock
from minigrad.autograd.primitives import registry
from minigrad.autograd.scope import FunctionCall
from minigrad.autograd.views import Place, read_only
from minigrad.ops.indexing import normalized
from minigrad.support import tree
from minigrad.support.random_state import DRAWS
from minigrad.tracing import Step, Trace, Value
from minigrad.tracing.lines import user_line
from minigrad.transforms.batching import (
    INDEXED,
    RULES,
    Batch,
    CannotMap,
    Mapped,
    broadcast,
    rule_of,
    whole,
)
from minigrad.transforms.structure import flatten, rebuilt, spread

__all__ = ["CannotMap", "Randomness", "check_randomness", "functionalize", "vmap"]

Randomness = Literal["error", "different", "same"]


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0,
    randomness: Randomness = "error", *, chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Turn a function of one sample into one of many samples at once.

    The function runs once, on the first sample; its ops then run once for all samples. So Python
    must not depend on the values: a branch, ``.item()`` or ``.numpy()`` of what differs from sample
    to sample is an error with its line. It may take gradients, and be mapped again.

    Args:
        func: Takes and returns tensors, or nested tuples, lists and dicts of tensors.
        in_dims: For each positional argument, or for all, the dim that counts the samples; None if
            it is the same for all. A structure of dims, for an argument that is a structure.
            Keyword arguments are mapped along dim 0.
        out_dims: Where that dim goes in the result, or in each part of it.
        randomness: What a random number in the function is: an "error", "different" for each
            sample, or the "same" for all.
        chunk_size: At most so many samples at once, one part of them after the other; None for all.

    Returns:
        A function of the same arguments, with one more dim.

    Raises:
        CannotMap: An op has no batching rule, Python reads what differs from sample to sample, or a
            random number is drawn. It is a NotImplementedError.
        TypeError: An argument is not mapped and not a tensor, or a result is not a tensor.
        ValueError: The dims are not of one length, no argument is mapped, or `chunk_size` is below
            1.

    Source: JAX, "jax.vmap"; Radul et al. (2020), "Automatically Batching Control-Intensive
    Programs for Modern Accelerators".

    Example:
        >>> import minigrad
        >>> from minigrad.func import grad
        >>> def loss(w, x):
        ...     return (w * x).sum() ** 2
        >>> w, xs = minigrad.ones(2), minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> minigrad.vmap(grad(loss), in_dims=(None, 0))(w, xs).tolist()
        [[6.0, 12.0], [42.0, 56.0]]
    """
    if not callable(func):
        raise TypeError(
            f"vmap: a function expected, got {type(func).__name__}: write vmap(f)(x); tensors "
            f"that were computed already are differentiated by autograd.grad"
        )
    check_randomness("vmap", randomness)
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size must be at least 1, got {chunk_size}")

    def at_once(args: tuple[Any, ...], kwargs: dict[str, Any], dims: Sequence[Any]) -> Any:
        run = _Run(randomness)
        places = [f"args[{i}]" for i in range(len(args))]
        samples = [run.given(*one) for one in zip(args, dims, places, strict=True)]
        named = {name: run.given(value, 0, f"{name}=") for name, value in kwargs.items()}
        return run.of_all(*run.of_one(func, samples, named), out_dims)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: in_dims has {len(dims)} entries for {len(args)} arguments")
        if chunk_size is None:
            return at_once(args, kwargs, dims)
        parts = [at_once(*part, dims) for part in _parts(args, kwargs, dims, chunk_size)]
        return _joined(parts, out_dims)

    return call


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return the function itself: a transform lets it write to what it has made.

    Args:
        func: A function.
        remove: PyTorch's: "mutations" or "mutations_and_views".

    Raises:
        RuntimeError: `remove` is something else.

    Example:
        >>> import minigrad
        >>> minigrad.func.functionalize(minigrad.sin) is minigrad.sin
        True
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f'functionalize: remove="mutations" or "mutations_and_views", got {remove!r}'
        )
    return func


def check_randomness(name: str, randomness: str) -> None:
    """Raise a ValueError unless it says what random numbers are."""
    if randomness not in ("error", "different", "same"):
        raise ValueError(
            f'{name}: randomness must be "error", "different" or "same", got {randomness!r}'
        )


def _parts(
    args: tuple[Any, ...], kwargs: dict[str, Any], dims: Sequence[Any], size: int
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of at most `size` samples after those of others; all if lengths differ."""
    every, axes = (args, kwargs), (dims, dict.fromkeys(kwargs, 0))
    leaves = [(leaf, axis) for _, leaf, axis in spread(every, axes, "args")]
    lengths = {np.shape(leaf)[axis] for leaf, axis in leaves if axis is not None}
    if len(lengths) != 1:
        yield every  # for the error that says so
        return
    for start in range(0, max(*lengths, 1), size):
        window = slice(start, start + size)
        part = rebuilt(every, iter([_window(leaf, axis, window) for leaf, axis in leaves]))
        yield part


def _window(leaf: Any, axis: int | None, window: slice) -> Any:
    if axis is None:
        return leaf
    tensor = leaf if isinstance(leaf, Variable) else wrap(to_array(leaf, name="vmap"))
    return tensor[(slice(None),) * (axis % tensor._data.ndim) + (window,)]  # type: ignore[index]


def _joined(parts: list[Any], out_dims: Any) -> Any:
    """The results of several parts of the samples as one."""
    axes = [axis for _, _, axis in spread(parts[0], out_dims, "the result")]
    columns = zip(*([leaf for _, leaf in flatten(part, "")] for part in parts), strict=True)
    joined = [
        column[0] if axis is None else ops.concatenate(column, axis)
        for column, axis in zip(columns, axes, strict=True)
    ]
    return rebuilt(parts[0], iter(joined))


class _Sample(Trace):
    """A trace of the run of one sample, which refuses what it could not do for all."""

    def __init__(self) -> None:
        super().__init__()
        self._born = next(clock)
        self.mapped: dict[Value, Mapped] = {}
        """The arguments: what differs from sample to sample."""
        self.things: dict[Value, Any] = {}
        """The tensors and arrays that were there before."""
        self._fresh: dict[int, np.ndarray] = {}  # the first content of arrays made within, by id
        self._differs: dict[Value, bool] = {}

    def differs(self, value: Value) -> bool:
        """Whether a value differs from sample to sample: it was computed from an argument."""
        stack = [value]
        while stack:
            one = stack[-1]
            reads = [] if one in self._differs or one.step is None else one.step.reads
            missing = [each for each in reads if each not in self._differs]
            stack += missing
            if not missing:
                found = one in self.mapped or any(self._differs[each] for each in reads)
                self._differs[one] = self._differs.get(one, False) or found
                stack.pop()
        return self._differs[value]

    def ran(self, call: Call) -> None:
        """Refuse a static argument that differs from sample to sample, but for an index."""
        super().ran(call)
        op, given = call.op, self.steps[-1].arguments
        for name in op.params[1 if op.variadic else op.arrays :]:
            differs = any(map(self.differs, tree.leaves(given.get(name), Value)))
            if differs and op not in INDEXED:
                raise CannotMap(
                    f"vmap: {op.name}: {name} must be the same for all samples, at {user_line()}"
                )

    def created(self, tensor: Variable) -> None:
        """Keep what a tensor holds that was made in the function: it may be written to."""
        self._fresh[id(tensor._data)] = tensor._data.copy()
        self.things[self.value(tensor)] = wrap(self._fresh[id(tensor._data)])

    def wrote(self, tensor: Variable, values: Any) -> None:
        """Refuse a write to a tensor from outside."""
        known, _ = self._identity.find(tensor)
        if known is None or (known.step is None and id(known.array) not in self._fresh):
            raise CannotMap(
                f"vmap: the function writes to a tensor from outside, at {user_line()}: "
                f"write to a copy, x.clone(), and return it"
            )
        super().wrote(tensor, values)

    def left(self, tensor: Variable, door: str) -> None:
        """Refuse that Python reads what differs from sample to sample."""
        checks = any(only_reads(each.function) for each in self._effects)
        if not checks and self.differs(self.value(tensor)):
            part_of = state.get().within
            if isinstance(part_of, Node):
                raise CannotMap(
                    f"vmap: the derivative of {part_of.plan.op.name} decides by values that differ "
                    f"from sample to sample; write a loop over the samples, "
                    f"minigrad.stack([f(x) for x in xs])"
                )
            raise CannotMap(
                f"vmap: {door} reads what differs from sample to sample, at {user_line()}: "
                f"the function runs once, for all samples; choose with minigrad.where"
            )

    def _from_outside(self, thing: Any) -> Value:
        value = super()._from_outside(thing)
        edge = history(thing) if isinstance(thing, Variable) else None
        made_within = isinstance(edge, Leaf) and edge.stamp > self._born
        self.things[value] = wrap(thing._data) if made_within else thing
        return value


class _Run:
    """One call of a mapped function: a run of one sample, and then of all."""

    def __init__(self, randomness: Randomness) -> None:
        self._trace, self._randomness = _Sample(), randomness
        self._size = -1
        self._known: dict[Value, Any] = {}
        self._unplaced: list[Value] = []  # known, and not yet in the next table
        self._by_place: dict[Place, Value] = {}

    # One sample

    def given(self, value: Any, axes: Any, path: str) -> Any:
        """An argument for the first sample."""
        leaves = [self._first(*leaf) for leaf in spread(value, axes, path)]
        return rebuilt(value, iter(leaves))

    def _first(self, path: str, leaf: Any, axis: int | None) -> Any:
        if axis is None:
            return leaf
        tensor: Any = leaf
        if not isinstance(leaf, Variable):
            tensor = wrap(to_array(leaf, name=f"vmap: {path}"))
        shape = tensor._data.shape
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"vmap: dim {axis} of {path}, which has shape {tuple(shape)}")
        if self._size not in (-1, shape[axis]):
            raise ValueError(
                f"vmap: {path} has {shape[axis]} samples along dim {axis}, others {self._size}"
            )
        self._size = shape[axis]
        tensor = ops.moveaxis(tensor, axis, 0) if axis % len(shape) else tensor
        array = tensor._data[0] if self._size else np.zeros(tensor._data.shape[1:])
        sample = wrap(read_only(np.array(array, tensor._data.dtype)))
        if history(tensor) is not None:
            sample._node = Leaf(sample)
        self._trace.mapped[self._trace.value(sample)] = Mapped(tensor)
        return sample

    def of_one(
        self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """Run the function on the first sample: its result, and the values in it."""
        if self._size == -1:
            raise ValueError("vmap: no argument is mapped: in_dims must name a dim")
        outer = state.get()
        frame = FunctionCall("vmap", next(clock), outer.frame, self._size)
        try:
            state.set(outer._replace(observers=(self._trace,), sampled=True, frame=frame))
            result = function(*args, **kwargs)
        finally:
            state.set(outer)
        return result, [self._result(*leaf) for leaf in flatten(result, "the result")]

    def _result(self, path: str, leaf: Any) -> Any:
        if isinstance(leaf, (Variable, np.ndarray)):
            return self._trace.value(leaf)
        if isinstance(leaf, (bool, int, float, np.generic)):
            return leaf
        raise TypeError(f"vmap: {path} must be a tensor, got {type(leaf).__name__}")

    # All samples

    def of_all(self, result: Any, values: list[Any], out_dims: Any) -> Any:
        """Run the steps for all samples: the result in the structure of that of one sample."""
        self._known |= self._trace.things | self._trace.mapped
        every = self._trace.steps
        composed = {s.inside for s in every}
        wholes = {
            s for s in every if s.phase == "backward" or (s.phase == "forward" and s in composed)
        }
        steps = _needed(every, wholes, values)
        ends = _last_uses(steps, values)
        outer = state.get()
        try:
            with np.errstate(all="ignore"):  # as in a backward pass, which may be among the steps
                for step in steps:
                    if step.phase == "effect":
                        self._effect(step)
                    elif step in wholes:
                        self._whole(step)
                    elif step.phase != "left":
                        self._run(step, outer)
                    for value in ends[step]:
                        self._known.pop(value, None)
        finally:
            state.set(outer)
        found = [self._found(value) if isinstance(value, Value) else value for value in values]
        places = [axis for _, _, axis in spread(result, out_dims, "the result")]
        return rebuilt(result, map(self._placed, found, places))

    def _placed(self, value: Any, axis: int | None) -> Any:
        if axis is None:
            if isinstance(value, Mapped):
                raise ValueError("vmap: out_dims is None for a result that differs between samples")
            return value
        every = whole(value, self._size)
        return ops.moveaxis(every, 0, axis) if axis else every

    def _found(self, value: Value) -> Any:
        """The counterpart of a value in the run of all samples."""
        if value not in self._known:
            step = value.step
            raise CannotMap(
                f"vmap: {step.what if step else 'a value'} keeps a result that its batching rule "
                f"does not give"
            )
        return self._known[value]

    def _filled(self, thing: Any) -> Any:
        """An argument of a step, with the counterparts of its values."""
        return tree.mapped(self._found, thing, Value)

    def _run(self, step: Step, outer: State) -> None:
        """An op, or a write, which is an op that makes a new value.

        For drawings, values that are the same for all samples are outside of the call.
        """
        out = step.outputs[0]
        assert out is not None
        if step.op is None:
            self._know(step, [self._copy(self._filled(step.arguments["values"]), out)])
            return
        op = step.op
        given = step.arguments
        values = [self._filled(given.get(name, default))
                  for name, default in zip(op.params, op.defaults, strict=True)]  # fmt: skip
        batch = Batch(op, self._size, out.shape, self._randomness == "same")
        mapped = next(tree.leaves(values, Mapped), None) is not None
        frame = step.frame if mapped else outer.frame
        if state.get().frame is not frame:
            state.set(outer._replace(frame=frame))
        if not mapped and not (op.random_keys and not batch.same):
            found = batch.run(*values[: op.arrays], *map(_static, values[op.arrays :]))
        elif op not in RULES and op.decomposition is not None:
            axes = [0 if isinstance(value, Mapped) else None for value in values]
            plain = [value.tensor if isinstance(value, Mapped) else value for value in values]
            inner = vmap(lambda *given: op.call_with(op.decomposition, given), axes, 0,
                         self._randomness)  # fmt: skip
            found, mapped = inner(*plain), True
        else:
            if op not in INDEXED and not op.variadic:
                values[op.arrays :] = map(_static, values[op.arrays :])
            found, mapped = rule_of(op)(batch, *values), True
        several = isinstance(found, (tuple, list))
        results = list(found) if several else [found]
        self._know(step, [Mapped(one) if mapped else one for one in results])

    def _copy(self, values: Any, out: Value) -> Any:
        if not isinstance(values, Mapped):
            return ops.broadcast_to(ops.astype(values, out.dtype), out.shape)
        converted = Mapped(ops.astype(values.tensor, out.dtype))
        return Mapped(broadcast(Batch(registry["broadcast_to"], self._size, out.shape), converted))

    def _know(self, step: Step, results: list[Any]) -> None:
        for value, one in zip(step.outputs, results, strict=False):
            if value is not None:
                self._known[value] = one
                self._unplaced.append(value)

    def _whole(self, step: Step) -> None:
        """A step that is composed of others, or the rules of a node: they have made its results."""
        for value in step.outputs:
            if value is None or value in self._known or not isinstance(value.array, np.ndarray):
                continue
            place = Place.of_array(value.array)
            one = self._at_place(place)
            one = one if one is not None else self._of_reads(step, value)
            if one is None:
                if self._trace.differs(value):
                    raise CannotMap(
                        f"vmap: {step.what}: what its function or its rule computes is not made "
                        f"of minigrad's ops"
                    )
                one = wrap(value.array)
            self._known[value] = one
            self._by_place[place] = value

    def _at_place(self, place: Place) -> Any:
        """The counterpart of the value at a place in memory; None if nothing is known of it."""
        for value in self._unplaced:
            if isinstance(value.array, np.ndarray):
                self._by_place[Place.of_array(value.array)] = value
        self._unplaced.clear()
        known = self._by_place.get(place)
        return None if known is None else self._known.get(known)

    def _of_reads(self, step: Step, value: Value) -> Any:
        return next((self._known[one] for one in step.reads if one.array is value.array), None)

    def _effect(self, step: Step) -> None:
        """A random number, or something that a mapped function may not do."""
        if step.inside is not None and step.inside.phase == "effect":
            return  # a part of one that is done below
        name = getattr(step.function, "__name__", "a function")
        if any(isinstance(self._known.get(value), Mapped) for value in step.reads):
            if step.function is undecorated(call_hook):
                return
            if only_reads(step.function):  # it checks values
                for i in range(self._size):
                    self._call(step, i)
                return
            raise CannotMap(
                f"vmap: {name} changes what lives longer than the call, and differs from sample "
                f"to sample: return the values, as autograd.grad does"
            )
        if step.function not in DRAWS:
            return  # what it does is the same for all samples
        if self._randomness == "error":
            raise CannotMap(
                f"vmap: the function calls {name}; say with randomness= whether random numbers "
                f'are "different" for each sample or the "same"'
            )
        if not step.outputs:
            if self._randomness == "different":
                raise CannotMap(
                    f"vmap: random numbers of {name} cannot be different for each sample: draw "
                    f"them before, and map over them"
                )
            return
        first = step.outputs[0]
        assert first is not None
        if self._randomness == "same" or not isinstance(first.array, np.ndarray):
            self._know(step, [self._call(step, 0)])
            return
        self._know(step, [Mapped(ops.stack([self._call(step, i) for i in range(self._size)]))])

    def _call(self, step: Step, sample: int) -> Any:
        """Call the function of an effect for one sample."""
        function: Any = step.function
        given = {key: _of_sample(self._filled(x), sample) for key, x in step.arguments.items()}
        return effect(function)(*given.pop("args"), **given)


def _needed(steps: list[Step], wholes: set[Step], results: list[Any]) -> list[Step]:
    """The steps that results depend on, all that they are composed of, and effects."""
    needed: set[Any] = {one for one in results if isinstance(one, Value)}  # values and steps
    for step in reversed(steps):
        acts = step.phase == "effect" or (step.op is not None and step.op.side_effects)
        if acts or step.inside in needed or not needed.isdisjoint(step.outputs):
            arrays = [value.array for value in step.outputs if value is not None]
            needed.add(step)
            needed |= {
                value for value in step.reads
                if step not in wholes or any(value.array is array for array in arrays)
            }  # fmt: skip
    return [step for step in steps if step in needed]


def _last_uses(steps: list[Step], results: list[Any]) -> dict[Step, list[Value]]:
    """For each step the values that nothing reads after it.

    A value made within a composed step may be the result of the step, so it is kept so long.
    """
    number = {step: i for i, step in enumerate(steps)}
    last = {value: step for step in steps for value in step.reads}
    for step in steps:
        whole = step
        while whole.inside in number:
            whole = whole.inside
        for value in step.outputs:
            if value is not None:
                last[value] = max(last.get(value, step), step, whole, key=number.__getitem__)
    ends: dict[Step, list[Value]] = {step: [] for step in steps}
    for value in last.keys() - {one for one in results if isinstance(one, Value)}:
        ends[last[value]].append(value)
    return ends


def _of_sample(thing: Any, sample: int) -> Any:
    """An argument for one sample."""
    return tree.mapped(lambda one: wrap(one.tensor._data[sample]), thing, Mapped)


def _static(thing: Any) -> Any:
    """A static argument, with arrays in the place of tensors."""

    def value(tensor: Any) -> Any:
        array = tensor._data if tensor._data.dtype.kind == "f" else normalized(tensor)
        return array if array.ndim else array.item()

    return tree.mapped(value, thing, Variable)
