"""Random programs are recorded and drawn.

Each value of a trace, computed again, is what it was; the box that an op reads holds the numbers
that the op read.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawn_programs import draw
from executed_again import Copied, held
from program_checks import gradients, leaves
from test_random_views import drawn, run

import minigrad
from minigrad import nn, no_grad, optim, viz
from minigrad.autograd import grad
from minigrad.autograd.node import data_of
from minigrad.viz.record.entries import Entry
from minigrad.viz.record.lookup import array_arguments


class Watched(viz.Trace):
    """A trace that copies what each op read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_by: list[tuple[Entry, dict[int, np.ndarray]]] = []

    def ran(self, call: Any) -> None:
        before = len(self._entries)
        arrays = {slot: data_of(given).copy() for slot, _, given in array_arguments(call)}
        super().ran(call)
        if len(self._entries) > before and self._entries[-1].box.primitive is call.op:
            self.read_by.append((self._entries[-1], arrays))


def checked(trace: Watched) -> int:
    """Compare the value of the box behind each line with what the op read; how many there are."""
    count = 0
    assert len(trace.graph().nodes) > 1
    for entry, arrays in trace.read_by:
        for one in entry.inputs:
            array = arrays.get(one.slot)
            if array is None or not one.name:
                continue
            value = one.source.box.value
            several = one.source.box.primitive is not None and one.source in trace._first
            if value is not None and value.whole() and not several:
                np.testing.assert_array_equal(value.array(), array, err_msg=f"{entry.box}")
                count += 1
    return count


FOLLOWED: dict[str, tuple[Any, Callable[[Any], int], int]] = {
    "recorded": (Copied, held, 6),
    "drawn": (Watched, checked, 1),
}
"""A class of traces, how one is checked, and how many values are compared at least."""


def blocks(kind: str, length: int, *marks: Any) -> list[Any]:
    """Ranges of the numbers of programs, each with its marks."""
    return [
        pytest.param(kind, range(i * length, (i + 1) * length), marks=mark, id=f"{kind} {i}")
        for i, mark in enumerate(marks)
    ]


SLOW, LONG = pytest.mark.slow, pytest.mark.long


@pytest.mark.parametrize(
    ("kind", "numbers"), [*blocks("recorded", 20, (), ()), *blocks("drawn", 20, (), SLOW)]
)
def test_programs_of_ops(kind: str, numbers: range) -> None:
    trace_of, check, least = FOLLOWED[kind]
    for number in numbers:
        program = draw(number)
        inputs = leaves(program)
        with trace_of() as trace:
            gradients(program, inputs)
        assert check(trace) >= least


@pytest.mark.parametrize(
    ("kind", "numbers"), [*blocks("recorded", 40, ()), *blocks("drawn", 20, (), SLOW, LONG, LONG)]
)
@pytest.mark.parametrize("recorded", [True, False])
def test_programs_that_write_to_views(kind: str, numbers: range, recorded: bool) -> None:
    trace_of, check, least = FOLLOWED[kind]
    for number in numbers:
        array = np.random.default_rng(number).standard_normal((4, 3))
        with trace_of() as trace:
            x = minigrad.tensor(array, requires_grad=recorded)
            total = run(*drawn(number), x)
            if recorded:
                grad(total, [x])
        assert check(trace) >= least
        if kind == "recorded":
            assert trace.value(total).array == total.numpy()


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_training_is_drawn(optimizer: str) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    steps = getattr(optim, optimizer)(model.parameters(), lr=0.1)
    average = {name: value.detach().clone() for name, value in model.named_parameters()}
    x = minigrad.tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
    with Watched() as trace:
        for number in range(3):
            steps.zero_grad()
            model.train(number != 1)
            (model(x) ** 2).mean().backward()
            steps.step()
            with no_grad():
                for name, value in model.named_parameters():
                    average[name] *= 0.9
                    average[name] += 0.1 * value
    assert checked(trace) > 50


@pytest.mark.parametrize("kind", FOLLOWED)
def test_a_write_that_is_not_told_would_be_found(kind: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FOLLOWED[kind][0], "wrote", lambda self, tensor, values: None)
        with pytest.raises(AssertionError):
            test_programs_that_write_to_views(kind, range(50), False)
