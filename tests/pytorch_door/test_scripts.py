"""``python -m minigrad.torch script.py``: a script that says ``import torch`` runs as it is."""

import subprocess
from pathlib import Path

import pytest
from children import python

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = Path(__file__).with_name("typed_training.py").read_text("utf-8")
TELL = """
import sys
x = torch.ones(2, dtype=torch.float64)
print(sys.argv[1:], torch.__name__, "torch._C" in sys.modules, x.dtype, x.type(), type(x.shape))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "minigrad.torch", *arguments, cwd=ROOT)


def run_text(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return run(str(script), *arguments)


def test_a_script_runs_as_it_is(tmp_path: Path) -> None:
    """What type checkers say of it is in tests/test_typing.py."""
    done = run_text(tmp_path, SCRIPT.replace("minigrad.torch", "torch") + TELL, "--epochs", "8")
    assert done.returncode == 0, done.stderr
    printed = "torch.float64 torch.DoubleTensor <class 'torch.Size'>"
    assert done.stdout == f"['--epochs', '8'] minigrad.torch False {printed}\n"


def test_a_module_runs_too(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("import torch.nn, sys; print(torch.nn.__name__, sys.argv)")
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = python("-m", "minigrad.torch", "-m", "package", "--x", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("minigrad.torch.nn [")
    assert done.stdout.endswith("'--x']\n")


REFUSED = [
    ("import torch.onnx2", "minigrad.torch has no module 'torch.onnx2'"),
    ("import torch; torch.polar", "there are no complex numbers"),
    ("import torch; torch.ones(2).cuda()", "minigrad runs on the CPU"),
    ("import torch; torch.ones(2).stft(2)", "no 'stft': there is no Fourier transform"),
    ("import torch; torch.ones(2).to_sparse()", "tensors are dense"),
    ("from torch.fft import rfft; rfft(1)", "there is no Fourier transform"),
    ("from torch.nn.parallel import DistributedDataParallel as D; D(1)", "one process"),
    ("import torch; torch.ones(2).to(torch.bfloat16)", "NumPy has no bfloat16"),
]


@pytest.mark.parametrize(("text", "told"), REFUSED)
def test_a_refusal_is_a_sentence(text: str, told: str, tmp_path: Path) -> None:
    done = run_text(tmp_path, text)
    assert done.returncode == 1
    assert told in done.stderr.splitlines()[-1]


def test_a_file_that_is_not_there() -> None:
    done = run("no_such_file.py")
    assert done.returncode == 2
    assert "there is no file no_such_file.py" in done.stderr
    assert "usage: python -m minigrad.torch FILE" in run("--help").stdout
