"""Running an example: as a program, or by its `main` in the process of the test."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

LAST_LINE = re.compile(r"held-out accuracy: (\d+\.\d) %")


class Done(NamedTuple):
    """How an example ended, and what it printed."""

    code: int
    out: str
    error: str


Smoke = Callable[..., tuple[Path, str]]
Call = Callable[..., Done]


def run(example: ModuleType, folder: Path, *options: str, **environment: str) -> Done:
    """Run an example as a program, in a folder."""
    done = subprocess.run(
        [sys.executable, str(example.__file__), *options], cwd=folder, env=os.environ | environment,
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def accuracy_in(output: str) -> float:
    """The accuracy that an example on the digits prints last."""
    match = LAST_LINE.fullmatch(output.splitlines()[-1])
    assert match, output
    return float(match[1])
