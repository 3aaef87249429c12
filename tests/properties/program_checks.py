"""What must hold of every program, and how one that fails is made small.

Each check takes a program and raises AssertionError. Values are NumPy's; gradients are differences,
to both orders; every way of asking for gradients gives the same ones.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from programs import IN_PLACE, PLAIN, RECORDED, Program

from minigrad import Tensor, no_grad, tensor
from minigrad.autograd import checkpoint, grad
from minigrad.checking import directional_derivatives

Check = Callable[[Program], None]


def leaves(program: Program) -> list[Tensor]:
    return [tensor(array, requires_grad=True) for array in program.inputs]


def gradients(program: Program, inputs: Sequence[Tensor], **options: Any) -> list[Any]:
    """The gradients of all inputs; None where a program only compares with an input."""
    return list(grad(program(*inputs), inputs, allow_unused=True, **options))


def values(found: Any) -> np.ndarray:
    return found.numpy() if isinstance(found, Tensor) else np.asarray(found)


def assert_close(found: Any, wanted: Any, what: str, rtol: float) -> None:
    """Equality up to rounding, relative to the largest element; None is zero."""
    if found is None or wanted is None:
        found, wanted = (0.0 if g is None else values(g) for g in (found, wanted))
    else:
        found, wanted = values(found), values(wanted)
        assert found.shape == wanted.shape, what
    scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * scale, err_msg=what)


def all_close(found: Iterable[Any], wanted: Iterable[Any], what: str, rtol: float) -> None:
    for i, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert_close(one, other, f"{what} {i}", rtol)


def values_are_numpys(program: Program) -> None:
    """After each step, before a write may change what was returned."""
    ours = program.trace(RECORDED, leaves(program))
    theirs = program.trace(PLAIN, [array.copy() for array in program.inputs])
    before = 0
    for step, (found, wanted) in zip(program.steps, zip(ours, theirs, strict=True), strict=True):
        all_close(found[before:], wanted[before:], f"a result of {step.op}:", 1e-9)
        before = len(found)


def gradients_are_differences(program: Program) -> None:
    hold_against_differences(program, leaves(program), 1e-5, directions=2)


def second_derivatives_are_differences(program: Program) -> None:
    """The derivative of the recorded gradient, by the engine and by differences."""

    def slopes(*inputs: Tensor) -> list[Tensor]:
        found = gradients(program, inputs, create_graph=True)
        return [g for g in found if g is not None]

    hold_against_differences(slopes, leaves(program), 1e-4)


def hold_against_differences(
    function: Callable[..., Any], inputs: Sequence[Tensor], tolerance: float, directions: int = 1
) -> None:
    """Compare along random directions; where a function bends much, a finer step may agree."""
    for finer in (1, 1 / 8, 1 / 64):
        pairs = directional_derivatives(function, inputs, directions=directions, finer=finer)
        wrong = [
            f"along a direction: engine {engine!r}, differences {differences!r}"
            for engine, differences in pairs
            if not abs(engine - differences) <= tolerance * max(1.0, abs(engine))
        ]
        if not wrong:
            return
    raise AssertionError(wrong[0])


def every_way_gives_the_same_gradients(program: Program) -> None:
    """grad and backward, once more on a retained graph, recorded, and for each input alone."""
    inputs = leaves(program)
    wanted = [None if g is None else g.numpy() for g in gradients(program, inputs)]

    loss = program(*inputs)
    for times, retain in ((1, True), (2, False)):
        loss.backward(retain_graph=retain)
        for i, (x, g) in enumerate(zip(inputs, wanted, strict=True)):
            found = None if x.grad is None else x.grad.numpy()
            expected = None if g is None else times * g
            np.testing.assert_equal(found, expected, f"backward, time {times}, input {i}")

    recorded = gradients(program, inputs, create_graph=True)
    all_close(recorded, wanted, "the recorded gradient of input", 1e-10)
    for i, x in enumerate(inputs):
        (alone,) = grad(program(*inputs), x, allow_unused=True)
        assert_close(alone, wanted[i], f"asked for alone, input {i}", 1e-12)
        arrays = enumerate(program.inputs)
        loss = program(*[x if j == i else tensor(array) for j, array in arrays])
        if loss.requires_grad:
            assert_close(grad(loss, x)[0], wanted[i], f"others constant, input {i}", 1e-12)


def recomputation_gives_the_same_gradients(program: Program) -> None:
    """A part of the program, checkpointed: first and second order."""
    inputs = leaves(program)
    plain = second_order(program(*inputs), inputs)
    for start, stop in cuts(program):
        values = checkpointed(program, inputs, start, stop)
        recomputed = second_order(program.result(RECORDED, values), inputs)
        for order, (found, wanted) in enumerate(zip(recomputed, plain, strict=True), 1):
            what = f"steps {start} to {stop} checkpointed, order {order}, input"
            all_close(found, wanted, what, 1e-9)


def second_order(loss: Any, inputs: Sequence[Tensor]) -> tuple[list[Any], list[Any]]:
    """The gradients, and those of their weighted sum."""
    first = list(grad(loss, inputs, create_graph=True, allow_unused=True))
    total: Any = sum((g * np.cos(np.arange(g.numel())).reshape(g.shape)).sum()
                     for g in first if g is not None)  # fmt: skip
    if not isinstance(total, Tensor) or not total.requires_grad:
        return first, [None] * len(inputs)
    return first, list(grad(total, inputs, allow_unused=True))


def cuts(program: Program) -> list[tuple[int, int]]:
    """Parts of a program that can be run again: no write in place reaches into them or out."""
    rng = np.random.default_rng(len(program.steps))
    found = []
    for _ in range(8):
        start, stop = sorted(rng.integers(0, len(program.steps) + 1, 2).tolist())
        if start < stop and self_contained(program, start, stop):
            found.append((start, stop))
    return found[:2]


def self_contained(program: Program, start: int, stop: int) -> bool:
    """Whether tensors written in place live within the part, or not seen by it."""
    starts = program.starts
    made = {
        place: i
        for i, step in enumerate(program.steps)
        for place in range(starts[i], starts[i] + step.results)
    }
    memory: dict[int, int] = {}
    touched: dict[int, set[int]] = {}
    for i, step in enumerate(program.steps):
        if step.op in IN_PLACE:
            root = memory.get(step.reads[0], step.reads[0])
            memory[starts[i]] = root
            touched.setdefault(root, {made[root]}).add(i)
    for root, when in touched.items():
        names = {root, *(place for place, owner in memory.items() if owner == root)}
        inside = [start <= i < stop for i in when]
        read = any(names.intersection(step.reads) for step in program.steps[start:stop])
        if any(inside) and not all(inside):
            return False
        if not any(inside) and read and max(when) >= stop:
            return False
    return True


def checkpointed(program: Program, inputs: Sequence[Any], start: int, stop: int) -> list[Any]:
    """The values of the program, with the steps from `start` to before `stop` recomputed."""
    values = list(inputs)
    for step in program.steps[:start]:
        values += step.run(RECORDED, values)
    before = len(values)
    reads = sorted({i for step in program.steps[start:stop] for i in step.reads if i < before})

    def part(*given: Any) -> list[Any]:
        mine: list[Any] = [None] * before
        for place, value in zip(reads, given, strict=True):
            mine[place] = value
        for step in program.steps[start:stop]:
            mine += step.run(RECORDED, mine)
        return mine[before:]

    if start < stop:
        values += checkpoint(part, *[values[place] for place in reads])
    for step in program.steps[stop:]:
        values += step.run(RECORDED, values)
    return values


def later_writes_are_harmless_or_refused(program: Program) -> None:
    """Whatever is overwritten after the forward pass, no gradient is silently wrong."""
    wanted = [None if g is None else g.numpy() for g in gradients(program, leaves(program))]
    rng = np.random.default_rng(len(program.steps))
    parts = [(0, 0), *cuts(program)[:1]]  # nothing recomputed, and a part
    for place, (start, stop) in itertools.product(rng.integers(0, program.starts[-1], 3), parts):
        inputs = leaves(program)
        values = checkpointed(program, inputs, start, stop)
        loss = program.result(RECORDED, values)
        try:
            with no_grad():
                values[place][...] = 0
            found = grad(loss, inputs, allow_unused=True)
        except RuntimeError as error:
            assert re.search("was written in place|read-only view", str(error)), error
        else:
            all_close(found, wanted, f"v{place} overwritten, input", 1e-9)


BY_ITSELF: list[Check] = [
    values_are_numpys,
    gradients_are_differences,
    second_derivatives_are_differences,
    every_way_gives_the_same_gradients,
    recomputation_gives_the_same_gradients,
    later_writes_are_harmless_or_refused,
]
