"""Compare the first and second derivatives of ops with finite differences, and print the errors.

    python tools/check_ops.py softmax exp    without a name, all ops

Each op is called as the table of samples, tests/op_samples, has it. At the end are the ops whose
own rule is wrong, with the calls that failed, and apart from them the ops that are composed of
these. If several fail only in one way of use, such as where a tensor is used more than once, it
says so: then the fault is in the engine. The exit code is 1 if a derivative is wrong, 2 if a name
is unknown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from op_samples.self_check import Outcome, check_op, checked_ops, report


def main() -> int:
    """Check the ops that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ops", nargs="*", metavar="OP", help="which ops; all by default")
    parser.add_argument("--seed", type=int, default=0, help="chooses the directions (default 0)")
    options = parser.parse_args()
    known = checked_ops()
    if unknown := sorted(set(options.ops) - set(known)):
        parser.error(f"no op with a derivative is called {', '.join(unknown)}")
    wrong = []

    def outcomes() -> Iterator[Outcome]:
        for name in options.ops or known:
            outcome = check_op(name, options.seed)
            if not outcome.right:
                wrong.append(name)
            yield outcome

    for line in report(outcomes()):
        print(line, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
