"""The trace of a step that runs, with what a replay needs besides, and what it cannot repeat.

A tensor that an op of the step made, or that was created in the step, is local: a write to it makes
a new value, as in any trace. Every other tensor lives longer than the step. Its memory is read when
the program comes to it, and a write to it is a step of its own, which writes into that memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.api import add_to_grad, grad_of
from minigrad.autograd.engine import COPY, Update, call_hook
from minigrad.autograd.events import Call, Pull, only_reads, undecorated
from minigrad.autograd.node import Node, Output, Variable, data_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.autograd.scope import Scope, ancestry
from minigrad.compiler.memories import Memories
from minigrad.compiler.program import Argument, CaptureError
from minigrad.ops.sorting import argwhere, flatnonzero, nonzero
from minigrad.ops.statistics import bincount
from minigrad.optim.options import compute_with
from minigrad.support.random_state import DRAWS
from minigrad.support.tree import leaves, mapped
from minigrad.tensors.tensor import Tensor
from minigrad.tracing import Step, Trace, Value
from minigrad.tracing.lines import user_line
from minigrad.tracing.record import replaces_data

__all__ = ["Pulled", "StepTrace"]

_COUNTING = (bincount.op, nonzero.op, flatnonzero.op, argwhere.op, registry["unique"])
_FUNCTIONS = (FunctionType, MethodType)
_EFFECTS: list[Any] = [
    grad_of, add_to_grad, call_hook, compute_with, Tensor.grad.fset, Tensor.zero_grad,  # type: ignore[attr-defined]
]  # fmt: skip
READ_GRAD, ADD_TO_GRAD, CALL_HOOK, COMPUTE_WITH, SET_GRAD, CLEAR_GRAD = (
    undecorated(each) for each in _EFFECTS
)
_ON_LOCAL = (READ_GRAD, SET_GRAD, CLEAR_GRAD)
"""Effects on a tensor that, on a local one, change nothing that outlives the step."""


class Pulled(NamedTuple):
    """The values that a replay needs to run the rules of a node."""

    plan: Any
    targets: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    updates: tuple[bool, ...]


class StepTrace(Trace):
    """The trace of a step.

    Args:
        tensors: The tensors that are passed to the step.

    Attributes:
        arguments: The values of the tensors that are passed.
        refused: Why the step cannot be replayed, if that was found after it had changed something.
        modules: The modules that were called, and those around an op.
        memories: How the arrays of values lie in memory.
        reads: Values of tensors from outside, each with its tensor, or its place as an argument.
        constants: Values of arrays from outside, and of tensors created in the step; copies.
        pulls: What backward steps ran.
        given: What effects were called with: values for local tensors, others themselves.
        errors: How NumPy reported floating-point errors at a step.
        composed: The steps that are replaced by their parts, rules of nodes too.
        options: The options of optimizers with which Python computed, and their values.
        gradients: The tensors whose ``.grad`` is read.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        super().__init__(keep=False, lines=True)
        self.refused = ""
        self.modules: dict[int, Any] = {}
        self.memories = Memories(self._identity)
        self.reads: dict[Value, Any] = {}
        self.constants: dict[Value, Any] = {}
        self.pulls: dict[Step, Pulled] = {}
        self.given: dict[Step, tuple[Any, Any]] = {}
        self.errors: dict[Step, Any] = {}
        self.gradients: list[Any] = []
        self.options: list[tuple[Any, str, Any]] = []
        self._long_lived: dict[int, Any] = {}  # tensors from outside that were read, by id
        self._places = {id(tensor): Argument(i) for i, tensor in enumerate(tensors)}
        self._changed = False
        for tensor in tensors:
            if isinstance(tensor._node, (Node, Output)):
                self._refuse("an argument is the result of an op: pass it detached")
        self.inputs = [self.value(tensor) for tensor in tensors]
        if len({*self.inputs}) != len({*map(id, tensors)}):
            self._refuse("two arguments share their memory: pass a copy")

    # The events --------------------------------------------------------------------------------

    def ran(self, call: Call) -> None:
        """Write down the call of an op."""
        if self._ignores:
            return
        self._enter(call.scope)
        op = call.op
        through = call.outputs if op.side_effects else ()  # the boundary of a module with hooks
        known = [self._current(output._data) for output in through]
        super().ran(call)
        step = self.steps[-1]
        if known and None not in known:
            self.composed.add(step)
            self._pass_on(step, known)
        if any(value not in self.constants for value in _counts(op, step.arguments)):
            self._refuse(
                f"the shape of what {op.name} returns depends on the values of a tensor, and a "
                f"program has fixed shapes: multiply by a mask, or use where"
            )
        others = [x for x in call.residuals if x is not None and not isinstance(x, np.ndarray)]
        if others and step not in self.composed:
            self.memories.share(
                *leaves((step.arguments, step.outputs), Value)
            )  # it may hold any of them

    def pulled(self, pull: Pull) -> None:
        """Write down the rules of a node, and the sums of what they send."""
        if self._ignores:
            return
        node, op, start = pull.node, pull.node.plan.op, len(self.steps)
        if node not in self._calls:
            self._refuse(f"the backward pass reaches {op.name}, which ran before the step")
            return
        known = [self._current(part) for part in pull.contributions]
        composed = id(node) in self._parts
        super().pulled(pull)
        step = next(each for each in self.steps[start:] if each.op is op and each.node is node)
        targets = tuple([(edge.shape, edge.dtype) for edge in node.edges])
        updates = tuple([isinstance(part, Update) for part in pull.contributions])
        self.pulls[step] = Pulled(node.plan, targets, updates)
        if composed or self._calls[node] in self.composed:
            self.composed.add(step)
            self._pass_on(step, known)

    def wrote(self, tensor: Variable, values: Any) -> None:
        """Write down that a tensor holds other values."""
        if self.refused:
            return
        if self._effects:
            before, local = self._current(tensor), self._is_local(tensor)
            super().wrote(tensor, values)
            value = self._effects[-1].outputs[-1]
            assert value is not None
            if local:
                if before is not None:  # the effect wrote into the array that it was given
                    self.origins[value] = before
            else:
                self.reads[value] = self._places.get(id(tensor), tensor)
            return
        if values is tensor._data:
            self._refuse("a write in place of values that no op of the step computed")
            return
        if replaces_data(tensor, values):
            self._replaced(tensor, values)
            return
        before = self.value(tensor)
        given = self._inside(values)
        memories, array = self.memories, tensor._data
        kind = (array.shape, array.dtype, array.strides)
        if not isinstance(given, Value) or kind != memories.kind(given):
            step = self._step("write", "copy", {"values": given, "kind": kind})
            given = self._new(step, np.empty_like(tensor._data))
            step.outputs.append(given)
        number, layout = memories.number(tensor), memories.layouts.get(before)
        if number in memories.shared:
            if layout is None or layout.memory != number:
                self._refuse("a write through an older view of a tensor from outside of the step")
                return
            self._changed = True
            step = self._step("write", "write", {"target": before, "values": given})
            given = self._new(step, tensor)
            step.outputs.append(given)
            if before in self.reads:
                self.reads[given] = self.reads[before]
        self._identity.write(tensor, given)

    def _replaced(self, tensor: Variable, by: Variable) -> None:
        """Write down that a tensor took over the array of another one: ``tensor.data = by``."""
        given = self.value(by)
        if id(tensor) not in self._long_lived:
            if not self.is_new(tensor):
                self._changed = True
                self._refuse("a new .data of a tensor that no op of the step read")
            return
        self.memories.share(given)
        self._changed = True
        step = self._step("write", "data", {"values": given})
        self.given[step] = (self._places.get(id(tensor), tensor), given), {}
        value = self._new(step, tensor)
        step.outputs.append(value)
        self.reads[value] = self._places.get(id(tensor), tensor)
        self._identity.write(tensor, value)

    def left(self, tensor: Variable, door: str) -> None:  # noqa: ARG002
        """Refuse a value that Python sees: what it does with it would not be repeated."""
        if not self._ignores:
            self._refuse(
                f"the step looks at the values of a tensor ({door}), which a replay does not do; "
                f"return the tensor, and look at it outside"
            )

    def entered(self, module: Any) -> None:
        """Remember a module that is called, or a container that is read."""
        self.modules[id(module)] = module

    def created(self, tensor: Variable) -> None:
        """Remember a tensor that is created in the step: it is a constant."""
        if not self._ignores:
            super().created(tensor)
            self.value(tensor)

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Write down the call of a function that changes what lives longer than a step."""
        local = bool(args) and isinstance(args[0], Variable) and self._is_local(args[0])
        if self._ignores or function is CALL_HOOK or (local and function in _ON_LOCAL):
            yield
        elif function is ADD_TO_GRAD and local:
            before = args[0]._grad
            yield
            self._add_locally(args[0], before, args[1][args[2]])
        elif function is COMPUTE_WITH:
            self.options.append((*args, dict.__getitem__(*args)))
            yield
        else:
            yield from self._lasting(function, args, kwargs)

    def _lasting(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Write down an effect on what lives longer than the step."""
        name = function.__qualname__
        if why := getattr(function, "unrepeatable", None):
            self._refuse(why)
        if any(isinstance(part, _FUNCTIONS) for part in (*args[1:], *kwargs.values())):
            self._refuse(f"{name} with a function, such as a closure")
        if function is ADD_TO_GRAD:
            args = args[0], args[1][args[2]]
        if function is READ_GRAD:
            self.gradients.append(args[0])
        if DRAWS.get(function) == "generator":
            self._refuse(
                "the step takes the generator itself, from which a replay would not draw: use "
                "minigrad.rand, randn ..., or draw outside of the step"
            )
        step = self._step("effect", name, {}, function=function)
        self._enter(step.scope)
        given = self.given[step] = self.live(args), self.live(kwargs)
        step.arguments = {"args": given[0], **given[1]}
        if not self._note_stream(step):
            self._refuse(f"{name} draws from a generator of its own")
        self.memories.share(*step.reads)
        self._effects.append(step)
        try:
            result = yield
        finally:
            self._effects.remove(step)
        self._changed |= not only_reads(function)
        step.outputs.insert(0, self._of_effect(step, result))

    def _of_effect(self, step: Step, result: Any) -> Value | None:
        """The value that an effect returned; None for nothing, a bool and a small int."""
        drawn = DRAWS.get(step.function)
        if drawn == "copy":
            return self._copied(step, result)
        if result is None or (isinstance(result, int) and drawn != "key"):
            return None
        if not isinstance(result, (Variable, np.ndarray, float, int)):
            kind = type(result).__name__
            self._refuse(f"{step.what} returns {kind}, which a replay would not change")
            return None
        value = self._made(step, result)
        self.memories.share(value)
        return value

    def _add_locally(self, tensor: Any, before: Any, cotangent: Any) -> None:
        """The ``.grad`` of a local tensor is a value like any other."""
        value = self.value(cotangent)
        if before is None:
            step = self._step("forward", "copy", {"x": value}, op=COPY)
        else:
            step = self._step("backward", "accumulate", {"total": self.value(before), "x": value})
        step.outputs.append(self._made(step, tensor._grad))

    # Values ------------------------------------------------------------------------------------

    def value(self, thing: Any) -> Value:
        """The value that a tensor or an array holds now."""
        value = super().value(thing)
        if value in self.memories.layouts and not isinstance(thing, np.generic):
            # After a local write it is in another memory, and views of the tensor are views of it.
            self.memories.join(value, thing)
        return value

    def _from_outside(self, thing: Any) -> Value:
        array = data_of(thing)
        known = isinstance(array, np.ndarray) and self._identity.memory(array).values
        if known and not self._ignores:
            seen = self.memories.fixed | (set() if thing is array else self.memories.shared)
            if self.memories.number(array) not in seen:
                self._refuse("a part of a tensor's memory that no op of the step took")
        lives_longer = isinstance(thing, Variable) and not self._is_local(thing)
        value = super()._from_outside(thing)
        if lives_longer:
            self.reads[value] = self._places.get(id(thing), thing)
            self._long_lived[id(thing)] = thing
            self.memories.share(value)
        else:
            self.constants[value] = np.array(array) if isinstance(array, np.ndarray) else array
            if isinstance(thing, np.ndarray):
                self.memories.fixed.add(self.memories.number(thing))
        return value

    def live(self, thing: Any) -> Any:
        """An argument of an effect, or a result, with values in the place of local tensors.

        Tensors that live longer than the step stay what they are.
        """
        return mapped(self._kept, thing)

    def _kept(self, leaf: Any) -> Any:
        if isinstance(leaf, Variable) and not self._is_local(leaf):
            return self._places.get(id(leaf), leaf)
        return self._held(leaf)

    def _is_local(self, tensor: Any) -> bool:
        """Whether an op of the step made a tensor, or it was created in the step."""
        if self._long_lived.get(id(tensor)) is tensor:  # also after a write to its .data
            return False
        if self.is_new(tensor):
            return True
        known = self._current(tensor)
        return known is not None and self.origin(known) not in self.reads

    def _new(self, step: Step | None, thing: Any) -> Value:
        value = super()._new(step, thing)
        array = data_of(thing)
        if isinstance(array, np.ndarray):
            self.memories.note(value, array)
        return value

    def _step(self, *args: Any, **fields: Any) -> Step:
        step = super()._step(*args, **fields)
        self.errors[step] = np.geterr()
        return step

    # What cannot be replayed -------------------------------------------------------------------

    @property
    def _ignores(self) -> bool:
        """Whether what runs is a part of an effect, or the step was refused."""
        return bool(self._effects or self.refused)

    def _enter(self, scope: Scope | None) -> None:
        for call in ancestry(scope):
            self.modules[id(call.module)] = call.module

    def _refuse(self, what: str) -> None:
        """Raise an error, or, if the step has changed something, let it run to its end."""
        message = f"capture: {what} (at {user_line()})"
        if not self._changed:
            raise CaptureError(message)
        self.refused = self.refused or message


def _counts(op: Primitive, arguments: dict[str, Any]) -> list[Value]:
    """The values of which it depends on each element what shape the result has."""
    given = [*arguments.values()]
    if op is registry["getitem"]:
        return [value for value in leaves(given[1:], Value) if value.dtype == bool]
    counting = given if op in _COUNTING else given[1:] if op is registry["repeat"] else []
    return [*leaves(counting, Value)]
