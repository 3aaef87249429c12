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


REASONS = ("needs a_program_that_nobody_has", "could not import 'a_module_that_nobody_has'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ci", "outcomes"), [("", ["2 skipped"]), ("true", ["2 errors"])], ids=["user", "CI"]
)
def test_what_a_missing_tool_does(tmp_path: Path, ci: str, outcomes: list[str]) -> None:
    (tmp_path / "test_one.py").write_text(NEEDS_ONE)
    (tmp_path / "test_all.py").write_text(NEEDS_ALL)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider"]
    command += ["-p", "xdist", "-n", "1", "-c", str(HERE.parent / "pyproject.toml"), str(tmp_path)]
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "CI": ci, "PYTHONPATH": path}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == (not ci), done.stdout + done.stderr
    for part in ("1 passed", "1 xfailed", *outcomes, *REASONS):
        assert part in done.stdout
