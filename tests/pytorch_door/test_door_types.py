"""Type checkers and editors know PyTorch's door: the stubs that `make torch-types` writes.

What checkers say of programs that use it is in tests/test_typing.py.
"""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from write_torch_types import ROOT, stubs

HERE = Path(__file__).resolve().parent
TRAINING = HERE / "typed_training.py"

ALLOWED = {
    "a method of tensors is the function, whose first parameter is `input`":
        r'stub parameter "(self|input)" differs from runtime parameter "\w+"',
    "in place, everything is passed on to the function":
        r"\.\w+_ is inconsistent, stub does not have \*\*?(args|kwargs|keywords) parameter"
        r"|\.__i\w+__ is inconsistent, stub does not have \*\*?(args|kwargs|keywords) parameter",
    "constructors are wrapped in one that takes `device` and `dtype`":
        r'__init__ is inconsistent, runtime does not have parameter "(device|dtype)"',
    "what comes back depends on whether an axis or another tensor is given":
        r"\b(max|min|median) is inconsistent",
    "a view asks another module for its names":
        r"\.target is not present in stub|AttributeError: minigrad\.torch\.\S+ has no '__\w+__'",
    "stubtest knows decorators of Python 3.15": "disjoint_base",
}  # fmt: skip
"""In what the stubs differ from what runs, and why."""


@pytest.mark.slow
@pytest.mark.needs("ruff")
def test_the_stubs_are_what_the_package_holds() -> None:
    written = stubs()
    found = {path: path.read_text(encoding="utf-8") for path in (ROOT / "minigrad").rglob("*.pyi")}
    assert found == written, "run `make torch-types`"


def results_of(path: Path, kind: str = "") -> dict[str, set[str]]:
    """What the functions of a stub, or the methods of a class in it, give: a tensor or several."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    inside = [node.body for node in body if isinstance(node, ast.ClassDef) and node.name == kind]
    found: dict[str, set[str]] = {}
    for node in inside[0] if kind else body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            what = re.sub(r"\b_(?=int|bool|float|dtype)", "", ast.unparse(node.returns or node))
            what = what.replace("Self", "Tensor").replace("np.dtype[Any]", "dtype")
            several = re.match(r"tuple|Sequence|torch.return_types|_[A-Z]", what)
            found.setdefault(node.name, set()).add("several" if several else what)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(("__init__", ""), ("_VariableFunctions", ""), id="functions"),
        pytest.param(("tensor", "Tensor"), ("__init__", "TensorBase"), id="methods"),
    ],
)
@pytest.mark.needs("torch")
def test_results_are_what_pytorchs_own_types_say(
    ours: tuple[str, str], theirs: tuple[str, str]
) -> None:
    torch = pytest.importorskip("torch")
    own = results_of(ROOT / "minigrad" / "torch" / f"{ours[0]}.pyi", ours[1])
    other = results_of(Path(torch.__file__).parent / "_C" / f"{theirs[0]}.pyi", theirs[1])
    both = own.keys() & other.keys() - {"complex"}  # it is refused
    assert len(both) > 200
    ints = {name: {kind.replace(" | SymInt", "") for kind in other[name]} for name in both}
    pools = {name for name in both if "max_pool" in name}  # with return_indices=, several
    assert {n: own[n] for n in both - pools if own[n] != ints[n]} == {}


@pytest.mark.usefixtures("global_random")
def test_the_training_script_runs() -> None:
    runpy.run_path(str(TRAINING))


@pytest.mark.long
@pytest.mark.needs("mypy")
def test_stubs_agree_with_what_runs() -> None:
    command = ["mypy.stubtest", "minigrad.torch", "--mypy-config-file", "pyproject.toml"]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )  # fmt: skip
    assert "not checking stubs" not in done.stdout, done.stdout
    errors = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    kinds = re.compile("|".join(ALLOWED.values()))
    assert [error for error in errors if not kinds.search(error)] == []
