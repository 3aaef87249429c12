"""``tools/check_ops.py``: the derivatives of every op against finite differences, as a table.

Each op is called as the table of samples has it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import events
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import Primitive, registry
from minigrad.checking.comparison import along_random_lines
from minigrad.checking.finite_differences import Probe, moved_tensors
from minigrad.checking.gradient_checks import of_the_gradient
from minigrad.tensors.creation import tensor
from op_samples import CASES, OURS, Case

LIMIT = 1e-6
"""The largest relative error of a correct derivative."""


@dataclass(frozen=True)
class Call:
    """The result of checking one sample call of an op."""

    case: Case
    first: float  # the largest relative error of a first derivative; NaN if there is no result
    second: float  # the same of a second derivative
    error: str = ""  # the error that was raised

    @property
    def right(self) -> bool:
        """Whether both errors are within the limit."""
        return self.first <= LIMIT and self.second <= LIMIT  # False for NaN


@dataclass(frozen=True)
class Outcome:
    """The result of checking one op."""

    name: str  # the op
    arguments: tuple[str, ...]  # its arguments that have a derivative
    calls: tuple[Call, ...]
    through: tuple[str, ...] = ()  # other ops in the calls that failed: an error may be theirs

    @property
    def first(self) -> float:
        """The largest relative error of a first derivative."""
        return float(np.max([call.first for call in self.calls]))  # which is NaN if one of them is

    @property
    def second(self) -> float:
        """The largest relative error of a second derivative."""
        return float(np.max([call.second for call in self.calls]))

    @property
    def right(self) -> bool:
        """Whether all calls are right."""
        return all(call.right for call in self.calls)

    @property
    def failed(self) -> str:
        """Which calls are wrong."""
        failed = [call for call in self.calls if not call.right]
        shown = [f"({call.case.name}){call.error and f' {call.error}'}" for call in failed[:3]]
        left = ", ..." if len(failed) > 3 else ""
        return f"{len(failed)} of {len(self.calls)} calls: {', '.join(shown)}{left}"


def checked_ops() -> list[str]:
    """The names of minigrad's ops that have a derivative."""
    return sorted(name for name, op in registry.items() if op.differentiable)


def check_op(name: str, seed: int = 0) -> Outcome:
    """Compare the derivatives of one op with finite differences, in all of its sample calls."""
    op = registry[name]
    calls: list[Call] = []
    through: set[Primitive] = set()
    for case in _cases(op):
        inputs = [tensor(array, requires_grad=True) for array in case.inputs]
        with _Ran() as both:
            try:
                call = Call(case, *_relative_errors(case.on(OURS), inputs, seed))
            except Exception as error:  # noqa: BLE001  # of a rule, or of the engine
                call = Call(case, np.nan, np.nan, f"{type(error).__name__}: {error}")
        calls.append(call)
        if not call.right:
            through |= both.ops if call.error or call.first <= LIMIT else _ran(case)
    others = sorted(one.name for one in through if one is not op and one.differentiable)
    return Outcome(name, op.ruled, tuple(calls), tuple(others))


def _relative_errors(
    function: Callable[..., Any], inputs: Any, seed: int = 0
) -> tuple[float, float]:
    """The largest relative errors of first and second derivatives along four random directions.

    The arguments are as for `gradcheck`. An error is divided by the derivative where that is above
    1. If the gradient with create_graph=True differs from the one without, this is an error of the
    second order.
    """
    given = [inputs] if isinstance(inputs, Variable) else list(inputs)
    inner = Probe(function, given, moved_tensors(function, given), seed)
    gradient, outer = of_the_gradient(inner, seed + 1)
    errors: list[list[float]] = [[], []]
    for plain, recorded in zip(inner.gradient(), gradient(), strict=True):
        errors[1] += map(_relative, plain.ravel(), recorded._data.ravel())
    for found, probe in zip(errors, (inner, outer), strict=True):
        for entry in along_random_lines(probe, probe.gradient(), 4, seed):
            numeric = sum(probe.along(entry.line, entry.step)) / 2
            found.append(_relative(entry.analytic, numeric))
    first, second = map(np.max, errors)  # which is NaN if one of them is
    return float(first), float(second)


def _relative(analytic: float, numeric: float) -> float:
    return float(abs(analytic - numeric) / max(1.0, abs(analytic), abs(numeric)))


def _cases(op: Primitive) -> list[Case]:
    """The sample calls of an op; of one that only other ops call, theirs."""
    return (
        [case for case in CASES if case.op == op.name]
        or [case for case in CASES if case.op == f"linalg.{op.name}"]
        or [case for case in CASES if op in _ran(case)]
    )


class _Ran(events.Observer):
    """The ops that run, in a recorded backward pass too."""

    def __init__(self) -> None:
        self.ops: set[Primitive] = set()

    def ran(self, call: events.Call) -> None:
        self.ops.add(call.op)


def _ran(case: Case) -> set[Primitive]:
    """The ops of the forward pass of a call."""
    with _Ran() as forward:
        case.on(OURS)(*map(minigrad.tensor, case.inputs))
    return forward.ops


def report(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The table, line by line: a line is ready as soon as its op was checked.

    Last come the ops that are wrong: those whose own rule is wrong, and those composed of them.
    """
    yield f"{'op':18}{'arguments':24}{'1st order':>11}{'2nd order':>11}"
    checked: dict[str, Outcome] = {}
    for found in outcomes:
        checked[found.name] = found
        yield (
            f"{found.name:18}{', '.join(found.arguments):24}{found.first:11.0e}{found.second:11.0e}"
            f"  {'right' if found.right else 'WRONG'}"
        )
    wrong = [found for found in checked.values() if not found.right]
    count = len(checked)
    yield (
        f"{count} {'op' if count == 1 else 'ops'}, {count - len(wrong)} right: the relative error "
        f"against central differences is at most {LIMIT:.0e}"
    )
    because: dict[tuple[str, ...], list[str]] = {}
    for found in wrong:
        because.setdefault(_roots(found, checked), []).append(found.name)
    itself = because.pop((), [])
    for name in itself:
        yield f"wrong by itself: {name}, in {checked[name].failed}"
    for roots, names in because.items():
        yield f"wrong because composed of {', '.join(roots)}: {', '.join(names)}"


def _roots(found: Outcome, checked: dict[str, Outcome]) -> tuple[str, ...]:
    """The wrong ops at the bottom: those that are not composed of wrong ops themselves."""
    causes = _causes(found, checked)
    roots = [name for name in causes if not _causes(checked[name], checked)]
    return tuple(roots or causes)


def _causes(found: Outcome, checked: dict[str, Outcome]) -> list[str]:
    """The wrong ops that an op is composed of, without those that are composed of it."""
    for name in found.through:
        if name not in checked:
            checked[name] = check_op(name)
    return [
        name
        for name in found.through
        if not checked[name].right and found.name not in checked[name].through
    ]
