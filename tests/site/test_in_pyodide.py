"""The tests of the engine, the ops, the layers and the exercises in Pyodide under Node.

What needs threads, processes or an event loop of its own is skipped there. `not_in_pyodide.txt`
has what differs there, and why.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv/pyodide"
PURE = ["hypothesis==6.130.0", "sortedcontainers", "attrs", "pytest<10", "pluggy", "iniconfig"]
PURE += ["packaging", "pygments"]
COUNTS = {"autograd": 687, "ops": 4570, "nn": 3580, "learn": 560}
"""How many tests of each folder pass there at least; none fails."""

LISTING = Path(__file__).with_name("not_in_pyodide.txt")
"""What is not run there, by the reason."""

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.long]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest and a Hypothesis that has no part in another language."""
    if not [*PYODIDE.glob("numpy*.whl")]:
        pytest.skip("needs Pyodide: make pyodide downloads it where there is a network")
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*command, *PURE], check=True)
    return folder


@pytest.mark.parametrize("folder", COUNTS)
def test_it_passes_in_pyodide(packages: Path, folder: str) -> None:
    listed = [line for line in LISTING.read_text("utf-8").splitlines() if line and line[0] != "#"]
    without = [f"--deselect=tests/{name}" for name in listed]
    command = ["node", ROOT / "site/run_tests.mjs", PYODIDE, packages, f"tests/{folder}", *without]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    end = done.stdout[-10_000:]
    assert done.returncode == 0, end
    passed = re.findall(r"(\d+) passed", end)
    assert int(passed[-1]) >= COUNTS[folder], end
