"""A program that fails is made small: what is left is what it takes to fail."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from program_checks import Check
from program_code import source
from programs import PLAIN, Program, Value


def failure(program: Program, check: Check) -> str | None:
    """How a check fails: with which kind of error, and from which op; None if it holds."""
    try:
        check(program)
    except AssertionError:
        return "AssertionError"
    except Exception as error:  # noqa: BLE001  # what it is, is compared
        return f"{type(error).__name__}: {str(error).split(':')[0]}"
    return None


def shrunk(program: Program, check: Check) -> Program:
    """The smallest program that is found by simplifying while it fails in the same way."""
    known = failure(program, check)
    while True:
        for candidate in simpler(program):
            if size(candidate) < size(program) and failure(candidate, check) == known:
                program = candidate
                break
        else:
            return program


def size(program: Program) -> tuple[int, ...]:
    """What a reader has to take in, the worst first."""
    numbers = sum(x.size for x in program.inputs)
    digits = sum(len(str(x.tolist())) for x in program.inputs)
    return len(program.steps), len(program.outputs), numbers, digits


def simpler(program: Program) -> Iterator[Program]:
    """One value as the only output, or one output less; a value as an input, from the last on."""
    arrays = recorded(program)
    floats = [place for place, array in enumerate(arrays) if array.dtype.kind == "f"]
    first = len(program.inputs)
    for place in floats:
        if place not in program.overwritten():
            yield dataclasses.replace(program, outputs=(place,)).pruned()
    for place in program.outputs:
        others = tuple(other for other in program.outputs if other != place)
        yield dataclasses.replace(program, outputs=others or program.outputs).pruned()
    for place in reversed(range(first, len(arrays))):
        if arrays[place].dtype.kind == "f":
            yield with_input(program, place, arrays[place])
        else:
            yield with_constant(program, place, arrays[place])
    for decimals in (1, 2):
        rounded = tuple(np.asarray(np.round(array, decimals)) for array in program.inputs)
        yield dataclasses.replace(program, inputs=rounded)


def recorded(program: Program) -> list[np.ndarray]:
    """The array of each place, from before it was overwritten."""
    arrays = [array.copy() for array in program.inputs]
    for values in program.trace(PLAIN, [array.copy() for array in program.inputs]):
        arrays += [np.array(value) for value in values[len(arrays) :]]
    return arrays


def with_input(program: Program, place: int, array: np.ndarray) -> Program:
    """The program for which the value of a place is given."""
    first, last = len(program.inputs), program.starts[-1]
    places = {i: i + (i >= first) for i in range(last)} | {place: first}
    return Program(
        (*program.inputs, array),
        tuple(step.moved(places) for step in program.steps),
        tuple(places[i] for i in program.outputs),
    ).pruned()


def with_constant(program: Program, place: int, array: np.ndarray) -> Program:
    """The program with an array in the place of a value."""

    def filled(arg: Any) -> Any:
        return array if isinstance(arg, Value) and arg.index == place else arg

    steps = tuple(
        dataclasses.replace(step, args=tuple(map(filled, step.args))) for step in program.steps
    )
    return dataclasses.replace(program, steps=steps).pruned()


def hold(checks: Iterable[Check], programs: Iterable[tuple[int, Program]]) -> None:
    """Run the checks on programs; of the first that fails, a small one is shown.

    Raises:
        AssertionError: A check failed; the message is Python code, which runs.
    """
    checks = list(checks)
    for number, program in programs:
        for check in checks:
            if failure(program, check) is not None:
                raise AssertionError(report(number, program, check))


def report(number: int, program: Program, check: Check) -> str:
    """What failed, as comments, and the small program that fails likewise."""
    small = shrunk(program, check)
    reason = "it fails only now and then"
    try:
        check(small)
    except Exception as error:  # noqa: BLE001  # reported
        reason = f"{type(error).__name__}: {error}"
    text = (
        f"{check.__name__}: random program {number}, {len(small.steps)} of its "
        f"{len(program.steps)} steps\n{reason}"
    )
    return f"{textwrap.indent(text, '# ', lambda line: True)}\n\n{source(small)}"
