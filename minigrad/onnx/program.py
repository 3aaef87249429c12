"""Merges several runs of a model into one program, in which sizes can be symbols."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.onnx.runs import Run
from minigrad.onnx.sizes import Size, fit
from minigrad.onnx.traced import Comparison, Untraced, evaluated
from minigrad.support.tree import leaves
from minigrad.tracing import steps as recorded

REMEDY = (
    "A file has no loops and no branches: write it with ops on tensors, or fix the size with "
    "dynamic_axes"
)

PARTS = (
    "a part of a tensor is read or written through a view, and which part depends on the inputs' "
    "sizes; write to it by index: x[...] = y"
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
        first, *others = self.arrays
        return all(
            array is first
            or (
                array.shape == first.shape and np.array_equal(array, first, first.dtype.kind == "f")
            )
            for array in others
        )


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
        wanted = {*self.runs[0].outputs.values()}
        needed = []
        for steps in reversed([*zip(*(run.computed for run in self.runs), strict=True)]):
            if wanted.intersection(_made(steps[0])):
                wanted.update(_read(steps[0]))
                needed.append(steps)
        return needed[::-1]

    def _refuse_differences(self) -> None:
        """Refuse a model that calls different ops for other sizes or values."""
        first = self.runs[0]
        for run in self.runs[1:]:
            why = _cause(first, run)
            for one, other in zip(first.computed, run.computed, strict=False):
                if (one.op, one.what) != (other.op, other.what):
                    raise refused(
                        one, f"{shown(run.sizes)}, {other.what} runs instead{why}. {REMEDY}"
                    )
                if _read(one) != _read(other):
                    raise refused(one, f"{shown(run.sizes)}, it reads others{why}. {REMEDY}")
            count, others = len(first.computed), len(run.computed)
            if count != others or first.outputs != run.outputs:
                raise NotImplementedError(
                    f"onnx.export: the model runs {count} ops {shown(first.sizes)} and {others} "
                    f"{shown(run.sizes)}{why}. {REMEDY}"
                )

    def _merged(self, call: recorded.Step, name: str, values: list[Any]) -> Any:
        """Merge one argument of all runs."""
        values = [_plain(value) for value in values]
        first = values[0]
        if isinstance(first, recorded.Value):
            return self.value(first.number)
        if isinstance(first, np.ndarray):
            if any(not np.array_equal(first, value) for value in values):
                raise refused(call, PARTS)
            return first
        if isinstance(first, tuple) and len({len(value) for value in values}) == 1:
            parts = zip(*values, strict=True)
            return tuple(self._merged(call, name, [*part]) for part in parts)
        if isinstance(first, slice):
            ends = ([s.start for s in values], [s.stop for s in values], [s.step for s in values])
            return slice(*(self._merged(call, name, end) for end in ends))
        if all(_same(value, first) for value in values):
            return first
        found = None
        if all(type(value) is int for value in values):
            found = fit(values, [run.sizes for run in self.runs])
        if not isinstance(found, Size):
            distinct: list[tuple[Any, Run]] = []
            for value, run in zip(values, self.runs, strict=True):
                if not any(_same(value, known) for known, _ in distinct):
                    distinct.append((value, run))
            seen = [f"{value} {shown(run.sizes)}" for value, run in distinct]
            one, other = (run for _, run in distinct[:2])
            raise refused(
                call,
                f"{name} is {', '.join(seen[:3])}, which is not a sum or product of the inputs' "
                f"sizes{_cause(one, other)}. Compute it with ops on tensors, give it as an "
                f"input, or fix the size with dynamic_axes",
            )
        return found


def shown(sizes: Mapping[str, int]) -> str:
    """The sizes of a run, as text."""
    said = ", ".join(f"{symbol}={size}" for symbol, size in sizes.items())
    return f"with {said}" if said else "with other values"


def _cause(first: Run, other: Run) -> str:
    """A use of a size in Python that may explain why two runs differ, as text."""
    places = [event.place for event in first.noted if event.place and _differs(event, first, other)]
    return f", perhaps because of {places[0]}" if places else ""


def _differs(event: Comparison | Untraced, first: Run, other: Run) -> bool:
    """Whether a comparison or use had another outcome in another run."""
    if isinstance(event, Comparison):
        return event._replace(outcome=not event.outcome) in other.noted
    return event in other.noted and _in(first, event.term) != _in(other, event.term)


def _in(run: Run, term: Any) -> Any:
    """The value of a term in one run."""
    return evaluated(term, lambda axis: run.values[axis.number].shape[axis.axis])


def path_of(step: recorded.Step) -> str:
    """The path of the module call in which a step happened; "" outside of any."""
    return "" if step.scope is None else step.scope.path


def refused(step: recorded.Step, why: str) -> NotImplementedError:
    """An error that names an op, its module, and why it cannot be exported."""
    where = f" [in {path_of(step)}]" if path_of(step) else ""
    name = step.what if step.op is None else step.op.name
    return NotImplementedError(f"onnx.export: {name}: {why}{where}")


def _made(step: recorded.Step) -> list[int]:
    """The numbers of the values that a step made."""
    return [value.number for value in step.outputs if value is not None]


def _read(step: recorded.Step) -> list[int]:
    """The numbers of the values that a step read."""
    return [value.number for value in leaves(step.arguments, recorded.Value)]


def _plain(value: Any) -> Any:
    """An argument with a plain number in the place of one of a subclass."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value.real
    return tuple(value) if isinstance(value, list) else value


def _same(a: Any, b: Any) -> bool:
    """Whether two arguments that are not arrays are equal; NaN equals NaN here."""
    return a is b or (type(a) is type(b) and bool(a == b or (a != a and b != b)))
