"""Opens exercises that answer: ``python -m minigrad learn``."""

from __future__ import annotations

import argparse
import io
import os
import sys

from minigrad.learn import command


def main() -> int:
    """Run the command; the exit code is 2 if there is none of this name."""
    parser = argparse.ArgumentParser(prog="python -m minigrad", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    learn = commands.add_parser("learn", help="exercises: write an autograd engine, rule by rule")
    command.add_arguments(learn)
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a pipe may know no letter but ASCII's
        sys.stdout.reconfigure(errors="backslashreplace")
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


if __name__ == "__main__":
    sys.exit(main())
