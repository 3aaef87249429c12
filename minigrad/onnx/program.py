"""Several runs of one model as one program: what is the same, and what depends on sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.onnx.runs import Call, Ref, Run
from minigrad.onnx.sizes import Size, fit

__all__ = ["Program", "Step", "Value", "refused"]


class Value:
    """A tensor or an array of the program.

    Args:
        number: Its number.
        runs: The runs.

    Attributes:
        arrays: What it was in each run.
        made: Whether it is an input or an op made it; what is left is a constant.
        shape: Its shape; a length that depends on the inputs' sizes is a `Size`, and None where
            no polynomial fits.
    """

    def __init__(self, number: int, runs: Sequence[Run]) -> None:
        self.number = number
        self.arrays = [run.arrays[number] for run in runs]
        self.sizes = [run.sizes for run in runs]
        self.dtype: np.dtype[Any] = self.arrays[0].dtype
        self.ndim = self.arrays[0].ndim
        self.name = runs[-1].names.get(number)
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
    """A call of an op in the program: arguments are values, sizes, or what all runs share."""

    call: Call
    arguments: tuple[Any, ...]
    output: Value


class Program:
    """What a model computes, as read from runs that differ in sizes and values.

    Args:
        runs: The runs; the first is of the example itself.

    Attributes:
        runs: The runs.
        steps: The calls that the outputs depend on, in their order.
        inputs: The inputs, by name.
        outputs: The outputs, by name.

    Raises:
        NotImplementedError: The runs did different things, or a number depends on the inputs in a
            way that cannot be said.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self._values: dict[int, Value] = {}
        self._refuse_differences()
        first = runs[0]
        self.inputs = {name: self.value(number) for name, number in first.inputs.items()}
        self.outputs = {name: self.value(ref.number) for name, ref in first.outputs.items()}
        self.steps: list[Step] = []
        for calls in self._needed():
            arguments = tuple(
                self._merged(calls[0], name, [call.arguments[i] for call in calls])
                for i, name in enumerate(calls[0].op.params)
            )
            output = self.value(calls[0].outputs[0].number)
            output.made = True
            if len({array.ndim for array in output.arrays}) > 1:
                raise refused(calls[0], "its number of axes depends on the inputs' sizes")
            self.steps.append(Step(calls[0], arguments, output))

    def value(self, number: int) -> Value:
        """The value of a number."""
        if number not in self._values:
            self._values[number] = Value(number, self.runs)
        return self._values[number]

    def _needed(self) -> list[tuple[Call, ...]]:
        """The calls that the outputs depend on, each with that of the other runs."""
        wanted = {ref.number for ref in self.runs[0].outputs.values()}
        needed = []
        for calls in reversed([*zip(*(run.calls for run in self.runs), strict=True)]):
            if wanted.intersection(ref.number for ref in calls[0].outputs):
                wanted.update(_numbers(calls[0].arguments))
                needed.append(calls)
        return needed[::-1]

    def _refuse_differences(self) -> None:
        """Refuse a model that does other things for other sizes or values."""
        first = self.runs[0]
        for run in self.runs[1:]:
            for one, other in zip(first.calls, run.calls, strict=False):
                if one.op is not other.op:
                    raise refused(
                        one, f"with inputs of other sizes or values, {other.op.name} runs instead"
                    )
                if [*_numbers(one.arguments)] != [*_numbers(other.arguments)]:
                    raise refused(one, "with inputs of other sizes or values, it reads others")
            if len(first.calls) != len(run.calls) or first.outputs != run.outputs:
                raise NotImplementedError(
                    f"onnx.export: how many ops the model runs depends on its inputs' sizes or "
                    f"values: {len(first.calls)} and {len(run.calls)}; a loop or a condition in "
                    f"Python cannot be exported"
                )

    def _merged(self, call: Call, name: str, values: list[Any]) -> Any:
        """One argument of the program, from that of all runs."""
        first = values[0]
        if isinstance(first, Ref):
            return self.value(first.number)
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
            shown = ", ".join(map(str, values[:4]))
            raise refused(
                call,
                f"{name} is {shown} for inputs of different sizes and values, which is no size "
                f"that a graph could compute",
            )
        return found


def refused(call: Call, why: str) -> NotImplementedError:
    """The error that names an op, where it ran, and why it cannot be exported."""
    where = f" [in {call.path}]" if call.path else ""
    return NotImplementedError(f"onnx.export: {call.op.name}: {why}{where}")


def _same(a: Any, b: Any) -> bool:
    """Whether two arguments that are no arrays are the same; a NaN is the same as a NaN."""
    return a is b or (type(a) is type(b) and bool(a == b or (a != a and b != b)))


def _numbers(arguments: Any) -> list[int]:
    """The numbers of all values among some arguments."""
    if isinstance(arguments, Ref):
        return [arguments.number]
    if isinstance(arguments, tuple):
        return [number for part in arguments for number in _numbers(part)]
    return []
