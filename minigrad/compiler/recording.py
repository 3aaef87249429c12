"""From the trace of a step to its program; and whether two programs are one.

A step of the trace becomes an instruction. Parts of an effect are left out, and so is a step that
is composed of others, such as a custom Function or a checkpoint: its parts are there.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, NoReturn

import numpy as np

from minigrad.autograd.engine import Update
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.sums import unbroadcast
from minigrad.compiler import functions
from minigrad.compiler.functions import add_to_grad, constant, write
from minigrad.compiler.program import CaptureError, Instruction, Program, Value
from minigrad.compiler.step_trace import ADD_TO_GRAD, READ_GRAD, Pulled, StepTrace
from minigrad.support.tree import leaves, mapped, structure
from minigrad.tensors.tensor import Tensor
from minigrad.tracing import Step
from minigrad.tracing import Value as Traced

__all__ = ["Pull", "agree", "program_of"]


def program_of(trace: StepTrace, result: Any) -> Program:
    """The program of a step that returned `result`, a structure with values of the trace."""
    return _Writer(trace).program(result)


class _Writer:
    """Writes the instructions of one program."""

    def __init__(self, trace: StepTrace) -> None:
        self._trace = trace
        self._instructions: list[Instruction] = []
        self._values: dict[Traced, Any] = {}
        self._memories = trace.memories
        self._seen = {self._memories.one(number) for number in self._memories.shared}
        self._outer = np.geterr()
        self._step: Step | None = None

    def program(self, result: Any) -> Program:
        """The program."""
        trace = self._trace
        arguments = [self._values.get(a) or self._made(a) for a in trace.inputs]
        for step in self._ordered():
            if step in trace.composed or _within(step.inside, "effect"):
                continue
            self._step = step
            _WRITERS[step.phase](self, step)
        self._step = None
        program = Program(arguments, self._instructions, self._in(result))
        _keep_old_values(program)
        return program

    def _ordered(self) -> Iterator[Step]:
        """The steps; gradients are added to leaves in the order in which these were first read.

        A pass adds in the order in which they became leaves: thawed ones are the youngest.
        """
        first = {id(tensor): value.number for value, tensor in reversed(self._trace.reads.items())}

        def adds(step: Step) -> bool:
            return step.function is ADD_TO_GRAD

        def place(step: Step) -> int:
            return first.get(id(self._trace.given[step][0][0]), 0) if adds(step) else 0

        for _, steps in groupby(self._trace.steps, adds):
            yield from sorted(steps, key=place)

    # Steps -------------------------------------------------------------------------------------

    def _forward(self, step: Step) -> None:
        op = step.op
        assert op is not None
        values = [self._in(step.arguments[name]) for name in op.params if name in step.arguments]
        keywords: dict[str, Any] = {}
        if op.variadic:
            args, names = tuple(values[0]), op.params[1:]
            keywords = dict(zip(names, values[1:], strict=False))
        else:
            n = op.positional
            args = tuple(values[:n])
            keywords = dict(zip(op.params[n:], values[n:], strict=False))
        several = op.multiple_outputs or bool(op.residuals)
        forward = _flat(op) if op.multiple_outputs and op.residuals else op.forward
        self._write(op.name, forward, args, step.outputs, keywords, several=several)

    def _backward(self, step: Step) -> None:
        if step.op is None:
            total, part = (self._in(each) for each in step.arguments.values())
            (traced,) = step.outputs
            assert traced is not None
            made = self._values[traced] = self._fresh_like(traced)
            function: Callable[..., Any] = functions.added
            if isinstance(part, Value) and part.shape is None:
                function = functions.updated
            elif not made.shape:
                function = operator.add
            elif part.strides == total.strides == made.strides:
                function = np.add
            self._write("add", function, (total, part), [traced])
            return
        g, *saved = (self._in(each) for each in step.arguments.values())
        pull = Pull(self._trace.pulls[step])
        self._write(step.what, pull, (g, *saved), step.outputs, several=True)

    def _written(self, step: Step) -> None:
        trace = self._trace
        if step.op is not None:
            self._forward(step)
        elif step.what == "copy":
            values, kind = (self._in(each) for each in step.arguments.values())
            self._write("copy", functions.laid_out, (values, *kind), step.outputs)
        elif step.what == "data":
            args = self._in(trace.given[step][0])
            self._write("data", functions.set_data, args, step.outputs, effect=True)
        else:
            target, values = (self._in(each) for each in step.arguments.values())
            self._write("write", write, (target, values), step.outputs, effect=True)

    def _effect(self, step: Step) -> None:
        trace = self._trace
        args, keywords = (self._in(each) for each in trace.given[step])
        outputs = [] if step.outputs[0] is None else step.outputs[:1]  # others are read when used
        if step.function is ADD_TO_GRAD:
            self._write("add_to_grad", add_to_grad, args, (), effect=True)
        elif step.function is READ_GRAD:
            self._write("grad", functions.grad_of, args, outputs, effect=True)
        else:
            function: Any = step.function
            if step.stream is not None:
                args = (self._in(step.stream), function, *args)
                function = functions.from_stream
            self._write(step.what, function, args, outputs, keywords, effect=True)

    def _left(self, step: Step) -> None:
        """It was refused."""

    # Values ------------------------------------------------------------------------------------

    def _in(self, thing: Any) -> Any:
        """An argument with values of the program in the place of those of the trace."""
        return mapped(self._value, thing, Traced)

    def _value(self, traced: Traced) -> Any:
        trace = self._trace
        traced = trace.origin(traced)
        if traced in self._values:
            return self._values[traced]
        if traced in trace.constants:
            array = trace.constants[traced]
            self._values[traced] = array
            if traced in self._memories.layouts:
                self._write("constant", constant, (array,), [traced])
            return self._values[traced]
        if traced in trace.reads:
            self._write("read", functions.read, (trace.reads[traced],), [traced])
            return self._values[traced]
        step, line = traced.step, self._step and self._step.line
        what = "a value" if step is None else f"what {step.what} computed"
        raise CaptureError(
            f"capture: the step uses {what} in a way that no op of the step tells (at {line})"
        )

    def _made(self, traced: Traced) -> Value:
        """A new value of the program."""
        value = Value(traced.number)
        layout = self._memories.layouts.get(traced)
        if layout is not None:
            value.shape, value.dtype = traced.shape, traced.dtype
            value.memory = self._memories.one(layout.memory)
            value.strides = layout.strides
            value.fresh = layout.fresh and value.memory not in self._seen
        elif traced.dtype is not None:  # a number of NumPy, or a part that the trace has read
            value.shape, value.dtype = traced.shape, traced.dtype
            sources = [self._value(each) for each in traced.step.reads[:1]] if traced.step else []
            if sources and isinstance(sources[0], Value):
                value.memory = sources[0].memory  # it may be a view
        self._values[traced] = value
        return value

    def _fresh_like(self, traced: Traced) -> Value:
        """A value in memory of its own, in the layout that ``np.empty_like`` gives."""
        made = Value(traced.number, traced.shape, traced.dtype, -traced.number, True)
        made.strides = self._memories.kind(traced)[2]
        return made

    def _write(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...],
        outputs: Sequence[Traced | None], keywords: dict[str, Any] | None = None,
        several: bool = False, effect: bool = False,
    ) -> None:  # fmt: skip
        made = [None if o is None else self._values.get(o) for o in outputs]
        made = [
            each if isinstance(each, Value) or traced is None else self._made(traced)
            for each, traced in zip(made, outputs, strict=True)
        ]
        step = self._step
        scope = step.scope if step is not None else None
        errors: Any = self._trace.errors[step] if step is not None else self._outer
        phase = "effect" if effect else "backward" if _within(step, "backward") else "forward"
        self._instructions.append(
            Instruction(
                name, "backward" if function is add_to_grad else phase, function, args,
                keywords or {}, tuple(made), several, effect=effect,
                path=scope.path if scope else "", line=step.line if step else "",
                where=(scope.path or scope.kind) if scope else "",
                op=step.op if step and function is not constant else None,
                errors=None if errors == self._outer else errors,
            )
        )  # fmt: skip


_WRITERS: dict[str, Callable[[_Writer, Step], None]] = {
    "forward": _Writer._forward, "backward": _Writer._backward, "write": _Writer._written,
    "effect": _Writer._effect, "left": _Writer._left,
}  # fmt: skip


def _within(step: Step | None, phase: str) -> bool:
    """Whether a step, or one that it is a part of, is of a phase."""
    while step is not None and step.phase != phase:
        step = step.inside
    return step is not None


def _keep_old_values(program: Program) -> None:
    """Copy values that are read after their memory was written, and are from before."""
    found: list[Instruction] = []
    memories: dict[int, list[Value]] = {}
    for number, each in enumerate(program.instructions):
        found.append(each)
        if each.function is write:
            target, made = each.args[0], each.outputs[0]
            later = {v for other in program.instructions[number + 1 :] for v in other.reads}
            for old in memories.get(target.memory, ()):
                if old in later and old is not made:
                    copy = Value(-1 - old.number, old.shape, old.dtype, -1 - old.number, True)
                    copy.strides = old.strides
                    instruction = Instruction(
                        "copy", "forward", functions.copied, (old,), {}, (copy,),
                        line=each.line,
                    )  # fmt: skip
                    found.insert(-1, instruction)
                    for other in program.instructions[number + 1 :]:
                        other.replace({old: copy})
        for out in each.outputs:
            if out is not None and out.memory is not None:
                memories.setdefault(out.memory, []).append(out)
    program.instructions = found


# Instructions ---------------------------------------------------------------------------------


class Pull:
    """The rules of a node: the cotangents of its edges, in the shape and dtype of each.

    Args:
        pulled: What the step ran.
        wanted: Which of the results are needed.
    """

    def __init__(self, pulled: Pulled, wanted: tuple[bool, ...] | None = None) -> None:
        self.pulled = pulled
        self.wanted = wanted
        plan = pulled.plan if wanted is None or all(wanted) else pulled.plan.narrow(wanted)
        self._pull = plan.pull

    def __call__(self, g: Any, *saved: Any) -> Any:
        """Run the rules."""
        found = self._pull(g, *saved)
        _, targets, updates = self.pulled
        for i, part in enumerate(found):
            if part.__class__ is np.ndarray:
                shape, dtype = targets[i]
                if part.shape == shape and part.dtype is dtype:
                    continue
            elif part is None:
                continue
            if found.__class__ is tuple:
                found = list(found)
            found[i] = _fitted(part, *targets[i], updates[i])
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pull) and self._kind == other._kind

    def __hash__(self) -> int:
        return hash(self._kind)

    @property
    def _kind(self) -> Any:
        plan, targets, updates = self.pulled
        return plan.op, plan.slots, targets, updates, self.wanted


def _fitted(part: Any, shape: tuple[int, ...], dtype: Any, stays: bool) -> Any:
    """A contribution as `engine.accumulate` brings it to its target."""
    if isinstance(part, Update):
        if stays:
            return part
        whole = np.zeros(shape, dtype)
        part.add_to(whole)
        return whole
    part = unbroadcast(part, shape) if part.shape != shape else part
    return part if part.dtype == dtype else part.astype(dtype)


@functools.cache
def _flat(op: Primitive) -> Callable[..., Any]:
    """The forward of an op with several outputs and residuals, which gives them in one row."""

    @functools.wraps(op.forward)
    def call(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        outputs, *residuals = op.forward(*args, **kwargs)
        return (*outputs, *residuals)

    return call


# Two recordings -------------------------------------------------------------------------------


def agree(first: Program, second: Program) -> None:
    """Make sure that two recordings are one program.

    A tensor that is read in both is state. Other tensors and arrays, made anew in each call, are
    constants, and must have equal values.

    Raises:
        CaptureError: They differ.
    """
    same: dict[Value, Value] = dict(zip(first.arguments, second.arguments, strict=True))
    for a, b in zip(first.instructions, second.instructions, strict=False):
        if a.function != b.function or len(a.outputs) != len(b.outputs):
            _refuse(b, f"runs {b.name} where it ran {a.name} before")
        if not _equal((a.args, a.keywords), (b.args, b.keywords), same):
            _refuse(
                b,
                f"uses a value in {b.name} that changes from call to call, and that no op of the "
                f"step computed; pass it to the step as a tensor",
            )
        pairs = zip(a.outputs, b.outputs, strict=True)
        same.update({x: y for x, y in pairs if x is not None and y is not None})
    longer = max(first.instructions, second.instructions, key=len)
    if len(first.instructions) != len(second.instructions):
        extra = longer[min(len(first.instructions), len(second.instructions))]
        _refuse(extra, f"runs {extra.name} in one call and not in another")
    if not _equal(first.result, second.result, same):
        raise CaptureError(
            "capture: the step returns something that changes from call to call and is not a tensor"
        )


def _refuse(instruction: Instruction, what: str) -> NoReturn:
    raise CaptureError(f"capture: the step {what} (at {instruction.line})")


def _equal(a: Any, b: Any, same: dict[Value, Value]) -> bool:
    """Whether two arguments are one value, one object, or equal constants, in structures."""
    parts = zip(leaves(a), leaves(b), strict=False)
    return structure(a, type) == structure(b, type) and all(_alike(*both, same) for both in parts)


def _alike(one: Any, other: Any, same: dict[Value, Value]) -> bool:
    if one is other:
        return True
    if isinstance(one, Value):
        return same.get(one) is other
    if isinstance(one, np.ndarray):
        kinds = one.dtype == other.dtype and one.shape == other.shape
        return kinds and one.tobytes() == other.tobytes()
    if isinstance(one, Tensor):  # made anew in each call
        return _alike(one._data, other._data, same)
    if isinstance(one, (float, np.floating)):
        return repr(one) == repr(other)
    return bool(one == other)
