"""Type checkers see in a user's program what it computes: tests/typing/user.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MISTAKES = ("wher", "dtyp", "fullgraph", "primitive")


@pytest.mark.slow
@pytest.mark.parametrize(
    "checker",
    [
        pytest.param(["mypy"], marks=pytest.mark.needs("mypy")),
        pytest.param(
            ["basedpyright", "--pythonpath", sys.executable],
            marks=pytest.mark.needs("basedpyright"),
        ),
    ],
    ids=lambda checker: checker[0],
)
def test_a_users_program_has_the_types_it_says(checker: list[str]) -> None:
    """And names that minigrad does not have are found, in the order of MISTAKES."""
    files = ["tests/typing/user.py", "tests/typing/wrong.py"]
    done = subprocess.run(
        [sys.executable, "-m", *checker, *files], cwd=ROOT, capture_output=True, text=True
    )
    errors = [line.strip() for line in done.stdout.splitlines() if " error: " in line]
    assert len(errors) == len(MISTAKES), done.stdout + done.stderr
    for mistake, error in zip(MISTAKES, errors, strict=True):
        assert "wrong.py" in error and f'"{mistake}"' in error, error
