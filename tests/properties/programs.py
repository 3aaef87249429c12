"""A program as data: a list of calls that runs on minigrad, on NumPy and on PyTorch.

Values are numbered: first the inputs, then what the steps return. An in-place step returns its
target, so every number means one value for good; nothing reads the target's old number
afterwards. Values that are outputs are multiplied by fixed weights and added up to one number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy_reference import NAIVE
from op_samples import OURS

from minigrad import Tensor

IN_PLACE = {
    "write": "setitem", "add_": "add", "mul_": "multiply", "div_": "divide", "tanh_": "tanh",
    "exp_": "exp", "clip_": "clip",
}  # fmt: skip
"""The steps that write, each with the op that returns a copy in which the same is written."""


@dataclasses.dataclass(frozen=True)
class Value:
    """The place of a value in a program."""

    index: int

    def __repr__(self) -> str:
        return f"v{self.index}"


@dataclasses.dataclass(frozen=True)
class Step:
    """One call.

    Attributes:
        op: The name of the function in a namespace: minigrad's name.
        args: Values, lists of values, and anything static.
        keywords: Static arguments.
        several: How many tensors the call returns in a tuple; None if it returns a tensor.
    """

    op: str
    args: tuple[Any, ...]
    keywords: dict[str, Any] = dataclasses.field(default_factory=dict)
    several: int | None = None

    @property
    def results(self) -> int:
        """How many values it adds."""
        return 1 if self.several is None else self.several

    @property
    def reads(self) -> list[int]:
        """The places of the values that it is given."""
        flat = [part for arg in self.args for part in (arg if isinstance(arg, list) else [arg])]
        return [part.index for part in flat if isinstance(part, Value)]

    def moved(self, places: dict[int, int]) -> Step:
        """The same call on values that are elsewhere."""

        def place(part: Any) -> Any:
            if isinstance(part, list):
                return [place(item) for item in part]
            return Value(places[part.index]) if isinstance(part, Value) else part

        return dataclasses.replace(self, args=tuple(place(arg) for arg in self.args))

    def run(self, m: Any, values: Sequence[Any]) -> list[Any]:
        """Call it in a namespace."""

        def filled(part: Any) -> Any:
            if isinstance(part, list):
                return [filled(item) for item in part]
            return values[part.index] if isinstance(part, Value) else part

        result = getattr(m, self.op)(*[filled(arg) for arg in self.args], **self.keywords)
        return [result] if self.several is None else list(result)


@dataclasses.dataclass(frozen=True)
class Program:
    """Inputs, steps, and the places of the outputs.

    Attributes:
        inputs: Arrays of float64.
        steps: The calls, in order.
        outputs: Places of float values; each has its share in the result.
    """

    inputs: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    def trace(self, m: Any, inputs: Sequence[Any]) -> Iterator[list[Any]]:
        """Run step by step: all values so far, after each step."""
        values = list(inputs)
        for step in self.steps:
            values += step.run(m, values)
            yield values

    def values(self, m: Any, inputs: Sequence[Any]) -> list[Any]:
        """All values, once every step has run."""
        *_, values = list(inputs), *self.trace(m, inputs)
        return values

    def result(self, m: Any, values: Sequence[Any]) -> Any:
        """The outputs as one number."""
        total: Any = 0.0
        for place in self.outputs:
            weighted = m.multiply(values[place], weights(values[place].shape))
            total = m.sum(weighted) + total
        return total

    def __call__(self, *inputs: Any) -> Any:
        """The number that the program computes, on minigrad."""
        return self.result(RECORDED, self.values(RECORDED, inputs))

    @property
    def starts(self) -> list[int]:
        """The place of the first result of each step, and of what would come next."""
        places = [len(self.inputs)]
        for step in self.steps:
            places.append(places[-1] + step.results)
        return places

    def overwritten(self) -> set[int]:
        """The places of the targets of in-place steps: their values are gone in the end."""
        return {step.reads[0] for step in self.steps if step.op in IN_PLACE}

    def pruned(self) -> Program:
        """The same result without the steps and inputs that it does not depend on."""
        starts = self.starts
        needed = set(self.outputs)
        for i in reversed(range(len(self.steps))):
            if needed.intersection(range(starts[i], starts[i + 1])):
                needed.update(self.steps[i].reads)
        inputs = [place for place in range(len(self.inputs)) if place in needed]
        places = {place: new for new, place in enumerate(inputs)}
        steps = []
        free = len(inputs)
        for i, step in enumerate(self.steps):
            results = range(starts[i], starts[i + 1])
            if needed.intersection(results):
                steps.append(step.moved(places))
                places.update({place: free + k for k, place in enumerate(results)})
                free += step.results
        return Program(
            tuple(self.inputs[place] for place in inputs),
            tuple(steps),
            tuple(places[place] for place in self.outputs),
        )


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """Different numbers around 1, by which the elements of an output count."""
    return 1.0 + 0.5 * np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)


# Namespaces ---------------------------------------------------------------------------------------


def _write(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


RECORDED = SimpleNamespace(
    **vars(OURS),
    write=_write,
    **{name: getattr(Tensor, name) for name in IN_PLACE.keys() - {"write"}},
)
"""minigrad, with writes in place."""


class _Plain:
    """NumPy. What is written in place here is written into a copy there.

    That is the same, since a draft has no write to memory that another value sees. Which values
    share memory may differ: where `reshape` copies depends on how an op lays out what it returns.
    """

    def __getattr__(self, name: str) -> Any:
        function = getattr(NAIVE, IN_PLACE.get(name, name))

        def call(*args: Any, **keywords: Any) -> Any:
            result = function(*args, **keywords)
            several = isinstance(result, (list, tuple))
            return [*map(np.asarray, result)] if several else np.asarray(result)

        return call


PLAIN = _Plain()
