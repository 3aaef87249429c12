"""Random programs are drawn: the box that an op reads holds the numbers that the op read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_programs import draw
from program_checks import gradients, leaves
from test_random_views import drawn, run

from minigrad import Tensor, nn, no_grad, optim, viz
from minigrad.autograd import grad
from minigrad.viz.record.entries import array_arguments, array_of
from minigrad.viz.record.finished import Entry


class Watched(viz.Trace):
    """A trace that copies what each op read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_by: list[tuple[Entry, dict[int, np.ndarray]]] = []

    def ran(self, call: Any) -> None:
        before = len(self._entries)
        arrays = {slot: array_of(given).copy() for slot, _, given in array_arguments(call)}
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


@pytest.mark.parametrize(
    "numbers", [range(15), pytest.param(range(15, 40), marks=pytest.mark.slow)], ids=str
)
def test_programs_of_ops(numbers: Any) -> None:
    for number in numbers:
        program = draw(number)
        inputs = leaves(program)
        with Watched() as trace:
            gradients(program, inputs)
        assert checked(trace)


@pytest.mark.parametrize(
    "numbers",
    [
        range(20),
        pytest.param(range(20, 50), marks=pytest.mark.slow),
        pytest.param(range(50, 100), marks=pytest.mark.long),
    ],
    ids=str,
)
@pytest.mark.parametrize("recorded", [True, False])
def test_programs_that_write_to_views(numbers: Any, recorded: bool) -> None:
    for number in numbers:
        array = np.random.default_rng(number).standard_normal((4, 3))
        with Watched() as trace:
            x = Tensor(array, requires_grad=recorded)
            total = run(*drawn(number), x)
            if recorded:
                grad(total, [x])
        assert checked(trace)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
def test_training(optimizer: str) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    steps = getattr(optim, optimizer)(model.parameters(), lr=0.1)
    average = {name: value.detach().clone() for name, value in model.named_parameters()}
    x = Tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
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


def test_a_write_that_is_not_told_would_be_found() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watched, "wrote", lambda self, tensor, values: None)
        with pytest.raises(AssertionError):
            test_programs_that_write_to_views(range(50), False)
