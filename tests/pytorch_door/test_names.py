"""Every public name and module path of PyTorch is here, or an error says why it is not."""

from __future__ import annotations

import importlib
import types
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402

MODULES = """
torch nn nn.functional nn.init nn.utils nn.utils.rnn nn.parallel nn.attention linalg optim
optim.lr_scheduler optim.swa_utils autograd autograd.functional autograd.graph utils utils.data
utils.checkpoint distributions special random cuda func amp jit backends backends.cudnn
multiprocessing profiler onnx distributed accelerator compiler
"""


def public(module: Any) -> list[str]:
    """The names of a module that are PyTorch's own."""
    found = []
    for name in dir(module):
        value = getattr(module, name, None)
        foreign = isinstance(value, types.ModuleType) and not value.__name__.startswith("torch")
        home = str(getattr(value, "__module__", "torch")).partition(".")[0]
        if not name.startswith("_") and not foreign and home in ("torch", "None"):
            found.append(name)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", MODULES.split())
def test_a_name_is_here_or_says_why_not(path: str) -> None:
    theirs = torch if path == "torch" else importlib.import_module(f"torch.{path}")
    ours = door if path == "torch" else importlib.import_module(f"minigrad.torch.{path}")
    for name in public(theirs):
        try:
            getattr(ours, name)
        except (AttributeError, ImportError) as error:
            assert ": " in str(error), error


def test_a_method_is_here_or_says_why_not() -> None:
    x = door.ones(2, 2)
    for name in dir(torch.Tensor):
        if name.startswith("_"):
            continue
        try:
            getattr(x, name)
        except AttributeError as error:
            assert ": " in str(error), error


def test_a_module_is_here_or_says_why_not() -> None:
    root = Path(torch.__file__).parent
    paths = [file.relative_to(root) for file in root.rglob("*.py")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths}
    skipped = ("testing", "_", "test", "include", "lib", "share", "bin")
    public = [n for n in names if not any(p.startswith(skipped) for p in n.split("."))]
    here = 0
    for name in sorted(public):
        try:
            importlib.import_module(f"minigrad.torch.{name}")
            here += 1
        except ImportError as error:
            assert ": " in str(error), error
    assert len(public) > 700
    assert here > 120


def test_views_have_the_names_of_the_other_module() -> None:
    for path, name in (
        ("nn.modules.batchnorm", "_BatchNorm"), ("nn.modules.utils", "_pair"),
        ("nn.modules.loss", "_Loss"), ("autograd.function", "once_differentiable"),
        ("distributions.normal", "Normal"), ("optim.adamw", "AdamW"), ("cuda.amp", "GradScaler"),
        ("utils.data.dataloader", "DataLoader"), ("optim.lr_scheduler", "_LRScheduler"),
        ("nn.attention", "SDPBackend"), ("nn.parallel", "DistributedDataParallel"),
        ("jit.annotations", "List"), ("nn.parameter", "Parameter"), ("nn.utils.prune", ""),
    ):  # fmt: skip
        if name:
            assert hasattr(importlib.import_module(f"minigrad.torch.{path}"), name)
        else:
            with pytest.raises(ModuleNotFoundError, match="pruned"):
                importlib.import_module(f"minigrad.torch.{path}")
    assert door.nn.modules.activation.ReLU is door.nn.ReLU
    module = importlib.import_module("minigrad.torch.autograd.gradcheck")
    x = door.ones(2, dtype=door.float64, requires_grad=True)
    assert module.gradcheck(door.sin, (x,))
    assert door.autograd.gradcheck(door.sin, (x,))
    assert isinstance(door.nn.BatchNorm2d(2), door.nn.modules.batchnorm._BatchNorm)


def test_the_version_passes_gates() -> None:
    version = door.__version__
    assert version >= "1.8"
    assert version > (2, 2)
    assert version < "2.20.1"
    assert version == "2.13.0"
    assert tuple(map(int, version.split(".")[:2])) >= (1, 10)
    assert door.version.cuda is None
    assert not door.accelerator.is_available()
