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
from minigrad.autograd.engine import alias, call_hook, watched
from minigrad.autograd.events import effect, only_reads, undecorated
from minigrad.autograd.hooks import add_hook
from minigrad.autograd.mode import changed, located, state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Variable, clock
from minigrad.autograd.primitives import registry
from minigrad.autograd.scope import LOOP, Frame, FunctionCall
from minigrad.random import drawing_from, repeated
from minigrad.support import tree
from minigrad.support.checks import check_choice, check_function, check_size
from minigrad.support.random_state import DRAWS
from minigrad.tracing import Step, Value
from minigrad.transforms import batching
from minigrad.transforms.batching import Batch, CannotMap, Keys, Samples, looped, of_sample, whole
from minigrad.transforms.custom_function import Application
from minigrad.transforms.evaluation import has_history
from minigrad.transforms.sample_trace import SampleTrace
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
            Keyword arguments are the same for all.
        out_dims: Where that dim goes in the result, or in each part of it.
        randomness: What a random number in the function is: an "error", "different" for each
            sample, or the "same" for all.
        chunk_size: At most so many samples at once, one part of them after the other; None for all.

    Returns:
        A function of the same arguments, with one more dim.

    Raises:
        CannotMap: Python reads what differs from sample to sample, a result has another shape for
            each, a random number is drawn and `randomness` is "error", or a tensor from outside is
            written, frozen, thawed or given a hook. It is a NotImplementedError.
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
        leaves = [_argument(*leaf) for leaf in spread(args, dims, "args")]
        size = _common_size(leaves)
        step = chunk_size or max(size, 1)
        starts = range(0, max(size, 1), step)
        again = repeated() if randomness == "same" and len(starts) > 1 else None
        results, runs = [], []
        for start in starts:
            run = _MappedCall(min(step, size - start), randomness)
            runs.append(run)
            given = [run.given(_window(leaf, start, start + step)) for _, leaf in leaves]
            every = rebuilt(args, iter(given))
            last = start == starts[-1]
            with drawing_from(None if again is None or last else repeated(again)):
                results.append(run.of_all(*run.of_one(func, every, kwargs), out_dims))
        like, found = results[0]
        if len(results) > 1:
            axes = [axis for _, _, axis in spread(like, out_dims, "the result")]
            found = [
                parts[0] if axis is None else ops.concatenate(parts, axis)
                for axis, *parts in zip(axes, *[part for _, part in results], strict=True)
            ]
        answer = rebuilt(like, iter(found))
        for run in runs:
            run.retire()
        return answer

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
        raise ValueError(f"vmap: {path} of shape {tensor._data.shape} has no dim {axis}")
    return path, Samples(ops.moveaxis(tensor, axis, 0) if axis % rank else tensor)


def _common_size(leaves: list[tuple[str, Any]]) -> int:
    """The number of samples."""
    sizes = {path: len(x.tensor._data) for path, x in leaves if isinstance(x, Samples)}
    if not sizes:
        raise ValueError("vmap: no argument is mapped: in_dims must name a dim")
    (first, size), *others = sizes.items()
    for path, other in others:
        if other != size:
            raise ValueError(f"vmap: {path} must have {size} samples, as {first}, got {other}")
    return size


def _window(leaf: Any, start: int, stop: int) -> Any:
    """Some of the samples; a sample of zeros where there are none at all."""
    if not isinstance(leaf, Samples):
        return leaf
    x = leaf.tensor
    if not len(x._data):
        return Samples(ops.astype(ops.sum(x, 0, True), x._data.dtype))
    return leaf if start == 0 and stop >= len(x._data) else Samples(x[start:stop])


class _MappedCall(SampleTrace):
    """One call of a mapped function: a run of one sample, which is traced, and then of all."""

    def __init__(self, size: int, randomness: Randomness) -> None:
        super().__init__(randomness == "different")
        self._size, self._empty, self._randomness = max(size, 1), not size, randomness
        now = state.get()
        self._around, self._recording = now.frame, now.recording
        self._wholes: set[Step] = set()  # what is composed of other steps

    # One sample

    def of_one(
        self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """Run the function on the first sample: its result, and the values in it.

        Random numbers are drawn again for all samples, so this run draws from a copy.
        """
        frame = FunctionCall("vmap", next(clock), self._around, self._size)
        with changed(observers=()):
            own = None if self._randomness == "error" else repeated()
        with drawing_from(own), changed(observers=(self,), sampled=True, frame=frame):
            result = function(*args, **kwargs)
        self.rewind()
        self.refuse_lost_changes()
        return result, [self._result(*leaf) for leaf in flatten(result, "the result")]

    def _result(self, path: str, leaf: Any) -> Any:
        if isinstance(leaf, (Variable, np.ndarray)):
            return self.value(leaf)
        if isinstance(leaf, (bool, int, float, np.generic)):
            return leaf
        raise TypeError(f"vmap: {path} must be a tensor, got {type(leaf).__name__}")

    # All samples

    def of_all(self, result: Any, values: list[Any], out_dims: Any) -> tuple[Any, list[Any]]:
        """Run the steps for all samples: the result of one sample, and the values in its place."""
        self._wholes = self.composed | {step for step in self.steps if step.phase == "backward"}
        for value, sample in self.samples:
            hooks = sample._node.hooks if isinstance(sample._node, Leaf) else {}
            if hooks:
                self.every[value] = self._hooked(Samples(alias(self.every[value].tensor)), hooks)
        with changed(), np.errstate(all="ignore"):  # as in a backward pass: it may be in a step
            for step, ends in _needed(self.steps, self._wholes, values):
                if step.phase == "effect":
                    self._effect(step)
                elif step in self._wholes:
                    self._whole(step)
                elif step.phase != "left":
                    self._run(step)
                for value in ends:
                    self.every.pop(value, None)
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
        if value not in self.every:
            what = value.step.what if value.step else "a value"
            raise CannotMap(f"vmap: {what} keeps a result that its batching rule does not give")
        return self.every[value]

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
        values = [*values[: op.arrays], *map(batching.static, values[op.arrays :])]
        batch = Batch(op, self._size, step.outputs)
        mapped = next(tree.leaves(values, Samples), None) is not None
        self._enter(step.frame if mapped else self._around, step.grad_mode)
        found = self._of_samples(batch, values) if mapped else batch.run(*values)
        results = found if isinstance(found, (tuple, list)) else [found]
        self._store(step, [Samples(one) if mapped else one for one in results])

    def _of_samples(self, batch: Batch, values: list[Any]) -> Any:
        """The results of an op: by its rule, by its decomposition, or by a loop."""
        op = batch.op
        found = batching.RULES[op](batch, *values) if op in batching.RULES else NotImplemented
        if found is not NotImplemented:
            return found
        if op.decomposition is not None and next(tree.leaves(values, Keys), None) is None:
            axes = [0 if isinstance(value, Samples) else None for value in values]
            given = [value.tensor if isinstance(value, Samples) else value for value in values]
            given = [wrap(value) if isinstance(value, np.ndarray) else value for value in given]
            composed = functools.partial(op.call_with, op.decomposition)
            return vmap(lambda *one: composed(one), axes, 0, self._randomness)(*given)
        self._enter_loop()
        return batching.one_by_one(batch, *values)

    def _enter(self, frame: Frame | None, recording: bool) -> None:
        """Go on in a call, and record if the step was recorded and the caller records."""
        now, recording = state.get(), recording and self._recording
        if now.frame is not frame or now.recording is not recording:
            state.set(now._replace(frame=frame, recording=recording))

    def _enter_loop(self) -> None:
        """Go on in a loop over the samples, which a profile names."""
        now = state.get()
        state.set(now._replace(frame=FunctionCall(LOOP, next(clock), now.frame)))

    def _copy(self, values: Any, out: Value) -> Any:
        if not isinstance(values, Samples):
            return ops.broadcast_to(ops.astype(values, out.dtype), out.shape)
        op = registry["broadcast_to"]  # such as nn.init.constant_(x, v[0])
        converted = Samples(ops.astype(values.tensor, out.dtype))
        return Samples(batching.broadcast(Batch(op, self._size, [out]), converted))

    def _store(self, step: Step, results: list[Any]) -> None:
        node = step.node
        if node is not None and node in watched:  # with hooks, perhaps
            for number, watch in node.watches.items():
                results[number] = self._hooked(results[number], watch.hooks)
        for value, one in zip(step.outputs, results, strict=False):
            if value is not None:
                self.every[value] = one

    def _hooked(self, result: Any, hooks: dict[int, Any]) -> Any:
        """A result whose gradients hooks see, one sample after the other."""
        if not hooks or not state.get().recording:
            return result
        tensor = whole(result, self._size)
        if history(tensor) is None:
            return result

        def each(hook: Callable[[Any], Any], gradient: Any) -> Any:
            parts = [gradient[i] for i in range(self._size)]
            found = [hook(part) for part in parts]
            return ops.stack([p if f is None else f for p, f in zip(parts, found, strict=True)])

        for hook in hooks.values():
            add_hook(history(tensor), functools.partial(each, hook))
        return Samples(tensor)

    def _whole(self, step: Step) -> None:
        """A step that is composed of others, or the rules of a node: they have made its results."""
        self._enter(step.frame, step.grad_mode)
        call = step.arguments.get("call")
        if isinstance(call, Application) and state.get().recording:
            every = [x for x in step.arguments.values() if x is not call]
            given = tree.mapped(self._found, every, Value)
            if has_history(x.tensor if isinstance(x, Samples) else x for x in given):
                self._store(step, self._applied(step, call, given))
                return
        for value in step.outputs:
            if value is None or value in self.every or not isinstance(value.array, np.ndarray):
                continue
            same = [one for one in step.reads if one.array is value.array]
            same = [one for one in (self.origin(value), *same) if one in self.every]
            if same:
                self.every[value] = self.every[same[0]]
            elif value in self.varying:
                raise CannotMap(f"vmap: {step.what} computes by something else than minigrad's ops")
            else:
                self.every[value] = wrap(value.array)
        if step.phase == "forward":
            self._store(step, [value and self.every.get(value) for value in step.outputs])

    def _applied(self, step: Step, call: Application, given: list[Any]) -> list[Samples]:
        """The results of a `Function`, whose rule is its own: called for each sample."""

        def applied(i: int) -> tuple[Any, ...]:
            args = dict(enumerate(call.args))
            args |= zip(call.places, [of_sample(x, i) for x in given], strict=True)
            found = call.function.apply(*args.values())
            return found if isinstance(found, tuple) else (found,)

        self._enter_loop()
        *outputs, _context = step.outputs
        return [*map(Samples, looped(step.what, outputs, self._size, applied))]

    def _effect(self, step: Step) -> None:
        """A random number, or something that a mapped function may not do."""
        if step.inside is not None and step.inside.phase == "effect":
            return  # a part of one that is done below
        if step.function in DRAWS:
            self._draw(step)
            return
        name = getattr(step.function, "__name__", "a function")
        if any(isinstance(self.every.get(value), Samples) for value in step.reads):
            if step.function is undecorated(call_hook) or self.adds_within(step):
                return
            if only_reads(step.function):  # it checks values
                self._called(step, self._size)
                return
            what = f"{name} changes what lives longer than the call, at {step.line}"
            raise CannotMap(f"vmap: {what}: return the values, as autograd.grad does")

    def _draw(self, step: Step) -> None:
        """Draw random numbers, or keys: for each sample, or the same for all."""
        kind, different = DRAWS[step.function], self._randomness == "different"
        if kind == "copy":  # a checkpoint runs again
            self._store(step, self._called(step, 1))
            return
        if self._randomness == "error":
            message = f"vmap: random numbers are drawn, at {step.line}: say whether they are the "
            message += '"same" or "different": vmap(f, randomness="different")'
            raise CannotMap(located(message, step.scope))
        if kind == "generator":
            what = f"the function takes the generator itself, at {step.line}"
            raise CannotMap(f"vmap: {what}: use minigrad.rand, randn ..., or draw before the call")
        differs = any(isinstance(self.every.get(value), Samples) for value in step.reads)
        with drawing_from(None if step.stream is None else self._found(step.stream)):
            if not different and not differs:
                self._store(step, self._called(step, 1))
                return
            drawn = self._called(step, self._size, again=not different)
        self._store(step, [Keys(drawn) if kind == "key" else Samples(ops.stack(drawn))])

    def _called(self, step: Step, samples: int, again: bool = False) -> list[Any]:
        """Call the function of an effect for the first samples; `again` with the same numbers."""
        function: Any = effect(step.function)  # type: ignore[arg-type]
        given, found = tree.mapped(self._found, step.arguments, Value), []
        for i in range(samples):
            named = of_sample(given, i)
            own = None
            if again and i + 1 < samples:
                own = repeated(named.pop("generator", None))
            with drawing_from(own):
                found.append(function(*named.pop("args"), **named))
        return found


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
