"""Compares derivatives with finite differences, and opens exercises that answer."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator

from minigrad.checking.self_check import Outcome, check_op, checked_ops, report
from minigrad.learn import command


def main() -> int:
    """Run the command; the exit code is 1 if a derivative is wrong, 2 if a name is unknown."""
    parser = argparse.ArgumentParser(prog="python -m minigrad", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare derivatives with finite differences")
    check.add_argument("ops", nargs="*", metavar="OP", help="which ops; all by default")
    check.add_argument("--seed", type=int, default=0, help="chooses the directions (default 0)")
    learn = commands.add_parser("learn", help="exercises: write an autograd engine, rule by rule")
    command.add_arguments(learn)
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a pipe may know no letter but ASCII's
        sys.stdout.reconfigure(errors="backslashreplace")
    if options.command == "learn":
        try:
            for text in command.run(options):
                print(f"{text}\n", flush=True)
        except BrokenPipeError:  # `learn | head -1`: nobody reads on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError) as error:
            learn.error(str(error))
        except KeyboardInterrupt:
            print()
        return 0
    known = checked_ops()
    if unknown := sorted(set(options.ops) - set(known)):
        check.error(f"no op with a derivative is called {', '.join(unknown)}")
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
