"""What a Python may lack, and a part of minigrad that cannot be imported."""

from __future__ import annotations

import subprocess
import sys

import pytest


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


ANSWERS = """
import importlib.util
class Answers:
    def find_spec(self, name, path=None, target=None):
        if name == "minigrad.spellings.answers":
            return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        {}
sys.meta_path.insert(0, Answers())
"""

NO_TABLE = {
    "missing": 'sys.modules["minigrad.spellings.lookup"] = None',
    "broken": """
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "minigrad.spellings.lookup":
            raise SyntaxError("broken table")
sys.meta_path.insert(0, Broken())
""",
    "without answers": 'sys.modules["minigrad.spellings.answers"] = None',
    "asks for what is missing": ANSWERS.format("minigrad.name_that_is_missing"),
    "imports what is missing": ANSWERS.format("import minigrad.module_that_is_missing"),
}


@pytest.mark.parametrize("how", NO_TABLE)
def test_without_the_table_of_spellings_errors_stay_what_they_are(how: str) -> None:
    found = run(f"""
import sys
import minigrad
from minigrad import nn, ops
{NO_TABLE[how]}
x = minigrad.ones(2, 3)

def imported():
    import minigrad.utils.data

calls = [
    lambda: x @ x, lambda: ops.matmul(x, x), lambda: x.reshape(5), lambda: nn.Linear(3, 4)(x.T),
    lambda: x.sum(dim=1), lambda: ops.add(x), lambda: ops.sum(x, 1, 2, 3), lambda: minigrad.foo,
    lambda: minigrad.linalg.foo, lambda: nn.Linear(3, 4, bad=1), lambda: nn.Linear(3, 4)(y=x),
    lambda: nn.functional.layer_norm(x, 4), lambda: minigrad.zeros(2, 3, bad=1), imported,
    lambda: minigrad.tensor([[1], [1, 2]]), lambda: minigrad.concatenate([x, x[0]]),
    lambda: x.add_(x, bad=1),
]
print(hasattr(minigrad, "foo"), minigrad.ones(2).sum().item())
for call in calls:
    try:
        call()
    except (AttributeError, ModuleNotFoundError, TypeError, ValueError) as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
    else:
        print("no error")
""")
    patterns = """False 2.0
ValueError matmul: (2, 3) @ (2, 3)
ValueError matmul: (2, 3) @ (2, 3)
ValueError reshape:
ValueError linear:
TypeError sum: got an unexpected keyword argument 'dim'
TypeError add: missing a required argument
TypeError sum: too many positional arguments
AttributeError minigrad has no 'foo'
AttributeError linalg has no 'foo'
TypeError Linear: got an unexpected keyword argument 'bad'
TypeError Linear: missing a required argument
ValueError layer_norm:
TypeError zeros:
ModuleNotFoundError No module named 'minigrad.utils'
ValueError tensor: nested lists
ValueError concatenate:
TypeError add_:""".splitlines()
    for line, pattern in zip(found, patterns, strict=True):
        assert line.startswith(pattern)


@pytest.mark.parametrize("name", ["lookup", "table", "methods", "answers"])
def test_a_file_of_the_table_that_is_missing_is_named(name: str) -> None:
    """From the start: what needs it at the import of minigrad says so."""
    found = run(f"""
import sys, importlib.machinery
find = importlib.machinery.PathFinder.find_spec
def without(fullname, path=None, target=None):
    return None if fullname == "minigrad.spellings.{name}" else find(fullname, path, target)
importlib.machinery.PathFinder.find_spec = without
sys.path_importer_cache.clear()
try:
    import minigrad
    minigrad.ones(2).permute(0)
except Exception as error:
    while error is not None:
        print(type(error).__name__, error)
        error = error.__cause__
""")
    messages = f"No module named 'minigrad.spellings.{name}'", f"cannot import name {name!r}"
    assert any(message in line for message in messages for line in found)
    assert not any("Recursion" in line for line in found)
