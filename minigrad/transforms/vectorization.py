"""`vmap`: a function of one sample, run for many samples at once.

The function runs once, on the first sample, under a trace. Its steps then run again on all samples,
each by the batching rule of its op. Gradients that the function takes are recorded as ops, so they
are steps like the others, and the result is an ordinary graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from minigrad import ops
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.engine import call_hook
from minigrad.autograd.events import Call, effect, only_reads, undecorated
from minigrad.autograd.mode import changed, state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, clock
from minigrad.autograd.primitives import registry
from minigrad.autograd.scope import LOOP, Frame, FunctionCall
from minigrad.autograd.views import read_only
from minigrad.support import tree
from minigrad.support.checks import check_choice, check_function, check_size
from minigrad.support.random_state import DRAWS
from minigrad.tracing import Step, Trace, Value
from minigrad.tracing.lines import user_line
from minigrad.transforms.batching import (
    INDEXED,
    RULES,
    Batch,
    CannotMap,
    Samples,
    broadcast,
    of_sample,
    one_by_one,
    static,
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
        CannotMap: Python reads what differs from sample to sample, a result has another shape for
            each, or a random number is drawn. It is a NotImplementedError.
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
    check_function("vmap", func)
    check_randomness("vmap", randomness)
    if chunk_size is not None:
        check_size("vmap", "chunk_size", chunk_size)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: in_dims has {len(dims)} entries for {len(args)} arguments")
        named = spread(kwargs, dict.fromkeys(kwargs, 0), "kwargs")
        leaves = [_argument(*leaf) for leaf in (*spread(args, dims, "args"), *named)]
        size = _common_size(leaves)
        step = chunk_size or max(size, 1)
        results = []
        for start in range(0, max(size, 1), step):
            run = _MappedCall(min(step, size - start), randomness)
            given = [run.given(_window(leaf, start, start + step)) for _, leaf in leaves]
            every = rebuilt((args, kwargs), iter(given))
            results.append(run.of_all(*run.of_one(func, *every), out_dims))
        like, found = results[0]
        if len(results) > 1:
            axes = [axis for _, _, axis in spread(like, out_dims, "the result")]
            found = [
                parts[0] if axis is None else ops.concatenate(parts, axis)
                for axis, *parts in zip(axes, *[part for _, part in results], strict=True)
            ]
        return rebuilt(like, iter(found))

    return call


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:  # noqa: ARG001
    """Return the function itself: a transform lets it write to what it has made.

    Args:
        func: A function.
        remove: PyTorch's: "mutations" or "mutations_and_views".

    Example:
        >>> import minigrad
        >>> minigrad.func.functionalize(minigrad.sin) is minigrad.sin
        True
    """
    return func


def check_randomness(name: str, randomness: str) -> None:
    """Raise a ValueError unless it says what random numbers are."""
    check_choice(name, "randomness", randomness, get_args(Randomness))


def _argument(path: str, leaf: Any, axis: int | None) -> tuple[str, Any]:
    """A leaf of an argument with its place: as it is, or samples."""
    if axis is None:
        return path, leaf
    tensor: Any = leaf
    if not isinstance(leaf, Variable):
        tensor = wrap(to_array(leaf, name=f"vmap: {path}"))
    rank = tensor._data.ndim
    if not -rank <= axis < rank:
        raise ValueError(f"vmap: dim {axis} of {path}, which has shape {tensor._data.shape}")
    return path, Samples(ops.moveaxis(tensor, axis, 0) if axis % rank else tensor)


def _common_size(leaves: list[tuple[str, Any]]) -> int:
    """The number of samples."""
    sizes = {path: len(x.tensor._data) for path, x in leaves if isinstance(x, Samples)}
    if not sizes:
        raise ValueError("vmap: no argument is mapped: in_dims must name a dim")
    first = next(iter(sizes))
    for path, size in sizes.items():
        if size != sizes[first]:
            raise ValueError(f"vmap: {path} has {size} samples, {first} has {sizes[first]}")
    return sizes[first]


def _window(leaf: Any, start: int, stop: int) -> Any:
    """Some of the samples; a sample of zeros where there are none at all."""
    if not isinstance(leaf, Samples):
        return leaf
    x = leaf.tensor
    if not len(x._data):
        return Samples(ops.astype(ops.sum(x, 0, True), x._data.dtype))
    return leaf if start == 0 and stop >= len(x._data) else Samples(x[start:stop])


class _MappedCall(Trace):
    """One call of a mapped function: a run of one sample, which is traced, and then of all.

    The trace refuses what could not be done for all samples.
    """

    def __init__(self, size: int, randomness: Randomness) -> None:
        super().__init__()
        self._size, self._empty, self._randomness = max(size, 1), not size, randomness
        self._around, self._born = state.get().frame, next(clock)
        self._every: dict[Value, Any] = {}
        """What is known for all samples, by the value of one: first what was there before."""
        self._varying: set[Value] = set()
        """The values that differ from sample to sample: they were computed from an argument."""
        self._fresh: dict[int, np.ndarray] = {}  # the first content of arrays made within, by id
        self._wholes: set[Step] = set()  # what is composed of other steps

    # One sample

    def given(self, leaf: Any) -> Any:
        """A leaf of the arguments, for the first sample."""
        if not isinstance(leaf, Samples):
            return leaf
        sample = wrap(read_only(np.array(leaf.tensor._data[0])))
        if history(leaf.tensor) is not None:
            sample._node = Leaf(sample)
        value = self.value(sample)
        self._every[value] = leaf
        self._varying.add(value)
        return sample

    def of_one(
        self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """Run the function on the first sample: its result, and the values in it."""
        frame = FunctionCall("vmap", next(clock), self._around, self._size)
        with changed(observers=(self,), sampled=True, frame=frame):
            result = function(*args, **kwargs)
        return result, [self._result(*leaf) for leaf in flatten(result, "the result")]

    def _result(self, path: str, leaf: Any) -> Any:
        if isinstance(leaf, (Variable, np.ndarray)):
            return self.value(leaf)
        if isinstance(leaf, (bool, int, float, np.generic)):
            return leaf
        raise TypeError(f"vmap: {path} must be a tensor, got {type(leaf).__name__}")

    def ran(self, call: Call) -> None:
        """Refuse a static argument that differs from sample to sample, but for an index."""
        super().ran(call)
        op, given = call.op, self.steps[-1].arguments
        for name in op.params[1 if op.variadic else op.arrays :]:
            thing = given.get(name)
            if op in INDEXED or not isinstance(thing, (Value, tuple, list, slice)):
                continue
            if not self._varying.isdisjoint(tree.leaves(thing, Value)):
                raise CannotMap(
                    f"vmap: {op.name}: {name} must be the same for all samples, at {user_line()}"
                )

    def created(self, tensor: Variable) -> None:
        """Keep what a tensor holds that was made in the function: it may be written to."""
        self._fresh[id(tensor._data)] = tensor._data.copy()
        self._every[self.value(tensor)] = wrap(self._fresh[id(tensor._data)])

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
        if not checks and self.value(tensor) in self._varying:
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
        self._every[value] = wrap(thing._data) if made_within else thing
        return value

    def _output(self, step: Step | None, shape: tuple[int, ...], dtype: Any) -> Value:
        value = super()._output(step, shape, dtype)
        if step is not None and not self._varying.isdisjoint(step.reads):
            self._varying.add(value)
        return value

    # All samples

    def of_all(self, result: Any, values: list[Any], out_dims: Any) -> tuple[Any, list[Any]]:
        """Run the steps for all samples: the result of one sample, and the values in its place."""
        composed = {step.inside for step in self.steps}
        self._wholes = {
            step for step in self.steps
            if step.phase == "backward" or (step.phase == "forward" and step in composed)
        }  # fmt: skip
        with changed(), np.errstate(all="ignore"):  # as in a backward pass: it may be in a step
            for step, ends in _needed(self.steps, self._wholes, values):
                if step.phase == "effect":
                    self._effect(step)
                elif step in self._wholes:
                    self._whole(step)
                elif step.phase != "left":
                    self._run(step)
                for value in ends:
                    self._every.pop(value, None)
        found = [self._found(value) if isinstance(value, Value) else value for value in values]
        places = [axis for _, _, axis in spread(result, out_dims, "the result")]
        return result, [*map(self._placed, found, places)]

    def _placed(self, value: Any, axis: int | None) -> Any:
        if axis is None:
            if isinstance(value, Samples):
                raise ValueError("vmap: out_dims is None for a result that differs between samples")
            return value
        every = whole(value, self._size)
        every = every[:0] if self._empty else every
        return ops.moveaxis(every, 0, axis) if axis else every

    def _found(self, value: Value) -> Any:
        """The counterpart of a value in the run of all samples."""
        if value not in self._every:
            step = value.step
            raise CannotMap(
                f"vmap: {step.what if step else 'a value'} keeps a result that its batching rule "
                f"does not give"
            )
        return self._every[value]

    def _run(self, step: Step) -> None:
        """An op, or a write, which is an op that makes a new value.

        For drawings, values that are the same for all samples are outside of the call.
        """
        out = step.outputs[0]
        assert out is not None
        if step.op is None:
            values = tree.mapped(self._found, step.arguments["values"], Value)
            self._store(step, [self._copy(values, out)])
            return
        op = step.op
        values = [tree.mapped(self._found, step.arguments.get(name, default), Value)
                  for name, default in zip(op.params, op.defaults, strict=True)]  # fmt: skip
        values = [*values[: op.arrays], *map(static, values[op.arrays :])]
        batch = Batch(op, self._size, step.outputs, self._randomness == "same")
        mapped = next(tree.leaves(values, Samples), None) is not None
        self._enter(step.frame if mapped else self._around)
        if mapped or (op.random_keys and not batch.same):
            found, mapped = self._of_samples(batch, values), True
        else:
            found = batch.run(*values)
        results = found if isinstance(found, (tuple, list)) else [found]
        self._store(step, [Samples(one) if mapped else one for one in results])

    def _of_samples(self, batch: Batch, values: list[Any]) -> Any:
        """The results of an op: by its rule, by its decomposition, or by a loop."""
        op = batch.op
        found = RULES[op](batch, *values) if op in RULES else NotImplemented
        if found is not NotImplemented:
            return found
        if op.decomposition is not None:
            axes = [0 if isinstance(value, Samples) else None for value in values]
            given = [value.tensor if isinstance(value, Samples) else value for value in values]
            given = [wrap(value) if isinstance(value, np.ndarray) else value for value in given]
            composed = functools.partial(op.call_with, op.decomposition)
            return vmap(lambda *one: composed(one), axes, 0, self._randomness)(*given)
        self._enter(FunctionCall(LOOP, next(clock), self._around))
        return one_by_one(batch, *values)

    def _enter(self, frame: Frame | None) -> None:
        now = state.get()
        if now.frame is not frame:
            state.set(now._replace(frame=frame))

    def _copy(self, values: Any, out: Value) -> Any:
        if not isinstance(values, Samples):
            return ops.broadcast_to(ops.astype(values, out.dtype), out.shape)
        converted = Samples(ops.astype(values.tensor, out.dtype))
        return Samples(broadcast(Batch(registry["broadcast_to"], self._size, [out]), converted))

    def _store(self, step: Step, results: list[Any]) -> None:
        for value, one in zip(step.outputs, results, strict=False):
            if value is not None:
                self._every[value] = one

    def _whole(self, step: Step) -> None:
        """A step that is composed of others, or the rules of a node: they have made its results."""
        for value in step.outputs:
            if value is None or value in self._every or not isinstance(value.array, np.ndarray):
                continue
            same = [one for one in step.reads if one.array is value.array]
            same = [one for one in (self.origin(value), *same) if one in self._every]
            if same:
                self._every[value] = self._every[same[0]]
            elif value in self._varying:
                raise CannotMap(
                    f"vmap: {step.what}: what its function or its rule computes is not made of "
                    f"minigrad's ops"
                )
            else:
                self._every[value] = wrap(value.array)

    def _effect(self, step: Step) -> None:
        """A random number, or something that a mapped function may not do."""
        if step.inside is not None and step.inside.phase == "effect":
            return  # a part of one that is done below
        name = getattr(step.function, "__name__", "a function")
        if any(isinstance(self._every.get(value), Samples) for value in step.reads):
            if step.function is undecorated(call_hook):
                return
            if only_reads(step.function):  # it checks values
                self._called(step, self._size)
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
            self._store(step, self._called(step, 1))
        else:
            self._store(step, [Samples(ops.stack(self._called(step, self._size)))])

    def _called(self, step: Step, samples: int) -> list[Any]:
        """Call the function of an effect for the first samples."""
        function: Any = effect(step.function)  # type: ignore[arg-type]
        given = tree.mapped(self._found, step.arguments, Value)
        every = [of_sample(given, i) for i in range(samples)]
        return [function(*named.pop("args"), **named) for named in every]


def _needed(
    steps: list[Step], wholes: set[Step], results: list[Any]
) -> list[tuple[Step, list[Value]]]:
    """The steps that results depend on, and effects; each with the values that end there.

    With a step come those that it is composed of. A value that was made in one of these may be the
    result of the step, so it is kept as long.
    """
    kept = {one for one in results if isinstance(one, Value)}
    needed: set[Any] = {*kept}  # values and steps
    ends: dict[Step, list[Value]] = {}
    for step in reversed(steps):
        acts = step.phase == "effect" or (step.op is not None and step.op.side_effects)
        outputs = [value for value in step.outputs if value is not None]
        if not (acts or step.inside in needed or not needed.isdisjoint(outputs)):
            continue
        reads, ends[step] = step.reads, []
        for value in (*reads, *outputs):
            if value not in kept:
                kept.add(value)
                whole = value.step
                while whole is not None and whole.inside in ends:
                    whole = whole.inside
                ends[whole if whole in ends else step].append(value)
        if step in wholes:
            reads = [one for one in reads if any(one.array is each.array for each in outputs)]
        needed.update((step, *reads))
    return [*reversed(ends.items())]
