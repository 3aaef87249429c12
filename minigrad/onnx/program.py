"""Merges several runs of a model into one program, in which sizes can be symbols."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.scope import FunctionCall
from minigrad.onnx.runs import Run
from minigrad.onnx.sizes import fit
from minigrad.tracing import steps as recorded

REMEDY = (
    "A file has no loops and no branches: write it with ops on tensors, or fix the size with "
    "dynamic_axes"
)

PARTS = (
    "a part of a tensor is read or written through a view, and which part depends on the inputs' "
    "sizes; write to it by index: x[...] = y"
)

GRADIENT = (
    "the model computes with a gradient, and a file has no rules: record it, "
    "autograd.grad(..., create_graph=True), or compute it outside of the model"
)


class Value:
    """A tensor or an array of the program, which is a constant if it is not `made`.

    A length in its shape that depends on the inputs' sizes is a `Size`, or None if no polynomial
    fits.
    """

    def __init__(self, number: int, runs: Sequence[Run]) -> None:
        self.number = number
        self.arrays = [run.array(number) for run in runs]
        self.sizes = [run.sizes for run in runs]
        self.dtype: np.dtype[Any] = self.arrays[0].dtype
        self.ndim = self.arrays[0].ndim
        self.name = runs[-1].names.get(number)
        self.changes = any(number in run.changed for run in runs)  # the model writes to it
        self.made = number in runs[0].inputs.values()
        shapes = [array.shape for array in self.arrays]
        self.shape: tuple[Any, ...] = ()
        if len({array.ndim for array in self.arrays}) == 1:
            self.shape = tuple(fit(n, self.sizes) for n in zip(*shapes, strict=True))

    @property
    def fixed(self) -> bool:
        """Whether it is the same in all runs."""
        first = self.arrays[0]
        return all(array is first or _same(array, first) for array in self.arrays)


class Step(NamedTuple):
    """A step of all runs: its arguments are values, sizes, or objects equal in all runs."""

    call: recorded.Step  # of the first run
    arguments: tuple[Any, ...]
    output: Value


class Program:
    """The computation of a model, derived from runs that differ in sizes and values.

    The first run is of the example itself. Runs that called different ops are an error. Inputs and
    outputs are by name; the outputs depend on the calls in `steps`, in order.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._values: dict[int, Value] = {}
        self._refuse_differences()
        first = runs[0]
        self.inputs = {name: self.value(number) for name, number in first.inputs.items()}
        self.outputs = {name: self.value(number) for name, number in first.outputs.items()}
        self.steps: list[Step] = []
        for calls in self._needed():
            arguments = tuple(
                self._merged(calls[0], name, [call.arguments[name] for call in calls])
                for name in calls[0].arguments
            )
            output = self.value(_made(calls[0])[0])
            output.made = True
            if len({array.ndim for array in output.arrays}) > 1:
                raise refused(calls[0], "its number of axes depends on the inputs' sizes")
            self.steps.append(Step(calls[0], arguments, output))

    def value(self, number: int) -> Value:
        """The value of a number."""
        if number not in self._values:
            self._values[number] = Value(number, self.runs)
        return self._values[number]

    def _needed(self) -> list[tuple[recorded.Step, ...]]:
        """The steps on which the outputs depend, each with its counterparts in the other runs."""
        wanted = {*self.runs[0].outputs.values(), *self.runs[0].unsettled}  # which are refused
        needed = []
        for steps in reversed([*zip(*(run.computed for run in self.runs), strict=True)]):
            if wanted.intersection(_made(steps[0])):
                if steps[0].phase == "backward":
                    raise refused(steps[0], GRADIENT)
                wanted.update(_read(steps[0]))
                needed.append(steps)
        return needed[::-1]

    def _refuse_differences(self) -> None:
        """Refuse a model that calls different ops for other sizes or values."""
        first = self.runs[0]
        for run in self.runs[1:]:
            for one, other in zip(first.computed, run.computed, strict=False):
                if (one.op, one.what) != (other.op, other.what):
                    raise refused(one, f"{shown(run.sizes)}, {other.what} runs instead. {REMEDY}")
                if _read(one) != _read(other):
                    raise refused(one, f"{shown(run.sizes)}, it reads others. {REMEDY}")
            count, others = len(first.computed), len(run.computed)
            if count != others or first.outputs != run.outputs:
                raise NotImplementedError(
                    f"onnx.export: the model runs {count} ops {shown(first.sizes)} and {others} "
                    f"{shown(run.sizes)}. {REMEDY}"
                )

    def _merged(self, call: recorded.Step, name: str, values: list[Any]) -> Any:
        """Merge one argument of all runs."""
        values = [_plain(value) for value in values]
        first = values[0]
        if isinstance(first, recorded.Value):
            return self.value(first.number)
        if all(isinstance(value, tuple) and len(value) == len(first) for value in values):
            parts = zip(*values, strict=True)
            merged = [self._merged(call, name, [*part]) for part in parts]
            return type(first)(*merged) if hasattr(first, "_fields") else tuple(merged)
        if all(isinstance(value, slice) for value in values):
            ends = ([s.start for s in values], [s.stop for s in values], [s.step for s in values])
            return slice(*(self._merged(call, name, end) for end in ends))
        if all(_same(value, first) for value in values):
            return first
        if isinstance(first, np.ndarray):
            raise refused(call, PARTS)
        whole = all(type(value) is int for value in values)
        size = fit(values, [run.sizes for run in self.runs]) if whole else None
        if size is None:
            raise refused(call, self._unlike(name, values))
        return size

    def _unlike(self, name: str, values: list[Any]) -> str:
        """Why an argument that differs between runs cannot be written."""
        seen: dict[str, str] = {}
        for value, run in zip(values, self.runs, strict=True):
            seen.setdefault(str(value), f"{value} {shown(run.sizes)}")
        return (
            f"{name} is {', '.join([*seen.values()][:3])}, which is not a sum or product of the "
            f"inputs' sizes. Compute it with ops on tensors, give it as an input, or fix the size "
            f"with dynamic_axes"
        )


def shown(sizes: Mapping[str, int]) -> str:
    """The sizes of a run, as text."""
    said = ", ".join(f"{symbol}={size}" for symbol, size in sizes.items())
    return f"with {said}" if said else "with other values"


def path_of(step: recorded.Step) -> str:
    """The path of the module call in which a step happened; "" outside of any."""
    return "" if step.scope is None else step.scope.path


def refused(step: recorded.Step, why: str) -> NotImplementedError:
    """An error that names an op, its module, and why it cannot be exported."""
    where = f" ({step.line})" if step.line else ""
    where += f" [in {path_of(step)}]" if path_of(step) else ""
    name = step.what if step.op is None else step.op.name
    if isinstance(step.frame, FunctionCall):
        name = f"{step.frame.name}: {name}"
    return NotImplementedError(f"onnx.export: {name}: {why}{where}")


def _made(step: recorded.Step) -> list[int]:
    """The numbers of the values that a step made, and no part of it."""
    return [value.number for value in step.outputs if value is not None and value.step is step]


def _read(step: recorded.Step) -> list[int]:
    """The numbers of the values that a step read."""
    return [value.number for value in step.reads]


def _plain(value: Any) -> Any:
    """An argument with a plain number in the place of one of a subclass."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value.real
    return tuple(value) if isinstance(value, list) else value


def _same(a: Any, b: Any) -> bool:
    """Whether two arguments are equal; NaN equals NaN here."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, a.dtype.kind == "f")
    return a is b or (type(a) is type(b) and bool(a == b or (a != a and b != b)))
