"""Compare the first and second derivatives of ops with finite differences, and print the errors.

    python tools/check_ops.py softmax exp    without a name, all ops

Each op is called as the table of samples, tests/op_samples, has it. At the end are the ops that are
wrong, with the calls that failed: by themselves, or because they are composed of others. If nearly
all are wrong, look at the engine. The exit code is 1 if a derivative is wrong, 2 if a name is
unknown.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from op_samples import CASES, OURS, Case

from minigrad import tensor
from minigrad.autograd import events, gradcheck, gradgradcheck
from minigrad.autograd.primitives import Primitive, registry
from minigrad.checking.comparison import along_random_lines
from minigrad.checking.finite_differences import Probe, moved_tensors
from minigrad.checking.gradient_checks import of_the_gradient

LIMIT = 1e-6
"""The largest relative error of a correct derivative."""


class Outcome(NamedTuple):
    """What was found of an op.

    Attributes:
        first: The largest relative error of a first derivative, NaN if there is no result.
        second: The same of a second derivative.
        wrong: Which calls are wrong, and what is said of the first one.
        through: The other ops that ran in the calls that are wrong: an error may be theirs.
    """

    first: float
    second: float
    wrong: str
    through: frozenset[str]


class Ran(events.Observer):
    """The ops that run."""

    def __init__(self) -> None:
        self.ops: set[Primitive] = set()

    def ran(self, call: events.Call) -> None:
        """Note an op."""
        self.ops.add(call.op)


def checked_ops() -> list[str]:
    """The names of minigrad's ops that have a derivative."""
    return sorted(name for name, op in registry.items() if op.differentiable)


def cases_of(op: Primitive) -> list[Case]:
    """The sample calls of an op; of one that only other ops call, theirs."""
    named = [case for case in CASES if case.op.removeprefix("linalg.") == op.name]
    return named or [case for case in CASES if op in ops_of(case)]


def ops_of(case: Case) -> set[Primitive]:
    """The ops of the forward pass of a call."""
    with Ran() as forward:
        case.on(OURS)(*map(tensor, case.inputs))
    return forward.ops


def relative_errors(case: Case, seed: int) -> tuple[float, float]:
    """The largest relative errors of first and second derivatives along four random directions.

    An error is divided by the derivative where that is above 1. If the gradient with
    create_graph=True differs from the one without, this is an error of the second order.
    """
    function, inputs = case.on(OURS), variables(case)
    inner = Probe(function, inputs, moved_tensors(function, inputs), seed)
    gradient, outer = of_the_gradient(inner, seed + 1)
    pairs: list[list[tuple[Any, Any]]] = [[], []]
    for plain, recorded in zip(inner.gradient(), gradient(), strict=True):
        pairs[1] += zip(plain.ravel(), recorded._data.ravel(), strict=True)
    for found, probe in zip(pairs, (inner, outer), strict=True):
        for entry in along_random_lines(probe, probe.gradient(), 4, seed):
            found.append((entry.analytic, sum(probe.along(entry.line, entry.step)) / 2))
    first, second = (  # np.max is NaN if one of them is
        float(np.max([abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in found])) for found in pairs
    )
    return first, second


def variables(case: Case) -> list[Any]:
    """The inputs of a call, of which each gets a gradient."""
    return [tensor(array, requires_grad=True) for array in case.inputs]


def fault(case: Case) -> str:
    """What is said of a call that failed, which names the rule at fault."""
    try:
        gradcheck(case.on(OURS), variables(case))
        gradgradcheck(case.on(OURS), variables(case))
    except Exception as error:  # noqa: BLE001  # of a rule, or of the engine
        return f"{type(error).__name__}: {error}"
    return "its gradients with and without create_graph=True differ"


def check_op(name: str, seed: int = 0) -> Outcome:
    """Compare the derivatives of one op with finite differences, in all of its sample calls."""
    cases, errors, failed = cases_of(registry[name]), [], []
    through: set[Primitive] = set()
    for case in cases:
        with Ran() as both:
            try:
                errors.append(relative_errors(case, seed))
            except Exception:  # noqa: BLE001  # `fault` says it
                errors.append((np.nan, np.nan))
        if not np.max(errors[-1]) <= LIMIT:  # so NaN is wrong too
            failed.append(case)
            through |= both.ops if not errors[-1][0] > LIMIT else ops_of(case)
    first, second = np.max(errors, axis=0)
    shown = ", ".join(f"({case.name})" for case in failed[:3]) + ", ..." * (len(failed) > 3)
    wrong = f"{len(failed)} of {len(cases)} calls: {shown}: {fault(failed[0])}" if failed else ""
    others = frozenset(op.name for op in through if op.differentiable) - {name}
    return Outcome(float(first), float(second), wrong, others)


def report(names: list[str], seed: int = 0) -> Iterator[str]:
    """The table, a line as soon as its op was checked, and what is wrong."""
    yield f"{'op':18}{'arguments':24}{'1st order':>11}{'2nd order':>11}"
    checked = {}
    for name in names:
        checked[name] = found = check_op(name, seed)
        verdict = "WRONG" if found.wrong else "right"
        arguments = ", ".join(registry[name].ruled)
        yield f"{name:18}{arguments:24}{found.first:11.0e}{found.second:11.0e}  {verdict}"
    wrong = {name: found for name, found in checked.items() if found.wrong}
    yield (
        f"{len(names)} {'op' if len(names) == 1 else 'ops'}, {len(names) - len(wrong)} right: the "
        f"relative error against central differences is at most {LIMIT:.0e}"
    )

    def causes(name: str) -> list[str]:
        """The wrong ops of which an op is composed, without those that are composed of it."""
        others = {one: checked.get(one) or check_op(one, seed) for one in checked[name].through}
        checked.update(others)
        return sorted(o for o in others if others[o].wrong and name not in others[o].through)

    for name, found in wrong.items():
        several = causes(name)
        roots = [one for one in several if not causes(one)] or several
        because = f"because composed of {', '.join(roots)}" if roots else "by itself"
        yield f"wrong {because}: {name}, in {found.wrong}"


def main() -> int:
    """Check the ops that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ops", nargs="*", metavar="OP", help="which ops; all by default")
    parser.add_argument("--seed", type=int, default=0, help="chooses the directions (default 0)")
    options = parser.parse_args()
    known = checked_ops()
    if unknown := sorted(set(options.ops) - set(known)):
        parser.error(f"no op with a derivative is called {', '.join(unknown)}")
    line = ""
    for line in report(options.ops or known, options.seed):
        print(line, flush=True)
    return 1 if line.startswith("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
