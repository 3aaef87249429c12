"""What a Python may lack, and a part of minigrad that cannot be imported."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> list[str]:
    """The lines that a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


OPTIONAL = [
    "_asyncio", "_bz2", "_crypt", "_ctypes", "_curses", "_dbm", "_decimal", "_gdbm", "_hashlib",
    "_lzma", "_multiprocessing", "_posixshmem", "_posixsubprocess", "_socket", "_sqlite3", "_ssl",
    "_tkinter", "_uuid", "_zoneinfo", "fcntl", "grp", "mmap", "pwd", "readline", "resource",
    "select", "syslog", "termios",
]  # fmt: skip
"""Modules in C that a Python can be built without. NumPy itself needs zlib."""


def test_a_python_with_few_modules_trains_and_saves() -> None:
    found = run(f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))
import importlib, io
import numpy as np
import minigrad
from minigrad import nn, optim
for part in ("data", "io", "viz", "onnx", "distributed", "pretrained", "distributions",
             "checking", "compiler"):
    importlib.import_module("minigrad." + part)
print("ctypes" in sys.modules, minigrad.keep_freed_memory(1024), minigrad.get_num_threads() >= 1)
model = nn.Linear(400, 400)
optimizer = optim.Adam(model.parameters())
loader = minigrad.data.DataLoader(minigrad.data.TensorDataset(minigrad.randn(900, 400)), 300,
                                  prefetch=2)
for (x,) in loader:
    model(x).square().mean().backward()
    optimizer.step()
file = io.BytesIO()
print(len(minigrad.viz.graph(model(x)).nodes))
""")
    assert found[0] == "False False True"
