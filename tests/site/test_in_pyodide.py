"""The suite in Pyodide under Node: the engine, the ops, the layers and the checks of exercises."""

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
FEWEST = {"autograd": 900, "ops": 4000, "nn": 2000, "learn": 500}
"""How many tests pass there at least; what needs threads or processes is skipped."""

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


@pytest.mark.parametrize("folder", FEWEST)
def test_it_passes_in_pyodide(packages: Path, folder: str) -> None:
    command = ["node", ROOT / "site/run_tests.mjs", PYODIDE, packages, f"tests/{folder}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    end = done.stdout[-3000:]
    assert done.returncode == 0, end
    passed = re.search(r"(\d+) passed", end)
    assert passed and int(passed[1]) >= FEWEST[folder], end
    print(folder, end.strip().splitlines()[-1])
