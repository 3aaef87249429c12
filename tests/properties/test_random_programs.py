"""Random programs: every op among others, not only every op alone.

Programs of up to 40 steps over a few inputs, with fan-out, views, indexing, broadcasting, products,
fused ops and legal writes in place, are drawn by number (drawn_programs.py). Each is held against
NumPy in its values, and in its gradients against differences and PyTorch, to second order. Every
way of asking for gradients, and recomputation of a part, must give the same ones; a write after the
fact must be harmless or refused (program_checks.py). A program that fails is made short
(shrunk_programs.py).
"""

import contextlib
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from drawn_programs import draw
from program_checks import (
    BY_ITSELF,
    Check,
    every_way_gives_the_same_gradients,
    gradients_are_differences,
    hold_against_differences,
    later_writes_are_harmless_or_refused,
    second_derivatives_are_differences,
)
from programs import IN_PLACE, Program
from shrunk_programs import hold

from minigrad import ops, tensor
from minigrad.autograd import engine as graph
from minigrad.autograd import mutation
from minigrad.autograd.engine import unbroadcast
from minigrad.autograd.primitives import Primitive
from minigrad.checking import directional_derivatives
from minigrad.ops import indexing
from minigrad.ops._numerics import array_of

SHORT = [range(15), pytest.param(range(15, 75), marks=pytest.mark.slow)]
LONG = [range(start, start + 197) for start in range(75, 5000, 197)]


def numbered(numbers: range) -> Iterator[tuple[int, Program]]:
    return ((number, draw(number)) for number in numbers)


BLOCKS = [*SHORT, *(pytest.param(block, marks=pytest.mark.long) for block in LONG)]


def named(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"


@pytest.mark.parametrize("numbers", BLOCKS, ids=named)
def test_by_themselves(numbers: range) -> None:
    hold(BY_ITSELF, numbered(numbers))


@pytest.mark.needs("torch")
@pytest.mark.parametrize("numbers", [range(7), *BLOCKS[1:]], ids=named)
def test_against_pytorch(numbers: range) -> None:
    from programs_in_torch import AGAINST_PYTORCH

    hold(AGAINST_PYTORCH, numbered(numbers))


@pytest.mark.slow
def test_the_programs_are_what_they_claim_to_be() -> None:
    """Long and short, with shared values, every op of the moves, and writes that are legal."""
    programs = [draw(number) for number in range(300)]
    lengths = [len(program.steps) for program in programs]
    assert min(lengths) <= 8
    assert max(lengths) >= 35
    steps = [step for program in programs for step in program.steps]
    assert len({step.op for step in steps}) > 110
    assert sum(step.op in IN_PLACE for step in steps) > 150
    read = [[place for step in program.steps for place in step.reads] for program in programs]
    shared = [len(places) - len(set(places)) for places in read]
    assert np.mean(shared) > 5
    assert all(program.outputs for program in programs)


def test_a_number_stands_for_one_program() -> None:
    assert repr(draw(7)) == repr(draw(7))


# Faults that are planted are found, and made short ------------------------------------------------


@contextlib.contextmanager
def rules(op: Primitive, **wrong: Callable[..., Any]) -> Iterator[None]:
    """Other rules for some arguments of an op."""
    right = dict(op.rules)
    op.defvjp(**wrong)
    try:
        yield
    finally:
        op.defvjp(**{name: rule.function for name, rule in right.items()})  # makes plans anew
        op.rules.clear()
        op.rules.update(right)  # which formulas belong to


@contextlib.contextmanager
def replaced(owner: Any, name: str, wrong: Any) -> Iterator[None]:
    """Another function in the place of one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrong)
        yield


def averaged(g: Any, shape: tuple[int, ...]) -> Any:
    return unbroadcast(g, shape) * (math.prod(shape) / (np.size(g) or 1))


def overwrites(self: Any, buffer: np.ndarray) -> None:
    buffer[self.index] = self.value


def unnoticed(owned: Any, key: Any) -> bool:
    return owned[key].flags.writeable


FAULTS: dict[str, tuple[Callable[[], Any], Check]] = {
    "a sign in the rule of tanh": (
        lambda: rules(ops.tanh.op, x=lambda g, out: -g * (1 - out * out)),
        gradients_are_differences),
    "a slope that is right once and constant then": (
        lambda: rules(ops.sin.op, x=lambda g, x: g * np.cos(array_of(x))),
        second_derivatives_are_differences),
    "a read that overwrites what others have brought": (
        lambda: replaced(indexing.IndexUpdate, "add_to", overwrites), gradients_are_differences),
    "a product that forgets its second factor": (
        lambda: rules(ops.matmul.op, b=lambda g, a, b: 0 * b), gradients_are_differences),
    "a mean where a cotangent is to be summed": (
        lambda: replaced(graph, "unbroadcast", averaged), gradients_are_differences),
    "sums into memory that others see": (
        lambda: replaced(mutation, "uniquely_owned", unnoticed),
        every_way_gives_the_same_gradients),
    "late writes that nobody notices": (
        lambda: replaced(mutation, "check", lambda node: None),
        later_writes_are_harmless_or_refused),
}  # fmt: skip


@pytest.mark.parametrize(("fault", "check"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found_and_made_short(fault: Callable[[], Any], check: Check) -> None:
    with fault(), pytest.raises(AssertionError) as caught:
        hold([check], numbered(range(60)))
    steps, whole = re.search(r"(\d+) of its (\d+) steps", str(caught.value)).groups()
    assert int(steps) <= int(whole)


def test_a_function_that_bends_much_is_told_from_a_wrong_slope() -> None:
    """The usual step is too coarse for sin(4000 x): a finer one agrees, if the slope is right."""
    x = tensor(np.array(0.1), requires_grad=True)
    fast = lambda x: ops.sin(4000 * x)
    ((engine, coarse),) = directional_derivatives(fast, [x])
    assert abs(engine - coarse) > 5e-5 * abs(engine)
    hold_against_differences(fast, [x], 1e-5)
    wrong = rules(ops.sin.op, x=lambda g, x: g * np.cos(x) * (1 + 1e-4))
    with wrong, pytest.raises(AssertionError, match="along a direction"):
        hold_against_differences(fast, [x], 1e-5)
