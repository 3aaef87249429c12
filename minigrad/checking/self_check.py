"""``python -m minigrad check``: the derivatives of every op against finite differences, as a table.

Each op is called as the table of samples has it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from minigrad._tensor import Tensor
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.primitive import Primitive, registry
from minigrad.checking.gradient_checks import relative_errors
from minigrad.checking.samples import CASES, OURS, Case

LIMIT = 1e-6
"""The largest relative error of a correct derivative."""


@dataclass(frozen=True)
class Outcome:
    """The result of checking one op."""

    name: str  # the op
    arguments: tuple[str, ...]  # its arguments that have a derivative
    first: float  # the largest relative error of a first derivative
    second: float  # the largest relative error of a second derivative
    through: tuple[str, ...] = ()  # other ops in the calls that failed: an error may be theirs

    @property
    def right(self) -> bool:
        """Whether both errors are within the limit."""
        return self.first <= LIMIT and self.second <= LIMIT  # False for NaN


def checked_ops() -> list[str]:
    """The names of minigrad's ops that have a derivative."""
    return sorted(name for name, op in registry.items() if op.differentiable)


def check_op(name: str, seed: int = 0) -> Outcome:
    """Compare the derivatives of one op with finite differences, in all of its sample calls."""
    op = registry[name]
    errors: list[tuple[float, float]] = []
    through: set[Primitive] = set()
    for case in _cases(op):
        inputs = [Tensor(array, requires_grad=True) for array in case.inputs]
        with _Ran() as both:
            found = relative_errors(case.on(OURS), inputs, seed)
        errors.append(found)
        if not found[0] <= LIMIT:
            through |= _ran(case)
        elif not found[1] <= LIMIT:
            through |= both.ops
    first, second = (float(np.max(order)) for order in zip(*errors, strict=True))
    others = sorted(one.name for one in through if one is not op and one.differentiable)
    return Outcome(name, op.ruled, first, second, tuple(others))


def _cases(op: Primitive) -> list[Case]:
    """The sample calls of an op; of one that only other ops call, theirs."""
    return (
        [case for case in CASES if case.op == op.name]
        or [case for case in CASES if case.op == f"linalg.{op.name}"]
        or [case for case in CASES if op in _ran(case)]
    )


class _Ran(Observer):
    """The ops that run, in a recorded backward pass too."""

    def __init__(self) -> None:
        self.ops: set[Primitive] = set()

    def ran(self, call: Call) -> None:
        self.ops.add(call.op)


def _ran(case: Case) -> set[Primitive]:
    """The ops of the forward pass of a call."""
    with _Ran() as forward:
        case.on(OURS)(*map(Tensor, case.inputs))
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
    if () in because:
        yield f"wrong by itself: {', '.join(because.pop(()))}"
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
