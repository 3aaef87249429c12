"""Node.js, which Playwright brings with it, runs the functions of the explorer page."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest


def run(*arguments: str, given: str) -> str:
    """What Node.js prints; a test is skipped without it."""
    driver = Path(str(pytest.importorskip("playwright").__file__)).parent / "driver"
    (node,) = driver.glob("node*")  # on Windows node.exe
    done = subprocess.run(
        [str(node), *arguments], input=given, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def node(script: str, given: Any) -> Any:
    """Run a script that reads `given` and prints JSON."""
    program = f"const given = JSON.parse(require('fs').readFileSync(0));\n{script}"
    return json.loads(run("-e", program, given=json.dumps(given)))
