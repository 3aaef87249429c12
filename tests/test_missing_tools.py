"""A missing tool skips a test on a user's machine, with a reason, and fails it in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

NEEDS_ALL = """
import pytest
module = pytest.importorskip("a_module_that_nobody_has")
def test_never_collected(): pass
"""

NEEDS_ONE = """
import pytest
@pytest.mark.needs("a_program_that_nobody_has")
def test_skipped(): raise AssertionError
@pytest.mark.needs("sys", "python3")
def test_run(): pass
@pytest.mark.xfail(reason="known", strict=True)
def test_known_to_fail(): raise AssertionError
"""


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_what_a_missing_tool_does(tmp_path: Path, ci: str, outcome: str) -> None:
    file = tmp_path / "test_tools.py"
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    command += ["-c", str(HERE.parent / "pyproject.toml"), "-n", "2", str(file)]
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "CI": ci, "PYTHONPATH": path}

    def run(text: str) -> str:
        file.write_text(text)
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        passed = done.returncode in {0, 5}  # 5: every test of the file was skipped
        assert passed == (not ci), done.stdout + done.stderr
        return done.stdout

    shown = run(NEEDS_ONE)
    for part in ("1 passed", "1 xfailed", outcome, "needs a_program_that_nobody_has"):
        assert part in shown
    shown = run(NEEDS_ALL)
    for part in (outcome, "could not import 'a_module_that_nobody_has'"):
        assert part in shown
