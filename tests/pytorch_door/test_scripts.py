"""``python -m minigrad.torch script.py``: a script that says ``import torch`` runs as it is."""

import runpy
import subprocess
from pathlib import Path

import pytest
from children import python

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import argparse, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(0)
x = torch.randn(128, 4)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
schedule = StepLR(optimizer, 10)
for epoch in range(args.epochs):
    right = 0
    for images, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        out = net(images)
        F.cross_entropy(out, labels).backward()
        optimizer.step()
        right += (out.max(1)[1] == labels).sum().item()
    schedule.step()
print(args.epochs, torch.__name__, right / 128 > 0.6, "torch._C" in sys.modules)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "minigrad.torch", *arguments, cwd=ROOT)


def run_text(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return run(str(script), *arguments)


def test_a_script_runs_as_it_is(tmp_path: Path) -> None:
    done = run_text(tmp_path, SCRIPT, "--epochs", "8")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "8 minigrad.torch True False\n"


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
    ("import torch.fft", "there is no Fourier transform"),
    ("import torch.nn.quantized", "there is no quantization"),
    ("from torch import fft", "there is no Fourier transform"),
    ("from torch.cuda import Stream", "everything runs on the CPU"),
    ("import torch; torch.nn.Conv3d(1, 1, 1)", "three spatial axes"),
    ("from torch.nn.parallel import DistributedDataParallel as D; D(1)", "one process"),
    ("import torch; torch.ones(2).to(torch.bfloat16)", "'torch.bfloat16' as a data type"),
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


@pytest.mark.usefixtures("global_random")
def test_the_typed_training_script_runs() -> None:
    """What type checkers say of it is in tests/test_typing.py."""
    runpy.run_path(str(Path(__file__).with_name("typed_training.py")))
