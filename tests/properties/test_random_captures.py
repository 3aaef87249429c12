"""Random programs are captured: a replay gives the numbers of the program, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawn_programs import draw
from program_checks import gradients, leaves
from test_random_views import drawn, run

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import grad
from minigrad.compiler import CaptureError

MORE = pytest.param(range(20, 80), marks=pytest.mark.slow)
MANY = pytest.param(range(80, 200), marks=pytest.mark.long)


def bits(found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return [*map(bits, found)]
    return found if found is None else (found.shape, found.dtype, found.numpy().tobytes())


def hold(step: Callable[..., Any], inputs: Callable[[int], list[Tensor]]) -> bool:
    """Compare five calls, the last three of which are replays; whether there is a program."""
    captured = minigrad.capture(step, verify=False)
    for call in range(5):
        wanted = bits(step(*inputs(call)))
        assert bits(captured(*inputs(call))) == wanted, (call, captured.program)
    return captured.program is not None


@pytest.mark.parametrize("numbers", [range(10), MORE, MANY], ids=str)
@pytest.mark.parametrize("recorded", [True, False])
def test_programs_that_write_to_views(numbers: Any, recorded: bool) -> None:
    for number in numbers:
        drafted = drawn(number)

        def inputs(call: int, number: int = number) -> list[Tensor]:
            array = np.random.default_rng(7 * number + call).standard_normal((4, 3))
            return [tensor(array, requires_grad=recorded)]

        def step(x: Tensor, drafted: Any = drafted) -> Any:
            total = run(*drafted, x)
            return total, grad(total, [x]) if recorded else None

        assert hold(step, inputs)


@pytest.mark.parametrize("numbers", [range(20), MORE], ids=str)
def test_programs_of_ops(numbers: Any) -> None:
    """Those that Python decides, or that write to their inputs, may be refused."""
    held = 0
    for number in numbers:
        program = draw(number)

        def inputs(call: int, program: Any = program) -> list[Tensor]:
            scaled = [leaf.numpy() * (1 + 0.01 * call) for leaf in leaves(program)]
            return [tensor(array, requires_grad=True) for array in scaled]

        try:
            held += hold(lambda *xs, program=program: gradients(program, xs), inputs)
        except CaptureError:
            continue
    assert held > len(numbers) // 3
