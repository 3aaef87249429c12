"""The record of a run: the engine's events as steps and values."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.events import Call, Observer, Pull
from minigrad.autograd.mode import state
from minigrad.autograd.node import FREED, Node, Variable, clock, data_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.autograd.views import Place
from minigrad.support.random_state import DRAWS, repeating
from minigrad.support.tree import mapped
from minigrad.tracing.identity import Identity, Write
from minigrad.tracing.lines import user_line
from minigrad.tracing.steps import Phase, Step, Value


def replaces_data(tensor: Variable, values: Any) -> bool:
    """Whether a write was ``tensor.data = values``: the tensor has their memory from now on."""
    return isinstance(values, Variable) and values._data is tensor._data


class Trace(Observer):
    """Writes down what happens while it is entered.

    Args:
        keep: Whether values keep their arrays. Otherwise the trace keeps no array alive.
        lines: Whether to find the line of the user's program for each step, which costs time.

    Attributes:
        steps: The steps, in order. A step that is composed of others comes after them, an effect
            before what runs in it.
        values: The values, by number.
        outside: Those that were there before a step read them.
        composed: The ops that are composed of others.
        origins: For an output of a step that is composed of others the value that it passes on.

    Example:
        >>> from minigrad import ones
        >>> from minigrad.tracing import Trace
        >>> x, y = ones(2), ones(2)
        >>> with Trace() as trace:
        ...     z = x * y
        ...     z += x
        >>> trace.steps
        [%2 = multiply(a=%0, b=%1), %3 = add(a=%2, b=%0)]
    """

    def __init__(self, keep: bool = True, lines: bool = False) -> None:
        self.steps: list[Step] = []
        self.values: list[Value] = []
        self.outside: list[Value] = []
        self.composed: set[Step] = set()
        self.origins: dict[Value, Value] = {}
        self._identity = Identity()
        self._keep, self._lines = keep, lines
        self._effects: list[Step] = []  # that are running
        self._parts: dict[int, tuple[Any, list[Step]]] = {}  # of steps that have not ended, by id
        self._calls: weakref.WeakKeyDictionary[Node, Step] = weakref.WeakKeyDictionary()
        self._numbers: dict[int, tuple[Any, Value]] = {}  # that an effect returned, by id
        self._created: dict[int, weakref.ref[Variable]] = {}  # tensors that no op made, by id

    # The events --------------------------------------------------------------------------------

    def ran(self, call: Call) -> None:
        """Write down the call of an op."""
        wholes = (*call.residuals, *call.values) if self._parts else ()
        composed = any(id(whole) in self._parts for whole in wholes)
        known = [self._current(output._data) if composed else None for output in call.outputs]
        step = self._step("forward", call.op.name, self.arguments(call), op=call.op, node=call.node)
        if composed:
            self.composed.add(step)
        step.outputs += [self._made(step, output) for output in call.outputs]
        self._pass_on(step, known)
        for residual in call.residuals:
            step.outputs.append(None if residual is None else self._made(step, residual))
        if call.node is not None:
            self._calls[call.node] = step
        for whole in wholes:
            self._end(whole, step)

    def pulled(self, pull: Pull) -> None:
        """Write down the rules of a node, and the sums of what they send."""
        node, cotangent = pull.node, pull.cotangent
        op, plan = node.plan.op, node.plan
        g = tuple(map(self.value, cotangent)) if op.multiple_outputs else self.value(cotangent)
        step = self._step("backward", op.name, {"g": g, **self._saved(node)}, op=op, node=node)
        step.frame = node.frame
        inner = self._end(node, step)
        for contribution in pull.contributions:
            made = None if contribution is None else self._from(inner, contribution)
            if made is None and contribution is not None:
                known = self._current(contribution) if inner else None
                made = self._made(step, contribution)
                if known is not None:
                    self.origins[made] = known
            step.outputs.append(made)
        for name, value, before, total in zip(
            plan.slot_names, step.outputs, pull.before, pull.totals, strict=True
        ):
            if total is not None and self._from(inner, total) is None:
                sent = {"total": self.value(before), name: value}
                added = self._step("backward", "accumulate", sent, node=node)
                added.outputs.append(self._made(added, total))

    def wrote(self, tensor: Variable, values: Any) -> None:
        """Write down that a tensor holds other values."""
        if self._effects:
            value = self._new(self._effects[-1], tensor)
            self._effects[-1].outputs.append(value)
        elif values is tensor._data:  # the written values are not known
            value = self._new(None, tensor)
            self.outside.append(value)
        elif _alike(values, tensor):
            value = self.value(values)
        else:
            step = self._step("write", "copy", {"values": self._inside(values)})
            value = self._new(step, tensor)
            step.outputs.append(value)
        self._identity.write(tensor, value)

    def created(self, tensor: Variable) -> None:
        """Note a tensor that was made of numbers or of an array."""
        self._created[id(tensor)] = weakref.ref(tensor)

    def left(self, tensor: Variable, door: str) -> None:
        """Write down that values went to Python or elsewhere."""
        self._step("left", door, {"tensor": self.value(tensor)})

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Write down the call of a function that changes what lives longer than a step."""
        given = {"args": self._inside(args), **{k: self._inside(v) for k, v in kwargs.items()}}
        name = getattr(function, "__qualname__", type(function).__name__)
        step = self._step("effect", name, given, function=function)
        self._note_stream(step)
        self._effects.append(step)
        try:
            result = yield
        finally:
            self._effects.remove(step)
        drawn = DRAWS.get(function)
        if drawn == "copy":
            step.outputs.append(self._copied(step, result))
        elif drawn == "key" or isinstance(result, (Variable, np.ndarray, float)):
            known = self._current(result)
            step.outputs.insert(0, self._made(step, result) if known is None else known)

    def _note_stream(self, step: Step) -> bool:
        """Note from which copy of a generator an effect draws; whether that is known."""
        stream = repeating.get()
        step.stream = self._drawn(stream)
        return stream is None or step.stream is not None

    def _copied(self, step: Step, copy: Any) -> Value:
        """The value of a copy of a generator."""
        value = self._new(step, None)
        self._numbers[id(copy)] = copy, value
        return value

    # Values ------------------------------------------------------------------------------------

    def arguments(self, call: Call) -> dict[str, Any]:
        """The values that an op computed with, by name; conversions become steps."""
        op, one, found = call.op, self._argument, dict[str, Any]()
        for name, given, value in zip(op.params, call.arguments, call.values, strict=True):
            several = op.variadic and name == op.params[0]
            found[name] = tuple(map(one, given, value)) if several else one(given, value)
        return found

    def value(self, thing: Any) -> Value:
        """The value that a tensor or an array holds now."""
        if isinstance(thing, np.generic):
            known = self._drawn(thing)
            return known if known is not None else self._from_outside(thing)
        known, writes = self._identity.find(thing)
        if known is None:
            return self._from_outside(thing)
        if writes:
            for write in writes:
                known = self._after(known, thing, write)
            self._know(thing, known)
        return known

    def _from_outside(self, thing: Any) -> Value:
        value = self._new(None, thing)
        if isinstance(thing, Variable):
            value.source = weakref.ref(thing)
        self.outside.append(value)
        self._know(thing, value)
        return value

    def _after(self, known: Value, thing: Any, write: Write) -> Value:
        """The value of a tensor or an array after a write to its memory: all or a part of it."""
        place = Place.of_array(data_of(thing))
        if place == write.place:
            return write.value
        if place.dtype.itemsize != write.place.dtype.itemsize:
            return known
        inside, around = write.place.index_of(place), place.index_of(write.place)
        if inside is not None:
            return self._part(write.value, inside, place.shape)
        if around is not None:
            return self._with(known, write.value, around)
        here, there = place.addresses(), write.place.addresses()
        shared, mine, others = np.intersect1d(here, there, return_indices=True)
        if not shared.size:
            return known
        if shared.size == here.size:  # all of it was written
            chosen = others[np.argsort(mine)].reshape(here.shape)
            return self._part(write.value, np.unravel_index(chosen, there.shape), here.shape)
        part = self._part(write.value, np.unravel_index(others, there.shape), others.shape)
        return self._with(known, part, np.unravel_index(mine, here.shape))

    def _with(self, known: Value, part: Value, index: Any) -> Value:
        """A value with another one in a part of it."""
        arguments = {"x": known, "value": part, "index": index}
        return self._derived("write", registry["setitem"], arguments, known.shape)

    def _part(self, value: Value, index: Any, shape: tuple[int, ...]) -> Value:
        """A part of a value."""
        return self._derived("forward", registry["getitem"], {"x": value, "index": index}, shape)

    def _derived(
        self, phase: Phase, op: Primitive, arguments: dict[str, Any], shape: tuple[int, ...]
    ) -> Value:
        """What an op that nobody called gives, of the dtype of its first argument."""
        step = self._step(phase, op.name, arguments, op=op)
        made = self._output(step, shape, arguments["x"].dtype)
        step.outputs.append(made)
        return made

    def _argument(self, given: Any, value: Any) -> Any:
        """An argument as the op computed with it: a value, perhaps converted, or a number."""
        if not isinstance(given, (Variable, np.ndarray)):
            if isinstance(value, np.ndarray):
                return self.value(value)
            drawn = self._drawn(given)
            parts = isinstance(given, (tuple, list, dict, slice))
            return self._inside(given) if parts else self._held(value) if drawn is None else drawn
        known = self.value(given)
        array = data_of(given)
        if not isinstance(value, np.ndarray) or value is array:
            return known
        if value.dtype == array.dtype:  # a copy of the caller's array
            self._identity.know(value, known)
            return known
        step = self._step("forward", "astype", {"x": known, "dtype": value.dtype})
        step.op = registry["astype"]
        step.outputs.append(self._made(step, value))
        return step.outputs[0]

    def _inside(self, thing: Any) -> Any:
        """An argument with values in the place of tensors, arrays and drawn numbers."""
        return mapped(self._held, thing)

    def _held(self, leaf: Any) -> Any:
        if isinstance(leaf, (Variable, np.ndarray)):
            return self.value(leaf)
        drawn = self._drawn(leaf)
        return leaf if drawn is None else drawn

    def _drawn(self, thing: Any) -> Value | None:
        """The value of a number, or of a copy of a generator, if an effect returned this object."""
        known, value = self._numbers.get(id(thing), (None, None))
        return value if known is thing else None

    def _saved(self, node: Node) -> dict[str, Any]:
        """The values that the rules of a node read, by name."""
        names = node.plan.saved_names
        call = self._calls.get(node)
        if call is None:  # it ran before the trace
            saved = () if node.saved is FREED else node.saved
            return {name: self._inside(one) for name, one in zip(names, saved, strict=False)}
        op = node.plan.op
        count = len(call.outputs) - len(op.residuals)
        out = call.outputs[:count] if op.multiple_outputs else call.outputs[0]
        known = {
            **call.arguments, "out": out,
            **dict(zip(op.residuals, call.outputs[count:], strict=True)),
        }  # fmt: skip
        return {name: known[name] if name in known else _shape(name, known) for name in names}

    def is_new(self, tensor: Any) -> bool:
        """Whether a tensor was made of numbers or of an array in the run."""
        created = self._created.get(id(tensor))
        return created is not None and created() is tensor

    def origin(self, value: Value) -> Value:
        """The value that another one is; itself if it is of its own."""
        while value in self.origins:
            value = self.origins[value]
        return value

    def _pass_on(self, step: Step, known: Sequence[Value | None]) -> None:
        """Note that the outputs of a composed step are values of its parts, or older ones."""
        for output, value in zip(step.outputs, known, strict=False):
            if output is not None and value is not None and output is not value:
                self.origins[output] = value

    def _current(self, thing: Any) -> Value | None:
        """The value of a tensor or an array, if it is known, and no write made it old."""
        if not isinstance(thing, (Variable, np.ndarray)):
            return None
        known, writes = self._identity.find(thing)
        return None if writes else known

    def _from(self, steps: list[Step], thing: Any) -> Value | None:
        """The value of a tensor or an array, if one of these steps made it."""
        known = self._current(thing) if steps else None
        return known if known is not None and known.step in steps else None

    def _made(self, step: Step, thing: Any) -> Value:
        """A new value, which a step has made."""
        value = self._new(step, thing)
        self._know(thing, value)
        return value

    def _know(self, thing: Any, value: Value) -> None:
        if isinstance(thing, (Variable, np.ndarray)):
            self._identity.know(thing, value)
        elif isinstance(thing, (np.generic, float, int)):
            self._numbers[id(thing)] = thing, value

    def _new(self, step: Step | None, thing: Any) -> Value:
        """A new value of the shape and dtype of a tensor, an array, an update or a number."""
        array = data_of(thing)
        shape, dtype = getattr(array, "shape", ()), getattr(array, "dtype", None)
        value = self._output(step, shape, dtype)
        if self._keep:
            value.array = array
        return value

    def _output(self, step: Step | None, shape: tuple[int, ...], dtype: Any) -> Value:
        maker = None if step is None else weakref.ref(step)
        value = Value(len(self.values), maker, None, None, shape, dtype, next(clock))
        self.values.append(value)
        return value

    def _step(
        self, phase: Phase, what: str, arguments: dict[str, Any], node: Node | None = None,
        **fields: Any,
    ) -> Step:  # fmt: skip
        now = state.get()
        line = user_line() if self._lines else ""
        step = Step(phase, what, arguments, line=line, grad_mode=now.recording, **fields)
        step.frame, whole = now.frame, now.within
        if node is not None:
            step.recorded = node if self._keep else weakref.ref(node)
        if self._effects:
            step.inside = self._effects[-1]
        elif whole is not None:
            self._parts.setdefault(id(whole), (whole, []))[1].append(step)
        self.steps.append(step)
        return step

    def _end(self, whole: Any, step: Step) -> list[Step]:
        """Note that a step is composed of those that ran within it."""
        parts = self._parts.pop(id(whole), (None, []))[1]
        for part in parts:
            part.inside = step
        return parts


def _shape(name: str, known: dict[str, Any]) -> Any:
    """The shape that a rule asks for by the name ``x_shape``."""
    given = known[name.removesuffix("_shape")]
    return tuple(one.shape for one in given) if isinstance(given, tuple) else np.shape(given)


def _alike(values: Any, tensor: Any) -> bool:
    """Whether values have the shape and dtype of a tensor."""
    if not isinstance(values, (Variable, np.ndarray)):
        return False
    array = data_of(values)
    return bool((array.shape, array.dtype) == (tensor._data.shape, tensor._data.dtype))
