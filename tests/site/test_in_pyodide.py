"""The tests of the engine and of the ops in Pyodide under Node, with counts.

What needs threads or processes is skipped there. What fails there, and why:

- NumPy's own integers have 32 bits: places (`argmax`), counts, and messages that name the dtype;
- there are no floating-point flags: NumPy does not notice a singular matrix, and warns of nothing;
- the event loop of the page runs already, so `asyncio.run` is refused.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv/pyodide"
PURE = ["hypothesis==6.130.0", "sortedcontainers", "attrs", "pytest<10", "pluggy", "iniconfig"]
PURE += ["packaging", "pygments"]
COUNTS = {"autograd": (770, 14), "ops": (4700, 90)}
"""How many tests pass there at least, and how many fail at most."""

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.long]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest and a Hypothesis that has no part in another language."""
    if not [*PYODIDE.glob("numpy*.whl")]:
        pytest.skip("needs Pyodide: make test downloads it where there is a network")
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*command, *PURE], check=True)
    return folder


@pytest.mark.parametrize("folder", COUNTS)
def test_it_passes_in_pyodide(packages: Path, folder: str) -> None:
    tests = [f"tests/{folder}", "--ignore=tests/ops/test_parallel.py"]
    command = ["node", ROOT / "site/run_tests.mjs", PYODIDE, packages, *tests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    end = done.stdout[-10_000:]
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|error)", end)}
    least, most = COUNTS[folder]
    assert counts.get("passed", 0) >= least, end
    assert counts.get("failed", 0) + counts.get("error", 0) <= most, end
