"""A program that fails is made short: what is left is what one failing value depends on."""

import dataclasses
from collections.abc import Iterable

import numpy as np
from program_checks import Check
from programs import PLAIN, Program


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
    """The shortest program that fails in the same way: one value as the only output."""
    known = failure(program, check)
    *_, values = program.trace(PLAIN, [array.copy() for array in program.inputs])
    floats = [place for place, value in enumerate(values) if np.asarray(value).dtype.kind == "f"]
    single = [
        dataclasses.replace(program, outputs=(place,)).pruned()
        for place in floats
        if place not in program.overwritten()
    ]
    for candidate in sorted(single, key=lambda one: len(one.steps)):
        if failure(candidate, check) == known:
            return candidate
    return program


def hold(checks: Iterable[Check], programs: Iterable[tuple[int, Program]]) -> None:
    """Run the checks on programs; of the first that fails, a short one is shown.

    Raises:
        AssertionError: A check failed; the message lists the inputs and the steps.
    """
    checks = list(checks)
    for number, program in programs:
        for check in checks:
            if failure(program, check) is not None:
                raise AssertionError(report(number, program, check))


def report(number: int, program: Program, check: Check) -> str:
    """What failed, and the short program that fails likewise."""
    small = shrunk(program, check)
    reason = "it fails only now and then"
    try:
        check(small)
    except Exception as error:  # noqa: BLE001  # reported
        reason = f"{type(error).__name__}: {error}"
    lines = [f"v{place} = {array!r}" for place, array in enumerate(small.inputs)]
    lines += [f"v{start} = {step}" for start, step in zip(small.starts, small.steps, strict=False)]
    return (
        f"{check.__name__}: random program {number}, {len(small.steps)} of its "
        f"{len(program.steps)} steps\n{reason}\n\n" + "\n".join(lines)
    )
