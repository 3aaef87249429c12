"""`make check WHAT=...`: which tests it runs of a small library, and what it refuses."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from children import python

CHECK = Path(__file__).resolve().parent.parent / "tools" / "check.py"

FILES = {
    "minigrad/autograd/engine.py": "def accumulate(pending, edge, part): ...\n",
    "minigrad/ops/activation.py": "def relu(x): ...\n\n\ndef _slope(x): ...\n",
    "minigrad/ops/untested.py": "",
    "minigrad/tensors/functions/arithmetic.py": "def lerp(input, end, weight): ...\n",
    "nn/layers/dropout.py": "class Dropout:\n    p = 0.5\n\n\nclass DropPath: ...\n",
    "tests/autograd/test_passes.py": "def test_fan_out(): ...\n\n\ndef test_leaf(): ...\n",
    "tests/cases.py": 'CALLS = ["relu(x)", "tanh(x)"]\n',
    "tests/nn/layers/test_layers.py": """
import pytest

class TestAll:
    @pytest.mark.parametrize("layer", ["Dropout", "Linear"])
    def test_call(self, layer): ...

@pytest.mark.skip(reason="no PyTorch")
def test_of_pytorch(): torch.lerp
""",
    "tests/test_functions.py": """
import numpy as np
import pytest
from cases import CALLS

RANGES = {"relu": (0, 1), "tanh": (-1, 1)}
LAYERS = {"first": lambda x: relu(x), "second": lambda x: tanh(x)}

def test_of_numpy(): np.relu

@pytest.mark.parametrize("name", RANGES)
def test_range(name): ...
@pytest.mark.parametrize("call", CALLS)
def test_calls(call): ...
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name): assert LAYERS[name]

def test_itself(): relu = 1
def test_word(): prelu, relu6 = 0, 0

@pytest.mark.slow
def test_slow(): assert "relu"
""",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("library")
    for place, text in FILES.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def check(root: Path, what: str) -> subprocess.CompletedProcess[str]:
    options = {"PYTEST_ADDOPTS": "-rA -p no:cacheprovider", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return python(CHECK, what, cwd=root, env={**os.environ, **options, "PYTHONPATH": "tests"})


ENGINE = ["test_fan_out", "test_leaf"]
RUN = {
    "relu": [
        "test_calls[relu(x)]", "test_itself", "test_layers[first]", "test_range[relu]",
    ],
    "Dropout": ["test_call[Dropout]"],
    "autograd/engine": ENGINE,
    "minigrad/autograd/engine.py": ENGINE,
    "test_passes": ["test_fan_out", "test_leaf"],
    "nn/layers": ["test_call[Dropout]", "test_call[Linear]"],
}  # fmt: skip
REFUSED = {
    "rleu": "is called rleu: did you mean relu",
    "autograd/engin": "is called autograd/engin: did you mean autograd/engine",
    "frobnicate": "is called frobnicate",
    "DropPath": "no test names DropPath (nn/layers/dropout.py)",
    "_slope": "no test names _slope (minigrad/ops/activation.py)",
    "ops/untested": "no test names ops/untested (minigrad/ops/untested.py)",
    "lerp": "0 tests of lerp",
}


@pytest.mark.parametrize(("what", "tests"), RUN.items())
def test_what_runs(library: Path, what: str, tests: list[str]) -> None:
    done = check(library, what)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"^PASSED .*::(\S+)", done.stdout, re.MULTILINE)) == tests


@pytest.mark.parametrize(("what", "reason"), REFUSED.items())
def test_nothing_is_green_where_no_test_of_the_subject_ran(
    library: Path, what: str, reason: str
) -> None:
    done = check(library, what)
    assert done.returncode != 0
    assert reason in done.stdout + done.stderr


def test_a_failure_of_a_test_in_the_folder_is_one(library: Path) -> None:
    test = library / "tests/autograd/test_passes.py"
    test.write_text("def test_fan_out(): assert 2 + 2 == 5\n")
    try:
        assert check(library, "autograd/engine").returncode == 1
    finally:
        test.write_text(FILES["tests/autograd/test_passes.py"])
