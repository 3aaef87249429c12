"""Random programs are recorded: each value of the trace, computed again, is what it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_programs import draw
from executed_again import Copied, held
from program_checks import gradients, leaves
from test_random_views import drawn, run

from minigrad import Tensor
from minigrad.autograd import grad


@pytest.mark.parametrize("numbers", [range(i, i + 20) for i in range(0, 80, 20)], ids=str)
def test_programs_of_ops(numbers: Any) -> None:
    for number in numbers:
        program = draw(number)
        inputs = leaves(program)
        with Copied() as trace:
            gradients(program, inputs)
        assert held(trace) > 5


@pytest.mark.parametrize("numbers", [range(i, i + 50) for i in range(0, 200, 50)], ids=str)
@pytest.mark.parametrize("recorded", [True, False])
def test_programs_that_write_to_views(numbers: Any, recorded: bool) -> None:
    for number in numbers:
        array = np.random.default_rng(number).standard_normal((4, 3))
        with Copied() as trace:
            x = Tensor(array, requires_grad=recorded)
            total = run(*drawn(number), x)
            if recorded:
                grad(total, [x])
        assert held(trace) > 5
        assert trace.value(total).array == total.numpy()


def test_a_write_that_is_not_told_would_be_found() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Copied, "wrote", lambda self, tensor, values: None)
        with pytest.raises(AssertionError):
            test_programs_that_write_to_views(range(50), False)
